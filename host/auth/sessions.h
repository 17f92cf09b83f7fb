// Sessions of the web page. Each represents an API key for twelve hours, or until the session or its key ends. Any thread.
//
// A session is a sealed text that the browser keeps in a cookie; this class stores only the sessions that were ended early. The seal proves
// who made it, not that the key is still valid: callers must look up the key.
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
  std::string csrf;    // token that changing requests must send; derived from the rest
};

class Sessions {
 public:
  // Beyond this number, the oldest ended sessions are dropped, and all sessions issued up to then are refused.
  static constexpr std::size_t kMaxEnded = 100'000;

  // `secret`: 32 bytes that only this service knows. `ended_file` stores ended sessions; open() reads it and removes those that have
  // expired. The clock outlives the object.
  static Result<std::unique_ptr<Sessions>> open(std::string secret, std::filesystem::path ended_file, const Clock& clock);
  ~Sessions();
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;

  // Creates a session for that key.
  Result<Session> begin(std::string key_id) const;
  // The value of the cookie: visible ASCII without quotes, commas, semicolons or spaces.
  std::string seal(const Session& session) const;
  // Empty for a text that seal() did not make, and for a session that has expired or was ended.
  std::optional<Session> find(std::string_view sealed) const;

  // Refuses that session from now on. Blocks until this is on disk; `unavailable` if it cannot be written: then it lasts until a restart.
  Status end(const Session& session);

 private:
  Sessions(std::string secret, std::filesystem::path ended_file, const Clock& clock);
  Status read_ended();
  bool rewrite() RW_REQUIRES(mutex_);
  void remember(std::int64_t issued_ms, std::string number) RW_REQUIRES(mutex_);
  std::string mac(std::string_view purpose, std::string_view text) const;

  const std::string secret_;
  const std::filesystem::path ended_file_;
  const Clock& clock_;
  mutable Mutex mutex_;
  int file_ RW_GUARDED_BY(mutex_) = -1;
  std::set<std::pair<std::int64_t, std::string>> ended_ RW_GUARDED_BY(mutex_);  // issued, number
  std::int64_t all_until_ms_ RW_GUARDED_BY(mutex_) = -1;                        // sessions issued up to this time are refused
};

}  // namespace runwarden::auth
