#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <thread>
#include <utility>

#include "cli/context.h"
#include "cli/loaded_detectors.h"
#include "cli/ordered_work.h"
#include "cli/problem_line.h"
#include "cli/run_input.h"
#include "ingest/analyze.h"

namespace runwarden::cli {
namespace {

constexpr int kMaxThreads = 256;

struct AnalyzeOptions {
  std::vector<std::string> files;
  std::string tenant;
  bool ndjson = false;
  int fail_on = -1;  // -1: not asked for
  int threads = 1;
};

// Sends runs through the detectors and writes an answer a line, in the order of the runs. [main], its tasks on their threads.
class Analyzer {
 public:
  Analyzer(Context& context, const config::Settings& settings, detect::DetectorSet& detectors, const AnalyzeOptions& options)
      : context_(context),
        detectors_(detectors),
        redaction_([redactor = ingest::make_redactor(settings.redact)] { return redactor; }, {}),
        options_(options),
        input_(static_cast<std::size_t>(settings.limits.max_body_bytes),
               options.ndjson ? RunInput::Lines::always : RunInput::Lines::if_export),
        work_(detectors.workers(), [this](const std::string& answer, bool more) { return write(answer, more); }) {
    limits_.max_json_depth = static_cast<int>(settings.limits.max_json_depth);
  }

  int run() {
    for (const std::string& file : options_.files) {
      if (!input_.read(file, [this](InputRun run) { return judge(std::move(run)); })) break;
    }
    work_.finish();
    if (input_.open_runs() > 0)
      context_.err << "runwarden: " << input_.open_runs() << " runs of exports are still open and were not judged\n";
    const int written = context_.finish();
    return written != kFine || bad_ || reached_ ? kWanting : kFine;
  }

 private:
  // False: nobody reads the answers any more.
  bool judge(InputRun run) {
    if (!run.text.ok()) return refuse(run.text.error(), run.file, run.line);
    const std::size_t bytes = run.text->size();
    return work_.submit([this, run = std::move(run)](std::size_t worker) { return answer(*run.text, run.file, run.line, worker); }, bytes);
  }

  // A run that could not even be read has its place among the answers too.
  bool refuse(const Error& error, const std::string& file, std::uint64_t line) {
    bad_ = true;
    return work_.submit([answer = problem_line(error, file, line)](std::size_t) { return answer; }, 0);
  }

  // The wall of a worker thread: nothing is thrown beyond it.
  std::string answer(const std::string& text, const std::string& file, std::uint64_t line, std::size_t worker) {
    try {
      return judged(text, file, line, worker);
    } catch (const std::exception& fault) {
      bad_ = true;
      return problem_line(Error{Code::internal, fault.what(), {}, {}}, file, line);
    }
  }

  std::string judged(const std::string& text, const std::string& file, std::uint64_t line, std::size_t worker) {
    auto analysis = ingest::analyze(text, limits_, detectors_, redaction_, options_.tenant, worker);
    if (!analysis.ok()) {
      bad_ = true;
      return problem_line(analysis.error(), file, line);
    }
    if (options_.fail_on >= 0 && !analysis->verdict.findings.empty() && analysis->max_score >= options_.fail_on) reached_ = true;
    return std::move(analysis->json);
  }

  bool write(const std::string& answer, bool more_at_hand) {
    context_.out << answer << '\n';
    if (!more_at_hand) context_.out.flush();
    return context_.out.good();
  }

  Context& context_;
  detect::DetectorSet& detectors_;
  const ingest::Redaction redaction_;
  const AnalyzeOptions& options_;
  RunInput input_;
  intake::RunLimits limits_;
  std::atomic<bool> bad_ = false;      // some run could not be judged
  std::atomic<bool> reached_ = false;  // some failure reached --fail-on
  OrderedWork work_;                   // last: its threads use what stands above
};

int analyze(Context& context, AnalyzeOptions& options) {
  const auto settings = context.settings();
  if (!settings) return kWanting;
  if (options.files.empty()) options.files = {"-"};
  const SystemClock clock;
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const auto detectors = load_detectors(context, *settings, options.threads > 0 ? static_cast<std::size_t>(options.threads) : cores, clock);
  if (!detectors) return kWanting;
  return Analyzer(context, *settings, *detectors, options).run();
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
  command->add_option("--threads", options->threads, "Runs judged at once; 0: as many as there are cores; default 1")
      ->type_name("N")
      ->check(CLI::Range(0, kMaxThreads));
  command->add_option("--tenant", options->tenant, "Judge with this tenant's settings")->type_name("TENANT");
  command->footer(
      "One JSON answer a run and line, {\"failures\": [...], \"detectors\": [...]}, in the order of the input. A run that cannot be\n"
      "read has a problem object in its place, and the exit code is 1. Of an export the runs that have ended are judged, by their\n"
      "latest revision; a line with an unknown \"record\" is refused.\n\n"
      "Example:\n  runwarden analyze --ndjson --fail-on 80 runs.ndjson");
  command->callback([&context, options] { context.exit_code = analyze(context, *options); });
}

}  // namespace runwarden::cli
