#include "store/lmdb/txn.h"

#include <cerrno>
#include <string>
#include <utility>

#include "store/lmdb/env.h"
#include "store/lmdb/fault.h"
#include "store/lmdb/page_guard.h"

namespace runwarden::store {
namespace {

constexpr std::uint64_t kFullDiskBytes = std::uint64_t{1} << 20;  // if less is left, a failed write means a lack of room

// Some file systems report a full disk as an I/O error. So does LMDB if only part of a write had room.
int without_disguise(const LmdbEnv& env, int code) {
  if (code != EIO) return code;
  if (env.file_limit_left() < kFullDiskBytes) return EFBIG;
  return env.disk_left() < kFullDiskBytes ? ENOSPC : code;
}

MDB_val view(std::string_view bytes) {
  return {bytes.size(), const_cast<char*>(bytes.data())};
}

// Throws LmdbFault if a value cannot be right.
void check_value(const char* what, MDB_env* env, const MDB_val& found) {
  MappedFile* const file = mapped_file(env);
  const char* const fault = file == nullptr ? nullptr : file->fault_of_value(found);
  if (fault != nullptr) throw LmdbFault(std::string(what) + ": " + fault, kPageDamaged);
}

// Throws LmdbFault if the page of this key is damaged.
void check_page(const char* what, MDB_env* env, const MDB_val& key) {
  const MappedFile* const file = mapped_file(env);
  const char* const fault = file == nullptr ? nullptr : file->fault_of_page(key);
  if (fault != nullptr) throw LmdbFault(std::string(what) + ": " + fault, kPageDamaged);
}

// When a deletion leaves a page less than a quarter full, LMDB refills it from a neighbor, which it trusts. So the neighbors of this
// cursor's page are read first, by a call that can be abandoned. Neighbors of branch pages are not.
int read_beside(MDB_cursor* at) {
  MDB_env* const env = mdb_txn_env(mdb_cursor_txn(at));
  const MappedFile* const file = mapped_file(env);
  if (file == nullptr) return MDB_SUCCESS;
  MDB_stat stat{};
  mdb_env_stat(env, &stat);
  const std::size_t page_bytes = stat.ms_psize;
  MDB_cursor* aside = nullptr;
  int code = mdb_cursor_open(mdb_cursor_txn(at), mdb_cursor_dbi(at), &aside);
  if (code != MDB_SUCCESS) return code;
  code = guarded_call(env, Doing::reading_before_change, [&] {
    MDB_val here{};
    MDB_val key{};
    MDB_val value{};
    std::size_t others = 0;  // bytes of the page's other entries
    int got = mdb_cursor_get(at, &here, &value, MDB_GET_CURRENT);
    for (const MDB_cursor_op step : {MDB_PREV, MDB_NEXT}) {
      if (got != MDB_SUCCESS && got != MDB_NOTFOUND) return got;
      key = here;
      got = mdb_cursor_get(aside, &key, &value, MDB_SET);
      while (got == MDB_SUCCESS && others <= page_bytes / 4) {
        got = mdb_cursor_get(aside, &key, &value, step);
        if (got != MDB_SUCCESS) break;
        if (!file->same_page(key.mv_data, here.mv_data)) {
          if (file->fault_of_entries(key) != nullptr) return kPageDamaged;
          break;
        }
        const std::size_t entry = key.mv_size + value.mv_size;
        others += entry < page_bytes / 2 ? entry : key.mv_size;  // a large value has pages of its own
      }
    }
    return got == MDB_NOTFOUND ? MDB_SUCCESS : got;
  });
  mdb_cursor_close(aside);
  return code;
}

// True once a meta page could not be written: LMDB then refuses all transactions, so that the store is of no use before a new start.
bool is_unusable(MDB_env* env) {
  MDB_txn* probe = nullptr;
  const int code = mdb_txn_begin(env, nullptr, MDB_RDONLY, &probe);
  if (code == MDB_SUCCESS) mdb_txn_abort(probe);
  return code == MDB_PANIC;
}

}  // namespace

std::optional<std::string_view> Txn::get(MDB_dbi database, std::string_view key) const {
  MDB_val name = view(key);
  MDB_val found{};
  const int code = guarded_call(env(), Doing::reading, [&] { return mdb_get(txn_, database, &name, &found); });
  if (code == MDB_NOTFOUND) return std::nullopt;
  check_lmdb("mdb_get", code);
  check_value("mdb_get", env(), found);
  return std::string_view(static_cast<const char*>(found.mv_data), found.mv_size);
}

std::uint64_t Txn::entries(MDB_dbi database) const {
  MDB_stat stat{};
  check_lmdb("mdb_stat", guarded_call(env(), Doing::reading, [&] { return mdb_stat(txn_, database, &stat); }));
  return stat.ms_entries;
}

ReadTxn::ReadTxn(LmdbEnv& env) : env_(env) {
  txn_ = env.borrow();
}
ReadTxn::~ReadTxn() {
  env_.give_back(txn_);
}

WriteTxn::WriteTxn(LmdbEnv& env) : env_(env) {
  env.look_at_file();
  if (const std::string why = env.write_refusal(); !why.empty()) throw LmdbFault("writes are disabled: " + why, kPageDamaged);
  check_lmdb("mdb_txn_begin", mdb_txn_begin(env.handle(), nullptr, 0, &txn_));
}

// A transaction that stopped midway cannot be ended: it goes with the process.
WriteTxn::~WriteTxn() {
  if (txn_ == nullptr) return;
  mapped_file(env())->write_broken() ? env_.note_broken_write(last_damage()) : mdb_txn_abort(txn_);
}

// The pages are checked before anything is done with them, by a call that can be abandoned.
int WriteTxn::find(MDB_cursor* cursor, MDB_val key) {
  MDB_val there{};
  const int code = guarded_call(env(), Doing::reading_before_change, [&] { return mdb_cursor_get(cursor, &key, &there, MDB_SET); });
  if (code == MDB_SUCCESS) check_value("mdb_cursor_get", env(), there);
  return code;
}

void WriteTxn::put(MDB_dbi database, std::string_view key, std::string_view value) {
  MDB_val name = view(key);
  MDB_val kept = view(value);
  const Cursor cursor(*this, database);
  const int found = find(cursor.handle(), name);
  if (found != MDB_NOTFOUND) check_lmdb("mdb_put", found);
  check_lmdb("mdb_put", guarded_call(env(), Doing::writing, [&] { return mdb_cursor_put(cursor.handle(), &name, &kept, 0); }));
}

bool WriteTxn::erase(MDB_dbi database, std::string_view key) {
  const Cursor cursor(*this, database);
  const int found = find(cursor.handle(), view(key));
  if (found == MDB_NOTFOUND) return false;
  check_lmdb("mdb_del", found);
  check_lmdb("mdb_del", read_beside(cursor.handle()));
  check_lmdb("mdb_del", guarded_call(env(), Doing::writing, [&] { return mdb_cursor_del(cursor.handle(), 0); }));
  return true;
}

MDB_dbi WriteTxn::open_database(const char* name) {
  MDB_dbi database = 0;
  check_lmdb(name, guarded_call(env(), Doing::writing, [&] { return mdb_dbi_open(txn_, name, MDB_CREATE, &database); }));
  check_lmdb(name, mdb_set_compare(txn_, database, compare_guarded));
  return database;
}

void WriteTxn::commit() {
  // The handle is gone whatever mdb_txn_commit returns, so it must not be aborted.
  MDB_txn* const ending = std::exchange(txn_, nullptr);
  if (const std::string why = env_.write_refusal(); !why.empty()) {
    mdb_txn_abort(ending);
    throw LmdbFault("writes are disabled: " + why, kPageDamaged);
  }
  if (const int fault = env_.machine().commit_fault ? env_.machine().commit_fault() : 0; fault != 0) {
    mdb_txn_abort(ending);
    fail_lmdb("commit", without_disguise(env_, fault));
  }
  const int code = guarded_call(env_.handle(), Doing::writing, [&] { return mdb_txn_commit(ending); });
  if (code != MDB_SUCCESS && code != kWriteBroken && is_unusable(env_.handle()))
    throw LmdbFault(std::string("mdb_txn_commit: ") + mdb_strerror(code) + ", and " + mdb_strerror(MDB_PANIC), MDB_PANIC);
  if (code == kWriteBroken) env_.note_broken_write(last_damage());
  check_lmdb("mdb_txn_commit", without_disguise(env_, code));
}

Cursor::Cursor(const Txn& txn, MDB_dbi database) {
  check_lmdb("mdb_cursor_open", mdb_cursor_open(txn.handle(), database, &cursor_));
}
Cursor::~Cursor() {
  const MappedFile* const file = mapped_file(mdb_txn_env(mdb_cursor_txn(cursor_)));
  if (!file->write_broken()) mdb_cursor_close(cursor_);
}

bool Cursor::move(MDB_cursor_op how) {
  MDB_env* const env = mdb_txn_env(mdb_cursor_txn(cursor_));
  MDB_val found = key_;
  const int code = guarded_call(env, Doing::reading, [&] { return mdb_cursor_get(cursor_, &found, &value_, how); });
  if (code == MDB_NOTFOUND) return false;
  check_lmdb("mdb_cursor_get", code);
  check_page("mdb_cursor_get", env, found);
  key_ = found;
  check_value("mdb_cursor_get", env, value_);
  return true;
}

bool Cursor::at_or_after(std::string_view key) {
  key_ = view(key);
  return move(MDB_SET_RANGE);
}

bool Cursor::before(std::string_view key) {
  return at_or_after(key) ? previous() : last();
}

void Cursor::erase() {
  MDB_env* const env = mdb_txn_env(mdb_cursor_txn(cursor_));
  check_lmdb("mdb_cursor_del", read_beside(cursor_));
  check_lmdb("mdb_cursor_del", guarded_call(env, Doing::writing, [&] { return mdb_cursor_del(cursor_, 0); }));
}

}  // namespace runwarden::store
