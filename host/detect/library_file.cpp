#include "detect/library_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "base/digest.h"

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

// Who may change it: root, the service's user, nobody else.
std::string owner_fault(const struct stat& info, const std::string& what) {
  if (info.st_uid != 0 && info.st_uid != ::geteuid()) {
    return what + " belongs to user " + std::to_string(info.st_uid) + ". It must belong to root or to the service's user (" +
           std::to_string(::geteuid()) + "): chown it.";
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  const bool others = (info.st_mode & S_IWOTH) != 0;
  return what + " is writable by " + (others ? "everybody" : "its group") + ". Run chmod go-w on it.";
}

std::string folder_fault(const Descriptor& folder, const fs::path& name) {
  struct stat info;
  if (::fstat(folder.get(), &info) != 0) return "cannot read the folder " + name.string() + ": " + why_not();
  return owner_fault(info, "the folder " + name.string());
}

// A place on the search path: the folder that is configured, and the way from it to the file.
struct Place {
  fs::path root;
  fs::path below;
};

bool steps_out(const fs::path& path) {
  for (const fs::path& part : path) {
    if (part == "..") return true;
  }
  return path.empty();
}

std::optional<Place> place_of_absolute(const fs::path& file, const std::vector<std::string>& search_path) {
  std::error_code fault;
  const fs::path folder = fs::canonical(file.parent_path(), fault);
  if (fault) return std::nullopt;
  for (const std::string& configured : search_path) {
    const fs::path root = fs::canonical(configured, fault);
    if (fault) continue;
    const fs::path below = (folder / file.filename()).lexically_relative(root);
    if (!steps_out(below)) return Place{root, below};
  }
  return std::nullopt;
}

std::optional<Place> place_of_name(const fs::path& name, const std::vector<std::string>& search_path) {
  for (const std::string& configured : search_path) {
    std::error_code fault;
    const fs::path root = fs::canonical(configured, fault);
    struct stat info;
    if (!fault && ::lstat((root / name).c_str(), &info) == 0) return Place{root, name};
  }
  return std::nullopt;
}

// The file, opened folder by folder without following a link; or what is wrong.
Result<Descriptor> open_place(const Place& place) {
  const auto bad = [](std::string why) { return Error{Code::validation_failed, std::move(why), {}, {}}; };
  fs::path name = place.root;
  Descriptor folder(::open(name.c_str(), O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_RDONLY));
  for (const fs::path& part : place.below.parent_path()) {
    if (!folder.good()) break;
    if (std::string fault = folder_fault(folder, name); !fault.empty()) return bad(fault);
    name /= part;
    folder = Descriptor(::openat(folder.get(), part.c_str(), O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_RDONLY));
  }
  if (!folder.good()) return bad("cannot open the folder " + name.string() + ": " + why_not() + ".");
  if (std::string fault = folder_fault(folder, name); !fault.empty()) return bad(fault);
  const std::string file = place.below.filename().string();
  Descriptor opened(::openat(folder.get(), file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!opened.good() && errno == ELOOP) return bad("is a symbolic link. Put the library itself into " + name.string() + ".");
  if (!opened.good()) return bad("cannot be opened: " + why_not() + ".");
  struct stat info;
  if (::fstat(opened.get(), &info) != 0) return bad("cannot be read: " + why_not() + ".");
  if (!S_ISREG(info.st_mode)) return bad("is no regular file.");
  if (std::string fault = owner_fault(info, "the file"); !fault.empty()) return bad(fault);
  return opened;
}

Result<LibraryFile> read_bytes(const fs::path& file, const Descriptor& opened) {
  struct stat info;
  if (::fstat(opened.get(), &info) != 0) return refusal(file, "cannot be read: " + why_not() + ".");
  if (!S_ISREG(info.st_mode)) return refusal(file, "is no regular file.");
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

Result<Place> place_of(const fs::path& library, const std::vector<std::string>& search_path) {
  if (library.is_absolute()) {
    if (auto place = place_of_absolute(library, search_path)) return *std::move(place);
    std::error_code fault;
    if (!fs::exists(fs::symlink_status(library, fault)))
      return refusal(library, "not found at " + library.string() + ". Install it there.");
    return refusal(library, library.string() + " lies outside of " + joined(search_path) +
                                ". Move it into one of these folders, or add its own to detectors.search_path.");
  }
  if (steps_out(library.lexically_normal())) {
    return refusal(library,
                   "\"" + library.string() + "\" leads out of detectors.search_path. Give a file name, or an absolute path inside of it.");
  }
  if (auto place = place_of_name(library, search_path)) return *std::move(place);
  return refusal(library, "not found in " + joined(search_path) + ". Install it there, or add its folder to detectors.search_path.");
}

}  // namespace

Error refusal(const fs::path& file, const std::string& why) {
  return {Code::validation_failed, file.filename().string() + ": refused: " + why, {}, {}};
}

Result<LibraryFile> find_library(const std::string& library, const std::vector<std::string>& search_path) {
  Result<Place> place = place_of(library, search_path);
  if (!place.ok()) return std::move(place.error());
  const fs::path file = place->root / place->below;
  Result<Descriptor> opened = open_place(*place);
  if (!opened.ok()) return refusal(file, opened.error().detail);
  return read_bytes(file, *opened);
}

Result<LibraryFile> read_library(const fs::path& file) {
  const Descriptor opened(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!opened.good()) return refusal(file, "cannot be opened: " + why_not() + ".");
  return read_bytes(file, opened);
}

std::string place_fault(const fs::path& file, const std::vector<std::string>& search_path) {
  std::error_code fault;
  const fs::path absolute = fs::absolute(file, fault).lexically_normal();
  std::vector<std::string> folders = search_path;
  if (folders.empty()) folders.push_back(absolute.parent_path().string());
  Result<Place> place = place_of(absolute, folders);
  if (!place.ok()) return place.error().detail.substr(refusal(absolute, {}).detail.size());  // without "loop.so: refused: "
  Result<Descriptor> opened = open_place(*place);
  return opened.ok() ? std::string() : opened.error().detail;
}

}  // namespace runwarden::detect
