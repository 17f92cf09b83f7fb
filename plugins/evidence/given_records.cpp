#include "evidence/given_records.h"

#include <algorithm>
#include <vector>

#include "common/fold.h"
#include "common/json_scan.h"
#include "common/recovery.h"
#include "common/tools.h"
#include "common/words.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kFewestMembers = 3;
constexpr std::size_t kMostMembers = 256;  // of an answer, and of the arguments that it is compared with

/// "RX-88120", "99121": what a thing is filed under, not a date.
bool is_code(std::string_view text) {
  const auto dashes = std::count(text.begin(), text.end(), '-');
  return dashes < 2 && text.find_first_of(" :.,") == std::string_view::npos && std::any_of(text.begin(), text.end(), is_digit);
}

/// The last word of a member's name: "confirmed" of "isConfirmed".
std::string last_word(std::string_view key) {
  std::vector<std::string> words;
  split_tool_name(key, words);
  return words.empty() ? std::string() : words.back();
}

bool is_participle(std::string_view word, const Lexicon& lexicon) {
  const auto* entry = lexicon.find(word);
  return entry != nullptr && (entry->forms & kFormDone) != 0;
}

/// True where one of the outermost members says in a word that something is done: `"type": "action_done"`.
bool says_done(std::string_view output, const Lexicon& lexicon) {
  constexpr std::size_t kLongest = 24;  // bytes of a text that names an outcome
  using Token = JsonCursor::Token;
  JsonCursor cursor(output);
  if (cursor.next() != Token::kObject) return false;
  for (auto token = cursor.next(); token != Token::kObjectEnd && token != Token::kBad && token != Token::kEnd; token = cursor.next()) {
    if ((token == Token::kObject || token == Token::kArray) && !cursor.leave()) return false;
    if (token != Token::kString || cursor.text().size() > kLongest) continue;
    const auto* entry = lexicon.find(last_word(cursor.text()));
    if (entry != nullptr && has(entry->cues, kCueFinished)) return true;
  }
  return false;
}

}  // namespace

bool gives_records(const StepView& step, std::span<const std::string> answers, const Lexicon& lexicon) {
  const auto output = trim(step.output);
  if (step.outcome == Outcome::kFailed || output.empty()) return false;
  if (!looks_like_json(output))
    return output.find_first_of("|\t") != std::string_view::npos || std::count(output.begin(), output.end(), '\n') > 1;
  if (says_done(output, lexicon)) return false;
  std::vector<CallValue> asked;
  collect_values(step.input, asked);
  JsonCursor cursor(output);
  if (asked.size() > kMostMembers) asked.resize(kMostMembers);
  std::size_t told = 0;
  std::size_t read = 0;
  std::string key;
  using Token = JsonCursor::Token;
  auto previous = Token::kEnd;
  for (auto token = cursor.next(); token != Token::kEnd && token != Token::kBad && read < kMostMembers; token = cursor.next(), ++read) {
    // A list of something: an empty one of warnings tells nothing.
    if (previous == Token::kArray && token != Token::kArrayEnd) return true;
    previous = token;
    if (token == Token::kKey) key = last_word(cursor.text());
    if ((token == Token::kTrue || token == Token::kArray) && is_participle(key, lexicon)) return false;
    if (token == Token::kNull || token == Token::kTrue || token == Token::kFalse) ++told;
    if (token != Token::kString && token != Token::kNumber) continue;
    const auto text = cursor.text();
    const bool echoed = std::any_of(asked.begin(), asked.end(), [&](const CallValue& value) { return value.text == text; });
    if (among(key, answers)) continue;
    if (!echoed && (token == Token::kNumber || !is_code(text))) ++told;
  }
  return told >= kFewestMembers;
}

}  // namespace runwarden::plugins
