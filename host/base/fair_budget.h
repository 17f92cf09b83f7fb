// A bound on bytes that several parties share: each may hold at most as much as it leaves free, so that one that takes all it can
// get leaves room for the next. Any thread; nothing waits. Outlives its leases.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

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
      if (budget_ != nullptr) budget_->change(party_, bytes_, 0);
    }

    explicit operator bool() const { return budget_ != nullptr; }
    std::uint64_t bytes() const { return bytes_; }
    // Holds that many bytes in all. Shrinking always succeeds; false: there is no room for more, and it holds what it held.
    bool try_resize(std::uint64_t bytes) {
      if (!budget_->try_change(party_, bytes_, bytes)) return false;
      bytes_ = bytes;
      return true;
    }
    // The same for bytes that exist already and cannot be refused.
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

  explicit FairBudget(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}
  FairBudget(const FairBudget&) = delete;
  FairBudget& operator=(const FairBudget&) = delete;

  // Nothing where the party would hold more than it leaves free. What comes first is let in however large it is.
  std::optional<Lease> take(Party party, std::uint64_t bytes) {
    if (!try_change(party, 0, bytes)) return std::nullopt;
    return Lease(*this, party, bytes);
  }

  // Leases given out already stay.
  void set_max_bytes(std::uint64_t max_bytes) {
    const std::lock_guard lock(mutex_);
    max_bytes_ = max_bytes;
  }

  struct State {
    std::uint64_t bytes = 0;
    std::uint64_t max_bytes = 0;
    std::uint64_t refused = 0;  // times, since the beginning
  };
  State state() const {
    const std::lock_guard lock(mutex_);
    return {bytes_, max_bytes_, refused_};
  }

 private:
  bool try_change(Party party, std::uint64_t from, std::uint64_t to) {
    const std::lock_guard lock(mutex_);
    const auto found = held_.find(party);
    const std::uint64_t others_of_party = (found == held_.end() ? 0 : found->second) - from;
    const std::uint64_t others = bytes_ - from;
    const bool fits = to <= from || others == 0 || others_of_party + to + others + to <= max_bytes_;
    if (!fits) {
      ++refused_;
      return false;
    }
    apply(party, from, to);
    return true;
  }

  void change(Party party, std::uint64_t from, std::uint64_t to) {
    const std::lock_guard lock(mutex_);
    apply(party, from, to);
  }

  // With the mutex held.
  void apply(Party party, std::uint64_t from, std::uint64_t to) {
    bytes_ = bytes_ - from + to;
    const auto found = held_.try_emplace(party, 0).first;
    found->second = found->second - from + to;
    if (found->second == 0) held_.erase(found);
  }

  mutable std::mutex mutex_;
  std::uint64_t max_bytes_;  // mutex_, as are the rest
  std::uint64_t bytes_ = 0;
  std::uint64_t refused_ = 0;
  std::unordered_map<Party, std::uint64_t> held_;  // by those that hold any
};

}  // namespace runwarden
