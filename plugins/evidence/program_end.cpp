#include "evidence/program_end.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "common/json_scan.h"
#include "common/short_output.h"
#include "common/words.h"
#include "text/fold.h"

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
constexpr std::string_view kOpenings[] = {"error: ", "fatal: ", "ERROR: ",  "FATAL: ",   "ERROR ",
                                          "E: ",     "X ",      "npm ERR!", "make: ***", "curl: ("};

// How programs mark an error behind their name, or behind the place in a file.
constexpr std::string_view kErrorMarks[] = {": error: ", ": fatal: ", ": fatal error: "};

// Members that hold the code with which a program ended, and those that hold what it printed.
constexpr std::string_view kCodeMembers[] = {"exit_code", "exitCode", "exitcode", "returncode", "return_code", "exit_status"};
constexpr std::string_view kPrintMembers[] = {"output", "stdout", "stderr"};

// How test and build runners summarize a failure.
constexpr std::string_view kVerdicts[] = {"test result: failed", "build failed", "fail", "failed (", "tests: failed"};

constexpr std::string_view kNoRows[] = {"delete 0", "update 0", "insert 0 0", "0 rows affected", "query ok, 0 rows affected"};

constexpr std::string_view kNoMatches = "Rows matched: 0 ";

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
  constexpr std::string_view kSaid[] = {"exit status ",      "[exit ", "[rc ",   "exit code ", "query returned ",
                                        "connection closed", "rc=",    "hint: ", "detail: "};
  return std::any_of(std::begin(kSaid), std::end(kSaid), [&](std::string_view said) {
    return line.size() >= said.size() && equal_ignoring_case(line.substr(0, said.size()), said);
  });
}

/// The code at the end of a line about a program's end: "exit status 2", "Process exited with code 127.", "[exit code 1]". Nothing without
/// one.
std::optional<int> code_in(std::string_view line) {
  constexpr std::string_view kEnds[] = {
      "exit code", "exit status", "exited with code", "exited with status", "exit with code", "rc=", "[exit", "[rc"};
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
  const auto ends = [&](std::string_view end) {
    return head.size() >= end.size() && equal_ignoring_case(head.substr(head.size() - end.size()), end);
  };
  if (std::none_of(std::begin(kEnds), std::end(kEnds), ends)) return std::nullopt;
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
End read_runner(std::string_view json, std::string& buffer) {
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
    if (token == JsonScanner::Token::kNumber && among(key, kCodeMembers))
      end.code = cursor.text() == "0" ? 0 : cursor.text() == "1" ? 1 : 2;
    if (token == JsonScanner::Token::kString && key == kVerdict) return {};  // the runner judges by itself
    if (token != JsonScanner::Token::kString || !among(key, kPrintMembers)) continue;
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

bool gives_up(std::string_view line) {
  line = without_note(line);
  if (line.ends_with('.')) line = without_note(trim(line.substr(0, line.size() - 1)));
  const auto is_line = [&](std::string_view text) { return equal_ignoring_case(line, text); };
  if (std::any_of(std::begin(kNoRows), std::end(kNoRows), is_line)) return true;
  if (std::any_of(std::begin(kOpenings), std::end(kOpenings), [&](auto opening) { return line.starts_with(opening); })) return true;
  if (std::any_of(std::begin(kVerdicts), std::end(kVerdicts), [&](auto verdict) { return begins_with_word(line, verdict); })) return true;
  if (std::any_of(std::begin(kErrorMarks), std::end(kErrorMarks), [&](auto mark) { return line.find(mark) != std::string_view::npos; }))
    return true;
  if (counts_failures(line) || tallies_errors(line) || line.starts_with(kNoMatches)) return true;
  if (std::any_of(std::begin(kSystemErrors), std::end(kSystemErrors), is_line)) return true;
  const auto colon = line.rfind(": ");
  if (colon == std::string_view::npos) return false;
  line.remove_prefix(colon + 2);
  return std::any_of(std::begin(kSystemErrors), std::end(kSystemErrors), is_line);
}

}  // namespace

bool counts_failed_tests(std::string_view output) {
  constexpr int kLines = 4;
  for (int i = 0; i < kLines && !output.empty(); ++i) {
    const auto line = take_last_line(output);
    if (counts_failures(line)) return true;
    if (!line.empty() && !is_postscript(line)) return false;
  }
  return false;
}

bool counts_tests(std::string_view output) {
  constexpr int kLines = 8;
  constexpr std::string_view kCounted[] = {" passed", " passing", " tests in "};
  for (int i = 0; i < kLines && !output.empty(); ++i) {
    const auto line = take_last_line(output);
    const auto counts = [&](std::string_view counted) {
      const auto at = line.find(counted);
      return at != std::string_view::npos && at > 0 && is_digit(line[at - 1]);
    };
    if (std::any_of(std::begin(kCounted), std::end(kCounted), counts)) return true;
  }
  return false;
}

bool exits_with_failure(std::string_view output) {
  constexpr int kSurely = 2;  // of 1, many programs that look for something say that they found nothing
  output = trim(output);
  std::string buffer;
  End end;
  if (output.starts_with('{')) {
    // Each such member has one of these in its name; most answers have neither.
    if (output.find("exit") == std::string_view::npos && output.find("return") == std::string_view::npos) return false;
    end = read_runner(output, buffer);
  } else {
    end.text = output;
    end.code = code_in(take_last_line(end.text));
  }
  if (end.code.value_or(0) == 0) return false;
  const auto last = take_last_line(end.text);
  return *end.code >= kSurely || names_complaint(last) || gives_up(last);
}

bool ends_in_failure(std::string_view output) {
  auto line = take_last_line(output);
  if (is_postscript(line)) line = take_last_line(output);
  return gives_up(line) || ends_with_class(line);
}

}  // namespace runwarden::plugins
