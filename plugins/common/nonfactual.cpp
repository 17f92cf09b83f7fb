#include "common/nonfactual.h"

#include <algorithm>

#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

const char* end_of(const ReadWord& word) {
  return word.text.data() + word.text.size();
}

}  // namespace

/// What is between a sentence and the one before it.
std::string_view ListReader::gap_before(const Sentence& sentence) const {
  const auto* begin = end_ == nullptr ? reading_.folded.data() : end_;
  return {begin, static_cast<std::size_t>(reading_.words[sentence.begin].text.data() - begin)};
}

bool ListReader::is_item(const Sentence& sentence) const {
  if (opener_ == Opener::kNone) return false;
  const auto gap = gap_before(sentence);
  const auto line = gap.rfind('\n');
  if (line == std::string_view::npos) return in_item_;
  // What the agent says of itself, or of what has been done, is neither a choice nor a plan.
  if (has(sentence.cues, kCueSelf | kCueAuxiliary)) return false;
  const auto mark = gap.find_first_not_of(" \t", line + 1);
  if (mark != std::string_view::npos) return (gap[mark] == '-' || gap[mark] == '*') && mark + 1 < gap.size() && gap[mark + 1] == ' ';
  const auto* first = reading_.words[sentence.begin].text.data();
  auto end = first;
  while (is_digit(*end)) ++end;
  return end != first && (*end == '.' || *end == ')');
}

/// "Next steps:"
bool ListReader::is_plan_heading(const Sentence& sentence) const {
  constexpr std::uint32_t kLongest = 4;  // words
  if (sentence.end - sentence.begin > kLongest) return false;
  const auto* begin = reading_.words[sentence.begin].text.data();
  const auto* end = end_of(reading_.words[sentence.end - 1]);
  return among(std::string_view(begin, static_cast<std::size_t>(end - begin)), reading_.lexicon->plan_headings);
}

/// True for a word that says that something is simulated and stands in brackets, or before a colon at the beginning of a line or sentence.
bool ListReader::is_label(std::uint32_t word) const {
  constexpr std::string_view kEmphasis = "*_";
  if (!has(reading_.words[word].cues, kCueSimulated)) return false;
  const auto& folded = reading_.folded;
  auto before = static_cast<std::size_t>(reading_.words[word].text.data() - folded.data());
  auto after = before + reading_.words[word].text.size();
  while (before > 0 && kEmphasis.find(folded[before - 1]) != std::string_view::npos) --before;
  while (after < folded.size() && kEmphasis.find(folded[after]) != std::string_view::npos) ++after;
  if (after == folded.size()) return false;
  const bool opens = before == 0 || folded[before - 1] == '\n' || reading_.words[word].before == Break::kSentence;
  const bool bracketed = before > 0 && (folded[before - 1] == '(' || folded[before - 1] == '[');
  return bracketed ? folded[after] == ')' || folded[after] == ']' || folded[after] == ':' : opens && folded[after] == ':';
}

bool ListReader::is_nonfactual(const Sentence& sentence) const {
  constexpr std::string_view kBox = "[ ]";
  if (simulated_ || (opener_ == Opener::kPlan && is_item(sentence))) return true;
  const auto gap = gap_before(sentence);
  if (gap.substr(std::min(gap.rfind('\n') + 1, gap.size())).find(kBox) != std::string_view::npos) return true;
  if (!has(sentence.cues, kCueSimulated)) return false;
  for (auto i = sentence.begin; i < sentence.end; ++i) {
    if (is_label(i)) return true;
  }
  return false;
}

void ListReader::after(const Sentence& sentence) {
  simulated_ |= end_ == nullptr && is_label(sentence.begin);
  const bool item = is_item(sentence);
  end_ = end_of(reading_.words[sentence.end - 1]);
  in_item_ = item;
  if (item) return;
  const bool asks = sentence.question && !has(sentence.cues, kCueClosingQuestion);
  opener_ = asks ? Opener::kQuestion : is_plan_heading(sentence) ? Opener::kPlan : Opener::kNone;
}

}  // namespace runwarden::plugins
