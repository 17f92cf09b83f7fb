// Writes of what people and models say about failures: decisions about groups, reviews, opinions. Values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/cluster.h"
#include "model/failure_record.h"
#include "model/opinion.h"
#include "model/record_key.h"
#include "model/review.h"
#include "store/idempotency.h"

namespace runwarden::store {

// A decision about a group of failures. The store fills in the entry's state.
struct TriageWrite {
  model::TenantId tenant = 0;
  model::ClusterKey cluster{};
  model::TriageEntry entry;
  std::optional<Idempotency> idempotency;
  // Of an entry that ends an ignore: since when the group is ignored. Nothing is written if that ignore is not in force any more.
  std::optional<std::int64_t> ends_ignore_since_ms = std::nullopt;
};

// Reviews of one failure or one run: all of them are stored, or none.
struct ReviewWrite {
  model::TenantId tenant = 0;
  std::vector<model::Review> reviews;
  std::optional<Idempotency> idempotency;
};

// The outcome of a claimed question to a model: a failed attempt, or an answer. If the last review of the run says `clean` for that
// revision and detector, a confirmed candidate is stored as denied, without failure and reviews.
struct OpinionWrite {
  model::TenantId tenant = 0;
  model::Opinion opinion;  // with the token of its claim, as it is to be stored
  // Of a confirmed candidate: stored with its run, as if the detector had found it. Its review must be among these.
  std::optional<model::FailureRecord> failure;
  std::vector<model::Review> reviews;  // a review is left out if another review of its subject is in force
};

}  // namespace runwarden::store
