// Ledger entries, prepared before their place in the order is known. Internal to store/. Pure except for the salts; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/bodies.h"
#include "ledger/entry.h"
#include "model/change_record.h"
#include "model/cluster.h"
#include "model/record_key.h"
#include "model/run_record.h"

namespace runwarden::store {

// Names the record of an entry, as the end of a key. Of a run: place and revision. Of a change or policy revision: its place. Of a decision
// about a group: half the digest of the fingerprint, and its place. Of a review: its place. Empty: the entry has no record.
using RecordName = std::string;
RecordName run_name(const model::RecordKey& run, std::uint32_t revision);
RecordName place_name(const model::RecordKey& key);
RecordName triage_name(const model::ClusterKey& cluster, const model::RecordKey& key);

// An entry without its place in the order.
struct PreparedEntry {
  ledger::Entry entry;
  ledger::Hash leaf{};
  ledger::Salt salt{};
  RecordName name;
  ledger::CameBy came = ledger::CameBy::itself;
  std::string body;  // for an entry without a record; otherwise empty, because it is rebuilt from the record
};
struct RecordEntry {
  ledger::Kind kind = ledger::Kind::run;
  RecordName name;
  std::int64_t at_ms = 0;
  ledger::CameBy came = ledger::CameBy::itself;
};
PreparedEntry prepare_entry(RecordEntry record, std::string_view body);
// `document`: SHA-256 of the run's document, if it is already known.
PreparedEntry prepare_run(const model::RunRecord& run, const std::optional<model::Digest>& document = std::nullopt);
PreparedEntry prepare_change(const model::ChangeRecord& change);
PreparedEntry prepare_policy(const model::PolicyRecord& policy);

}  // namespace runwarden::store
