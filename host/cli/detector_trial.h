// The detectors of one library, loaded to try them on runs: the part of `detectors test` that a detector can crash. One thread, except
// for what detectors log.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/detector_test.h"
#include "cli/run_input.h"
#include "detect/detector_set.h"

namespace runwarden::cli {

// The kinds of a trial's output. `out` and `err` go to those streams. `log` is a line that a detector logged, with the digit of its
// LogLevel before it.
enum class TrialPart : char { log = 'L', out = 'O', err = 'E' };
// Called on any thread, never on two at once.
using TrialSink = std::function<void(TrialPart part, std::string_view text)>;

class DetectorTrial {
 public:
  // Null, after a message, if the library or its settings are refused. `test` must outlive the trial.
  static std::unique_ptr<DetectorTrial> load(const DetectorTest& test, TrialSink sink);

  ~DetectorTrial();
  DetectorTrial(const DetectorTrial&) = delete;
  DetectorTrial& operator=(const DetectorTrial&) = delete;

  // Prints the verdict on the run, or why the text is not a run. Returns kWanting in that case and when a detector fails.
  int judge(const InputRun& run);

 private:
  DetectorTrial(const DetectorTest& test, TrialSink sink);
  bool load_detectors();

  const DetectorTest& test_;
  std::optional<config::Settings> settings_;
  struct Log;
  std::shared_ptr<Log> log_;  // shared with detectors that log after their call
  std::shared_ptr<detect::DetectorSet> detectors_;
};

// "runs.ndjson:12", or just the file.
std::string place_text(const InputRun& run);
// Why a run could not be read, for people.
std::string fault_text(const InputRun& run, const Error& error);
// Writes the place as members of an object: "file", and "line" if there is one.
void write_place(std::string& json, const InputRun& run);
// The lines of TrialPart::log as a JSON array of objects with level and text.
std::string log_json(const std::vector<std::string>& lines);
// One such line as "log info: text".
std::string log_text(std::string_view line);

}  // namespace runwarden::cli
