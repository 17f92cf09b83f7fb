#include "store/postgres/batch_ledger.h"

#include <set>
#include <variant>

namespace runwarden::store::postgres {

std::optional<PreparedEntry> entry_of(const Write& write) {
  if (const auto* const run = std::get_if<RunWrite>(&write)) return prepare_run(run->run, run->document_digest);
  if (const auto* const change = std::get_if<ChangeWrite>(&write)) return prepare_change(change->change);
  return std::nullopt;
}

void BatchLedger::know(const LedgerStanding& standing) {
  if (on_ != nullptr) *on_ = standing.state == LedgerState::on;
}

void BatchLedger::add(model::TenantId tenant, PreparedEntry entry) {
  if (is_on()) entries_.emplace_back(tenant, std::move(entry));
}

void BatchLedger::add_decision(model::TenantId tenant, RecordName name, ledger::Decision decision) {
  if (is_on()) decisions_.push_back({tenant, std::move(name), std::move(decision)});
}

std::vector<Connection::Statement> BatchLedger::write(Connection& connection) {
  std::set<model::TenantId> tenants;
  for (const auto& [tenant, entry] : entries_) tenants.insert(tenant);
  for (const Decided& one : decisions_) tenants.insert(one.tenant);
  const std::vector<Connection::Statement> ask{ledger_standing_statement(), LedgerWriter::lock_statement(tenants)};
  const std::vector<Rows> rows = connection.run(ask);
  const LedgerStanding standing = ledger_standing_of(rows.front());
  know(standing);
  LedgerWriter writer(connection, now_ms_, records_of(standing));
  if (!writer.takes_records()) return {};
  writer.know(rows.back());
  for (auto& [tenant, entry] : entries_) writer.append(tenant, std::move(entry));
  for (Decided& one : decisions_) writer.append_decision(one.tenant, std::move(one.name), one.decision, ledger::CameBy::itself);
  return writer.take_statements();
}

}  // namespace runwarden::store::postgres
