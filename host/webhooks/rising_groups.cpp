#include "webhooks/rising_groups.h"

#include "base/rate.h"

namespace runwarden::webhooks {
namespace {

// A failure may be committed a moment after it was detected.
constexpr std::int64_t kSlackMs = 60'000;

}  // namespace

std::vector<model::ClusterKey> RisingGroups::look(model::TenantId tenant, std::int64_t now_ms) {
  Looked& looked = looked_.try_emplace(tenant, Looked{0, now_ms - kRisingWindowMs}).first->second;
  const std::uint64_t commit = groups_.last_commit(tenant);
  if (commit == looked.commit) return {};
  const std::int64_t since_ms = looked.at_ms - kSlackMs;
  std::vector<model::ClusterKey> failed;
  groups_.visit_clusters(tenant, [&](const model::Cluster& cluster) {
    if (cluster.last_ms >= since_ms && cluster.count >= kFewestTrendFailures) failed.push_back(cluster.key);
  });
  std::vector<model::ClusterKey> rising;
  const std::int64_t middle_ms = now_ms - kRisingWindowMs / 2;
  for (const model::ClusterKey& key : failed) {
    const store::Subject subject = store::Subject::of_cluster(key);
    const std::uint64_t first = groups_.count_failures_of(tenant, subject, {now_ms - kRisingWindowMs, middle_ms});
    const std::uint64_t second = groups_.count_failures_of(tenant, subject, {middle_ms, now_ms + 1});
    if (trend_of(first, second) == Trend::rising) rising.push_back(key);
  }
  looked = {commit, now_ms};
  return rising;
}

}  // namespace runwarden::webhooks
