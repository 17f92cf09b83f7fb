#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/vocabulary.h"

namespace runwarden::plugins {

/// How programs print that they failed. Read-only once constructed: any thread may read.
struct ProgramWords {
  std::vector<std::string> failure_lines;       // how a last line begins by which a program gives up: "fatal: "
  std::vector<std::string> error_marks;         // behind a program's name or a place: ": error: "
  std::vector<std::string> system_errors;       // "permission denied"
  std::vector<std::string> failed_verdicts;     // "build failed"
  std::vector<std::string> no_row_reports;      // "update 0"
  std::vector<std::string> postscripts;         // how a line begins that is about the program: "exit status "
  std::vector<std::string> test_labels;         // "Tests:"
  std::vector<std::string> failed_counts;       // behind a number: " failed"
  std::vector<std::string> test_counts;         // behind a number: " passed"
  std::vector<std::string> error_tallies;       // before a number: " ERROR="
  std::vector<std::string> exit_code_labels;    // before a number at the end of a line: "exit code"
  std::vector<std::string> exit_code_members;   // "exit_code"
  std::vector<std::string> exit_code_openings;  // the first words of these members, each once: "exit"
  std::vector<std::string> print_members;       // "stdout"
  std::vector<std::string> exception_endings;   // "Error"

  ProgramWords() = default;
  explicit ProgramWords(const Vocabulary& vocabulary);
};

/// True when a program's last line begins the way programs report that they give up ("error: failed to push some refs"), ends with a system
/// error as strerror(3) words it in the C locale ("rm: /mnt/usb: Read-only file system"), or says that a statement changed no rows
/// ("DELETE 0", as PostgreSQL and MySQL do). Linear; any thread.
[[nodiscard]] bool ends_in_failure(std::string_view output, const ProgramWords& words);

/// True when an output reports the exit code of a program that failed: in its last line ("exit status 2", "[exit code 1]") or as a member
/// ("exit_code"). A code of 1 counts only behind a line that complains ("sudo: a password is required"): programs that search return it
/// when they find nothing. Linear; any thread.
[[nodiscard]] bool exits_with_failure(std::string_view output, const ProgramWords& words);

/// True when a test runner's last line counts tests that failed: "1 failed, 8 passed in 0.38s". Linear; any thread.
[[nodiscard]] bool counts_failed_tests(std::string_view output, const ProgramWords& words);

/// The number of failed tests in that line: "1"; empty without one. Linear; any thread.
[[nodiscard]] std::string_view failed_test_count(std::string_view output, const ProgramWords& words);

/// The number of tests that passed, as one of the last lines gives it; empty without one. Linear; any thread.
[[nodiscard]] std::string_view passed_test_count(std::string_view output, const ProgramWords& words);

/// True when one of a test runner's last lines counts tests: "Tests: 20 passed, 20 total", "Ran 12 tests in 0.3s". Linear; any thread.
[[nodiscard]] bool counts_tests(std::string_view output, const ProgramWords& words);

}  // namespace runwarden::plugins
