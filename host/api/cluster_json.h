// Writes the JSON of groups of failures, their rates and their history (http-api). Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "base/rate.h"
#include "model/cluster.h"
#include "store/group_store.h"

namespace runwarden::api {

// The counts of a group in the requested window.
struct ClusterWindow {
  store::Span span;
  std::uint64_t failures = 0;
  Proportion runs;  // affected runs and all runs
  Trend trend = Trend::too_few;
  std::vector<std::uint64_t> buckets;
};

void write_interval(JsonWriter& out, const Interval& interval);
void write_rate(JsonWriter& out, const Proportion& runs);
// The members of a Cluster, without the braces around them.
void write_cluster(JsonWriter& out, const model::Cluster& cluster, const ClusterWindow& window, std::int64_t now_ms);
// Prepends the service's own ignore_ended entry if an ignore has expired but the stored triage still says ignored.
void add_passed_ignore(const model::Cluster& cluster, std::int64_t now_ms, std::vector<model::TriageEntry>& newest_first);

}  // namespace runwarden::api
