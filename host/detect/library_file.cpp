#include "detect/library_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "base/digest.h"
#include "base/nearest_names.h"

namespace runwarden::detect {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxBytes = std::uint64_t{256} << 20;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }
  bool good() const { return fd_ >= 0; }

 private:
  int fd_;
};

std::string why_not() {
  return std::strerror(errno);
}

std::string joined(const std::vector<std::string>& folders) {
  std::string out;
  for (const std::string& folder : folders) out += (out.empty() ? "" : ", ") + folder;
  return out.empty() ? "detectors.search_path (which is empty)" : out;
}

// Only root and the service's user may own or change it.
std::string owner_fault(const struct stat& info, const std::string& what) {
  if (info.st_uid != 0 && info.st_uid != ::geteuid()) {
    return what + " belongs to user " + std::to_string(info.st_uid) + ". It must belong to root or to the service's user (" +
           std::to_string(::geteuid()) + "): chown it.";
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  const bool others = (info.st_mode & S_IWOTH) != 0;
  return what + " is writable by " + (others ? "everyone" : "its group") + ". Run chmod go-w on it.";
}

std::string folder_fault(const Descriptor& folder, const fs::path& name) {
  struct stat info;
  if (::fstat(folder.get(), &info) != 0) return "cannot read the folder " + name.string() + ": " + why_not();
  return owner_fault(info, "the folder " + name.string());
}

// A path inside the search path: the configured folder and the path of the file relative to it.
struct SearchPathEntry {
  fs::path root;
  fs::path relative;
};

bool leaves_root(const fs::path& path) {
  for (const fs::path& part : path) {
    if (part == "..") return true;
  }
  return path.empty();
}

std::optional<SearchPathEntry> entry_of_absolute(const fs::path& file, const std::vector<std::string>& search_path) {
  std::error_code fault;
  const fs::path folder = fs::canonical(file.parent_path(), fault);
  if (fault) return std::nullopt;
  for (const std::string& configured : search_path) {
    const fs::path root = fs::canonical(configured, fault);
    if (fault) continue;
    const fs::path relative = (folder / file.filename()).lexically_relative(root);
    if (!leaves_root(relative)) return SearchPathEntry{root, relative};
  }
  return std::nullopt;
}

// The libraries right inside the folders, for a hint.
std::vector<std::string> libraries_in(const std::vector<std::string>& search_path) {
  constexpr std::size_t kMost = 256;
  std::vector<std::string> names;
  for (const std::string& configured : search_path) {
    std::error_code fault;
    for (fs::directory_iterator file(configured, fault), end; !fault && file != end && names.size() < kMost; file.increment(fault)) {
      if (file->path().extension() == ".so") names.push_back(file->path().filename().string());
    }
  }
  return names;
}

std::optional<SearchPathEntry> entry_of_name(const fs::path& name, const std::vector<std::string>& search_path) {
  for (const std::string& configured : search_path) {
    std::error_code fault;
    const fs::path root = fs::canonical(configured, fault);
    struct stat info;
    if (!fault && ::lstat((root / name).c_str(), &info) == 0) return SearchPathEntry{root, name};
  }
  return std::nullopt;
}

// Opens the file folder by folder without following links.
Result<Descriptor> open_entry(const SearchPathEntry& entry) {
  const auto bad = [](std::string why) { return Error{Code::validation_failed, std::move(why), {}, {}}; };
  fs::path name = entry.root;
  Descriptor folder(::open(name.c_str(), O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_RDONLY));
  for (const fs::path& part : entry.relative.parent_path()) {
    if (!folder.good()) break;
    if (std::string fault = folder_fault(folder, name); !fault.empty()) return bad(fault);
    name /= part;
    folder = Descriptor(::openat(folder.get(), part.c_str(), O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_RDONLY));
  }
  if (!folder.good()) return bad("cannot open the folder " + name.string() + ": " + why_not() + ".");
  if (std::string fault = folder_fault(folder, name); !fault.empty()) return bad(fault);
  const std::string file = entry.relative.filename().string();
  Descriptor opened(::openat(folder.get(), file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!opened.good() && errno == ELOOP) return bad("is a symbolic link. Put the library itself into " + name.string() + ".");
  if (!opened.good()) return bad("cannot be opened: " + why_not() + ".");
  struct stat info;
  if (::fstat(opened.get(), &info) != 0) return bad("cannot be read: " + why_not() + ".");
  if (!S_ISREG(info.st_mode)) return bad("is not a regular file.");
  if (std::string fault = owner_fault(info, "the file"); !fault.empty()) return bad(fault);
  return opened;
}

Result<LibraryFile> read_bytes(const fs::path& file, const Descriptor& opened) {
  struct stat info;
  if (::fstat(opened.get(), &info) != 0) return refusal(file, "cannot be read: " + why_not() + ".");
  if (!S_ISREG(info.st_mode)) return refusal(file, "is not a regular file.");
  if (static_cast<std::uint64_t>(info.st_size) > kMaxBytes) {
    return refusal(file, "has " + std::to_string(info.st_size) + " bytes, the limit is " + std::to_string(kMaxBytes) + ". Strip it.");
  }
  LibraryFile library{file, {}, {}};
  library.bytes.resize(static_cast<std::size_t>(info.st_size));
  std::size_t done = 0;
  while (done < library.bytes.size()) {
    const ssize_t got = ::read(opened.get(), library.bytes.data() + done, library.bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refusal(file, "cannot be read: " + why_not() + ".");
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  library.bytes.resize(done);
  library.sha256 = to_hex(sha256(library.bytes));
  return library;
}

Result<SearchPathEntry> entry_of(const fs::path& library, const std::vector<std::string>& search_path) {
  if (library.is_absolute()) {
    if (auto entry = entry_of_absolute(library, search_path)) return *std::move(entry);
    std::error_code fault;
    if (!fs::exists(fs::symlink_status(library, fault)))
      return refusal(library, "not found at " + library.string() + ". Install it there.");
    return refusal(library, library.string() + " is outside " + joined(search_path) +
                                ". Move it into one of these folders, or add its own to detectors.search_path.");
  }
  if (leaves_root(library.lexically_normal())) {
    return refusal(library, "\"" + library.string() + "\" leaves detectors.search_path. Give a file name, or an absolute path inside it.");
  }
  if (auto entry = entry_of_name(library, search_path)) return *std::move(entry);
  const std::string likely = likely_name(library.string(), libraries_in(search_path));
  return refusal(library, "not found in " + joined(search_path) + (likely.empty() ? "" : ", where there is " + likely) +
                              ". Install it there, or add its folder to detectors.search_path.");
}

}  // namespace

Error refusal(const fs::path& file, const std::string& why) {
  return {Code::validation_failed, file.filename().string() + ": refused: " + why, {}, {}};
}

Result<LibraryFile> find_library(const std::string& library, const std::vector<std::string>& search_path) {
  Result<SearchPathEntry> entry = entry_of(library, search_path);
  if (!entry.ok()) return std::move(entry.error());
  const fs::path file = entry->root / entry->relative;
  Result<Descriptor> opened = open_entry(*entry);
  if (!opened.ok()) return refusal(file, opened.error().detail);
  return read_bytes(file, *opened);
}

Result<LibraryFile> read_library(const fs::path& file) {
  const Descriptor opened(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!opened.good()) {
    const bool is_key = errno == ENOENT && file.extension() != ".so";
    return refusal(file, "cannot be opened: " + why_not() + "." + (is_key ? " `runwarden detectors list` shows where libraries are." : ""));
  }
  return read_bytes(file, opened);
}

std::string location_fault(const fs::path& file, const std::vector<std::string>& search_path) {
  std::error_code fault;
  const fs::path absolute = fs::absolute(file, fault).lexically_normal();
  std::vector<std::string> folders = search_path;
  if (folders.empty()) folders.push_back(absolute.parent_path().string());
  Result<SearchPathEntry> entry = entry_of(absolute, folders);
  if (!entry.ok()) return entry.error().detail.substr(refusal(absolute, {}).detail.size());  // without "loop.so: refused: "
  Result<Descriptor> opened = open_entry(*entry);
  return opened.ok() ? std::string() : opened.error().detail;
}

}  // namespace runwarden::detect
