#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <thread>
#include <utility>

#include "cli/context.h"
#include "cli/line_reader.h"
#include "cli/loaded_detectors.h"
#include "cli/ordered_work.h"
#include "cli/problem_line.h"
#include "pipeline/analyze.h"
#include "store/export_lines.h"

namespace runwarden::cli {
namespace {

constexpr int kMaxThreads = 256;
constexpr std::size_t kLongestExportLine = std::size_t{1} << 30;  // no record in a store is longer

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
        redaction_([redactor = pipeline::make_redactor(settings.redact)] { return redactor; }, {}),
        options_(options),
        max_bytes_(static_cast<std::size_t>(settings.limits.max_body_bytes)),
        work_(detectors.workers(), [this](const std::string& answer, bool more) { return write(answer, more); }) {
    limits_.max_json_depth = static_cast<int>(settings.limits.max_json_depth);
  }

  int run() {
    for (const std::string& file : options_.files) {
      if (!read(file)) break;
    }
    work_.finish();
    if (open_runs_ > 0) context_.err << "runwarden: " << open_runs_ << " runs of exports are still open and were not judged\n";
    const int written = context_.finish();
    return written != kFine || bad_ || reached_ ? kWanting : kFine;
  }

 private:
  // False: nobody reads the answers any more.
  bool read(const std::string& file) {
    auto input = InputFile::open(file);
    if (!input.ok()) return refuse(input.error(), file, 0);
    LineReader reader(input->descriptor(), max_bytes_);
    const auto is_export = reader.begins_with(store::kExportBegins);
    if (!is_export.ok()) return refuse(is_export.error(), file, 0);
    if (*is_export) reader.set_max_line_bytes(kLongestExportLine);
    if (options_.ndjson || *is_export) return read_lines(reader, file);
    auto text = reader.rest();
    if (!text.ok()) return refuse(text.error(), file, 0);
    if (!*text) return refuse(too_large(), file, 0);
    return take(std::move(**text), file, 0);
  }

  bool read_lines(LineReader& reader, const std::string& file) {
    in_export_ = false;
    for (;;) {
      auto line = reader.next();
      if (!line.ok()) return refuse(line.error(), file, 0);
      if (!*line) return !in_export_ || refuse(cut_off(), file, 0);
      const std::uint64_t number = (*line)->number;
      const bool read_on = (*line)->too_long ? refuse(too_large(), file, number) : take(std::move((*line)->text), file, number);
      if (!read_on) return false;
    }
  }

  // Of a line of an export its run, as far as it has one; else the text is a run.
  bool take(std::string text, const std::string& file, std::uint64_t number) {
    auto line = store::read_export_line(text);
    if (!line.ok()) return refuse(line.error(), file, number);
    if (!*line) return judge(std::move(text), file, number);
    switch ((*line)->kind) {
      case store::ExportLine::Kind::header: return !std::exchange(in_export_, true) || refuse(cut_off(), file, number);
      case store::ExportLine::Kind::end: in_export_ = false; return true;
      case store::ExportLine::Kind::run: return judge(std::move((*line)->document), file, number);
      case store::ExportLine::Kind::open_run: ++open_runs_; return true;
      case store::ExportLine::Kind::other: return true;
    }
    return true;
  }

  Error cut_off() const { return Error{Code::bad_request, "the export ends without its last line: it was cut off; make it again", {}, {}}; }

  Error too_large() const {
    return Error{Code::payload_too_large,
                 "the run is larger than limits.max_body_bytes (" + std::to_string(max_bytes_) + " bytes); raise the limit",
                 {},
                 {}};
  }

  bool judge(std::string text, const std::string& file, std::uint64_t line) {
    const std::size_t bytes = text.size();
    if (bytes > max_bytes_) return refuse(too_large(), file, line);
    return work_.submit([this, text = std::move(text), file, line](std::size_t worker) { return answer(text, file, line, worker); }, bytes);
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
    auto analysis = pipeline::analyze(text, limits_, detectors_, redaction_, options_.tenant, worker);
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
  const pipeline::Redaction redaction_;
  const AnalyzeOptions& options_;
  std::size_t max_bytes_;
  intake::RunLimits limits_;
  bool in_export_ = false;             // between the first and the last line of one
  std::uint64_t open_runs_ = 0;        // of exports
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
