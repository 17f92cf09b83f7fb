// What one transaction changes of groups, of the runs they affect and of the tail. For the files of store/ only; the writing thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/cluster.h"
#include "store/lmdb/commit_log.h"
#include "store/lmdb/dimensions.h"
#include "store/lmdb/series.h"

namespace runwarden::store {

// What one transaction does to a group's head.
struct ClusterChange {
  std::uint64_t added = 0;     // failures
  std::uint64_t restored = 0;  // of those: they were false alarms, and are not any more
  std::uint64_t removed = 0;
  std::uint64_t marked = 0;    // of those: they stay, as false alarms
  std::map<int, std::int64_t> scores;
  std::array<std::int64_t, 4> severities{};
  std::int64_t waste_micro_usd = 0;
  model::RecordKey newest;  // of those that were added
  std::int64_t first_ms = 0;
  std::string title;  // of the newest
  std::string fingerprint;
  std::string detector_key;
  std::int64_t executed_ms = model::kNotExecuted;  // the latest start of a run whose failure was added
  bool first_stays = true;                         // what was removed had expired: the group is as old as before
  std::optional<std::int64_t> first_marked_ms;     // of those that are false alarms
  std::vector<std::uint64_t> summary_marks;        // of those that were found
  // The last review of one of its failures, and whether any said that a failure is one after all.
  std::optional<model::RecordKey> review;
  bool confirmed = false;

  // Failures that were added, where somebody is to be told of each.
  struct Told {
    model::RecordKey key;
    int score = 0;
    model::Severity severity = model::Severity::low;
  };
  std::vector<Told> told;
};

struct GroupChanges {
  std::map<std::pair<model::TenantId, Half>, ClusterChange> clusters;
  SeriesChanges series;
  DimensionChanges dimensions;
  CommitLog log;
};

}  // namespace runwarden::store
