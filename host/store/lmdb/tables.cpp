#include "store/lmdb/tables.h"

#include "store/lmdb/txn.h"

namespace runwarden::store {

std::string place_text(const Table& table, std::string_view key) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "database \"" + std::string(table.name) + "\", key 0x";
  for (const char c : key) {
    text += kDigits[static_cast<std::uint8_t>(c) >> 4];
    text += kDigits[static_cast<std::uint8_t>(c) & 15];
  }
  return text;
}

namespace {

int open_table(MDB_txn* txn, const char* name, MDB_dbi* handle) {
  const int code = guarded_call(mdb_txn_env(txn), Doing::reading, [&] { return mdb_dbi_open(txn, name, 0, handle); });
  return code == MDB_SUCCESS ? mdb_set_compare(txn, *handle, compare_guarded) : code;
}

[[noreturn]] void cannot_open(const std::string& name, int code) {
  const std::string why = code == kPageDamaged ? last_damage() : mdb_strerror(code);
  throw LmdbFault("database \"" + name + "\": " + why, code);
}

}  // namespace

bool open_those_there_are(LmdbEnv& env, Tables& tables) {
  MDB_txn* txn = nullptr;
  if (const int code = mdb_txn_begin(env.handle(), nullptr, MDB_RDONLY, &txn); code != MDB_SUCCESS) cannot_open("", code);
  MDB_dbi names = 0;
  std::string of = "names";
  int fault = open_table(txn, nullptr, &names);
  bool complete = true;
  tables.each([&](Table& table) {
    if (fault != MDB_SUCCESS) return;
    of = table.name;
    fault = open_table(txn, table.name, &table.handle);
    if (fault != MDB_NOTFOUND) return;
    complete = false;
    fault = MDB_SUCCESS;
  });
  // Handles outlive the transaction that opened them only if it commits.
  const int code = mdb_txn_commit(txn);
  if (fault != MDB_SUCCESS || code != MDB_SUCCESS) cannot_open(of, fault != MDB_SUCCESS ? fault : code);
  return complete;
}

void open_tables(LmdbEnv& env, Tables& tables) {
  if (open_those_there_are(env, tables)) return;
  if (env.read_only()) {
    throw StoreError(
        "it was created by an older version of runwarden, or is not a runwarden store; copy it to a writable location and open it there");
  }
  WriteTxn txn = env.write();
  tables.each([&](Table& table) { table.handle = txn.open_database(table.name); });
  txn.commit();
}

}  // namespace runwarden::store
