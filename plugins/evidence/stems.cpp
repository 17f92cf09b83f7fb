#include "evidence/stems.h"

#include "common/json_scan.h"
#include "common/tools.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kShortestWord = 3;

/// Adds the words of a name that is written in one: "threadId".
void add_name_parts(std::string_view name, Stems& out) {
  const auto hump = [](char a, char b) { return is_lower(a) && is_upper(b); };
  if (std::adjacent_find(name.begin(), name.end(), hump) == name.end()) return;
  std::string lower;
  std::size_t at = 0;
  for (auto part = next_tool_word(name, at); !part.empty() && part.size() < name.size(); part = next_tool_word(name, at)) {
    if (part.size() < kShortestWord) continue;
    lower.assign(part);
    std::transform(lower.begin(), lower.end(), lower.begin(), to_lower);
    out.push_back(stem_of(lower));
  }
}

/// True when a capital follows a small letter anywhere: "threadId".
bool has_hump(std::string_view text) {
  bool any = false;
  for (std::size_t i = 1; i < text.size(); ++i) any |= is_lower(text[i - 1]) & is_upper(text[i]);
  return any;
}

}  // namespace

std::uint64_t stem_of(std::string_view word) {
  constexpr std::size_t kStem = 4;
  constexpr std::uint64_t kPrime = 0x100000001B3;  // of FNV-1a
  std::uint64_t stem = 0;
  if (has_digit(word)) {
    for (const char c : word) stem = stem * kPrime + static_cast<unsigned char>(c) + 1;
    return stem;
  }
  if (word.size() == kStem && word.ends_with('s')) word.remove_suffix(1);
  std::size_t taken = 0;
  for (std::size_t i = 0; i < word.size() && taken < kStem; ++i) {
    if (i > 0 && word[i] == 'e' && (word[i - 1] == 'a' || word[i - 1] == 'o' || word[i - 1] == 'u')) continue;
    stem = stem << 8 | static_cast<unsigned char>(word[i]);
    ++taken;
  }
  return stem;
}

void add_joined_figures(std::string_view text, Stems& out) {
  constexpr std::size_t kShortest = 4;
  constexpr std::string_view kSigns = ".,-/ ";
  std::string figure;
  std::size_t parts = 0;
  for (auto i = find_digit(text, 0); i <= text.size(); i = figure.empty() ? find_digit(text, i + 1) : i + 1) {
    const char c = i < text.size() ? text[i] : '\0';
    if (is_digit(c)) {
      if (figure.empty() || !is_digit(text[i - 1])) ++parts;
      figure += c;
      continue;
    }
    if (figure.empty()) return;
    if (kSigns.find(c) != std::string_view::npos && i + 1 < text.size() && is_digit(text[i + 1])) continue;
    if (parts > 1 && figure.size() >= kShortest) out.push_back(stem_of(figure));
    figure.clear();
    parts = 0;
  }
}

void add_stems(std::string_view text, Stems& out) {
  std::string plain, folded;
  if (text.find('\\') != std::string_view::npos) {
    unescape(text, plain);
    text = plain;
  }
  add_joined_figures(text, out);
  if (has_hump(text)) {
    for_each_word(text, [&](std::string_view word) {
      add_name_parts(word, out);
      return true;
    });
  }
  fold(text, folded);
  for_each_word(folded, [&](std::string_view word) {
    if (word.size() >= kShortestWord || has_digit(word)) out.push_back(stem_of(word));
    return true;
  });
}

void settle(Stems& stems) {
  std::sort(stems.begin(), stems.end());
  stems.erase(std::unique(stems.begin(), stems.end()), stems.end());
}

std::size_t count_shared(const Stems& some, const Stems& stems) {
  return static_cast<std::size_t>(std::count_if(some.begin(), some.end(), [&](auto stem) { return holds(stems, stem); }));
}

}  // namespace runwarden::plugins
