// Finds groups with rising failures: compares the second half of the last day with the first. Reads the store; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/cluster.h"
#include "store/group_store.h"

namespace runwarden::webhooks {

constexpr std::int64_t kRisingWindowMs = 86'400'000;

class RisingGroups {
 public:
  explicit RisingGroups(store::GroupStore& groups) : groups_(groups) {}

  // The rising groups among those with failures since the last look at this tenant.
  std::vector<model::ClusterKey> look(model::TenantId tenant, std::int64_t now_ms);
  // The next look at this tenant covers the whole last day, even without a new commit.
  void forget(model::TenantId tenant) { looked_.erase(tenant); }

 private:
  struct Looked {
    std::uint64_t commit = 0;
    std::int64_t at_ms = 0;
  };

  store::GroupStore& groups_;
  std::map<model::TenantId, Looked> looked_;
};

}  // namespace runwarden::webhooks
