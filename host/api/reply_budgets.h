// What replies may hold in memory until the kernel has taken them, however slowly their clients read. Any thread.
//
// Each kind of answer has a share of its own, so that reads that nobody takes starve neither ingest nor probes; within a share no
// tenant starves another (FairBudget).
#pragma once

#include <cstdint>

#include "base/fair_budget.h"

namespace runwarden::api {

// What is set aside for an answer before its work begins, when its size is not known yet.
constexpr std::uint64_t kReadReplyBytes = 64 * 1024;
constexpr std::uint64_t kIngestReplyBytes = 2 * 1024;

struct ReplyBudgets {
  FairBudget reads{std::uint64_t{256} << 20};  // limits.max_reply_bytes
  FairBudget ingest{std::uint64_t{64} << 20};
  FairBudget open{std::uint64_t{32} << 20};  // health, readiness and metrics: requests without a key
};

}  // namespace runwarden::api
