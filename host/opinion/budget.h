// Limits the use of a model: requests in the last hour, tokens in the last 24 hours. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace runwarden::opinion {

struct BudgetLimits {
  std::uint64_t requests_per_hour = 1'000;
  std::uint64_t tokens_per_day = 5'000'000;
};

// The sum of the amounts added within a sliding window. Kept in slices; a slice counts until all of it has left the window, so the sum may
// be too high but never too low. Holds at most kSlices + 1 slices.
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

// Times are from a monotonic clock. A request counts when it is made. Its tokens count as estimated while it is in flight, then as the
// answer reports them.
class Budget {
 public:
  // How many more requests may be made; 0 while the tokens are used up.
  std::size_t requests_left(const BudgetLimits& limits, std::int64_t now_ms);
  void asked(std::uint64_t estimated_tokens, std::int64_t now_ms);
  void ended(std::uint64_t estimated_tokens, std::uint64_t used_tokens, std::int64_t now_ms);

 private:
  SlidingSum requests_{3'600'000};
  SlidingSum tokens_{86'400'000};
  std::uint64_t on_their_way_ = 0;
};

}  // namespace runwarden::opinion
