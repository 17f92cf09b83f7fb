// Merges a group from an export into a store. Internal to store/. Pure; any thread.
#pragma once

#include <cstdint>

#include "store/group_codec.h"

namespace runwarden::store {

// The head of a group whose failures no longer exist or belong to another export.
ClusterHead head_without_failures(const model::Cluster& cluster);

// What the export brings of the group besides its line.
enum class Brings : std::uint8_t { failures, nothing };

// Keeps the earlier first time and the later decision. Failures that came with an import are no news: as long as they may make the group
// rise, it counts as reported.
void merge_cluster(ClusterHead& head, const model::Cluster& other, Brings brings);

}  // namespace runwarden::store
