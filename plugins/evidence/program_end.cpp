#include "evidence/program_end.h"

#include <algorithm>
#include <iterator>

#include "common/fold.h"
#include "common/words.h"

namespace runwarden::plugins {
namespace {

// Excludes "No such file or directory", which is common when an agent looks around.
constexpr std::string_view kSystemErrors[] = {"permission denied",
                                              "operation not permitted",
                                              "read-only file system",
                                              "no space left on device",
                                              "disk quota exceeded",
                                              "input/output error",
                                              "connection refused",
                                              "connection timed out",
                                              "connection reset by peer",
                                              "no route to host",
                                              "network is unreachable",
                                              "device or resource busy",
                                              "address already in use",
                                              "broken pipe",
                                              "text file busy"};

// How git, compilers and package managers begin the line that reports that they give up.
constexpr std::string_view kOpenings[] = {"error: ", "fatal: ", "ERROR: ", "FATAL: ", "ERROR ", "E: ", "X "};

// How test and build runners summarize a failure.
constexpr std::string_view kVerdicts[] = {"test result: failed", "build failed", "fail", "failed (", "tests: failed"};

constexpr std::string_view kNoRows[] = {"delete 0", "update 0", "insert 0 0", "0 rows affected", "query ok, 0 rows affected"};

constexpr std::string_view kNoMatches = "Rows matched: 0 ";

/// The line without a bracketed note at its end: "DELETE 0 (0.02 sec)".
std::string_view without_note(std::string_view line) {
  if (!line.ends_with(')')) return line;
  const auto open = line.rfind('(');
  return open == std::string_view::npos ? line : trim(line.substr(0, open));
}

bool begins_with_word(std::string_view line, std::string_view word) {
  if (line.size() < word.size() || !equal_ignoring_case(line.substr(0, word.size()), word)) return false;
  return line.size() == word.size() || !is_letter_or_digit(line[word.size()]) || !is_letter_or_digit(word.back());
}

/// "=== 2 failed, 8 passed in 1.21s ===", "Tests: 1 failed, 3 passed".
bool counts_failures(std::string_view line) {
  constexpr std::string_view kLabel = "Tests:", kFailed = " failed";
  while (!line.empty() && (line[0] == '=' || line[0] == ' ')) line.remove_prefix(1);
  if (line.starts_with(kLabel)) line = trim(line.substr(kLabel.size()));
  const auto digits = line.find_first_not_of("0123456789");
  return digits != 0 && digits != std::string_view::npos && line.substr(digits).starts_with(kFailed) && line.substr(0, digits) != "0";
}

/// "Done. PASS=2 WARN=0 ERROR=1 SKIP=2".
bool tallies_errors(std::string_view line) {
  constexpr std::string_view kErrors = " ERROR=";
  const auto at = line.find(kErrors);
  const auto count = at == std::string_view::npos ? std::string_view{} : line.substr(at + kErrors.size());
  return !count.empty() && is_digit(count[0]) && count[0] != '0';
}

/// "exit status 255", "[exit code 1]", "Query returned successfully in 41 msec.", "hint: ...": about the program, or advice.
bool is_postscript(std::string_view line) {
  constexpr std::string_view kSaid[] = {"exit status ",      "[exit code ", "exit code ", "query returned ",
                                        "connection closed", "rc=",         "hint: "};
  return std::any_of(std::begin(kSaid), std::end(kSaid), [&](std::string_view said) {
    return line.size() >= said.size() && equal_ignoring_case(line.substr(0, said.size()), said);
  });
}

/// Removes the last line from the text and returns it.
std::string_view take_last_line(std::string_view& text) {
  text = trim(text);
  const auto end = text.find_last_of("\n\r");
  const auto line = end == std::string_view::npos ? text : text.substr(end + 1);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(0, end);
  return trim(line);
}

bool gives_up(std::string_view line) {
  line = without_note(line);
  if (line.ends_with('.')) line = without_note(trim(line.substr(0, line.size() - 1)));
  const auto is_line = [&](std::string_view text) { return equal_ignoring_case(line, text); };
  if (std::any_of(std::begin(kNoRows), std::end(kNoRows), is_line)) return true;
  if (std::any_of(std::begin(kOpenings), std::end(kOpenings), [&](auto opening) { return line.starts_with(opening); })) return true;
  if (std::any_of(std::begin(kVerdicts), std::end(kVerdicts), [&](auto verdict) { return begins_with_word(line, verdict); })) return true;
  if (counts_failures(line) || tallies_errors(line) || line.starts_with(kNoMatches)) return true;
  if (std::any_of(std::begin(kSystemErrors), std::end(kSystemErrors), is_line)) return true;
  const auto colon = line.rfind(": ");
  if (colon == std::string_view::npos) return false;
  line.remove_prefix(colon + 2);
  return std::any_of(std::begin(kSystemErrors), std::end(kSystemErrors), is_line);
}

}  // namespace

bool ends_in_failure(std::string_view output) {
  auto line = take_last_line(output);
  if (is_postscript(line)) line = take_last_line(output);
  return gives_up(line);
}

}  // namespace runwarden::plugins
