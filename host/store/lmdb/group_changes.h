// What one transaction changes in groups, in the runs they affect and in the tail. Internal to store/; the writing thread.
#pragma once

#include <map>
#include <utility>

#include "store/cluster_change.h"
#include "store/commit_notes.h"
#include "store/lmdb/dimensions.h"
#include "store/lmdb/series.h"

namespace runwarden::store {

struct GroupChanges {
  std::map<std::pair<model::TenantId, Half>, ClusterChange> clusters;
  SeriesChanges series;
  DimensionChanges dimensions;
  CommitNotes log;
};

}  // namespace runwarden::store
