#include "store/lmdb_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/open_fault.h"
#include "store/lmdb_engine.h"

namespace runwarden::store {
namespace {

constexpr std::uint64_t kSmallestMap = std::uint64_t{4} << 20;
constexpr std::uint64_t kFirstMap = std::uint64_t{64} << 20;  // of a store that a command makes before the service has run

Error cannot_open(const std::filesystem::path& path, const std::string& why) {
  return {Code::unavailable, "store: cannot open \"" + path.string() + "\": " + why, {}, {}};
}

std::uint64_t statfs_type(const std::filesystem::path& folder) {
  struct statfs found {};
  if (::statfs(folder.c_str(), &found) != 0) return 0;
  return static_cast<std::uint32_t>(found.f_type);
}

// Locks and mapped files of these do not hold between machines, or not at all.
bool is_network(std::uint64_t file_system_type) {
  constexpr std::array<std::uint64_t, 4> kNetworks = {0x6969 /* NFS */, 0xFF534D42 /* CIFS */, 0xFE534D42 /* SMB2 */, 0x517B /* SMB */};
  for (const std::uint64_t network : kNetworks) {
    if (file_system_type == network) return true;
  }
  return false;
}

// So that a file that was made or renamed in it is still there after a power cut.
void sync_folder(const std::filesystem::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;  // it may be for writing only: then there is nothing to be done
  const int code = ::fsync(file) == 0 ? 0 : errno;
  ::close(file);
  if (code != 0 && code != EINVAL) throw LmdbFault("cannot sync \"" + folder.string() + "\"", code);
}

Status make_folder(const LmdbSettings& settings) {
  std::error_code fault;
  const bool made_here = !std::filesystem::exists(settings.path, fault);
  const bool parents = settings.path.has_parent_path() && !std::filesystem::exists(settings.path.parent_path(), fault);
  if (parents) std::filesystem::create_directories(settings.path.parent_path(), fault);
  if (::mkdir(settings.path.c_str(), 0750) != 0 && errno != EEXIST) {
    return cannot_open(settings.path, "the folder cannot be made: " + open_fault(settings.path, errno, OpenFor::writing));
  }
  if (made_here) sync_folder(settings.path / "..");
  const auto type = settings.machine.file_system_type ? settings.machine.file_system_type(settings.path) : statfs_type(settings.path);
  if (is_network(type)) {
    return cannot_open(settings.path, "it is on a network file system, where a store may be corrupted; put store.path on a local disk");
  }
  return Nothing{};
}

std::string open_fault_text(const LmdbFault& fault) {
  switch (fault.code) {
    case MDB_VERSION_MISMATCH:
    case MDB_INVALID: return std::string(fault.what()) + "; data.mdb there is no store of runwarden, or is damaged: restore a backup";
    case ENOMEM: return std::string(fault.what()) + "; the address space is too small for store.map_size: lower it, or raise `ulimit -v`";
    default: return fault.what();
  }
}

}  // namespace

Result<std::unique_ptr<Store>> open_lmdb(const LmdbSettings& settings, const Clock& clock) {
  if (settings.map_size != 0 && settings.map_size < kSmallestMap) {
    return Error{Code::bad_request, "store.map_size is " + std::to_string(settings.map_size) + " bytes; use at least 4 MiB", {}, {}};
  }
  try {
    if (Status made = make_folder(settings); !made.ok()) return std::move(made.error());
    LmdbSettings as_made = settings;
    const bool is_new = !std::filesystem::exists(settings.path / "data.mdb");
    if (settings.map_size == 0 && is_new) as_made.map_size = kFirstMap;
    auto store = std::make_unique<LmdbEngine>(as_made, clock);
    give_files_to_owner_of(settings.path);
    std::error_code ignored;
    std::filesystem::remove_all(settings.path / kUnfinishedCopy, ignored);
    if (is_new) sync_folder(settings.path);
    return std::unique_ptr<Store>(std::move(store));
  } catch (const LmdbFault& fault) {
    return cannot_open(settings.path, open_fault_text(fault));
  } catch (const NoRoom& full) {
    return cannot_open(settings.path, std::string("there is no room to begin it: ") + full.what() + "; free some of the disk");
  } catch (const StoreError& refused) {
    return cannot_open(settings.path, refused.what());
  }
}

}  // namespace runwarden::store
