#include "store/lmdb/secret_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/open_fault.h"
#include "store/lmdb/store.h"

namespace runwarden::store {
namespace {

constexpr std::size_t kSecretBytes = 32;

bool write_random(int file, std::string& secret) {
  if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size())) return false;
  return ::write(file, secret.data(), secret.size()) == static_cast<ssize_t>(secret.size()) && ::fsync(file) == 0;
}

Error fault_of(const std::filesystem::path& path, std::string_view what, int code) {
  return {
      Code::internal, "cannot " + std::string(what) + " \"" + path.string() + "\": " + open_fault(path, code, OpenFor::writing), {}, {}};
}

}  // namespace

Result<std::optional<std::string>> read_secret(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) return std::optional<std::string>();
  if (file < 0) return fault_of(path, "open", errno);
  std::string secret(kSecretBytes, '\0');
  const ssize_t got = ::read(file, secret.data(), secret.size());
  const int code = errno;
  ::close(file);
  if (got < 0) return fault_of(path, "read", code);
  return got == static_cast<ssize_t>(secret.size()) ? std::optional(std::move(secret)) : std::nullopt;
}

Result<std::string> read_or_make_secret(const std::filesystem::path& path) {
  std::string secret(kSecretBytes, '\0');
  const int made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made >= 0) {
    const bool written = write_random(made, secret);
    const int code = errno;
    ::close(made);
    if (written) return secret;
    ::unlink(path.c_str());
    return fault_of(path, "write", code);
  }
  auto there = read_secret(path);
  if (!there.ok()) return std::move(there.error());
  if (there->has_value()) return std::move(**there);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return fault_of(path, "replace", errno);
  return read_or_make_secret(path);
}

std::vector<std::string> exposed_secrets(const std::filesystem::path& folder) {
  std::vector<std::string> warnings;
  for (const char* name : {kCursorSecret, kSessionSecret, kLedgerKey, kPreviousLedgerKey, kNextLedgerKey}) {
    const std::filesystem::path path = folder / name;
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0 || (info.st_mode & (S_IRWXG | S_IRWXO)) == 0) continue;
    std::array<char, 8> mode{};
    std::snprintf(mode.data(), mode.size(), "%04o", static_cast<unsigned>(info.st_mode & 07777));
    warnings.push_back("store.path: \"" + path.string() + "\" is a secret, and its mode " + mode.data() +
                       " lets other users access it; run chmod 0600 on it");
  }
  return warnings;
}

}  // namespace runwarden::store
