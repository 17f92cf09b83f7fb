#include "common/tools.h"

#include <algorithm>
#include <iterator>

#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

bool begins_with(std::string_view name, std::size_t at, std::string_view prefix, std::size_t& end) {
  for (std::size_t k = 0; k < prefix.size(); ++k, ++at) {
    if (prefix[k] == ' ') {
      // "look up" matches "look_up", "look-up", "lookUp" and "lookup".
      if (at < name.size() && (name[at] == '_' || name[at] == '-' || name[at] == ' ' || name[at] == '.')) continue;
      --at;
      continue;
    }
    if (at >= name.size()) return false;
    const char c = to_lower(name[at]);
    if (c != prefix[k]) return false;
  }
  end = at;
  return true;
}

bool word_ends_at(std::string_view name, std::size_t end) {
  if (end >= name.size()) return true;
  return !is_lower(name[end]) || (end > 0 && !is_lower(name[end - 1]));
}

bool begins_with_any(std::string_view name, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const auto& prefix) {
    std::size_t end = 0;
    return !prefix.empty() && begins_with(name, 0, prefix, end) && word_ends_at(name, end);
  });
}

/// The method of a tool that is named like a request, "POST /claims/7"; empty for another name.
std::string_view http_method(std::string_view name) {
  constexpr std::string_view kMethods[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};
  const auto blank = std::min(name.find(' '), name.size());
  const auto method = name.substr(0, blank);
  const auto target = trim(name.substr(blank));
  if (std::find(std::begin(kMethods), std::end(kMethods), method) == std::end(kMethods)) return {};
  return target.starts_with('/') || target.find("://") != std::string_view::npos ? method : std::string_view{};
}

}  // namespace

ToolWords::ToolWords(const Vocabulary& vocabulary)
    : read_prefixes(vocabulary.words(Key::kReadPrefixes)),
      any_purpose_names(vocabulary.words(Key::kAnyPurposeNames)),
      tool_labels(vocabulary.words(Key::kToolLabels)),
      thing_words(vocabulary.words(Key::kThingWords)),
      noun_words(vocabulary.words(Key::kNounWords)),
      looking_verbs(vocabulary.words(Key::kLookingVerbs)),
      query_words(vocabulary.words(Key::kQueryWords)),
      getting_words(vocabulary.words(Key::kGettingWords)),
      showing_nouns(vocabulary.words(Key::kShowingNouns)),
      thing_verbs(vocabulary.words(Key::kThingVerbs)),
      changing_words(vocabulary.words(Key::kChangingWords)),
      changing_nouns(vocabulary.words(Key::kChangingNouns)),
      joining_words(vocabulary.words(Key::kJoiningWords)),
      changing_prefixes(vocabulary.words(Key::kChangingPrefixes)),
      query_members(vocabulary.words(Key::kQueryMembers)),
      thinking_words(vocabulary.words(Key::kThinkingWords)),
      meaningless_words(vocabulary.words(Key::kMeaninglessToolWords)),
      text_envelopes(vocabulary.words_of({Key::kEnvelopeMembers, Key::kTextEnvelopeMembers})),
      calls(vocabulary) {}

std::string_view base_name(std::string_view name) {
  // The last separator with text after it.
  for (std::size_t end = name.size(); end > 1; --end) {
    const char c = name[end - 2];
    const bool sign = c == '.' || c == '/' || c == ':' || (c == '_' && end > 2 && name[end - 3] == '_');
    if (sign) return name.substr(end - 1);
  }
  return name;
}

std::string_view next_tool_word(std::string_view name, std::size_t& at) {
  while (at < name.size() && !is_letter_or_digit(name[at])) ++at;
  const auto begin = at;
  for (; at < name.size() && is_letter_or_digit(name[at]); ++at) {
    const bool hump = is_upper(name[at]) && at > 0 && (!is_upper(name[at - 1]) || (at + 1 < name.size() && is_lower(name[at + 1])));
    if (hump && at > begin) break;
  }
  return name.substr(begin, at - begin);
}

void split_tool_name(std::string_view name, std::vector<std::string>& words) {
  words.clear();
  std::size_t at = 0;
  for (auto word = next_tool_word(name, at); !word.empty(); word = next_tool_word(name, at)) {
    auto& folded = words.emplace_back(word);
    for (char& c : folded) c = to_lower(c);
  }
}

bool names_any(std::string_view tool, const std::vector<std::string>& words) {
  std::vector<std::string> names;
  split_tool_name(base_name(tool), names);
  return std::any_of(names.begin(), names.end(), [&](const auto& name) { return among(name, words); });
}

bool changes_by_method(std::string_view name) {
  const auto method = http_method(name);
  return !method.empty() && method != "GET" && method != "HEAD";
}

bool is_read_tool(std::string_view name, const ToolWords& words) {
  if (const auto method = http_method(name); !method.empty()) return !changes_by_method(name);
  name = base_name(name);
  return begins_with_any(name, words.read_prefixes) && !begins_with_any(name, words.changing_prefixes);
}

bool names_look_up(std::string_view name, const ToolWords& words) {
  if (is_read_tool(name, words)) return true;
  name = base_name(name);
  std::size_t at = 0;
  for (auto word = next_tool_word(name, at); !word.empty(); word = next_tool_word(name, at)) {
    if (is_read_tool(word, words)) return true;
  }
  return false;
}

}  // namespace runwarden::plugins
