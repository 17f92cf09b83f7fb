#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "language/key.h"
#include "language/reader.h"

namespace runwarden::plugins {

/// One list from the shipped files.
struct ShippedList {
  Key key;
  int language;  // index into shipped_languages(); -1 for none
  std::span<const std::string_view> items;
};

/// The codes of the shipped languages, and their lists. Generated at build time from plugins/language/*.yaml.
[[nodiscard]] std::span<const std::string_view> shipped_languages();
[[nodiscard]] std::span<const ShippedList> shipped_lists();

/// The words in force: those of the chosen shipped languages, and of the operator's file. Read-only once constructed: any thread may read.
class Vocabulary {
 public:
  static constexpr std::size_t kMostLanguages = 16;

  /// Loads all shipped languages.
  Vocabulary();

  /// Loads the shipped languages with these codes, and the words of a file if a path is given. Throws std::invalid_argument that names the
  /// setting ("/languages/1: ..." or "/vocabulary: ...").
  Vocabulary(const std::vector<std::string>& codes, const std::string& path);

  /// The language codes; a language's number is its index here.
  [[nodiscard]] const std::vector<std::string>& languages() const { return languages_; }

  /// Passes each text under a key to `take` with the number of its language: the shipped words first, in the order of the languages. The
  /// words of actions.yaml have language 0.
  template <class Take>
  void each(Key key, Take take) const {
    for (const auto& list : lists_[static_cast<std::size_t>(key)]) {
      for (const auto text : list.items) take(text, list.language);
    }
    for (const auto& item : own_) {
      if (item.key == key) take(std::string_view(item.text), item.language);
    }
  }

  /// The same texts, folded, in one list without duplicates.
  [[nodiscard]] std::vector<std::string> words(Key key) const;

  /// The words of several keys together.
  [[nodiscard]] std::vector<std::string> words_of(std::initializer_list<Key> keys) const;

  /// The languages with this trait of kGrammarTraits, one bit each.
  [[nodiscard]] std::uint32_t languages_with(std::string_view trait) const;

 private:
  struct List {
    std::size_t language;
    std::span<const std::string_view> items;
  };
  struct OwnItem {
    Key key;
    std::size_t language;
    std::string text;
  };

  void add_shipped(const std::vector<std::string>& codes);
  void add(const LanguageDocument& document, const std::string& path);
  [[nodiscard]] std::size_t language_of(const LanguageDocument& document, const std::string& path);

  std::vector<std::string> languages_;
  std::array<std::vector<List>, static_cast<std::size_t>(Key::kCount)> lists_;
  std::vector<OwnItem> own_;
};

}  // namespace runwarden::plugins
