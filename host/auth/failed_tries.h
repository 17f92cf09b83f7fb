// Counts failed logins by address. After kMaxTries failures in a window, refuses further tries until the window has passed. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"

namespace runwarden::auth {

class FailedTries {
 public:
  static constexpr int kMaxTries = 10;
  static constexpr std::int64_t kWindowNs = 60'000'000'000;
  static constexpr std::size_t kMaxAddresses = 10'000;  // beyond it, the address whose window began first is dropped

  explicit FailedTries(const Clock& clock) : clock_(clock) {}  // the clock outlives it

  // The seconds (at least 1) until that address may try again; empty if it may try.
  std::optional<int> wait_s(const std::string& address);
  void failed(const std::string& address);

 private:
  struct Window {
    std::int64_t began_ns = 0;
    int tries = 0;
  };

  // An IPv6 client owns its whole /64 network.
  static std::string network_of(const std::string& address);

  const Clock& clock_;
  Mutex mutex_;
  std::map<std::string, Window> windows_ RW_GUARDED_BY(mutex_);
};

}  // namespace runwarden::auth
