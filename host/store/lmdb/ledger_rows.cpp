#include "store/lmdb/ledger_rows.h"

#include "store/group_codec.h"
#include "store/lmdb/policies.h"
#include "store/lmdb/reviews.h"
#include "store/lmdb/runs.h"

namespace runwarden::store {
namespace {

std::optional<EntryBody> run_body_of(const Txn& txn, const Tables& tables, model::TenantId tenant, std::string_view name,
                                     ledger::CameBy came) {
  const model::RecordKey place = place_in(name);
  const std::uint32_t revision = revision_in(name);
  auto stored = read_run(txn, tables, tenant, place);
  if (!stored || stored->buffering || stored->run.revision != revision) stored = read_previous(txn, tables, {tenant, place}, revision);
  if (!stored) return std::nullopt;
  return body_of(stored->run, came);
}

std::optional<EntryBody> decision_body_of(const Txn& txn, const Tables& tables, model::TenantId tenant, std::string_view name,
                                          ledger::CameBy came) {
  if (names_review(name)) {
    const auto review = read_review_at(txn, tables, tenant, place_in(name));
    return review ? std::optional(body_of(*review, came)) : std::nullopt;
  }
  const KeyBytes key = KeyBytes().u32(tenant).bytes(name);
  const auto value = txn.get(tables.triage.handle, key);
  if (!value) return std::nullopt;
  return body_of(cluster_in(name), decoded(tables.triage, key, [&] { return decode_triage(key, *value); }), came);
}

}  // namespace

std::optional<LedgerHead> read_ledger_head(const Txn& txn, const Tables& tables, model::TenantId tenant) {
  const KeyBytes key = ledger_head_key(tenant);
  const auto value = txn.get(tables.ledgers.handle, key);
  if (!value) return std::nullopt;
  return decoded(tables.ledgers, key, [&] { return decode_ledger_head(key, *value); });
}

// Tenants are numbered from 1.
std::map<model::TenantId, LedgerHead> read_ledger_heads(const Txn& txn, const Tables& tables) {
  std::map<model::TenantId, LedgerHead> heads;
  Cursor cursor(txn, tables.ledgers.handle);
  for (bool more = cursor.at_or_after(ledger_head_key(1)); more; more = cursor.next()) {
    heads.emplace(tenant_of(cursor.key()),
                  decoded(tables.ledgers, cursor.key(), [&] { return decode_ledger_head(cursor.key(), cursor.value()); }));
  }
  return heads;
}

std::string read_signing_key(const Txn& txn, const Tables& tables) {
  const KeyBytes key = ledger_head_key(0);
  const auto value = txn.get(tables.ledgers.handle, key);
  if (!value) return {};
  return decoded(tables.ledgers, key, [&] { return std::string(open_head(key, *value)); });
}

void write_signing_key(WriteTxn& txn, const Tables& tables, std::string_view public_key) {
  const KeyBytes key = ledger_head_key(0);
  txn.put(tables.ledgers.handle, key, seal(key, public_key));
}

std::optional<LedgerRow> find_ledger_row(const Txn& txn, const Tables& tables, model::TenantId tenant, std::uint64_t index) {
  Cursor cursor(txn, tables.ledger_entries.handle);
  if (!cursor.before(ledger_row_key(tenant, index + 1)) || tenant_of(cursor.key()) != tenant) return std::nullopt;
  LedgerRow row = decoded(tables.ledger_entries, cursor.key(), [&] { return decode_ledger_row(cursor.key(), cursor.value()); });
  if (!row.holds(index)) return std::nullopt;
  return row;
}

std::optional<EntryBody> body_of_record(const Txn& txn, const Tables& tables, model::TenantId tenant, ledger::Kind kind,
                                        std::string_view name, ledger::CameBy came) {
  using ledger::Kind;
  if (!is_name_of(kind, name)) return std::nullopt;
  switch (kind) {
    case Kind::run: return run_body_of(txn, tables, tenant, name, came);
    case Kind::triage: return decision_body_of(txn, tables, tenant, name, came);
    case Kind::change: {
      const auto change = read_change(txn, tables, tenant, place_in(name));
      return change ? std::optional(body_of(*change, came)) : std::nullopt;
    }
    case Kind::policy: {
      const auto policy = read_policy(txn, tables, tenant, place_in(name));
      return policy ? std::optional(body_of(*policy, came)) : std::nullopt;
    }
    default: return std::nullopt;
  }
}

std::optional<ledger::Hash> LmdbLedgerReader::subtree(unsigned height, std::uint64_t number) {
  const KeyBytes key = subtree_key(tenant_, height, number);
  const auto value = txn_.get(tables_.ledger_subtrees.handle, key);
  if (!value) return std::nullopt;
  return decoded(tables_.ledger_subtrees, key, [&] { return decode_subtree(key, *value); });
}

std::optional<LedgerRecord> LmdbLedgerReader::record(ledger::Kind kind, std::string_view name) {
  const KeyBytes key = ledger_record_key(tenant_, kind, name);
  const auto value = txn_.get(tables_.ledger_records.handle, key);
  if (!value) return std::nullopt;
  return decoded(tables_.ledger_records, key, [&] { return decode_ledger_record(key, *value); });
}

std::optional<ledger::EntryLine::Content> LmdbLedgerReader::told(std::uint64_t index) {
  const KeyBytes key = ledger_row_key(tenant_, index);
  const auto value = txn_.get(tables_.ledger_bodies.handle, key);
  if (!value) return std::nullopt;
  return decoded(tables_.ledger_bodies, key, [&] { return decode_ledger_body(key, *value); });
}

}  // namespace runwarden::store
