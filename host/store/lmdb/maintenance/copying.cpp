// Copies the store's file: to another folder while it is served, or compacted into its own place.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "store/lmdb/maintenance/commands.h"
#include "store/lmdb/maintenance/open_store.h"
#include "store/maintenance_commands.h"

namespace runwarden::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* kData = "data.mdb";
constexpr const char* kPartial = ".partial";
// A copy keeps the pages from when it began, so writes take new ones. It is abandoned before the map is full.
constexpr std::uint64_t kLeastFreePart = 16;

class Descriptor {
 public:
  explicit Descriptor(int file) : file_(file) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return file_; }
  int close() {
    const int file = std::exchange(file_, -1);
    return file < 0 ? 0 : ::close(file);
  }

 private:
  int file_;
};

[[noreturn]] void fail(const std::string& what, const fs::path& path) {
  const int code = errno;
  if (code == ENOSPC || code == EDQUOT) {
    throw StoreError(what + " \"" + path.string() + "\": " + std::strerror(code) + "; free some space on that disk and try again");
  }
  if (code == EFBIG) {
    throw StoreError(what + " \"" + path.string() + "\": " + std::strerror(code) + "; raise the limit on the size of files (ulimit -f)");
  }
  throw std::system_error(code, std::generic_category(), what + " \"" + path.string() + "\"");
}

void sync_path(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0 || ::fsync(file.get()) != 0) fail("cannot sync", path);
}

void write_all(int file, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(file, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) fail("cannot write", path);
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

std::uint64_t size_of(const fs::path& path) {
  return static_cast<std::uint64_t>(fs::file_size(path));
}

// Creates a new file that only its owner can access.
int make_file(const fs::path& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) fail("cannot make", path);
  return file;
}

// LMDB writes into a pipe that is drained at once. Other writers wait while LMDB writes its first bytes, so these must not hang on a slow
// disk. The pipe also allows the copy to report progress and to be abandoned.
class Pump {
 public:
  Pump(const MaintenanceContext& maintenance, OpenStore& store, const char* doing) : context_(maintenance), store_(store), doing_(doing) {}

  std::uint64_t run(const fs::path& target, LmdbEnv::Copy how) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail("cannot create a pipe for", target);
    Descriptor from(ends[0]);
    Descriptor to(ends[1]);
    std::exception_ptr fault;
    std::thread copier([&] {
      sigset_t broken_pipe;  // an abandoned copy is a failed write, reported as such
      sigemptyset(&broken_pipe);
      sigaddset(&broken_pipe, SIGPIPE);
      pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
      try {
        store_.env.copy_to(to.get(), how);
      } catch (...) {
        fault = std::current_exception();
      }
      to.close();
    });
    std::exception_ptr given_up;
    try {
      drain(from.get(), target);
    } catch (...) {
      given_up = std::current_exception();
    }
    from.close();
    copier.join();
    if (given_up) std::rethrow_exception(given_up);
    if (fault) std::rethrow_exception(fault);
    return bytes_;
  }

 private:
  void drain(int from, const fs::path& target) {
    Descriptor file(make_file(target));
    const LmdbEnv::Info before = store_.env.info();
    const std::uint64_t all = (before.last_page + 1) * before.page_bytes;
    std::string buffer(std::size_t{1} << 18, '\0');
    for (;;) {
      const ssize_t got = ::read(from, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("cannot read the pipe for", target);
      if (got == 0) break;
      write_all(file.get(), std::string_view(buffer).substr(0, static_cast<std::size_t>(got)), target);
      bytes_ += static_cast<std::uint64_t>(got);
      report_progress(context_, {doing_, "bytes", "", bytes_, all});
      watch_room(before);
    }
    if (::fsync(file.get()) != 0 || file.close() != 0) fail("cannot sync", target);
  }

  // Guards against growth during the copy. What to do about a store that was nearly full before is up to its operator.
  void watch_room(const LmdbEnv::Info& before) const {
    const LmdbEnv::Info now = store_.env.info();
    const std::uint64_t pages = now.map_bytes / now.page_bytes;
    if (now.last_page <= before.last_page || now.last_page + pages / kLeastFreePart < pages) return;
    throw StoreError(
        "the store grew during the copy and is nearly full, so the copy was abandoned; raise store.map_size, or copy it "
        "when fewer writes arrive");
  }

  const MaintenanceContext& context_;
  OpenStore& store_;
  const char* doing_;
  std::uint64_t bytes_ = 0;
};

// Deletes the folder and everything in it, unless it was released. Holds a lock on it while the copy is being written.
class Staging {
 public:
  explicit Staging(fs::path path) : path_(std::move(path)) {
    remove_interrupted();
    if (::mkdir(path_.c_str(), 0700) != 0) fail("cannot create the folder", path_);
    lock_.emplace(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (lock_->get() < 0 || ::flock(lock_->get(), LOCK_EX | LOCK_NB) != 0) fail("cannot lock the folder", path_);
  }
  ~Staging() {
    std::error_code ignored;
    if (!released_) fs::remove_all(path_, ignored);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  const fs::path& path() const { return path_; }
  void release() { released_ = true; }

 private:
  void remove_interrupted() const {
    const Descriptor found(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (found.get() >= 0 && ::flock(found.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) fail("cannot lock the folder", path_);
      throw StoreError("another copy is being written to \"" + path_.string() + "\"; wait for it, or name another folder");
    }
    fs::remove_all(path_);
  }

  fs::path path_;
  std::optional<Descriptor> lock_;
  bool released_ = false;
};

// Returns how many records the copy has; throws if one of them is bad.
std::uint64_t check_copy(const MaintenanceContext& maintenance, const fs::path& copy) {
  const MaintenanceContext of_copy{copy, maintenance.clock, maintenance.on_progress, 0};
  const auto verified = lmdb::verify(of_copy);
  if (!verified.ok()) {
    if (maintenance.on_progress && !maintenance.on_progress({"verify", "records", "", 0, 0})) throw Stopped{};
    throw StoreError("the copy cannot be opened: " + verified.error().detail);
  }
  if (verified->faults > 0) {
    const StoreFault& first = verified->first_ones.front();
    throw StoreError("the copy has " + std::to_string(verified->faults) + " faults, as does the store itself: in \"" + first.table +
                     "\", key 0x" + first.key + ": " + first.detail + "; run `runwarden verify`");
  }
  for (const char* name : {"lock.mdb", "open.lock"}) fs::remove(copy / name);
  std::uint64_t records = 0;
  for (const auto& [table, entries] : verified->entries) records += entries;
  return records;
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  const auto from_there = fs::weakly_canonical(path).lexically_relative(fs::canonical(folder));
  return !from_there.empty() && *from_there.begin() != ".." && *from_there.begin() != ".";
}

void check_target(const MaintenanceContext& maintenance, const fs::path& target) {
  const std::string name = "\"" + target.string() + "\"";
  if (lies_in(target, maintenance.folder)) throw StoreError("backup: " + name + " lies in the store itself; name a folder elsewhere");
  const auto status = fs::symlink_status(target);
  if (status.type() == fs::file_type::not_found) {
    if (!fs::is_directory(target.parent_path())) throw StoreError("backup: the parent folder of " + name + " does not exist; create it");
    return;
  }
  if (status.type() != fs::file_type::directory) throw StoreError("backup: " + name + " exists and is not a folder; name a new one");
  if (fs::equivalent(target, maintenance.folder)) throw StoreError("backup: " + name + " is the store itself; name a new folder");
  const auto foreign = [](const fs::directory_entry& entry) { return entry.path().filename() != kPartial; };
  if (std::any_of(fs::directory_iterator(target), fs::directory_iterator(), foreign))
    throw StoreError("backup: " + name + " is not empty and was left alone; name a new folder");
}

// Without the published checkpoints: a restored copy must not continue under the name of a ledger that has continued without it.
constexpr std::array<const char*, 4> kSecrets = {kCursorSecret, kLedgerKey, kPreviousLedgerKey, kNextLedgerKey};

void copy_secrets(const fs::path& from, const fs::path& to) {
  for (const char* name : kSecrets) {
    if (!fs::exists(from / name)) continue;
    fs::copy_file(from / name, to / name);
    fs::permissions(to / name, fs::perms::owner_read | fs::perms::owner_write);
    sync_path(to / name);
  }
}

void rename_to(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail("cannot move the finished copy to", to);
}

// Write the data last: once it exists, the copy is complete.
void move_up(const fs::path& from, const fs::path& to) {
  for (const char* name : kSecrets) {
    if (fs::exists(from / name)) rename_to(from / name, to / name);
  }
  rename_to(from / kData, to / kData);
}

}  // namespace

Result<Copied> back_up(const MaintenanceContext& maintenance, const fs::path& where) {
  return guarded(maintenance, [&]() -> Result<Copied> {
    fs::path target = fs::absolute(where).lexically_normal();
    if (!target.has_filename()) target = target.parent_path();
    check_target(maintenance, target);
    // An existing folder may be the mount point of a disk, so the copy has to be made inside it.
    const bool inside = fs::exists(target);
    Staging staging(inside ? target / kPartial : fs::path(target.string() + kPartial));
    Copied copied;
    {
      OpenStore store(maintenance.folder, maintenance.max_bytes, StoreUse::Kind::shared, LmdbSettings::IfOlder::refuse);
      copied.bytes = Pump(maintenance, store, "backup").run(staging.path() / kData, LmdbEnv::Copy::as_it_is);
    }
    copied.records = check_copy(maintenance, staging.path());
    copy_secrets(maintenance.folder, staging.path());
    sync_path(staging.path());
    inside ? move_up(staging.path(), target) : rename_to(staging.path(), target);
    if (!inside) staging.release();
    sync_path(inside ? target : target.parent_path());
    return copied;
  });
}

Result<Compacted> compact(const MaintenanceContext& maintenance) {
  return guarded(maintenance, [&]() -> Result<Compacted> {
    const fs::path data = maintenance.folder / kData;
    OpenStore store(maintenance.folder, maintenance.max_bytes, StoreUse::Kind::alone, LmdbSettings::IfOlder::upgrade);
    Compacted compacted;
    compacted.bytes_before = size_of(data);
    Staging staging(maintenance.folder / kUnfinishedCopy);
    Pump(maintenance, store, "compact").run(staging.path() / kData, LmdbEnv::Copy::compacted);
    check_copy(maintenance, staging.path());
    struct stat before {};
    if (::stat(data.c_str(), &before) != 0) fail("cannot access", data);
    if (::geteuid() == 0 && ::chown((staging.path() / kData).c_str(), before.st_uid, before.st_gid) != 0)
      fail("cannot change the owner of", staging.path());
    rename_to(staging.path() / kData, data);
    sync_path(maintenance.folder);
    compacted.bytes_after = size_of(data);
    return compacted;
  });
}

}  // namespace runwarden::store
