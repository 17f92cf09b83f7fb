#include "evidence/given_records.h"

#include <algorithm>
#include <vector>

#include "common/inner_output.h"
#include "common/json_scan.h"
#include "common/recovery.h"
#include "common/tools.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

using Token = JsonScanner::Token;

constexpr std::size_t kFewestWords = 3;         // of a text that answers one question
constexpr std::size_t kFewestWordsOfAText = 8;  // of a text that was asked for with several arguments
constexpr std::size_t kFewestMembers = 3;       // where the answer also names a new record
constexpr std::size_t kFewestPlainMembers = 2;  // of figures and words only
constexpr std::size_t kMostMembers = 256;       // of an answer, and of the arguments compared with it

/// "RX-88120", "99121": a record's code, not a date.
bool is_code(std::string_view text) {
  const auto dashes = std::count(text.begin(), text.end(), '-');
  return dashes < 2 && text.find_first_of(" :.,") == std::string_view::npos && std::any_of(text.begin(), text.end(), is_digit);
}

/// "5": how many are wanted, rather than which.
bool is_small_number(const CallValue& value) {
  constexpr std::size_t kDigits = 2;
  return !value.text.empty() && value.text.size() <= kDigits && std::all_of(value.text.begin(), value.text.end(), is_digit);
}

/// The last word of a member's name: "confirmed" for "isConfirmed".
std::string last_word(std::string_view key) {
  std::vector<std::string> words;
  split_tool_name(key, words);
  return words.empty() ? std::string() : words.back();
}

/// A word that may be a base form, too, may be a noun as a member's name: "importe" is an amount.
bool is_participle(std::string_view word, const Lexicon& lexicon) {
  const auto* entry = lexicon.find(word);
  return entry != nullptr && (entry->forms & kFormDone) != 0 && (entry->forms & kFormBase) == 0;
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

/// True for a text of at least so many words that reports no action: "Refund within 14 days of renewal on request."
bool tells_no_deed(std::string_view text, std::size_t least, const Lexicon& lexicon) {
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
  return words >= least || (number && least == kFewestWords);
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
  std::size_t blanks = 0;   // those that are false or null
  std::size_t flags = 0;    // those that are true, or may say that something was not done: `"sent": false`
  std::size_t codes = 0;    // members with an id or a code that is none of the arguments
};

Told told_in(std::string_view output, std::span<const CallValue> asked, std::span<const std::string> answers, const Lexicon& lexicon) {
  Told told;
  JsonScanner cursor(output);
  std::size_t read = 0;
  std::string key;
  bool compound = false;  // the member's name is several words: "is_archived"
  auto previous = Token::kEnd;
  for (auto token = cursor.next(); token != Token::kEnd && token != Token::kBad && read < kMostMembers; token = cursor.next(), ++read) {
    // An empty list of warnings means nothing.
    told.list |= previous == Token::kArray && token != Token::kArrayEnd;
    previous = token;
    if (token == Token::kKey) {
      key = last_word(cursor.text());
      compound = key.size() < cursor.text().size();
    }
    told.done |= token == Token::kTrue && (is_participle(key, lexicon) || among(key, answers));
    told.done |= token == Token::kArray && !told.list && is_participle(key, lexicon);
    told.done |= token == Token::kNumber && cursor.text() != "0" && is_participle(key, lexicon);  // {"sent": 3}
    if (token == Token::kNull || token == Token::kTrue || token == Token::kFalse) {
      ++told.members;
      const bool blank = token != Token::kTrue && !among(key, answers) && (compound || !is_participle(key, lexicon));
      ++(blank ? told.blanks : told.flags);
    }
    if (token != Token::kString && token != Token::kNumber) continue;
    const auto text = cursor.text();
    const bool echoed = std::any_of(asked.begin(), asked.end(), [&](const CallValue& value) { return value.text == text; });
    if (echoed) continue;
    if (among(key, answers)) {
      ++told.codes;
    } else {
      ++(token == Token::kNumber || !is_code(text) ? told.members : told.codes);
    }
  }
  return told;
}

/// True for an answer that lists or counts nothing, within members too: "[]", {"codes": []}, {"open": 0}, {"rooms": {"4B": {"busy": []}}}.
/// Not for an empty list of errors, or of what was done.
bool lists_nothing(std::string_view output, std::span<const std::string> answers, const Lexicon& lexicon) {
  JsonScanner cursor(output);
  auto token = cursor.next();
  if (token == Token::kArray) return cursor.next() == Token::kArrayEnd;
  if (token != Token::kObject) return false;
  bool counts = false;
  std::size_t depth = 1;
  while (depth > 0) {
    token = cursor.next();
    if (token == Token::kObjectEnd) {
      --depth;
      continue;
    }
    if (token != Token::kKey) return false;
    const auto key = last_word(cursor.text());
    const auto* entry = lexicon.find(key);
    if (among(key, answers) || (entry != nullptr && ((entry->forms & kFormDone) != 0 || has(entry->cues, kCueTrouble)))) return false;
    token = cursor.next();
    if (token == Token::kObject) {
      ++depth;
      continue;
    }
    const bool none = (token == Token::kArray && cursor.next() == Token::kArrayEnd) || (token == Token::kNumber && cursor.text() == "0");
    counts |= none;
    if (!none && token != Token::kNull) return false;
  }
  return counts;
}

/// "18 Tannery Row, Unit 4, Leith": a number among words that each begin with a capital letter of ASCII, and are not all in capitals.
bool is_address(std::string_view text) {
  bool number = false, small = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    small |= is_lower(text[i]);
    if (text[i] == ' ' || (i > 0 && text[i - 1] != ' ')) continue;
    if (!is_digit(text[i]) && (text[i] < 'A' || text[i] > 'Z')) return false;
    number |= is_digit(text[i]);
  }
  return number && small;
}

}  // namespace

bool gives_records(const StepView& step, std::span<const std::string> answers, const ToolWords& words, const Lexicon& lexicon) {
  const auto output = trim(step.output);
  if (step.outcome == Outcome::kFailed || output.empty()) return false;
  // The frame of a protocol around a text is no record: `{"content": [{"type": "text", "text": "ok"}]}`.
  std::string buffer;
  auto framed = step;
  framed.output = inner_output(output, words.text_envelopes, buffer);
  if (!framed.output.empty()) return gives_records(framed, answers, words, lexicon);
  std::vector<CallValue> asked;
  collect_values(step.input, words.calls, asked);
  const auto limits = std::count_if(asked.begin(), asked.end(), is_small_number);
  const bool asks_one = asked.size() <= 1 || std::ssize(asked) - limits == 1;
  if (!looks_like_json(output)) {
    if (opens_with_trouble(output, lexicon)) return false;
    if (output.find_first_of("|\t") != std::string_view::npos || std::count(output.begin(), output.end(), '\n') > 1) return true;
    return tells_no_deed(output, asks_one ? kFewestWords : kFewestWordsOfAText, lexicon);
  }
  if (says_done(output, lexicon)) return false;
  if (lists_nothing(output, answers, lexicon)) return true;
  if (asked.size() > kMostMembers) asked.resize(kMostMembers);
  const auto told = told_in(output, asked, answers, lexicon);
  if (told.done) return false;
  const bool plain = told.flags == 0 && told.codes == 0;
  return told.list || told.members >= (plain ? kFewestPlainMembers : kFewestMembers) ||
         (asks_one && told.members > told.blanks && told.flags == 0);
}

bool carries_text(const StepView& call, const ToolWords& words) {
  constexpr std::ptrdiff_t kBlanks = 4;
  std::vector<CallValue> values;
  collect_values(call.input, words.calls, values);
  return std::any_of(values.begin(), values.end(), [&](const CallValue& value) {
    return !among(value.key, words.query_members) && std::count(value.text.begin(), value.text.end(), ' ') >= kBlanks &&
           !is_address(value.text);
  });
}

bool orders_change(const StepView& call, const ToolWords& words, const Lexicon& lexicon) {
  constexpr std::size_t kLongest = 16;  // bytes of a value that is a verb
  const auto changes = [&](const std::string& word) {
    if (!among(word, words.changing_words)) return false;
    const auto* entry = lexicon.find(word);
    return entry != nullptr && entry->verb != kNoVerb;
  };
  std::string first;  // folded
  if (const auto input = trim(call.input); !looks_like_json(input))
    fold(input.substr(0, std::min(input.find_first_of(" \t\n"), kLongest)), first);
  if (changes(first)) return true;  // "apply tf.plan"
  std::vector<CallValue> values;
  collect_values(call.input, words.calls, values);
  if (replaces_one(values, words.calls)) return true;
  std::vector<std::string> parts;
  return std::any_of(values.begin(), values.end(), [&](const CallValue& value) {
    if (value.text.size() > kLongest || among(value.key, words.query_members)) return false;
    const auto of_name = [](char c) { return is_letter_or_digit(c) || c == '_'; };
    fold(value.text, first);
    if (!std::all_of(first.begin(), first.end(), of_name)) return false;
    split_tool_name(first.size() == value.text.size() ? value.text : first, parts);  // "item_add", "CreatePickup"
    return std::any_of(parts.begin(), parts.end(), changes);
  });
}

}  // namespace runwarden::plugins
