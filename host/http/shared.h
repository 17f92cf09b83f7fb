// What the workers of one server share or need alike: counters (any thread) and fresh request ids (one worker each).
#pragma once

#include <atomic>
#include <cstdint>
#include <random>
#include <string>

namespace runwarden::http {

struct Counters {
  std::atomic<std::uint64_t> open{0}, accepted{0}, accept_pauses{0}, framing_errors{0}, timeouts{0}, answers_dropped{0};
};

// "req_" and 24 hexadecimal digits. Unique for all practical purposes; no secret.
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
