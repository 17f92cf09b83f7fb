// Ends the ignores of groups whose time has passed or whose share of the last hour is reached, though no failure comes that would end them.
// An end is an ordinary decision of the service, with its history, ledger entry and message; of several hosts, one writes it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "base/clock_guard.h"
#include "ops/log.h"
#include "store/store.h"

namespace runwarden::ops {

class IgnoreExpiry {
 public:
  struct Parts {
    store::Store& store;
    store::WriteQueue& queue;
    const ClockGuard& clock;
    std::function<void(std::function<void()> work)> post;  // to a thread that may wait for the disk
    LineFunction log;
  };

  explicit IgnoreExpiry(Parts parts) : parts_(std::move(parts)) {}

  // Starts a round if it is time for one and the last one has ended, but not while the clock is in doubt. One thread.
  void start_due();

 private:
  // The groups of a tenant whose ignore ends by time or share, as of a commit. At most limits.max_clusters, of some hundred bytes each.
  struct Ignored {
    std::uint64_t commit = 0;
    std::vector<std::pair<model::ClusterKey, model::Triage>> clusters;
  };

  void round();
  void look_at(model::TenantId tenant);
  model::LastHour last_hour(model::TenantId tenant, const model::ClusterKey& cluster, std::int64_t now_ms);

  Parts parts_;
  std::atomic<std::int64_t> next_ns_{0};
  std::atomic<bool> looking_{false};
  // Used by one round at a time.
  std::map<model::TenantId, Ignored> ignored_;
  bool failed_ = false;  // the last round
};

}  // namespace runwarden::ops
