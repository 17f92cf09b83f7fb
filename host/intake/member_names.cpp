#include "intake/member_names.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "base/ascii.h"
#include "base/nearest_names.h"

namespace runwarden::intake {
namespace {

constexpr std::size_t kLongestName = 40;   // longest name that is compared
constexpr std::size_t kShortestValue = 8;  // "paused" is not "passed"

// In lower case without word separators: userRequestText, user_request_text and User-Request-Text become equal.
std::string folded(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c != '_' && c != '-' && c != ' ' && c != '.') text += ascii::to_lower(c);
  }
  return text;
}

// Known names separate words by capitals only.
bool folds_to(std::string_view known, std::string_view plain) {
  return std::equal(known.begin(), known.end(), plain.begin(), plain.end(), [](char a, char b) { return ascii::to_lower(a) == b; });
}

// One bit for each letter it contains.
std::uint32_t letters_of(std::string_view name) {
  std::uint32_t letters = 0;
  for (const char c : name) letters |= std::uint32_t{1} << (static_cast<unsigned char>(ascii::to_lower(c)) & 31);
  return letters;
}

bool is_alias_field(const Field& field) {
  return field.want == Want::lenient_count || field.want == Want::lenient_amount || field.want == Want::lenient_object ||
         field.want == Want::lenient_count_held;
}

const Field* find(const Shape& shape, std::string_view name) {
  const auto found = std::find_if(shape.fields.begin(), shape.fields.end(), [&](const Field& field) { return field.name == name; });
  return found == shape.fields.end() ? nullptr : &*found;
}

const Field* other_spelling(const Shape& shape, std::string_view name) {
  for (const Field& field : shape.fields) {
    if (!is_alias_field(field) && folds_to(field.name, name)) return &field;
  }
  for (const Alias& alias : shape.aliases) {
    if (folds_to(alias.name, name)) return find(shape, alias.field);
  }
  return nullptr;
}

// How many letters a typo may change.
std::size_t most_edits(std::size_t length) {
  return length >= 8 ? 2 : length >= 4 ? 1 : 0;
}

// One letter can turn a short word into another word. For short words, only an extra, missing or swapped letter counts as a typo.
bool is_other_word(std::string_view known, std::string_view name, std::size_t shortest = 6) {
  return known.size() < shortest && known.size() == name.size() &&
         !std::is_permutation(known.begin(), known.end(), name.begin(), name.end());
}

const Field* near_by_letters(const Shape& shape, std::string_view name) {
  const Field* nearest = nullptr;
  std::size_t fewest = kLongestName;
  const std::uint32_t letters = letters_of(name);
  for (const Field& field : shape.fields) {
    const std::size_t most = most_edits(field.name.size());
    const std::size_t longer = std::max(field.name.size(), name.size());
    if (is_alias_field(field) || longer - std::min(field.name.size(), name.size()) > most) continue;
    // An edit removes and adds at most one letter, which rules out most names cheaply.
    if (static_cast<std::size_t>(std::popcount(letters_of(field.name) ^ letters)) > 2 * most) continue;
    const std::string known = folded(field.name);
    if (is_other_word(known, name)) continue;
    const std::size_t edits = edits_between(known, name);
    if (edits > most || edits >= fewest) continue;
    fewest = edits;
    nearest = &field;
  }
  return nearest;
}

}  // namespace

std::string_view meant_word(std::span<const std::string_view> words, std::string_view value) {
  if (value.size() > kLongestName) return {};
  const std::string plain = folded(value);
  std::string_view nearest;
  std::size_t fewest = kLongestName;
  for (const std::string_view word : words) {
    const std::string known = folded(word);
    const std::size_t edits = edits_between(known, plain);
    if (edits > most_edits(known.size()) || edits >= fewest || (edits > 0 && is_other_word(known, plain, kShortestValue))) continue;
    fewest = edits;
    nearest = word;
  }
  return nearest;
}

const Field* meant_field(const Shape& shape, std::string_view name) {
  if (name.size() > kLongestName) return nullptr;
  const std::string plain = folded(name);
  const Field* meant = other_spelling(shape, plain);
  const bool is_own = std::find(shape.own_words.begin(), shape.own_words.end(), plain) != shape.own_words.end();
  if (meant == nullptr && !is_own) meant = near_by_letters(shape, plain);
  const bool is_server_owned = meant != nullptr && meant->want == Want::ignored;
  return is_server_owned ? nullptr : meant;
}

}  // namespace runwarden::intake
