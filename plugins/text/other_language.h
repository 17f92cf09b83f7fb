#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace runwarden::plugins {

/// Recognizes texts in languages that nobody reads here, among some eighty that CLD2 knows. Read-only once constructed: any thread may call
/// it.
class OtherLanguage {
 public:
  /// `read`: the ISO 639 codes of the languages that are read. With one among them that CLD2 does not know, no text is recognized.
  explicit OtherLanguage(const std::vector<std::string>& read);

  /// True for a text that is surely in another language, and has no part in one that is read. False for texts of a few names and numbers,
  /// and for Galician, which is too close to Spanish. Looks at the first 4 KiB.
  [[nodiscard]] bool holds(std::string_view text) const;

 private:
  std::vector<int> read_;  // CLD2's numbers
  bool all_known_ = true;
};

}  // namespace runwarden::plugins
