// Sessions of the page: each stands for an API key, for twelve hours, until it is ended or its key is. Any thread.
//
// A session is a sealed text that the browser keeps in a cookie; nothing is kept here but the sessions that were ended before their
// time. The seal says who made it, never whether the key still counts: whoever takes a session looks its key up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"

namespace runwarden::auth {

constexpr std::int64_t kSessionMs = 12LL * 3600 * 1000;

struct Session {
  std::string key_id;
  std::int64_t issued_ms = 0;
  std::string number;  // 32 lower-case hexadecimal digits, unique
  std::string csrf;    // what a request that changes something must repeat; follows from the rest
};

class Sessions {
 public:
  // Ended sessions beyond this many make every session refused that is older than the youngest one forgotten.
  static constexpr std::size_t kMaxEnded = 100'000;

  // `secret`: 32 bytes that only this service knows. `ended_file`: where ended sessions are written down; it is read, and shortened to
  // those that would still last. The clock outlives it.
  static Result<std::unique_ptr<Sessions>> open(std::string secret, std::filesystem::path ended_file, const Clock& clock);
  ~Sessions();
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;

  // A new session of that key.
  Result<Session> begin(std::string key_id) const;
  // What the cookie holds: visible ASCII without quotes, commas, semicolons or spaces.
  std::string seal(const Session& session) const;
  // Nothing for a text that seal() did not make, and for a session that is over or was ended.
  std::optional<Session> find(std::string_view sealed) const;

  // Refuses that session from now on. Blocks until that is on disk; `unavailable` where it cannot be: then it holds until the next start.
  Status end(const Session& session);

 private:
  Sessions(std::string secret, std::filesystem::path ended_file, const Clock& clock);
  Status read_ended();
  bool write_anew() RW_REQUIRES(mutex_);
  void remember(std::int64_t issued_ms, std::string number) RW_REQUIRES(mutex_);
  std::string mac(std::string_view purpose, std::string_view text) const;

  const std::string secret_;
  const std::filesystem::path ended_file_;
  const Clock& clock_;
  mutable Mutex mutex_;
  int file_ RW_GUARDED_BY(mutex_) = -1;
  std::set<std::pair<std::int64_t, std::string>> ended_ RW_GUARDED_BY(mutex_);  // issued, number
  std::int64_t all_until_ms_ RW_GUARDED_BY(mutex_) = -1;                        // sessions issued up to then are refused
};

}  // namespace runwarden::auth
