#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "language/keys.h"

namespace runwarden::plugins {

/// One word, phrase or line of a language file, folded. Of a mapping, "lemma = value".
struct LanguageItem {
  std::string text;
  int line = 0;
};

/// What is under one key.
struct LanguageList {
  Key key = Key::kCount;
  int line = 0;
  std::vector<LanguageItem> items;
};

/// One document of a language file: the words of one language, or, without `language`, what is of none.
struct LanguageDocument {
  std::string language;  // a code: "en"
  int line = 0;
  std::vector<LanguageList> lists;

  [[nodiscard]] const LanguageList* find(Key key) const;
};

/// Whether words must be written as they are compared (the shipped files) or are folded on the way in (an operator's).
enum class Spelling { kFolded, kAny };

/// Reads a language file. Throws std::invalid_argument for a text that is none: "PATH:12: admisions: unknown key; ...". Any thread.
[[nodiscard]] std::vector<LanguageDocument> read_language(const std::string& text, const std::string& path, Spelling spelling);

/// The same of a file; one that cannot be read, is not a file or is larger than 1 MiB is refused likewise.
[[nodiscard]] std::vector<LanguageDocument> read_language_file(const std::string& path, Spelling spelling);

/// "; the nearest known one is admissions": for a name that is none of these, empty where none is near.
[[nodiscard]] std::string nearest_hint(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace runwarden::plugins
