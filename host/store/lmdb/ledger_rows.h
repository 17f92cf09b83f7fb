// Ledgers in the tables: heads, packed entries, roots of subtrees, and which entry is of which record. For the files of store/ only; the
// transaction says which thread. Decoders throw BadValue.
//
// The entries of a transaction stand in one row. A row names the record of each entry; a deletion takes the name out, and the record's own
// row with the salt. Bodies are made again from records; those of entries that are no record's stand in a table of their own, for ever.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/bodies.h"
#include "ledger/export_lines.h"
#include "ledger/tree.h"
#include "store/lmdb/env.h"
#include "store/lmdb/prepared_entry.h"
#include "store/lmdb/tables.h"

namespace runwarden::store {

struct LedgerHead {
  std::string origin;
  ledger::RightEdge tree;
  std::int64_t last_ms = 0;     // time of the last entry
  std::uint64_t key_entry = 0;  // index of the latest entry of kind key, and 1; 0: there is none
  std::string former_key;       // the public key before it
};

KeyBytes ledger_head_key(model::TenantId tenant);
std::string encode_ledger_head(std::string_view key, const LedgerHead& head);
LedgerHead decode_ledger_head(std::string_view key, std::string_view value);
// Of every tenant.
std::map<model::TenantId, LedgerHead> read_ledger_heads(const Txn& txn, const Tables& tables);
std::optional<LedgerHead> read_ledger_head(const Txn& txn, const Tables& tables, model::TenantId tenant);

// The public key that signs, as of the last rotation that was committed; empty: not noted yet.
std::string read_signing_key(const Txn& txn, const Tables& tables);
void write_signing_key(WriteTxn& txn, const Tables& tables, std::string_view public_key);

constexpr std::size_t kMostEntriesARow = 1024;
struct LedgerRow {
  std::uint64_t first = 0;
  std::vector<ledger::Entry> entries;
  std::vector<RecordName> names;  // as many
};
KeyBytes ledger_row_key(model::TenantId tenant, std::uint64_t first);
std::string encode_ledger_row(std::string_view key, const LedgerRow& row);
LedgerRow decode_ledger_row(std::string_view key, std::string_view value);
// The row that holds that entry.
std::optional<LedgerRow> find_ledger_row(const Txn& txn, const Tables& tables, model::TenantId tenant, std::uint64_t index);

// Heights whose complete subtrees are kept.
constexpr bool is_kept_height(unsigned height) {
  return height == 8 || height == 16 || height == 24;
}
KeyBytes subtree_key(model::TenantId tenant, unsigned height, std::uint64_t number);
std::string encode_subtree(std::string_view key, const ledger::Hash& root);
ledger::Hash decode_subtree(std::string_view key, std::string_view value);

struct LedgerRecord {
  ledger::Salt salt{};
  std::uint64_t index = 0;
  ledger::CameBy came = ledger::CameBy::itself;
};
KeyBytes ledger_record_key(model::TenantId tenant, ledger::Kind kind, std::string_view name);
std::string encode_ledger_record(std::string_view key, const LedgerRecord& record);
LedgerRecord decode_ledger_record(std::string_view key, std::string_view value);

std::string encode_ledger_body(std::string_view key, const ledger::EntryLine::Told& told);
ledger::EntryLine::Told decode_ledger_body(std::string_view key, std::string_view value);

// Reads subtrees of one ledger in one transaction, each row once where they are asked for in order.
class SubtreeReader {
 public:
  SubtreeReader(const Txn& txn, const Tables& tables, model::TenantId tenant) : txn_(txn), tables_(tables), tenant_(tenant) {}
  // Throws StoreError where a part of it is not there.
  ledger::Hash root(unsigned height, std::uint64_t number);
  ledger::Subtrees subtrees() {
    return [this](unsigned height, std::uint64_t number) { return root(height, number); };
  }

 private:
  ledger::Hash leaf(std::uint64_t index);

  const Txn& txn_;
  const Tables& tables_;
  model::TenantId tenant_;
  std::optional<LedgerRow> row_;
};

// The record of an entry as it is kept, or nothing: it is not there.
struct EntryBody {
  std::string body;
  ledger::Parts parts;
};
std::optional<EntryBody> body_of_record(const Txn& txn, const Tables& tables, model::TenantId tenant, ledger::Kind kind,
                                        std::string_view name, ledger::CameBy came);
// What an entry speaks of is not there.
struct NotThere : StoreError {
  using StoreError::StoreError;
};
// An entry with its body, where that is not erased. Throws NotThere, and StoreError where what is there cannot be read.
ledger::EntryLine read_entry(const Txn& txn, const Tables& tables, model::TenantId tenant, const LedgerRow& row, std::size_t at);

}  // namespace runwarden::store
