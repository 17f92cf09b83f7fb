#include "store/postgres/ledger_writer.h"

#include <optional>
#include <tuple>

#include "store/postgres/fault.h"
#include "store/postgres/group_rows.h"
#include "store/postgres/row.h"

namespace runwarden::store::postgres {
namespace {

using Statements = std::vector<Connection::Statement>;

constexpr const char* kStanding = "SELECT state, since FROM runwarden.ledger_state";
constexpr const char* kLock = R"sql(
SELECT tenant, body FROM runwarden.ledger WHERE tenant = ANY($1) ORDER BY tenant FOR UPDATE)sql";
// A ledger that does not exist gets an empty row, so that other transactions wait for the outcome. The row is filled before the commit.
constexpr const char* kTouch =
    "INSERT INTO runwarden.ledger(tenant, origin, size, body) VALUES ($1, '', 0, '') ON CONFLICT (tenant) DO NOTHING";
constexpr const char* kLockTouched = R"sql(
SELECT l.body, coalesce((SELECT t.name FROM runwarden.tenant t WHERE t.tenant = l.tenant), '') FROM runwarden.ledger l WHERE l.tenant = $1 FOR UPDATE)sql";
constexpr const char* kPutHeads = R"sql(
UPDATE runwarden.ledger l SET origin = k.origin, size = k.size, body = k.body FROM unnest($1::int[], $2::text[], $3::bigint[], $4::bytea[]) AS k(tenant, origin, size, body)
WHERE l.tenant = k.tenant)sql";
constexpr const char* kInsertRows =
    "INSERT INTO runwarden.ledger_entry(tenant, first, body) SELECT * FROM unnest($1::int[], $2::bigint[], $3::bytea[])";
constexpr const char* kUpdateRows = R"sql(
UPDATE runwarden.ledger_entry e SET body = k.body FROM unnest($1::int[], $2::bigint[], $3::bytea[]) AS k(tenant, first, body)
WHERE e.tenant = k.tenant AND e.first = k.first)sql";
constexpr const char* kInsertSubtrees = R"sql(
INSERT INTO runwarden.ledger_subtree(tenant, height, number, body) SELECT * FROM unnest($1::int[], $2::smallint[], $3::bigint[], $4::bytea[]))sql";
constexpr const char* kInsertRecords = R"sql(
INSERT INTO runwarden.ledger_record(tenant, kind, name, body) SELECT * FROM unnest($1::int[], $2::smallint[], $3::bytea[], $4::bytea[]))sql";
constexpr const char* kInsertBodies =
    "INSERT INTO runwarden.ledger_body(tenant, entry, body) SELECT * FROM unnest($1::int[], $2::bigint[], $3::bytea[])";
constexpr const char* kHasRecord = "SELECT FROM runwarden.ledger_record WHERE tenant = $1 AND kind = $2 AND name = $3";
constexpr const char* kEraseRecords = R"sql(
DELETE FROM runwarden.ledger_record r USING unnest($1::int[], $2::smallint[], $3::bytea[], $4::bytea[]) AS k(tenant, kind, first, last)
WHERE r.tenant = k.tenant AND r.kind = k.kind AND r.name >= k.first AND r.name <= k.last RETURNING r.tenant, r.kind, r.name, r.body)sql";

constexpr std::size_t kLongestEnd = 5;  // longer than what may follow the place in a name

std::int16_t column(ledger::Kind kind) { return static_cast<std::int16_t>(kind); }

}  // namespace

Connection::Statement ledger_standing_statement() { return {kStanding}; }

LedgerStanding ledger_standing_of(const Rows& rows) {
  if (rows.empty()) return {};
  return {static_cast<LedgerState>(rows.number(0, 0)), unsigned_at(rows, 0, 1)};
}

LedgerStanding read_ledger_standing(Connection& connection) { return ledger_standing_of(connection.query(kStanding)); }

LedgerAppender::Records records_of(const LedgerStanding& standing) {
  return standing.state == LedgerState::on ? LedgerAppender::Records::make_entries : LedgerAppender::Records::make_none;
}

Connection::Statement LedgerWriter::lock_statement(const std::set<model::TenantId>& tenants) {
  return {kLock, std::move(Params().i32s(columns_of(tenants)))};
}

void LedgerWriter::lock(const std::set<model::TenantId>& tenants) {
  if (tenants.empty()) return;
  const Connection::Statement statement = lock_statement(tenants);
  know(connection_.run({&statement, 1}).front());
}

void LedgerWriter::know(const Rows& rows) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const model::TenantId tenant = tenant_at(rows, row, 0);
    locked_.insert_or_assign(tenant, ledger_head_of(tenant, rows.bytes(row, 1)));
  }
}

LedgerHead LedgerWriter::read_head(model::TenantId tenant) {
  if (const auto put = heads_.find(tenant); put != heads_.end()) return put->second;
  if (const auto known = locked_.find(tenant); known != locked_.end()) return known->second;
  const Params of = std::move(Params().i32(column(tenant)));
  const Statements touch{{kTouch, of}, {kLockTouched, of}};
  const Rows rows = std::move(connection_.run(touch).back());
  if (rows.empty()) throw PgFault(PgFault::Kind::again, "40001", "a ledger was deleted concurrently");
  if (!rows.bytes(0, 0).empty()) return locked_[tenant] = ledger_head_of(tenant, rows.bytes(0, 0));
  LedgerHead head;
  head.origin = new_origin(tenant, rows.bytes(0, 1));
  return head;
}

void LedgerWriter::put_head(model::TenantId tenant, const LedgerHead& head) { heads_.insert_or_assign(tenant, head); }

std::optional<LedgerRow> LedgerWriter::row_of(model::TenantId tenant, std::uint64_t index) {
  const auto after = rows_.upper_bound({tenant, index});
  if (after != rows_.begin()) {
    const auto& [place, put] = *std::prev(after);
    if (place.first == tenant && put.row.holds(index)) return put.row;
  }
  return readers_.try_emplace(tenant, connection_, tenant).first->second.row_of(index);
}

// Entries of this transaction get rows of their own.
void LedgerWriter::put_row(model::TenantId tenant, const LedgerRow& row) {
  const auto put = rows_.find({tenant, row.first});
  if (put != rows_.end()) {
    put->second.row = row;
    return;
  }
  const auto locked = locked_.find(tenant);
  const bool is_new = locked == locked_.end() || row.first >= locked->second.tree.size();
  rows_.emplace(RowKey{tenant, row.first}, PutRow{row, is_new});
}

void LedgerWriter::put_subtree(model::TenantId tenant, unsigned height, std::uint64_t number, const ledger::Hash& root) {
  subtrees_.tenants.push_back(column(tenant));
  subtrees_.heights.push_back(static_cast<std::int16_t>(height));
  subtrees_.numbers.push_back(column(number));
  subtrees_.bodies.push_back(encode_subtree(subtree_key(tenant, height, number), root));
}

// The caller puts a record that is missing, so a second question finds it.
bool LedgerWriter::has_record(model::TenantId tenant, ledger::Kind kind, std::string_view name) {
  if (!asked_for_.emplace(tenant, kind, RecordName(name)).second) return true;
  return !connection_.query(kHasRecord, std::move(Params().i32(column(tenant)).i16(column(kind)).bytes(name))).empty();
}

void LedgerWriter::put_record(model::TenantId tenant, ledger::Kind kind, std::string_view name, const LedgerRecord& record) {
  records_.tenants.push_back(column(tenant));
  records_.kinds.push_back(column(kind));
  records_.names.emplace_back(name);
  records_.bodies.push_back(encode_ledger_record(ledger_record_key(tenant, kind, name), record));
}

void LedgerWriter::put_body(model::TenantId tenant, std::uint64_t index, const ledger::EntryLine::Content& told) {
  bodies_.tenants.push_back(column(tenant));
  bodies_.numbers.push_back(column(index));
  bodies_.bodies.push_back(encode_ledger_body(ledger_row_key(tenant, index), told));
}

Rows LedgerWriter::delete_records(std::span<const ErasedRecord> records) {
  RecordColumns columns;  // bodies: the last name with that beginning
  for (const ErasedRecord& one : records) {
    columns.tenants.push_back(column(one.tenant));
    columns.kinds.push_back(column(one.kind));
    columns.names.push_back(one.names);
    columns.bodies.push_back(one.names + std::string(kLongestEnd, '\xff'));
  }
  return connection_.query(kEraseRecords,
                           std::move(Params().i32s(columns.tenants).i16s(columns.kinds).byteas(columns.names).byteas(columns.bodies)));
}

std::vector<std::uint64_t> LedgerWriter::erase_records(model::TenantId tenant, ledger::Kind kind, std::string_view names) {
  lock({tenant});
  const ErasedRecord one{tenant, kind, RecordName(names)};
  const Rows rows = delete_records({&one, 1});
  std::vector<std::uint64_t> erased;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    try {
      erased.push_back(decode_ledger_record(ledger_record_key(tenant, kind, rows.bytes(row, 2)), rows.bytes(row, 3)).index);
    } catch (const BadValue&) {
    }
  }
  return erased;
}

void LedgerWriter::erase_all(std::span<const ErasedRecord> records) {
  if (records.empty()) return;
  std::set<model::TenantId> tenants;
  for (const ErasedRecord& one : records) tenants.insert(one.tenant);
  lock(tenants);
  if (locked_.empty()) return;  // none of them has a ledger
  const Rows rows = delete_records(records);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const model::TenantId tenant = tenant_at(rows, row, 0);
    const auto kind = static_cast<ledger::Kind>(rows.number(row, 1));
    try {
      note_erased(tenant, kind, decode_ledger_record(ledger_record_key(tenant, kind, rows.bytes(row, 2)), rows.bytes(row, 3)).index);
    } catch (const BadValue&) {  // it is erased all the same; verify reports its entry
    }
  }
}

void LedgerWriter::add_heads(Statements& all) const {
  std::vector<std::int32_t> tenants;
  std::vector<std::string> origins, bodies;
  std::vector<std::int64_t> sizes;
  for (const auto& [tenant, head] : heads_) {
    tenants.push_back(column(tenant));
    origins.push_back(head.origin);
    sizes.push_back(column(head.tree.size()));
    bodies.push_back(encode_ledger_head(ledger_head_key(tenant), head));
  }
  if (!tenants.empty()) all.push_back({kPutHeads, std::move(Params().i32s(tenants).texts(origins).i64s(sizes).byteas(bodies))});
}

Statements LedgerWriter::take_statements() {
  flush();
  Statements all;
  for (const bool is_new : {true, false}) {
    Columns columns;
    for (const auto& [place, put] : rows_) {
      if (put.is_new != is_new) continue;
      columns.tenants.push_back(column(place.first));
      columns.numbers.push_back(column(place.second));
      columns.bodies.push_back(encode_ledger_row(ledger_row_key(place.first, place.second), put.row));
    }
    if (columns.tenants.empty()) continue;
    all.push_back(
        {is_new ? kInsertRows : kUpdateRows, std::move(Params().i32s(columns.tenants).i64s(columns.numbers).byteas(columns.bodies))});
  }
  if (!subtrees_.tenants.empty()) {
    all.push_back({kInsertSubtrees,
                   std::move(Params().i32s(subtrees_.tenants).i16s(subtrees_.heights).i64s(subtrees_.numbers).byteas(subtrees_.bodies))});
  }
  if (!records_.tenants.empty()) {
    all.push_back(
        {kInsertRecords, std::move(Params().i32s(records_.tenants).i16s(records_.kinds).byteas(records_.names).byteas(records_.bodies))});
  }
  if (!bodies_.tenants.empty()) {
    all.push_back({kInsertBodies, std::move(Params().i32s(bodies_.tenants).i64s(bodies_.numbers).byteas(bodies_.bodies))});
  }
  add_heads(all);
  rows_.clear();
  subtrees_ = {};
  records_ = {};
  bodies_ = {};
  return all;
}

Statements erase_from_ledgers(Connection& connection, std::span<const ErasedRecord> records, const Erasing& erasing) {
  LedgerWriter writer(connection, erasing.now_ms, LedgerAppender::Records::make_none);
  writer.erase_all(records);
  writer.write_receipts(erasing.kind, erasing.before_ms);
  return writer.take_statements();
}

}  // namespace runwarden::store::postgres
