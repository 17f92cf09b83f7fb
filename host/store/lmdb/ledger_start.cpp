#include "store/lmdb/ledger_start.h"

#include <map>
#include <optional>
#include <set>
#include <string>

#include "store/lmdb/keys.h"
#include "store/lmdb/ledger_files.h"
#include "store/lmdb/ledger_writer.h"

namespace runwarden::store {
namespace {

using Counts = std::map<std::string, std::uint64_t>;

std::uint64_t count_rows(const Txn& txn, const Table& table, model::TenantId tenant) {
  const KeyBytes prefix = KeyBytes().u32(tenant);
  std::uint64_t count = 0;
  Cursor cursor(txn, table.handle);
  for (bool more = cursor.at_or_after(prefix); more && cursor.key().starts_with(prefix.view()); more = cursor.next()) ++count;
  return count;
}

Counts count_records(const Txn& txn, const Tables& tables, model::TenantId tenant) {
  return {{"runs", count_rows(txn, tables.runs, tenant)},
          {"failures", count_rows(txn, tables.failures, tenant)},
          {"changes", count_rows(txn, tables.changes, tenant)},
          {"policies", count_rows(txn, tables.policies, tenant)},
          {"triage", count_rows(txn, tables.triage, tenant)}};
}

bool is_empty(const Counts& counts) {
  for (const auto& [kind, count] : counts) {
    if (count > 0) return false;
  }
  return true;
}

// Adds an entry for each tenant whose records have made none: it says how many records there are.
void begin_after_records(LedgerWriter& writer, const WriteTxn& txn, const Tables& tables) {
  for (const model::Tenant& tenant : read_tenants(txn, tables)) {
    const Counts counts = count_records(txn, tables, tenant.id);
    if (!is_empty(counts)) writer.append_own(tenant.id, ledger::Kind::start, ledger::start_body({counts, std::nullopt}));
  }
}

void note_state(WriteTxn& txn, const Tables& tables, LedgerState state) {
  write_meta(txn, tables, meta::kLedger, static_cast<std::uint64_t>(state));
}

// Another key than the noted one signs from here on, for example because its file was lost. Each ledger gets an entry about it.
void note_key(LedgerWriter& writer, WriteTxn& txn, const Tables& tables, const std::string& public_key) {
  const std::string noted = read_signing_key(txn, tables);
  if (noted == public_key) return;
  write_signing_key(txn, tables, public_key);
  if (noted.empty()) return;
  for (const auto& [tenant, head] : read_ledger_heads(txn, tables)) writer.append_key(tenant, public_key, noted);
}

// The ledgers that do not continue what was published last. A read transaction may be behind the notes of another process, and find too
// many.
std::set<model::TenantId> find_strayed(const Txn& txn, const Tables& tables, LedgerLast& last) {
  std::set<model::TenantId> strayed;
  const auto& told = last.read();
  for (const auto& [tenant, head] : read_ledger_heads(txn, tables)) {
    const auto found = told.find(head.origin);
    LmdbLedgerReader reader(txn, tables, tenant);
    const bool as_told = last.is_there() && (found == told.end() || has_begun_so(reader, head, found->second.tree));
    if (!as_told) strayed.insert(tenant);
  }
  return strayed;
}

void begin_strayed_again(WriteTxn& txn, const LedgerPlace& place, LedgerLast& last) {
  LedgerWriter writer(txn, place.tables, place.now_ms, LedgerWriter::Records::make_entries);
  for (const model::TenantId tenant : find_strayed(txn, place.tables, last)) {
    writer.begin_again(tenant, new_origin(txn, place.tables, tenant), count_records(txn, place.tables, tenant));
  }
  writer.flush();
}

LedgerState turn_off(LmdbEnv& env, const Tables& tables) {
  WriteTxn txn = env.write();
  note_state(txn, tables, LedgerState::off);
  txn.commit();
  return LedgerState::off;
}

}  // namespace

LedgerState ledger_state(const Txn& txn, const Tables& tables) {
  return static_cast<LedgerState>(read_meta(txn, tables, meta::kLedger));
}

LedgerState start_ledgers(LmdbEnv& env, const Tables& tables, const LedgerStart& start) {
  LedgerState state = LedgerState::never;
  std::string noted_key;
  {
    const ReadTxn txn = env.read();
    state = ledger_state(txn, tables);
    noted_key = read_signing_key(txn, tables);
  }
  if (start.wanted == StoreSettings::Ledger::as_it_is) return state;
  if (start.wanted == StoreSettings::Ledger::off) return state == LedgerState::on ? turn_off(env, tables) : state;
  ensure_may_sign({env, tables, start.folder, start.now_ms, [&](const auto& work) {
                     WriteTxn txn = env.write();
                     work(txn);
                     txn.commit();
                   }});
  const std::string public_key = LedgerKeys(start.folder).current(noted_key).public_key();
  if (state == LedgerState::on && noted_key == public_key) return state;
  WriteTxn txn = env.write();
  LedgerWriter writer(txn, tables, start.now_ms, LedgerWriter::Records::make_entries);
  if (state != LedgerState::on) {
    begin_after_records(writer, txn, tables);
    write_meta(txn, tables, meta::kLedgerSince, start.start);
    note_state(txn, tables, LedgerState::on);
  }
  note_key(writer, txn, tables, public_key);
  writer.flush();
  txn.commit();
  return LedgerState::on;
}

void ensure_may_sign(const LedgerPlace& place) {
  LedgerLast last(place.folder);
  const bool any_strayed = !find_strayed(place.env.read(), place.tables, last).empty();
  if (any_strayed) place.writing([&](WriteTxn& txn) { begin_strayed_again(txn, place, last); });
  if (!last.is_there()) last.make();
}

}  // namespace runwarden::store
