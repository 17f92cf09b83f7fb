// Appends entries to ledgers in one transaction: each ledger's entries stand in one row, and its head is written once, by flush(). For the
// files of store/ only; the thread of the transaction.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/bodies.h"
#include "store/lmdb/ledger_rows.h"
#include "store/lmdb/prepared_entry.h"

namespace runwarden::store {

class LedgerWriter {
 public:
  // Whether records make entries. Deletions tell of what they emptied in any case.
  enum class Records : std::uint8_t { make_entries, make_none };

  LedgerWriter(WriteTxn& txn, const Tables& tables, std::int64_t now_ms, Records records)
      : txn_(txn), tables_(tables), now_ms_(now_ms), records_(records) {}

  bool takes_records() const { return records_ == Records::make_entries; }
  std::int64_t now_ms() const { return now_ms_; }
  // Of a record that this transaction stores. Nothing happens where records make no entries.
  void append(model::TenantId tenant, PreparedEntry entry);
  // What was decided about a group or a failure of it, under that name.
  void append_decision(model::TenantId tenant, RecordName name, const ledger::Decision& decision, ledger::CameBy came);
  // An entry that is no record's.
  void append_own(model::TenantId tenant, ledger::Kind kind, std::string body);

  // The records of that kind whose names begin so are deleted by this transaction: their salts go.
  void erase(model::TenantId tenant, ledger::Kind kind, std::string_view names);
  // An entry in each ledger that has lost records since the last one.
  void write_receipts(ledger::Kind kind, std::optional<std::int64_t> before_ms);

  // Makes the ledger if there is none. What the caller changes is written.
  LedgerHead& head(model::TenantId tenant);

  void flush();

 private:
  struct OfTenant {
    LedgerHead head;
    std::vector<PreparedEntry> pending;
    std::uint64_t pending_first = 0;
    ledger::Ranges erased;
    std::map<std::string, std::uint64_t> erased_counts;
  };

  OfTenant& of(model::TenantId tenant);
  void add(model::TenantId tenant, PreparedEntry entry);
  void put_pending(model::TenantId tenant, OfTenant& of);
  void put_row(model::TenantId tenant, std::uint64_t first, std::vector<PreparedEntry> entries);
  void take_names(model::TenantId tenant, std::uint64_t first, std::uint64_t last);

  WriteTxn& txn_;
  const Tables& tables_;
  std::int64_t now_ms_;
  Records records_;
  std::map<model::TenantId, OfTenant> known_;
};

// A new origin for a tenant: with a random log of its own.
std::string new_origin(const Txn& txn, const Tables& tables, model::TenantId tenant);

}  // namespace runwarden::store
