#include "evidence/program_end.h"

#include <algorithm>
#include <optional>
#include <string>

#include "common/json_scan.h"
#include "common/short_output.h"
#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {
namespace {

using Texts = std::vector<std::string>;

bool begins_with_word(std::string_view line, std::string_view word) {
  if (!opens_with(line, word)) return false;
  return line.size() == word.size() || !is_letter_or_digit(line[word.size()]) || !is_letter_or_digit(word.back());
}

/// The text among these that a line begins with, with its case; null when there is none.
const std::string* opening_of(std::string_view line, const Texts& texts) {
  const auto found = std::find_if(texts.begin(), texts.end(), [&](const std::string& text) { return line.starts_with(text); });
  return found == texts.end() ? nullptr : &*found;
}

/// The count in "=== 2 failed, 8 passed in 1.21s ===" and "Tests: 1 failed, 3 passed"; empty for none, and for 0.
std::string_view failures_in(std::string_view line, const ProgramWords& words) {
  while (!line.empty() && (line[0] == '=' || line[0] == ' ')) line.remove_prefix(1);
  if (const auto* label = opening_of(line, words.test_labels)) line = trim(line.substr(label->size()));
  const auto digits = line.find_first_not_of("0123456789");
  const bool counts = digits != 0 && digits != std::string_view::npos && opening_of(line.substr(digits), words.failed_counts) != nullptr &&
                      line.substr(0, digits) != "0";
  return counts ? line.substr(0, digits) : std::string_view{};
}

bool counts_failures(std::string_view line, const ProgramWords& words) {
  return !failures_in(line, words).empty();
}

/// "Done. PASS=2 WARN=0 ERROR=1 SKIP=2".
bool tallies_errors(std::string_view line, const Texts& tallies) {
  return std::any_of(tallies.begin(), tallies.end(), [&](const std::string& tally) {
    const auto at = line.find(tally);
    const auto count = at == std::string_view::npos ? std::string_view{} : line.substr(at + tally.size());
    return !count.empty() && is_digit(count[0]) && count[0] != '0';
  });
}

/// The code at the end of a line about a program's end: "exit status 2", "Process exited with code 127.", "[exit code 1]". Nothing without
/// one.
std::optional<int> code_in(std::string_view line, const Texts& labels) {
  constexpr std::size_t kLongest = 80, kDigits = 3;
  if (line.size() > kLongest) return std::nullopt;
  while (!line.empty() && !is_digit(line.back()) && std::string_view("])}. ").find(line.back()) != std::string_view::npos)
    line.remove_suffix(1);
  auto begin = line.size();
  while (begin > 0 && is_digit(line[begin - 1])) --begin;
  const auto digits = line.substr(begin);
  if (digits.empty() || digits.size() > kDigits) return std::nullopt;
  auto head = line.substr(0, begin);
  while (!head.empty() && (head.back() == ' ' || head.back() == ':')) head.remove_suffix(1);
  if (!ends_with_any(head, labels)) return std::nullopt;
  int code = 0;
  for (const char digit : digits) code = code * 10 + (digit - '0');
  return code;
}

/// What a program printed last, and the code with which it ended.
struct End {
  std::string_view text;
  std::optional<int> code;
};

/// Reads the end of a program whose runner answers in JSON: {"output": "...", "metadata": {"exit_code": 1}}. `buffer` keeps the text.
End read_runner(std::string_view json, const ProgramWords& words, std::string& buffer) {
  constexpr std::size_t kDeepest = 2;
  constexpr std::string_view kVerdict = "status";
  End end;
  JsonScanner cursor(json);
  std::string_view key;
  std::string text;
  auto token = cursor.next();
  for (; token != JsonScanner::Token::kEnd && token != JsonScanner::Token::kBad; token = cursor.next()) {
    if (token == JsonScanner::Token::kKey) key = cursor.text();
    const bool deep = token == JsonScanner::Token::kObject && cursor.depth() > kDeepest;
    if ((deep || token == JsonScanner::Token::kArray) && !cursor.leave()) return {};
    if (token == JsonScanner::Token::kNumber && among(key, words.exit_code_members))
      end.code = cursor.text() == "0" ? 0 : cursor.text() == "1" ? 1 : 2;
    if (token == JsonScanner::Token::kString && key == kVerdict) return {};  // the runner judges by itself
    if (token != JsonScanner::Token::kString || !among(key, words.print_members)) continue;
    unescape(cursor.text(), text);
    if (!trim(text).empty()) buffer = text;
  }
  end.text = buffer;
  return token == JsonScanner::Token::kEnd ? end : End{};
}

/// "sudo: a password is required": a program's name and what it complains of.
bool names_complaint(std::string_view line) {
  const auto colon = line.find(": ");
  if (colon == 0 || colon == std::string_view::npos || colon + 2 >= line.size() || !is_lower(line[colon + 2])) return false;
  return std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(colon),
                     [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; });
}

/// Removes the last line from the text and returns it.
std::string_view take_last_line(std::string_view& text) {
  text = trim(text);
  const auto end = text.find_last_of("\n\r");
  const auto line = end == std::string_view::npos ? text : text.substr(end + 1);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(0, end);
  return trim(line);
}

bool gives_up(std::string_view line, const ProgramWords& words) {
  line = without_note(line);
  if (line.ends_with('.')) line = without_note(trim(line.substr(0, line.size() - 1)));
  const auto begins = [&](const std::string& verdict) { return begins_with_word(line, verdict); };
  const auto holds = [&](const std::string& mark) { return line.find(mark) != std::string_view::npos; };
  if (among(line, words.no_row_reports) || opening_of(line, words.failure_lines) != nullptr) return true;
  if (std::any_of(words.failed_verdicts.begin(), words.failed_verdicts.end(), begins)) return true;
  if (std::any_of(words.error_marks.begin(), words.error_marks.end(), holds)) return true;
  if (counts_failures(line, words) || tallies_errors(line, words.error_tallies)) return true;
  if (among(line, words.system_errors)) return true;
  const auto colon = line.rfind(": ");
  return colon != std::string_view::npos && among(line.substr(colon + 2), words.system_errors);
}

/// The words that names begin with, without those that begin with another one: "exit" of "exit_code" and "exitcode".
Texts openings_of(Texts names) {
  std::sort(names.begin(), names.end());
  Texts openings;
  for (const auto& name : names) {
    const std::string opening(name.begin(), std::find_if_not(name.begin(), name.end(), is_lower));
    if (opening_of(opening, openings) == nullptr) openings.push_back(opening);
  }
  return openings;
}

}  // namespace

ProgramWords::ProgramWords(const Vocabulary& vocabulary)
    : failure_lines(vocabulary.words(Key::kFailureLines)),
      error_marks(vocabulary.words(Key::kErrorMarks)),
      system_errors(vocabulary.words(Key::kSystemErrors)),
      failed_verdicts(vocabulary.words(Key::kFailedVerdicts)),
      no_row_reports(vocabulary.words(Key::kNoRowReports)),
      postscripts(vocabulary.words(Key::kPostscripts)),
      test_labels(vocabulary.words(Key::kTestLabels)),
      failed_counts(vocabulary.words(Key::kFailedCounts)),
      test_counts(vocabulary.words(Key::kTestCounts)),
      error_tallies(vocabulary.words(Key::kErrorTallies)),
      exit_code_labels(vocabulary.words(Key::kExitCodeLabels)),
      exit_code_members(vocabulary.words(Key::kExitCodeMembers)),
      exit_code_openings(openings_of(exit_code_members)),
      print_members(vocabulary.words(Key::kPrintMembers)),
      exception_endings(vocabulary.words(Key::kExceptionEndings)) {}

std::string_view failed_test_count(std::string_view output, const ProgramWords& words) {
  constexpr int kLines = 4;
  for (int i = 0; i < kLines && !output.empty(); ++i) {
    const auto line = take_last_line(output);
    if (const auto count = failures_in(line, words); !count.empty()) return count;
    if (!line.empty() && !opens_with_any(line, words.postscripts)) break;
  }
  return {};
}

bool counts_failed_tests(std::string_view output, const ProgramWords& words) {
  return !failed_test_count(output, words).empty();
}

std::string_view passed_test_count(std::string_view output, const ProgramWords& words) {
  constexpr int kLines = 8;
  for (int i = 0; i < kLines && !output.empty(); ++i) {
    const auto line = take_last_line(output);
    for (const auto& counted : words.test_counts) {
      const auto at = line.find(counted);
      if (at == std::string_view::npos || at == 0 || !is_digit(line[at - 1])) continue;
      const auto before = line.find_last_not_of("0123456789", at - 1);
      const auto begin = before == std::string_view::npos ? 0 : before + 1;
      return line.substr(begin, at - begin);
    }
  }
  return {};
}

bool counts_tests(std::string_view output, const ProgramWords& words) {
  return !passed_test_count(output, words).empty();
}

bool exits_with_failure(std::string_view output, const ProgramWords& words) {
  constexpr int kSurely = 2;  // of 1, many programs that look for something say that they found nothing
  output = trim(output);
  std::string buffer;
  End end;
  if (output.starts_with('{')) {
    // Most answers have none of these in the names of their members.
    const auto& openings = words.exit_code_openings;
    const auto lacks = [&](const std::string& opening) { return output.find(opening) == std::string_view::npos; };
    if (std::all_of(openings.begin(), openings.end(), lacks)) return false;
    end = read_runner(output, words, buffer);
  } else {
    end.text = output;
    end.code = code_in(take_last_line(end.text), words.exit_code_labels);
  }
  if (end.code.value_or(0) == 0) return false;
  const auto last = take_last_line(end.text);
  return *end.code >= kSurely || names_complaint(last) || gives_up(last, words);
}

bool ends_in_failure(std::string_view output, const ProgramWords& words) {
  auto line = take_last_line(output);
  if (opens_with_any(line, words.postscripts)) line = take_last_line(output);
  return gives_up(line, words) || ends_with_class(line, words.exception_endings);
}

}  // namespace runwarden::plugins
