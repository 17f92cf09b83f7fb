#include "base/open_fault.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/user_name.h"

namespace runwarden {
namespace {

namespace fs = std::filesystem;

std::string quoted(const fs::path& path) {
  return "\"" + path.string() + "\"";
}

fs::path normal(const fs::path& path) {
  std::error_code fault;
  fs::path whole = fs::absolute(path, fault).lexically_normal();
  return fault ? path : whole.has_filename() ? whole : whole.parent_path();
}

// The first part of the path that exists and is not a folder, although more of the path follows.
std::optional<fs::path> file_on_the_way(const fs::path& path) {
  fs::path part;
  std::error_code ignored;
  for (const fs::path& name : path.parent_path()) {
    part /= name;
    if (fs::exists(part, ignored) && !fs::is_directory(part, ignored)) return part;
  }
  return std::nullopt;
}

// The first folder that this user may not enter, or else the last existing part.
fs::path closed_part(const fs::path& path) {
  fs::path part, last;
  for (const fs::path& name : path) {
    part /= name;
    struct stat found {};
    if (::stat(part.c_str(), &found) != 0) break;
    last = part;
    if (S_ISDIR(found.st_mode) && ::faccessat(AT_FDCWD, part.c_str(), X_OK, AT_EACCESS) != 0) break;
  }
  return last;
}

std::string permission_fault(const fs::path& path, int code) {
  const uid_t self = ::geteuid();
  const fs::path closed = closed_part(path);
  struct stat found {};
  if (self == 0 || ::stat(closed.c_str(), &found) != 0) return std::strerror(code);  // not a matter of permissions for root
  std::array<char, 8> mode{};
  std::snprintf(mode.data(), mode.size(), "%04o", static_cast<unsigned>(found.st_mode & 07777));
  const std::string what = "user " + user_name(self) + " has no permission: " + quoted(closed) + " ";
  if (found.st_uid == self) return what + "has mode " + mode.data() + "; change it with chmod";
  const std::string owner = user_name(found.st_uid);
  return what + "belongs to " + owner + ", mode " + mode.data() + "; run this as " + owner + ", or change the owner";
}

std::string missing_fault(const fs::path& path, OpenFor purpose) {
  std::error_code ignored;
  const fs::path parent = path.parent_path();
  const bool for_reading = purpose == OpenFor::reading;
  if (!fs::exists(parent, ignored)) {
    return "the folder " + quoted(parent) + " does not exist; " + (for_reading ? "check the path" : "create it, or check the path");
  }
  return for_reading ? "it does not exist; check the path" : "cannot create anything in " + quoted(parent) + "; choose another location";
}

}  // namespace

std::string open_fault(const fs::path& named, int code, OpenFor purpose) {
  const fs::path path = normal(named);
  switch (code) {
    case ENOENT: return missing_fault(path, purpose);
    case EEXIST:
    case ENOTDIR:
      return quoted(file_on_the_way(path / "x").value_or(path)) + " is a file, not a folder; name a folder, or move the file away";
    case EISDIR: return "it is a folder, not a file; name a file";
    case ELOOP: return "it is a symbolic link, which is not followed here; name its target";
    case EROFS: return "it is on a read-only file system; make that writable, or choose another location";
    case EACCES:
    case EPERM: return permission_fault(path, code);
    case ENOSPC:
    case EDQUOT: return std::string(std::strerror(code)) + "; free some space on that disk";
    case EFBIG: return std::string(std::strerror(code)) + "; raise LimitFSIZE= (ulimit -f)";
    case EMFILE:
    case ENFILE: return std::string(std::strerror(code)) + "; raise LimitNOFILE= (ulimit -n)";
    default: return std::strerror(code);
  }
}

}  // namespace runwarden
