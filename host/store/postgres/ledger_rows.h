// One ledger in the database: implements ledger_reader.h on its tables. Internal to store/postgres. One thread, the connection's.
//
// Results agree if they are read in one REPEATABLE READ transaction. Rows are read in blocks, so a proof takes only a few round trips.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/ledger_reader.h"
#include "store/postgres/connection.h"

namespace runwarden::store::postgres {

// Throws StoreError.
LedgerHead ledger_head_of(model::TenantId tenant, std::string_view body);

class LedgerRows final : public LedgerReader {
 public:
  LedgerRows(Connection& connection, model::TenantId tenant) : connection_(connection), tenant_(tenant) {}

  std::optional<LedgerHead> head() override;
  std::optional<LedgerRow> row_of(std::uint64_t index) override;
  std::optional<ledger::Hash> subtree(unsigned height, std::uint64_t number) override;
  std::optional<LedgerRecord> record(ledger::Kind kind, std::string_view name) override;
  std::optional<ledger::EntryLine::Content> told(std::uint64_t index) override;
  std::optional<EntryBody> body(ledger::Kind kind, std::string_view name, ledger::CameBy came) override;

  // Call it before asking for these entries in order, with their bodies: what the first few hundred of them need is then read together.
  void expect(std::uint64_t from, std::uint64_t before);
  // Whether that was called for all of these.
  bool expects(std::uint64_t from, std::uint64_t before) const { return from >= expected_from_ && before <= expected_before_; }

  // The latest revision of a run that has an entry; 1 if none has.
  std::uint32_t latest_revision(const model::RecordKey& run);

 private:
  using Name = std::pair<ledger::Kind, RecordName>;

  LedgerRecord record_of(const Name& name, std::string_view body) const;
  void read_runs(std::string_view name);
  std::optional<std::string> value_at(const char* sql, const model::RecordKey& place);

  Connection& connection_;
  model::TenantId tenant_;
  std::map<std::uint64_t, LedgerRow> rows_;  // those read last, by their first entry
  std::map<std::pair<unsigned, std::uint64_t>, ledger::Hash> subtrees_;
  std::optional<std::optional<LedgerHead>> head_;  // as it was read
  std::uint64_t expected_from_ = 0;                // the entries that expect() has read
  std::uint64_t expected_before_ = 0;
  std::map<Name, std::string> records_;      // sealed
  std::vector<RecordName> expected_;         // runs, the next one last
  std::map<RecordName, std::string> runs_;   // sealed, read ahead
};

}  // namespace runwarden::store::postgres
