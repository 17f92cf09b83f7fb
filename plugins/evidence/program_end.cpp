#include "evidence/program_end.h"

#include <algorithm>
#include <iterator>

#include "common/fold.h"
#include "common/words.h"

namespace runwarden::plugins {
namespace {

// Not "No such file or directory", which whoever looks around is told all the time.
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

// As git, compilers and package managers begin the line on which they give up.
constexpr std::string_view kOpenings[] = {"error: ", "fatal: ", "ERROR: ", "FATAL: ", "E: "};

constexpr std::string_view kNoRows[] = {"delete 0", "update 0", "insert 0 0", "0 rows affected", "query ok, 0 rows affected"};

/// The line without what stands in brackets at its end: "DELETE 0 (0.02 sec)".
std::string_view without_note(std::string_view line) {
  if (!line.ends_with(')')) return line;
  const auto open = line.rfind('(');
  return open == std::string_view::npos ? line : trim(line.substr(0, open));
}

}  // namespace

bool ends_in_failure(std::string_view output) {
  output = trim(output);
  const auto line_end = output.find_last_of("\n\r");
  auto line = without_note(trim(line_end == std::string_view::npos ? output : output.substr(line_end + 1)));
  if (line.ends_with('.')) line.remove_suffix(1);
  const auto is_line = [&](std::string_view text) { return equal_ignoring_case(line, text); };
  if (std::any_of(std::begin(kNoRows), std::end(kNoRows), is_line)) return true;
  if (std::any_of(std::begin(kOpenings), std::end(kOpenings), [&](auto opening) { return line.starts_with(opening); })) return true;
  const auto colon = line.rfind(": ");
  if (colon == std::string_view::npos) return false;
  line.remove_prefix(colon + 2);
  return std::any_of(std::begin(kSystemErrors), std::end(kSystemErrors), is_line);
}

}  // namespace runwarden::plugins
