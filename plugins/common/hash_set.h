#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace runwarden::plugins {

/// A set of hashes in one block of memory, made to be filled and cleared run after run. Slots are unpredictable from outside, so no run can
/// be crafted to slow the set down. One owner.
class HashSet {
 public:
  /// Keeps the memory, unless it has grown large.
  void clear();

  void insert(std::uint64_t hash);

  [[nodiscard]] bool contains(std::uint64_t hash) const {
    if (used_ == 0) return false;
    hash += hash == 0;
    for (auto place = place_of(hash); table_[place] != 0; place = (place + 1) & (table_.size() - 1)) {
      if (table_[place] == hash) return true;
    }
    return false;
  }

  [[nodiscard]] bool empty() const { return used_ == 0; }

 private:
  /// Odd, and drawn at random once per process.
  static const std::uint64_t kFactor;

  [[nodiscard]] std::size_t place_of(std::uint64_t hash) const { return static_cast<std::size_t>((hash * kFactor) >> shift_); }
  void grow();

  std::vector<std::uint64_t> table_;  // size is a power of two; 0 marks a free slot, so hash 0 is stored as 1
  std::size_t used_ = 0;
  unsigned shift_ = 0;  // 64 minus the number of slot bits
};

}  // namespace runwarden::plugins
