// What surrounds every value in the store: a version, checksums, and a body that may be compressed. Pure; any thread.
//
// A value has a head, which lists and filters read, and may have a body, which only those who want the whole record pay for.
// The checksums cover the key as well: a value that turns up under another key is found out.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace runwarden::store {

// A value that does not say what was written. The text says what is wrong with it; who looked it up adds where it was.
struct BadValue : std::runtime_error {
  using std::runtime_error::runtime_error;
};

constexpr std::uint8_t kEnvelopeVersion = 1;

std::string seal(std::string_view key, std::string_view head);
std::string seal(std::string_view key, std::string_view head, std::string_view body);

// The same value for another key. Throws BadValue if it was not sealed for the first.
std::string seal_again(std::string_view key, std::string_view value, std::string_view new_key);

// The head: a view into the value. Throws BadValue.
std::string_view open_head(std::string_view key, std::string_view value);
// The body, decompressed; empty if there is none. Throws BadValue.
std::string open_body(std::string_view key, std::string_view value);
// How long the body is once it is decompressed; reads none of it. Throws BadValue.
std::uint64_t body_bytes(std::string_view key, std::string_view value);

}  // namespace runwarden::store
