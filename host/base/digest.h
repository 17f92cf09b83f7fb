// SHA-256 (FIPS 180-4), by OpenSSL. Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace runwarden {

using Digest256 = std::array<std::uint8_t, 32>;

Digest256 sha256(std::string_view bytes);

// The same for bytes that arrive in pieces. One thread.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::string_view bytes);
  Digest256 so_far() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Lower-case hexadecimal.
std::string to_hex(const Digest256& digest);

}  // namespace runwarden
