#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/fold.h"

namespace runwarden::plugins {

/// A set of short names, such as those of members, compared without the case of ASCII letters. Length and first letter rule out most other
/// words at once. Read-only once constructed: any thread may read.
class NameSet {
 public:
  NameSet() = default;

  explicit NameSet(std::vector<std::string> names) : names_(std::move(names)) {
    std::erase_if(names_, [](const auto& name) { return name.empty(); });
    std::stable_sort(names_.begin(), names_.end(), [](const auto& a, const auto& b) { return row_of(a) < row_of(b); });
    for (const auto& name : names_) {
      openings_[row_of(name)] |= bit_of(name);
      ++begins_[row_of(name) + 1];
    }
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  }

  [[nodiscard]] bool contains(std::string_view word) const {
    if (word.empty()) return false;
    const auto row = row_of(word);
    if ((openings_[row] & bit_of(word)) == 0) return false;
    return among(word, std::span(names_).subspan(begins_[row], begins_[row + 1] - begins_[row]));
  }

  [[nodiscard]] auto begin() const { return names_.begin(); }
  [[nodiscard]] auto end() const { return names_.end(); }

 private:
  static constexpr std::size_t kRows = 32;

  [[nodiscard]] static std::size_t row_of(std::string_view word) { return std::min(word.size(), kRows) - 1; }
  // The lowest five bits are the same in both cases of a letter.
  [[nodiscard]] static std::uint32_t bit_of(std::string_view word) { return std::uint32_t{1} << (word[0] & 31); }

  std::vector<std::string> names_;               // row by row
  std::array<std::size_t, kRows + 1> begins_{};  // of the rows: names of one length, the last for all longer ones
  std::array<std::uint32_t, kRows> openings_{};  // of each row, one bit per first letter
};

}  // namespace runwarden::plugins
