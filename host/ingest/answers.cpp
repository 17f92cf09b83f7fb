#include "ingest/answers.h"

#include "base/digest.h"
#include "base/json_members.h"
#include "base/json_text.h"
#include "base/time_text.h"
#include "ingest/assemble.h"
#include "intake/run_reader.h"
#include "model/run_outline.h"

namespace runwarden::ingest {
namespace {

// Joins two objects: the members of the first, then those of the second.
std::string joined(std::string first, std::string_view second) {
  first.pop_back();
  if (first.size() > 1 && second.size() > 2) first += ',';
  return first.append(second.substr(1));
}

}  // namespace

void append_cluster(JsonWriter& out, const model::Cluster& cluster, std::int64_t now_ms) {
  const model::StateSince state = model::state_of(cluster.triage, cluster.first_ms, now_ms);
  out.key("clusterId").string(model::cluster_id(cluster.key)).key("fingerprint").string(cluster.fingerprint);
  out.key("detectorKey").string(cluster.detector_key).key("title").string(cluster.title);
  out.key("severity").string(model::name(cluster.severity)).key("maxScore").integer(cluster.max_score);
  out.key("state").string(model::name(state.state)).key("stateSince").string(format_time(state.since_ms));
  if (state.state == model::ClusterState::ignored && cluster.triage.for_false_alarms) out.key("reason").string(model::kFalseAlarmsReason);
  out.key("firstSeen").string(format_time(cluster.first_ms)).key("lastSeen").string(format_time(cluster.last_ms));
  out.key("count").integer(static_cast<std::int64_t>(cluster.count));
  out.key("estimatedWasteUsd").number(static_cast<double>(cluster.waste_micro_usd) / 1e6);
}

const char* name(model::RunState state) {
  return state == model::RunState::open ? "open" : "resolved";
}

const char* name(model::Resolution resolution) {
  switch (resolution) {
    case model::Resolution::whole: return "whole";
    case model::Resolution::final: return "final";
    case model::Resolution::idle: return "idle";
    case model::Resolution::max_age: return "max_age";
    case model::Resolution::max_events: return "max_events";
  }
  return "whole";
}

std::string provenance_json(const model::Provenance& provenance) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("detectorVersion").string(provenance.detector_version);
  if (!provenance.library_sha256.empty()) out.key("librarySha256").string(provenance.library_sha256);
  out.key("settingsHash").string(provenance.settings_hash).end_object();
  return text;
}

std::string failure_json(const model::Finding& finding, std::string_view failure_id, std::string_view run_id, std::uint32_t revision,
                         std::int64_t detected_ms) {
  std::string text;
  text.reserve(512 + finding.summary.size());
  JsonWriter out(text);
  out.begin_object();
  if (!failure_id.empty()) out.key("failureId").string(failure_id);
  if (!run_id.empty()) out.key("runId").string(run_id);
  if (!failure_id.empty()) out.key("revision").integer(revision);
  out.key("detectorKey").string(finding.detector_key);
  if (finding.shadow) out.key("mode").string("shadow");
  out.key("suspicionScore").integer(finding.suspicion_score);
  out.key("severity").string(model::name(finding.severity));
  out.key("initialFailureSource").string(model::name(finding.source));
  out.key("title").string(finding.title);
  out.key("summary").string(finding.summary);
  if (!finding.primary_step_id.empty()) out.key("primaryStepId").string(finding.primary_step_id);
  out.key("evidence").begin_array();
  for (const model::Evidence& evidence : finding.evidence) {
    out.begin_object().key("pointer").string(evidence.pointer).key("value").string(evidence.value).end_object();
  }
  out.end_array();
  if (finding.waste_usd) out.key("estimatedWasteUsd").number(*finding.waste_usd);
  out.key("fingerprint").string(finding.fingerprint);
  if (finding.provenance != nullptr) out.key("provenance").raw(provenance_json(*finding.provenance));
  if (!finding.confirmed_by.empty()) out.key("confirmedBy").string(finding.confirmed_by);
  if (!failure_id.empty()) out.key("detectedAt").string(format_time(detected_ms));
  out.end_object();
  return text;
}

std::string detectors_json(const std::vector<model::DetectorReport>& reports) {
  std::string text;
  JsonWriter out(text);
  out.begin_array();
  for (const model::DetectorReport& report : reports) {
    out.begin_object().key("key").string(report.key).key("status").string(model::name(report.status));
    if (!report.reason.empty()) out.key("reason").string(report.reason);
    if (!report.suppressed.empty()) {
      out.key("suppressed").begin_array();
      for (const model::Suppression& one : report.suppressed) {
        out.begin_object().key("rule").string(one.rule);
        if (!one.step_id.empty()) out.key("stepId").string(one.step_id);
        out.key("reason").string(one.reason);
        if (one.confidence) out.key("confidence").number(*one.confidence);
        out.end_object();
      }
      out.end_array();
    }
    out.end_object();
  }
  out.end_array();
  return text;
}

std::string ingest_answer(const model::RunRecord& run) {
  std::string text;
  text.reserve(160 + run.failures_json.size() + run.detectors_json.size() + run.policies_json.size());
  JsonWriter out(text);
  out.begin_object()
      .key("runId")
      .string(run.run_id)
      .key("state")
      .string(name(run.state))
      .key("receivedAt")
      .string(format_time(run.key.time_ms));
  if (run.revision > 1) out.key("revision").integer(run.revision);
  const auto array = [](const std::string& json) {
    return json.empty() ? std::string_view("[]") : std::string_view(json);
  };  // while it is open
  out.key("failures").raw(array(run.failures_json)).key("detectors").raw(array(run.detectors_json));
  out.key("policies").raw(array(run.policies_json)).end_object();
  return text;
}

IngestAnswer run_answer(IngestAnswer::Kind kind, const model::RunRecord& run) {
  IngestAnswer answer;
  answer.kind = kind;
  answer.run_id = run.run_id;
  answer.body = ingest_answer(run);
  answer.failures_json = run.failures_json;
  return answer;
}

std::string run_json(const model::RunRecord& run) {
  std::string own;
  JsonWriter out(own);
  out.begin_object().key("state").string(name(run.state)).key("resolution").string(name(run.resolution));
  out.key("revision").integer(run.revision).key("receivedAt").string(format_time(run.key.time_ms));
  out.key("failures").raw(run.failures_json).key("detectors").raw(run.detectors_json).key("policies").raw(run.policies_json).end_object();
  return joined(run.document, own);
}

std::string open_run_json(const model::RunRecord& run, const std::vector<std::string>& events) {
  const auto so_far = intake::read_run(assemble(run.source, run.run_id, events, run.document).json,
                                       {.marks = marks_of(run.source), .statuses = intake::Statuses::may_repeat}, {});
  std::string own;
  JsonWriter out(own);
  out.begin_object();
  if (!so_far.ok()) out.key("runId").string(run.run_id);
  out.key("state").string(name(model::RunState::open)).key("revision").integer(run.revision);
  out.key("receivedAt").string(format_time(run.key.time_ms));
  if (run.buffer) out.key("bufferedEvents").integer(run.buffer->events);
  if (!run.failures_json.empty()) out.key("failures").raw(run.failures_json);
  out.end_object();
  return joined(so_far.ok() ? so_far->document : "{}", own);
}

std::string run_outline_json(const model::RunRecord& run) {
  const model::RunOutline& outline = *run.outline;
  const bool is_open = run.state == model::RunState::open;
  std::string members = outline.members;
  std::string more;
  JsonWriter last(more);
  last.begin_object();
  if (!json_member_view(members, "runId")) last.key("runId").string(run.run_id);
  if (!outline.last_output.empty() && !json_member_view(members, "outcomeSummary")) last.key("outcomeSummary").raw(outline.last_output);
  last.end_object();
  members = joined(std::move(members), more);
  if (is_open) {  // events name some members differently
    if (auto read = intake::read_run(members, intake::RunLimits{}, {}); read.ok()) members = std::move(read->document);
  }
  std::string own;
  JsonWriter out(own);
  out.begin_object().key(model::kStepCount).integer(outline.steps);
  if (outline.left_out > 0) out.key(model::kLeftOut).integer(outline.left_out);
  out.key("state").string(name(run.state));
  if (!is_open) out.key("resolution").string(name(run.resolution));
  out.key("revision").integer(run.revision).key("receivedAt").string(format_time(run.key.time_ms));
  if (run.buffer) out.key("bufferedEvents").integer(run.buffer->events);
  if (!outline.failures.empty()) out.key("failures").raw(outline.failures);
  if (!is_open) out.key("detectors").raw(outline.detectors).key("policies").raw(outline.policies);
  out.end_object();
  return joined(std::move(members), own);
}

std::string change_json(const model::ChangeRecord& change) {
  std::string own;
  JsonWriter out(own);
  out.begin_object().key("changeId").string(change.id);
  if (change.policy) {
    out.key("kind").string("policy").key("policy").string(change.policy->policy).key("revision").string(change.policy->revision);
    out.key("author").string(change.policy->author).key("policyRevisionId").string(change.policy->id);
    for (const auto& [member, json] : json_members(change.policy->document)) {
      if (member == "ref" || member == "summary") out.key(member).raw(json);
    }
  }
  const bool has_time = !change.policy && json_member_view(change.document, "at");
  if (!has_time) out.key("at").string(format_time(change.key.time_ms));
  out.key("receivedAt").string(format_time(change.received_ms)).end_object();
  return change.policy ? own : joined(change.document, own);
}

std::string policy_json(const model::PolicyRecord& policy) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("policyRevisionId").string(policy.id).key("policy").string(policy.policy).key("revision").string(policy.revision);
  out.key("author").string(policy.author).key("at").string(format_time(policy.key.time_ms));
  out.key("contentSha256").string(to_hex(policy.content)).key("receivedAt").string(format_time(policy.received_ms));
  for (const auto& [member, json] : json_members(policy.document)) {
    if (member != "policy" && member != "revision" && member != "author" && member != "at") out.key(member).raw(json);
  }
  out.end_object();
  return text;
}

}  // namespace runwarden::ingest
