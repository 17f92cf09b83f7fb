// Ledgers in the LMDB tables: the values of ledger_codec.h, found by key. Internal to store/; the transaction's thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "store/ledger_reader.h"
#include "store/lmdb/tables.h"
#include "store/lmdb/txn.h"

namespace runwarden::store {

// Of every tenant.
std::map<model::TenantId, LedgerHead> read_ledger_heads(const Txn& txn, const Tables& tables);
std::optional<LedgerHead> read_ledger_head(const Txn& txn, const Tables& tables, model::TenantId tenant);

// The signing public key, as of the last committed rotation; empty: not noted yet.
std::string read_signing_key(const Txn& txn, const Tables& tables);
void write_signing_key(WriteTxn& txn, const Tables& tables, std::string_view public_key);

// The row that holds that entry.
std::optional<LedgerRow> find_ledger_row(const Txn& txn, const Tables& tables, model::TenantId tenant, std::uint64_t index);

// As LedgerReader::body().
std::optional<EntryBody> body_of_record(const Txn& txn, const Tables& tables, model::TenantId tenant, ledger::Kind kind,
                                        std::string_view name, ledger::CameBy came);

class LmdbLedgerReader final : public LedgerReader {
 public:
  LmdbLedgerReader(const Txn& txn, const Tables& tables, model::TenantId tenant) : txn_(txn), tables_(tables), tenant_(tenant) {}

  std::optional<LedgerHead> head() override { return read_ledger_head(txn_, tables_, tenant_); }
  std::optional<LedgerRow> row_of(std::uint64_t index) override { return find_ledger_row(txn_, tables_, tenant_, index); }
  std::optional<ledger::Hash> subtree(unsigned height, std::uint64_t number) override;
  std::optional<LedgerRecord> record(ledger::Kind kind, std::string_view name) override;
  std::optional<ledger::EntryLine::Content> told(std::uint64_t index) override;
  std::optional<EntryBody> body(ledger::Kind kind, std::string_view name, ledger::CameBy came) override {
    return body_of_record(txn_, tables_, tenant_, kind, name, came);
  }

 private:
  const Txn& txn_;
  const Tables& tables_;
  model::TenantId tenant_;
};

}  // namespace runwarden::store
