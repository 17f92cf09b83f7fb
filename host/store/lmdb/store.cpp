#include "store/lmdb/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/open_fault.h"
#include "store/lmdb/engine.h"
#include "store/lmdb/ledger_files.h"
#include "store/lmdb/ledger_rows.h"
#include "store/lmdb/secret_file.h"
#include "store/lmdb/store_folder.h"
#include "store/lmdb/upgrade.h"

namespace runwarden::store {
namespace {

constexpr std::uint64_t kSmallestMap = std::uint64_t{4} << 20;
constexpr std::uint64_t kFirstMap = std::uint64_t{64} << 20;  // for a store that a command makes before the service has run

Error cannot_open(const std::filesystem::path& path, const std::string& why) {
  return {Code::unavailable, "store: cannot open \"" + path.string() + "\": " + why, {}, {}};
}

std::uint64_t statfs_type(const std::filesystem::path& folder) {
  struct statfs found {};
  if (::statfs(folder.c_str(), &found) != 0) return 0;
  return static_cast<std::uint32_t>(found.f_type);
}

// On these, locks and mapped files do not work between machines, or not at all.
bool is_network(std::uint64_t file_system_type) {
  constexpr std::array<std::uint64_t, 4> kNetworks = {0x6969 /* NFS */, 0xFF534D42 /* CIFS */, 0xFE534D42 /* SMB2 */, 0x517B /* SMB */};
  for (const std::uint64_t network : kNetworks) {
    if (file_system_type == network) return true;
  }
  return false;
}

// Makes the files created or renamed in the folder survive a power cut.
void sync_folder(const std::filesystem::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;  // it may be write-only: then nothing can be done
  const int code = ::fsync(file) == 0 ? 0 : errno;
  ::close(file);
  if (code != 0 && code != EINVAL) throw LmdbFault("cannot sync \"" + folder.string() + "\"", code);
}

Status refuse_network(const std::filesystem::path& folder, std::uint64_t file_system_type) {
  if (!is_network(file_system_type)) return Nothing{};
  return cannot_open(folder, "it is on a network file system, which may corrupt a store; put store.path on a local disk");
}

Status make_folder(const LmdbSettings& settings) {
  std::error_code fault;
  const bool made_here = !std::filesystem::exists(settings.path, fault);
  if (::mkdir(settings.path.c_str(), 0750) != 0 && errno != EEXIST) {
    return cannot_open(settings.path, "cannot create the folder: " + open_fault(settings.path, errno, OpenFor::writing));
  }
  if (made_here) sync_folder(settings.path / "..");
  return refuse_network(settings.path,
                        settings.machine.file_system_type ? settings.machine.file_system_type(settings.path) : statfs_type(settings.path));
}

std::string open_fault_text(const LmdbFault& fault) {
  if (is_damage(fault.code) && fault.code != kCutOff) return std::string(fault.what()) + "; its pages are damaged: restore a backup";
  switch (fault.code) {
    case MDB_VERSION_MISMATCH:
    case MDB_INVALID: return std::string(fault.what()) + "; its data.mdb is not a runwarden store, or is damaged: restore a backup";
    case ENOMEM: return std::string(fault.what()) + "; the address space is too small for store.map_size: lower it, or raise `ulimit -v`";
    default: return fault.what();
  }
}

// Removes the files of a new store that could not be begun, so that it does not look like a lost one.
class Unmaking {
 public:
  Unmaking(const std::filesystem::path& folder, bool is_new) : folder_(folder), is_new_(is_new) {}
  ~Unmaking() {
    std::error_code fault;
    const auto bytes = std::filesystem::file_size(folder_ / "data.mdb", fault);
    if (!is_new_ || (!fault && bytes > 0)) return;
    try {
      const StoreUse alone = StoreUse::take(folder_, StoreUse::Kind::alone);
      for (const char* name : {"data.mdb", "lock.mdb"}) std::filesystem::remove(folder_ / name, fault);
    } catch (const LmdbFault&) {
      // Another process is using it.
    }
  }
  Unmaking(const Unmaking&) = delete;
  Unmaking& operator=(const Unmaking&) = delete;

 private:
  const std::filesystem::path& folder_;
  const bool is_new_;
};

// Why the file cannot be used; empty: it can.
std::string why_unusable(const LmdbSettings& settings) {
  try {
    LmdbEnv env({.folder = settings.path, .databases = kMostTables, .use = StoreUse::Kind::alone, .machine = settings.machine});
    Tables tables;
    open_tables(env, tables);
    return env.write_refusal();
  } catch (const LmdbFault& fault) {
    if (is_damage(fault.code) || fault.code == MDB_INVALID) return fault.what();
    throw;
  }
}

void set_aside_unusable(const LmdbSettings& settings, const Clock& clock) {
  const std::filesystem::path data = settings.path / "data.mdb";
  const auto state = look_at_folder(settings.path);
  if (state == FolderState::no_store) return;
  std::string what = "its data.mdb was missing or empty";
  if (state == FolderState::store) {
    const std::string why = why_unusable(settings);
    if (why.empty()) return;
    const std::filesystem::path aside = data.string() + ".set-aside-" + std::to_string(clock.wall_ms());
    std::filesystem::rename(data, aside);
    what = "its data.mdb (" + why + ") was set aside as \"" + aside.string() + "\"";
  }
  for (const char* name : {"data.mdb", "lock.mdb", "damage.note", kCursorSecret, kSessionSecret, kEndedSessions, kCrashNote})
    std::filesystem::remove(settings.path / name);
  std::filesystem::remove_all(settings.path / kPluginCopies);
  if (settings.listener.on_new_store)
    settings.listener.on_new_store("the store at \"" + settings.path.string() + "\" starts empty: " + what);
}

// Runs `work`; an exception becomes the Error that says why the folder cannot be opened.
template <class Work>
auto or_refusal(const std::filesystem::path& folder, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const LmdbFault& fault) {
    return cannot_open(folder, open_fault_text(fault));
  } catch (const NoRoom& full) {
    return cannot_open(folder, std::string("no space left to create it: ") + full.what() + "; free some disk space");
  } catch (const StoreError& refused) {
    return cannot_open(folder, refused.what());
  } catch (const std::system_error& fault) {
    return cannot_open(folder, fault.what());
  }
}

struct FilesGivenToOwner {
  const std::filesystem::path& folder;
  ~FilesGivenToOwner() { give_files_to_owner_of(folder); }
};

}  // namespace

Result<std::unique_ptr<Store>> open_lmdb(const LmdbSettings& settings, const Clock& clock, std::optional<ServiceLock> lock) {
  if (settings.map_size != 0 && settings.map_size < kSmallestMap) {
    return Error{Code::bad_request, "store.map_size is " + std::to_string(settings.map_size) + " bytes; use at least 4 MiB", {}, {}};
  }
  return or_refusal(settings.path, [&]() -> Result<std::unique_ptr<Store>> {
    if (Status made = make_folder(settings); !made.ok()) return std::move(made.error());
    LmdbSettings as_made = settings;
    if (settings.if_lost == LmdbSettings::IfLost::create_new) set_aside_unusable(settings, clock);
    if (Status lost = refuse_lost_store(settings.path); !lost.ok()) return std::move(lost.error());
    const std::filesystem::path data = settings.path / "data.mdb";
    std::error_code fault;
    const bool is_new = !std::filesystem::exists(data, fault);
    if (fault) return cannot_open(data, open_fault(data, fault.value(), OpenFor::writing));
    if (settings.map_size == 0 && is_new) as_made.map_size = kFirstMap;
    const Unmaking unmaking(settings.path, is_new);
    auto store = std::make_unique<LmdbEngine>(as_made, clock, std::move(lock));
    give_files_to_owner_of(settings.path);
    std::error_code ignored;
    std::filesystem::remove_all(settings.path / kUnfinishedCopy, ignored);
    if (is_new) sync_folder(settings.path);
    return std::unique_ptr<Store>(std::move(store));
  });
}

void remove_empty_store(const std::filesystem::path& folder) {
  try {
    LmdbEnv env({.folder = folder, .databases = kMostTables, .use = StoreUse::Kind::alone, .machine = {}});
    Tables tables;
    open_tables(env, tables);
    {
      const ReadTxn txn = env.read();
      if (Cursor(txn, tables.tenants.handle).first()) return;
    }
    std::error_code ignored;
    for (const char* name : {"data.mdb", "lock.mdb", "open.lock", kLedgerKey, kLedgerLast}) std::filesystem::remove(folder / name, ignored);
  } catch (const std::exception&) {
    // It stays.
  }
}

Status try_lmdb(const std::filesystem::path& folder, StoreSettings::Ledger ledger) {
  return or_refusal(folder, [&]() -> Status {
    if (Status network = refuse_network(folder, statfs_type(folder)); !network.ok()) return network;
    if (Status lost = refuse_lost_store(folder); !lost.ok()) return lost;
    for (const char* name : {kCursorSecret, kSessionSecret}) {
      if (auto secret = read_secret(folder / name); !secret.ok()) return std::move(secret.error());
    }
    std::string noted_key;
    const auto check_keys = [&] {
      if (ledger == StoreSettings::Ledger::on) LedgerKeys(folder).check_current(noted_key);
      return Nothing{};
    };
    if (look_at_folder(folder) == FolderState::no_store) return check_keys();
    const FilesGivenToOwner given{folder};  // a restored backup has no lock.mdb before it is opened
    LmdbEnv env({.folder = folder, .databases = kMostTables, .use = StoreUse::Kind::reading, .machine = {}});
    Tables tables;
    if (open_those_there_are(env, tables)) {
      refuse_newer_format(env, tables);
      noted_key = read_signing_key(env.read(), tables);
    }
    return check_keys();
  });
}

}  // namespace runwarden::store
