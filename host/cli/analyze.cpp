#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <thread>
#include <utility>

#include "cli/analysis_report.h"
#include "cli/context.h"
#include "cli/line_counts.h"
#include "cli/loaded_detectors.h"
#include "cli/ordered_work.h"
#include "cli/run_input.h"
#include "cli/terminal_progress.h"
#include "ingest/analyze.h"

namespace runwarden::cli {
namespace {

constexpr int kMaxThreads = 256;

struct AnalyzeOptions {
  std::vector<std::string> files;
  std::string tenant;
  ReportOptions report;
  bool ndjson = false;
  int fail_on = -1;  // -1: not given
  int threads = 1;
};

bool has_failed(const model::DetectorReport& report) {
  using model::DetectorStatus;
  return report.status == DetectorStatus::error || report.status == DetectorStatus::timeout || report.status == DetectorStatus::quarantined;
}

bool is_asked(const detect::DetectorInfo& detector) {
  return detector.loaded && detector.enabled && detector.mode == model::DetectorMode::live;
}

// Judges runs and reports on each, in the order of the runs. [main]; tasks run on worker threads.
class Analyzer {
 public:
  Analyzer(Context& context, const config::Settings& settings, detect::DetectorSet& detectors, const AnalyzeOptions& options,
           AnalysisReport& report)
      : context_(context),
        detectors_(detectors),
        redaction_([redactor = ingest::make_redactor(settings.redact)] { return redactor; }, {}),
        options_(options),
        report_(report),
        progress_(context.err),
        input_(static_cast<std::size_t>(settings.limits.max_body_bytes),
               options.ndjson ? RunInput::Lines::always : RunInput::Lines::if_export),
        work_(detectors.workers(), [this](const AnalyzedRun& run) { return report_.add(run); }) {
    limits_.max_json_depth = static_cast<int>(settings.limits.max_json_depth);
  }

  int run() {
    for (const std::string& file : options_.files) {
      if (!input_.read(file, [this](InputRun run) { return judge(std::move(run)); })) break;
    }
    work_.finish();
    context_.has_abandoned_calls = work_.has_abandoned_calls();
    progress_.clear();
    if (input_.open_runs() > 0) context_.err << "runwarden: skipped " << counted(input_.open_runs(), "open run") << " in exports\n";
    if (undecided_ > 0) {
      context_.err << "runwarden: --fail-on: " << counted(undecided_, "run") << " not judged by every detector (error or timeout)\n";
    }
    const int written = report_.finish();
    return written != kFine || bad_ || reached_ || undecided_ > 0 ? kWanting : kFine;
  }

 private:
  using Done = OrderedWork<AnalyzedRun>::Done;

  // False: the reader is gone.
  bool judge(InputRun run) {
    // Other reports show progress by their answers.
    if (report_.is_apart()) progress_.show({"analyzing", "runs", "", runs_++, 0});
    if (!run.text.ok()) return refuse(std::move(run));
    const std::size_t bytes = run.text->size();
    return work_.submit([this, run = std::make_shared<const InputRun>(std::move(run))](
                            std::size_t worker, WorkPool& pool, const Done& done) { analyze(run, worker, pool, done); },
                        bytes);
  }

  // A run that could not be read is also reported in its order.
  bool refuse(InputRun run) {
    bad_ = true;
    AnalyzedRun refused{{{}, std::move(run.file), run.line}, std::move(run.text.error())};
    return work_.submit([refused = std::move(refused)](std::size_t, WorkPool&, const Done& done) { done(refused); }, 0);
  }

  // Runs on a worker thread. Throws nothing.
  void analyze(const std::shared_ptr<const InputRun>& run, std::size_t worker, WorkPool& pool, const Done& done) {
    const auto take = [this, run, done](Result<ingest::Analysis> analysis) { done(analyzed(*run, std::move(analysis))); };
    try {
      const std::string origin = name_of({{}, run->file, run->line});
      ingest::analyze({*run->text, limits_, options_.tenant, redaction_, origin}, detectors_, worker, pool, take);
    } catch (const std::exception& fault) {
      take(Error{Code::internal, fault.what(), {}, {}});
    }
  }

  AnalyzedRun analyzed(const InputRun& run, Result<ingest::Analysis> judged) {
    AnalyzedRun analyzed{{{}, run.file, run.line}, std::move(judged)};
    if (!analyzed.analysis.ok()) {
      bad_ = true;
      return analyzed;
    }
    analyzed.place.run_id = analyzed.analysis->run_id;
    const ingest::Analysis& analysis = *analyzed.analysis;
    if (options_.fail_on < 0) return analyzed;
    if (!analysis.verdict.findings.empty() && analysis.max_score >= options_.fail_on) reached_ = true;
    if (std::any_of(analysis.verdict.reports.begin(), analysis.verdict.reports.end(), has_failed)) ++undecided_;
    return analyzed;
  }

  Context& context_;
  detect::DetectorSet& detectors_;
  const ingest::Redaction redaction_;
  const AnalyzeOptions& options_;
  AnalysisReport& report_;
  TerminalProgress progress_;
  RunInput input_;
  std::uint64_t runs_ = 0;
  intake::RunLimits limits_;
  std::atomic<bool> bad_ = false;      // some run could not be judged
  std::atomic<bool> reached_ = false;  // some failure reached --fail-on
  std::atomic<std::uint64_t> undecided_ = 0;  // with --fail-on: runs on which a detector failed
  OrderedWork<AnalyzedRun> work_;      // last: its threads use the members above
};

int analyze(Context& context, AnalyzeOptions& options) {
  const auto settings = context.settings();
  if (!settings) return kWanting;
  if (options.files.empty()) options.files = {"-"};
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const auto detectors = load_detectors(context, *settings, options.threads > 0 ? static_cast<std::size_t>(options.threads) : cores);
  if (!detectors) return kWanting;
  const auto asked = detectors->list(options.tenant);
  if (options.fail_on >= 0 && std::none_of(asked.begin(), asked.end(), is_asked)) {
    return context.refuse("--fail-on: no detector is enabled, so no failure can be found; `runwarden detectors list` shows the detectors");
  }
  ResultOutput output(context, options.report.output);
  if (!output.open()) return kWanting;
  const auto report = make_analysis_report(options.report.format, output, {asked, std::max(options.fail_on, 0)});
  return Analyzer(context, *settings, *detectors, options, *report).run();
}

}  // namespace

void add_analyze(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("analyze", "Run the enabled detectors on run files or standard input; nothing is stored");
  auto options = std::make_shared<AnalyzeOptions>();
  command->add_option("files", options->files, "Files with one run each, or exports; - or none: standard input")->type_name("FILE");
  command->add_flag("--ndjson", options->ndjson, "Each line of the input is a run");
  command->add_option("--fail-on", options->fail_on, "Exit 1 if a failure has this suspicion score or a higher one")
      ->type_name("SCORE")
      ->check(CLI::Range(0, 100));
  command->add_option("--threads", options->threads, "Number of runs judged in parallel; 0: one per core; default 1")
      ->type_name("N")
      ->check(CLI::Range(0, kMaxThreads));
  command->add_option("--tenant", options->tenant, "Judge with this tenant's settings")->type_name("TENANT");
  add_report_options(*command, options->report, ReportFormat::json);
  command->footer(
      "Writes one line of JSON per run, {\"failures\": [...], \"detectors\": [...]}, in input order. A run that cannot be read yields\n"
      "a problem object instead, and the exit code is 1. From an export, only the latest revision of each resolved run is judged; a\n"
      "line with an unknown \"record\" is rejected. With --format junit, a case fails if its score reaches --fail-on.\n"
      "With --fail-on, the exit code is also 1 if no detector is enabled, or one ends with an error or a timeout.\n\n"
      "Example:\n  runwarden analyze --ndjson --fail-on 80 --format sarif --output runs.sarif runs.ndjson");
  command->callback([&context, options] { context.exit_code = analyze(context, *options); });
}

}  // namespace runwarden::cli
