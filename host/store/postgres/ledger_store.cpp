#include "store/postgres/ledger_store.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "model/record_ids.h"
#include "store/change_codec.h"
#include "store/key_encoding.h"
#include "store/ledger_signing.h"
#include "store/postgres/group_rows.h"

namespace runwarden::store::postgres {
namespace {

using Statements = std::vector<Connection::Statement>;
using Announce = PostgresLedgerStore::Announce;

constexpr int kMostTries = 5;
constexpr std::chrono::hours kLongestCount{1};

constexpr const char* kBegin = "BEGIN; SET LOCAL synchronous_commit = on";
constexpr const char* kBeginReading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
constexpr const char* kSizes = "SELECT tenant, body FROM runwarden.ledger ORDER BY tenant";
constexpr const char* kGrown = R"sql(
SELECT l.tenant FROM runwarden.ledger l LEFT JOIN runwarden.ledger_checkpoint c ON c.tenant = l.tenant
WHERE l.size <> CASE WHEN c.origin = l.origin THEN c.told ELSE 0 END)sql";
constexpr const char* kHeads = "SELECT tenant, body FROM runwarden.ledger WHERE tenant = ANY($1) ORDER BY tenant";
constexpr const char* kTouchCheckpoints = R"sql(
INSERT INTO runwarden.ledger_checkpoint SELECT u.tenant, '', 0, '', false, 0 FROM unnest($1::int[]) AS u(tenant) ORDER BY 1 ON CONFLICT DO NOTHING)sql";
constexpr const char* kLockCheckpoints = R"sql(
SELECT tenant, origin, size, root, by_both_keys, told FROM runwarden.ledger_checkpoint WHERE tenant = ANY($1) ORDER BY tenant FOR UPDATE)sql";
constexpr const char* kPutCheckpoint = R"sql(
UPDATE runwarden.ledger_checkpoint SET origin = $2, size = $3, root = $4, by_both_keys = $5, told = $6 WHERE tenant = $1)sql";
constexpr const char* kChange = "SELECT body FROM runwarden.change WHERE tenant = $1 AND time_ms = $2 AND seq = $3";
constexpr const char* kPolicyThere = "SELECT FROM runwarden.policy WHERE tenant = $1 AND time_ms = $2 AND seq = $3";
constexpr const char* kRecordsLeft = "SELECT kind, name FROM runwarden.ledger_record WHERE tenant = $1 ORDER BY kind, name";

// Repeats the transaction after a conflict with another one.
template <class Use>
auto in_transaction(Pool& pool, Use use) -> decltype(use(std::declval<Connection&>())) {
  return pool.write([&](Connection& connection) {
    for (int tries = 1;; ++tries) {
      try {
        connection.script(kBegin);
        auto result = use(connection);
        connection.script("COMMIT");
        return result;
      } catch (const PgFault& fault) {
        if (fault.kind != PgFault::Kind::again || tries == kMostTries) throw;
        connection.rollback();
      }
    }
  });
}

// For queries that count all records.
Pool patient_pool(ConnectSettings settings) {
  settings.answer_timeout = kLongestCount;
  return Pool(std::move(settings), 1);
}

LedgerWriter writer_for(Connection& connection, std::int64_t now_ms) {
  return {connection, now_ms, LedgerAppender::Records::make_entries};
}

struct CheckpointRow {
  std::string origin;
  NotedCheckpoint noted;
  std::uint64_t told = 0;
};

std::map<model::TenantId, CheckpointRow> lock_checkpoints(Connection& connection, const std::set<model::TenantId>& tenants) {
  const Params of = std::move(Params().i32s(columns_of(tenants)));
  const Statements lock{{kTouchCheckpoints, of}, {kLockCheckpoints, of}};
  const Rows rows = std::move(connection.run(lock).back());
  std::map<model::TenantId, CheckpointRow> found;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    CheckpointRow& one = found[tenant_at(rows, row, 0)];
    one.origin = rows.bytes(row, 1);
    one.noted.tree.size = unsigned_at(rows, row, 2);
    const std::string_view root = rows.bytes(row, 3);
    std::copy_n(reinterpret_cast<const std::uint8_t*>(root.data()), std::min(root.size(), one.noted.tree.root.size()),
                one.noted.tree.root.begin());
    one.noted.by_both_keys = rows.boolean(row, 4);
    one.told = unsigned_at(rows, row, 5);
  }
  return found;
}

std::map<model::TenantId, LedgerHead> read_heads(Connection& connection, const std::set<model::TenantId>& tenants) {
  const Rows rows = connection.query(kHeads, std::move(Params().i32s(columns_of(tenants))));
  std::map<model::TenantId, LedgerHead> heads;
  for (std::size_t row = 0; row < rows.size(); ++row)
    heads.emplace(tenant_at(rows, row, 0), ledger_head_of(tenant_at(rows, row, 0), rows.bytes(row, 1)));
  return heads;
}

// What a transaction notes, to be signed once it is committed.
struct ToSign {
  bool is_moved = false;               // this is another database: nothing is noted
  bool has_no_key = false;             // likewise
  std::set<model::TenantId> behind;    // likewise, if any: their noted checkpoints are not the beginning of their ledgers
  struct Noted {
    LedgerHead head;
    bool by_both_keys = false;
  };
  std::map<model::TenantId, Noted> noted;
  LedgerKeys keys;
};

ToSign note_checkpoints(Connection& connection, const std::set<model::TenantId>& tenants, Announce told, std::int64_t now_ms) {
  ToSign work;
  const LedgerCommons commons = lock_commons(connection, LockCommons::to_sign);
  work.is_moved = commons.is_moved();
  work.keys = read_keys(connection);
  work.has_no_key = !work.keys.current || work.keys.current->public_key() != commons.public_key;
  if (work.is_moved || work.has_no_key) return work;
  const std::map<model::TenantId, CheckpointRow> before = lock_checkpoints(connection, tenants);
  std::map<model::TenantId, LedgerHead> heads = read_heads(connection, tenants);  // at least as large as previous holders of the locks saw
  LedgerWriter writer = writer_for(connection, now_ms);
  Statements put;
  for (const model::TenantId tenant : tenants) {
    const auto found = heads.find(tenant);
    LedgerHead head = found == heads.end() ? writer.head(tenant) : std::move(found->second);
    const CheckpointRow& row = before.at(tenant);
    const bool same = row.origin == head.origin;
    const std::uint64_t size = head.tree.size();
    const ledger::SizedRoot& last = row.noted.tree;
    if (same && (last.size > size || (last.size == size && size > 0 && last.root != head.tree.root()))) work.behind.insert(tenant);
    const std::uint64_t told_before = same ? row.told : 0;
    if (told == Announce::yes && told_before == size) continue;  // another host was faster
    const bool both = by_both_keys(head, same ? &row.noted : nullptr);
    const ledger::Hash root = head.tree.root();
    put.push_back({kPutCheckpoint, std::move(Params()
                                                 .i32(column(tenant))
                                                 .text(head.origin)
                                                 .i64(column(size))
                                                 .bytes({reinterpret_cast<const char*>(root.data()), root.size()})
                                                 .boolean(both)
                                                 .i64(column(told == Announce::yes ? size : told_before)))});
    work.noted.emplace(tenant, ToSign::Noted{std::move(head), both});
  }
  if (!work.behind.empty()) return work;
  for (Connection::Statement& one : writer.take_statements()) put.push_back(std::move(one));
  if (!put.empty()) connection.run(put);
  return work;
}

SignedCheckpoint signed_with(const ToSign::Noted& one, const LedgerKeys& keys) {
  const bool is_previous = one.by_both_keys && keys.previous && keys.previous->public_key() == one.head.previous_key;
  // A key cannot be copied, so the second signer is read from its own PEM.
  const std::optional<ledger::SigningKey> previous =
      is_previous ? std::optional(std::move(*ledger::SigningKey::from_pem(keys.previous->pem()))) : std::nullopt;
  return sign_checkpoint(one.head, *keys.current, previous);
}

}  // namespace

template <class Use>
auto PostgresLedgerStore::reading(model::TenantId tenant, Use use) -> decltype(use(std::declval<LedgerRows&>())) {
  return parts_.pool.read([&](Connection& connection) {
    connection.script(kBeginReading);
    LedgerRows rows(connection, tenant);
    auto result = use(rows);
    connection.script("COMMIT");
    return result;
  });
}

void PostgresLedgerStore::begin(StoreSettings::Ledger wanted, std::uint64_t start) {
  if (wanted == StoreSettings::Ledger::as_it_is) {
    is_on();
    return;
  }
  Pool pool = patient_pool(parts_.connect);
  on_ = in_transaction(pool, [&](Connection& connection) {
    LedgerCommons commons = lock_commons(connection, LockCommons::to_change);
    const bool was_on = commons.standing.state == LedgerState::on;
    if (wanted == StoreSettings::Ledger::off) {
      commons.standing.state = LedgerState::off;
      if (was_on) put_commons(connection, commons);
      return false;
    }
    const bool is_new = !was_on || commons.is_moved();
    LedgerWriter writer = writer_for(connection, parts_.clock.now_ms());
    auto counts = is_new ? count_records(connection) : std::map<model::TenantId, std::map<std::string, std::uint64_t>>();
    if (commons.is_moved()) {
      for (const model::TenantId tenant : tenants_with_ledgers(connection)) {
        writer.begin_again(tenant, new_origin(tenant, tenant_name(connection, tenant)), counts[tenant]);
      }
    }
    if (!was_on) {
      for (const auto& [tenant, of] : counts) {
        if (!of.empty()) writer.append_own(tenant, ledger::Kind::start, ledger::start_body({of, std::nullopt}));
      }
      commons.standing = {LedgerState::on, start};
    }
    const std::string signed_before = commons.public_key;
    ensure_key(connection, commons, writer);
    const Statements statements = writer.take_statements();
    if (!statements.empty()) connection.run(statements);
    if (is_new || commons.public_key != signed_before) {
      commons.database = commons.here;
      put_commons(connection, commons);
    }
    return true;
  });
}

bool PostgresLedgerStore::is_on() {
  on_ = parts_.pool.read([](Connection& connection) { return read_ledger_standing(connection).state == LedgerState::on; });
  return on_;
}

std::vector<LedgerSize> PostgresLedgerStore::sizes() {
  const Rows rows = parts_.pool.read([](Connection& connection) { return connection.query(kSizes); });
  std::vector<LedgerSize> sizes;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const model::TenantId tenant = tenant_at(rows, row, 0);
    const LedgerHead head = ledger_head_of(tenant, rows.bytes(row, 1));
    sizes.push_back({tenant, head.origin, head.tree.size(), head.last_ms});
  }
  return sizes;
}

std::optional<SignedCheckpoint> PostgresLedgerStore::still_signed(model::TenantId tenant) {
  const auto now = parts_.pool.read([&](Connection& connection) { return read_head_now(connection, tenant); });
  if (!now || now->is_moved) return std::nullopt;
  const MutexLock lock(mutex_);
  const auto known = signed_.find(tenant);
  if (known == signed_.end() || known->second.public_key != now->public_key) return std::nullopt;
  const ledger::Checkpoint& last = known->second.checkpoint;
  const bool same = last.origin == now->head.origin && last.tree.size == now->head.tree.size() && last.tree.root == now->head.tree.root();
  return same ? std::optional(known->second) : std::nullopt;
}

SignedCheckpoint PostgresLedgerStore::checkpoint(model::TenantId tenant) {
  if (auto known = still_signed(tenant)) return std::move(*known);
  return std::move(sign({tenant}, Announce::no).front());
}

std::vector<SignedCheckpoint> PostgresLedgerStore::checkpoint_grown() {
  std::set<model::TenantId> grown;
  {
    const Rows rows = parts_.pool.read([](Connection& connection) { return connection.query(kGrown); });
    for (std::size_t row = 0; row < rows.size(); ++row) grown.insert(tenant_at(rows, row, 0));
  }
  return grown.empty() ? std::vector<SignedCheckpoint>() : sign(grown, Announce::yes);
}

std::vector<SignedCheckpoint> PostgresLedgerStore::sign(const std::set<model::TenantId>& tenants, Announce told) {
  for (int tries = 1; tries <= kMostTries; ++tries) {
    const ToSign work = in_transaction(
        parts_.pool, [&](Connection& connection) { return note_checkpoints(connection, tenants, told, parts_.clock.now_ms()); });
    if (work.is_moved || !work.behind.empty()) {
      begin_new_origins(work.behind);
      continue;
    }
    if (work.has_no_key) {
      make_key();
      continue;
    }
    std::vector<SignedCheckpoint> all;
    for (const auto& [tenant, noted] : work.noted) {
      SignedCheckpoint made = signed_with(noted, work.keys);
      made.tenant = tenant;
      made.at_ms = parts_.clock.now_ms();
      const MutexLock lock(mutex_);
      signed_[tenant] = made;
      all.push_back(std::move(made));
    }
    return all;
  }
  throw StoreError("ledger: the database keeps changing its identity or its key; nothing can be signed now");
}

void PostgresLedgerStore::make_key() {
  in_transaction(parts_.pool, [&](Connection& connection) {
    LedgerCommons commons = lock_commons(connection, LockCommons::to_change);
    LedgerWriter writer = writer_for(connection, parts_.clock.now_ms());
    ensure_key(connection, commons, writer);
    const Statements statements = writer.take_statements();
    if (!statements.empty()) connection.run(statements);
    if (commons.database.empty()) commons.database = commons.here;
    put_commons(connection, commons);
    return Nothing{};
  });
}

void PostgresLedgerStore::begin_new_origins(const std::set<model::TenantId>& behind) {
  Pool pool = patient_pool(parts_.connect);
  in_transaction(pool, [&](Connection& connection) {
    LedgerCommons commons = lock_commons(connection, LockCommons::to_change);
    const std::set<model::TenantId> tenants = commons.is_moved() ? tenants_with_ledgers(connection) : behind;
    auto counts = count_records(connection);
    LedgerWriter writer = writer_for(connection, parts_.clock.now_ms());
    for (const model::TenantId tenant : tenants)
      writer.begin_again(tenant, new_origin(tenant, tenant_name(connection, tenant)), counts[tenant]);
    const Statements statements = writer.take_statements();
    if (!statements.empty()) connection.run(statements);
    commons.database = commons.here;
    put_commons(connection, commons);
    return Nothing{};
  });
}

void PostgresLedgerStore::queue_messages(std::span<const SignedCheckpoint> checkpoints) {
  std::set<model::TenantId> tenants;
  for (const SignedCheckpoint& one : checkpoints) tenants.insert(one.tenant);
  if (tenants.empty()) return;
  const std::vector<std::int32_t> of = columns_of(tenants);
  in_transaction(parts_.pool, [&](Connection& connection) {
    Messages messages(connection, rules_, parts_.clock.now_ms());
    for (const model::TenantId tenant : tenants) messages.know(tenant);
    const Connection::Statement lock = Messages::lock_statement(of);
    messages.know(connection.run({&lock, 1}).front());
    for (const SignedCheckpoint& one : checkpoints) {
      if (!messages.wanted(one.tenant, model::MessageType::checkpoint_created)) continue;
      model::Message message;
      message.key = messages.new_key();
      message.type = model::MessageType::checkpoint_created;
      message.checkpoint = one.note;
      messages.enqueue(one.tenant, message, {});
    }
    const Statements statements = messages.take_statements();
    if (!statements.empty()) connection.run(statements);
    return Nothing{};
  });
}

std::optional<EntryName> PostgresLedgerStore::find_record(model::TenantId tenant, std::string_view id,
                                                          std::optional<std::uint32_t> revision) {
  using ledger::Kind;
  if (const auto run = parts_.reads.run_head(tenant, id, std::nullopt)) {
    if (revision) return EntryName{Kind::run, run_name(run->key, *revision)};
    return EntryName{Kind::run, run_name(run->key, reading(tenant, [&](LedgerRows& rows) { return rows.latest_revision(run->key); }))};
  }
  if (const auto failure = parts_.reads.find_failure(tenant, id))
    return EntryName{Kind::run, run_name(failure->run, model::revision_of(*failure))};
  const auto at = [&](const char* sql, const model::RecordKey& key) {
    return parts_.pool.read([&](Connection& connection) {
      return connection.query(sql, std::move(Params().i32(column(tenant)).i64(key.time_ms).i64(number_of(key.seq))));
    });
  };
  if (const auto key = model::parse_change_id(id)) {
    // A policy revision that is listed among the changes has one entry, as a revision.
    const Rows rows = at(kChange, *key);
    if (!rows.empty()) {
      const KeyBytes place = place_key(tenant, *key);
      const auto change = decoded("change", place, [&] { return decode_change(place, rows.bytes(0, 0)); });
      return EntryName{is_of_policy(change) ? Kind::policy : Kind::change, place_name(*key)};
    }
  }
  const auto policy = model::parse_policy_revision_id(id);
  if (policy && !at(kPolicyThere, *policy).empty()) return EntryName{Kind::policy, place_name(*policy)};
  return std::nullopt;
}

Result<LedgerProof> PostgresLedgerStore::prove(model::TenantId tenant, std::string_view id, std::optional<std::uint32_t> revision) {
  const SignedCheckpoint signed_one = checkpoint(tenant);
  const auto found = find_record(tenant, id, revision);
  return reading(tenant, [&](LedgerRows& rows) { return prove_entry(rows, found, id, signed_one); });
}

Result<std::vector<ledger::Hash>> PostgresLedgerStore::consistency(model::TenantId tenant, std::uint64_t from, std::uint64_t to) {
  return reading(tenant, [&](LedgerRows& rows) {
    const auto head = rows.head();
    return prove_consistency(rows, from, to, head ? head->tree.size() : 0);
  });
}

std::vector<ledger::EntryLine> PostgresLedgerStore::entries(model::TenantId tenant, std::uint64_t from, std::uint64_t before,
                                                            PartsToo parts) {
  return reading(tenant, [&](LedgerRows& rows) {
    rows.expect(from, before);
    return read_entries(rows, from, before, parts);
  });
}

std::string PostgresLedgerStore::public_key() {
  const auto read = [&] {
    return parts_.pool.read([](Connection& connection) {
      const LedgerKeys keys = read_keys(connection);
      return keys.current ? keys.current->public_key() : std::string();
    });
  };
  std::string key = read();
  if (!key.empty()) return key;
  make_key();
  return read();
}

std::string PostgresLedgerStore::rotate_key() {
  return in_transaction(parts_.pool, [&](Connection& connection) {
    LedgerCommons commons = lock_commons(connection, LockCommons::to_change);
    LedgerWriter writer = writer_for(connection, parts_.clock.now_ms());
    ensure_key(connection, commons, writer);
    const ledger::SigningKey next = ledger::SigningKey::make();
    put_next_key(connection, next);
    for (const model::TenantId tenant : tenants_with_ledgers(connection)) writer.append_key(tenant, next.public_key(), commons.public_key);
    const Statements statements = writer.take_statements();
    if (!statements.empty()) connection.run(statements);
    commons.public_key = next.public_key();
    if (commons.database.empty()) commons.database = commons.here;
    put_commons(connection, commons);
    return next.public_key();
  });
}

std::string sign_last_checkpoint(Connection& connection, model::TenantId tenant) {
  lock_commons(connection, LockCommons::to_sign);
  LedgerWriter(connection, 0, LedgerAppender::Records::make_none).lock({tenant});
  if (read_heads(connection, {tenant}).empty()) return {};
  const ToSign work = note_checkpoints(connection, {tenant}, Announce::no, 0);
  if (work.is_moved || work.has_no_key || !work.behind.empty()) {
    throw StoreError("ledger: the database was copied or restored, or has lost its ledger key; run `runwarden ledger checkpoint` first");
  }
  return signed_with(work.noted.at(tenant), work.keys).note;
}

std::vector<Connection::Statement> remove_ledger(Connection& connection, model::TenantId tenant, std::int64_t now_ms) {
  const LedgerStanding standing = read_ledger_standing(connection);
  LedgerWriter(connection, now_ms, LedgerAppender::Records::make_none).lock({tenant});
  const Params of = std::move(Params().i32(column(tenant)));
  const Rows left = connection.query(kRecordsLeft, of);
  for (const char* sql : {"DELETE FROM runwarden.ledger_entry WHERE tenant = $1", "DELETE FROM runwarden.ledger_subtree WHERE tenant = $1",
                          "DELETE FROM runwarden.ledger_record WHERE tenant = $1", "DELETE FROM runwarden.ledger_body WHERE tenant = $1",
                          "DELETE FROM runwarden.ledger_checkpoint WHERE tenant = $1", "DELETE FROM runwarden.ledger WHERE tenant = $1"}) {
    connection.query(sql, of);
  }
  LedgerWriter writer(connection, now_ms, records_of(standing));
  LedgerRows rows(connection, tenant);
  for (std::size_t row = 0; row < left.size(); ++row) {
    RecordEntry entry{static_cast<ledger::Kind>(left.number(row, 0)), RecordName(left.bytes(row, 1)), now_ms};
    const auto body = rows.body(entry.kind, entry.name, entry.came);
    if (body) writer.append(tenant, prepare_entry(std::move(entry), body->body));
  }
  return writer.take_statements();
}

}  // namespace runwarden::store::postgres
