// The detectors of one library, loaded to be tried on runs: the part of `detectors test` that a detector can end. One thread, except for
// what detectors log.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "cli/detector_test.h"
#include "cli/run_input.h"
#include "detect/detector_set.h"

namespace runwarden::cli {

// What a trial says, as it happens: `out` and `err` are for those streams, `log` is a line that a detector logged, a digit for its level
// (LogLevel) before it.
enum class TrialPart : char { log = 'L', out = 'O', err = 'E' };
// Any thread, never two at once.
using TrialSink = std::function<void(TrialPart part, std::string_view text)>;

class DetectorTrial {
 public:
  // Null if the library or its settings are refused, which is said. `test` outlives it.
  static std::unique_ptr<DetectorTrial> load(const DetectorTest& test, TrialSink sink);

  ~DetectorTrial();
  DetectorTrial(const DetectorTrial&) = delete;
  DetectorTrial& operator=(const DetectorTrial&) = delete;

  // Prints the answer to a run whose text was read, or that it is not a run. Returns kWanting then, and when a detector fails.
  int judge(const InputRun& run);

 private:
  DetectorTrial(const DetectorTest& test, TrialSink sink);
  bool load_detectors();

  const DetectorTest& test_;
  const SystemClock clock_;
  std::optional<config::Settings> settings_;
  class DebuggerCopy;
  std::unique_ptr<DebuggerCopy> debugger_copy_;  // in process
  struct Log;
  std::shared_ptr<Log> log_;  // shared with detectors that log after their call
  std::shared_ptr<detect::DetectorSet> detectors_;
};

// "runs.ndjson:12", or the file alone.
std::string place_text(const InputRun& run);
// Why a run could not be read, for people.
std::string fault_text(const InputRun& run, const Error& error);
// The members of an object that say the same as place_text: "file", and "line" where it is one.
void write_place(std::string& json, const InputRun& run);
// Of what TrialPart::log said: a JSON array of objects with level and text.
std::string log_json(const std::vector<std::string>& lines);
// Likewise: "log info: text".
std::string log_text(std::string_view line);

}  // namespace runwarden::cli
