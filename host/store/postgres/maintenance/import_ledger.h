// Ledger entries for imported records. Internal to this folder; one thread, in the import's open transaction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "store/ledger_reader.h"
#include "store/postgres/connection.h"
#include "store/postgres/ledger_writer.h"

namespace runwarden::store::postgres {

class ImportLedger {
 public:
  ImportLedger(Connection& connection, std::int64_t now_ms)
      : connection_(connection),
        now_ms_(now_ms),
        on_(records_of(read_ledger_standing(connection)) == LedgerAppender::Records::make_entries) {}

  bool is_on() const { return on_; }
  // Adds the entry of a record, with the body that the database would give for it. Entries are held back: once they are written, other
  // transactions that append to these ledgers wait until the import ends.
  void add(model::TenantId tenant, ledger::Kind kind, RecordName name, const EntryBody& body,
           ledger::CameBy came = ledger::CameBy::import) {
    entries_.emplace_back(tenant, prepare_entry({kind, std::move(name), now_ms_, came}, body.body));
    if (entries_.size() >= kMostHeldBack) write();
  }

  // Call it when everything else is written.
  void write() {
    if (entries_.empty()) return;
    std::set<model::TenantId> tenants;
    for (const auto& [tenant, entry] : entries_) tenants.insert(tenant);
    LedgerWriter writer(connection_, now_ms_, LedgerAppender::Records::make_entries);
    writer.lock(tenants);
    for (auto& [tenant, entry] : entries_) writer.append(tenant, std::move(entry));
    entries_.clear();
    connection_.run(writer.take_statements());
  }

 private:
  static constexpr std::size_t kMostHeldBack = 200'000;  // some 50 MB

  Connection& connection_;
  const std::int64_t now_ms_;
  const bool on_;
  std::vector<std::pair<model::TenantId, PreparedEntry>> entries_;
};

}  // namespace runwarden::store::postgres
