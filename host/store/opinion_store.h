// Second opinions: the questions to a model about runs, stored in the same transaction as the runs, and the model's answers. Any thread.
// Throws StoreError.
//
// They are deleted with their run, or with its revision. The outcome of a question is an OpinionWrite (writes.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/opinion.h"
#include "store/errors.h"
#include "store/queries.h"

namespace runwarden::store {

struct CandidateQuery {
  Range range = {};  // of detection
  std::optional<model::OpinionState> state = std::nullopt;
  std::string detector = {};  // empty: any
};

struct TenantOpinion {
  model::TenantId tenant = 0;
  model::Opinion opinion;
};

struct OpinionQueue {
  std::uint64_t waiting = 0;
  std::uint64_t dead = 0;
  std::optional<std::int64_t> oldest_ms;  // when the oldest waiting one was queued
};

class OpinionStore {
 public:
  virtual ~OpinionStore() = default;

  // Newest first; leaves out questions about alarms.
  virtual Page<model::Opinion> candidates(model::TenantId tenant, const CandidateQuery& query) = 0;
  // Of every stored revision, oldest first.
  virtual std::vector<model::Opinion> opinions_of_run(model::TenantId tenant, const model::RecordKey& run) = 0;
  // Claims at most `most` opinions that are due, longest due first. Each gets a token of its own, and is due again at `until_ms`. Writes:
  // while serving, call it in WriteQueue::run_between().
  virtual std::vector<TenantOpinion> claim_due(std::int64_t now_ms, std::int64_t until_ms, std::size_t most) = 0;
  virtual OpinionQueue opinion_queue() = 0;
};

}  // namespace runwarden::store
