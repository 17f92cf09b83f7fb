// Appends entries to ledgers in one transaction: each ledger's entries stand in one row, and its head is written once, by flush(). An engine
// says how rows are read and put. For the files of store/ only; the thread of the transaction.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/bodies.h"
#include "store/ledger_codec.h"
#include "store/queries.h"

namespace runwarden::store {

class LedgerAppender {
 public:
  // Whether records make entries. Deletions tell of what they emptied in any case.
  enum class Records : std::uint8_t { make_entries, make_none };

  LedgerAppender(std::int64_t now_ms, Records records) : now_ms_(now_ms), records_(records) {}
  virtual ~LedgerAppender() = default;

  bool takes_records() const { return records_ == Records::make_entries; }
  std::int64_t now_ms() const { return now_ms_; }
  // Of a record that this transaction stores. Nothing happens where records make no entries.
  void append(model::TenantId tenant, PreparedEntry entry);
  // What was decided about a group or a failure of it, under that name.
  void append_decision(model::TenantId tenant, RecordName name, const ledger::Decision& decision, ledger::CameBy came);
  // An entry that is no record's.
  void append_own(model::TenantId tenant, ledger::Kind kind, std::string body);
  // From here on that public key signs; `former`: the one that did, which signs the next checkpoint as well.
  void append_key(model::TenantId tenant, std::string_view public_key, std::string_view former);
  // The ledger goes on under that origin, and says what it was before and what is kept of records.
  void begin_again(model::TenantId tenant, std::string origin, std::map<std::string, std::uint64_t> counts);

  // The records of that kind whose names begin so are deleted by this transaction: their salts go.
  void erase(model::TenantId tenant, ledger::Kind kind, std::string_view names);
  // An entry in each ledger that has lost records since the last one.
  void write_receipts(ledger::Kind kind, std::optional<std::int64_t> before_ms);

  // Makes the ledger if there is none. What the caller changes is written.
  LedgerHead& head(model::TenantId tenant);

  void flush();

 protected:
  LedgerAppender(const LedgerAppender&) = default;
  LedgerAppender& operator=(const LedgerAppender&) = default;
  LedgerAppender(LedgerAppender&&) = default;
  LedgerAppender& operator=(LedgerAppender&&) = default;

  void note_erased(model::TenantId tenant, ledger::Kind kind, std::uint64_t index);

 private:
  struct OfTenant {
    LedgerHead head;
    std::vector<PreparedEntry> pending;
    std::uint64_t pending_first = 0;
    ledger::Ranges erased;
    std::map<std::string, std::uint64_t> erased_counts;
  };

  // As it stands, or one with an origin and nothing else.
  virtual LedgerHead read_head(model::TenantId tenant) = 0;
  virtual void put_head(model::TenantId tenant, const LedgerHead& head) = 0;
  virtual std::optional<LedgerRow> row_of(model::TenantId tenant, std::uint64_t index) = 0;
  virtual void put_row(model::TenantId tenant, const LedgerRow& row) = 0;
  virtual void put_subtree(model::TenantId tenant, unsigned height, std::uint64_t number, const ledger::Hash& root) = 0;
  virtual bool has_record(model::TenantId tenant, ledger::Kind kind, std::string_view name) = 0;
  virtual void put_record(model::TenantId tenant, ledger::Kind kind, std::string_view name, const LedgerRecord& record) = 0;
  virtual void put_body(model::TenantId tenant, std::uint64_t index, const ledger::EntryLine::Told& told) = 0;
  // Says of which entries they were; one that cannot be read goes all the same, and verify tells of its entry.
  virtual std::vector<std::uint64_t> erase_records(model::TenantId tenant, ledger::Kind kind, std::string_view names) = 0;

  OfTenant& of(model::TenantId tenant);
  void add(model::TenantId tenant, PreparedEntry entry);
  void put_pending(model::TenantId tenant, OfTenant& of);
  void put_entries(model::TenantId tenant, std::uint64_t first, std::vector<PreparedEntry> entries);
  void take_names(model::TenantId tenant, std::uint64_t first, std::uint64_t last);

  std::int64_t now_ms_;
  Records records_;
  std::map<model::TenantId, OfTenant> known_;
};

// A new origin for a tenant of that name: with a random log of its own.
std::string new_origin(model::TenantId tenant, std::string_view name);

// The latest time that any record is kept from, as a receipt says it; nothing: whatever their time.
std::optional<std::int64_t> latest_of(const Retention& retention);

}  // namespace runwarden::store
