// corpus: exports reviewed runs with labels for scoring detectors.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <system_error>

#include "base/json_members.h"
#include "base/json_text.h"
#include "cli/command_store.h"
#include "cli/output_file.h"
#include "cli/score_input.h"
#include "cli/terminal_progress.h"
#include "ingest/reviews.h"
#include "model/record_ids.h"

namespace runwarden::cli {
namespace {

constexpr std::size_t kRunsAtOnce = 64;  // looked up in one transaction

struct CorpusOptions {
  std::string tenant;
  std::string output = ".";
};

// The reviews of one detector on one run.
struct DetectorReviews {
  std::uint64_t failures = 0;  // of the detector in the run
  model::ReviewCounts reviews;
  std::string why;
};

// `present` if a failure was right or one was missed; `absent` if all failures are false alarms or the run is clean; else `unclear`.
const char* label_of(const DetectorReviews& one) {
  const model::ReviewCounts& of = one.reviews;
  if (of.right > 0 || of.missed > 0) return name(Label::present);
  const bool all_false = of.false_alarm > 0 && of.false_alarm >= one.failures && of.unsure == 0;
  return all_false || (of.clean > 0 && one.failures == 0) ? name(Label::absent) : name(Label::unclear);
}

std::map<std::string, DetectorReviews> reviews_by_detector(const model::RunRecord& run, const std::vector<model::Review>& reviews) {
  std::map<std::string, DetectorReviews> by_detector;
  std::set<std::string> failures;
  for (const model::RecordKey& confirmed : run.confirmed) failures.insert(model::make_failure_id(confirmed));
  for (const std::string& detector : json_elements(run.detectors_json)) by_detector[json_member_text(detector, "key")];
  for (const std::string& failure : json_elements(run.failures_json)) {
    ++by_detector[json_member_text(failure, "detectorKey")].failures;
    failures.insert(json_member_text(failure, "failureId"));
  }
  for (const model::Review& review : reviews) {
    if (!failures.contains(review.failure_id) && !ingest::is_of_what_was_not_found(review, run)) continue;
    DetectorReviews& one = by_detector[review.detector_key];
    ++one.reviews.of(review.verdict);
    const auto document = json_members(review.document);
    std::string why = json_member_text(document, "note");
    if (const std::string reason = json_member_text(document, "reason"); !reason.empty()) why = review.author + ": " + reason;  // a model's
    if (!why.empty()) one.why += (one.why.empty() ? "" : "; ") + why;
  }
  return by_detector;
}

bool any_reviewed(const std::map<std::string, DetectorReviews>& by_detector) {
  return std::any_of(by_detector.begin(), by_detector.end(), [](const auto& one) { return one.second.reviews.all() > 0; });
}

std::string run_line(const model::RunRecord& run) {
  std::string line;
  JsonWriter(line).begin_object().key("id").string(run.run_id).key("run").raw(run.document).end_object();
  return line + "\n";
}

std::string labels_line(const model::RunRecord& run, const std::map<std::string, DetectorReviews>& by_detector) {
  std::string line;
  JsonWriter out(line);
  out.begin_object().key("id").string(run.run_id).key("labels").begin_object();
  for (const auto& [detector, one] : by_detector) out.key(detector).string(label_of(one));
  out.end_object().key("why").begin_object();
  for (const auto& [detector, one] : by_detector) {
    if (!one.why.empty()) out.key(detector).string(one.why);
  }
  out.end_object().end_object();
  return line + "\n";
}

class CorpusExport {
 public:
  CorpusExport(Context& context, const TenantStore& opened, const std::filesystem::path& folder)
      : context_(context),
        store_(*opened.store),
        tenant_(opened.tenant),
        runs_(folder / "runs.jsonl"),
        labels_(folder / "labels.jsonl"),
        progress_(context.err) {}

  int run() {
    if (!fault().empty()) return context_.refuse(fault());
    std::optional<model::RecordKey> after;
    for (bool more = true; more;) {
      const auto slice = store_.reviews().reviewed_runs(tenant_, after, kRunsAtOnce);
      more = slice.size() == kRunsAtOnce;
      for (const store::ReviewedRun& one : slice) {
        after = one.run;
        progress_.show({"exporting", "reviewed runs", "", taken_, 0});
        if (!add(one)) return finish();
      }
    }
    return finish();
  }

 private:
  const std::string& fault() const { return runs_.fault().empty() ? labels_.fault() : runs_.fault(); }

  // Leaves out a run that was deleted or reopened, or whose reviews are all about what an earlier revision had.
  bool add(const store::ReviewedRun& reviewed) {
    if (reviewed.reviews.empty()) return true;
    const auto run = store_.run_at(tenant_, reviewed.run);
    const auto by_detector = run && run->state == model::RunState::resolved ? reviews_by_detector(*run, reviewed.reviews)
                                                                            : std::map<std::string, DetectorReviews>();
    if (!any_reviewed(by_detector)) {
      ++left_out_;
      return true;
    }
    ++taken_;
    return runs_.write(run_line(*run)) && labels_.write(labels_line(*run, by_detector));
  }

  int finish() {
    progress_.clear();
    const bool done = fault().empty() && runs_.finish() && labels_.finish();
    if (!done) return context_.refuse(fault());
    context_.out << "exported " << taken_ << (taken_ == 1 ? " reviewed run\n" : " reviewed runs\n");
    if (left_out_ > 0) context_.err << "skipped because they were deleted, are open or have been judged again since: " << left_out_ << "\n";
    return context_.finish();
  }

  Context& context_;
  store::Store& store_;
  model::TenantId tenant_;
  OutputFile runs_;
  OutputFile labels_;
  TerminalProgress progress_;
  std::uint64_t taken_ = 0;
  std::uint64_t left_out_ = 0;
};

int export_corpus(Context& context, const CorpusOptions& options) {
  CommandClock clock;
  const auto settings = context.settings();
  if (!settings) return kWanting;
  const auto opened = open_tenant_store(context, *settings, clock, options.tenant);
  if (!opened) return kWanting;
  const std::filesystem::path folder = options.output;
  std::error_code fault;
  std::filesystem::create_directories(folder, fault);
  if (fault) return context.refuse("cannot create folder " + folder.string() + ": " + fault.message() + "; choose another with --output");
  try {
    return CorpusExport(context, *opened, folder).run();
  } catch (const store::StoreError& bad) {
    return context.refuse(bad.what());
  }
}

}  // namespace

void add_corpus(CLI::App& app, Context& context) {
  CLI::App* corpus = app.add_subcommand("corpus", "Create labeled runs from people's reviews");
  need_subcommand(*corpus);
  corpus->footer("Example:\n  runwarden corpus export --tenant acme --output corpus");
  CLI::App* command = corpus->add_subcommand("export", "Write all reviewed runs of a tenant with their verdicts");
  auto options = std::make_shared<CorpusOptions>();
  command->add_option("--tenant", options->tenant, "Whose runs")->required()->type_name("TENANT");
  command->add_option("--output", options->output, "The folder for the two files, created if missing")
      ->type_name("DIR")
      ->capture_default_str();
  command->footer(
      "Writes runs.jsonl, one line {\"id\", \"run\"} per run, and labels.jsonl, {\"id\", \"labels\", \"why\"}: for each detector present, "
      "absent or\n"
      "unclear, or unclear if nobody reviewed it. `runwarden score` judges the runs again and compares. Can run while the service is "
      "running.\n\n"
      "Example:\n  runwarden corpus export --tenant acme --output corpus\n  runwarden score --runs corpus/runs.jsonl --labels "
      "corpus/labels.jsonl");
  command->callback([&context, options] { context.exit_code = export_corpus(context, *options); });
}

}  // namespace runwarden::cli
