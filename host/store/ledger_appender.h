// Appends entries to ledgers in one transaction. The new entries of a ledger share a row, and flush() writes the ledger's head once. The
// engine reads and stores rows. Internal to store/; the transaction's thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/bodies.h"
#include "store/ledger_codec.h"
#include "store/retention.h"

namespace runwarden::store {

class LedgerAppender {
 public:
  // Whether records make entries. Deletions report what they erased in any case.
  enum class Records : std::uint8_t { make_entries, make_none };

  LedgerAppender(std::int64_t now_ms, Records records) : now_ms_(now_ms), records_(records) {}
  virtual ~LedgerAppender() = default;

  bool takes_records() const { return records_ == Records::make_entries; }
  std::int64_t now_ms() const { return now_ms_; }
  // The entry of a record that this transaction stores. Does nothing if records make no entries.
  void append(model::TenantId tenant, PreparedEntry entry);
  // A decision about a group or about one of its failures, under that name.
  void append_decision(model::TenantId tenant, RecordName name, const ledger::Decision& decision, ledger::CameBy came);
  // An entry that belongs to no record.
  void append_own(model::TenantId tenant, ledger::Kind kind, std::string body);
  // From here on, that public key signs. `previous`: the key before it, which also signs the next checkpoint.
  void append_key(model::TenantId tenant, std::string_view public_key, std::string_view previous);
  // Continues the ledger under that origin. An entry says what the ledger was before and how many records are stored.
  void begin_again(model::TenantId tenant, std::string origin, std::map<std::string, std::uint64_t> counts);

  // This transaction deletes the records of that kind whose names begin with `names`. Their salts are erased.
  void erase(model::TenantId tenant, ledger::Kind kind, std::string_view names);
  // Adds a receipt to each ledger that has lost records since the last one.
  void write_receipts(ledger::Kind kind, std::optional<std::int64_t> before_ms);
  // The last entry of a purge. Does nothing if records make no entries, or if nothing was deleted.
  void append_purge(model::TenantId tenant, std::optional<std::int64_t> before_ms, const Expired& gone);

  // Makes the ledger if there is none. Changes to the head are written.
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

  // The stored head, or a new one with only an origin.
  virtual LedgerHead read_head(model::TenantId tenant) = 0;
  virtual void put_head(model::TenantId tenant, const LedgerHead& head) = 0;
  virtual std::optional<LedgerRow> row_of(model::TenantId tenant, std::uint64_t index) = 0;
  virtual void put_row(model::TenantId tenant, const LedgerRow& row) = 0;
  virtual void put_subtree(model::TenantId tenant, unsigned height, std::uint64_t number, const ledger::Hash& root) = 0;
  virtual bool has_record(model::TenantId tenant, ledger::Kind kind, std::string_view name) = 0;
  virtual void put_record(model::TenantId tenant, ledger::Kind kind, std::string_view name, const LedgerRecord& record) = 0;
  virtual void put_body(model::TenantId tenant, std::uint64_t index, const ledger::EntryLine::Content& told) = 0;
  // Returns the indexes of their entries. A record that cannot be read is erased, too; verify reports its entry.
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

// A new origin for a tenant of that name, with a random log id.
std::string new_origin(model::TenantId tenant, std::string_view name);

// The latest time before which any record is deleted, for a receipt; nothing: at any time.
std::optional<std::int64_t> latest_of(const Retention& retention);

}  // namespace runwarden::store
