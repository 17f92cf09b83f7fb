// One ledger as an engine keeps it: what proofs, exports and checks are made of. For the files of store/ only; the thread and, as of what
// time, the transaction that the engine's reader has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/export_lines.h"
#include "ledger/tree.h"
#include "model/cluster.h"
#include "model/records.h"
#include "model/review.h"
#include "store/errors.h"
#include "store/ledger_codec.h"
#include "store/ledger_store.h"

namespace runwarden::store {

// The record of an entry as it is kept.
struct EntryBody {
  std::string body;
  ledger::Parts parts;
};
EntryBody body_of(const model::RunRecord& run, ledger::CameBy came);
EntryBody body_of(const model::ChangeRecord& change, ledger::CameBy came);
EntryBody body_of(const model::PolicyRecord& policy, ledger::CameBy came);
EntryBody body_of(const model::ClusterKey& cluster, const model::TriageEntry& entry, ledger::CameBy came);
EntryBody body_of(const model::Review& review, ledger::CameBy came);

// What an entry speaks of is not there.
struct NotThere : StoreError {
  using StoreError::StoreError;
};

// Each throws StoreError where what is there cannot be read.
class LedgerReader {
 public:
  virtual ~LedgerReader() = default;
  virtual std::optional<LedgerHead> head() = 0;
  // The row that holds that entry.
  virtual std::optional<LedgerRow> row_of(std::uint64_t index) = 0;
  // The root of a complete subtree of a height that is kept.
  virtual std::optional<ledger::Hash> subtree(unsigned height, std::uint64_t number) = 0;
  virtual std::optional<LedgerRecord> record(ledger::Kind kind, std::string_view name) = 0;
  // Of an entry that is no record's.
  virtual std::optional<ledger::EntryLine::Told> told(std::uint64_t index) = 0;
  // Nothing: there is no such record, or the name is none of that kind.
  virtual std::optional<EntryBody> body(ledger::Kind kind, std::string_view name, ledger::CameBy came) = 0;
};

// The roots of a ledger's complete subtrees of any height; a row is read once where leaves are asked for in order. Throws NotThere.
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

// An entry with its body, where that is not erased. Throws NotThere.
ledger::EntryLine read_entry(LedgerReader& reader, const LedgerRow& row, std::size_t at);
// As LedgerStore::entries().
std::vector<ledger::EntryLine> read_entries(LedgerReader& reader, std::uint64_t from, std::uint64_t before, PartsToo parts);

// Whose entry is to be proven.
struct EntryName {
  ledger::Kind kind = ledger::Kind::run;
  RecordName name;
};
// Puts the entry and its path into a proof that has its checkpoint. `id`: how errors name the record; nothing is `found`: it is not there.
Result<LedgerProof> prove_entry(LedgerReader& reader, const std::optional<EntryName>& found, std::string_view id, SignedCheckpoint checkpoint);
// As LedgerStore::consistency(), of a ledger of that size.
Result<std::vector<ledger::Hash>> prove_consistency(LedgerReader& reader, std::uint64_t from, std::uint64_t to, std::uint64_t size);
// Whether a tree that was told of is the beginning of this ledger.
bool has_begun_so(LedgerReader& reader, const LedgerHead& head, const ledger::SizedRoot& told);

}  // namespace runwarden::store
