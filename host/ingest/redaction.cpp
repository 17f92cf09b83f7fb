#include "ingest/redaction.h"

#include <utility>
#include <vector>

#include "base/json_members.h"
#include "detect/fingerprint.h"
#include "intake/run_reader.h"

namespace runwarden::ingest {
namespace {

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

Result<model::Run> read_stored_run(std::string_view document, std::string_view run_id) {
  return intake::read_run(document, intake::kStoredRun, run_id);
}

Result<RedactedRun> Redaction::run(model::Run run) const {
  RedactedRun redacted;
  redacted.redactor = in_force_();
  redacted.redacted = document(redacted.redactor, model::DocumentKind::run, run.document, redacted.found);
  if (!redacted.redacted || redacted.redactor->detectors_see_before()) {
    redacted.seen = std::move(run);
    return redacted;
  }
  // Read again rather than redacted first: normalizing reads members that rules may redact, such as token counts in metadata/usage.
  auto seen = read_stored_run(*redacted.redacted, run.id);
  if (!seen.ok()) return unreadable(seen.error());
  redacted.seen = std::move(*seen);
  redacted.redacted.reset();
  return redacted;
}

Result<RedactedRun> Redaction::stored_run(std::string_view document, std::string_view run_id) const {
  RedactedRun stored;
  stored.redactor = in_force_();
  const auto without = this->document(stored.redactor, model::DocumentKind::run, document, stored.found);
  auto seen = read_stored_run(without ? std::string_view(*without) : document, run_id);
  if (!seen.ok()) return std::move(seen.error());
  stored.seen = std::move(*seen);
  return stored;
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
  bool redacted = false;
  for (const std::string_view name : {"note", "summary"}) {
    auto without = redactor->member(model::DocumentKind::change, name, note, found);
    if (!without) continue;
    note = std::move(*without);
    redacted = true;
  }
  if (redacted) report(*redactor, found);
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
