// Tracks whether more than one flow (tenant) sent something recently. Not synchronized.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace runwarden {

class RecentFlows {
 public:
  // Times are monotonic and never go back.
  void note(std::uint64_t flow, std::int64_t now_ns) {
    if (!last_ns_ || flow != last_) other_ns_ = std::exchange(last_ns_, std::nullopt);
    last_ = flow;
    last_ns_ = now_ns;
  }

  // Whether a flow other than the last sender sent something within this time.
  bool shared(std::int64_t now_ns, std::int64_t within_ns) const { return other_ns_ && now_ns - *other_ns_ <= within_ns; }

 private:
  std::uint64_t last_ = 0;
  std::optional<std::int64_t> last_ns_;   // when the last sender last sent something
  std::optional<std::int64_t> other_ns_;  // when the sender before it did
};

}  // namespace runwarden
