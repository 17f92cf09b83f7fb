// A write of any kind: what a store is given to keep. A value; any thread.
#pragma once

#include <cstdint>
#include <variant>

#include "model/record_key.h"
#include "store/change_writes.h"
#include "store/review_writes.h"
#include "store/run_writes.h"

namespace runwarden::store {

using Write = std::variant<RunWrite, EventsWrite, TracesWrite, AnswerWrite, ChangeWrite, PolicyWrite, CanaryWrite, TriageWrite, ReviewWrite,
                           OpinionWrite>;

// The tenant of a write; for a canary 0, which no key has.
model::TenantId tenant_of(const Write& write);

// About how much memory a write holds.
std::uint64_t bytes_of(const Write& write);

}  // namespace runwarden::store
