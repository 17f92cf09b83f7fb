// The bodies of entries: one line of JSON each, made only from a record, so that each can be rebuilt from stored data. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/erased_ranges.h"
#include "ledger/tree.h"
#include "model/change_record.h"
#include "model/cluster.h"
#include "model/record_key.h"
#include "model/review.h"
#include "model/run_record.h"

namespace runwarden::ledger {

// How the record came into the store. The body of an imported record says so.
enum class CameBy : std::uint8_t { itself, import };

// `document`: SHA-256 of the run's document, if already known.
std::string run_body(const model::RunRecord& run, CameBy came, const std::optional<model::Digest>& document = std::nullopt);
std::string change_body(const model::ChangeRecord& change, CameBy came);
std::string policy_body(const model::PolicyRecord& policy, CameBy came);

// A decision by a person or the service about a group or one of its failures.
struct Decision {
  std::string cluster_id;
  std::string action;
  std::string author;
  std::string document;  // its JSON text as stored
};
std::string triage_body(const Decision& decision, CameBy came);
// From an entry of a group's history.
Decision decision_of(const model::ClusterKey& cluster, const model::TriageEntry& entry);
Decision decision_of(const model::Review& review);

// The first entry of a ledger that had something before it.
struct Start {
  std::map<std::string, std::uint64_t> counts;  // of the records already stored, by kind
  struct Previous {
    std::string origin;
    SizedRoot tree;
  };
  std::optional<Previous> previous;  // the origin that this ledger continues
};
std::string start_body(const Start& start);

// What a purge or retention deleted.
struct Receipt {
  std::optional<std::int64_t> before_ms;        // nothing: regardless of time
  std::map<std::string, std::uint64_t> counts;  // of the entries, by kind
  Ranges entries;
  // At the end of a purge: all that it deleted, also what had no entry.
  std::map<std::string, std::uint64_t> deleted = {};
};
std::string receipt_body(const Receipt& receipt);

// Records that another key signs from here on. `previous`: empty if unknown.
std::string key_body(std::string_view public_key, std::string_view previous);
// The keys that such a body names.
struct NamedKeys {
  std::string public_key;
  std::string previous;
};
std::optional<NamedKeys> keys_in(std::string_view body);

}  // namespace runwarden::ledger
