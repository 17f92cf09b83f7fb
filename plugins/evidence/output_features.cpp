#include "evidence/output_features.h"

#include <algorithm>
#include <bit>

#include "common/inner_output.h"
#include "common/json_scan.h"
#include "common/tools.h"
#include "common/words.h"
#include "evidence/undone.h"
#include "text/ascii.h"
#include "text/fold.h"

namespace runwarden::plugins {

/// What a feature is made of; the numbers are part of the learned weights.
enum class OutputFeatures::Kind : std::uint8_t {
  kBias = 1,
  kWord,
  kPair,
  kNearPair,
  kBeginning,
  kEnding,
  kFirst,
  kLast,
  kCue,
  kReading,
  kKey,
  kMember,
  kEcho,
  kShape,
  kLength
};

namespace {

constexpr std::size_t kReach = 1024;  // bytes of an output that are read

// Values of Kind::kReading, Kind::kEcho and Kind::kShape; part of the learned weights, too.
constexpr std::uint64_t kDenies = 1, kAdmits = 2, kClaims = 3, kReportsDone = 8, kNegates = 9, kNewReference = 10;
constexpr std::uint64_t kSame = 1, kOther = 2, kOtherFigure = 3;
constexpr std::uint64_t kJson = 1, kLines = 2, kLine = 3;

bool is_figure(std::string_view text) {
  return !text.empty() && text.find_first_not_of("-0123456789.,") == std::string_view::npos;
}

bool is_zero(std::string_view figure) {
  return figure.find_first_of("123456789") == std::string_view::npos;
}

std::uint64_t hash_of_value(std::string_view value) {
  if (is_figure(value)) return hash_bytes(is_zero(value) ? "0" : "#");
  return hash_bytes(value);
}

}  // namespace

void OutputFeatures::add(Kind kind, std::uint64_t hash) {
  out_->add(static_cast<std::uint16_t>(mix(static_cast<std::uint64_t>(kind), hash) % kOutputFeatures));
}

/// True for a text of which the call has every word.
bool OutputFeatures::is_own(std::string_view folded) const {
  bool any = false;
  WordCursor cursor(folded);
  for (RawWord word; cursor.next(word); any = true) {
    const auto* entry = lexicon_->find(word.text);
    if (!own_.contains(hash_bytes(word.text)) && (entry == nullptr || entry->cues == 0)) return false;
  }
  return any;
}

/// A member of JSON: the words of its name, and with flags, figures, nothing and single words its value. `text` says that it is a string.
void OutputFeatures::add_member(std::string_view key, std::string_view value, bool text) {
  constexpr std::size_t kLongestWord = 24;
  split_tool_name(key, key_words_);
  const bool single = !text || (value.size() <= kLongestWord && value.find(' ') == std::string_view::npos);
  fold(value, folded_);
  const auto said = text && is_own(folded_) ? hash_bytes("@") : hash_of_value(folded_);
  for (const auto& word : key_words_) {
    add(Kind::kKey, hash_bytes(word));
    if (!single) continue;
    add(Kind::kMember, mix(hash_bytes(word), said));
    if (own_.contains(hash_bytes(word))) add(Kind::kMember, mix(hash_bytes("@"), said));
  }
  if (!text) add(Kind::kMember, said);
  for (const auto& argument : arguments_) {
    if (argument.key.empty() || argument.key != key) continue;
    const bool same = argument.text == value || argument.text.find(value) != std::string_view::npos;
    add(Kind::kEcho, same ? kSame : kOther);
    if (!same && is_figure(value) && is_figure(argument.text)) add(Kind::kEcho, kOtherFigure);
  }
  for (const auto& word : key_words_) text_.append(word).append(" ");
  if (text && single) {
    split_tool_name(value, value_words_);
    for (const auto& word : value_words_) text_.append(word).append(" ");
    text_.append(".\n");
  } else {
    text_.append(value).append(".\n");
  }
}

void OutputFeatures::add_json(std::string_view output) {
  using Token = JsonScanner::Token;
  constexpr std::size_t kMost = 64;  // members
  JsonScanner cursor(output);
  std::string_view key;
  Token before = Token::kEnd;
  for (std::size_t count = 0; count < kMost;) {
    const auto token = cursor.next();
    if (token == Token::kEnd || token == Token::kBad) break;
    if (token == Token::kKey) {
      key = cursor.text();
    } else if (token == Token::kString) {
      add_member(key, cursor.text(), true);
      ++count;
    } else if (token == Token::kNumber) {
      add_member(key, cursor.text(), false);
      ++count;
    } else if (token == Token::kTrue || token == Token::kFalse || token == Token::kNull) {
      add_member(key, token == Token::kTrue ? "true" : token == Token::kFalse ? "false" : "null", false);
      ++count;
    } else if ((token == Token::kArrayEnd && before == Token::kArray) || (token == Token::kObjectEnd && before == Token::kObject)) {
      add_member(key, "empty", false);
      ++count;
    }
    before = token;
  }
}

/// The same for all words of the call, for all participles and for all other forms of its verbs, and for all figures.
std::uint64_t OutputFeatures::hash_of(const ReadWord& word, std::span<const std::uint16_t> groups) const {
  if (has_digit(word.text)) return hash_bytes(is_figure(word.text) && is_zero(word.text) ? "0" : "#");
  const auto* entry = word.entry;
  if (entry != nullptr && entry->verb != kNoVerb) {
    const auto group = lexicon_->verb(entry->verb).group;
    if (std::find(groups.begin(), groups.end(), group) != groups.end())
      return hash_bytes((entry->forms & kFormDone) != 0 ? "@done" : "@do");
  }
  const auto hash = hash_bytes(word.text);
  const bool telling = entry == nullptr || entry->cues == 0;
  return telling && own_.contains(hash) ? hash_bytes("@") : hash;
}

void OutputFeatures::add_words(std::span<const std::uint16_t> groups) {
  constexpr std::size_t kPart = 4, kLongPart = 6;  // bytes of a word's beginning and end
  std::uint64_t before = hash_bytes("^"), second = 0;
  const auto& words = reading_.words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto hash = hash_of(words[i], groups);
    add(Kind::kWord, hash);
    if (words[i].before >= Break::kClause && i > 0) {
      add(Kind::kLast, before);
      before = hash_bytes("^");
      second = 0;
    }
    add(Kind::kPair, mix(before, hash));
    if (second != 0) {
      add(Kind::kNearPair, mix(second, hash));
      add(Kind::kNearPair, mix(mix(second, before), hash));
    }
    second = before;
    before = hash;
    const auto text = words[i].text;
    if (text.size() <= kPart || has_digit(text) || hash == hash_bytes("@")) continue;
    add(Kind::kBeginning, hash_bytes(text.substr(0, kPart)));
    if (text.size() > kLongPart) add(Kind::kBeginning, hash_bytes(text.substr(0, kLongPart)));
    add(Kind::kEnding, hash_bytes(text.substr(text.size() - kPart)));
  }
  if (words.empty()) return;
  add(Kind::kFirst, hash_of(words.front(), groups));
  add(Kind::kLast, before);
}

/// What the reading of the output as a whole tells.
void OutputFeatures::add_reading(const StepView& call, std::span<const std::uint16_t> groups) {
  constexpr std::uint64_t kMostClaims = 3, kLongest = 8;
  constexpr std::size_t kShortestReference = 4;  // bytes
  for (auto cues = reading_.cues; cues != 0; cues &= cues - 1) add(Kind::kCue, static_cast<std::uint64_t>(std::countr_zero(cues)));
  const auto& words = reading_.words;
  const bool reference = std::any_of(words.begin(), words.end(), [&](const ReadWord& word) {
    return word.text.size() >= kShortestReference && has_digit(word.text) && call.input.find(word.text) == std::string_view::npos;
  });
  if (reading_.denies) add(Kind::kReading, kDenies);
  if (reading_.admits()) add(Kind::kReading, kAdmits);
  if (reports_done(reading_, groups, *lexicon_)) add(Kind::kReading, kReportsDone);
  if (negates_anything(reading_)) add(Kind::kReading, kNegates);
  if (reference) add(Kind::kReading, kNewReference);
  add(Kind::kReading, kClaims + std::min<std::uint64_t>(reading_.claims.size(), kMostClaims));
  add(Kind::kLength, std::min<std::uint64_t>(words.size() / 4, kLongest));
}

void OutputFeatures::collect(const StepView& call, std::span<const std::uint16_t> groups, FeatureSet& out) {
  constexpr std::size_t kMostArguments = 64;  // each is compared with each member
  out.clear();
  out_ = &out;
  auto output = trim(answer_body(call.output));
  if (const auto inner = inner_output(output, content_->short_signs.text_envelopes(), inner_); !inner.empty()) output = trim(inner);
  output = output.substr(0, kReach);
  collect_values(call.input, content_->tools.calls, arguments_);
  if (arguments_.size() > kMostArguments) arguments_.resize(kMostArguments);
  own_.clear();
  fold(std::string(call.name).append(" ").append(call.input.substr(0, kReach)), folded_);
  for_each_word(folded_, [&](std::string_view word) {
    own_.insert(hash_bytes(word));
    return true;
  });
  text_.clear();
  add(Kind::kBias, 0);
  const bool json = looks_like_json(output);
  if (json) add_json(output);
  if (text_.empty()) text_ = output;
  const bool lines = output.find('\n') != std::string_view::npos;
  add(Kind::kShape, json ? kJson : lines ? kLines : kLine);
  read(text_, *lexicon_, reading_);
  add_words(groups);
  add_reading(call, groups);
}

}  // namespace runwarden::plugins
