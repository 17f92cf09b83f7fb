#include "ingest/redaction.h"

#include <limits>
#include <utility>
#include <vector>

#include "base/json_members.h"
#include "detect/fingerprint.h"
#include "intake/run_reader.h"

namespace runwarden::ingest {
namespace {

constexpr int kMaxDepth = 1000;  // the input was bounded when it was ingested

Error unreadable(const Error& why) {
  return {Code::internal,
          "the run could not be read after its redaction; nothing was stored, contact the operator",
          "redacted run: " + why.detail,
          {}};
}

}  // namespace

RedactorRef make_redactor(const model::RedactSettings& settings) {
  return settings.rules.empty() ? nullptr : std::make_shared<const redact::Redactor>(settings);
}

void RedactedRun::clean(model::Verdict& verdict) const {
  if (!redactor || !redactor->clean(verdict, found)) return;
  for (auto* findings : {&verdict.findings, &verdict.shadow_findings}) {
    for (model::Finding& finding : *findings) {
      finding.fingerprint = detect::fingerprint(finding.detector_key, finding.fingerprint_step, finding.fingerprint_parts);
    }
  }
}

Result<RedactedRun> Redaction::run(model::Run run) const {
  RedactedRun redacted;
  redacted.redactor = in_force_();
  const auto without = document(redacted.redactor, model::DocumentKind::run, run.document, redacted.found);
  if (!without) {
    redacted.kept = std::move(run);
    return redacted;
  }
  const intake::RunLimits limits{.max_json_depth = kMaxDepth, .max_steps = std::numeric_limits<std::size_t>::max(), .marks = intake::ServerMarks::kept};
  auto kept = intake::read_run(*without, limits, run.id);
  if (!kept.ok()) return unreadable(kept.error());
  redacted.kept = std::move(*kept);
  if (redacted.redactor->detectors_see_before()) redacted.sent = std::move(run);
  return redacted;
}

// Rules leave kind and time alone.
void Redaction::change(intake::ChangeText& change) const {
  redact::Redactions found;
  auto without = document(in_force_(), model::DocumentKind::change, change.document, found);
  if (without) change.document = std::move(*without);
}

// Of the members that were read, rules change only these.
void Redaction::policy(intake::PolicyText& policy) const {
  redact::Redactions found;
  auto without = document(in_force_(), model::DocumentKind::policy, policy.document, found);
  if (!without) return;
  policy.document = std::move(*without);
  if (policy.author) policy.author = json_member_text(policy.document, "author");
  if (const auto content = json_member_view(policy.document, "content")) policy.content = *content;
}

void Redaction::note(std::string& note) const {
  const RedactorRef redactor = in_force_();
  if (!redactor) return;
  redact::Redactions found;
  auto without = redactor->member(model::DocumentKind::change, "summary", note, found);
  if (!without) return;
  note = std::move(*without);
  report(*redactor, found);
}

void Redaction::events(intake::EventsRequest& request) const {
  const RedactorRef redactor = in_force_();
  if (!redactor) return;
  std::vector<std::string*> jsons;
  for (intake::Event& event : request.events) jsons.push_back(&event.json);
  redact::Redactions found;
  redactor->documents(model::DocumentKind::event, jsons, found);
  report(*redactor, found);
}

void Redaction::spans(std::span<std::string* const> jsons) const {
  const RedactorRef redactor = in_force_();
  if (!redactor) return;
  redact::Redactions found;
  redactor->documents(model::DocumentKind::span, jsons, found);
  report(*redactor, found);
}

Error Redaction::error(Error error, std::string_view request) const {
  if (const RedactorRef redactor = in_force_()) redactor->clean(error, request);
  return error;
}

std::string Redaction::text(std::string_view text) const {
  const RedactorRef redactor = in_force_();
  return redactor ? redactor->text(text) : std::string(text);
}

std::optional<std::string> Redaction::document(const RedactorRef& redactor, model::DocumentKind kind, std::string_view json,
                                               redact::Redactions& found) const {
  if (!redactor) return std::nullopt;
  auto without = redactor->document(kind, json, found);
  if (without) report(*redactor, found);
  return without;
}

void Redaction::report(const redact::Redactor& redactor, const redact::Redactions& found) const {
  if (on_redacted_) redactor.each_count(found, on_redacted_);
}

}  // namespace runwarden::ingest
