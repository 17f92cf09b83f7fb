#include "detect/detector_set.h"

#include <algorithm>
#include <map>
#include <set>

#include "detect/abi_run_view.h"
#include "detect/abi_text.h"
#include "detect/entry_check.h"
#include "detect/evaluation.h"
#include "detect/instance_pool.h"
#include "detect/invocation.h"
#include "detect/loading.h"

namespace runwarden::detect {
namespace {

bool by_key(const std::shared_ptr<InstancePool>& a, const std::shared_ptr<InstancePool>& b) {
  return a->detector->entry.key < b->detector->entry.key;
}

const Clock& machine_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace

struct DetectorSet::State {
  State(const model::DetectorSettings& the_settings, LoadContext the_context) : settings(the_settings), context(std::move(the_context)) {}

  model::DetectorSettings settings;
  LoadContext context;
  EvaluationContext evaluation_context{*context.clock, context.log, settings.deadline_ms, context.crash_marks};
  std::vector<std::unique_ptr<Detector>> loaded;  // declared before the lists, whose instances are destroyed first
  std::vector<DetectorInfo> not_loaded;
  DetectorList defaults;
  std::map<std::string, DetectorList, std::less<>> tenants;

  const DetectorList& detectors_of(std::string_view tenant) const {
    const auto own = tenants.find(tenant);
    return own == tenants.end() ? defaults : own->second;
  }

  bool is_disabled(const std::string& key, std::string_view tenant) const {
    const auto change = settings.tenants.find(std::string(tenant));
    if (change == settings.tenants.end()) return false;
    const std::vector<std::string>& keys = change->second.disabled;
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  }

  void report_missing(model::Verdict& verdict, std::string_view tenant) const;
  void load_all(Loading& loading);
  DetectorList tenant_detectors(Loading& loading, const std::string& tenant, const model::TenantChange& change) const;
};

void DetectorSet::State::load_all(Loading& loading) {
  std::set<std::string> seen;
  for (const model::DetectorEntry& entry : settings.entries) {
    if (!seen.insert(entry.key).second) {
      loading.faults.push_back("config: detector \"" + entry.key + "\" (" + entry.location + ") is enabled twice. Remove one.");
      continue;
    }
    std::unique_ptr<Detector> detector = loading.load(entry);
    if (detector == nullptr) continue;
    std::shared_ptr<InstancePool> instances = loading.instances(*detector, {}, entry.settings_json);
    if (instances == nullptr) continue;
    instances->mode = entry.mode;
    loaded.push_back(std::move(detector));
    defaults.push_back(std::move(instances));
  }
  std::sort(defaults.begin(), defaults.end(), by_key);
  for (const auto& [tenant, change] : settings.tenants) {
    loading.check_tenant(tenant, change);
    tenants.emplace(tenant, tenant_detectors(loading, tenant, change));
  }
}

// Optional detectors that could not be loaded. Without a report, their silence would look like a run without failures.
void DetectorSet::State::report_missing(model::Verdict& verdict, std::string_view tenant) const {
  for (const DetectorInfo& one : not_loaded) {
    if (!one.enabled || is_disabled(one.key, tenant)) continue;
    std::vector<model::DetectorReport>& reports = one.mode == model::DetectorMode::shadow ? verdict.shadow_reports : verdict.reports;
    const auto at = std::find_if(reports.begin(), reports.end(), [&](const model::DetectorReport& next) { return next.key >= one.key; });
    if (at != reports.end() && at->key == one.key) continue;  // it is only missing for another tenant
    model::DetectorReport report;
    report.key = one.key;
    report.status = model::DetectorStatus::not_evaluable;
    report.reason = "the detector is optional and could not be loaded";
    reports.insert(at, std::move(report));
  }
}

// The default pools, except those that the tenant disables. A detector for which the tenant has its own settings or mode gets its own pool.
DetectorList DetectorSet::State::tenant_detectors(Loading& loading, const std::string& tenant, const model::TenantChange& change) const {
  DetectorList detectors;
  for (const std::shared_ptr<InstancePool>& common : defaults) {
    const std::string& key = common->detector->entry.key;
    const bool disabled = std::find(change.disabled.begin(), change.disabled.end(), key) != change.disabled.end();
    const auto own = change.settings_json.find(key);
    const std::string& settings_json = own == change.settings_json.end() ? common->settings_json : own->second;
    const auto own_mode = change.modes.find(key);
    const model::DetectorMode mode = own_mode == change.modes.end() ? common->mode : own_mode->second;
    const bool differs = settings_json != common->settings_json || mode != common->mode;
    std::shared_ptr<InstancePool> instances = differs ? loading.instances(*common->detector, tenant, settings_json) : common;
    if (differs && instances != nullptr) instances->mode = mode;
    if (instances != nullptr && !disabled) detectors.push_back(std::move(instances));
  }
  return detectors;
}

Result<std::shared_ptr<DetectorSet>> DetectorSet::load(const model::DetectorSettings& settings, LoadContext context) {
  if (context.clock == nullptr) context.clock = &machine_clock();
  context.workers = std::max<std::size_t>(context.workers, 1);
  auto state = std::make_unique<State>(settings, std::move(context));
  Loading loading(state->settings, state->context);
  state->load_all(loading);
  state->not_loaded = std::move(loading.missing);
  for (const model::DetectorEntry& entry : settings.switched_off) {
    state->not_loaded.push_back(without_library(entry));
    state->not_loaded.back().enabled = false;
  }
  if (!loading.faults.empty()) {
    Error error{Code::validation_failed, {}, {}, {}};
    for (const std::string& line : loading.faults) error.detail += (error.detail.empty() ? "" : "\n") + line;
    return error;
  }
  const auto destroy = [destroy_on = state->context.destroy_on](const DetectorSet* set) {
    destroy_on ? destroy_on([set] { delete set; }) : delete set;
  };
  return std::shared_ptr<DetectorSet>(new DetectorSet(std::move(state)), destroy);
}

DetectorSet::DetectorSet(std::unique_ptr<State> state) : state_(std::move(state)) {}

DetectorSet::~DetectorSet() = default;

model::Verdict DetectorSet::evaluate(const model::Run& run, std::string_view tenant, std::size_t worker, Explain explain) {
  const AbiRunView view(run, tenant);
  model::Verdict verdict;
  const DetectorList& detectors = state_->detectors_of(tenant);
  verdict.reports.reserve(detectors.size());
  for (const std::shared_ptr<InstancePool>& instances : detectors) {
    Invocation invocation(state_->evaluation_context, *instances, view, worker);
    if (explain == Explain::yes) invocation.ask_for_explanation();
    auto report = invocation.skipped();
    if (!report) {
      invocation.call();
      report = invocation.report(findings_of(verdict, *instances));
    }
    reports_of(verdict, *instances).push_back(std::move(*report));
  }
  sort_findings(verdict);
  state_->report_missing(verdict, tenant);
  return verdict;
}

bool DetectorSet::evaluate(EvaluationRequest request, std::size_t worker, WorkPool& pool, EvaluationCallbacks callbacks) {
  const DetectorList& detectors = state_->detectors_of(request.tenant);
  if (!state_->not_loaded.empty()) {
    callbacks.done = [self = shared_from_this(), tenant = request.tenant, done = std::move(callbacks.done)](std::size_t by,
                                                                                                            EvaluationResult result) {
      self->state_->report_missing(result.verdict, tenant);
      done(by, std::move(result));
    };
  }
  const auto evaluation = std::make_shared<Evaluation>(shared_from_this(), detectors, state_->evaluation_context, std::move(request), pool,
                                                       std::move(callbacks));
  return evaluation->resume(worker);
}

std::vector<DetectorInfo> DetectorSet::list(std::string_view tenant) const {
  std::vector<DetectorInfo> all = state_->not_loaded;
  for (DetectorInfo& one : all) one.enabled = one.enabled && !state_->is_disabled(one.key, tenant);
  const DetectorList& detectors = state_->detectors_of(tenant);
  for (const std::shared_ptr<InstancePool>& common : state_->defaults) {
    const Detector& detector = *common->detector;
    const auto same = [&](const std::shared_ptr<InstancePool>& instances) { return instances->detector == &detector; };
    const auto own = std::find_if(detectors.begin(), detectors.end(), same);
    const rw_info& what = *detector.functions->info;
    DetectorInfo info;
    info.key = detector.entry.key;
    info.title = view(what.title);
    info.version = view(what.version);
    info.abi = detector.abi;
    info.library = detector.file;
    info.sha256 = detector.sha256;
    const InstancePool& instances = own == detectors.end() ? *common : **own;
    info.settings_json = instances.settings_json;
    info.settings_hash = instances.provenance->settings_hash;
    info.mode = instances.mode;
    info.enabled = own != detectors.end();
    info.optional = detector.entry.optional;
    info.quarantined = detector.quarantine.active();
    info.quarantine_reason = detector.quarantine.reason();
    info.evaluations = detector.evaluations;
    info.errors = detector.errors;
    info.timeouts = detector.timeouts;
    all.push_back(std::move(info));
  }
  std::sort(all.begin(), all.end(), [](const DetectorInfo& a, const DetectorInfo& b) { return a.key < b.key; });
  return all;
}

std::size_t DetectorSet::enabled_count() const {
  const std::vector<DetectorInfo> all = list();
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const DetectorInfo& one) { return one.enabled; }));
}

std::size_t DetectorSet::workers() const {
  return state_->context.workers;
}

}  // namespace runwarden::detect
