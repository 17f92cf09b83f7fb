// The envelope of every value in the store: a version, checksums, and a body that may be compressed. Pure; any thread.
//
// A value has a head, which lists and filters read, and may have a body, which only readers of the whole record decode. The checksums also
// cover the key, so a value under the wrong key is detected.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace runwarden::store {

// A stored value is damaged or malformed. The text says what is wrong; the caller adds where.
struct BadValue : std::runtime_error {
  using std::runtime_error::runtime_error;
};

constexpr std::uint8_t kEnvelopeVersion = 1;

std::string seal(std::string_view key, std::string_view head);
std::string seal(std::string_view key, std::string_view head, std::string_view body);

// The same value, sealed for another key. Throws BadValue if it was not sealed for `key`.
std::string seal_again(std::string_view key, std::string_view value, std::string_view new_key);

// The head: a view into the value. Throws BadValue.
std::string_view open_head(std::string_view key, std::string_view value);
// The body, decompressed; empty if there is none. Throws BadValue.
std::string open_body(std::string_view key, std::string_view value);
// The length of the decompressed body, without reading it. Throws BadValue.
std::uint64_t body_bytes(std::string_view key, std::string_view value);

}  // namespace runwarden::store
