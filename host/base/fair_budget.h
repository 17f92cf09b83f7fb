// A limit on bytes and leases that several parties share. Each party may hold at most as much as it leaves free, so a greedy one leaves
// room for the next. Any thread; never blocks. Outlives its leases.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"

namespace runwarden {

class FairBudget {
 public:
  using Party = std::uint32_t;

  // Returns its bytes when it is destroyed. One owner at a time.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept { swap(other); }
    Lease& operator=(Lease&& other) noexcept {
      Lease(std::move(other)).swap(*this);
      return *this;
    }
    ~Lease() {
      if (budget_ != nullptr) budget_->give_back(party_, bytes_);
    }

    explicit operator bool() const { return budget_ != nullptr; }
    std::uint64_t bytes() const { return bytes_; }
    // Changes the total to `bytes`. Shrinking always succeeds. False: the budget is exhausted, and the lease is unchanged.
    bool try_resize(std::uint64_t bytes) {
      if (!budget_->try_change(party_, bytes_, bytes)) return false;
      bytes_ = bytes;
      return true;
    }
    // Likewise for bytes that exist already, which cannot be refused.
    void resize(std::uint64_t bytes) {
      if (budget_ != nullptr) budget_->change(party_, bytes_, bytes);
      bytes_ = bytes;
    }

   private:
    friend class FairBudget;
    Lease(FairBudget& budget, Party party, std::uint64_t bytes) : budget_(&budget), party_(party), bytes_(bytes) {}
    void swap(Lease& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(party_, other.party_);
      std::swap(bytes_, other.bytes_);
    }

    FairBudget* budget_ = nullptr;
    Party party_ = 0;
    std::uint64_t bytes_ = 0;
  };

  static constexpr std::uint64_t kAnyNumber = std::numeric_limits<std::uint64_t>::max();

  explicit FairBudget(std::uint64_t max_bytes, std::uint64_t max_leases = kAnyNumber) : max_bytes_(max_bytes), max_leases_(max_leases) {}
  FairBudget(const FairBudget&) = delete;
  FairBudget& operator=(const FairBudget&) = delete;

  // Empty if the party would hold more than it leaves free. The first lease is granted regardless of its size.
  std::optional<Lease> take(Party party, std::uint64_t bytes);

  // Existing leases are kept.
  void set_max_bytes(std::uint64_t max_bytes);

  struct State {
    std::uint64_t bytes = 0;
    std::uint64_t max_bytes = 0;
    std::uint64_t leases = 0;
    std::uint64_t refused = 0;  // refusals since construction
  };
  State state() const;

 private:
  struct Allocation {
    std::uint64_t bytes = 0;
    std::uint64_t leases = 0;
  };

  // Whether a party that holds `own` of `all` may take `more`.
  static bool fit(std::uint64_t own, std::uint64_t all, std::uint64_t more, std::uint64_t max);

  bool try_change(Party party, std::uint64_t from, std::uint64_t to);

  void change(Party party, std::uint64_t from, std::uint64_t to);

  void give_back(Party party, std::uint64_t bytes);

  Allocation allocation_of(Party party) const RW_REQUIRES(mutex_);

  // Decreases are passed as values that wrap around.
  void hold(Party party, Allocation more) RW_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::uint64_t max_bytes_ RW_GUARDED_BY(mutex_);
  const std::uint64_t max_leases_;
  Allocation all_ RW_GUARDED_BY(mutex_);
  std::uint64_t refused_ RW_GUARDED_BY(mutex_) = 0;
  std::unordered_map<Party, Allocation> allocations_ RW_GUARDED_BY(mutex_);  // only parties that hold any
};

}  // namespace runwarden
