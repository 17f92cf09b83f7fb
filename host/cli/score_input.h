// Reads labeled runs: runs, and people's labels for them. Values; read by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"

namespace runwarden::cli {

enum class Label : std::uint8_t { present, absent, unclear };
const char* name(Label label);

// The labels of one run.
struct RunLabels {
  std::map<std::string, Label> labels;     // by detector key
  std::map<std::string, std::string> why;  // likewise; "": the reason for the whole run

  // The reason for the detector's label; empty: none was given.
  std::string why_of(const std::string& detector_key) const;
};
using Labels = std::map<std::string, RunLabels>;  // by the id of a run

// Reads a file with one {"id", "labels": {KEY: "present|absent|unclear"}, "why": TEXT or {KEY: TEXT}} per line. Errors name the line. A
// label for a detector that is not in `detectors` is an error.
Result<Labels> read_labels(const std::string& file, const std::set<std::string>& detectors);

// A line of {"id", "run"}: the run's JSON text.
struct RunLine {
  std::string id;
  std::string run;
};
Result<RunLine> read_run_line(std::string_view line, int max_depth);

}  // namespace runwarden::cli
