#include "guardrail/stored.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/json_members.h"
#include "guardrail/drafting.h"
#include "guardrail/evaluator.h"
#include "intake/run_reader.h"
#include "model/cluster.h"
#include "store/read_slice.h"

namespace runwarden::guardrail {
namespace {

constexpr std::size_t kPage = 100;

class Reporting {
 public:
  Reporting(const ReportSources& sources, std::string fingerprint, std::optional<model::ClusterKey> cluster)
      : sources_(sources), fingerprint_(std::move(fingerprint)), cluster_(cluster), began_ns_(sources.clock.monotonic_ns()) {}

  Result<Report> report(const model::FailureRecord& failure) {
    auto run = run_of(failure.run);
    if (!run) return Error{Code::conflict, "no draft for this failure: its run is no longer stored, or cannot be read", {}, {}};
    auto facts = facts_that_catch(failure.json, *run);
    if (!facts.ok()) return std::move(facts.error());
    report_.failure_id = failure.id;
    report_.detector_key = failure.detector_key;
    report_.run_ids = {std::string(run->id)};
    run.reset();
    if (cluster_) {
      report_.cluster_id = model::cluster_id(*cluster_);
      widen_by_group(failure, *facts);
    }
    report_.draft = draft_of(*facts);
    try_on_runs(failure);
    return std::move(report_);
  }

 private:
  bool expired(std::int64_t after_ns) const { return sources_.clock.monotonic_ns() - began_ns_ > after_ns; }

  bool has_room(std::uint64_t bytes) const { return !sources_.room || sources_.room(bytes); }

  bool fits(std::uint64_t bytes) {
    const bool room = has_room(bytes);
    report_.trial.complete = report_.trial.complete && room;
    return room;
  }

  // Empty if the run has been deleted, is open, does not fit into memory at the moment, or cannot be read.
  std::optional<model::Run> run_of(const model::RecordKey& key) {
    try {
      const auto record = sources_.store.run_at(sources_.tenant, key);
      return record && fits(record->document.size()) ? run_in(*record) : std::nullopt;
    } catch (const store::StoreError&) {
      return std::nullopt;
    }
  }

  static std::optional<model::Run> run_in(const model::RunRecord& record) {
    if (record.state != model::RunState::resolved) return std::nullopt;
    auto run = intake::read_run(record.document, intake::kStoredRun, record.run_id);
    return run.ok() ? std::optional(std::move(*run)) : std::nullopt;
  }

  // Widens the facts by the newest failures of the group whose runs the draft does not catch yet.
  void widen_by_group(const model::FailureRecord& own, Facts& facts) {
    store::FailureQuery query;
    query.fingerprint = fingerprint_;
    query.range.limit = kSourceRuns;
    for (const model::FailureRecord& other : sources_.store.failures(sources_.tenant, query).items) {
      if (expired(kClusterTrialNs)) return;
      if (other.run == own.run) continue;
      const auto run = run_of(other.run);
      if (!run || Evaluator(draft_of(facts)).catches(*run).value_or(true)) continue;
      const auto more = facts_that_catch(other.json, *run);
      if (!more.ok()) continue;
      widen(facts, *more);
      report_.run_ids.emplace_back(run->id);
    }
  }

  bool is_of_group(std::string_view failures) const {
    const auto items = json_elements(failures);
    return std::any_of(items.begin(), items.end(), [&](const auto& item) { return json_member_text(item, "fingerprint") == fingerprint_; });
  }

  enum class Population : std::uint8_t { cluster, others };

  void look_at(const model::Run& run, Evaluator& evaluator, std::int64_t until_ns, Trial::Runs& runs) {
    const auto caught = evaluator.catches(run, [&] { return expired(until_ns); });
    if (!caught) {
      report_.trial.complete = false;
      return;
    }
    ++runs.runs;
    runs.caught += *caught ? 1 : 0;
  }

  static std::uint64_t bytes_of(std::span<const model::RunRecord> heads) {
    std::uint64_t bytes = 0;
    for (const model::RunRecord& head : heads) bytes += head.json_bytes;
    return bytes;
  }

  // The first of these heads whose runs fit into memory together, or a single one.
  std::span<const model::RunRecord> next_slice(std::span<const model::RunRecord> left) const {
    auto heads = store::first_slice(left);
    while (heads.size() > 1 && !has_room(bytes_of(heads))) heads = heads.first(heads.size() / 2);
    return heads;
  }

  // None if they do not fit into memory at the moment.
  std::vector<std::optional<model::RunRecord>> runs_of(std::span<const model::RunRecord> heads) {
    if (!fits(bytes_of(heads))) return {};
    std::vector<model::RecordKey> keys;
    for (const model::RunRecord& head : heads) keys.push_back(head.key);
    return sources_.store.runs_at(sources_.tenant, keys);
  }

  template <class Next>
  void look_at_pages(Population population, std::size_t most, std::int64_t until_ns, Trial::Runs& runs, const Next& next_page) {
    Evaluator evaluator(report_.draft);
    store::RunQuery query;
    query.state = model::RunState::resolved;
    query.range.limit = kPage;
    for (;;) {
      const store::Page<model::RunRecord> page = next_page(query);
      for (std::span<const model::RunRecord> left(page.items); !left.empty();) {
        const auto heads = next_slice(left);
        left = left.subspan(heads.size());
        for (const std::optional<model::RunRecord>& record : runs_of(heads)) {
          if (expired(until_ns)) {
            report_.trial.complete = false;
            return;
          }
          const bool is_asked = record && !(population == Population::others && is_of_group(record->failures_json));
          if (const auto run = is_asked ? run_in(*record) : std::nullopt) look_at(*run, evaluator, until_ns, runs);
          if (static_cast<std::size_t>(runs.runs) == most) return;
        }
      }
      if (!page.next) return;
      query.range.after = page.next;
    }
  }

  void try_on_runs(const model::FailureRecord& failure) {
    Trial& trial = report_.trial;
    if (cluster_) {
      look_at_pages(Population::cluster, kClusterRuns, kClusterTrialNs, trial.cluster,
                    [&](const store::RunQuery& query) { return sources_.groups.cluster_runs(sources_.tenant, *cluster_, query); });
    } else {
      Evaluator evaluator(report_.draft);
      if (const auto run = run_of(failure.run)) look_at(*run, evaluator, kClusterTrialNs, trial.cluster);
    }
    look_at_pages(Population::others, kOtherRuns, kTrialNs, trial.others,
                  [&](const store::RunQuery& query) { return sources_.store.runs(sources_.tenant, query); });
  }

  const ReportSources& sources_;
  const std::string fingerprint_;
  const std::optional<model::ClusterKey> cluster_;
  const std::int64_t began_ns_;
  Report report_;
};

Error not_there(const char* what, std::string_view id) {
  return {Code::not_found, "no " + std::string(what) + " \"" + std::string(id.substr(0, 256)) + "\"", {}, {}};
}

}  // namespace

Result<Report> report_of_failure(const ReportSources& sources, std::string_view failure_id) {
  const auto failure = sources.store.find_failure(sources.tenant, failure_id);
  if (!failure) return not_there("failure", failure_id);
  std::optional<model::ClusterKey> key;
  // Failures of shadow detectors, and those beyond limits.max_clusters, are in no group.
  if (!failure->shadow && sources.groups.find_cluster(sources.tenant, model::cluster_id(model::cluster_key(failure->fingerprint)))) {
    key = model::cluster_key(failure->fingerprint);
  }
  return Reporting(sources, failure->fingerprint, key).report(*failure);
}

Result<Report> report_of_cluster(const ReportSources& sources, std::string_view cluster_id) {
  const auto cluster = sources.groups.find_cluster(sources.tenant, cluster_id);
  if (!cluster) return not_there("group with the clusterId", cluster_id);
  store::FailureQuery newest;
  newest.fingerprint = cluster->fingerprint;
  newest.range.limit = 1;
  const auto page = sources.store.failures(sources.tenant, newest);
  if (page.items.empty()) return Error{Code::conflict, "no draft for this group: its failures have been deleted", {}, {}};
  return Reporting(sources, cluster->fingerprint, cluster->key).report(page.items.front());
}

}  // namespace runwarden::guardrail
