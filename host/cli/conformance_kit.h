// The cases that a detector library must pass: what the host may do to it, done to it on purpose. One thread; the case `concurrent`
// starts more of its own.
//
// A case runs the library's code in this process, which may end of it: give it a child process of its own (conformance.cpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace runwarden::cli {

// Names of the cases, in the order to run them in.
const std::vector<std::string>& conformance_cases();

struct CaseOutcome {
  enum class Kind : std::uint8_t { passed, failed, skipped };
  Kind kind = Kind::passed;
  std::string text;  // what is wrong, or why it was left out; of a case that was passed, what there is to know
};

// The keys of a library that this host takes; or why it does not take it.
Result<std::vector<std::string>> conformance_keys(const std::filesystem::path& library);

struct ConformanceSubject {
  std::filesystem::path library;
  std::string key;
  std::string settings_json;  // empty: none
};

CaseOutcome run_conformance_case(const ConformanceSubject& subject, std::string_view name);

}  // namespace runwarden::cli
