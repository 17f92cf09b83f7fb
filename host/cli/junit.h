// Writes test cases as JUnit XML, which build servers read: one suite per detector, one case per run. Holds every case as text until the
// end, because a suite begins with its counts. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "cli/output_file.h"
#include "cli/report_format.h"

namespace runwarden::cli {

class JunitReport {
 public:
  enum class CaseStatus : std::uint8_t { passed, failed, error, skipped };
  struct Case {
    CaseStatus status = CaseStatus::passed;
    std::string message;  // one line: why it did not pass
    std::string text;     // details; a passed case may have some too
  };

  // `name` is the name of the report: the command.
  explicit JunitReport(std::string_view name) : name_(name) {}

  void add(const std::string& suite, const RunOrigin& place, const Case& one);
  bool write(ResultOutput& output) const;

 private:
  struct Suite {
    std::uint64_t tests = 0, failures = 0, errors = 0, skipped = 0;
    std::string cases;
  };

  const std::string name_;
  std::map<std::string, Suite> suites_;
};

// The suite for runs that could not be judged.
constexpr const char* kInputSuite = "runwarden";

}  // namespace runwarden::cli
