#include "language/reader.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>

#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kLargestFile = 1024 * 1024;
constexpr std::size_t kMonthsOfAYear = 12;
constexpr std::size_t kLongestCode = 16;

bool is_lemma(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), is_lower);
}

/// "en", "tzl", "pt-br": two or three letters, and what the language is further divided by.
bool is_code(std::string_view code) {
  constexpr std::size_t kShortest = 2, kLongest = 3;
  const auto letters = static_cast<std::size_t>(std::find_if_not(code.begin(), code.end(), is_lower) - code.begin());
  if (letters < kShortest || letters > kLongest || (letters < code.size() && code[letters] != '-')) return false;
  const auto good = [](char c) { return is_lower(c) || is_digit(c) || c == '-'; };
  return code.size() <= kLongestCode && std::all_of(code.begin(), code.end(), good);
}

class LanguageReader {
 public:
  LanguageReader(const std::string& path, Spelling spelling) : path_(path), spelling_(spelling) {}

  LanguageDocument read(const YAML::Node& root) {
    LanguageDocument document;
    document.line = line_of(root);
    if (!root.IsMap()) refuse(document.line, "", "expected a mapping of keys to words; write `key: [word, ...]`");
    std::set<std::string> seen;
    for (const auto& member : root) {
      const int line = line_of(member.first);
      const auto name = member.first.IsScalar() ? member.first.Scalar() : std::string();
      if (!seen.insert(name).second) refuse(line, name, "duplicate key; merge the two");
      if (name == "language") {
        document.language = scalar(member.second, name);
        if (!is_code(document.language))
          refuse(line, name, "expected a code such as \"en\" or \"pt-br\", got \"" + document.language + "\"");
        continue;
      }
      const auto* key = key_named(name);
      if (key == nullptr) refuse(line, name, "unknown key" + nearest_hint(name, known_keys()));
      document.lists.push_back(read_list(*key, member.second, line));
    }
    check_language(document);
    return document;
  }

 private:
  static std::vector<std::string_view> known_keys() {
    std::vector<std::string_view> names{"language"};
    for (const auto& key : kKeys) names.push_back(key.name);
    return names;
  }

  static int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

  [[noreturn]] void refuse(int line, std::string_view key, const std::string& fault) const {
    const std::string named = key.empty() ? "" : std::string(key) + ": ";
    throw std::invalid_argument(path_ + ":" + std::to_string(line) + ": " + named + fault);
  }

  void check_language(const LanguageDocument& document) const {
    if (!document.language.empty()) return;
    for (const auto& list : document.lists) {
      if (!is_of_actions(list.key)) {
        refuse(document.line, "",
               "the language of `" + std::string(info(list.key).name) + "` is missing; write `language: en`, or another code");
      }
    }
  }

  [[nodiscard]] std::string scalar(const YAML::Node& node, std::string_view key) const {
    if (node.IsNull()) refuse(line_of(node), key, "an empty text; remove it, or quote a word that YAML reads as null: \"null\"");
    if (!node.IsScalar()) refuse(line_of(node), key, "expected a string; write each word or phrase by itself");
    return node.Scalar();
  }

  [[noreturn]] void refuse_empty(std::string_view key, int line) const {
    refuse(line, key, "an empty text would match everything; remove it");
  }

  /// Returns the text trimmed and folded; refuses empty text.
  [[nodiscard]] std::string folded(const std::string& text, std::string_view key, int line) const {
    std::string out;
    fold(text, out);
    out = std::string(trim(out));
    if (out.empty()) refuse_empty(key, line);
    if (spelling_ == Spelling::kFolded && out != text) refuse(line, key, "\"" + text + "\" is not folded; write \"" + out + "\"");
    return out;
  }

  /// Returns an item of a list as the key's form has it.
  [[nodiscard]] std::string item_text(const KeyInfo& key, const YAML::Node& item) const {
    const auto text = scalar(item, key.name);
    if (key.form != KeyForm::kPrinted) return folded(text, key.name, line_of(item));
    if (trim(text).empty()) refuse_empty(key.name, line_of(item));
    return text;
  }

  [[nodiscard]] LanguageList read_list(const KeyInfo& key, const YAML::Node& node, int line) const {
    LanguageList list{key.key, line, {}};
    const bool mapping = key.form == KeyForm::kVerbs || key.form == KeyForm::kNouns || key.form == KeyForm::kDoneBy;
    if (mapping) {
      read_mapping(key, node, list);
    } else {
      if (!node.IsSequence()) refuse(line, key.name, "expected a list of words; write `" + std::string(key.name) + ": [word, ...]`");
      for (const auto& item : node) {
        const int at = line_of(item);
        list.items.push_back({item_text(key, item), at});
        check_item(key, list.items.back());
      }
    }
    if (key.form == KeyForm::kMonths && list.items.size() != kMonthsOfAYear) {
      refuse(line, key.name,
             "expected twelve months, got " + std::to_string(list.items.size()) + "; write all spellings of a month in one item");
    }
    return list;
  }

  void check_item(const KeyInfo& key, const LanguageItem& item) const {
    if (key.form == KeyForm::kGrammar && !among(item.text, kGrammarTraits)) {
      refuse(item.line, key.name, "unknown trait \"" + item.text + "\"; the only one is verb_last");
    }
    if (key.form == KeyForm::kLemmas) check_lemmas(key, item.text, item.line);
  }

  void check_lemmas(const KeyInfo& key, const std::string& text, int line) const {
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      if (!is_lemma(word)) refuse(line, key.name, "\"" + word + "\" is not a lemma; write one in lower-case letters, as under `verbs`");
    }
  }

  void read_mapping(const KeyInfo& key, const YAML::Node& node, LanguageList& list) const {
    if (!node.IsMap()) refuse(list.line, key.name, "expected a mapping; write a line `lemma: words` for each verb");
    std::set<std::string> seen;
    for (const auto& member : node) {
      const int line = line_of(member.first);
      const auto lemma = scalar(member.first, key.name);
      if (!is_lemma(lemma)) refuse(line, key.name, "\"" + lemma + "\" is not a lemma; write a verb's name in lower-case letters");
      if (!seen.insert(lemma).second) refuse(line, key.name, "duplicate lemma \"" + lemma + "\"; merge the two");
      const auto text = folded(scalar(member.second, key.name), key.name, line_of(member.second));
      if (key.form == KeyForm::kVerbs) check_forms(key, lemma, text, line);
      if (key.form == KeyForm::kDoneBy) check_lemmas(key, text, line);
      list.items.push_back({lemma + " = " + text, line});
    }
  }

  void check_forms(const KeyInfo& key, const std::string& lemma, const std::string& text, int line) const {
    const auto parts = std::count(text.begin(), text.end(), '|');
    if (parts > 2 || text.find_first_not_of("| ") == std::string::npos) {
      refuse(line, key.name, lemma + ": expected \"base forms | done forms | doing forms\", got \"" + text + "\"");
    }
  }

  const std::string& path_;
  Spelling spelling_;
};

/// The number of letters to change to turn one word into the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t k = 0; k < b.size(); ++k) {
      const auto changed = diagonal + (a[i] == b[k] ? 0 : 1);
      diagonal = row[k + 1];
      row[k + 1] = std::min({changed, row[k] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

const LanguageList* LanguageDocument::find(Key key) const {
  const auto found = std::find_if(lists.begin(), lists.end(), [&](const auto& list) { return list.key == key; });
  return found == lists.end() ? nullptr : &*found;
}

std::string nearest_hint(std::string_view name, const std::vector<std::string_view>& known) {
  constexpr std::size_t kLongestName = 64;
  if (known.empty() || name.size() > kLongestName) return {};
  const auto nearer = [&](auto a, auto b) { return distance(name, a) < distance(name, b); };
  const auto nearest = *std::min_element(known.begin(), known.end(), nearer);
  if (distance(name, nearest) * 2 > std::max(name.size(), nearest.size())) return "; README.md of the language files lists the keys";
  return "; the nearest known one is " + std::string(nearest);
}

std::vector<LanguageDocument> read_language(const std::string& text, const std::string& path, Spelling spelling) {
  std::vector<LanguageDocument> documents;
  try {
    for (const auto& node : YAML::LoadAll(text)) {
      if (!node.IsNull()) documents.push_back(LanguageReader(path, spelling).read(node));
    }
  } catch (const YAML::Exception& fault) {
    throw std::invalid_argument(path + ":" + std::to_string(fault.mark.line + 1) + ": " + fault.msg + "; write it as YAML");
  }
  if (documents.empty()) throw std::invalid_argument(path + ":1: the file is empty; write `language:` and words, or remove the file");
  return documents;
}

std::vector<LanguageDocument> read_language_file(const std::string& path, Spelling spelling) {
  std::error_code fault;
  if (!std::filesystem::is_regular_file(path, fault)) {
    const auto why = fault ? fault.message() : std::string("it is not a regular file");
    throw std::invalid_argument(path + ": cannot be read: " + why + "; name a file that the service may read");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(kLargestFile + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad() || !file.is_open()) throw std::invalid_argument(path + ": cannot be read; let the service's user read it");
  if (text.size() > kLargestFile) throw std::invalid_argument(path + ": larger than 1 MiB; remove some words");
  return read_language(text, path, spelling);
}

}  // namespace runwarden::plugins
