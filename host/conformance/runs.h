// The difficult runs of the conformance kit, generated deterministically. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace runwarden::conformance {

constexpr std::size_t kManySteps = 10'000;

// A run without members, and one with an empty list of steps.
std::vector<std::string> empty_runs();

// One run of kManySteps steps of every kind: repeated calls, failures, retries, large and small texts.
std::string long_run();

// Runs in which every field is null, absent or empty.
std::vector<std::string> null_runs();

// Right-to-left, combining, astral and invisible characters, control characters, JSON inside text, and a text of 1 MiB.
std::vector<std::string> unusual_runs();

// Ordinary runs, some with failures: a failed step and a claim of success, a loop, an empty result with an invented answer.
std::vector<std::string> ordinary_runs();

}  // namespace runwarden::conformance
