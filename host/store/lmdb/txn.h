// Transactions and cursors of LMDB, as thin owners of its handles. Internal to store/.
//
// One WriteTxn at a time across all processes (LMDB waits). ReadTxns on any thread, at most LmdbEnv::kMaxReaders at once, each for
// milliseconds: while one is open, no page freed since it began can be reused. Views are valid until their transaction ends or writes.
#pragma once

#include <lmdb.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace runwarden::store {

class LmdbEnv;

// Lookups in a read or write transaction.
class Txn {
 public:
  MDB_env* env() const { return mdb_txn_env(txn_); }
  std::optional<std::string_view> get(MDB_dbi database, std::string_view key) const;
  std::uint64_t entries(MDB_dbi database) const;
  MDB_txn* handle() const { return txn_; }

 protected:
  Txn() = default;
  MDB_txn* txn_ = nullptr;
};

class ReadTxn : public Txn {
 public:
  explicit ReadTxn(LmdbEnv& env);
  ~ReadTxn();
  ReadTxn(const ReadTxn&) = delete;
  ReadTxn& operator=(const ReadTxn&) = delete;

 private:
  LmdbEnv& env_;
};

// Aborts unless committed.
class WriteTxn : public Txn {
 public:
  explicit WriteTxn(LmdbEnv& env);
  ~WriteTxn();
  WriteTxn(const WriteTxn&) = delete;
  WriteTxn& operator=(const WriteTxn&) = delete;

  void put(MDB_dbi database, std::string_view key, std::string_view value);
  bool erase(MDB_dbi database, std::string_view key);
  MDB_dbi open_database(const char* name);  // made if it does not exist
  // The data is on stable storage on return. Throws NoRoom or LmdbFault; either way the transaction has ended.
  void commit();

 private:
  int find(MDB_cursor* cursor, MDB_val key);

  LmdbEnv& env_;
};

class Cursor {
 public:
  Cursor(const Txn& txn, MDB_dbi database);
  ~Cursor();
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  // Each moves the cursor, and returns whether it is on an entry. After an LmdbFault key() is that of the entry if only its value is
  // damaged, else as before.
  bool first() { return move(MDB_FIRST); }
  bool last() { return move(MDB_LAST); }
  bool next() { return move(MDB_NEXT); }
  bool previous() { return move(MDB_PREV); }
  bool at_or_after(std::string_view key);
  bool before(std::string_view key);  // to the greatest key less than that
  void erase();                       // the current entry; next() then goes to the one after it

  MDB_cursor* handle() const { return cursor_; }
  std::string_view key() const { return {static_cast<const char*>(key_.mv_data), key_.mv_size}; }
  std::string_view value() const { return {static_cast<const char*>(value_.mv_data), value_.mv_size}; }

 private:
  bool move(MDB_cursor_op how);

  MDB_cursor* cursor_ = nullptr;
  MDB_val key_{};
  MDB_val value_{};
};

}  // namespace runwarden::store
