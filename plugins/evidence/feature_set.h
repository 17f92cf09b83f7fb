#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace runwarden::plugins {

/// The indexes of the features that a text has, each once, in the order in which they were added. One owner.
class FeatureSet {
 public:
  /// For indexes below `size`.
  explicit FeatureSet(std::size_t size) : seen_((size + kBits - 1) / kBits) {}

  void add(std::uint16_t index) {
    auto& word = seen_[index / kBits];
    const auto bit = std::uint64_t{1} << (index % kBits);
    if ((word & bit) != 0) return;
    word |= bit;
    all_.push_back(index);
  }
  void clear() {
    for (const auto index : all_) seen_[index / kBits] = 0;
    all_.clear();
  }
  [[nodiscard]] std::span<const std::uint16_t> all() const { return all_; }

 private:
  static constexpr std::size_t kBits = 64;

  std::vector<std::uint64_t> seen_;
  std::vector<std::uint16_t> all_;
};

}  // namespace runwarden::plugins
