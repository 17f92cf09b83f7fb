#include "store/lmdb/store_use.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/open_fault.h"
#include "store/lmdb/fault.h"
#include "store/lmdb/store.h"

namespace runwarden::store {

void give_to_owner_of(const std::filesystem::path& folder, int file) {
  struct stat found {};
  if (::geteuid() != 0 || ::stat(folder.c_str(), &found) != 0 || found.st_uid == 0) return;
  [[maybe_unused]] const int refused = ::fchown(file, found.st_uid, found.st_gid);
}

void give_files_to_owner_of(const std::filesystem::path& folder) {
  struct stat found_folder {};
  if (::geteuid() != 0 || ::stat(folder.c_str(), &found_folder) != 0 || found_folder.st_uid == 0) return;
  for (const char* name : {"data.mdb", "lock.mdb", kLedgerKey, kPreviousLedgerKey, kNextLedgerKey, kLedgerLast}) {
    const std::filesystem::path file = folder / name;
    struct stat found {};
    if (::lstat(file.c_str(), &found) != 0 || found.st_uid != 0) continue;
    [[maybe_unused]] const int refused = ::lchown(file.c_str(), found_folder.st_uid, found_folder.st_gid);
  }
}

StoreUse StoreUse::take(const std::filesystem::path& folder, Kind kind) {
  const std::filesystem::path path = folder / "open.lock";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) throw LmdbFault("cannot open \"" + path.string() + "\": " + open_fault(path, errno, OpenFor::writing), errno);
  give_to_owner_of(folder, file);
  if (::flock(file, (kind == Kind::alone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0) return StoreUse(file);
  const int code = errno;
  ::close(file);
  if (code != EWOULDBLOCK) throw LmdbFault("cannot lock \"" + path.string() + "\"", code);
  if (kind == Kind::alone) {
    throw LmdbFault("another runwarden command has it open; wait until that ends, then try again", EBUSY);
  }
  throw LmdbFault("another command is compacting it or importing into it; wait until that ends, then try again", EBUSY);
}

StoreUse::~StoreUse() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace runwarden::store
