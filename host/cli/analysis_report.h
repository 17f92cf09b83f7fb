// Reports of `analyze` on the runs that it judged, in each output format. One thread at a time.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "cli/output_file.h"
#include "cli/report_format.h"
#include "detect/detector_set.h"
#include "ingest/analyze.h"

namespace runwarden::cli {

// A run that was judged, or why it could not be.
struct AnalyzedRun {
  RunOrigin place;
  Result<ingest::Analysis> analysis;
};

class AnalysisReport {
 public:
  explicit AnalysisReport(ResultOutput& output) : output_(output) {}
  virtual ~AnalysisReport() = default;

  // Called in the order of the runs. False: the reader is gone.
  virtual bool add(const AnalyzedRun& run) = 0;
  // Ends the report, prints any write fault, and returns an exit code.
  int finish();
  // False if answers appear on the terminal one by one, so that no other progress is shown.
  virtual bool is_apart() const { return true; }

 protected:
  ResultOutput& output() { return output_; }
  virtual bool end() = 0;

 private:
  ResultOutput& output_;
};

struct AnalysisReportSettings {
  std::vector<detect::DetectorInfo> detectors;  // the ones that judge
  int fail_from = 0;                            // the score from which a JUnit case fails
};

// `output` outlives the report.
std::unique_ptr<AnalysisReport> make_analysis_report(ReportFormat format, ResultOutput& output, AnalysisReportSettings settings);

}  // namespace runwarden::cli
