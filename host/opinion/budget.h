// How much a model may be asked: requests of the last hour, tokens of the last 24 hours. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace runwarden::opinion {

struct BudgetLimits {
  std::uint64_t requests_per_hour = 1'000;
  std::uint64_t tokens_per_day = 5'000'000;
};

// The sum of what was added within a sliding window. It is kept in slices, and one counts until all of it has left the window: too much
// rather than too little. Never holds more than kSlices + 1 of them.
class SlidingSum {
 public:
  explicit SlidingSum(std::int64_t window_ms) : window_ms_(window_ms), slice_ms_(window_ms / kSlices) {}

  void add(std::uint64_t amount, std::int64_t now_ms);
  std::uint64_t at(std::int64_t now_ms);

 private:
  static constexpr std::int64_t kSlices = 120;
  struct Slice {
    std::int64_t begin_ms = 0;
    std::uint64_t amount = 0;
  };

  std::int64_t window_ms_;
  std::int64_t slice_ms_;
  std::deque<Slice> slices_;
  std::uint64_t sum_ = 0;
};

// Times are of a clock that never goes back. A request counts when it is made; its tokens by their estimate while it is on its way, then as
// the answer has them.
class Budget {
 public:
  // How many requests may be made now: none while the tokens are used up.
  std::size_t requests_left(const BudgetLimits& limits, std::int64_t now_ms);
  void asked(std::uint64_t estimated_tokens, std::int64_t now_ms);
  void ended(std::uint64_t estimated_tokens, std::uint64_t used_tokens, std::int64_t now_ms);

 private:
  SlidingSum requests_{3'600'000};
  SlidingSum tokens_{86'400'000};
  std::uint64_t on_their_way_ = 0;
};

}  // namespace runwarden::opinion
