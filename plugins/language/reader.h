#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "language/keys.h"

namespace runwarden::plugins {

/// One word, phrase or line of a language file, folded. In a mapping, "lemma = value".
struct LanguageItem {
  std::string text;
  int line = 0;
};

/// The items under one key.
struct LanguageList {
  Key key = Key::kCount;
  int line = 0;
  std::vector<LanguageItem> items;
};

/// One document of a language file: the words of one language or, without `language`, words that belong to none.
struct LanguageDocument {
  std::string language;  // a code: "en"
  int line = 0;
  std::vector<LanguageList> lists;

  [[nodiscard]] const LanguageList* find(Key key) const;
};

/// Whether words must be written in folded form (shipped files), or are folded when read (an operator's file).
enum class Spelling { kFolded, kAny };

/// Reads a language file. Throws std::invalid_argument for invalid text: "PATH:12: admisions: unknown key; ...". Any thread.
[[nodiscard]] std::vector<LanguageDocument> read_language(const std::string& text, const std::string& path, Spelling spelling);

/// Reads the text from a file. Also throws when it cannot be read, is not a regular file, or is larger than 1 MiB.
[[nodiscard]] std::vector<LanguageDocument> read_language_file(const std::string& path, Spelling spelling);

/// "; the nearest known one is admissions", for an unknown name; empty when no known name is near.
[[nodiscard]] std::string nearest_hint(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace runwarden::plugins
