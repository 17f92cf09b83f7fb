#include "store/lmdb_env.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "base/open_fault.h"

namespace runwarden::store {
namespace {

constexpr std::uint64_t kFullDiskBytes = std::uint64_t{1} << 20;  // less than that left: a failed write is for want of room

// The folders that are open in this process: LMDB corrupts silently when one is opened twice.
std::mutex open_folders_mutex;
std::set<std::pair<dev_t, ino_t>>& open_folders() {
  static auto* const folders = new std::set<std::pair<dev_t, ino_t>>;  // outlives every static store
  return *folders;
}

std::pair<dev_t, ino_t> identity(const std::filesystem::path& folder) {
  struct stat found {};
  if (::stat(folder.c_str(), &found) != 0) throw LmdbFault("cannot look at \"" + folder.string() + "\"", errno);
  return {found.st_dev, found.st_ino};
}

void enter_open_folder(const std::filesystem::path& folder) {
  const std::lock_guard lock(open_folders_mutex);
  if (!open_folders().insert(identity(folder)).second) {
    throw LmdbFault("\"" + folder.string() + "\" is open in this process already; use the store that is open", EBUSY);
  }
}

void leave_open_folder(const std::filesystem::path& folder) {
  const std::lock_guard lock(open_folders_mutex);
  struct stat found {};
  if (::stat(folder.c_str(), &found) == 0) open_folders().erase({found.st_dev, found.st_ino});
}

[[noreturn]] void fail(const char* what, int code) {
  const std::string text = std::string(what) + ": " + mdb_strerror(code);
  if (code == MDB_MAP_FULL || code == MDB_TXN_FULL || code == ENOSPC || code == EDQUOT) throw NoRoom(text);
  throw LmdbFault(text, code);
}

void check(const char* what, int code) {
  if (code != MDB_SUCCESS) fail(what, code);
}

// Of mdb_env_open, which does not say which of its two files it could not open.
void check_opened(const std::filesystem::path& folder, int code) {
  const bool of_system = code > 0 && code != ENOMEM && code != ENOSPC && code != EDQUOT;
  if (!of_system) return check("mdb_env_open", code);
  const std::filesystem::path lock = folder / "lock.mdb";
  const bool lock_is_good = ::faccessat(AT_FDCWD, lock.c_str(), R_OK | W_OK, AT_EACCESS) == 0;
  const std::filesystem::path file = lock_is_good ? folder / "data.mdb" : lock;
  throw LmdbFault("cannot open \"" + file.string() + "\": " + open_fault(file, code, OpenFor::writing), code);
}

MDB_val view(std::string_view bytes) {
  return {bytes.size(), const_cast<char*>(bytes.data())};
}

std::uint64_t statvfs_free(const std::filesystem::path& folder) {
  struct statvfs found {};
  if (::statvfs(folder.c_str(), &found) != 0) return ~std::uint64_t{0};
  return std::uint64_t{found.f_bavail} * found.f_frsize;
}

bool on_read_only_disk(const std::filesystem::path& folder) {
  struct statvfs found {};
  return ::statvfs(folder.c_str(), &found) == 0 && (found.f_flag & ST_RDONLY) != 0;
}

}  // namespace

LmdbEnv::LmdbEnv(Options options) : options_(std::move(options)) {
  if (!options_.machine.disk_free_bytes) options_.machine.disk_free_bytes = statvfs_free;
  enter_open_folder(options_.folder);
  try {
    read_only_ = options_.use == StoreUse::Kind::reading && on_read_only_disk(options_.folder);
    if (!read_only_) use_ = StoreUse::take(options_.folder, options_.use);
    check("mdb_env_create", mdb_env_create(&env_));
    if (options_.map_size != 0) check("mdb_env_set_mapsize", mdb_env_set_mapsize(env_, options_.map_size));
    check("mdb_env_set_maxdbs", mdb_env_set_maxdbs(env_, options_.databases));
    check("mdb_env_set_maxreaders", mdb_env_set_maxreaders(env_, kMaxReaders));
    check_opened(options_.folder, mdb_env_open(env_, options_.folder.c_str(), MDB_NOTLS | (read_only_ ? MDB_RDONLY : 0), 0600));
    check_readers();
  } catch (...) {
    if (env_ != nullptr) mdb_env_close(env_);
    leave_open_folder(options_.folder);
    throw;
  }
}

LmdbEnv::~LmdbEnv() {
  for (MDB_txn* txn : idle_) mdb_txn_abort(txn);
  mdb_env_close(env_);
  leave_open_folder(options_.folder);
}

ReadTxn LmdbEnv::read() {
  return ReadTxn(*this);
}
WriteTxn LmdbEnv::write() {
  return WriteTxn(*this);
}

LmdbEnv::Info LmdbEnv::info() const {
  MDB_envinfo info{};
  MDB_stat stat{};
  mdb_env_info(env_, &info);
  mdb_env_stat(env_, &stat);
  return {info.me_mapsize, info.me_last_pgno, stat.ms_psize};
}

MDB_dbi LmdbEnv::open_existing(const char* name) {
  MDB_txn* txn = nullptr;
  check("mdb_txn_begin", mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn));
  MDB_dbi database = 0;
  const int code = mdb_dbi_open(txn, name, 0, &database);
  if (code != MDB_SUCCESS) mdb_txn_abort(txn);
  check(name, code);
  check("mdb_txn_commit", mdb_txn_commit(txn));  // with it the handle stays
  return database;
}

void LmdbEnv::check_readers() {
  int dead = 0;
  check("mdb_reader_check", mdb_reader_check(env_, &dead));
}

void LmdbEnv::copy_to(int file, Copy how) {
  check("mdb_env_copyfd2", mdb_env_copyfd2(env_, file, how == Copy::compacted ? MDB_CP_COMPACT : 0));
}

MDB_txn* LmdbEnv::borrow() {
  std::unique_lock lock(mutex_);
  // A few slots stay for other processes: commands that run beside the service.
  constexpr unsigned kMostLent = kMaxReaders / 2;
  returned_.wait(lock, [&] { return !idle_.empty() || made_ < kMostLent; });
  MDB_txn* txn = nullptr;
  if (!idle_.empty()) {
    txn = idle_.back();
    idle_.pop_back();
    lock.unlock();
    const int code = mdb_txn_renew(txn);
    if (code == MDB_SUCCESS) return txn;
    mdb_txn_abort(txn);
    lock.lock();
    --made_;
    fail("mdb_txn_renew", code);
  }
  ++made_;
  lock.unlock();
  const int code = mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn);
  if (code == MDB_SUCCESS) return txn;
  lock.lock();
  --made_;
  fail("mdb_txn_begin", code);
}

void LmdbEnv::give_back(MDB_txn* txn) {
  mdb_txn_reset(txn);
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back(txn);
  }
  returned_.notify_one();
}

std::optional<std::string_view> Txn::get(MDB_dbi database, std::string_view key) const {
  MDB_val name = view(key);
  MDB_val found{};
  const int code = mdb_get(txn_, database, &name, &found);
  if (code == MDB_NOTFOUND) return std::nullopt;
  check("mdb_get", code);
  return std::string_view(static_cast<const char*>(found.mv_data), found.mv_size);
}

std::uint64_t Txn::entries(MDB_dbi database) const {
  MDB_stat stat{};
  check("mdb_stat", mdb_stat(txn_, database, &stat));
  return stat.ms_entries;
}

ReadTxn::ReadTxn(LmdbEnv& env) : env_(env) {
  txn_ = env.borrow();
}
ReadTxn::~ReadTxn() {
  env_.give_back(txn_);
}

WriteTxn::WriteTxn(LmdbEnv& env) : env_(env) {
  check("mdb_txn_begin", mdb_txn_begin(env.handle(), nullptr, 0, &txn_));
}

WriteTxn::~WriteTxn() {
  if (txn_ != nullptr) mdb_txn_abort(txn_);
}

void WriteTxn::put(MDB_dbi database, std::string_view key, std::string_view value) {
  MDB_val name = view(key);
  MDB_val kept = view(value);
  check("mdb_put", mdb_put(txn_, database, &name, &kept, 0));
}

bool WriteTxn::erase(MDB_dbi database, std::string_view key) {
  MDB_val name = view(key);
  const int code = mdb_del(txn_, database, &name, nullptr);
  if (code == MDB_NOTFOUND) return false;
  check("mdb_del", code);
  return true;
}

MDB_dbi WriteTxn::open_database(const char* name) {
  MDB_dbi database = 0;
  check(name, mdb_dbi_open(txn_, name, MDB_CREATE, &database));
  return database;
}

void WriteTxn::commit() {
  // The handle is gone whatever mdb_txn_commit answers: it must not be aborted after it.
  MDB_txn* const ending = std::exchange(txn_, nullptr);
  if (const int fault = env_.machine().commit_fault ? env_.machine().commit_fault() : 0; fault != 0) {
    mdb_txn_abort(ending);
    if (fault == EIO && env_.machine().disk_free_bytes(env_.folder()) < kFullDiskBytes) fail("commit", ENOSPC);
    fail("commit", fault);
  }
  const int code = mdb_txn_commit(ending);
  // Some file systems tell of a full disk as an I/O error.
  if (code == EIO && env_.machine().disk_free_bytes(env_.folder()) < kFullDiskBytes) fail("mdb_txn_commit", ENOSPC);
  check("mdb_txn_commit", code);
}

Cursor::Cursor(const Txn& txn, MDB_dbi database) {
  check("mdb_cursor_open", mdb_cursor_open(txn.handle(), database, &cursor_));
}
Cursor::~Cursor() {
  mdb_cursor_close(cursor_);
}

bool Cursor::move(MDB_cursor_op how) {
  const int code = mdb_cursor_get(cursor_, &key_, &value_, how);
  if (code == MDB_NOTFOUND) return false;
  check("mdb_cursor_get", code);
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
  check("mdb_cursor_del", mdb_cursor_del(cursor_, 0));
}

}  // namespace runwarden::store
