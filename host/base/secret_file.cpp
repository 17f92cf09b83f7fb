#include "base/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/open_fault.h"

namespace runwarden {
namespace {

constexpr std::size_t kLongestSecret = 4096;

Error fault(const std::string& why) {
  return Error{Code::validation_failed, why, {}, {}};
}

}  // namespace

Result<std::string> read_secret_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (file < 0) return fault("cannot read \"" + path + "\": " + open_fault(path, errno, OpenFor::reading));
  struct stat info {};
  std::array<char, kLongestSecret + 1> bytes{};
  const bool known = ::fstat(file, &info) == 0;
  const ssize_t size = known && S_ISREG(info.st_mode) ? ::read(file, bytes.data(), bytes.size()) : -1;
  ::close(file);
  if (!known || !S_ISREG(info.st_mode) || size < 0) return fault("\"" + path + "\" is not a readable file");
  const mode_t bits = info.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
  const bool mounted = info.st_uid == 0 && bits == (S_IRUSR | S_IRGRP);
  if ((bits & (S_IRWXG | S_IRWXO)) != 0 && !mounted) return fault("\"" + path + "\" is readable by other users; run chmod 0600 on it");
  if (size > static_cast<ssize_t>(kLongestSecret)) {
    return fault("\"" + path + "\" is longer than " + std::to_string(kLongestSecret) + " bytes; it must contain only the secret");
  }
  std::string secret(bytes.data(), static_cast<std::size_t>(size));
  while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
  if (secret.empty()) return fault("\"" + path + "\" is empty");
  return secret;
}

}  // namespace runwarden
