// score: measures detectors on labeled runs, as a gate for a detector's own repository.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "base/decimals.h"
#include "base/json_text.h"
#include "cli/line_counts.h"
#include "cli/line_reader.h"
#include "cli/loaded_detectors.h"
#include "cli/ordered_work.h"
#include "cli/scores.h"
#include "cli/table.h"
#include "cli/terminal_progress.h"
#include "config/detectors_reader.h"
#include "ingest/analyze.h"

namespace runwarden::cli {
namespace {

constexpr int kMaxThreads = 256;
constexpr std::size_t kBesideTheRun = 64 << 10;  // bytes of a line besides the run

struct ScoreOptions {
  std::string runs;
  std::string labels;
  std::string candidate;
  std::string fail_under;
  int threads = 1;
  bool json = false;
};

// One configuration's detectors and the redaction of what they see.
class ScoredConfiguration {
 public:
  explicit ScoredConfiguration(std::unique_ptr<ConfiguredDetectors> loaded)
      : loaded_(std::move(loaded)), redaction_([redactor = ingest::make_redactor(loaded_->settings.redact)] { return redactor; }, {}) {}

  const config::LimitsSection& limits() const { return loaded_->settings.limits; }
  std::vector<detect::DetectorInfo> detectors() const { return loaded_->detectors->list(); }

  // Calls `done` once, on this thread or another one of the pool.
  void judge(const std::string& run, const std::string& origin, std::size_t worker, WorkPool& pool,
             const std::function<void(Result<Answers>)>& done) const {
    const intake::RunLimits bounds{.max_json_depth = static_cast<int>(limits().max_json_depth)};
    ingest::analyze(
        {run, bounds, {}, redaction_, origin}, *loaded_->detectors, worker, pool,
        [done](const Result<ingest::Analysis>& analysis) { analysis.ok() ? done(answers_of(analysis->verdict)) : done(analysis.error()); });
  }

 private:
  std::unique_ptr<ConfiguredDetectors> loaded_;
  ingest::Redaction redaction_;
};
using Configurations = std::vector<std::unique_ptr<ScoredConfiguration>>;  // --config, and --candidate if given

// Empty, after a message, if one cannot be loaded.
Configurations load_configurations(Context& context, const ScoreOptions& options, std::size_t workers) {
  Configurations all;
  Context candidate{context.out, context.err, options.candidate, context.data_dir};
  for (Context* const of : {&context, &candidate}) {
    if (of == &candidate && options.candidate.empty()) continue;
    auto settings = of->settings();
    auto loaded = settings ? load_to_compare(*of, std::move(*settings), workers) : nullptr;
    if (!loaded) return {};
    all.push_back(std::make_unique<ScoredConfiguration>(std::move(loaded)));
  }
  return all;
}

struct DetectorKeys {
  std::set<std::string> known;  // configured, or shipped
  std::set<std::string> asked;  // by at least one of the configurations
};

DetectorKeys keys_of(const Configurations& configurations) {
  DetectorKeys keys{{config::kShippedDetectors.begin(), config::kShippedDetectors.end()}, {}};
  for (const auto& configuration : configurations) {
    for (const detect::DetectorInfo& detector : configuration->detectors()) {
      keys.known.insert(detector.key);
      if (detector.loaded && detector.enabled) keys.asked.insert(detector.key);
    }
  }
  return keys;
}

// The configurations' answers about a run, or why there are none.
struct JudgedLine {
  std::uint64_t line = 0;
  std::string id;
  Result<std::vector<Answers>> answers;  // by configuration
};

// A detector whose answer differs with the candidate.
struct Change {
  std::string id;
  std::string detector_key;
  Label label = Label::unclear;
  bool fired_before = false;
};

struct ScoreResult {
  std::uint64_t runs = 0;  // with labels
  std::uint64_t unlabeled = 0;
  std::uint64_t faults = 0;
  std::vector<Scores> scores;  // by configuration
  std::vector<Change> changes;
};

// Judges the lines of a file. [main]; tasks run on worker threads.
class Scorer {
 public:
  Scorer(Context& context, const ScoreOptions& options, const Labels& labels, const Configurations& configurations, std::size_t threads)
      : context_(context),
        options_(options),
        labels_(labels),
        configurations_(configurations),
        progress_(context.err),
        work_(threads, [this](const JudgedLine& line) { return take(line); }) {
    result_.scores.resize(configurations.size());
  }

  Result<ScoreResult> run() {
    const auto input = InputFile::open(options_.runs);
    if (!input.ok()) return input.error();
    LineReader reader(input->descriptor(), static_cast<std::size_t>(configurations_.front()->limits().max_body_bytes) + kBesideTheRun);
    std::uint64_t lines = 0;
    for (;;) {
      auto line = reader.next();
      if (!line.ok()) return line.error();
      if (!*line) break;
      progress_.show({"scoring", "runs", "", lines++, 0});
      const std::size_t bytes = (*line)->text.size();
      work_.submit([this, line = std::make_shared<const Line>(std::move(**line))](std::size_t worker, WorkPool& pool,
                                                                                  const Done& done) { judge(*line, worker, pool, done); },
                   bytes);
    }
    work_.finish();
    context_.has_abandoned_calls = work_.has_abandoned_calls();
    progress_.clear();
    for (const auto& [place, text] : faults_) context_.err << "runwarden: " << options_.runs << ":" << place << ": " << text << "\n";
    return std::move(result_);
  }

 private:
  using Done = OrderedWork<JudgedLine>::Done;
  // A run that the configurations judge one after the other.
  struct Judging {
    std::string run;
    JudgedLine line;
    Done done;
  };

  // Runs on a worker thread. Throws nothing.
  void judge(const Line& line, std::size_t worker, WorkPool& pool, const Done& done) const {
    JudgedLine judged{line.number, {}, std::vector<Answers>()};
    if (line.too_long) {
      judged.answers = Error{Code::payload_too_large, "the line is longer than limits.max_body_bytes allows; raise the limit", {}, {}};
      return done(std::move(judged));
    }
    auto run = read_run_line(line.text, static_cast<int>(configurations_.front()->limits().max_json_depth) + 1);
    if (!run.ok()) {
      judged.answers = std::move(run.error());
      return done(std::move(judged));
    }
    judged.id = std::move(run->id);
    if (labels_.count(judged.id) == 0) return done(std::move(judged));
    judge_next(std::make_shared<Judging>(Judging{std::move(run->run), std::move(judged), done}), worker, pool);
  }

  // Asks the first configuration that has not answered yet. The next one is asked in a task of its own, because a detector that does not
  // return takes this thread with it.
  void judge_next(const std::shared_ptr<Judging>& judging, std::size_t worker, WorkPool& pool) const {
    const auto take = [this, judging, &pool](Result<Answers> answers) {
      JudgedLine& line = judging->line;
      answers.ok() ? line.answers->push_back(std::move(*answers)) : static_cast<void>(line.answers = std::move(answers.error()));
      if (!line.answers.ok() || line.answers->size() == configurations_.size()) return judging->done(std::move(line));
      pool.post([this, judging, &pool](std::size_t another) { judge_next(judging, another, pool); });
    };
    try {
      configurations_[judging->line.answers->size()]->judge(judging->run, judging->line.id, worker, pool, take);
    } catch (const std::exception& fault) {
      take(Error{Code::internal, fault.what(), {}, {}});
    }
  }

  bool take(const JudgedLine& line) {
    if (!line.answers.ok()) {
      ++result_.faults;
      faults_.emplace_back(line.line, line.answers.error().detail);
      return true;
    }
    const auto found = labels_.find(line.id);
    if (found == labels_.end()) {
      ++result_.unlabeled;
      return true;
    }
    if (const auto [first, fresh] = lines_.emplace(line.id, line.line); !fresh) {
      ++result_.faults;
      faults_.emplace_back(line.line, "the id \"" + line.id + "\" is that of line " + std::to_string(first->second) + ", too");
      return true;
    }
    ++result_.runs;
    for (std::size_t i = 0; i < line.answers->size(); ++i) result_.scores[i].add(line.id, found->second, (*line.answers)[i]);
    if (line.answers->size() == 2) note_changes(line.id, found->second, line.answers->front(), line.answers->back());
    return true;
  }

  void note_changes(const std::string& id, const RunLabels& labels, const Answers& before, const Answers& after) {
    for (const auto& [key, label] : labels.labels) {
      const bool fired_before = before.fired.count(key) > 0;
      if (fired_before != (after.fired.count(key) > 0)) result_.changes.push_back({id, key, label, fired_before});
    }
  }

  Context& context_;
  const ScoreOptions& options_;
  const Labels& labels_;
  const Configurations& configurations_;
  TerminalProgress progress_;
  ScoreResult result_;                                         // on the delivering thread, then [main]
  std::vector<std::pair<std::uint64_t, std::string>> faults_;  // likewise; by line
  std::map<std::string, std::uint64_t> lines_;                 // likewise; of the runs with labels, by id
  OrderedWork<JudgedLine> work_;                               // last: its threads use the members above
};

std::int64_t number(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

void write_interval(JsonWriter& out, const std::optional<Interval>& interval) {
  if (!interval) {
    out.null();
    return;
  }
  out.begin_object().key("value").number(interval->value).key("low").number(interval->low).key("high").number(interval->high).end_object();
}

// Writes the members of an object.
void write_scores(JsonWriter& out, const Scores& scores) {
  out.key("detectors").begin_array();
  for (const auto& [key, score] : scores.detectors) {
    out.begin_object()
        .key("key")
        .string(key)
        .key("right")
        .integer(number(score.right))
        .key("falseAlarm")
        .integer(number(score.false_alarms));
    out.key("missed").integer(number(score.missed));
    if (score.errors > 0) out.key("errors").integer(number(score.errors));
    write_interval(out.key("precision"), score.precision());
    write_interval(out.key("recall"), score.recall());
    out.end_object();
  }
  out.end_array().key("disagreements").begin_array();
  for (const Disagreement& one : scores.disagreements) {
    out.begin_object().key("id").string(one.id).key("detectorKey").string(one.detector_key);
    out.key("kind").string(one.label == Label::present ? "missed" : "false_alarm");
    if (!one.why.empty()) out.key("why").string(one.why);
    out.end_object();
  }
  out.end_array();
}

std::string as_json(const ScoreResult& result) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("runs").integer(number(result.runs)).key("unlabeled").integer(number(result.unlabeled));
  write_scores(out, result.scores.front());
  if (result.scores.size() > 1) {
    write_scores(out.key("candidate").begin_object(), result.scores.back());
    out.end_object().key("changed").begin_array();
    for (const Change& one : result.changes) {
      out.begin_object().key("id").string(one.id).key("detectorKey").string(one.detector_key).key("label").string(name(one.label));
      out.key("was").string(one.fired_before ? "fired" : "quiet").key("now").string(one.fired_before ? "quiet" : "fired").end_object();
    }
    out.end_array();
  }
  out.end_object();
  return text + "\n";
}

// "0.94 (0.85-0.98)"
std::string interval_text(const std::optional<Interval>& interval) {
  if (!interval) return {};
  return fixed_decimals(interval->value, 2) + " (" + fixed_decimals(interval->low, 2) + "-" + fixed_decimals(interval->high, 2) + ")";
}

std::vector<std::string> row_of(const std::string& key, const DetectorScore& score) {
  return {key,
          std::to_string(score.right),
          std::to_string(score.false_alarms),
          std::to_string(score.missed),
          interval_text(score.precision()),
          interval_text(score.recall())};
}

void print_scores(std::ostream& out, const ScoreResult& result) {
  const bool both = result.scores.size() > 1;
  Table table({"DETECTOR", "RIGHT", "FALSE", "MISSED", "PRECISION (95 %)", "RECALL (95 %)"});
  std::set<std::string> keys;
  for (const Scores& scores : result.scores) {
    for (const auto& [key, score] : scores.detectors) keys.insert(key);
  }
  for (const std::string& key : keys) {
    for (std::size_t i = 0; i < result.scores.size(); ++i) {
      const auto found = result.scores[i].detectors.find(key);
      if (found != result.scores[i].detectors.end()) table.add(row_of(i == 0 ? key : "  candidate", found->second));
    }
  }
  table.print(out);
  const Scores& last = result.scores.back();
  if (!last.disagreements.empty()) {
    Table wrong({both ? "CANDIDATE IS WRONG" : "WRONG", "DETECTOR", "RUN", "LABEL'S REASON"});
    for (const Disagreement& one : last.disagreements)
      wrong.add({one.label == Label::present ? "missed" : "false alarm", one.detector_key, one.id, one.why});
    out << "\n";
    wrong.print(out);
  }
  if (!result.changes.empty()) {
    Table changed({"CHANGED", "DETECTOR", "RUN", "LABEL"});
    for (const Change& one : result.changes)
      changed.add({one.fired_before ? "quiet now" : "fires now", one.detector_key, one.id, name(one.label)});
    out << "\n";
    changed.print(out);
  }
  out << "\n" << counted(result.runs, "run");
  if (result.unlabeled > 0) out << "; " << result.unlabeled << " without labels skipped";
  out << "\n";
}

// Whether the candidate, or else the configuration, reaches the required figures. Prints those that it misses.
bool reaches_floors(Context& context, const Scores& scores, const std::string& floors) {
  if (floors.empty()) return true;
  const auto shortfalls = shortfalls_of(scores, *floors_of(floors));
  for (const std::string& one : shortfalls) context.err << "runwarden: " << one << "\n";
  return shortfalls.empty();
}

void warn_of_unused_labels(Context& context, const Labels& labels, const std::set<std::string>& asked) {
  std::set<std::string> unused;
  for (const auto& [id, one] : labels) {
    for (const auto& [key, label] : one.labels) {
      if (!asked.contains(key)) unused.insert(key);
    }
  }
  for (const std::string& key : unused)
    context.err << "runwarden: warning: the labels for " << key << " are ignored: the configuration does not enable it\n";
}

void warn_of_errors(Context& context, const std::vector<Scores>& all) {
  for (const Scores& scores : all) {
    for (const auto& [key, score] : scores.detectors) {
      if (score.errors > 0)
        context.err << "runwarden: warning: " << key << " could not answer " << counted(score.errors, "run") << " (error or timeout)\n";
    }
  }
}

int score(Context& context, const ScoreOptions& options) {
  const std::size_t threads =
      options.threads > 0 ? static_cast<std::size_t>(options.threads) : std::max(1u, std::thread::hardware_concurrency());
  const Configurations configurations = load_configurations(context, options, threads);
  if (configurations.empty()) return kWanting;
  const DetectorKeys keys = keys_of(configurations);
  const auto labels = read_labels(options.labels, keys.known);
  if (!labels.ok()) return context.refuse(labels.error().detail);
  warn_of_unused_labels(context, *labels, keys.asked);
  const auto result = Scorer(context, options, *labels, configurations, threads).run();
  if (!result.ok()) return context.refuse(result.error().detail);
  if (result->runs == 0) return context.refuse("no run of " + options.runs + " has labels in " + options.labels + "; their ids must match");
  std::ostringstream text;
  options.json ? static_cast<void>(text << as_json(*result)) : print_scores(text, *result);
  context.out << text.str();
  warn_of_errors(context, result->scores);
  const bool reached = reaches_floors(context, result->scores.back(), options.fail_under);
  const int written = context.finish();
  return reached && result->faults == 0 ? written : kWanting;
}

std::string check_floors(const std::string& text) {
  return floors_of(text) ? "" : "expected precision=0.9,recall=0.8 or one of them, each from 0 to 1, got \"" + text + "\"";
}

}  // namespace

void add_score(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("score", "Measure the detectors' precision and recall on labeled runs; needs no store");
  auto options = std::make_shared<ScoreOptions>();
  command->add_option("--runs", options->runs, "Lines of {\"id\", \"run\"}")->required()->type_name("FILE");
  command->add_option("--labels", options->labels, "Lines of {\"id\", \"labels\": {KEY: \"present|absent|unclear\"}, \"why\"}")
      ->required()
      ->type_name("FILE");
  command->add_option("--candidate", options->candidate, "Also score this configuration, and show what changes")->type_name("FILE");
  command->add_flag("--json", options->json, "Print one JSON object: runs, unlabeled, detectors, disagreements; candidate, changed");
  command
      ->add_option("--fail-under", options->fail_under,
                   "Exit with 1 if a detector of --candidate, or else of --config, is below: precision=0.9,recall=0.8")
      ->type_name("FLOORS")
      ->check(check_floors);
  command->add_option("--threads", options->threads, "Number of runs judged in parallel; 0: one per core; default 1")
      ->type_name("N")
      ->check(CLI::Range(0, kMaxThreads));
  command->footer(
      "Precision: the share of reported failures that are real. Recall: the share of real failures that are reported. Both with Wilson's\n"
      "95 % interval. Runs labeled unclear are ignored; detectors without labels are not listed, and figures without runs never fail.\n\n"
      "Example:\n  runwarden score --runs runs.jsonl --labels labels.jsonl --fail-under precision=0.9,recall=0.8");
  command->callback([&context, options] { context.exit_code = score(context, *options); });
}

}  // namespace runwarden::cli
