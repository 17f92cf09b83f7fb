// The entries that a batch makes in ledgers, in its transaction. Internal to store/postgres. One thread, the lane's.
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

// The entry of a run or a change, which can be made before the record is stored. Any thread.
std::optional<PreparedEntry> entry_of(const Write& write);

class BatchLedger {
 public:
  // `on`: whether this process believes that records make entries; corrected if the database disagrees. Null: they make none.
  BatchLedger(std::int64_t now_ms, std::atomic<bool>* on) : now_ms_(now_ms), on_(on) {}

  bool is_on() const { return on_ != nullptr && *on_; }
  // What the database says, for a process that believes that records make no entries.
  void know(const LedgerStanding& standing);

  // Entries keep the order of these calls. Nothing happens if records make no entries.
  void add(model::TenantId tenant, PreparedEntry entry);
  void add_decision(model::TenantId tenant, RecordName name, ledger::Decision decision);
  bool empty() const { return entries_.empty() && decisions_.empty(); }

  // Locks the ledgers. Call it when all other locks except those of the log are held. Returns what to run before COMMIT.
  // Throws PgFault; StoreError if a ledger cannot be read.
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
