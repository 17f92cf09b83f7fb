#include "cli/analysis_report.h"

#include <sstream>
#include <utility>

#include "cli/junit.h"
#include "cli/line_counts.h"
#include "cli/problem_line.h"
#include "cli/sarif.h"
#include "cli/table.h"

namespace runwarden::cli {
namespace {

// The detail, then one line for each field fault.
std::string fault_text(const Error& error) {
  std::string text = error.detail;
  for (const FieldFault& fault : error.faults) text += "\n" + fault.pointer + ": " + fault.detail;
  return text;
}

// One line of JSON per run.
class JsonLines final : public AnalysisReport {
 public:
  using AnalysisReport::AnalysisReport;

  // Each answer is out before a detector can end the process with the next run.
  bool add(const AnalyzedRun& run) override {
    const std::string text = run.analysis.ok() ? run.analysis->json : problem_line(run.analysis.error(), run.place.file, run.place.line);
    const bool taken = output().write(text + "\n");
    output().flush();
    return taken;
  }
  bool is_apart() const override { return false; }

 private:
  bool end() override { return true; }
};

class TextReport final : public AnalysisReport {
 public:
  using AnalysisReport::AnalysisReport;

  bool add(const AnalyzedRun& run) override {
    if (!run.analysis.ok()) {
      ++unread_;
      faults_ += name_of(run.place) + ": " + fault_text(run.analysis.error()) + "\n";
      return true;
    }
    ++runs_;
    const auto& findings = run.analysis->verdict.findings;
    if (!findings.empty()) ++failed_;
    failures_ += findings.size();
    for (const model::Finding& finding : findings) {
      table_.add({name_of(run.place), finding.detector_key, std::to_string(finding.suspicion_score), model::name(finding.severity),
                  finding.primary_step_id, finding.title});
    }
    return true;
  }

 private:
  bool end() override {
    std::ostringstream text;
    if (failures_ > 0) table_.print(text);
    text << faults_ << counted(runs_, "run") << ", " << failed_ << " with failures, " << counted(failures_, "failure");
    if (unread_ > 0) text << "; " << unread_ << " could not be read";
    text << "\n";
    return output().write(text.str());
  }

  Table table_{{"RUN", "DETECTOR", "SCORE", "SEVERITY", "STEP", "TITLE"}};
  std::string faults_;
  std::uint64_t runs_ = 0, failed_ = 0, failures_ = 0, unread_ = 0;
};

JunitReport::Case case_of(const model::DetectorReport& report, const model::Verdict& verdict, int fail_from) {
  JunitReport::Case one;
  switch (report.status) {
    case model::DetectorStatus::clean: return one;
    case model::DetectorStatus::not_evaluable: return {JunitReport::CaseStatus::skipped, report.reason, {}};
    case model::DetectorStatus::fired: break;
    default: return {JunitReport::CaseStatus::error, std::string(model::name(report.status)) + ": " + report.reason, {}};
  }
  for (const model::Finding& finding : verdict.findings) {
    if (finding.detector_key != report.key) continue;
    if (one.message.empty()) one.message = finding.title;
    if (finding.suspicion_score >= fail_from) one.status = JunitReport::CaseStatus::failed;
    one.text += finding.title + "\n" + finding.summary + "\n" + model::name(finding.severity) + ", score " +
                std::to_string(finding.suspicion_score) + "\n";
    for (const model::Evidence& evidence : finding.evidence) one.text += evidence.pointer + " = " + evidence.value + "\n";
  }
  return one;
}

class JunitAnalysis final : public AnalysisReport {
 public:
  JunitAnalysis(ResultOutput& output, int fail_from) : AnalysisReport(output), fail_from_(fail_from) {}

  bool add(const AnalyzedRun& run) override {
    if (!run.analysis.ok()) {
      report_.add(kInputSuite, run.place, {JunitReport::CaseStatus::error, run.analysis.error().detail, fault_text(run.analysis.error())});
      return true;
    }
    for (const model::DetectorReport& report : run.analysis->verdict.reports) {
      report_.add(report.key, run.place, case_of(report, run.analysis->verdict, fail_from_));
    }
    return true;
  }

 private:
  bool end() override { return report_.write(output()); }

  const int fail_from_;
  JunitReport report_{"runwarden analyze"};
};

class SarifAnalysis final : public AnalysisReport {
 public:
  SarifAnalysis(ResultOutput& output, const std::vector<detect::DetectorInfo>& detectors)
      : AnalysisReport(output), writer_(output, detectors) {}

  bool add(const AnalyzedRun& run) override {
    if (!run.analysis.ok()) {
      writer_.add_fault(run.place, fault_text(run.analysis.error()));
      return true;
    }
    for (const model::Finding& finding : run.analysis->verdict.findings) {
      if (!writer_.add(run.place, item_of(finding))) return false;
    }
    return true;
  }

 private:
  bool end() override { return writer_.finish(); }

  SarifWriter writer_;
};

}  // namespace

int AnalysisReport::finish() {
  end();
  return output_.finish();
}

std::unique_ptr<AnalysisReport> make_analysis_report(ReportFormat format, ResultOutput& output, AnalysisReportSettings settings) {
  switch (format) {
    case ReportFormat::text: return std::make_unique<TextReport>(output);
    case ReportFormat::junit: return std::make_unique<JunitAnalysis>(output, settings.fail_from);
    case ReportFormat::sarif: return std::make_unique<SarifAnalysis>(output, settings.detectors);
    case ReportFormat::json: break;
  }
  return std::make_unique<JsonLines>(output);
}

}  // namespace runwarden::cli
