#include "cli/replay_report.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/json_text.h"
#include "cli/junit.h"
#include "cli/line_counts.h"
#include "cli/sarif.h"
#include "cli/table.h"

namespace runwarden::cli {
namespace {

std::string because_text(const Difference& difference) {
  std::string text;
  for (const std::string& reason : difference.because) text += (text.empty() ? "" : ", ") + reason;
  return text;
}

// The failure that the difference is about; null if it is about a status.
const model::Finding* failure_of(const Difference& difference) {
  if (difference.now.failure) return &*difference.now.failure;
  return difference.was.failure ? &*difference.was.failure : nullptr;
}

// "lost: was 95 critical, now clean (settings)"
std::string sentence_of(const Difference& difference) {
  const std::string because = because_text(difference);
  return std::string(name(difference.kind)) + ": was " + side_text(difference.was) + ", now " + side_text(difference.now) +
         (because.empty() ? "" : " (" + because + ")");
}

std::int64_t number(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

class TextReplay final : public ReplayReport {
 public:
  explicit TextReplay(ResultOutput& output) : output_(output) {}

  bool add(const ReplayedRun& run) override {
    if (run.fault) faults_ += name_of(run.place) + ": " + run.fault->detail + "\n";
    for (const Difference& one : run.differences) {
      any_ = true;
      const model::Finding* failure = failure_of(one);
      table_.add({name_of(run.place), one.detector_key, name(one.kind), side_text(one.was), side_text(one.now), because_text(one),
                  failure == nullptr ? std::string() : failure->title});
    }
    return true;
  }

  void finish(const ReplaySums& sums) override {
    std::ostringstream text;
    if (any_) table_.print(text);
    text << faults_ << counted(sums.runs, "run") << ", " << sums.same << " the same";
    for (const DifferenceKind kind : kDifferenceKinds) text << ", " << sums.by_kind[static_cast<std::size_t>(kind)] << " " << name(kind);
    if (sums.redacted > 0) text << "; " << sums.redacted << " whose detectors saw text that has since been redacted";
    if (sums.faults > 0) text << "; " << sums.faults << " could not be judged again";
    text << "\n";
    output_.write(text.str());
  }

 private:
  ResultOutput& output_;
  Table table_{{"RUN", "DETECTOR", "DIFFERENCE", "WAS", "NOW", "BECAUSE", "TITLE"}};
  std::string faults_;
  bool any_ = false;
};

class JsonReplay final : public ReplayReport {
 public:
  explicit JsonReplay(ResultOutput& output) : output_(output) {
    differences_writer_.begin_array();
    faults_writer_.begin_array();
  }

  bool add(const ReplayedRun& run) override {
    for (const Difference& one : run.differences) {
      differences_writer_.begin_object().key("runId").string(run.place.run_id).key("detectorKey").string(one.detector_key);
      differences_writer_.key("kind").string(name(one.kind)).key("was").raw(side_json(one.was)).key("now").raw(side_json(one.now));
      differences_writer_.key("because").strings(one.because).end_object();
    }
    if (run.fault) faults_writer_.begin_object().key("file").string(run.place.file).key("detail").string(run.fault->detail).end_object();
    return true;
  }

  void finish(const ReplaySums& sums) override {
    differences_writer_.end_array();
    faults_writer_.end_array();
    std::string text;
    JsonWriter out(text);
    out.begin_object().key("runs").integer(number(sums.runs)).key("same").integer(number(sums.same));
    for (const DifferenceKind kind : kDifferenceKinds) out.key(name(kind)).integer(number(sums.by_kind[static_cast<std::size_t>(kind)]));
    out.key("redacted").integer(number(sums.redacted)).key("differences").raw(differences_);
    if (sums.faults > 0) out.key("faults").raw(faults_);
    out.end_object();
    output_.write(text + "\n");
  }

 private:
  ResultOutput& output_;
  std::string differences_;
  JsonWriter differences_writer_{differences_};
  std::string faults_;
  JsonWriter faults_writer_{faults_};
};

class JunitReplay final : public ReplayReport {
 public:
  JunitReplay(ResultOutput& output, ReplayReportSettings settings) : output_(output), settings_(std::move(settings)) {}

  bool add(const ReplayedRun& run) override {
    if (run.fault) {
      const auto status = settings_.faults_fail ? JunitReport::CaseStatus::error : JunitReport::CaseStatus::skipped;
      report_.add(kInputSuite, run.place, {status, run.fault->detail, {}});
    }
    for (const std::string& key : run.detectors) report_.add(key, run.place, case_of(run, key));
    return true;
  }

  void finish(const ReplaySums&) override { report_.write(output_); }

 private:
  JunitReport::Case case_of(const ReplayedRun& run, const std::string& key) const {
    JunitReport::Case one;
    for (const Difference& difference : run.differences) {
      if (difference.detector_key != key) continue;
      const bool fails = std::find(settings_.fail_on.begin(), settings_.fail_on.end(), difference.kind) != settings_.fail_on.end();
      if (fails) one.status = JunitReport::CaseStatus::failed;
      if (fails && one.message.empty()) one.message = sentence_of(difference);
      const model::Finding* failure = failure_of(difference);
      one.text += sentence_of(difference) + "\n" + (failure == nullptr ? std::string() : failure->title + "\n");
    }
    return one;
  }

  ResultOutput& output_;
  const ReplayReportSettings settings_;
  JunitReport report_{"runwarden replay"};
};

class SarifReplay final : public ReplayReport {
 public:
  SarifReplay(ResultOutput& output, const std::vector<detect::DetectorInfo>& detectors) : writer_(output, detectors) {}

  bool add(const ReplayedRun& run) override {
    if (run.fault) writer_.add_fault(run.place, run.fault->detail);
    for (const Difference& one : run.differences) {
      if (!writer_.add(run.place, item_of_difference(one))) return false;
    }
    return true;
  }

  void finish(const ReplaySums&) override { writer_.finish(); }

 private:
  static ReportItem item_of_difference(const Difference& difference) {
    const model::Finding* failure = failure_of(difference);
    ReportItem item = failure == nullptr ? ReportItem() : item_of(*failure);
    item.detector_key = difference.detector_key;
    item.text = item.title;
    item.title = sentence_of(difference);
    return item;
  }

  SarifWriter writer_;
};

}  // namespace

void ReplaySums::add(const ReplayedRun& run) {
  if (run.fault) {
    ++faults;
    return;
  }
  ++runs;
  if (run.differences.empty()) ++same;
  if (run.redacted) ++redacted;
  for (const Difference& one : run.differences) ++by_kind[static_cast<std::size_t>(one.kind)];
}

std::unique_ptr<ReplayReport> make_replay_report(ReportFormat format, ResultOutput& output, ReplayReportSettings settings) {
  switch (format) {
    case ReportFormat::json: return std::make_unique<JsonReplay>(output);
    case ReportFormat::junit: return std::make_unique<JunitReplay>(output, std::move(settings));
    case ReportFormat::sarif: return std::make_unique<SarifReplay>(output, settings.detectors);
    case ReportFormat::text: break;
  }
  return std::make_unique<TextReplay>(output);
}

}  // namespace runwarden::cli
