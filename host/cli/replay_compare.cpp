#include "cli/replay_compare.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_text.h"
#include "ingest/answers.h"

namespace runwarden::cli {
namespace {

using model::Finding;
using nlohmann::json;

model::Severity severity_of(std::string_view name) {
  for (const auto severity : {model::Severity::low, model::Severity::medium, model::Severity::high}) {
    if (name == model::name(severity)) return severity;
  }
  return model::Severity::critical;
}

// 0 for a value that is not a score.
int score_of(const json& score) {
  return score.is_number_integer() ? static_cast<int>(std::clamp<std::int64_t>(score.get<std::int64_t>(), 0, 100)) : 0;
}

// Throws json::exception for a value that is not a Failure.
Finding finding_of(const json& failure) {
  Finding finding;
  finding.detector_key = failure.at("detectorKey").get<std::string>();
  finding.suspicion_score = score_of(failure.at("suspicionScore"));
  finding.severity = severity_of(failure.at("severity").get<std::string>());
  finding.title = failure.at("title").get<std::string>();
  finding.summary = failure.value("summary", "");
  finding.primary_step_id = failure.value("primaryStepId", "");
  finding.fingerprint = failure.at("fingerprint").get<std::string>();
  for (const json& one : failure.value("evidence", json::array())) {
    finding.evidence.push_back({one.at("pointer").get<std::string>(), one.at("value").get<std::string>()});
  }
  if (const auto from = failure.find("provenance"); from != failure.end()) {
    finding.provenance = std::make_shared<const model::Provenance>(
        model::Provenance{from->value("detectorVersion", ""), from->value("librarySha256", ""), from->value("settingsHash", "")});
  }
  return finding;
}

constexpr std::string_view kRedacted = "[redacted:";

// Whether the fingerprints name the same kind of failure. A redaction marker in `was` matches any text: values known to be secrets are
// redacted in failure texts even if the run still contains them elsewhere, and that knowledge is not stored.
bool same_fingerprint(std::string_view was, std::string_view now) {
  auto open = was.find(kRedacted);
  if (open == std::string_view::npos) return was == now;
  if (!now.starts_with(was.substr(0, open))) return false;
  now.remove_prefix(open);
  for (;;) {
    const auto close = was.find(']', open);
    if (close == std::string_view::npos) return true;  // truncated within the marker
    was.remove_prefix(close + 1);
    open = was.find(kRedacted);
    const std::string_view piece = was.substr(0, open);
    if (open == std::string_view::npos) return now.ends_with(piece);
    const auto at = now.find(piece);
    if (at == std::string_view::npos) return false;
    now.remove_prefix(at + piece.size());
  }
}

// Whether `now` is the same failure as `was`, unchanged.
bool same_failure(const Finding& was, const Finding& now) {
  return same_fingerprint(was.fingerprint, now.fingerprint) && was.primary_step_id == now.primary_step_id &&
         was.suspicion_score == now.suspicion_score && was.severity == now.severity;
}

// Removes the failures that are in both lists and returns them in pairs.
template <class Same>
std::vector<std::pair<Finding, Finding>> take_pairs(std::vector<Finding>& was, std::vector<Finding>& now, const Same& same) {
  std::vector<std::pair<Finding, Finding>> pairs;
  for (auto one = was.begin(); one != was.end();) {
    const auto other = std::find_if(now.begin(), now.end(), [&](const Finding& candidate) { return same(*one, candidate); });
    if (other == now.end()) {
      ++one;
      continue;
    }
    pairs.emplace_back(std::move(*one), std::move(*other));
    now.erase(other);
    one = was.erase(one);
  }
  return pairs;
}

Difference::Side without_failure(const DetectorAnswer& answer) {
  return {answer.status, answer.reason, std::nullopt};
}

Difference::Side with(Finding failure) {
  return {model::name(model::DetectorStatus::fired), {}, std::move(failure)};
}

std::vector<Difference> differences_of_detector(const std::string& key, const DetectorAnswer& was, const DetectorAnswer& now) {
  std::vector<Difference> all;
  std::vector<Finding> before = was.failures;
  std::vector<Finding> after = now.failures;
  take_pairs(before, after, same_failure);
  // The same fingerprint means the same failure, whatever else has changed. The rest is matched in order.
  auto changed =
      take_pairs(before, after, [](const Finding& a, const Finding& b) { return same_fingerprint(a.fingerprint, b.fingerprint); });
  for (auto& pair : take_pairs(before, after, [](const Finding&, const Finding&) { return true; })) changed.push_back(std::move(pair));
  all.reserve(changed.size() + before.size() + after.size() + 1);
  for (auto& [then, here] : changed) all.push_back({DifferenceKind::changed, key, with(std::move(then)), with(std::move(here)), {}});
  for (Finding& one : before) all.push_back({DifferenceKind::lost, key, with(std::move(one)), without_failure(now), {}});
  for (Finding& one : after) all.push_back({DifferenceKind::fires_now, key, without_failure(was), with(std::move(one)), {}});
  const bool other_status = !was.fired() && !now.fired() && was.ran() && now.ran() && was.status != now.status;
  if (other_status) all.push_back({DifferenceKind::status, key, without_failure(was), without_failure(now), {}});
  return all;
}

std::optional<model::Provenance> known_of(const Difference::Side& side) {
  if (side.failure && side.failure->provenance) return *side.failure->provenance;
  return std::nullopt;
}

std::vector<std::string> reasons_of(const Difference& difference, const JudgedRun& was,
                                    const std::vector<detect::DetectorInfo>& detectors) {
  std::vector<std::string> because;
  const auto info = std::find_if(detectors.begin(), detectors.end(), [&](const auto& one) { return one.key == difference.detector_key; });
  auto then = known_of(difference.was);
  if (!then && was.library_of) then = was.library_of(difference.detector_key);
  if (difference.was.status == "not_run" || difference.now.status == "not_run") {
    because.emplace_back("settings");  // they name the detectors that judge
  } else if (then && info != detectors.end()) {
    if (then->settings_hash != info->settings_hash) because.emplace_back("settings");
    if (then->library_sha256 != info->sha256) because.emplace_back("library");
  }
  if (bears_redactions(was.kept.document)) because.emplace_back("redaction");
  return because;
}

const DetectorAnswer& answer_of(const Judgement& judgement, const std::string& key) {
  static const DetectorAnswer not_run;
  const auto found = judgement.find(key);
  return found == judgement.end() ? not_run : found->second;
}

}  // namespace

Result<Judgement> read_judgement(std::string_view failures_json, std::string_view detectors_json) {
  Judgement judgement;
  try {
    for (const json& report : json::parse(detectors_json)) {
      judgement[report.at("key").get<std::string>()] = {report.at("status").get<std::string>(), report.value("reason", ""), {}};
    }
    for (const json& failure : json::parse(failures_json)) {
      if (failure.contains("confirmedBy")) continue;  // found by a model when the detector was not sure
      Finding finding = finding_of(failure);
      judgement[finding.detector_key].failures.push_back(std::move(finding));
    }
  } catch (const json::exception& fault) {
    return Error{Code::validation_failed, std::string("its failures and detectors cannot be read: ") + fault.what(), {}, {}};
  }
  return judgement;
}

Judgement judgement_of(const model::Verdict& verdict) {
  Judgement judgement;
  for (const model::DetectorReport& report : verdict.reports) judgement[report.key] = {model::name(report.status), report.reason, {}};
  for (const Finding& finding : verdict.findings) judgement[finding.detector_key].failures.push_back(finding);
  return judgement;
}

bool bears_redactions(std::string_view document) {
  return document.find(kRedacted) != std::string_view::npos;
}

const char* name(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::fires_now: return "new";
    case DifferenceKind::lost: return "lost";
    case DifferenceKind::changed: return "changed";
    case DifferenceKind::status: return "status";
  }
  return "changed";
}

std::vector<Difference> differences_of(const JudgedRun& was, const Judgement& now, const std::vector<detect::DetectorInfo>& detectors,
                                       std::string_view only) {
  std::vector<std::string> keys;
  for (const Judgement* judgement : {&was.judgement, &now}) {
    for (const auto& [key, answer] : *judgement) {
      if (only.empty() || key == only) keys.push_back(key);
    }
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::vector<Difference> all;
  for (const std::string& key : keys) {
    for (Difference& one : differences_of_detector(key, answer_of(was.judgement, key), answer_of(now, key))) {
      one.because = reasons_of(one, was, detectors);
      all.push_back(std::move(one));
    }
  }
  return all;
}

std::string side_json(const Difference::Side& side) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("status").string(side.status);
  if (!side.reason.empty()) out.key("reason").string(side.reason);
  if (side.failure) {
    const Finding& failure = *side.failure;
    out.key("suspicionScore").integer(failure.suspicion_score).key("severity").string(model::name(failure.severity));
    out.key("title").string(failure.title);
    if (!failure.primary_step_id.empty()) out.key("primaryStepId").string(failure.primary_step_id);
    out.key("fingerprint").string(failure.fingerprint);
    if (failure.provenance) out.key("provenance").raw(ingest::provenance_json(*failure.provenance));
  }
  out.end_object();
  return text;
}

std::string side_text(const Difference::Side& side) {
  if (!side.failure) return side.status;
  return std::to_string(side.failure->suspicion_score) + " " + model::name(side.failure->severity);
}

}  // namespace runwarden::cli
