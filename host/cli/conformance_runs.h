// The runs that the conformance kit shows a detector: hard ones, made here, the same each time. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace runwarden::cli {

constexpr std::size_t kManySteps = 10'000;

// No members at all; and a list of no steps.
std::vector<std::string> empty_runs();

// One run of kManySteps steps of every kind: repeated calls, failures, retries, large and small texts.
std::string long_run();

// Runs whose every field is null, absent, or an empty text.
std::vector<std::string> null_runs();

// Right-to-left, combining, astral and invisible characters, control characters, JSON inside of text, and a text of 1 MiB.
std::vector<std::string> unusual_runs();

// Ordinary ones, among them some that go wrong: a failed step and a claim of success, a loop, an empty answer made up for.
std::vector<std::string> ordinary_runs();

}  // namespace runwarden::cli
