#include "cli/detector_trial.h"

#include <climits>
#include <filesystem>
#include <sstream>
#include <utility>

#include "base/json_text.h"
#include "base/mutex.h"
#include "base/one_line.h"
#include "cli/detector_settings.h"
#include "cli/explanation_text.h"
#include "cli/loaded_detectors.h"
#include "cli/problem_line.h"
#include "detect/inspect.h"
#include "ingest/analyze.h"

namespace runwarden::cli {
namespace {

constexpr std::int64_t kDebuggedDeadlineMs = 3'600'000;  // long enough to sit at a breakpoint

constexpr const char* kLevels[] = {"debug", "info", "warn", "error"};

const char* level_of(std::string_view line) {
  return kLevels[static_cast<std::size_t>(line[0] - '0')];
}

// A configuration with only the wanted detectors of the library.
std::optional<config::Settings> settings_for(Context& context, const DetectorTest& test) {
  const std::filesystem::path library = std::filesystem::absolute(test.library).lexically_normal();
  const auto found = detect::inspect(library, {});
  if (!found.loadable) {
    context.err << found.refusal << "\n";
    return std::nullopt;
  }
  const config::NodePtr wanted = read_detector_settings(context, test.settings);
  if (!wanted) return std::nullopt;
  config::Settings settings;
  settings.detectors.quarantine_failures = INT_MAX;  // judge every run
  if (test.in_process) settings.detectors.deadline_ms = kDebuggedDeadlineMs;
  std::vector<config::Fault> faults;
  std::string json;
  config::append_json(json, *wanted, "settings", faults);
  for (const config::Fault& fault : faults) context.err << fault.text() << "\n";
  if (!faults.empty()) return std::nullopt;
  for (const auto& detector : found.detectors) {
    if (!test.key.empty() && detector.key != test.key) continue;
    settings.detectors.entries.push_back({detector.key, library.string(), json, false, wanted->location.text()});
    settings.locations.note("", detector.key, wanted);
  }
  if (!settings.detectors.entries.empty()) return settings;
  context.refuse("the library has no detector \"" + test.key + "\"");
  return std::nullopt;
}

void print_finding(std::ostream& out, const model::Finding& finding) {
  out << "    " << finding.suspicion_score << " " << model::name(finding.severity) << " " << model::name(finding.source) << "  "
      << one_line(finding.title) << "\n";
  out << "      " << one_line(finding.summary) << "\n";
  if (!finding.primary_step_id.empty()) out << "      primary step: " << one_line(finding.primary_step_id) << "\n";
  if (finding.confidence) out << "      confidence: " << two_decimals(*finding.confidence) << "\n";
  for (const auto& evidence : finding.evidence)
    out << "      evidence: " << one_line(evidence.pointer) << " = " << one_line(evidence.value) << "\n";
  if (finding.waste_usd) out << "      estimated waste: $" << two_decimals(*finding.waste_usd) << "\n";
  out << "      fingerprint: " << one_line(finding.fingerprint) << "\n";
}

void print_suppression(std::ostream& out, const model::Suppression& suppression) {
  out << "    suppressed by " << one_line(suppression.rule);
  if (!suppression.step_id.empty()) out << " at " << one_line(suppression.step_id);
  if (suppression.confidence) out << ", confidence " << two_decimals(*suppression.confidence);
  out << ": " << one_line(suppression.reason) << "\n";
}

void print_verdict(std::ostream& out, const model::Verdict& verdict) {
  for (const auto& report : verdict.reports) {
    out << "  " << report.key << "  " << model::name(report.status) << "  " << report.elapsed_ns / 1000 << " us\n";
    if (!report.reason.empty()) out << "    reason: " << one_line(report.reason) << "\n";
    for (const auto& finding : verdict.findings) {
      if (finding.detector_key == report.key) print_finding(out, finding);
    }
    for (const auto& suppression : report.suppressed) print_suppression(out, suppression);
  }
}

bool detector_failed(const model::Verdict& verdict) {
  for (const auto& report : verdict.reports) {
    const auto status = report.status;
    if (status == model::DetectorStatus::error || status == model::DetectorStatus::timeout || status == model::DetectorStatus::quarantined)
      return true;
  }
  return false;
}

// The answer of analyze, between the run's place and the detectors' times and log lines.
std::string answer_json(const InputRun& run, const ingest::Analysis& analysis, const std::vector<std::string>& lines) {
  std::string elapsed;
  JsonWriter times(elapsed);
  times.begin_object();
  for (const auto& report : analysis.verdict.reports) times.key(report.key).number(static_cast<double>(report.elapsed_ns) / 1000);
  times.end_object();
  std::string text = "{";
  write_place(text, run);
  text += "," + analysis.json.substr(1, analysis.json.size() - 2) + ",\"elapsedMicros\":" + elapsed;
  if (!lines.empty()) text += ",\"log\":" + log_json(lines);
  return text + "}\n";
}

}  // namespace

struct DetectorTrial::Log {
  Mutex mutex;
  TrialSink sink RW_GUARDED_BY(mutex);
  std::vector<std::string> lines RW_GUARDED_BY(mutex);  // of this run so far

  void say(TrialPart part, std::string_view text) {
    const MutexLock lock(mutex);
    if (!text.empty()) sink(part, text);
  }
  void add(LogLevel level, std::string_view text) {
    const MutexLock lock(mutex);
    lines.push_back(static_cast<char>('0' + static_cast<int>(level)) + std::string(text));
    sink(TrialPart::log, lines.back());
  }
  std::vector<std::string> take_lines() {
    const MutexLock lock(mutex);
    return std::exchange(lines, {});
  }
};

DetectorTrial::DetectorTrial(const DetectorTest& test, TrialSink sink) : test_(test), log_(std::make_shared<Log>()) {
  log_->sink = std::move(sink);
}

DetectorTrial::~DetectorTrial() = default;

std::unique_ptr<DetectorTrial> DetectorTrial::load(const DetectorTest& test, TrialSink sink) {
  std::unique_ptr<DetectorTrial> trial(new DetectorTrial(test, std::move(sink)));
  return trial->load_detectors() ? std::move(trial) : nullptr;
}

bool DetectorTrial::load_detectors() {
  std::ostringstream out, err;
  Context context{out, err, {}, {}, kFine};
  settings_ = settings_for(context, test_);
  if (settings_) {
    detect::LoadContext load = load_context(context, *settings_, 1);
    load.log_rate = detect::LogRate::unbounded;
    load.library_place = detect::LibraryPlace::anywhere;
    load.log = [log = log_](LogLevel level, std::string_view text) { log->add(level, text); };
    auto set = detect::DetectorSet::load(settings_->detectors, std::move(load));
    if (set.ok()) {
      detectors_ = std::move(*set);
    } else {
      err << set.error().detail << "\n";
      if (test_.settings.empty()) err << "runwarden: " << kSettingsHint << "\n";
    }
  }
  log_->take_lines();
  log_->say(TrialPart::err, err.str());
  return detectors_ != nullptr;
}

int DetectorTrial::judge(const InputRun& run) {
  const auto explain = test_.explain ? detect::Explain::yes : detect::Explain::no;
  const ingest::Redaction as_it_is([] { return nullptr; }, {});
  const auto analysis = ingest::analyze({*run.text, intake::RunLimits{}, test_.tenant, as_it_is}, *detectors_, 0, explain);
  const std::vector<std::string> lines = log_->take_lines();
  if (!analysis.ok()) {
    if (test_.json) log_->say(TrialPart::out, problem_line(analysis.error(), run.file, run.line) + "\n");
    log_->say(TrialPart::err, fault_text(run, analysis.error()));
    return kWanting;
  }
  std::ostringstream out;
  if (test_.json) {
    out << answer_json(run, *analysis, lines);
  } else if (analysis->explanation) {
    print_explanation(out, *analysis->explanation, analysis->verdict);
  } else {
    print_verdict(out, analysis->verdict);
  }
  log_->say(TrialPart::out, out.str());
  return detector_failed(analysis->verdict) ? kWanting : kFine;
}

std::string place_text(const InputRun& run) {
  return run.line == 0 ? run.file : run.file + ":" + std::to_string(run.line);
}

std::string fault_text(const InputRun& run, const Error& error) {
  std::string why = "runwarden: " + place_text(run) + ": " + error.detail + "\n";
  for (const FieldFault& fault : error.faults) why += "  " + fault.pointer + ": " + fault.detail + "\n";
  return why;
}

void write_place(std::string& json, const InputRun& run) {
  JsonWriter out(json);
  out.key("file").string(run.file);
  if (run.line > 0) out.key("line").integer(static_cast<std::int64_t>(run.line));
}

std::string log_json(const std::vector<std::string>& lines) {
  std::string json;
  JsonWriter out(json);
  out.begin_array();
  for (const std::string& line : lines) {
    out.begin_object().key("level").string(level_of(line)).key("text").string(std::string_view(line).substr(1)).end_object();
  }
  out.end_array();
  return json;
}

std::string log_text(std::string_view line) {
  return "log " + std::string(level_of(line)) + ": " + std::string(line.substr(1));
}

}  // namespace runwarden::cli
