// A group of an export, joined with what a store has of it. For the files of store/ only. Pure; any thread.
#pragma once

#include "store/group_codec.h"

namespace runwarden::store {

// The head of a group whose failures are gone, or are those of another export.
ClusterHead head_without_failures(const model::Cluster& cluster);

// It is as old as the older of the two; of two decisions the later one holds.
void merge_cluster(ClusterHead& head, const model::Cluster& other);

}  // namespace runwarden::store
