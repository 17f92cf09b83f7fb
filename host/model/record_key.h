// What every record has: the tenant it belongs to, the key by which records are sorted, and digests of content. Values; any thread.
//
// Lists show the newest first. Times are UTC milliseconds since 1970.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <limits>

namespace runwarden::model {

using TenantId = std::uint32_t;
using Digest = std::array<std::uint8_t, 32>;  // SHA-256 (FIPS 180-4)

constexpr std::int64_t kNever = -1;
constexpr std::int64_t kNotExecuted = std::numeric_limits<std::int64_t>::min();

struct RecordKey {
  std::int64_t time_ms = 0;
  std::uint64_t seq = 0;  // unique in a store; grows with every start and every record
  auto operator<=>(const RecordKey&) const = default;
};

}  // namespace runwarden::model
