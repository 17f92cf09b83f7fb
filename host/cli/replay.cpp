// replay: judges runs again and reports the differences.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <memory>
#include <thread>
#include <utility>

#include "cli/command_store.h"
#include "cli/line_counts.h"
#include "cli/list_option.h"
#include "cli/loaded_detectors.h"
#include "cli/maintenance_command.h"
#include "cli/ordered_work.h"
#include "cli/replay_input.h"
#include "cli/replay_report.h"
#include "cli/terminal_progress.h"
#include "ingest/judge_again.h"

namespace runwarden::cli {
namespace {

constexpr int kMaxThreads = 256;

struct ReplayOptions {
  std::vector<std::string> bundles;
  std::string tenant;
  std::string since, until;
  std::size_t limit = 0;  // 0: all
  std::string candidate;
  std::string detector;
  std::vector<std::string> fail_on = {"new", "lost"};
  ReportOptions report;
  int threads = 1;
  bool fail_open = false;

  std::vector<DifferenceKind> kinds() const {
    std::vector<DifferenceKind> kinds;
    for (const DifferenceKind kind : kDifferenceKinds) {
      if (std::find(fail_on.begin(), fail_on.end(), name(kind)) != fail_on.end()) kinds.push_back(kind);
    }
    return kinds;
  }
};

// Judges runs again. [main]; replayed() runs on worker threads.
class Replayer {
 public:
  Replayer(Context& context, const ConfiguredDetectors& candidate, const ReplayOptions& options, ReplayReport& report)
      : detectors_(*candidate.detectors),
        redaction_([redactor = ingest::make_redactor(candidate.settings.redact)] { return redactor; }, {}),
        options_(options),
        report_(report),
        progress_(context.err),
        work_(candidate.detectors->workers(), [this](const ReplayedRun& run) {
          sums_.add(run);
          return report_.add(run);
        }) {}

  void expect(std::uint64_t runs) { expected_ = runs; }

  // False: the reader is gone.
  bool take(ReplayInput input) {
    progress_.show({"replaying", "runs", "", taken_++, expected_});
    if (!input.run.ok()) {
      ReplayedRun unread{std::move(input.place), false, {}, {}, std::move(input.run.error())};
      return work_.submit([unread = std::move(unread)](std::size_t, WorkPool&, const Done& done) { done(unread); }, 0);
    }
    const std::size_t bytes = input.run->kept.document.size();
    return work_.submit([this, run = std::make_shared<const JudgedRun>(std::move(*input.run))](
                            std::size_t worker, WorkPool& pool, const Done& done) { replay(run, worker, pool, done); },
                        bytes);
  }

  const ReplaySums& finish() {
    work_.finish();
    progress_.clear();
    report_.finish(sums_);
    return sums_;
  }

  // After finish().
  bool has_abandoned_calls() const { return work_.has_abandoned_calls(); }

 private:
  using Done = OrderedWork<ReplayedRun>::Done;

  // Runs on a worker thread. Throws nothing.
  void replay(const std::shared_ptr<const JudgedRun>& was, std::size_t worker, WorkPool& pool, const Done& done) {
    try {
      ingest::judge_again(was->kept, detectors_, redaction_, worker, pool,
                          [this, was, done](const model::Verdict& verdict) { done(replayed(*was, verdict)); });
    } catch (const std::exception& fault) {
      done({was->place, was->redacted, {}, {}, Error{Code::internal, fault.what(), {}, {}}});
    }
  }

  ReplayedRun replayed(const JudgedRun& was, const model::Verdict& verdict) const {
    ReplayedRun replayed{was.place, was.redacted, {}, {}, std::nullopt};
    try {
      const Judgement now = judgement_of(verdict);
      for (const auto& [key, answer] : now) {
        if (options_.detector.empty() || key == options_.detector) replayed.detectors.push_back(key);
      }
      replayed.differences = differences_of(was, now, detectors_.list(was.kept.tenant), options_.detector);
    } catch (const std::exception& fault) {
      replayed.fault = Error{Code::internal, fault.what(), {}, {}};
    }
    for (const Difference& one : replayed.differences) note_detector(replayed.detectors, one.detector_key);
    return replayed;
  }

  // Adds the key if it is missing: only the previous judgement may have the detector.
  static void note_detector(std::vector<std::string>& keys, const std::string& key) {
    const auto place = std::lower_bound(keys.begin(), keys.end(), key);
    if (place == keys.end() || *place != key) keys.insert(place, key);
  }

  detect::DetectorSet& detectors_;
  const ingest::Redaction redaction_;
  const ReplayOptions& options_;
  ReplayReport& report_;
  TerminalProgress progress_;
  std::uint64_t expected_ = 0;
  std::uint64_t taken_ = 0;
  ReplaySums sums_;                // on the delivering thread, then [main]
  OrderedWork<ReplayedRun> work_;  // last: its threads use the members above
};

// Ends after a fault that is not the candidate's; with --fail-open, it is only a warning.
int end_with_fault(Context& context, const ReplayOptions& options) {
  if (!options.fail_open) return kWanting;
  context.err << "runwarden: warning: the runs were not judged again; with --fail-open this is only a warning\n";
  return kFine;
}

// The settings of --candidate, or else of --config; nothing, after a message, if they cannot be read.
std::optional<config::Settings> settings_to_judge_by(Context& context, const config::Settings& service, const ReplayOptions& options) {
  if (options.candidate.empty()) return service;
  Context candidate{context.out, context.err, options.candidate, context.data_dir};
  return candidate.settings();
}

std::unique_ptr<ConfiguredDetectors> load_candidate(Context& context, const config::Settings& service, const ReplayOptions& options) {
  auto settings = settings_to_judge_by(context, service, options);
  if (!settings) return nullptr;
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  auto candidate = load_to_compare(context, std::move(*settings), options.threads > 0 ? static_cast<std::size_t>(options.threads) : cores);
  if (!candidate || options.detector.empty()) return candidate;
  const auto known = candidate->detectors->list();
  if (std::any_of(known.begin(), known.end(), [&](const auto& one) { return one.key == options.detector; })) return candidate;
  context.refuse("the configuration has no detector \"" + options.detector + "\"; `runwarden detectors list` shows its detectors");
  return nullptr;
}

// Replays runs from the store. open() returns false, after a message, if the store cannot be opened.
class StoredRunsToReplay {
 public:
  bool open(Context& context, const config::Settings& service, const ReplayOptions& options) {
    auto opened = open_tenant_store(context, service, clock_, options.tenant);
    if (!opened) return false;
    opened_ = std::move(*opened);
    query_.tenant = options.tenant;
    if (!options.since.empty()) query_.since_ms = *point_in_time(options.since, clock_.wall_ms());
    if (!options.until.empty()) query_.until_ms = *point_in_time(options.until, clock_.wall_ms());
    query_.limit = options.limit;
    query_.see = service.redact.detectors_see;
    // Without --candidate, nothing shows that this configuration judged the runs before.
    if (!options.candidate.empty()) query_.in_force = detectors_in_force(context, service, options.tenant);
    return true;
  }

  void replay(Replayer& replayer) {
    try {
      const std::uint64_t all = opened_.store->count_runs(opened_.tenant, query_.since_ms, query_.until_ms);
      replayer.expect(query_.limit == 0 ? all : std::min<std::uint64_t>(all, query_.limit));
      read_stored_runs(opened_, query_, [&](ReplayInput input) { return replayer.take(std::move(input)); });
    } catch (const store::StoreError& fault) {
      replayer.take({{{}, "v1/runs", 0}, Error{Code::internal, fault.what(), {}, {}}});
    }
  }

 private:
  std::vector<detect::DetectorInfo> detectors_in_force(Context& context, const config::Settings& service, const std::string& tenant) const {
    const auto set = try_detectors(context, service, 1);
    return set.ok() ? (*set)->list(tenant) : std::vector<detect::DetectorInfo>();
  }

  CommandClock clock_;
  TenantStore opened_;
  StoredRunsQuery query_;
};

int replay(Context& context, const ReplayOptions& options) {
  const auto service = context.settings();
  if (!service) return end_with_fault(context, options);
  const auto candidate = load_candidate(context, *service, options);
  if (!candidate) return end_with_fault(context, options);
  StoredRunsToReplay stored;
  if (!options.tenant.empty() && !stored.open(context, *service, options)) return end_with_fault(context, options);
  ResultOutput output(context, options.report.output);
  if (!output.open()) return kWanting;
  const auto report =
      make_replay_report(options.report.format, output, {candidate->detectors->list(options.tenant), options.kinds(), !options.fail_open});
  Replayer replayer(context, *candidate, options, *report);
  replayer.expect(options.bundles.size());
  for (const std::string& bundle : options.bundles) {
    if (!replayer.take(read_bundle(bundle, service->redact.detectors_see))) break;
  }
  if (!options.tenant.empty()) stored.replay(replayer);
  const ReplaySums& sums = replayer.finish();
  context.has_abandoned_calls = replayer.has_abandoned_calls();
  const int written = output.finish();
  const auto kinds = options.kinds();
  const bool failed =
      std::any_of(kinds.begin(), kinds.end(), [&](DifferenceKind kind) { return sums.by_kind[static_cast<std::size_t>(kind)] > 0; });
  if (sums.faults > 0)
    context.err << "runwarden: " << (options.fail_open ? "warning: " : "") << counted(sums.faults, "run") << " could not be judged again\n";
  return written != kFine || failed || (sums.faults > 0 && !options.fail_open) ? kWanting : kFine;
}

void add_inputs(CLI::App& command, ReplayOptions& options) {
  CLI::Option* bundles = command.add_option("bundles", options.bundles, "Files that `runwarden bundle` wrote")->type_name("BUNDLE");
  CLI::Option* tenant = command.add_option("--tenant", options.tenant, "Judge this tenant's stored runs again instead")
                            ->type_name("TENANT")
                            ->excludes(bundles);
  command.add_option("--since", options.since, "Only runs received since then: a time, or an age such as 30d")
      ->type_name("TIME")
      ->check(check_point_in_time)
      ->needs(tenant);
  command.add_option("--until", options.until, "Only runs received before then")
      ->type_name("TIME")
      ->check(check_point_in_time)
      ->needs(tenant);
  command.add_option("--limit", options.limit, "At most this many runs, the newest; default all")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40))
      ->needs(tenant);
}

// Checks what CLI11 cannot check on single options.
void check_usage(const ReplayOptions& options) {
  if (options.bundles.empty() && options.tenant.empty()) throw CLI::RequiredError("A bundle, or --tenant,");
  const bool has_none = std::find(options.fail_on.begin(), options.fail_on.end(), "none") != options.fail_on.end();
  if (has_none && options.fail_on.size() > 1) throw CLI::ValidationError("--fail-on", "\"none\" cannot be combined with other values");
}

}  // namespace

void add_replay(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("replay", "Judge runs again and report the differences from the stored results; nothing is stored");
  auto options = std::make_shared<ReplayOptions>();
  add_inputs(*command, *options);
  command->add_option("--candidate", options->candidate, "Judge with this configuration's detectors and settings; default --config")
      ->type_name("FILE");
  command->add_option("--detector", options->detector, "Compare only this one")->type_name("KEY");
  add_list_option(*command, "--fail-on", options->fail_on, {"new", "lost", "changed", "status", "none"})
      ->type_name("KINDS")
      ->description("Differences that make the exit code 1: new, lost, changed, status, or none; default new,lost");
  add_report_options(*command, options->report, ReportFormat::text);
  command->add_option("--threads", options->threads, "Number of runs judged in parallel; 0: one per core; default 1")
      ->type_name("N")
      ->check(CLI::Range(0, kMaxThreads));
  command->add_flag("--fail-open", options->fail_open, "Report errors other than differences, such as an unreadable bundle, as warnings");
  command->footer(
      "new: a failure that was not found before. lost: one that is not found now. changed: its score, severity, primary step or\n"
      "fingerprint. status: no failure before or now, but clean, not_evaluable, error and so on differ. `because` names the cause:\n"
      "settings, library, or redaction if the detectors saw text that was not stored. Of stored runs, the latest revision of each\n"
      "resolved run is judged. Can run while the service is running.\n"
      "Exit status: 0 no such difference, 1 a difference or an error, 2 usage error.\n\n"
      "Example:\n  runwarden replay bundles/*.json --candidate new.yaml --format junit --output replay.xml");
  command->callback([&context, options] {
    check_usage(*options);
    context.exit_code = replay(context, *options);
  });
}

}  // namespace runwarden::cli
