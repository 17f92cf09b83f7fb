#include "missing_tool_call/text_work.h"

#include <algorithm>

#include "common/recovery.h"
#include "common/verdict.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kObjectReach = 6;  // words of the object, and again of the place after it

/// True when a text contains signs of pasted code.
bool looks_like_code(std::string_view text) {
  // Syntax of programming languages and of HTML.
  constexpr std::string_view kSigns[] = {"();",           "){",        ") {",      "=>",    "</",          "/>",    "==", "def ", "SELECT ",
                                         "select * from", "function(", "#include", "<?php", "console.log", "print("};
  return std::any_of(std::begin(kSigns), std::end(kSigns), [&](auto sign) { return text.find(sign) != std::string_view::npos; });
}

/// True at a preposition after the object; "a" can be a preposition or an article: "a la lista".
bool parts_object(const Reading& reading, const Sentence& sentence, std::size_t at) {
  const auto& word = reading.words[at];
  if ((word.cues & kCuePreposition) == 0) return false;
  return !is_article(word) || (at + 1 < sentence.end && (reading.words[at + 1].cues & kCueDeterminer) != 0);
}

/// "x", "5": a term of a calculation.
bool is_term(const ReadWord& word) {
  const auto text = word.text;
  return is_digit(text[0]) ? std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || c == '.'; })
                           : text.size() == 1 && !has(word.cues, kCueDeterminer | kCueSelf | kCuePreposition | kCueConjunction);
}

/// Counts of the lines and words of a message.
struct Shape {
  std::size_t words = 0;
  std::size_t lines = 0;
  std::size_t items = 0;          // lines of a list, a table or a citation
  std::size_t longest_quote = 0;  // in words
  std::size_t after_colon = 0;    // words after the first colon that follows words of its own sentence
};

class ShapeReader {
 public:
  /// Stops after `most_words` words.
  Shape read(std::string_view text, std::size_t most_words) {
    bool new_line = true;
    for (std::size_t i = 0; i < text.size() && shape_.words < most_words; ++i) {
      const char c = text[i];
      if (c == '\n') {
        new_line = true;
        in_sentence_ = 0;
      }
      if (blank(c)) {
        in_word_ = false;
        continue;
      }
      if (new_line) open_line(text, i);
      new_line = false;
      take(text, i);
    }
    if (colon_at_ != 0) shape_.after_colon = shape_.words - colon_at_;
    return shape_;
  }

 private:
  static bool ends_word(std::string_view text, std::size_t i) { return i + 1 >= text.size() || blank(text[i + 1]); }

  void open_line(std::string_view text, std::size_t i) {
    ++shape_.lines;
    const char c = text[i];
    auto digits = i;
    while (digits < text.size() && digits - i < 3 && is_digit(text[digits])) ++digits;
    const bool number = digits > i && digits < text.size() && (text[digits] == '.' || text[digits] == ')') && ends_word(text, digits);
    const bool bullet = (c == '-' || c == '*' || c == '+') && ends_word(text, i);
    if (number || bullet || c == '|' || c == '>' || text.substr(i, 3) == "\xE2\x80\xA2") ++shape_.items;
  }

  void take(std::string_view text, std::size_t i) {
    const char c = text[i];
    const auto sign = text.substr(i, 3);
    const bool quote = c == '"' || sign == "\xE2\x80\x9C" || sign == "\xE2\x80\x9D" || sign == "\xE2\x80\x9E";
    if (quote) {
      if (quoted_ && sign != "\xE2\x80\x9C") shape_.longest_quote = std::max(shape_.longest_quote, shape_.words - quote_at_);
      quoted_ = !quoted_ || sign == "\xE2\x80\x9C";
      quote_at_ = shape_.words;
    }
    constexpr std::size_t kBeforeColon = 2;
    if (c == ':' && ends_word(text, i) && colon_at_ == 0 && in_sentence_ >= kBeforeColon) colon_at_ = shape_.words;
    if ((c == '.' || c == '!' || c == '?') && ends_word(text, i)) in_sentence_ = 0;
    const bool letter = is_digit(c) || static_cast<unsigned char>((c | 0x20) - 'a') < 26 || static_cast<unsigned char>(c) >= 0xC3;
    if (letter && !in_word_) {
      in_word_ = true;
      ++shape_.words;
      ++in_sentence_;
    }
  }

  Shape shape_;
  std::size_t in_sentence_ = 0;
  std::size_t colon_at_ = 0;
  std::size_t quote_at_ = 0;
  bool in_word_ = false;
  bool quoted_ = false;
};

constexpr std::size_t kQuoted = 4, kLong = 60;  // words of a text in quotation marks, and of any text

}  // namespace

TextWork::TextWork(const Vocabulary& vocabulary, const Lexicon& lexicon) : of_language_(vocabulary.languages().size()) {
  shapes_.assign(lexicon.verb_count(), false);
  sorts_.assign(lexicon.verb_count(), false);
  for (const auto verb : lexicon.verbs_named(vocabulary.words(Key::kTextVerbs))) shapes_[verb] = true;
  for (const auto verb : lexicon.verbs_named(vocabulary.words(Key::kSortingVerbs))) sorts_[verb] = true;
  const auto take = [&](Key key, HashSet Nouns::*kind) {
    vocabulary.each(key, [&](std::string_view text, std::size_t language) {
      std::string folded;
      fold(text, folded);
      (of_any_.*kind).insert(hash_noun(folded));
      (of_language_[language].*kind).insert(hash_noun(folded));
    });
  };
  take(Key::kRecords, &Nouns::records);
  take(Key::kTextProducts, &Nouns::texts);
}

Thing TextWork::thing_of(std::string_view word, std::uint8_t language) const {
  const auto noun = hash_noun(word);
  const auto& nouns = language == kAnyLanguage ? of_any_ : of_language_[language];
  const bool text = nouns.texts.contains(noun);
  if (nouns.records.contains(noun)) return text ? Thing::kEither : Thing::kRecord;
  return text ? Thing::kText : Thing::kUnknown;
}

bool TextWork::is_noun(std::string_view word, std::uint8_t language) const {
  return thing_of(word, language) != Thing::kUnknown;
}

bool TextWork::sorts_at(const Reading& reading, const Sentence& sentence, std::size_t verb) const {
  if (!sorts_[reading.words[verb].entry->verb]) return false;
  constexpr std::size_t kReach = 2;
  for (auto i = verb + 1; i < sentence.end && i <= verb + kReach && reading.words[i].before == Break::kNone; ++i) {
    if (has(reading.words[i].cues, kCuePointing)) return true;
  }
  return false;
}

/// The kind of object of a verb that ends its clause: the nearest record before it, else the nearest other noun.
Thing TextWork::thing_before(const Reading& reading, const Sentence& sentence, std::size_t verb) const {
  constexpr std::size_t kReach = 2 * kObjectReach;
  Thing found = Thing::kUnknown;
  for (auto i = verb; i > sentence.begin && verb - i < kReach && reading.words[i].before == Break::kNone; --i) {
    const auto thing = thing_of(reading.words[i - 1].text, reading.language);
    if (thing == Thing::kRecord) return thing;
    if (found == Thing::kUnknown) found = thing;
  }
  return found;
}

bool TextWork::names_record_as_place(const Reading& reading, const Sentence& sentence, std::size_t verb) const {
  constexpr std::size_t kReach = 2 * kObjectReach, kNear = 3;
  std::size_t place = sentence.end;
  for (auto i = verb + 1; i < sentence.end && i - verb <= kReach && reading.words[i].before == Break::kNone; ++i) {
    if (has(reading.words[i].cues, kCueAuxiliary)) return false;  // "note that the list is on the page"
    if (has(reading.words[i].cues, kCuePlace)) place = i;
    if (place < i && i - place <= kNear && thing_of(reading.words[i].text, reading.language) == Thing::kRecord) return true;
  }
  return false;
}

Thing TextWork::thing_at(const Reading& reading, const Sentence& sentence, std::size_t verb, bool making) const {
  if (ends_clause(reading, sentence, verb)) return thing_before(reading, sentence, verb);
  Thing object = Thing::kUnknown;  // when something is created, the last noun names it: "ticket template"
  Thing place = Thing::kUnknown;
  bool behind = false;  // after a preposition
  bool in_place = false;
  std::size_t from = verb;
  for (auto i = verb + 1; i < sentence.end && i - from <= kObjectReach && reading.words[i].before == Break::kNone; ++i) {
    const auto& word = reading.words[i];
    const auto thing = thing_of(word.text, reading.language);
    if (parts_object(reading, sentence, i)) {
      if (!behind) from = i;
      behind = true;
      in_place = has(word.cues, kCuePlace);
      continue;
    }
    if ((word.cues & kCueConjunction) != 0 && behind) break;
    if (thing == Thing::kUnknown || (behind && has(word.cues, kCueSequenceNoun))) continue;  // "in alphabetical order"
    if (!behind) {
      if (making || object != Thing::kRecord) object = thing;
    } else if (thing == Thing::kText ? place == Thing::kUnknown : in_place) {
      place = place == Thing::kRecord ? Thing::kRecord : thing;
    }
  }
  const bool term = verb + 1 < sentence.end && reading.words[verb + 1].before == Break::kNone && is_term(reading.words[verb + 1]) &&
                    (verb + 2 >= sentence.end || reading.words[verb + 2].before != Break::kNone ||
                     (reading.words[verb + 2].cues & (kCuePreposition | kCueConjunction)) != 0);
  if (place == Thing::kRecord && !(making && object == Thing::kText)) return place;
  if (object == Thing::kUnknown && term && place == Thing::kUnknown) return Thing::kText;
  if (object == Thing::kRecord || object == Thing::kText) return object;
  return place == Thing::kUnknown ? object : place;
}

bool TextWork::holds_code(std::string_view message, bool by_user) {
  if (message.find("```") != std::string_view::npos) return true;
  return by_user && message.find_first_of("({=</#\n") != std::string_view::npos && looks_like_code(message);
}

bool TextWork::holds_prose(std::string_view message) {
  std::string buffer;
  const auto shape = ShapeReader().read(prose_of(message, buffer), kLong);
  return shape.longest_quote >= kQuoted || shape.words >= kLong;
}

bool TextWork::holds_text(std::string_view message, bool by_user, bool* list) {
  constexpr std::size_t kLines = 3, kItems = 2;
  std::string buffer;
  const auto shape = ShapeReader().read(prose_of(message, buffer), list == nullptr ? kLong : std::string_view::npos);
  if (list != nullptr) *list = shape.items >= kLines;
  return shape.items >= kItems || shape.longest_quote >= kQuoted || shape.words >= kLong ||
         shape.lines >= (by_user ? kLines : kLines + 1) || shape.after_colon >= (by_user ? 1u : 3u);
}

void TextWork::clear() {
  looked_ = false;
  message_ = nullptr;
}

void TextWork::look_for_texts(const RunView& run) {
  looked_ = true;
  first_code_ = first_text_ = first_prose_ = kNoStep;
  std::string buffer;
  const auto take = [&](std::string_view text, bool by_user, std::size_t step) {
    run.pace(text.size());
    const auto told = told_of(text, buffer);
    if (holds_code(told, by_user)) first_code_ = step;
    if (first_prose_ != kNoStep) return;
    const bool held = first_code_ == step || holds_text(told, by_user, nullptr);
    if (held && first_text_ == kNoStep) first_text_ = step;
    // A list that ends in a question offers choices and is no text.
    if (held && (by_user || !trim(told).ends_with('?') || holds_prose(told))) first_prose_ = step;
  };
  take(run.user_request, true, 0);
  for (std::size_t i = 0; i < run.steps.size() && first_code_ == kNoStep; ++i) {
    const auto& step = run.steps[i];
    if (step.kind == Kind::kUser) take(step.said(), true, i);
    if (step.kind == Kind::kModel) take(step.output, false, i + 1);
  }
}

bool TextWork::given_by(const RunView& run, std::size_t turn) {
  if (!looked_) look_for_texts(run);
  return (first_prose_ != kNoStep && first_prose_ <= turn) || (first_code_ != kNoStep && first_code_ <= turn);
}

bool TextWork::holds(const RunView& run, Thing thing, bool named, std::string_view message, std::size_t step) {
  if (thing == Thing::kText) return true;
  if (!looked_) look_for_texts(run);
  if (message_ != message.data()) {
    message_ = message.data();
    std::string buffer;
    const auto told = told_of(message, buffer);
    message_holds_.code = holds_code(told, false);
    message_holds_.text = holds_text(told, false, &message_holds_.list) || message_holds_.code;
  }
  if (message_holds_.code || (first_code_ <= step && first_code_ != kNoStep)) return true;
  if (thing == Thing::kRecord) return false;
  if (thing == Thing::kUnknown && named) return message_holds_.list;
  return message_holds_.text || (first_text_ <= step && first_text_ != kNoStep);
}

}  // namespace runwarden::plugins
