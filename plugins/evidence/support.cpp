#include "evidence/support.h"

#include <algorithm>

#include "common/words.h"
#include "evidence/sentences.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kWordsOfShortAnswer = 8;
constexpr std::size_t kMostUnrelated = 1024;  // bytes; a longer output may contain anything

bool telling(std::string_view word) {
  constexpr std::size_t kLongWord = 4;
  return word.size() >= kLongWord || std::any_of(word.begin(), word.end(), is_digit);
}

std::size_t decimals_of(std::string_view figure) {
  const auto point = figure.find('.');
  return point == std::string_view::npos ? 0 : figure.size() - point - 1;
}

}  // namespace

void Support::clear() {
  evidence_.clear();
  derivation_.clear();
  thoughts_ = 0;
  expected_.clear();
}

void Support::expect(std::string_view message) {
  std::string buffer;
  for_each_word(told_of(message, buffer), [&](std::string_view word) {
    if (telling(word)) expected_.insert(normal_id(word));
    return true;
  });
}

bool Support::relates(std::string_view output) const {
  if (output.size() > kMostUnrelated) return true;
  return !for_each_word(output, [&](std::string_view word) { return !telling(word) || !expected_.contains(normal_id(word)); });
}

void Support::add_source(std::string_view text) {
  if (text.empty()) return;
  evidence_.add_spelled(text);
  evidence_.add_facts(text);
  derivation_.add(with_plain_signs(text, plain_));
  derivation_.add_worked_out(text);
}

bool Support::supports(const Fact& fact, bool given) {
  if (evidence_.holds_as_stated(fact)) return true;
  if (fact.kind == FactKind::kTime) return derivation_.reaches_time(fact.number);
  if (fact.number == 0 && !given) return false;
  return fact.kind == FactKind::kNumber && derivation_.reaches(fact.number, decimals_of(fact.text));
}

void Support::add_thought(std::string_view text) {
  constexpr std::size_t kMostThoughts = 256;  // figures per run; working one out is expensive
  if (text.empty() || thoughts_ >= kMostThoughts) return;
  std::string buffer;
  collect_facts(with_plain_signs(text, buffer), facts_);
  for (const auto& fact : facts_) {
    if (fact.kind != FactKind::kNumber || evidence_.holds_as_stated(fact)) continue;
    if (++thoughts_ > kMostThoughts) return;
    if (!derivation_.reaches(fact.number, decimals_of(fact.text))) continue;
    evidence_.add_spelled(fact.text);
    derivation_.add(fact.text);
  }
}

/// True when a sentence makes a statement: it is not a question, plan, offer, condition or example.
bool Support::states(std::string_view sentence) {
  read(sentence, *lexicon_, reading_);
  if (reading_.asks() || trim(sentence).ends_with('?')) return false;
  return !has(reading_.cues, kCueOffer | kCuePlan | kCueHypothesis | kCueExample | kCueSimulated);
}

Unsupported Support::read_answer(std::string_view message, bool given) {
  Unsupported out;
  std::string buffer;
  std::string prose;
  const auto text = with_plain_signs(prose_of(message, prose), buffer);
  out.words = count_words(text);
  constexpr std::size_t kMostStated = 64;
  const bool bare = out.words <= kWordsOfShortAnswer;
  std::vector<Fact> facts;
  for_each_sentence(text, lexicon_->abbreviations, [&](std::string_view sentence) {
    collect_facts(sentence, facts);
    if (facts.empty() || !states(sentence)) return;
    for (const auto& fact : facts) {
      if ((!fact.strong && !bare) || out.stated == kMostStated) continue;
      ++out.stated;
      if (supports(fact, given)) {
        if (fact.kind == FactKind::kNumber || fact.kind == FactKind::kTime) derivation_.add(fact.text);
        continue;
      }
      if (out.missing++ > 0) continue;
      // The plain text has other offsets, so the values are searched for in the message itself.
      const auto at = message.find(fact.text);
      out.value = at == std::string_view::npos ? std::string_view{} : message.substr(at, fact.text.size());
      const auto whole = message.find(sentence);
      out.sentence = whole == std::string_view::npos ? message : message.substr(whole, sentence.size());
    }
  });
  read_labels(text, out);
  out.crowded = derivation_.crowded();
  return out;
}

/// Collects the labels of figures that occur nowhere: "Rating: 4.9/5". A labeled figure must be stated as found, not worked out.
void Support::read_labels(std::string_view text, Unsupported& out) {
  constexpr std::size_t kMost = 16;
  collect_labelled_values(text, values_);
  for (const auto& value : values_) {
    Fact fact;
    fact.text = value.text;
    fact.number = value.number;
    fact.normal = normal_number(value.number);
    const bool weak = value.decimals == 0 && !value.money && !value.percent;
    if (weak || out.labels.size() == kMost || evidence_.holds_as_stated(fact)) continue;
    out.labels.emplace_back(value.label);
  }
}

}  // namespace runwarden::plugins
