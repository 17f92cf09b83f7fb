#include "evidence/odd_one.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "common/json_scan.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

using Token = JsonScanner::Token;

constexpr std::size_t kFewestCalls = 3;
constexpr std::string_view kYes = "true", kNo = "false";
constexpr std::size_t kMostRows = 256;
constexpr std::size_t kMostOdd = 16;
constexpr std::size_t kLongestValue = 40;

bool has_word(const std::vector<std::string>& words, std::string_view key) {
  std::string folded;
  fold(last_word_of(key), folded);
  return std::find(words.begin(), words.end(), folded) != words.end();
}

/// True for the name of a member for what failed: "failed", "errors".
bool names_failed(const OutcomeWords& words, std::string_view key) {
  if (has_word(words.failures, key) || has_word(words.errors, key)) return true;
  return key.ends_with('s') && has_word(words.errors, key.substr(0, key.size() - 1));
}

/// True for the name of a list of what failed: "failed", "errors", "failures".
bool lists_failed(const OutcomeWords& words, std::string_view key) {
  return names_failed(words, key) || (key.ends_with('s') && has_word(words.failures, key.substr(0, key.size() - 1)));
}

/// The codes of a deed that was done: 0, as of a program, or an HTTP status.
bool is_good_code(std::string_view outcome) {
  constexpr std::size_t kStatus = 3;
  return outcome == "0" || (outcome.size() == kStatus && outcome[0] == '2');
}

/// "cancelled", "Label printed.": one word says that something was done, and none says that it failed.
bool tells_done(std::string_view outcome, const OutcomeWords& words, const Lexicon& lexicon) {
  if (outcome == kYes || is_good_code(outcome)) return true;
  std::string folded;
  fold(outcome, folded);
  bool done = false;
  WordCursor cursor(folded);
  for (RawWord word; cursor.next(word);) {
    if (among(word.text, words.failures) || among(word.text, words.errors)) return false;
    done |= among(word.text, words.good) || is_participle(lexicon.find(word.text));
  }
  return done;
}

/// The value that at least two thirds share; empty when there is none.
std::string_view usual(const std::vector<std::string_view>& values) {
  if (values.size() < kFewestCalls) return {};
  std::unordered_map<std::string_view, std::size_t> counts;
  for (const auto value : values) ++counts[value];
  const auto most = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->second * 3 >= values.size() * 2 ? most->first : std::string_view{};
}

/// The outcome in an object's first level, or a short text itself; empty when there is none.
std::string_view outcome_of(std::string_view output, const OutcomeWords& words) {
  constexpr std::size_t kLongestText = 120;
  output = trim(output);
  if (!looks_like_json(output)) return output.size() <= kLongestText ? output : std::string_view{};
  JsonScanner cursor(output);
  if (cursor.next() != Token::kObject) return {};
  for (auto token = cursor.next(); token == Token::kKey; token = cursor.next()) {
    const auto key = cursor.text();
    token = cursor.next();
    if ((token == Token::kObject || token == Token::kArray) && !cursor.leave()) return {};
    if (token == Token::kBad || token == Token::kEnd) return {};
    if (token == Token::kString && cursor.text().size() <= kLongestValue && has_word(words.members, key)) return cursor.text();
  }
  return {};
}

/// Reads an answer once, level by level.
class Rows {
 public:
  Rows(std::string_view output, const OutcomeWords& words, const Lexicon& lexicon, std::vector<OddRow>& out)
      : cursor_(output), words_(words), lexicon_(lexicon), out_(out) {}

  void read() {
    const auto first = cursor_.next();
    if (first == Token::kArray) read_array(false);
    if (first == Token::kObject) read_object(nullptr, false);
  }

 private:
  void add(const OddRow& row) {
    if (out_.size() < kMostOdd) out_.push_back(row);
  }

  /// Reads the rows of an array; if the array lists failures, each row is odd.
  bool read_array(bool failed) {
    std::vector<OddRow> rows;
    for (auto token = cursor_.next(); token != Token::kArrayEnd; token = cursor_.next()) {
      OddRow row;
      if (token == Token::kBad || token == Token::kEnd) return false;
      if (token == Token::kArray && !read_array(failed)) return false;
      if (token == Token::kObject && !read_object(&row, failed)) return false;
      if (token == Token::kString || token == Token::kNumber) row.id = cursor_.text();
      if (failed && !row.id.empty()) add(row);
      if (rows.size() < kMostRows && !row.value.empty()) rows.push_back(row);
    }
    if (!failed) keep_odd(rows);
    return true;
  }

  /// Reads an object as a row, or as a map from things' names to outcomes.
  bool read_object(OddRow* row, bool failed) {
    std::vector<OddRow> named;
    bool plain = true;
    for (auto token = cursor_.next(); token != Token::kObjectEnd; token = cursor_.next()) {
      if (token != Token::kKey) return false;
      const auto key = cursor_.text();
      token = cursor_.next();
      if (token == Token::kBad || token == Token::kEnd) return false;
      if (token == Token::kArray && !read_array(failed || lists_failed(words_, key))) return false;
      if (token == Token::kObject && !read_object(nullptr, failed)) return false;
      plain &= token == Token::kString;
      if (row != nullptr && row->value.empty()) row->value = flag_or_code(key, token);
      if (token != Token::kString && token != Token::kNumber) continue;
      const auto value = cursor_.text();
      if (row != nullptr && row->id.empty()) row->id = value;
      if (token != Token::kString || value.size() > kLongestValue) continue;
      if (row != nullptr && has_word(words_.members, key)) row->value = value;
      if (named.size() < kMostRows) named.push_back({key, value, 0, {}});
    }
    if (plain && !failed) keep_odd(named);
    return true;
  }

  /// Whether a row was taken, or its code: {"ok": true}, {"code": 0}.
  [[nodiscard]] std::string_view flag_or_code(std::string_view key, Token token) const {
    const bool flag = token == Token::kTrue || token == Token::kFalse;
    if (flag && (among(key, words_.taken) || tells_done(last_word_of(key), words_, lexicon_))) return token == Token::kTrue ? kYes : kNo;
    return token == Token::kNumber && among(key, words_.codes) ? cursor_.text() : std::string_view{};
  }

  void keep_odd(const std::vector<OddRow>& rows) {
    values_.clear();
    for (const auto& row : rows) values_.push_back(row.value);
    const auto expected = usual(values_);
    if (expected.empty() || !tells_done(expected, words_, lexicon_)) return;
    const auto usual_row = std::find_if(rows.begin(), rows.end(), [&](const OddRow& row) { return row.value == expected; });
    for (const auto& row : rows) {
      if (row.value != expected && !tells_done(row.value, words_, lexicon_)) add({row.id, row.value, rows.size(), usual_row->id});
    }
  }

  JsonScanner cursor_;
  const OutcomeWords& words_;
  const Lexicon& lexicon_;
  std::vector<OddRow>& out_;
  std::vector<std::string_view> values_;
};

}  // namespace

void collect_odd_calls(const RunView& run, std::span<const std::size_t> calls, const OutcomeWords& words, const Lexicon& lexicon,
                       std::vector<std::size_t>& odd) {
  odd.clear();
  if (calls.size() < kFewestCalls) return;
  std::vector<std::string_view> outcomes;
  std::vector<std::size_t> told;
  for (const auto call : calls) {
    const auto& step = run.steps[call];
    run.pace(step.output.size());
    const auto outcome = outcome_of(step.output, words);
    if (outcome.empty() || step.input.find(outcome) != std::string_view::npos) continue;
    outcomes.push_back(outcome);
    told.push_back(call);
  }
  const auto expected = usual(outcomes);
  if (expected.empty() || !tells_done(expected, words, lexicon)) return;
  for (std::size_t i = 0; i < told.size(); ++i) {
    if (outcomes[i] != expected && !tells_done(outcomes[i], words, lexicon)) odd.push_back(told[i]);
  }
}

void collect_odd_rows(std::string_view output, const OutcomeWords& words, const Lexicon& lexicon, std::vector<OddRow>& rows) {
  rows.clear();
  output = trim(output);
  if (looks_like_json(output)) Rows(output, words, lexicon, rows).read();
}

namespace {

/// The number of items of a list, whose beginning the cursor has just read; nothing for a broken text.
std::optional<std::size_t> count_items(JsonScanner& cursor) {
  std::size_t items = 0;
  for (auto token = cursor.next(); token != Token::kArrayEnd; token = cursor.next(), ++items) {
    if (token == Token::kBad || token == Token::kEnd) return std::nullopt;
    if ((token == Token::kObject || token == Token::kArray) && !cursor.leave()) return std::nullopt;
  }
  return items;
}

/// A count as it is written; nothing for a fraction, a negative number, and a number that is too large to count things.
std::optional<std::size_t> count_of(std::string_view number) {
  constexpr std::size_t kMostDigits = 6;
  if (number.size() > kMostDigits || !std::all_of(number.begin(), number.end(), is_digit)) return std::nullopt;
  return static_cast<std::size_t>(std::stoul(std::string(number)));
}

}  // namespace

std::optional<CountedOnes> counts_failed_ones(std::string_view output, const OutcomeWords& words, const Lexicon& lexicon) {
  JsonScanner cursor(trim(output));
  if (cursor.next() != Token::kObject) return std::nullopt;
  CountedOnes counts;
  bool counted = false;
  bool done = false;
  for (auto token = cursor.next(); token == Token::kKey; token = cursor.next()) {
    const auto key = cursor.text();
    token = cursor.next();
    const bool of_failed = names_failed(words, key);
    std::optional<std::size_t> number;
    if (token == Token::kArray && of_failed) {
      number = count_items(cursor);
      if (!number) return std::nullopt;
    } else if ((token == Token::kObject || token == Token::kArray) && !cursor.leave()) {
      return std::nullopt;
    }
    if (token == Token::kBad || token == Token::kEnd) return std::nullopt;
    if (token == Token::kNumber) number = count_of(cursor.text());
    if (!number) continue;
    const bool of_done = !of_failed && *number > 0 && tells_done(last_word_of(key), words, lexicon);
    counted |= of_failed;
    counts.failed |= of_failed && *number > 0;
    done |= of_done;
    if (of_failed || of_done) counts.all += *number;
  }
  return counted && done ? std::optional(counts) : std::nullopt;
}

}  // namespace runwarden::plugins
