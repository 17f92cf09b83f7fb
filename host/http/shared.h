// Shared by the workers of a server: counters (any thread), charges and request ids (one worker each).
#pragma once

#include <atomic>
#include <cstdint>
#include <random>
#include <string>

namespace runwarden::http {

struct Counters {
  std::atomic<std::uint64_t> open{0}, accepted{0}, accept_pauses{0}, framing_errors{0}, timeouts{0}, answers_dropped{0};
  std::atomic<std::uint64_t> body_bytes{0};  // buffered for bodies being received
};

// One request's part of a sum that all requests share; released on destruction. [worker]
class Charge {
 public:
  Charge(std::atomic<std::uint64_t>& sum, std::uint64_t limit) : sum_(sum), limit_(limit) {}
  ~Charge() { set(0); }
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;

  // False, without effect, if an increase would exceed the limit.
  bool set(std::uint64_t amount) {
    if (amount == held_) return true;
    if (amount < held_) {
      sum_.fetch_sub(held_ - amount, std::memory_order_relaxed);
    } else if (sum_.fetch_add(amount - held_, std::memory_order_relaxed) + (amount - held_) > limit_) {
      sum_.fetch_sub(amount - held_, std::memory_order_relaxed);
      return false;
    }
    held_ = amount;
    return true;
  }

 private:
  std::atomic<std::uint64_t>& sum_;
  std::uint64_t limit_;
  std::uint64_t held_ = 0;
};

// "req_" and 24 hexadecimal digits. Unique for all practical purposes; not a secret.
class RequestIds {
 public:
  RequestIds() : random_(seed()) {}
  std::string fresh() {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string id = "req_";
    id.reserve(28);
    for (std::uint64_t i = 0, bits = 0; i < 24; ++i, bits >>= 4) {
      if (i % 16 == 0) bits = random_();
      id += kDigits[bits & 15];
    }
    return id;
  }

 private:
  static std::uint64_t seed() {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device();
  }
  std::mt19937_64 random_;
};

}  // namespace runwarden::http
