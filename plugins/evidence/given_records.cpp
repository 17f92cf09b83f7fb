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

using Token = JsonScanner::Token;

constexpr std::size_t kFewestMembers = 3;
constexpr std::size_t kMostMembers = 256;  // of an answer, and of the arguments compared with it

/// "RX-88120", "99121": a record's code, not a date.
bool is_code(std::string_view text) {
  const auto dashes = std::count(text.begin(), text.end(), '-');
  return dashes < 2 && text.find_first_of(" :.,") == std::string_view::npos && std::any_of(text.begin(), text.end(), is_digit);
}

/// The last word of a member's name: "confirmed" for "isConfirmed".
std::string last_word(std::string_view key) {
  std::vector<std::string> words;
  split_tool_name(key, words);
  return words.empty() ? std::string() : words.back();
}

bool is_participle(std::string_view word, const Lexicon& lexicon) {
  const auto* entry = lexicon.find(word);
  return entry != nullptr && (entry->forms & kFormDone) != 0;
}

/// True when an outermost member's value ends in a word for "done": `"type": "action_done"`.
bool says_done(std::string_view output, const Lexicon& lexicon) {
  constexpr std::size_t kLongest = 24;  // bytes of a value that names an outcome
  JsonScanner cursor(output);
  if (cursor.next() != Token::kObject) return false;
  for (auto token = cursor.next(); token != Token::kObjectEnd && token != Token::kBad && token != Token::kEnd; token = cursor.next()) {
    if ((token == Token::kObject || token == Token::kArray) && !cursor.leave()) return false;
    if (token != Token::kString || cursor.text().size() > kLongest) continue;
    const auto* entry = lexicon.find(last_word(cursor.text()));
    if (entry != nullptr && has(entry->cues, kCueFinished)) return true;
  }
  return false;
}

/// True for a text of a few words that reports no action: "Refund within 14 days of renewal on request."
bool tells_no_deed(std::string_view text, const Lexicon& lexicon) {
  constexpr std::size_t kFewestWords = 3;
  constexpr std::size_t kLongest = 4000;  // bytes read
  std::string folded;
  fold(text.substr(0, kLongest), folded);
  WordCursor cursor(folded);
  std::size_t words = 0;
  bool number = false;
  for (RawWord word; cursor.next(word); ++words) {
    number |= std::any_of(word.text.begin(), word.text.end(), is_digit);
    const auto* entry = lexicon.find(word.text);
    if (entry != nullptr && ((entry->forms & kFormDone) != 0 || has(entry->cues, kCueFinished | kCueTrouble))) return false;
  }
  return words >= kFewestWords || number;
}

/// True for a text whose first word is a word for trouble: "Error acquiring the lock".
bool opens_with_trouble(std::string_view text, const Lexicon& lexicon) {
  constexpr std::size_t kBeginning = 40;  // bytes
  std::string folded;
  fold(text.substr(0, kBeginning), folded);
  WordCursor cursor(folded);
  RawWord word;
  if (!cursor.next(word)) return false;
  const auto* entry = lexicon.find(word.text);
  return entry != nullptr && has(entry->cues, kCueTrouble);
}

/// What a JSON answer contains beyond the call's arguments.
struct Told {
  bool list = false;        // has a list with an item
  bool done = false;        // reports something done: `"locked": true`
  std::size_t members = 0;  // members with more than an id, a code or the call's outcome
  std::size_t flags = 0;    // those that are true, false or null
};

Told told_in(std::string_view output, std::span<const CallValue> asked, std::span<const std::string> answers, const Lexicon& lexicon) {
  Told told;
  JsonScanner cursor(output);
  std::size_t read = 0;
  std::string key;
  auto previous = Token::kEnd;
  for (auto token = cursor.next(); token != Token::kEnd && token != Token::kBad && read < kMostMembers; token = cursor.next(), ++read) {
    // An empty list of warnings means nothing.
    told.list |= previous == Token::kArray && token != Token::kArrayEnd;
    previous = token;
    if (token == Token::kKey) key = last_word(cursor.text());
    told.done |= token == Token::kTrue && (is_participle(key, lexicon) || among(key, answers));
    told.done |= token == Token::kArray && !told.list && is_participle(key, lexicon);
    told.done |= token == Token::kNumber && cursor.text() != "0" && is_participle(key, lexicon);  // {"sent": 3}
    if (token == Token::kNull || token == Token::kTrue || token == Token::kFalse) {
      ++told.members;
      ++told.flags;
    }
    if (token != Token::kString && token != Token::kNumber) continue;
    const auto text = cursor.text();
    const bool echoed = std::any_of(asked.begin(), asked.end(), [&](const CallValue& value) { return value.text == text; });
    if (!echoed && !among(key, answers) && (token == Token::kNumber || !is_code(text))) ++told.members;
  }
  return told;
}

}  // namespace

bool gives_records(const StepView& step, std::span<const std::string> answers, const ToolWords& words, const Lexicon& lexicon) {
  const auto output = trim(step.output);
  if (step.outcome == Outcome::kFailed || output.empty()) return false;
  std::vector<CallValue> asked;
  collect_values(step.input, words.calls, asked);
  const bool asks_one = asked.size() <= 1;
  if (!looks_like_json(output)) {
    if (opens_with_trouble(output, lexicon)) return false;
    if (output.find_first_of("|\t") != std::string_view::npos || std::count(output.begin(), output.end(), '\n') > 1) return true;
    return asks_one && tells_no_deed(output, lexicon);
  }
  if (says_done(output, lexicon)) return false;
  if (asked.size() > kMostMembers) asked.resize(kMostMembers);
  const auto told = told_in(output, asked, answers, lexicon);
  return !told.done && (told.list || told.members >= kFewestMembers || (asks_one && told.members > 0 && told.flags == 0));
}

bool carries_text(const StepView& call, const ToolWords& words) {
  constexpr std::ptrdiff_t kBlanks = 4;
  std::vector<CallValue> values;
  collect_values(call.input, words.calls, values);
  return std::any_of(values.begin(), values.end(), [&](const CallValue& value) {
    return !among(value.key, words.query_members) && std::count(value.text.begin(), value.text.end(), ' ') >= kBlanks;
  });
}

bool orders_change(const StepView& call, const ToolWords& words, const Lexicon& lexicon) {
  constexpr std::size_t kLongest = 16;  // bytes of a value that is a verb
  std::vector<CallValue> values;
  collect_values(call.input, words.calls, values);
  if (replaces_one(values, words.calls)) return true;
  std::string folded;
  return std::any_of(values.begin(), values.end(), [&](const CallValue& value) {
    if (value.text.size() > kLongest || among(value.key, words.query_members)) return false;
    fold(value.text, folded);
    return among(folded, words.changing_words) && lexicon.verb_named(folded) != kNoVerb;
  });
}

}  // namespace runwarden::plugins
