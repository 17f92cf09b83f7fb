#include "store/ledger_appender.h"

#include <algorithm>
#include <utility>

#include "ledger/checkpoint.h"

namespace runwarden::store {

// The name is empty for a tenant whose keys are missing.
std::string new_origin(model::TenantId tenant, std::string_view name) {
  ledger::LogId log{};
  const ledger::Salt random = ledger::make_salt();
  std::copy_n(random.begin(), log.size(), log.begin());
  return ledger::make_origin(name.empty() ? "tenant-" + std::to_string(tenant) : std::string(name), log);
}

std::optional<std::int64_t> latest_of(const Retention& retention) {
  const std::int64_t latest =
      std::max({retention.runs_before_ms, retention.failures_before_ms, retention.changes_before_ms, retention.policies_before_ms});
  return latest == kEndMs || latest == kBeginningMs ? std::nullopt : std::optional(latest);
}

// Throws at every call if the head cannot be read.
LedgerAppender::OfTenant& LedgerAppender::of(model::TenantId tenant) {
  const auto known = known_.find(tenant);
  if (known != known_.end()) return known->second;
  LedgerHead head = read_head(tenant);
  OfTenant& found = known_[tenant];
  found.head = std::move(head);
  found.pending_first = found.head.tree.size();
  return found;
}

LedgerHead& LedgerAppender::head(model::TenantId tenant) {
  return of(tenant).head;
}

void LedgerAppender::add(model::TenantId tenant, PreparedEntry entry) {
  OfTenant& to = of(tenant);
  to.head.tree.append(entry.leaf, [&](unsigned height, std::uint64_t number, const ledger::Hash& root) {
    if (is_kept_height(height)) put_subtree(tenant, height, number, root);
  });
  to.head.last_ms = entry.entry.at_ms;
  to.pending.push_back(std::move(entry));
  if (to.pending.size() == kMostEntriesARow) put_pending(tenant, to);
}

void LedgerAppender::append(model::TenantId tenant, PreparedEntry entry) {
  if (takes_records()) add(tenant, std::move(entry));
}

void LedgerAppender::append_decision(model::TenantId tenant, RecordName name, const ledger::Decision& decision, ledger::CameBy came) {
  if (!takes_records()) return;
  // The service notes the end of an ignore with the time of that end, and may note it twice.
  if (has_record(tenant, ledger::Kind::triage, name)) return;
  add(tenant, prepare_entry({ledger::Kind::triage, std::move(name), now_ms_, came}, ledger::triage_body(decision, came)));
}

void LedgerAppender::append_own(model::TenantId tenant, ledger::Kind kind, std::string body) {
  PreparedEntry entry = prepare_entry({kind, {}, now_ms_}, body);
  entry.body = std::move(body);
  add(tenant, std::move(entry));
}

void LedgerAppender::append_key(model::TenantId tenant, std::string_view public_key, std::string_view previous) {
  LedgerHead& changed = head(tenant);
  changed.key_entry = changed.tree.size() + 1;
  changed.previous_key = previous;
  append_own(tenant, ledger::Kind::key, ledger::key_body(public_key, previous));
}

void LedgerAppender::begin_again(model::TenantId tenant, std::string origin, std::map<std::string, std::uint64_t> counts) {
  LedgerHead& changed = head(tenant);
  const ledger::Start start{std::move(counts), ledger::Start::Previous{changed.origin, {changed.tree.size(), changed.tree.root()}}};
  changed.origin = std::move(origin);
  append_own(tenant, ledger::Kind::start, ledger::start_body(start));
}

void LedgerAppender::note_erased(model::TenantId tenant, ledger::Kind kind, std::uint64_t index) {
  OfTenant& from = of(tenant);
  from.erased.add(index, index);
  ++from.erased_counts[ledger::name(kind)];
}

void LedgerAppender::erase(model::TenantId tenant, ledger::Kind kind, std::string_view names) {
  for (const std::uint64_t index : erase_records(tenant, kind, names)) note_erased(tenant, kind, index);
}

void LedgerAppender::write_receipts(ledger::Kind kind, std::optional<std::int64_t> before_ms) {
  for (auto& [tenant, of] : known_) {
    if (of.erased.empty()) continue;
    put_pending(tenant, of);
    for (const auto& [first, last] : of.erased.ends()) take_names(tenant, first, last);
    append_own(tenant, kind, ledger::receipt_body({before_ms, std::exchange(of.erased_counts, {}), std::exchange(of.erased, {})}));
  }
}

void LedgerAppender::append_purge(model::TenantId tenant, std::optional<std::int64_t> before_ms, const Expired& gone) {
  if (!takes_records()) return;
  ledger::Receipt receipt{before_ms, {}, {}};
  for (const auto& [name, count] : named_counts(gone)) {
    if (count > 0) receipt.deleted.emplace(name, count);
  }
  if (!receipt.deleted.empty()) append_own(tenant, ledger::Kind::purge, ledger::receipt_body(receipt));
}

void LedgerAppender::take_names(model::TenantId tenant, std::uint64_t first, std::uint64_t last) {
  while (first <= last) {
    auto row = row_of(tenant, first);
    if (!row) return;  // verify reports it
    const std::uint64_t end = row->first + row->entries.size();
    for (std::uint64_t index = first; index <= last && index < end; ++index) row->names[index - row->first].clear();
    put_row(tenant, *row);
    first = end;
  }
}

void LedgerAppender::put_pending(model::TenantId tenant, OfTenant& of) {
  if (of.pending.empty()) return;
  std::vector<PreparedEntry> entries = std::exchange(of.pending, {});
  const std::uint64_t first = std::exchange(of.pending_first, of.head.tree.size());
  put_entries(tenant, first, std::move(entries));
}

void LedgerAppender::put_entries(model::TenantId tenant, std::uint64_t first, std::vector<PreparedEntry> entries) {
  LedgerRow row;
  row.first = first;
  row.entries.reserve(entries.size());
  row.names.reserve(entries.size());
  std::uint64_t index = first;
  for (PreparedEntry& entry : entries) {
    row.entries.push_back(entry.entry);
    if (entry.name.empty()) {
      put_body(tenant, index, {entry.salt, std::move(entry.body)});
    } else {
      put_record(tenant, entry.entry.kind, entry.name, {entry.salt, index, entry.came});
    }
    row.names.push_back(std::move(entry.name));
    ++index;
  }
  put_row(tenant, row);
}

void LedgerAppender::flush() {
  for (auto& [tenant, of] : known_) {
    put_pending(tenant, of);
    put_head(tenant, of.head);
  }
  known_.clear();
}

}  // namespace runwarden::store
