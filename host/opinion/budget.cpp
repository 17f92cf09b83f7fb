#include "opinion/budget.h"

namespace runwarden::opinion {

void SlidingSum::add(std::uint64_t amount, std::int64_t now_ms) {
  at(now_ms);
  if (slices_.empty() || now_ms - slices_.back().begin_ms >= slice_ms_) slices_.push_back({now_ms, 0});
  slices_.back().amount += amount;
  sum_ += amount;
}

std::uint64_t SlidingSum::at(std::int64_t now_ms) {
  while (!slices_.empty() && now_ms - slices_.front().begin_ms >= window_ms_ + slice_ms_) {
    sum_ -= slices_.front().amount;
    slices_.pop_front();
  }
  return sum_;
}

std::size_t Budget::requests_left(const BudgetLimits& limits, std::int64_t now_ms) {
  if (tokens_.at(now_ms) + on_their_way_ >= limits.tokens_per_day) return 0;
  const std::uint64_t made = requests_.at(now_ms);
  return made >= limits.requests_per_hour ? 0 : static_cast<std::size_t>(limits.requests_per_hour - made);
}

void Budget::asked(std::uint64_t estimated_tokens, std::int64_t now_ms) {
  requests_.add(1, now_ms);
  on_their_way_ += estimated_tokens;
}

void Budget::ended(std::uint64_t estimated_tokens, std::uint64_t used_tokens, std::int64_t now_ms) {
  on_their_way_ -= estimated_tokens;
  tokens_.add(used_tokens, now_ms);
}

}  // namespace runwarden::opinion
