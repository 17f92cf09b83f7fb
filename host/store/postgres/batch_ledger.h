// The entries that a batch makes in ledgers, in its transaction. For the files of store/postgres only. One thread, the lane's.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/postgres/connection.h"
#include "store/postgres/ledger_writer.h"
#include "store/writes.h"

namespace runwarden::store::postgres {

// Of a record whose entry can be made before it is stored: of a run or a change. Any thread.
std::optional<PreparedEntry> entry_of(const Write& write);

class BatchLedger {
 public:
  // `on`: whether this process takes it that records make entries; corrected where the database says otherwise. Null: they make none.
  BatchLedger(std::int64_t now_ms, std::atomic<bool>* on) : now_ms_(now_ms), on_(on) {}

  bool is_on() const { return on_ != nullptr && *on_; }
  // What the database says; for a process that takes it that they make none.
  void know(const LedgerStanding& standing);

  // In order; nothing happens where records make no entries.
  void add(model::TenantId tenant, PreparedEntry entry);
  void add_decision(model::TenantId tenant, RecordName name, ledger::Decision decision);
  bool empty() const { return entries_.empty() && decisions_.empty(); }

  // Locks the ledgers, when all other locks but those of the log are held. What is to be run before COMMIT.
  // Throws PgFault; StoreError where a ledger cannot be read.
  std::vector<Connection::Statement> write(Connection& connection);

 private:
  struct Decided {
    model::TenantId tenant = 0;
    RecordName name;
    ledger::Decision decision;
  };

  std::int64_t now_ms_;
  std::atomic<bool>* on_;
  std::vector<std::pair<model::TenantId, PreparedEntry>> entries_;
  std::vector<Decided> decisions_;
};

}  // namespace runwarden::store::postgres
