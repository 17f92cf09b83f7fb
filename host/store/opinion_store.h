// Second opinions: what a model is to be asked about runs, put in by the transaction that stores these, and what it said. Any thread.
// Throws StoreError.
//
// They go with their run, and with its revision. What became of one is an OpinionWrite (writes.h).
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
  std::optional<std::int64_t> oldest_ms;  // when the oldest of the waiting was put in
};

class OpinionStore {
 public:
  virtual ~OpinionStore() = default;

  // Newest first; what is asked about alarms is not among them.
  virtual Page<model::Opinion> candidates(model::TenantId tenant, const CandidateQuery& query) = 0;
  // Of every revision that is kept, oldest first.
  virtual std::vector<model::Opinion> opinions_of_run(model::TenantId tenant, const model::RecordKey& run) = 0;
  // Takes those that are due, longest due first, at most that many, each with a token of its own and due again at `until_ms`. What writes:
  // while serving, it belongs into WriteQueue::run_between().
  virtual std::vector<TenantOpinion> claim_due(std::int64_t now_ms, std::int64_t until_ms, std::size_t most) = 0;
  virtual OpinionQueue opinion_queue() = 0;
};

}  // namespace runwarden::store
