// Reads one ledger from an engine, for proofs, exports and checks. Internal to store/. The engine's reader determines the thread, and the
// transaction that all reads see.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/export_lines.h"
#include "ledger/tree.h"
#include "model/change_record.h"
#include "model/cluster.h"
#include "model/review.h"
#include "model/run_record.h"
#include "store/errors.h"
#include "store/ledger_codec.h"
#include "store/ledger_store.h"

namespace runwarden::store {

// The body of an entry, made from its stored record.
struct EntryBody {
  std::string body;
  ledger::Parts parts;
};
EntryBody body_of(const model::RunRecord& run, ledger::CameBy came);
EntryBody body_of(const model::ChangeRecord& change, ledger::CameBy came);
EntryBody body_of(const model::PolicyRecord& policy, ledger::CameBy came);
EntryBody body_of(const model::ClusterKey& cluster, const model::TriageEntry& entry, ledger::CameBy came);
EntryBody body_of(const model::Review& review, ledger::CameBy came);

// An entry refers to something that is missing.
struct NotThere : StoreError {
  using StoreError::StoreError;
};

// Each function throws StoreError if stored data cannot be read.
class LedgerReader {
 public:
  virtual ~LedgerReader() = default;
  virtual std::optional<LedgerHead> head() = 0;
  // The row that holds that entry.
  virtual std::optional<LedgerRow> row_of(std::uint64_t index) = 0;
  // The root of a complete subtree, at a height that is stored.
  virtual std::optional<ledger::Hash> subtree(unsigned height, std::uint64_t number) = 0;
  virtual std::optional<LedgerRecord> record(ledger::Kind kind, std::string_view name) = 0;
  // The salt and body of an entry that belongs to no record.
  virtual std::optional<ledger::EntryLine::Content> told(std::uint64_t index) = 0;
  // Nothing: there is no such record, or it is not a name of that kind.
  virtual std::optional<EntryBody> body(ledger::Kind kind, std::string_view name, ledger::CameBy came) = 0;
};

// The roots of a ledger's complete subtrees at any height. Reads each row once if leaves are requested in order. Throws NotThere.
class SubtreeRoots {
 public:
  explicit SubtreeRoots(LedgerReader& reader) : reader_(reader) {}
  ledger::Hash root(unsigned height, std::uint64_t number);
  ledger::Subtrees subtrees() {
    return [this](unsigned height, std::uint64_t number) { return root(height, number); };
  }

 private:
  ledger::Hash leaf(std::uint64_t index);

  LedgerReader& reader_;
  std::optional<LedgerRow> row_;
};

// An entry with its body, unless the body is erased. Throws NotThere.
ledger::EntryLine read_entry(LedgerReader& reader, const LedgerRow& row, std::size_t at);
// As LedgerStore::entries().
std::vector<ledger::EntryLine> read_entries(LedgerReader& reader, std::uint64_t from, std::uint64_t before, PartsToo parts);

// Names the entry to prove.
struct EntryName {
  ledger::Kind kind = ledger::Kind::run;
  RecordName name;
};
// Proves an entry under a checkpoint: the entry and its path. `id`: what errors call the record. Without `found`, there is no such record.
Result<LedgerProof> prove_entry(LedgerReader& reader, const std::optional<EntryName>& found, std::string_view id,
                                SignedCheckpoint checkpoint);
// As LedgerStore::consistency(), for a ledger of that size.
Result<std::vector<ledger::Hash>> prove_consistency(LedgerReader& reader, std::uint64_t from, std::uint64_t to, std::uint64_t size);
// Whether this ledger begins with the published tree `told`.
bool has_begun_so(LedgerReader& reader, const LedgerHead& head, const ledger::SizedRoot& told);

}  // namespace runwarden::store
