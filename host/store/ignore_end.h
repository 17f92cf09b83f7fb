// Ends of ignores that no person requests. Pure; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "model/cluster.h"
#include "store/review_writes.h"

namespace runwarden::store {

constexpr std::int64_t kLastHourMs = 3'600'000;  // whose runs the share of an ignore is of

// An entry that the service itself adds to the history of a group.
model::TriageEntry entry_of_service(model::TriageAction action, const model::RecordKey& at);
// The entry that ends an ignore whose time has passed.
std::optional<model::TriageEntry> ended_before(const model::Triage& triage, std::int64_t at_ms);
// The write that ends an ignore whose time has passed or whose share is reached; nothing if the ignore remains. `last_hour` is called only
// if the ignore depends on it. The caller fills in the tenant.
std::optional<TriageWrite> end_of_ignore(const model::ClusterKey& cluster, const model::Triage& triage, std::int64_t now_ms,
                                         const std::function<model::LastHour()>& last_hour);

}  // namespace runwarden::store
