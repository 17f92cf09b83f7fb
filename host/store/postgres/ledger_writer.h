// Entries of ledgers in one transaction of the database: implements ledger_appender.h on its tables. Internal to store/postgres. One
// thread, the connection's.
//
// Locks the head of a ledger before it reads anything of the ledger that the transaction changes, and after all other locks except those of
// the commit log. Locks the heads of several tenants in their order.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "store/ledger_appender.h"
#include "store/postgres/connection.h"
#include "store/postgres/ledger_rows.h"
#include "store/postgres/rows.h"

namespace runwarden::store::postgres {

// Whether records make entries, according to the database.
struct LedgerStanding {
  LedgerState state = LedgerState::never;
  std::uint64_t since = 0;  // the start since which every record has an entry
};
Connection::Statement ledger_standing_statement();
LedgerStanding ledger_standing_of(const Rows& rows);
LedgerStanding read_ledger_standing(Connection& connection);
LedgerAppender::Records records_of(const LedgerStanding& standing);

// A deleted record, or all records whose names begin with `names`: for a run this is its place, which covers all of its revisions.
struct ErasedRecord {
  model::TenantId tenant = 0;
  ledger::Kind kind = ledger::Kind::run;
  RecordName names;
};

class LedgerWriter final : public LedgerAppender {
 public:
  LedgerWriter(Connection& connection, std::int64_t now_ms, Records records) : LedgerAppender(now_ms, records), connection_(connection) {}

  // Locks the existing heads of these tenants. The statement does the same in another round trip; pass its answer to know().
  void lock(const std::set<model::TenantId>& tenants);
  static Connection::Statement lock_statement(const std::set<model::TenantId>& tenants);
  void know(const Rows& rows);

  // Like erase() for each record, with one statement. Locks their ledgers.
  void erase_all(std::span<const ErasedRecord> records);

  // Flushes. Returns what to run before COMMIT.
  std::vector<Connection::Statement> take_statements();

 private:
  using RowKey = std::pair<model::TenantId, std::uint64_t>;
  struct PutRow {
    LedgerRow row;
    bool is_new = false;
  };

  LedgerHead read_head(model::TenantId tenant) override;
  void put_head(model::TenantId tenant, const LedgerHead& head) override;
  std::optional<LedgerRow> row_of(model::TenantId tenant, std::uint64_t index) override;
  void put_row(model::TenantId tenant, const LedgerRow& row) override;
  void put_subtree(model::TenantId tenant, unsigned height, std::uint64_t number, const ledger::Hash& root) override;
  bool has_record(model::TenantId tenant, ledger::Kind kind, std::string_view name) override;
  void put_record(model::TenantId tenant, ledger::Kind kind, std::string_view name, const LedgerRecord& record) override;
  void put_body(model::TenantId tenant, std::uint64_t index, const ledger::EntryLine::Content& told) override;
  std::vector<std::uint64_t> erase_records(model::TenantId tenant, ledger::Kind kind, std::string_view names) override;

  Rows delete_records(std::span<const ErasedRecord> records);
  void add_heads(std::vector<Connection::Statement>& all) const;

  struct RecordColumns {
    std::vector<std::int32_t> tenants;
    std::vector<std::int16_t> kinds;
    std::vector<std::string> names, bodies;
  };
  struct SubtreeColumns {
    std::vector<std::int32_t> tenants;
    std::vector<std::int16_t> heights;
    std::vector<std::int64_t> numbers;
    std::vector<std::string> bodies;
  };
  struct Columns {  // for rows with a tenant, a number and a value
    std::vector<std::int32_t> tenants;
    std::vector<std::int64_t> numbers;
    std::vector<std::string> bodies;
  };

  Connection& connection_;
  std::map<model::TenantId, LedgerHead> locked_;
  std::map<model::TenantId, LedgerRows> readers_;
  std::set<std::tuple<model::TenantId, ledger::Kind, RecordName>> asked_for_;
  std::map<RowKey, PutRow> rows_;
  std::map<model::TenantId, LedgerHead> heads_;
  RecordColumns records_;
  SubtreeColumns subtrees_;
  Columns bodies_;
};

// In an open transaction that holds all its locks except those of the log: deletes the salts of the entries of deleted records, and adds an
// entry to each ledger that loses some. Returns what to run before COMMIT. `before_ms`: the time before which records were deleted, or
// nothing.
struct Erasing {
  ledger::Kind kind = ledger::Kind::expiry;  // or purge
  std::optional<std::int64_t> before_ms;
  std::int64_t now_ms = 0;
};
std::vector<Connection::Statement> erase_from_ledgers(Connection& connection, std::span<const ErasedRecord> records,
                                                      const Erasing& erasing);

}  // namespace runwarden::store::postgres
