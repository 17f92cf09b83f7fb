#include "common/vocabulary.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <unordered_set>

#include "text/fold.h"

namespace runwarden::plugins {
namespace {

std::string joined(std::span<const std::string_view> names) {
  std::string out;
  for (const auto name : names) out.append(out.empty() ? "" : ", ").append(name);
  return out;
}

bool is_shipped(std::string_view code) {
  const auto shipped = shipped_languages();
  return std::find(shipped.begin(), shipped.end(), code) != shipped.end();
}

std::vector<LanguageDocument> read_file(const std::string& path) {
  if (!std::filesystem::path(path).is_absolute()) {
    throw std::invalid_argument("/vocabulary: expected an absolute path, got \"" + path + "\"; start it with /");
  }
  try {
    return read_language_file(path, Spelling::kAny);
  } catch (const std::invalid_argument& fault) {
    throw std::invalid_argument(std::string("/vocabulary: ") + fault.what());
  }
}

}  // namespace

Vocabulary::Vocabulary() {
  const auto shipped = shipped_languages();
  add_shipped({shipped.begin(), shipped.end()});
}

Vocabulary::Vocabulary(const std::vector<std::string>& codes, const std::string& path) {
  const auto documents = path.empty() ? std::vector<LanguageDocument>{} : read_file(path);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const auto has_words = [&](const LanguageDocument& document) { return document.language == codes[i]; };
    if (is_shipped(codes[i]) || std::any_of(documents.begin(), documents.end(), has_words)) continue;
    throw std::invalid_argument("/languages/" + std::to_string(i) + ": unknown language \"" + codes[i] + "\"; shipped are " +
                                joined(shipped_languages()) + "; any other needs a file named in `vocabulary`" +
                                (path.empty() ? "" : ", and " + path + " has no words of it"));
  }
  add_shipped(codes);
  for (const auto& document : documents) add(document, path);
}

void Vocabulary::add_shipped(const std::vector<std::string>& codes) {
  const auto shipped = shipped_languages();
  constexpr std::size_t kLeftOut = kMostLanguages;
  std::vector<std::size_t> places;
  for (const auto code : shipped) {
    const bool chosen = std::find(codes.begin(), codes.end(), code) != codes.end();
    places.push_back(chosen ? languages_.size() : kLeftOut);
    if (chosen) languages_.emplace_back(code);
  }
  for (const auto& list : shipped_lists()) {
    const auto language = list.language < 0 ? 0 : places[static_cast<std::size_t>(list.language)];
    if (language != kLeftOut) lists_[static_cast<std::size_t>(list.key)].push_back({language, list.items});
  }
}

std::size_t Vocabulary::language_of(const LanguageDocument& document, const std::string& path) {
  if (document.language.empty()) return 0;
  const auto known = std::find(languages_.begin(), languages_.end(), document.language);
  if (known != languages_.end()) return static_cast<std::size_t>(known - languages_.begin());
  const auto place = path + ":" + std::to_string(document.line) + ": ";
  if (is_shipped(document.language)) {
    throw std::invalid_argument("/vocabulary: " + place + "`languages` lacks \"" + document.language +
                                "\"; add it there, or remove its words here");
  }
  if (languages_.size() == kMostLanguages) {
    throw std::invalid_argument("/vocabulary: " + place + "more than " + std::to_string(kMostLanguages) + " languages; remove one");
  }
  languages_.push_back(document.language);
  return languages_.size() - 1;
}

void Vocabulary::add(const LanguageDocument& document, const std::string& path) {
  const auto language = language_of(document, path);
  for (const auto& list : document.lists) {
    for (const auto& item : list.items) own_.push_back({list.key, language, item.text});
  }
}

std::vector<std::string> Vocabulary::words(Key key) const {
  std::vector<std::string> out;
  std::unordered_set<std::string_view> seen;
  each(key, [&](std::string_view text, std::size_t) {
    if (seen.insert(text).second) out.emplace_back(text);
  });
  return out;
}

std::vector<std::string> Vocabulary::words_of(std::initializer_list<Key> keys) const {
  std::vector<std::string> all;
  for (const auto key : keys) {
    for (auto& word : words(key)) all.push_back(std::move(word));
  }
  return all;
}

std::uint32_t Vocabulary::languages_with(std::string_view trait) const {
  std::uint32_t mask = 0;
  each(Key::kGrammar, [&](std::string_view text, std::size_t language) { mask |= std::uint32_t{text == trait} << language; });
  return mask;
}

}  // namespace runwarden::plugins
