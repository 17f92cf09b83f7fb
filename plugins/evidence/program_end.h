#pragma once

#include <string_view>

namespace runwarden::plugins {

/// True when a program's last line begins the way programs report that they give up ("error: failed to push some refs"), ends with a system
/// error as strerror(3) words it in the C locale ("rm: /mnt/usb: Read-only file system"), or says that a statement changed no rows
/// ("DELETE 0", as PostgreSQL and MySQL do). Linear; any thread.
[[nodiscard]] bool ends_in_failure(std::string_view output);

/// True when an output reports the exit code of a program that failed: in its last line ("exit status 2", "[exit code 1]") or as a member
/// ("exit_code"). A code of 1 counts only behind a line that complains ("sudo: a password is required"): programs that search return it
/// when they find nothing. Linear; any thread.
[[nodiscard]] bool exits_with_failure(std::string_view output);

/// True when a test runner's last line counts tests that failed: "1 failed, 8 passed in 0.38s". Linear; any thread.
[[nodiscard]] bool counts_failed_tests(std::string_view output);

/// True when one of a test runner's last lines counts tests: "Tests: 20 passed, 20 total", "Ran 12 tests in 0.3s". Linear; any thread.
[[nodiscard]] bool counts_tests(std::string_view output);

}  // namespace runwarden::plugins
