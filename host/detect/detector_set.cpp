#include "detect/detector_set.h"

#include <algorithm>
#include <map>
#include <set>

#include "detect/call.h"
#include "detect/entry_check.h"
#include "detect/loading.h"
#include "detect/run_view.h"
#include "detect/seats.h"

namespace runwarden::detect {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

bool by_key(const std::shared_ptr<Seat>& a, const std::shared_ptr<Seat>& b) {
  return a->detector->entry.key < b->detector->entry.key;
}

const Clock& machine_clock() {
  static const SystemClock clock;
  return clock;
}

// Decides what became of a call.
struct Judged {
  model::DetectorStatus status;
  std::string reason;
};

Judged judge(const Instance::Outcome& outcome, const Call& call, std::int64_t elapsed_ns, std::int64_t deadline_ms) {
  using model::DetectorStatus;
  const bool late = elapsed_ns >= deadline_ms * kNsPerMs;
  const bool stopped = outcome.status == RW_STOPPED && outcome.thrown.empty();
  if (!outcome.thrown.empty()) return {DetectorStatus::error, outcome.thrown};
  if (late && (stopped || outcome.status == RW_OK)) {
    return {DetectorStatus::timeout,
            "took " + std::to_string(elapsed_ns / kNsPerMs) + " ms, the deadline is " + std::to_string(deadline_ms) + " ms"};
  }
  if (stopped) return {DetectorStatus::error, "stopped before its deadline"};
  if (outcome.status != RW_OK) {
    return {DetectorStatus::error, call.failure.empty() ? "status " + std::to_string(outcome.status) + " without a text" : call.failure};
  }
  if (call.findings.empty() && !call.refused.empty()) return {DetectorStatus::error, "its finding was refused: " + call.refused};
  if (call.findings.empty()) return {call.abstained.empty() ? DetectorStatus::clean : DetectorStatus::not_evaluable, call.abstained};
  if (call.dropped == 0) return {DetectorStatus::fired, {}};
  return {DetectorStatus::fired,
          std::to_string(call.dropped) + " more findings were beyond the limit of " + std::to_string(RW_MAX_FINDINGS)};
}

}  // namespace

struct DetectorSet::State {
  model::DetectorSettings settings;
  LoadContext context;
  std::vector<std::unique_ptr<Detector>> detectors;  // above the lineups, whose instances go first
  std::vector<DetectorInfo> missing;
  Lineup everybody;
  std::map<std::string, Lineup, std::less<>> tenants;

  const Lineup& lineup(std::string_view tenant) const {
    const auto own = tenants.find(tenant);
    return own == tenants.end() ? everybody : own->second;
  }

  void load_all(Loading& loading);
  Lineup tenant_lineup(Loading& loading, const std::string& tenant, const model::TenantChange& change) const;
  model::DetectorReport run_seat(Seat& seat, const RunView& view, std::size_t worker, std::vector<model::Finding>& findings) const;
  void note_failure(Detector& detector, const Judged& judged) const;
};

void DetectorSet::State::load_all(Loading& loading) {
  std::set<std::string> seen;
  for (const model::DetectorEntry& entry : settings.entries) {
    if (!seen.insert(entry.key).second) {
      loading.faults.push_back("config: detector \"" + entry.key + "\" (" + entry.place + ") is enabled twice. Remove one.");
      continue;
    }
    std::unique_ptr<Detector> detector = loading.load(entry);
    if (detector == nullptr) continue;
    std::shared_ptr<Seat> seat = loading.seat(*detector, {}, entry.settings_json);
    if (seat == nullptr) continue;
    detectors.push_back(std::move(detector));
    everybody.push_back(std::move(seat));
  }
  std::sort(everybody.begin(), everybody.end(), by_key);
  for (const auto& [tenant, change] : settings.tenants) {
    loading.check_tenant(tenant, change);
    tenants.emplace(tenant, tenant_lineup(loading, tenant, change));
  }
}

// Everybody's seats, without the tenant's disabled ones, and with seats of its own where it has settings.
Lineup DetectorSet::State::tenant_lineup(Loading& loading, const std::string& tenant, const model::TenantChange& change) const {
  Lineup lineup;
  for (const std::shared_ptr<Seat>& common : everybody) {
    const std::string& key = common->detector->entry.key;
    const bool disabled = std::find(change.disabled.begin(), change.disabled.end(), key) != change.disabled.end();
    const auto own = change.settings_json.find(key);
    const bool differs = own != change.settings_json.end() && own->second != common->settings_json;
    std::shared_ptr<Seat> seat = differs ? loading.seat(*common->detector, tenant, own->second) : common;
    if (seat != nullptr && !disabled) lineup.push_back(std::move(seat));
  }
  return lineup;
}

void DetectorSet::State::note_failure(Detector& detector, const Judged& judged) const {
  ++(judged.status == model::DetectorStatus::timeout ? detector.timeouts : detector.errors);
  if (!detector.quarantine.note_failure(context.clock->monotonic_ns(), judged.reason)) return;
  if (context.log) context.log(LogLevel::error, "detector \"" + detector.entry.key + "\" is quarantined: " + detector.quarantine.reason());
}

model::DetectorReport DetectorSet::State::run_seat(Seat& seat, const RunView& view, std::size_t worker,
                                                   std::vector<model::Finding>& findings) const {
  Detector& detector = *seat.detector;
  model::DetectorReport report;
  report.key = detector.entry.key;
  if (detector.quarantine.shut()) {
    report.status = model::DetectorStatus::quarantined;
    report.reason = detector.quarantine.reason();
    return report;
  }
  const std::int64_t begin_ns = context.clock->monotonic_ns();
  Call call(*context.clock, view.run(), detector.entry.key, begin_ns + settings.deadline_ms * kNsPerMs);
  const Instance::Outcome outcome = seat.of(worker).evaluate(view.raw(), call.raw());
  report.elapsed_ns = context.clock->monotonic_ns() - begin_ns;
  ++detector.evaluations;
  Judged judged = judge(outcome, call, report.elapsed_ns, settings.deadline_ms);
  report.status = judged.status;
  if (judged.status == model::DetectorStatus::error || judged.status == model::DetectorStatus::timeout) {
    note_failure(detector, judged);
  } else {
    report.suppressed = std::move(call.suppressed);
    std::move(call.findings.begin(), call.findings.end(), std::back_inserter(findings));
  }
  report.reason = std::move(judged.reason);
  return report;
}

Result<std::shared_ptr<DetectorSet>> DetectorSet::load(const model::DetectorSettings& settings, LoadContext context) {
  if (context.clock == nullptr) context.clock = &machine_clock();
  context.workers = std::max<std::size_t>(context.workers, 1);
  auto state = std::make_unique<State>();
  state->settings = settings;
  state->context = std::move(context);
  Loading loading(state->settings, state->context);
  state->load_all(loading);
  state->missing = std::move(loading.missing);
  if (!loading.faults.empty()) {
    Error error{Code::validation_failed, {}, {}, {}};
    for (const std::string& line : loading.faults) error.detail += (error.detail.empty() ? "" : "\n") + line;
    return error;
  }
  return std::shared_ptr<DetectorSet>(new DetectorSet(std::move(state)));
}

DetectorSet::DetectorSet(std::unique_ptr<State> state) : state_(std::move(state)) {}

DetectorSet::~DetectorSet() = default;

model::Verdict DetectorSet::evaluate(const model::Run& run, std::string_view tenant, std::size_t worker) {
  const RunView view(run, tenant);
  model::Verdict verdict;
  const Lineup& lineup = state_->lineup(tenant);
  verdict.reports.reserve(lineup.size());
  for (const std::shared_ptr<Seat>& seat : lineup) verdict.reports.push_back(state_->run_seat(*seat, view, worker, verdict.findings));
  const auto first = [](const model::Finding& a, const model::Finding& b) {
    return a.suspicion_score != b.suspicion_score ? a.suspicion_score > b.suspicion_score : a.detector_key < b.detector_key;
  };
  std::stable_sort(verdict.findings.begin(), verdict.findings.end(), first);
  return verdict;
}

std::vector<DetectorInfo> DetectorSet::list(std::string_view tenant) const {
  std::vector<DetectorInfo> all = state_->missing;
  const Lineup& lineup = state_->lineup(tenant);
  for (const std::shared_ptr<Seat>& common : state_->everybody) {
    const Detector& detector = *common->detector;
    const auto same = [&](const std::shared_ptr<Seat>& seat) { return seat->detector == &detector; };
    const auto own = std::find_if(lineup.begin(), lineup.end(), same);
    const rw_info& what = *detector.functions->info;
    DetectorInfo info;
    info.key = detector.entry.key;
    info.title = view(what.title);
    info.version = view(what.version);
    info.abi = detector.abi;
    info.library = detector.file;
    info.sha256 = detector.sha256;
    info.settings_json = own == lineup.end() ? common->settings_json : (*own)->settings_json;
    info.enabled = own != lineup.end();
    info.optional = detector.entry.optional;
    info.quarantined = detector.quarantine.shut();
    info.quarantine_reason = detector.quarantine.reason();
    info.evaluations = detector.evaluations;
    info.errors = detector.errors;
    info.timeouts = detector.timeouts;
    all.push_back(std::move(info));
  }
  std::sort(all.begin(), all.end(), [](const DetectorInfo& a, const DetectorInfo& b) { return a.key < b.key; });
  return all;
}

std::size_t DetectorSet::workers() const {
  return state_->context.workers;
}

}  // namespace runwarden::detect
