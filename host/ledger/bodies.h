// The bodies of entries: JSON of one line, made of a record alone, so that each can be made again from what is kept. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/erased_ranges.h"
#include "ledger/tree.h"
#include "model/cluster.h"
#include "model/records.h"
#include "model/review.h"

namespace runwarden::ledger {

// How the record came into the store: an import is said in the body.
enum class CameBy : std::uint8_t { itself, import };

// `document`: SHA-256 of the run's document, where it is known already.
std::string run_body(const model::RunRecord& run, CameBy came, const std::optional<model::Digest>& document = std::nullopt);
std::string change_body(const model::ChangeRecord& change, CameBy came);
std::string policy_body(const model::PolicyRecord& policy, CameBy came);

// What somebody, or the service, decided about a group or a failure of it.
struct Decision {
  std::string cluster_id;
  std::string action;
  std::string author;
  std::string document;  // its JSON text as kept
};
std::string triage_body(const Decision& decision, CameBy came);
// A line of a group's history.
Decision decision_of(const model::ClusterKey& cluster, const model::TriageEntry& entry);
Decision decision_of(const model::Review& review);

// What a ledger begins with where there was something before it.
struct Start {
  std::map<std::string, std::uint64_t> counts;  // of the records that stood there, by kind
  struct Previous {
    std::string origin;
    SizedRoot tree;
  };
  std::optional<Previous> previous;  // the origin that this one continues
};
std::string start_body(const Start& start);

// What a deletion took, of a purge or of retention.
struct Receipt {
  std::optional<std::int64_t> before_ms;        // nothing: whatever its time
  std::map<std::string, std::uint64_t> counts;  // of the entries, by kind
  Ranges entries;
};
std::string receipt_body(const Receipt& receipt);

// Another key signs from here on. `previous`: empty where it is not known.
std::string key_body(std::string_view public_key, std::string_view previous);
// The keys that such a body names.
struct NamedKeys {
  std::string public_key;
  std::string previous;
};
std::optional<NamedKeys> keys_in(std::string_view body);

}  // namespace runwarden::ledger
