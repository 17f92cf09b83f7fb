#include "store/lmdb/store_folder.h"

#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <system_error>
#include <thread>

#include "base/open_fault.h"
#include "store/lmdb/fault.h"
#include "store/lmdb/store.h"
#include "store/lmdb/store_use.h"
#include "store/open_store.h"

namespace runwarden::store {
namespace {

namespace fs = std::filesystem;

constexpr auto kLongestMaking = std::chrono::seconds(2);
constexpr auto kLookAgain = std::chrono::milliseconds(5);

// The first file that exists of those that the service and LMDB leave next to data.mdb.
std::optional<std::string> trace_of_store(const fs::path& folder) {
  std::error_code ignored;
  for (const char* name :
       {kCursorSecret, kSessionSecret, kEndedSessions, kPluginCopies, kCrashNote, "damage.note", "lock.mdb", "data.mdb"}) {
    if (fs::exists(folder / name, ignored)) return name;
  }
  return std::nullopt;
}

// Of a file that look_at_folder() does not take for a store.
const char* what_is_wrong(const fs::path& data) {
  std::error_code ignored;
  const fs::file_status found = fs::status(data, ignored);
  if (!fs::exists(found)) return "missing";
  return fs::is_regular_file(found) ? "empty" : "not a file";
}

bool is_being_made(const fs::path& folder) {
  try {
    const StoreUse alone = StoreUse::take(folder, StoreUse::Kind::alone);
    return false;
  } catch (const LmdbFault& fault) {
    return fault.code == EBUSY;
  }
}

}  // namespace

FolderState look_at_folder(const fs::path& folder) {
  std::error_code fault;
  const auto bytes = fs::file_size(folder / "data.mdb", fault);
  if (!fault && bytes > 0) return FolderState::store;
  return trace_of_store(folder) ? FolderState::lost : FolderState::no_store;
}

Status refuse_lost_store(const fs::path& folder) {
  struct stat found {};
  const fs::path data = folder / "data.mdb";
  if (::stat(data.c_str(), &found) != 0 && errno == EACCES) {
    return Error{Code::unavailable, "store: cannot open \"" + data.string() + "\": " + open_fault(data, EACCES, OpenFor::reading), {}, {}};
  }
  const auto until = std::chrono::steady_clock::now() + kLongestMaking;
  while (look_at_folder(folder) == FolderState::lost) {
    if (std::chrono::steady_clock::now() < until && is_being_made(folder)) {
      std::this_thread::sleep_for(kLookAgain);
      continue;
    }
    if (look_at_folder(folder) != FolderState::lost) break;
    return Error{Code::unavailable,
                 "store: \"" + folder.string() + "\" held a store (" + *trace_of_store(folder) + " exists), but its data.mdb is " +
                     what_is_wrong(folder / "data.mdb") +
                     "; check that its disk is mounted, restore a backup, or start an empty store with `runwarden serve --new-store`",
                 {},
                 {}};
  }
  return Nothing{};
}

}  // namespace runwarden::store
