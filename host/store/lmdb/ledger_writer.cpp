#include "store/lmdb/ledger_writer.h"

#include <algorithm>
#include <utility>

#include "store/lmdb/keys.h"

namespace runwarden::store {

std::string new_origin(const Txn& txn, const Tables& tables, model::TenantId tenant) {
  std::string name = "tenant-" + std::to_string(tenant);
  for (const model::Tenant& one : read_tenants(txn, tables)) {
    if (one.id == tenant) name = one.name;
  }
  ledger::LogId log{};
  const ledger::Salt random = ledger::make_salt();
  std::copy_n(random.begin(), log.size(), log.begin());
  return ledger::make_origin(name, log);
}

LedgerWriter::OfTenant& LedgerWriter::of(model::TenantId tenant) {
  const auto [place, fresh] = known_.try_emplace(tenant);
  OfTenant& found = place->second;
  if (!fresh) return found;
  try {
    if (auto head = read_ledger_head(txn_, tables_, tenant)) {
      found.head = std::move(*head);
    } else {
      found.head.origin = new_origin(txn_, tables_, tenant);
    }
  } catch (...) {
    known_.erase(place);  // whoever asks again is told again
    throw;
  }
  found.pending_first = found.head.tree.size();
  return found;
}

LedgerHead& LedgerWriter::head(model::TenantId tenant) {
  return of(tenant).head;
}

void LedgerWriter::add(model::TenantId tenant, PreparedEntry entry) {
  OfTenant& to = of(tenant);
  to.head.tree.append(entry.leaf, [&](unsigned height, std::uint64_t number, const ledger::Hash& root) {
    if (!is_kept_height(height)) return;
    const KeyBytes key = subtree_key(tenant, height, number);
    txn_.put(tables_.ledger_subtrees.handle, key, encode_subtree(key, root));
  });
  to.head.last_ms = entry.entry.at_ms;
  to.pending.push_back(std::move(entry));
  if (to.pending.size() == kMostEntriesARow) put_pending(tenant, to);
}

void LedgerWriter::append(model::TenantId tenant, PreparedEntry entry) {
  if (takes_records()) add(tenant, std::move(entry));
}

void LedgerWriter::append_decision(model::TenantId tenant, RecordName name, const ledger::Decision& decision, ledger::CameBy came) {
  if (!takes_records()) return;
  // What the service notes of the end of an ignore has the time of that end, and may be noted twice.
  if (txn_.get(tables_.ledger_records.handle, ledger_record_key(tenant, ledger::Kind::triage, name))) return;
  add(tenant, prepare_entry({ledger::Kind::triage, std::move(name), now_ms_, came}, ledger::triage_body(decision, came)));
}

void LedgerWriter::append_own(model::TenantId tenant, ledger::Kind kind, std::string body) {
  PreparedEntry entry = prepare_entry({kind, {}, now_ms_}, body);
  entry.body = std::move(body);
  add(tenant, std::move(entry));
}

void LedgerWriter::erase(model::TenantId tenant, ledger::Kind kind, std::string_view names) {
  const KeyBytes prefix = ledger_record_key(tenant, kind, names);
  Cursor cursor(txn_, tables_.ledger_records.handle);
  for (bool more = cursor.at_or_after(prefix); more && cursor.key().starts_with(prefix.view()); more = cursor.next()) {
    try {
      const std::uint64_t index = decode_ledger_record(cursor.key(), cursor.value()).index;
      OfTenant& from = of(tenant);
      from.erased.add(index, index);
      ++from.erased_counts[ledger::name(kind)];
    } catch (const BadValue&) {  // it goes all the same; verify tells of its entry
    }
    cursor.erase();
  }
}

void LedgerWriter::write_receipts(ledger::Kind kind, std::optional<std::int64_t> before_ms) {
  for (auto& [tenant, of] : known_) {
    if (of.erased.empty()) continue;
    put_pending(tenant, of);
    for (const auto& [first, last] : of.erased.ends()) take_names(tenant, first, last);
    append_own(tenant, kind, ledger::receipt_body({before_ms, std::exchange(of.erased_counts, {}), std::exchange(of.erased, {})}));
  }
}

void LedgerWriter::take_names(model::TenantId tenant, std::uint64_t first, std::uint64_t last) {
  while (first <= last) {
    auto row = find_ledger_row(txn_, tables_, tenant, first);
    if (!row) return;  // verify tells of it
    const std::uint64_t end = row->first + row->entries.size();
    for (std::uint64_t index = first; index <= last && index < end; ++index) row->names[index - row->first].clear();
    const KeyBytes key = ledger_row_key(tenant, row->first);
    txn_.put(tables_.ledger_entries.handle, key, encode_ledger_row(key, *row));
    first = end;
  }
}

void LedgerWriter::put_pending(model::TenantId tenant, OfTenant& of) {
  if (of.pending.empty()) return;
  std::vector<PreparedEntry> entries = std::exchange(of.pending, {});
  const std::uint64_t first = std::exchange(of.pending_first, of.head.tree.size());
  put_row(tenant, first, std::move(entries));
}

void LedgerWriter::put_row(model::TenantId tenant, std::uint64_t first, std::vector<PreparedEntry> entries) {
  LedgerRow row;
  row.first = first;
  row.entries.reserve(entries.size());
  row.names.reserve(entries.size());
  std::uint64_t index = first;
  for (PreparedEntry& entry : entries) {
    row.entries.push_back(entry.entry);
    if (entry.name.empty()) {
      const KeyBytes key = ledger_row_key(tenant, index);
      txn_.put(tables_.ledger_bodies.handle, key, encode_ledger_body(key, {entry.salt, entry.body}));
    } else {
      const KeyBytes key = ledger_record_key(tenant, entry.entry.kind, entry.name);
      txn_.put(tables_.ledger_records.handle, key, encode_ledger_record(key, {entry.salt, index, entry.came}));
    }
    row.names.push_back(std::move(entry.name));
    ++index;
  }
  const KeyBytes key = ledger_row_key(tenant, first);
  txn_.put(tables_.ledger_entries.handle, key, encode_ledger_row(key, row));
}

void LedgerWriter::flush() {
  for (auto& [tenant, of] : known_) {
    put_pending(tenant, of);
    const KeyBytes key = ledger_head_key(tenant);
    txn_.put(tables_.ledgers.handle, key, encode_ledger_head(key, of.head));
  }
  known_.clear();
}

}  // namespace runwarden::store
