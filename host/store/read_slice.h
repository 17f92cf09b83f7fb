// How many runs to read at once (RunStore::runs_at) when there are many. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/run_record.h"

namespace runwarden::store {

constexpr std::size_t kMostRunsAtOnce = 64;
constexpr std::uint64_t kMostBytesAtOnce = std::uint64_t{1} << 20;

// The first of these heads (with json_bytes) whose runs together are small: at most kMostBytesAtOnce, or a single run.
inline std::span<const model::RunRecord> first_slice(std::span<const model::RunRecord> heads) {
  std::size_t count = 0;
  std::uint64_t bytes = 0;
  for (; count < heads.size() && count < kMostRunsAtOnce; ++count) {
    bytes += heads[count].json_bytes;
    if (count > 0 && bytes > kMostBytesAtOnce) break;
  }
  return heads.first(count);
}

}  // namespace runwarden::store
