// The conformance cases for a detector library. Each exercises something that a host may do. One thread; the case `concurrent` starts more.
//
// A case runs the library's code in this process and may crash it: run each case in a child process (conformance.cpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace runwarden::conformance {

// The names of the cases, in the order in which to run them.
const std::vector<std::string>& case_names();

struct CaseOutcome {
  enum class Kind : std::uint8_t { passed, failed, skipped };
  Kind kind = Kind::passed;
  std::string text;  // the fault, or why the case was skipped; for a passed case, a remark
};

// The keys of a library that this host accepts, or why it refuses it.
Result<std::vector<std::string>> detector_keys(const std::filesystem::path& library);

struct Target {
  std::filesystem::path library;
  std::string key;
  std::string settings_json;  // empty: none
};

CaseOutcome run_case(const Target& target, std::string_view name);

}  // namespace runwarden::conformance
