// Values that many tests use.
#pragma once

#include <cstdint>

#include "model/record_key.h"

namespace runwarden {

inline constexpr model::TenantId kTenant = 1;
inline constexpr model::TenantId kOther = 2;

// In milliseconds.
inline constexpr std::int64_t kSecond = 1000;
inline constexpr std::int64_t kMinute = 60 * kSecond;
inline constexpr std::int64_t kHour = 60 * kMinute;
inline constexpr std::int64_t kDay = 24 * kHour;

inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

}  // namespace runwarden
