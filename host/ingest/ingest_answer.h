// The input and output of an ingest step. Values; any thread.
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
#include "model/record_key.h"

namespace runwarden::ingest {

// How long a claim on a run that is being ended keeps others from ending it.
constexpr std::int64_t kLeaseMs = 10'000;

struct IngestRequest {
  model::TenantId tenant = 0;
  std::string tenant_name;
  std::string key_name;                      // of the API key that sent it
  bool may_read = false;                     // that key
  std::string body;                          // decoded
  std::optional<model::Digest> idempotency;  // identifies the Idempotency-Key
  int max_json_depth = 64;
  Permit permit;  // of the sender; checked again before the commit
};

struct IngestAnswer {
  // in_doubt: there is no answer; the client's connection is closed without one.
  enum class Kind : std::uint8_t { created, replayed, buffered, refused, in_doubt };
  Kind kind = Kind::refused;
  std::string run_id;             // created, replayed: if the request was a run
  std::string body;               // unless refused: the JSON answer
  std::string failures_json;      // created, replayed: if the request was a run
  Error error;                    // refused
  std::vector<Warning> warnings;  // unless refused: about the request; not yet in the body
  FairBudget::Lease lease;        // for a body as large as a read's
};

using IngestDone = std::function<void(IngestAnswer)>;

inline IngestAnswer refused(Error error) {
  IngestAnswer answer;
  answer.error = std::move(error);
  return answer;
}

}  // namespace runwarden::ingest
