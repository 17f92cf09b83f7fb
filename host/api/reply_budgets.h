// Limits the memory of replies that the kernel has not yet taken, however slowly clients read. Any thread.
//
// Each kind of reply has its own budget, so reads with slow clients starve neither ingest nor probes. Within a budget, no tenant starves
// another (FairBudget).
#pragma once

#include <cstdint>

#include "base/fair_budget.h"

namespace runwarden::api {

// Reserved for a reply before its work begins and its size is known.
constexpr std::uint64_t kReadReplyBytes = 64 * 1024;
constexpr std::uint64_t kIngestReplyBytes = 2 * 1024;

struct ReplyBudgets {
  FairBudget reads{std::uint64_t{256} << 20};  // limits.max_reply_bytes
  FairBudget ingest{std::uint64_t{64} << 20};
  FairBudget open{std::uint64_t{32} << 20};  // health, readiness and metrics: requests without a key
};

}  // namespace runwarden::api
