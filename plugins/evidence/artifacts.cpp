#include "evidence/artifacts.h"

#include <algorithm>

#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kShortestPlace = 5;

bool inner(char c) {
  return is_letter_or_digit(c) || c == '/' || c == '.' || c == '_' || c == '-' || c == ':' || c == '~' || c == '%' || c == '#' ||
         c == '?' || c == '=' || c == '&' || c == '\\';
}

/// "report.md": a name and a short extension that begins with a letter.
bool is_file_name(std::string_view token) {
  constexpr std::size_t kLongestEnding = 5;
  const auto dot = token.rfind('.');
  if (dot == std::string_view::npos || dot < 2) return false;
  const auto ending = token.substr(dot + 1);
  return ending.size() >= 2 && ending.size() <= kLongestEnding && is_ascii_letter(ending[0]) &&
         std::all_of(ending.begin(), ending.end(), is_letter_or_digit) &&
         std::any_of(token.begin(), token.begin() + static_cast<std::ptrdiff_t>(dot), is_ascii_letter);
}

/// "/srv/reports", "https://...": a rooted path with at least two names, or a URL; not "and/or".
bool is_place(std::string_view token) {
  const auto slash = token.find('/');
  if (slash == std::string_view::npos) return false;
  if (token.find("://") != std::string_view::npos) return true;
  return (token[0] == '/' || token[0] == '~') && token.find('/', 1) != std::string_view::npos;
}

}  // namespace

void collect_artifacts(std::string_view text, std::size_t most, std::vector<std::string_view>& out) {
  out.clear();
  for (std::size_t i = 0; i < text.size() && out.size() < most;) {
    if (!inner(text[i])) {
      ++i;
      continue;
    }
    const auto begin = i;
    while (i < text.size() && inner(text[i])) ++i;
    auto token = text.substr(begin, i - begin);
    while (!token.empty() && !is_letter_or_digit(token.back()) && token.back() != '/') token.remove_suffix(1);
    if (token.size() < kShortestPlace || !(is_place(token) || is_file_name(token))) continue;
    if (std::find(out.begin(), out.end(), token) == out.end()) out.push_back(token);
  }
}

bool names_site(std::string_view artifact, const CallNames& names) {
  return artifact.find('/') == std::string_view::npos && ends_with_any(artifact, names.site_endings);
}

}  // namespace runwarden::plugins
