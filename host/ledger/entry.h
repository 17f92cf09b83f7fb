// One entry of a ledger: what it commits to, and its hashes. Pure, except for make_salt(). Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/digest.h"

namespace runwarden::ledger {

using Hash = Digest256;

// Stored values: do not change them.
enum class Kind : std::uint8_t { start, run, change, policy, triage, purge, expiry, key };
constexpr Kind kLastKind = Kind::key;
const char* name(Kind kind);
std::optional<Kind> kind_named(std::string_view name);

constexpr std::size_t kSaltBytes = 16;
using Salt = std::array<std::uint8_t, kSaltBytes>;

// Random bytes from the system. Throws std::runtime_error if it has none.
Salt make_salt();
std::string to_hex(const Salt& salt);

// The part of an entry that is kept forever. Without the salt it reveals nothing about the content.
struct Entry {
  std::int64_t at_ms = 0;
  Kind kind = Kind::run;
  Hash commit{};  // SHA-256 of salt and body
};

Hash commit_to(const Salt& salt, std::string_view body);
// SHA-256 of 0x00, then time, kind and commit as text, each with a line end.
Hash leaf_of(const Entry& entry);

}  // namespace runwarden::ledger
