// What one transaction changes of groups, of the runs they affect and of the tail. For the files of store/ only; the writing thread.
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
