#include "ops/ignore_expiry.h"

#include <algorithm>
#include <exception>
#include <string_view>
#include <utility>

#include "store/ignore_end.h"

namespace runwarden::ops {
namespace {

constexpr std::int64_t kRoundNs = 2'000'000'000;
// A round reads the groups of all tenants with new commits. Waiting so many times as long as it took bounds its part of a thread.
constexpr std::int64_t kRestFactor = 20;

bool may_end_by_itself(const model::Triage& triage) {
  return triage.kind == model::Triage::Kind::ignored && (triage.until.at_ms || triage.until.share);
}

}  // namespace

void IgnoreExpiry::start_due() {
  if (parts_.clock.monotonic_ns() < next_ns_ || parts_.clock.in_doubt() || looking_.exchange(true)) return;
  parts_.post([this] { round(); });
}

void IgnoreExpiry::round() {
  const std::int64_t begun_ns = parts_.clock.monotonic_ns();
  try {
    for (const model::Tenant& tenant : parts_.store.tenants()) look_at(tenant.id);
    failed_ = false;
  } catch (const std::exception& fault) {
    // Logs only the first of the faults in a row, as a database may be away for hours.
    if (!std::exchange(failed_, true)) parts_.log(LogLevel::warn, "ignores_wait", {{"text", std::string_view(fault.what())}});
  }
  const std::int64_t now_ns = parts_.clock.monotonic_ns();
  next_ns_ = now_ns + std::max(kRoundNs, (now_ns - begun_ns) * kRestFactor);
  looking_ = false;
}

void IgnoreExpiry::look_at(model::TenantId tenant) {
  store::GroupStore& groups = parts_.store.groups();
  const std::uint64_t commit = groups.last_commit(tenant);
  Ignored& ignored = ignored_[tenant];
  if (ignored.commit != commit) {
    Ignored now{commit, {}};
    groups.visit_clusters(tenant, [&](const model::Cluster& cluster) {
      if (may_end_by_itself(cluster.triage)) now.clusters.emplace_back(cluster.key, cluster.triage);
    });
    ignored = std::move(now);
  }
  const std::int64_t now_ms = parts_.clock.wall_ms();
  for (const auto& [cluster, triage] : ignored.clusters) {
    auto end = store::end_of_ignore(cluster, triage, now_ms, [&, key = cluster] { return last_hour(tenant, key, now_ms); });
    if (!end) continue;
    end->tenant = tenant;
    // One that finds no room, or that the store fails to write, is found again in a later round.
    static_cast<void>(parts_.queue.submit(std::move(*end), [](const store::WriteResult&) {}));
  }
}

model::LastHour IgnoreExpiry::last_hour(model::TenantId tenant, const model::ClusterKey& cluster, std::int64_t now_ms) {
  const store::Span hour = store::whole_entries({now_ms - store::kLastHourMs, now_ms + 1});
  store::GroupStore& groups = parts_.store.groups();
  return {groups.count_affected(tenant, store::Subject::of_cluster(cluster), hour), groups.count_all_runs(tenant, hour)};
}

}  // namespace runwarden::ops
