// API keys and their tenants in the LMDB tables. Internal to store/; the transaction's thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/key_record.h"
#include "model/record_key.h"
#include "store/lmdb/tables.h"
#include "store/lmdb/txn.h"

namespace runwarden::store {

// A number in the meta table; 0 if it is not there.
std::uint64_t read_meta(const Txn& txn, const Tables& tables, std::string_view name);
void write_meta(WriteTxn& txn, const Tables& tables, std::string_view name, std::uint64_t number);

namespace meta {
constexpr std::string_view kFormatVersion = "format";
constexpr std::string_view kStart = "start";                 // counts the starts that stored anything
constexpr std::string_view kKeysVersion = "keys_version";    // grows with every change of a key
constexpr std::string_view kLastTenant = "last_tenant";      // the greatest tenant number assigned
constexpr std::string_view kPurges = "purges";               // grows with each transaction that deleted a tenant's open runs
constexpr std::string_view kGroupStage = "group_stage";      // stage of counting an older store's groups, and the next record's place
constexpr std::string_view kGroupTenant = "group_tenant";
constexpr std::string_view kGroupTime = "group_time";
constexpr std::string_view kGroupSeq = "group_seq";
constexpr std::string_view kLedger = "ledger";               // LedgerState
constexpr std::string_view kLedgerSince = "ledger_since";    // since this start, every record has its entry
constexpr std::string_view kClockNoted = "clock_noted";      // when the store was last in use, by a guarded clock; ms, 0: not noted
constexpr std::string_view kClockAccepts = "clock_accepts";  // grows each time an operator confirms the clock
}  // namespace meta

// The number of a tenant; assigned here if the name is new.
model::TenantId enter_tenant(WriteTxn& txn, const Tables& tables, const std::string& name);
model::KeyRecord write_key(WriteTxn& txn, const Tables& tables, model::KeyRecord record);
std::vector<model::Tenant> read_tenants(const Txn& txn, const Tables& tables);
std::vector<model::KeyRecord> read_keys(const Txn& txn, const Tables& tables);
void write_key_uses(WriteTxn& txn, const Tables& tables, std::span<const std::pair<std::string, std::int64_t>> last_used);

}  // namespace runwarden::store
