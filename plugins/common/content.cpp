#include "common/content.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include "common/inner_output.h"
#include "common/json_scan.h"
#include "common/reading.h"
#include "common/simd16.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

using Token = JsonScanner::Token;

constexpr std::size_t kLongestEmptyPhrase = 100;
constexpr std::size_t kLongestSign = 8;  // "is_error"
constexpr std::size_t kZerosThatAreNothing = 2;
constexpr std::size_t kNullsThatAreNothing = 3;  // beside what repeats the arguments

bool counts_what_was_found(std::string_view key, const ContentRules& rules) {
  return std::any_of(rules.count_names.begin(), rules.count_names.end(), [&](const auto& word) {
    for (std::size_t at = 0; at + word.size() <= key.size(); ++at) {
      if (equal_ignoring_case(key.substr(at, word.size()), word)) return true;
    }
    return false;
  });
}

bool is_zero(std::string_view digits) {
  return digits.find_first_not_of("0.-+") == std::string_view::npos;
}

void skip_value(JsonScanner& cursor, Token token) {
  if (token != Token::kObject && token != Token::kArray) return;
  const auto depth = cursor.depth();
  while (token != Token::kBad && cursor.depth() >= depth) token = cursor.next();
}

/// "No assets match", "no good search result was found": a phrase for nothing that names what is missing. "No problems found" is a result.
bool names_what_is_missing(const std::vector<std::string_view>& words, const WordEntry& first, const Lexicon& lexicon,
                           const ContentRules& rules) {
  constexpr std::size_t kLeast = 3, kMost = 8;
  if (words.size() < kLeast || words.size() > kMost) return false;
  const bool trouble = std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    const auto* entry = lexicon.find(word);
    return rules.telling_when_empty.contains(word) || (entry != nullptr && (entry->cues & (kCueTrouble | kCueAdmission)) != 0);
  });
  return !trouble && std::any_of(first.phrases.begin(), first.phrases.end(), [&](auto begins) {
    const auto& phrase = lexicon.phrase(begins.phrase);
    return (phrase.cues & kCueEmptyWord) != 0 && phrase.words.size() > 1 && phrase.words.front() == words.front() &&
           phrase.words.back() == words.back();
  });
}

/// True for a word that begins phrases for nothing of two words: "no" of "no results".
bool denies_things(const WordEntry* first, const Lexicon& lexicon) {
  return first != nullptr && std::any_of(first->phrases.begin(), first->phrases.end(), [&](auto begins) {
           const auto& phrase = lexicon.phrase(begins.phrase);
           return has(phrase.cues, kCueEmptyWord) && phrase.words.size() == 2;
         });
}

/// "No entries", "0 hits": two words, of which the first begins a phrase for nothing. "No conflicts" is a result.
bool denies_a_thing(const std::vector<std::string_view>& words, const WordEntry& first, const Lexicon& lexicon, const ContentRules& rules) {
  constexpr std::size_t kShortest = 4;
  if (words.size() != 2 || words[1].size() < kShortest || !is_letter_or_digit(words[1][0]) || is_digit(words[1][0])) return false;
  const auto* thing = lexicon.find(words[1]);
  return !rules.telling_when_empty.contains(words[1]) && (thing == nullptr || !has(thing->cues, kCueTrouble | kCueAdmission)) &&
         denies_things(&first, lexicon);
}

/// "0 records matched", "Found 0 orders", "No orders matched your search", "Es wurden 0 Zeilen gefunden": a short text whose only figure is
/// 0, or which begins with "no", with a word that says that something was found. "0 conflicts found" is a result.
bool counts_nothing(const std::vector<std::string_view>& words, const WordEntry* first, const Lexicon& lexicon, const ContentRules& rules) {
  constexpr std::size_t kLeast = 3, kMost = 6;
  if (words.size() < kLeast || words.size() > kMost) return false;
  const auto zero = denies_things(first, lexicon) ? words.begin() : std::find(words.begin(), words.end(), "0");
  if (zero == words.end() || zero + 1 == words.end()) return false;
  const auto tells = [&](std::string_view word) {
    const auto* entry = lexicon.find(word);
    const bool trouble = entry != nullptr && has(entry->cues, kCueTrouble | kCueAdmission | kCueNegation);
    return trouble || rules.telling_when_empty.contains(word) || (has_digit(word) && word != "0");
  };
  const auto found = [&](std::string_view word) { return rules.found_words.contains(word); };
  return std::any_of(words.begin(), words.end(), found) && std::none_of(zero + 1, words.end(), tells) &&
         std::none_of(words.begin(), zero, tells);
}

/// "no results", "no results found for your query": a phrase of several words may be followed by what was looked for.
bool is_empty_phrase(std::string_view text, const Lexicon& lexicon, const ContentRules& rules) {
  if (text.size() > kLongestEmptyPhrase) return false;
  std::string folded;
  fold(text, folded);
  WordCursor cursor(folded);
  RawWord word;
  if (!cursor.next(word)) return text.find_first_not_of("\"'.[]{}() -") == std::string_view::npos;
  const auto* entry = lexicon.find(word.text);
  std::vector<std::string_view> words{word.text};
  while (cursor.next(word)) words.push_back(word.text);
  if (counts_nothing(words, entry, lexicon, rules)) return true;
  if (entry == nullptr) return false;
  if (words.size() == 1) return (entry->cues & kCueEmptyWord) != 0;
  // "No invoices for this account": the words after a preposition name what was searched for.
  const auto is_preposition = [&](std::string_view one) {
    const auto* known = lexicon.find(one);
    return known != nullptr && has(known->cues, kCuePreposition);
  };
  const std::vector<std::string_view> named(words.begin(), std::find_if(words.begin(), words.end(), is_preposition));
  return std::any_of(entry->phrases.begin(), entry->phrases.end(),
                     [&](auto begins) {
                       const auto& phrase = lexicon.phrase(begins.phrase);
                       if ((phrase.cues & kCueEmptyWord) == 0 || phrase.words.size() > words.size()) return false;
                       if (!std::equal(phrase.words.begin(), phrase.words.end(), words.begin())) return false;
                       if (phrase.words.size() == words.size()) return true;
                       const auto* next = lexicon.find(words[phrase.words.size()]);
                       return phrase.words.size() > 1 && next != nullptr && (next->cues & kCuePreposition) != 0;
                     }) ||
         names_what_is_missing(named, *entry, lexicon, rules) || denies_a_thing(named, *entry, lexicon, rules);
}

/// "There are no berths matching your search.", "Your search did not match any documents.": a short sentence without figures.
bool says_nothing_found(std::string_view text, const Lexicon& lexicon, const ContentRules& rules) {
  constexpr std::size_t kMostWords = 12;
  if (text.size() > kLongestEmptyPhrase || rules.short_signs.read(text) != ShortSign::kNone) return false;
  Reading reading;
  read_words(text, lexicon, reading);
  read_meaning(lexicon, reading, false);
  if (!has(reading.cues, kCueNothingFound) || has(reading.cues, kCueTrouble | kCueAdmission) || reading.words.size() > kMostWords)
    return false;
  const auto is_done = [](const ReadWord& word) { return word.entry != nullptr && (word.entry->forms & kFormDone) != 0; };
  const auto is_fact = [&](const ReadWord& word) {
    return is_digit(word.text[0]) || is_done(word) || rules.telling_when_empty.contains(word.text);
  };
  return std::none_of(reading.words.begin(), reading.words.end(), is_fact);
}

/// "sailings", "results": of a list that is null. "status" and "address" name one thing.
bool names_several(std::string_view key, const ContentRules& rules) {
  constexpr std::size_t kShortest = 4;
  return key.size() >= kShortest && ends_with_any(key, rules.plural_endings) && !ends_with_any(key, rules.singular_endings);
}

/// Whether the values of a JSON text are all zero results, or repeat the arguments.
class ZeroResults {
 public:
  ZeroResults(std::string_view asked, const ContentRules& rules) : asked_(asked.substr(0, kMostAsked)), rules_(rules) {}

  /// Takes a plain value that stands under `key`. False for one that is a result.
  bool take(Token token, std::string_view key, std::string_view text) {
    switch (token) {
      case Token::kTrue: return describes_page(key);
      case Token::kFalse: hollow_ |= rules_.existence_members.contains(key); return true;
      case Token::kNull:
        ++nulls_;
        hollow_ = hollow_ || names_several(key, rules_);
        return true;
      case Token::kString:
        if (text == "0") return take(Token::kNumber, key, text);
        if (text == "[]" || text == "{}" || text == "null") {  // JSON within a text: "body": "[]"
          take_hollow(key);
          return true;
        }
        blanks_ += text.empty() ? 1u : 0u;
        return text.empty() || repeats(text);
      case Token::kNumber:
        if (!is_zero(text)) return describes_page(key) || repeats(text);
        ++zeros_;
        counted_ = counted_ && counts_what_was_found(key, rules_);
        total_ |= counts_what_was_found(key, rules_);
        return true;
      default: return true;
    }
  }

  /// Takes a member that describes the answer: a message that says that there is none makes up for a list without items.
  void take_metadata(std::string_view key, Token token, std::string_view text, const Lexicon& lexicon) {
    null_metadata_ += token == Token::kNull ? 1u : 0u;
    if (token != Token::kString) return;
    if (rules_.message_members.contains(key)) {
      told_ |= is_empty_phrase(text, lexicon, rules_) || says_nothing_found(text, lexicon, rules_);
    } else if (text.find('_') != std::string_view::npos) {  // {"status": "NO_DATA"}
      std::string words(text);
      std::replace(words.begin(), words.end(), '_', ' ');
      told_ |= is_empty_phrase(words, lexicon, rules_);
    }
  }

  /// Takes an empty list or object that stands under `key`.
  void take_hollow(std::string_view key) {
    const bool telling = rules_.telling_when_empty.contains(key);
    (telling ? telling_ : hollow_) = true;
  }

  [[nodiscard]] bool hold() const {
    // {"issues": []} is the answer, {"total": 0, "issues": []} a page of a search.
    const bool page = telling_ && zeros_ > 0 && total_;
    if (telling_ && !page && !hollow_ && nulls_ == 0) return false;
    if (paged_ && !hollow_ && !page) return false;  // "number": 7 is a page of nothing only where a list is empty
    // A single 0 under another name may be a fact ("balance": 0); several zeros, or one beside null, and nothing else mean no result.
    if (zeros_ > 0 && !counted_) return hollow_ || page || zeros_ + nulls_ >= kZerosThatAreNothing;
    const bool all_null = nulls_ + (nulls_ > 1 ? null_metadata_ : 0) >= kNullsThatAreNothing;
    return hollow_ || told_ || blanks_ > 0 || zeros_ > 0 || all_null || (nulls_ > 0 && repeated_ == 0);
  }

 private:
  static constexpr std::size_t kMostAsked = 4096;   // bytes
  static constexpr std::size_t kMostRepeated = 32;  // values

  bool describes_page(std::string_view key) {
    const bool describes = rules_.paging_members.contains(key);
    paged_ |= describes;
    return describes;
  }

  bool repeats(std::string_view text) { return ++repeated_ <= kMostRepeated && asked_.find(text) != std::string_view::npos; }

  std::string_view asked_;
  const ContentRules& rules_;
  std::size_t nulls_ = 0;
  std::size_t null_metadata_ = 0;  // members that describe the answer and are null, such as a currency
  bool hollow_ = false;
  std::size_t blanks_ = 0;    // empty texts
  std::size_t repeated_ = 0;  // values that repeat the arguments
  std::size_t zeros_ = 0;     // numbers equal to 0
  bool counted_ = true;       // every zero has a name that counts
  bool total_ = false;        // one has
  bool telling_ = false;      // what is empty tells something by it
  bool paged_ = false;        // a member describes the page of a list
  bool told_ = false;         // a message says that there is nothing
};

/// True when the JSON contains nothing but zero results.
bool only_zero_results(std::string_view text, std::string_view asked, const Lexicon& lexicon, const ContentRules& rules) {
  JsonScanner cursor(text);
  auto token = cursor.next();
  if (token != Token::kObject && token != Token::kArray) return false;
  ZeroResults results(asked, rules);
  std::string_view key;
  auto previous = token;
  for (token = cursor.next(); token != Token::kEnd; previous = token, token = cursor.next()) {
    if (token == Token::kBad) return false;
    if (token == Token::kKey) {
      key = cursor.text();
      if (!rules.metadata_members.contains(key) && !key.starts_with('@')) continue;
      const auto value = cursor.next();
      results.take_metadata(key, value, cursor.text(), lexicon);
      skip_value(cursor, value);
      token = Token::kFalse;
    } else if ((token == Token::kObjectEnd && previous == Token::kObject) || (token == Token::kArrayEnd && previous == Token::kArray)) {
      results.take_hollow(key);
    } else if (!results.take(token, key, cursor.text())) {
      return false;
    }
  }
  return results.hold();
}

/// "net | n\n----+---\n    | 0\n(1 row)": behind its head, a table has one row, of nothing but blanks and zeros.
bool is_row_of_nothing(std::string_view text) {
  const auto head = text.find('\n');
  const auto rule = text.find('\n', head + 1);
  const auto row = rule == std::string_view::npos ? rule : text.find('\n', rule + 1);
  if (row == std::string_view::npos || text.substr(head, rule - head).find_first_not_of("\n-+| ") != std::string_view::npos) return false;
  const auto rest = trim(text.substr(row));
  const bool last = rest.empty() || (rest.starts_with("(1 ") && rest.find('\n') == std::string_view::npos);
  return last && text.substr(rule, row - rule).find_first_not_of("\n| 0") == std::string_view::npos;
}

/// "deadline | fee\n(0 rows)", "Empty DataFrame\nColumns: [a]\nIndex: []": a table's head, and a line that says that nothing is in it.
bool is_empty_table(std::string_view text, const Lexicon& lexicon, const ContentRules& rules) {
  constexpr std::size_t kLongest = 600;
  constexpr std::ptrdiff_t kMostLines = 4;
  if (text.size() > kLongest) return false;
  if (is_row_of_nothing(text)) return true;
  const auto breaks = std::count(text.begin(), text.end(), '\n');
  if (breaks == 0 || breaks >= kMostLines) return false;
  const auto last = trim(text.substr(text.rfind('\n') + 1));
  if (breaks == 1 && last.find_first_not_of("|-+: ") == std::string_view::npos && last.find('-') != std::string_view::npos) return true;
  return is_empty_phrase(text.substr(0, text.find('\n')), lexicon, rules) || is_empty_phrase(last, lexicon, rules);
}

/// "Total: 0", "results: []": a label that counts or holds what was found, and nothing.
bool labels_nothing(std::string_view text, const ContentRules& rules) {
  constexpr std::size_t kLongest = 40;
  const auto colon = text.find(':');
  if (text.size() > kLongest || colon == std::string_view::npos) return false;
  const auto label = trim(text.substr(0, colon));
  const auto value = trim(text.substr(colon + 1));
  const bool nothing = value == "0" || value == "[]" || value == "{}";
  return nothing && label.find(' ') == std::string_view::npos && counts_what_was_found(label, rules);
}

/// `<result total="0"/>`: true for an attribute that counts what was found. `equals` is the offset of its sign.
bool is_counting_attribute(std::string_view text, std::size_t equals, const ContentRules& rules) {
  const auto blank_before = text.substr(0, equals).find_last_of(" \t\n");
  return blank_before != std::string_view::npos && counts_what_was_found(text.substr(blank_before + 1, equals - blank_before - 1), rules);
}

/// Without the line that declares XML.
std::string_view without_declaration(std::string_view text) {
  constexpr std::string_view kBegin = "<?xml", kEnd = "?>";
  const auto end = text.starts_with(kBegin) ? text.find(kEnd) : std::string_view::npos;
  return end == std::string_view::npos ? text : trim(text.substr(end + kEnd.size()));
}

/// "<results/>", `<rows total="0"></rows>`, `<track><parcel nr="77"/><events/></track>`: elements of several things, or with their count,
/// without text, whose attributes say no more than 0 or what was `asked`.
bool is_empty_markup(std::string_view text, std::string_view asked, const ContentRules& rules) {
  constexpr std::size_t kLongest = 300;
  text = without_declaration(text);
  if (text.size() > kLongest || !text.starts_with('<') || !text.ends_with('>')) return false;
  bool several = false;
  bool tag = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<' || text[i] == '>') {
      tag = text[i] == '<';
      const auto name = tag ? text.substr(i + 1, text.find_first_of(" />", i + 1) - i - 1) : std::string_view();
      several |= names_several(name, rules);
    } else if (!tag && !blank(text[i])) {
      return false;
    } else if (text[i] == '=') {
      several |= is_counting_attribute(text, i, rules);
    } else if (text[i] == '"') {
      const auto close = text.find('"', i + 1);
      if (close == std::string_view::npos) return false;
      const auto value = text.substr(i + 1, close - i - 1);
      if (!is_zero(value) && asked.find(value) == std::string_view::npos) return false;
      i = close;
    }
  }
  return several;
}

/// "id,status,carrier": the head of a table without rows. Its first column is an id; other lists of words may be answers.
bool is_head_alone(std::string_view text, const ContentRules& rules) {
  constexpr std::size_t kLongest = 400;
  constexpr std::ptrdiff_t kFewest = 2;  // signs between columns
  const auto sign = text.find_first_of(",;\t");
  if (text.size() > kLongest || sign == std::string_view::npos || std::count(text.begin(), text.end(), text[sign]) < kFewest) return false;
  const auto in_name = [&](char c) { return is_ascii_letter(c) || c == '_' || c == '"' || c == text[sign]; };
  auto first = text.substr(0, sign);
  if (first.starts_with('"') && first.ends_with('"') && first.size() > 1) first = first.substr(1, first.size() - 2);
  return rules.tools.calls.id_names.contains(first.substr(first.find_last_of('_') + 1)) && std::all_of(text.begin(), text.end(), in_name);
}

/// What a block of code holds that is the whole text: "[]" between lines with "```".
std::string_view without_fence(std::string_view text) {
  constexpr std::string_view kFence = "```";
  const auto line_end = text.find('\n');
  if (!text.starts_with(kFence) || line_end == std::string_view::npos || !text.ends_with(kFence)) return {};
  return trim(text.substr(line_end, text.size() - line_end - kFence.size()));
}

bool says_error(Token token, const JsonScanner& cursor) {
  switch (token) {
    case Token::kString:
      return !trim(cursor.text()).empty() && !equal_ignoring_case(cursor.text(), "none") && !equal_ignoring_case(cursor.text(), "null");
    case Token::kNumber: return !is_zero(cursor.text());
    case Token::kTrue: return true;
    default: return false;
  }
}

bool member_fails(std::string_view key, Token token, JsonScanner& cursor) {
  if (key.size() > kLongestSign) return false;
  if (equal_ignoring_case(key, "error")) {
    if (token == Token::kObject || token == Token::kArray) {
      const auto depth = cursor.depth();
      const auto inner = cursor.next();
      if (inner == Token::kBad || cursor.depth() < depth) return false;
      return true;
    }
    return says_error(token, cursor);
  }
  if (equal_ignoring_case(key, "success") || equal_ignoring_case(key, "ok")) return token == Token::kFalse;
  if (equal_ignoring_case(key, "iserror") || equal_ignoring_case(key, "is_error")) return token == Token::kTrue;
  if (equal_ignoring_case(key, "status")) return token == Token::kString && equal_ignoring_case(cursor.text(), "error");
  return false;
}

/// False when the text cannot contain a sign of failure: each sign has "rr" (error), "cc" (success) or "ok" in it.
bool may_fail(std::string_view text) {
  constexpr std::size_t kPairs = Simd16::kBytes - 1;  // positions in a block whose next byte is also in it
  for (std::size_t begin = 0; begin + 1 < text.size(); begin += kPairs) {
    const auto block = Simd16(text, begin).lower();
    const auto r = block.equal('r');
    const auto c = block.equal('c');
    auto pairs = (r & r >> 1) | (c & c >> 1) | (block.equal('o') & block.equal('k') >> 1);
    for (; pairs != 0; pairs &= pairs - 1) {
      const auto at = begin + static_cast<std::size_t>(std::countr_zero(pairs));
      const char first = text[at] | 0x20;
      if (first == 'r' && at > 0 && equal_ignoring_case(text.substr(at - 1, 5), "error")) return true;
      if (first == 'o' && (at + 2 >= text.size() || !is_word_byte(static_cast<char>(text[at + 2] | 0x20)))) return true;
      if (first == 'c' && at > 1 && equal_ignoring_case(text.substr(at - 2, 7), "success")) return true;
    }
  }
  return false;
}

/// Examines the members of an object that was just opened; may leave it partly read.
bool members_fail(JsonScanner& cursor, const ContentRules& rules, bool in_envelope) {
  const auto outer = cursor.depth();
  for (auto token = cursor.next(); token == Token::kKey; token = cursor.next()) {
    const auto key = cursor.text();
    const auto value = cursor.next();
    if (value == Token::kBad) return false;
    if (member_fails(key, value, cursor)) return true;
    if (value == Token::kObject && !in_envelope && rules.envelope_members.contains(key)) {
      if (members_fail(cursor, rules, true)) return true;
      if (cursor.depth() > outer) return false;
    }
    if (cursor.depth() > outer && !cursor.leave()) return false;
    if (cursor.depth() < outer) return false;
  }
  return false;
}

bool json_fails(std::string_view text, const ContentRules& rules) {
  if (!may_fail(text)) return false;
  JsonScanner cursor(text);
  return cursor.next() == Token::kObject && members_fail(cursor, rules, false);
}

/// "Error", but not "error rate": a report about errors.
bool opens_with(std::string_view text, std::string_view opening, const std::vector<std::string>& reports) {
  if (text.size() < opening.size() || !equal_ignoring_case(text.substr(0, opening.size()), opening)) return false;
  auto rest = text.substr(opening.size());
  if (rest.empty()) return true;
  if (is_word_byte(is_upper(rest[0]) ? 'a' : rest[0])) return false;
  if (rest[0] != ' ' && rest[0] != '-') return true;
  rest = rest.substr(1);
  std::size_t length = 0;
  while (length < rest.size() && is_lower(rest[length])) ++length;
  return !among(rest.substr(0, length), reports);
}

/// "SQL compilation error: no such table": a short text with a title of a few words that ends in the word.
bool is_titled(std::string_view text, std::string_view word) {
  constexpr std::size_t kLongestTitle = 40;
  if (text.size() > ShortSigns::kLongest) return false;
  const auto colon = text.substr(0, kLongestTitle).find(": ");
  if (colon == std::string_view::npos || colon <= word.size()) return false;
  const auto title = text.substr(0, colon);
  const bool plain = std::all_of(title.begin(), title.end(), [](char c) { return is_letter_or_digit(c) || c == ' '; });
  return plain && title[colon - word.size() - 1] == ' ' && equal_ignoring_case(title.substr(colon - word.size()), word);
}

std::string_view unquoted(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0]) return trim(text.substr(1, text.size() - 2));
  return text;
}

/// A short text without the marks of "#ERROR#", "<error>" and "!!! Error"; not a heading: "# Error codes".
std::string_view undecorated(std::string_view text) {
  if (text.size() > ShortSigns::kLongest) return text;
  const auto word = text.find_first_not_of("#<!*");
  return word == std::string_view::npos || (text[0] == '#' && text[word] == ' ') ? text : trim(text.substr(word));
}

/// True when what a wrapping of a protocol holds is empty: `{"content": [{"type": "text", "text": "[]"}]}`.
bool inner_is_empty(std::string_view text, const Lexicon& lexicon, const ContentRules& rules, std::string_view input) {
  std::string buffer;
  const auto inner = inner_output(text, rules.short_signs.text_envelopes(), buffer);
  return !inner.empty() && inner.size() < text.size() && is_empty_output(inner, lexicon, rules, input);
}

}  // namespace

bool is_empty_output(std::string_view output, const Lexicon& lexicon, const ContentRules& rules, std::string_view input) {
  if (!present(output)) return false;
  auto text = unquoted(output);
  // Once: what a tool returns may hold one block within another without end.
  if (const auto code = without_fence(text); !code.empty()) text = unquoted(code);
  if (text.empty()) return true;
  if (text[0] == '{' || text[0] == '[') {
    if (text.size() == 2) return true;
    if (trim(text.substr(1, text.size() - 2)).empty()) return true;
    if (inner_is_empty(text, lexicon, rules, input)) return true;
    return rules.zero_results_are_empty && only_zero_results(text, input, lexicon, rules);
  }
  const auto bare = without_note(text);  // "Empty set (0.00 sec)"
  if (is_empty_phrase(bare.empty() ? text : bare, lexicon, rules) || is_empty_table(text, lexicon, rules) ||
      says_nothing_found(text, lexicon, rules) || labels_nothing(text, rules) || is_empty_markup(text, input, rules) || is_head_alone(text, rules))
    return true;
  return inner_is_empty(text, lexicon, rules, input);
}

bool is_soft_failure(std::string_view output, const ContentRules& rules) {
  const auto text = undecorated(unquoted(output));
  if (text.empty()) return false;
  const auto opens = [&](const auto& opening) { return opens_with(text, opening, rules.error_report_words) || is_titled(text, opening); };
  const bool fails =
      text[0] == '{' ? json_fails(text, rules) : std::any_of(rules.error_openings.begin(), rules.error_openings.end(), opens);
  if (fails) return true;
  std::string buffer;
  const auto inner = inner_output(text, rules.short_signs.text_envelopes(), buffer);
  return !inner.empty() && is_soft_failure(inner, rules);
}

bool is_any_purpose_tool(std::string_view tool, const ContentRules& rules) {
  std::vector<std::string> words;
  split_tool_name(base_name(tool), words);
  return std::any_of(words.begin(), words.end(), [&](const auto& word) {
    return std::find(rules.any_purpose.begin(), rules.any_purpose.end(), word) != rules.any_purpose.end();
  });
}

bool is_short_failure(const ToolCall& call, const ContentRules& rules) {
  return is_short_failure(call, rules.short_signs.read(call.output), rules);
}

bool is_short_failure(const ToolCall& call, ShortSign sign, const ContentRules& rules) {
  if (sign == ShortSign::kNone || sign == ShortSign::kFailed) return sign == ShortSign::kFailed;
  if (names_look_up(call.tool, rules.tools)) return false;
  if (sign == ShortSign::kRefused) return true;
  return !is_any_purpose_tool(call.tool, rules) && !rules.short_signs.is_result_of(call);
}

Field failure_field(const StepView& step) {
  if (!trim(step.error_message).empty()) return Field::kErrorMessage;
  if (!trim(step.error_code).empty()) return Field::kErrorCode;
  if (!trim(step.output).empty()) return Field::kOutput;
  if (step.http_status >= 400) return Field::kHttpStatus;
  // An empty output of a call that did not fail is all that it reports.
  return step.outcome != Outcome::kFailed && present(step.output) ? Field::kOutput : Field::kStatus;
}

std::string failure_text(const StepView& step) {
  switch (failure_field(step)) {
    case Field::kErrorMessage: return std::string(trim(step.error_message));
    case Field::kErrorCode: return std::string(trim(step.error_code));
    case Field::kOutput: return std::string(trim(step.output));
    case Field::kHttpStatus: return "HTTP " + std::to_string(step.http_status);
    default: return std::string(trim(step.status));
  }
}

}  // namespace runwarden::plugins
