// What goes into an ingest step and what comes out. Values; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/fair_budget.h"
#include "base/permit.h"
#include "base/result.h"
#include "base/warning.h"
#include "model/records.h"

namespace runwarden::ingest {

// How long a run that is being ended is kept from others that would end it.
constexpr std::int64_t kLeaseMs = 10'000;

struct IngestRequest {
  model::TenantId tenant = 0;
  std::string tenant_name;
  std::string key_name;                      // who sent it
  std::string body;                          // decoded
  std::optional<model::Digest> idempotency;  // identity of the Idempotency-Key
  int max_json_depth = 64;
  Permit permit;  // of whoever sent it; asked again before the commit
};

struct IngestAnswer {
  // in_doubt: there is no answer to give; the client's connection ends without one.
  enum class Kind : std::uint8_t { created, replayed, buffered, refused, in_doubt };
  Kind kind = Kind::refused;
  std::string run_id;             // created, replayed: of a run
  std::string body;               // unless refused: the JSON answer
  std::string failures_json;      // created, replayed: of a run
  Error error;                    // refused
  std::vector<Warning> warnings;  // unless refused: of the request; not in the body yet
  FairBudget::Lease lease;        // of a body that is as large as a read's
};

using IngestDone = std::function<void(IngestAnswer)>;

inline IngestAnswer refused(Error error) {
  IngestAnswer answer;
  answer.error = std::move(error);
  return answer;
}

}  // namespace runwarden::ingest
