#include "store/lmdb/secret_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/open_fault.h"

namespace runwarden::store {
namespace {

constexpr std::size_t kSecretBytes = 32;

bool write_random(int file, std::string& secret) {
  if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size())) return false;
  return ::write(file, secret.data(), secret.size()) == static_cast<ssize_t>(secret.size()) && ::fsync(file) == 0;
}

}  // namespace

Result<std::string> read_or_make_secret(const std::filesystem::path& path) {
  const auto fault = [&path](std::string_view what, int code) {
    return Error{
        Code::internal, "cannot " + std::string(what) + " \"" + path.string() + "\": " + open_fault(path, code, OpenFor::writing), {}, {}};
  };
  std::string secret(kSecretBytes, '\0');
  const int made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made >= 0) {
    const bool written = write_random(made, secret);
    const int code = errno;
    ::close(made);
    if (written) return secret;
    ::unlink(path.c_str());
    return fault("write", code);
  }
  const int there = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (there < 0) return fault("open", errno);
  const ssize_t got = ::read(there, secret.data(), secret.size());
  ::close(there);
  if (got == static_cast<ssize_t>(secret.size())) return secret;
  if (::unlink(path.c_str()) != 0) return fault("replace", errno);
  return read_or_make_secret(path);
}

}  // namespace runwarden::store
