#include "store/cluster_merge.h"

#include <algorithm>

namespace runwarden::store {
namespace {

void merge_triage(model::Triage& triage, const model::Triage& other) {
  if (other.since_ms < triage.since_ms) return;
  const std::uint64_t failures = std::max(triage.failures_since, other.failures_since);
  if (other.since_ms > triage.since_ms || triage == model::Triage()) {
    triage = other;
  } else {
    triage.failures_since = failures;
  }
}

}  // namespace

ClusterHead head_without_failures(const model::Cluster& cluster) {
  ClusterHead head;
  head.cluster = cluster;
  head.cluster.count = 0;
  head.cluster.waste_micro_usd = 0;
  head.cluster.triage = {};
  return head;
}

void merge_cluster(ClusterHead& head, const model::Cluster& other, Brings brings) {
  if (brings == Brings::failures) head.rising_told_ms = std::max(head.rising_told_ms, other.last_ms);
  head.cluster.first_ms = std::min(head.cluster.first_ms, other.first_ms);
  merge_triage(head.cluster.triage, other.triage);
}

}  // namespace runwarden::store
