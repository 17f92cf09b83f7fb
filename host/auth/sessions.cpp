#include "auth/sessions.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <utility>

#include "base/hex.h"
#include "base/open_fault.h"

namespace runwarden::auth {
namespace {

constexpr std::size_t kNumberBytes = 16;
constexpr std::size_t kMaxSealedBytes = 512;
constexpr std::int64_t kClockStepMs = 300'000;  // the wall clock may be set back this far after a session begins

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// Removes and returns the part before the next '.'; the rest begins after it.
std::string_view next_part(std::string_view& text) {
  const auto end = std::min(text.find('.'), text.size());
  const auto part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::string line_of(std::int64_t issued_ms, const std::string& number) {
  return std::to_string(issued_ms) + " " + number + "\n";
}

std::string claims_of(const Session& session) {
  return session.key_id + "." + std::to_string(session.issued_ms) + "." + session.number;
}

}  // namespace

Sessions::Sessions(std::string secret, std::filesystem::path ended_file, const Clock& clock)
    : secret_(std::move(secret)), ended_file_(std::move(ended_file)), clock_(clock) {}

Sessions::~Sessions() {
  if (file_ >= 0) ::close(file_);
}

Result<std::unique_ptr<Sessions>> Sessions::open(std::string secret, std::filesystem::path ended_file, const Clock& clock) {
  std::unique_ptr<Sessions> sessions(new Sessions(std::move(secret), std::move(ended_file), clock));
  if (Status read = sessions->read_ended(); !read.ok()) return std::move(read.error());
  return sessions;
}

// Skips a line that a crash truncated: the end of that session was never acknowledged. Keeps the old file if the new one cannot be
// written.
Status Sessions::read_ended() {
  const MutexLock lock(mutex_);
  const std::int64_t now_ms = clock_.wall_ms();
  bool over = false;
  {
    std::ifstream in(ended_file_);
    for (std::string line; std::getline(in, line);) {
      const auto space = std::min(line.find(' '), line.size());
      const auto issued_ms = whole_number(std::string_view(line).substr(0, space));
      const bool lasts = issued_ms && line.size() == space + 1 + 2 * kNumberBytes && now_ms - *issued_ms < kSessionMs;
      if (lasts) remember(*issued_ms, line.substr(space + 1));
      over = over || !lasts;
    }
  }
  if (over && rewrite()) return Nothing{};
  file_ = ::open(ended_file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file_ >= 0) return Nothing{};
  return Error{
      Code::internal, "cannot open \"" + ended_file_.string() + "\": " + open_fault(ended_file_, errno, OpenFor::writing), {}, {}};
}

bool Sessions::rewrite() {
  std::filesystem::path fresh = ended_file_;
  fresh += ".new";
  file_ = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  std::string text;
  for (const auto& [issued_ms, number] : ended_) text += line_of(issued_ms, number);
  const bool written = file_ >= 0 && ::write(file_, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(file_) == 0 &&
                       ::rename(fresh.c_str(), ended_file_.c_str()) == 0;
  if (written || file_ < 0) return written;
  ::close(std::exchange(file_, -1));
  ::unlink(fresh.c_str());
  return false;
}

void Sessions::remember(std::int64_t issued_ms, std::string number) {
  ended_.emplace(issued_ms, std::move(number));
  while (ended_.size() > kMaxEnded) {
    all_until_ms_ = std::max(all_until_ms_, ended_.begin()->first);
    ended_.erase(ended_.begin());
  }
}

std::string Sessions::mac(std::string_view purpose, std::string_view text) const {
  std::string message(purpose);
  message.append("\n").append(text);
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()), reinterpret_cast<const unsigned char*>(message.data()),
       message.size(), bytes.data(), &size);
  return bytes_to_hex({reinterpret_cast<const char*>(bytes.data()), size});
}

Result<Session> Sessions::begin(std::string key_id) const {
  std::string number(kNumberBytes, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(number.data()), static_cast<int>(number.size())) != 1) {
    return Error{Code::internal, "cannot create a session: the system returned no random bytes", {}, {}};
  }
  Session session{std::move(key_id), clock_.wall_ms(), bytes_to_hex(number), {}};
  session.csrf = mac("csrf", claims_of(session));
  return session;
}

std::string Sessions::seal(const Session& session) const {
  const std::string claims = claims_of(session);
  return claims + "." + mac("session", claims);
}

std::optional<Session> Sessions::find(std::string_view sealed) const {
  if (sealed.size() > kMaxSealedBytes) return std::nullopt;
  std::string_view rest = sealed;
  Session session;
  session.key_id = next_part(rest);
  const auto issued_ms = whole_number(next_part(rest));
  session.number = next_part(rest);
  if (!issued_ms) return std::nullopt;
  session.issued_ms = *issued_ms;
  const std::string claims = claims_of(session);
  const std::string wanted = mac("session", claims);
  if (rest.size() != wanted.size() || CRYPTO_memcmp(wanted.data(), rest.data(), wanted.size()) != 0) return std::nullopt;
  const std::int64_t age_ms = clock_.wall_ms() - session.issued_ms;
  if (age_ms >= kSessionMs || age_ms < -kClockStepMs) return std::nullopt;
  session.csrf = mac("csrf", claims);
  const MutexLock lock(mutex_);
  if (session.issued_ms <= all_until_ms_ || ended_.count({session.issued_ms, session.number}) > 0) return std::nullopt;
  return session;
}

Status Sessions::end(const Session& session) {
  const std::string line = line_of(session.issued_ms, session.number);
  const MutexLock lock(mutex_);
  const std::int64_t now_ms = clock_.wall_ms();
  while (!ended_.empty() && now_ms - ended_.begin()->first >= kSessionMs) ended_.erase(ended_.begin());
  remember(session.issued_ms, session.number);
  if (::write(file_, line.data(), line.size()) == static_cast<ssize_t>(line.size()) && ::fdatasync(file_) == 0) return Nothing{};
  return Error{Code::unavailable,
               "the session has ended, but writing that to \"" + ended_file_.string() + "\" failed: it is valid again after the next start",
               {},
               {}};
}

}  // namespace runwarden::auth
