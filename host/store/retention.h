// Which records a store deletes, and how many it has deleted. Values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "model/record_key.h"
#include "store/queries.h"

namespace runwarden::store {

// Records older than these are deleted; kBeginningMs: none. Idempotency records expire by their own time. Changes and
// policies expire only when their time of receipt is too old, too; a purge deletes them by the time that their sender gave.
struct Retention {
  std::int64_t runs_before_ms = kBeginningMs;  // crash marks too
  std::int64_t failures_before_ms = kBeginningMs;
  std::int64_t changes_before_ms = kBeginningMs;  // histories of groups and reviews too
  std::int64_t policies_before_ms = kBeginningMs;
  std::int64_t deliveries_before_ms = kBeginningMs;  // of webhooks; waiting ones stay while their endpoint is active
  // Only this tenant's records: a purge. A run's failures are deleted with it, and policies even while they are in force.
  std::optional<model::TenantId> tenant = std::nullopt;
  bool open_runs_too = false;  // false: they stay until they are resolved
};

struct Expired {
  std::uint64_t runs = 0;
  std::uint64_t failures = 0;
  std::uint64_t changes = 0;
  std::uint64_t policies = 0;
  std::uint64_t idempotency_keys = 0;
  std::uint64_t crash_marks = 0;
  std::uint64_t triage = 0;  // entries of groups' histories
  std::uint64_t deliveries = 0;
  std::uint64_t reviews = 0;
  std::uint64_t events = 0;  // of the deleted runs; not records of their own
  bool more = false;         // there is more to delete: call again
  void add(const Expired& other) {
    runs += other.runs;
    failures += other.failures;
    changes += other.changes;
    policies += other.policies;
    idempotency_keys += other.idempotency_keys;
    crash_marks += other.crash_marks;
    triage += other.triage;
    deliveries += other.deliveries;
    reviews += other.reviews;
    events += other.events;
    more = other.more;
  }
  std::uint64_t total() const {
    return runs + failures + changes + policies + idempotency_keys + crash_marks + triage + deliveries + reviews;
  }
};

// As receipts of purges show them.
using NamedCounts = std::vector<std::pair<const char*, std::uint64_t>>;
inline NamedCounts named_counts(const Expired& gone) {
  return {{"runs", gone.runs},
          {"failures", gone.failures},
          {"events", gone.events},
          {"changes", gone.changes},
          {"policies", gone.policies},
          {"groupDecisions", gone.triage},
          {"webhookDeliveries", gone.deliveries},
          {"reviews", gone.reviews},
          {"idempotentAnswers", gone.idempotency_keys},
          {"crashMarks", gone.crash_marks}};
}

}  // namespace runwarden::store
