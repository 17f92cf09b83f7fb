#include "detect/libraries.h"

#define BOOST_DLL_USE_STD_FS
#include <fcntl.h>
#include <runwarden/detector.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <boost/dll/shared_library.hpp>
#include <cerrno>
#include <cstring>
#include <map>
#include <vector>

#include "base/mutex.h"

namespace runwarden::detect {
namespace {

namespace fs = std::filesystem;
namespace dll = boost::dll;

constexpr int kHighestMajorLookedFor = 9;

struct Registered {
  dll::shared_library handle;
  LoadedLibrary library;
};

struct Registry {
  Mutex mutex;
  std::map<std::string, Registered> by_sha256 RW_GUARDED_BY(mutex);
};

Registry& registry() {
  static auto* const the_one = new Registry;  // never destroyed, because libraries are never unloaded
  return *the_one;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

constexpr Code kNoRoom = Code::unavailable;  // of the error: the disk has no room for the copy

Error no_copy(const LibraryFile& file, const std::string& where) {
  const bool is_full = errno == ENOSPC || errno == EDQUOT;
  Error error = refusal(file.file, "cannot be copied to " + where + ": " + std::strerror(errno) + ".");
  if (is_full) error.code = kNoRoom;
  return error;
}

// The copy that the loader opens. The descriptor stays open while the library is loaded.
struct Copy {
  fs::path path;
  int descriptor;
};

Error needs_proc(const LibraryFile& file, const fs::path& private_folder) {
  const std::string why = private_folder.empty()
                              ? "This command loads libraries"
                              : "The file system of " + private_folder.string() + " is full or mounted noexec, so libraries are loaded";
  const std::string or_else = private_folder.empty() ? "." : ", or move store.path to a file system that has room and allows execution.";
  return refusal(file.file, "cannot be opened because /proc is not mounted. " + why +
                                " from memory, by a path below /proc. Mount it (mount -t proc proc /proc)" + or_else);
}

// Copies into sealed memory. The path is valid and unique while the descriptor is open. It names the process, so that a debugger, too, can
// read the library there.
Result<Copy> copy_to_memory(const LibraryFile& file, const fs::path& private_folder) {
  const int fd = ::memfd_create(file.file.filename().c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return no_copy(file, "memory");
  if (!write_all(fd, file.bytes) || ::fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) {
    const Error error = no_copy(file, "memory");
    ::close(fd);
    return error;
  }
  std::error_code fault;
  const fs::path process = "/proc" / fs::read_symlink("/proc/self", fault);
  if (!fault) return Copy{process / "fd" / std::to_string(fd), fd};
  ::close(fd);
  return needs_proc(file, private_folder);
}

// Creates the private folder, or checks that only the service's user can access it.
Status ready_folder(const LibraryFile& file, const fs::path& folder) {
  std::error_code fault;
  fs::create_directories(folder.parent_path(), fault);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return no_copy(file, folder.string());
  struct stat info;
  if (::lstat(folder.c_str(), &info) != 0) return no_copy(file, folder.string());
  if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid()) {
    return refusal(file.file, "the private folder " + folder.string() +
                                  " does not belong to the service's user. Remove it; the service creates it again.");
  }
  if ((info.st_mode & 077) != 0 && ::chmod(folder.c_str(), 0700) != 0) return no_copy(file, folder.string());
  return Nothing{};
}

// Takes a shared lock on the copy for the life of this process, so that prune_copies() keeps it. Returns -1 and sets errno on failure.
int lock_in_use(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 || ::flock(fd, LOCK_SH) == 0) return fd;
  ::close(fd);
  return -1;
}

Result<Copy> copy_to_folder(const LibraryFile& file, const fs::path& folder) {
  if (Status status = ready_folder(file, folder); !status.ok()) return std::move(status.error());
  const fs::path target = fs::absolute(folder) / (file.sha256 + ".so");
  std::string draft = target.string() + ".XXXXXX";
  const int fd = ::mkostemp(draft.data(), O_CLOEXEC);
  if (fd < 0) return no_copy(file, draft);
  const bool written = write_all(fd, file.bytes) && ::fchmod(fd, 0500) == 0;
  ::close(fd);
  const int lock = written ? lock_in_use(draft) : -1;
  if (lock < 0 || ::rename(draft.c_str(), target.c_str()) != 0) {
    const Error error = no_copy(file, target.string());
    ::unlink(draft.c_str());
    if (lock >= 0) ::close(lock);
    return error;
  }
  return Copy{target, lock};
}

bool may_execute_from(const fs::path& folder) {
  struct statvfs info;
  std::error_code fault;
  fs::path there = fs::absolute(folder, fault);
  while (!there.empty() && there.has_relative_path() && !fs::exists(there, fault)) there = there.parent_path();
  return ::statvfs(there.c_str(), &info) == 0 && (info.f_flag & ST_NOEXEC) == 0;
}

// A full disk is no reason to refuse a library: the service still answers reads then.
Result<Copy> copy_of(const LibraryFile& file, const fs::path& private_folder) {
  if (private_folder.empty() || !may_execute_from(private_folder)) return copy_to_memory(file, private_folder);
  Result<Copy> copy = copy_to_folder(file, private_folder);
  return !copy.ok() && copy.error().code == kNoRoom ? copy_to_memory(file, private_folder) : std::move(copy);
}

LoadedLibrary look_for_entry(const dll::shared_library& handle) {
  if (handle.has(RW_ENTRY_SYMBOL)) return {&handle.get<const rw_entry>(RW_ENTRY_SYMBOL), 0};
  for (int major = 0; major <= kHighestMajorLookedFor; ++major) {
    if (handle.has("runwarden_entry_v" + std::to_string(major))) return {nullptr, major};
  }
  return {};
}

// Extracts the loader's message from the text of Boost.DLL.
std::string loader_message(const std::string& text) {
  constexpr std::string_view kBefore = "dlerror system message: ";
  const std::size_t begin = text.find(kBefore);
  const std::size_t end = text.rfind("): ");
  if (begin == std::string::npos || end == std::string::npos || end < begin) return text;
  return text.substr(begin + kBefore.size(), end - begin - kBefore.size());
}

// Replaces the path of the copy by the name of the file that the operator knows.
std::string with_original_name(std::string text, const fs::path& copy, const fs::path& file) {
  for (std::size_t at = text.find(copy.string()); at != std::string::npos; at = text.find(copy.string(), at)) {
    text.replace(at, copy.string().size(), file.filename().string());
    at += file.filename().string().size();
  }
  return text;
}

// <sha256>.so, or the partial copy of a killed process: <sha256>.so.XXXXXX.
bool is_copy(std::string_view name) {
  constexpr std::size_t kDigits = 64;
  constexpr std::string_view kEnding = ".so";
  constexpr std::size_t kDraftEnding = 7;
  if (name.size() < kDigits + kEnding.size() || name.substr(kDigits, kEnding.size()) != kEnding) return false;
  if (name.substr(0, kDigits).find_first_not_of("0123456789abcdef") != std::string_view::npos) return false;
  const std::string_view rest = name.substr(kDigits + kEnding.size());
  return rest.empty() || (rest.size() == kDraftEnding && rest[0] == '.');
}

bool remove_unused(const fs::path& copy) {
  const int fd = ::open(copy.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat info;
  const bool unused = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && ::flock(fd, LOCK_EX | LOCK_NB) == 0;
  const bool removed = unused && ::unlink(copy.c_str()) == 0;
  ::close(fd);
  return removed;
}

}  // namespace

std::size_t prune_copies(const fs::path& private_folder) {
  std::error_code ignored;
  std::size_t removed = 0;
  std::vector<fs::path> copies;
  for (fs::directory_iterator at(private_folder, ignored), end; !ignored && at != end; at.increment(ignored)) {
    if (is_copy(at->path().filename().string())) copies.push_back(at->path());
  }
  for (const fs::path& copy : copies) removed += remove_unused(copy) ? 1 : 0;
  return removed;
}

Result<LoadedLibrary> load_library(const LibraryFile& file, const fs::path& private_folder) {
  Registry& all = registry();
  const MutexLock lock(all.mutex);
  if (const auto known = all.by_sha256.find(file.sha256); known != all.by_sha256.end()) return known->second.library;
  Result<Copy> copy = copy_of(file, private_folder);
  if (!copy.ok()) return std::move(copy.error());
  try {
    dll::shared_library handle(copy->path, dll::load_mode::rtld_now | dll::load_mode::rtld_local);
    const LoadedLibrary library = look_for_entry(handle);
    all.by_sha256.emplace(file.sha256, Registered{std::move(handle), library});
    return library;
  } catch (const std::exception& fault) {
    ::close(copy->descriptor);
    return refusal(file.file, "the loader reports: " + with_original_name(loader_message(fault.what()), copy->path, file.file) +
                                  ". Build it against the libraries of this machine.");
  }
}

}  // namespace runwarden::detect
