// Writes SARIF 2.1.0 (OASIS), which code hosts show as annotations: a rule a detector, a result a failure. Result by result, so that
// nothing but the rules is held. One thread.
#pragma once

#include <string>
#include <vector>

#include "base/json_text.h"
#include "cli/output_file.h"
#include "cli/report_format.h"
#include "detect/detector_set.h"

namespace runwarden::cli {

class SarifWriter {
 public:
  // `detectors` are the rules: those that are enabled and live. `output` outlives this.
  SarifWriter(ResultOutput& output, const std::vector<detect::DetectorInfo>& detectors);

  // False: the rest cannot be written.
  bool add(const RunPlace& place, const ReportItem& item);
  // A run that could not be judged: told at the end, as a notification of the tool.
  void add_fault(const RunPlace& place, std::string_view text);
  bool finish();

 private:
  bool hand_on();

  ResultOutput& output_;
  std::string text_;
  JsonWriter out_{text_};
  std::vector<std::string> notifications_;
};

}  // namespace runwarden::cli
