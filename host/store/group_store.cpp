#include "store/group_store.h"

#include <algorithm>

namespace runwarden::store {

Span whole_entries(const Span& span) {
  constexpr std::int64_t kFar = std::int64_t{1} << 60;  // beyond any real time, with room for arithmetic
  const auto entry_from = [](std::int64_t ms) { return ms / kShareEntryMs - (ms % kShareEntryMs < 0 ? 1 : 0); };
  const std::int64_t from = entry_from(std::clamp(span.from_ms, -kFar, kFar));
  const std::int64_t end = entry_from(std::clamp(span.before_ms, -kFar, kFar) + kShareEntryMs - 1);
  return {from * kShareEntryMs, end * kShareEntryMs};
}

}  // namespace runwarden::store
