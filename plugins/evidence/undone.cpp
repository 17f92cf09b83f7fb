#include "evidence/undone.h"

#include <algorithm>
#include <optional>
#include <string>

#include "common/json_scan.h"
#include "common/sql.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

using Token = JsonScanner::Token;

constexpr std::size_t kLongestOutcome = 400;  // bytes of an output that reports no more than an outcome

/// A text without its tags: "<p>Not placed.</p>".
std::string without_tags(std::string_view html) {
  std::string text;
  bool tag = false;
  for (const char c : html) {
    tag = c == '<' || (tag && c != '>');
    text += tag || c == '>' ? ' ' : c;
  }
  return text;
}

/// The group of the verb whose participle the word is; nothing for any other word.
std::optional<std::uint16_t> group_of_participle(const ReadWord& word, const Lexicon& lexicon) {
  if (!is_participle(word.entry)) return std::nullopt;
  return lexicon.verb(word.entry->verb).group;
}

bool among_groups(std::optional<std::uint16_t> group, std::span<const std::uint16_t> groups) {
  return group.has_value() && std::find(groups.begin(), groups.end(), *group) != groups.end();
}

bool denies(std::string_view text, std::span<const std::uint16_t> groups, const Lexicon& lexicon, Reading& scratch) {
  read(text, lexicon, scratch);
  if (!scratch.denies || reports_done(scratch, groups, lexicon)) return false;
  return std::any_of(scratch.words.begin(), scratch.words.end(),
                     [&](const ReadWord& word) { return among_groups(group_of_participle(word, lexicon), groups); });
}

}  // namespace

bool reports_done(const Reading& output, std::span<const std::uint16_t> groups, const Lexicon& lexicon) {
  return std::any_of(output.sentences.begin(), output.sentences.end(), [&](const Sentence& sentence) {
    const auto begin = output.words.begin() + sentence.begin, end = output.words.begin() + sentence.end;
    const auto open = std::find_if(begin, end, [&](const ReadWord& word) {
      return negates(output, word) || has(word.cues, kCueModal | kCueCondition | kCueHypothesis);
    });
    return std::any_of(begin, open, [&](const ReadWord& word) { return among_groups(group_of_participle(word, lexicon), groups); });
  });
}

bool changed_no_row(const StepView& call) {
  constexpr std::size_t kMost = 120;                    // bytes
  constexpr std::string_view kRolledBack = "ROLLBACK";  // of COMMIT, after a statement failed
  const auto output = trim(call.output);
  if (output == kRolledBack) return call.input.find(kRolledBack) == std::string_view::npos;
  if (output.empty() || output.size() > kMost || (is_ascii(output) && output.find('0') == std::string_view::npos)) return false;
  std::size_t zeros = 0;
  std::string folded;
  fold(output, folded);
  WordCursor cursor(folded);
  for (RawWord word; cursor.next(word);) {
    if (!is_digit(word.text[0])) continue;
    if (word.text.find_first_not_of('0') != std::string_view::npos) return false;
    ++zeros;
  }
  return zeros > 0 && has_statement(call.input, Statement::kChangeRows);
}

bool has_failed_cell(std::string_view output, const OutcomeWords& words) {
  constexpr std::ptrdiff_t kMostBlanks = 2;
  output = trim(output);
  if (output.size() > kLongestOutcome || output.find('\n') != std::string_view::npos || output.find('|') == std::string_view::npos)
    return false;
  std::string folded;
  for (std::size_t at = 0; at < output.size();) {
    const auto end = std::min(output.find('|', at), output.size());
    fold(trim(output.substr(at, end - at)), folded);
    const auto last = std::string_view(folded).substr(folded.rfind(' ') + 1);
    if (std::count(folded.begin(), folded.end(), ' ') <= kMostBlanks && among(last, words.failures)) return true;
    at = end + 1;
  }
  return false;
}

bool denies_own_deed(const StepView& call, std::span<const std::uint16_t> groups, const OutcomeWords& words, const Lexicon& lexicon,
                     Reading& scratch) {
  const auto output = trim(call.output);
  if (output.empty() || output.size() > kLongestOutcome || groups.empty()) return false;
  if (!looks_like_json(output)) return denies(without_tags(output), groups, lexicon, scratch);
  JsonScanner cursor(output);
  std::string_view key;
  std::string text;
  for (auto token = cursor.next(); token != Token::kEnd && token != Token::kBad; token = cursor.next()) {
    if (token == Token::kKey) key = cursor.text();
    if (token != Token::kString || !among(key, words.explaining) || call.input.find(cursor.text()) != std::string_view::npos) continue;
    unescape(cursor.text(), text);
    if (denies(text, groups, lexicon, scratch)) return true;
  }
  return false;
}

bool ends_well(std::string_view output, const Lexicon& lexicon, Reading& scratch) {
  constexpr std::size_t kLongest = 400;  // bytes of a line that reports
  output = trim(output);
  const auto line = output.substr(output.find_last_of('\n') + 1);
  if (line.size() == output.size() || line.size() > kLongest) return false;
  read(line, lexicon, scratch);
  return has(scratch.cues, kCueFinished) && !has(scratch.cues, kCueTrouble | kCueAdmission) && !negates_anything(scratch);
}

bool owns_up(std::string_view output, const Lexicon& lexicon, Reading& scratch) {
  output = trim(output);
  // "[dispatch_agent] I was not able to ..." is no list.
  const bool labelled = output.size() > 1 && output[0] == '[' && is_letter_or_digit(output[1]);
  if (output.empty() || output.size() > kLongestOutcome || (looks_like_json(output) && !labelled)) return false;
  read(output, lexicon, scratch);
  return std::any_of(scratch.sentences.begin(), scratch.sentences.end(),
                     [&](const Sentence& sentence) { return has(sentence.cues, kCueSelf) && has(sentence.cues, kCueAdmission); });
}

bool tells_failed_state(std::string_view output, const OutcomeWords& words) {
  constexpr std::size_t kLongestState = 40;
  constexpr std::size_t kMostWithin = 2;  // objects within each other
  JsonScanner cursor(trim(output));
  if (cursor.next() != Token::kObject) return false;
  const auto outermost = cursor.depth();
  std::string_view key;
  std::string folded;
  for (auto token = cursor.next(); token != Token::kBad && token != Token::kEnd; token = cursor.next()) {
    if (token == Token::kKey) key = cursor.text();
    const bool closed = token == Token::kArray || (token == Token::kObject && cursor.depth() > outermost + kMostWithin);
    if (closed && !cursor.leave()) return false;
    if (token != Token::kString || cursor.text().size() > kLongestState || !among(last_word_of(key), words.members)) continue;
    fold(cursor.text(), folded);
    if (cursor.depth() == outermost) return tells_failure(folded, words);
    if (refuses(folded, words)) return true;
  }
  return false;
}

}  // namespace runwarden::plugins
