#include "store/lmdb/env.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "base/mutex.h"
#include "base/open_fault.h"
#include "store/lmdb/damage_note.h"
#include "store/lmdb/fault.h"
#include "store/lmdb/txn.h"

namespace runwarden::store {
namespace {

constexpr std::size_t kTableBytes = 48;  // what LMDB stores for a table: its MDB_db

// The folders open in this process: LMDB silently corrupts a folder that is opened twice.
Mutex open_folders_mutex;
std::set<std::pair<dev_t, ino_t>>& open_folders() RW_REQUIRES(open_folders_mutex) {
  static auto* const folders = new std::set<std::pair<dev_t, ino_t>>;  // outlives every static store
  return *folders;
}

std::pair<dev_t, ino_t> identity(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) throw LmdbFault("cannot access \"" + path.string() + "\"", errno);
  return {found.st_dev, found.st_ino};
}

void enter_open_folder(const std::filesystem::path& folder) {
  const MutexLock lock(open_folders_mutex);
  if (!open_folders().insert(identity(folder)).second) {
    throw LmdbFault("\"" + folder.string() + "\" is already open in this process; use the open store", EBUSY);
  }
}

void leave_open_folder(const std::filesystem::path& folder) {
  const MutexLock lock(open_folders_mutex);
  struct stat found {};
  if (::stat(folder.c_str(), &found) == 0) open_folders().erase({found.st_dev, found.st_ino});
}

// For mdb_env_open, which does not say which of its two files it could not open.
void check_opened(const std::filesystem::path& folder, int code) {
  const bool of_system = code > 0 && code != ENOMEM && code != ENOSPC && code != EDQUOT && code != EFBIG;
  if (!of_system) return check_lmdb("mdb_env_open", code);
  const std::filesystem::path lock = folder / "lock.mdb";
  const bool lock_is_good = ::faccessat(AT_FDCWD, lock.c_str(), R_OK | W_OK, AT_EACCESS) == 0;
  const std::filesystem::path file = lock_is_good ? folder / "data.mdb" : lock;
  throw LmdbFault("cannot open \"" + file.string() + "\": " + open_fault(file, code, OpenFor::writing), code);
}

std::uint64_t statvfs_free(const std::filesystem::path& folder) {
  struct statvfs found {};
  if (::statvfs(folder.c_str(), &found) != 0) return ~std::uint64_t{0};
  return std::uint64_t{found.f_bavail} * found.f_frsize;
}

const char* fault_of_free_list(const MDB_val& value, std::size_t last_page) {
  const auto* const list = static_cast<const std::size_t*>(value.mv_data);
  if (value.mv_size < sizeof *list || value.mv_size % sizeof *list != 0 || list[0] != value.mv_size / sizeof *list - 1) {
    return "a list of free pages has a wrong length";
  }
  std::size_t above = last_page + 1;
  for (std::size_t i = 1; i <= list[0]; above = list[i++]) {
    if (list[i] >= above || list[i] < 2) return "a list of free pages is wrong";
  }
  return nullptr;
}

const char* fault_of_table(const MDB_val& value) {
  return value.mv_size == kTableBytes ? nullptr : "the list of tables is wrong";
}

bool on_read_only_disk(const std::filesystem::path& folder) {
  struct statvfs found {};
  return ::statvfs(folder.c_str(), &found) == 0 && (found.f_flag & ST_RDONLY) != 0;
}

}  // namespace

LmdbEnv::LmdbEnv(Options options) : options_(std::move(options)), data_(options_.folder / "data.mdb") {
  if (!options_.machine.disk_free_bytes) options_.machine.disk_free_bytes = statvfs_free;
  enter_open_folder(options_.folder);
  try {
    read_only_ = options_.use == StoreUse::Kind::reading && on_read_only_disk(options_.folder);
    if (!read_only_) use_ = StoreUse::take(options_.folder, options_.use);
    open();
  } catch (...) {
    mapped_.reset();
    if (env_ != nullptr) mdb_env_close(env_);
    leave_open_folder(options_.folder);
    throw;
  }
}

void LmdbEnv::open() {
  check_lmdb("mdb_env_create", mdb_env_create(&env_));
  if (options_.map_size != 0) check_lmdb("mdb_env_set_mapsize", mdb_env_set_mapsize(env_, options_.map_size));
  check_lmdb("mdb_env_set_maxdbs", mdb_env_set_maxdbs(env_, options_.databases));
  check_lmdb("mdb_env_set_maxreaders", mdb_env_set_maxreaders(env_, kMaxReaders));
  install_guard(env_);
  check_opened(options_.folder, mdb_env_open(env_, options_.folder.c_str(), MDB_NOTLS | (read_only() ? MDB_RDONLY : 0u), 0600));
  data_identity_ = identity(data_);
  mapped_ = std::make_unique<MappedFile>(env_, data_);
  check_length();
  damage_noted_ = DamageNote::read(options_.folder);
  if (damage_noted_.empty() && !read_only()) damage_noted_ = fault_of_own_pages();
  check_readers();
}

LmdbEnv::~LmdbEnv() {
  for (MDB_txn* txn : idle_) mdb_txn_abort(txn);
  mapped_.reset();
  mdb_env_close(env_);
  leave_open_folder(options_.folder);
}

// The file may end before its last page: LMDB does not write pages that were freed again before their transaction ended. A commit of
// another process may take such pages into use during the check; then the check is repeated.
void LmdbEnv::check_length() const {
  std::uint64_t bytes = 0;
  std::uint64_t wanted = 0;
  for (std::uint64_t seen = 0;;) {
    const Info now = info();
    int file = -1;
    struct stat found {};
    if (mdb_env_get_fd(env_, &file) != MDB_SUCCESS || ::fstat(file, &found) != 0) return;
    bytes = static_cast<std::uint64_t>(found.st_size);
    wanted = (now.last_page + 1) * now.page_bytes;
    if (bytes >= wanted || tail_is_free(bytes / now.page_bytes, now.last_page)) return;
    if (std::exchange(seen, now.transaction) == now.transaction) break;
  }
  throw LmdbFault("data.mdb is truncated: it has " + std::to_string(bytes) + " bytes, but its pages take " + std::to_string(wanted) +
                      "; restore a backup, or start an empty store with `runwarden serve --new-store`",
                  kCutOff);
}

bool LmdbEnv::tail_is_free(std::uint64_t from_page, std::uint64_t last_page) const {
  constexpr MDB_dbi kFreePages = 0;
  std::vector<bool> is_free(last_page + 1 - from_page);
  MDB_txn* txn = nullptr;
  MDB_cursor* cursor = nullptr;
  const int read = guarded_call(env_, Doing::reading, [&] {
    int code = mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn);
    if (code == MDB_SUCCESS) code = mdb_cursor_open(txn, kFreePages, &cursor);
    MDB_val transaction{};
    MDB_val pages{};
    while (code == MDB_SUCCESS) {
      code = mdb_cursor_get(cursor, &transaction, &pages, MDB_NEXT);
      if (code != MDB_SUCCESS) break;
      const auto* const list = static_cast<const std::size_t*>(pages.mv_data);
      for (std::size_t i = 1; i <= list[0] && (i + 1) * sizeof *list <= pages.mv_size; ++i) {
        if (list[i] >= from_page && list[i] <= last_page) is_free[list[i] - from_page] = true;
      }
    }
    return code;
  });
  if (cursor != nullptr) mdb_cursor_close(cursor);
  if (txn != nullptr) mdb_txn_abort(txn);
  return read == MDB_NOTFOUND && !mapped_->torn() && std::find(is_free.begin(), is_free.end(), false) == is_free.end();
}

// LMDB walks these pages without compare_guarded().
std::string LmdbEnv::fault_of_own_pages() const {
  constexpr MDB_dbi kFreePages = 0;
  std::size_t last_page = 0;
  MDB_txn* txn = nullptr;
  MDB_cursor* cursor = nullptr;
  const char* fault = nullptr;
  const auto each_entry = [&](MDB_dbi database, auto fault_of_entry) {
    MDB_val key{};
    MDB_val value{};
    int code = mdb_cursor_open(txn, database, &cursor);
    while (code == MDB_SUCCESS && fault == nullptr) {
      code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
      if (code != MDB_SUCCESS) break;
      fault = mapped_->fault_of_entries(key);
      if (fault == nullptr) fault = mapped_->fault_of_value(value);
      if (fault == nullptr) fault = fault_of_entry(value);
    }
    mdb_cursor_close(std::exchange(cursor, nullptr));
    return code == MDB_NOTFOUND ? MDB_SUCCESS : code;
  };
  const auto fault_of_list = [&last_page](const MDB_val& value) { return fault_of_free_list(value, last_page); };
  const int code = guarded_call(env_, Doing::reading, [&] {
    MDB_dbi tables = 0;
    int done = mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn);
    last_page = info().last_page;  // at least what the transaction sees, though others commit meanwhile
    if (done == MDB_SUCCESS) done = mdb_dbi_open(txn, nullptr, 0, &tables);
    if (done == MDB_SUCCESS) done = each_entry(tables, fault_of_table);
    return done == MDB_SUCCESS ? each_entry(kFreePages, fault_of_list) : done;
  });
  if (cursor != nullptr) mdb_cursor_close(cursor);
  if (txn != nullptr) mdb_txn_abort(txn);
  if (code == kPageDamaged) return last_damage();
  if (code != MDB_SUCCESS) return mdb_strerror(code);
  return fault == nullptr ? "" : fault;
}

// Next to the flush of a commit, a look at the path costs nothing.
void LmdbEnv::look_at_file() {
  mapped_->look_at_length();
  struct stat found {};
  const bool missing = ::stat(data_.c_str(), &found) != 0;
  if (missing && errno != ENOENT && errno != ENOTDIR) return;  // it may well be there
  if (missing || std::pair(found.st_dev, found.st_ino) != data_identity_) data_gone_.store(true, std::memory_order_release);
}

std::uint64_t LmdbEnv::file_limit_left() const {
  struct rlimit limit {};
  struct stat found {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return ~std::uint64_t{0};
  if (::stat(data_.c_str(), &found) != 0) return limit.rlim_cur;
  return limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, static_cast<std::uint64_t>(found.st_size));
}

std::string LmdbEnv::write_refusal() const {
  if (!damage_noted_.empty()) return damage_noted_;
  if (mapped_->write_broken()) return "a write met a damaged page";
  if (data_gone_.load(std::memory_order_acquire)) return "data.mdb was deleted, moved or replaced while open";
  return mapped_->torn() ? "data.mdb was truncated while open, or its disk cannot be read" : "";
}

const char* LmdbEnv::remedy() const {
  return data_gone_.load(std::memory_order_acquire) ? "stop the service, then put the file back or restore a backup"
                                                    : "run `runwarden verify`, and restore a backup";
}

void LmdbEnv::note_broken_write(const std::string& why) {
  DamageNote::write(options_.folder, why);
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
  return {info.me_mapsize, info.me_last_pgno, stat.ms_psize, info.me_last_txnid};
}

void LmdbEnv::check_readers() {
  int dead = 0;
  check_lmdb("mdb_reader_check", mdb_reader_check(env_, &dead));
}

void LmdbEnv::copy_to(int file, Copy how) {
  check_lmdb("mdb_env_copyfd2", mdb_env_copyfd2(env_, file, how == Copy::compacted ? MDB_CP_COMPACT : 0));
}

MDB_txn* LmdbEnv::borrow() {
  MutexLock lock(mutex_);
  // Some slots are left for other processes: commands that run alongside the service.
  constexpr unsigned kMostLent = kMaxReaders / 2;
  returned_.wait(lock, [&]() RW_REQUIRES(mutex_) { return !idle_.empty() || made_ < kMostLent; });
  MDB_txn* txn = nullptr;
  if (!idle_.empty()) {
    txn = idle_.back();
    idle_.pop_back();
    lock.unlock();
    const int code = guarded_call(env_, Doing::reading, [&] { return mdb_txn_renew(txn); });
    if (code == MDB_SUCCESS) return txn;
    mdb_txn_abort(txn);
    lock.lock();
    --made_;
    fail_lmdb("mdb_txn_renew", code);
  }
  ++made_;
  lock.unlock();
  const int code = mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn);
  if (code == MDB_SUCCESS) return txn;
  lock.lock();
  --made_;
  fail_lmdb("mdb_txn_begin", code);
}

void LmdbEnv::give_back(MDB_txn* txn) {
  mdb_txn_reset(txn);
  {
    const MutexLock lock(mutex_);
    idle_.push_back(txn);
  }
  returned_.notify_one();
}

}  // namespace runwarden::store
