// What the ledgers of a database have in common: whether records make entries, the key that signs, and where the database is. For the files of
// store/postgres only. One thread, the connection's; each in an open transaction. Throws PgFault; StoreError where a key cannot be read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "ledger/signing_key.h"
#include "store/postgres/connection.h"
#include "store/postgres/ledger_writer.h"

namespace runwarden::store::postgres {

struct LedgerCommons {
  LedgerStanding standing;
  std::string public_key;  // that signs, as ledgers have been told; empty: none has been
  std::string database;    // where ledgers were begun or went on last; empty: nowhere
  std::string here;        // where this is: another one for a copy, after a restore and on a standby that took over
  bool is_moved() const { return !database.empty() && database != here; }
};

// Until the transaction ends nobody turns ledgers on or off, or changes the key; `change`: nor does anybody sign.
enum class LockCommons : std::uint8_t { to_sign, to_change };
LedgerCommons lock_commons(Connection& connection, LockCommons lock);
// Of a transaction that locked them to be changed.
void put_commons(Connection& connection, const LedgerCommons& commons);

// The head of a ledger as it is committed, the key that signs it and whether the database is another one, for who has not locked anything.
struct HeadNow {
  LedgerHead head;
  std::string public_key;
  bool is_moved = false;
};
std::optional<HeadNow> read_head_now(Connection& connection, model::TenantId tenant);

struct LedgerKeys {
  std::optional<ledger::SigningKey> current;
  std::optional<ledger::SigningKey> former;
};
LedgerKeys read_keys(Connection& connection);
// The current one is the former one from here on.
void put_next_key(Connection& connection, const ledger::SigningKey& next);
// Makes the key where there is none; each ledger tells of it, where another one had signed. Of a transaction that locked to change, and of
// ledgers that the writer has locked.
ledger::SigningKey ensure_key(Connection& connection, LedgerCommons& commons, LedgerWriter& writer);

// Whose ledgers there are.
std::set<model::TenantId> tenants_with_ledgers(Connection& connection);
// How many records there are of each tenant, by kind, as entries `start` tell.
std::map<model::TenantId, std::map<std::string, std::uint64_t>> count_records(Connection& connection);
std::string tenant_name(Connection& connection, model::TenantId tenant);

}  // namespace runwarden::store::postgres
