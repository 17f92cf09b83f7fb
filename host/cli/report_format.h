// In which form a command reports on runs, and what the forms share. Values and pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/verdict.h"

namespace CLI {
class App;
}

namespace runwarden::cli {

enum class ReportFormat : std::uint8_t { text, json, junit, sarif };

struct ReportOptions {
  ReportFormat format = ReportFormat::text;
  std::string output;  // a file; empty: standard output
};

// Adds --format and --output to a command. `usual` is in force where --format is not given.
void add_report_options(CLI::App& command, ReportOptions& options, ReportFormat usual);

// Where a run stands.
struct RunPlace {
  std::string run_id;      // empty: it has none
  std::string file;        // as it was named; "-" is standard input
  std::uint64_t line = 0;  // from 1; 0: the file as a whole
};

// What a run is called where there is room for one name: its id, else its place.
std::string name_of(const RunPlace& place);

// Something about one run that a report lists: a failure, or a difference between two judgements.
struct ReportItem {
  std::string detector_key;
  model::Severity severity = model::Severity::medium;
  int score = 0;
  std::string title;
  std::string text;
  std::vector<std::string> pointers;  // JSON Pointers (RFC 6901) into the run, each once
  std::string fingerprint;
};

ReportItem item_of(const model::Finding& finding);

}  // namespace runwarden::cli
