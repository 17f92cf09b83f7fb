// A bound on what the service holds at once, in items and bytes: who wants to hold something takes a lease, and is told no
// when there is no room. Any thread; nothing waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

namespace runwarden {

class Budget {
 public:
  // Gives its share back when it goes.
  class Lease {
   public:
    Lease() = default;
    Lease(Budget& budget, std::uint64_t bytes) : budget_(&budget), bytes_(bytes) {}
    Lease(Lease&& other) noexcept : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
    Lease& operator=(Lease&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Lease() {
      if (budget_ != nullptr) budget_->give_back(bytes_);
    }

    // Holds that much more, or not when it would be too much beside what others hold.
    bool grow(std::uint64_t bytes) {
      const std::uint64_t held = budget_->bytes_.fetch_add(bytes, std::memory_order_relaxed);
      if (held > bytes_ && held + bytes > budget_->max_bytes_) {
        budget_->bytes_.fetch_sub(bytes, std::memory_order_relaxed);
        return false;
      }
      bytes_ += bytes;
      return true;
    }
    // For what is there already and cannot be refused.
    void grow_at_any_rate(std::uint64_t bytes) {
      budget_->bytes_.fetch_add(bytes, std::memory_order_relaxed);
      bytes_ += bytes;
    }

   private:
    Budget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  Budget(std::uint64_t max_items, std::uint64_t max_bytes) : max_items_(max_items), max_bytes_(max_bytes) {}

  // Nothing when one more item of that size would be too much. A single item is let in however large it is.
  std::optional<Lease> take(std::uint64_t bytes) {
    const std::uint64_t items = items_.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t held = bytes_.fetch_add(bytes, std::memory_order_relaxed);
    Lease lease(*this, bytes);
    if (items > 0 && (items + 1 > max_items_ || held + bytes > max_bytes_)) return std::nullopt;
    return lease;
  }

  std::uint64_t items() const { return items_.load(std::memory_order_relaxed); }
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  void give_back(std::uint64_t bytes) {
    items_.fetch_sub(1, std::memory_order_relaxed);
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  }

  std::uint64_t max_items_;
  std::uint64_t max_bytes_;
  std::atomic<std::uint64_t> items_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace runwarden
