// Removes secrets from what is stored of each record, and from what the detectors say about it.
//
// Any thread. The rules in force when a record arrives apply to it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "intake/change_reader.h"
#include "intake/event_reader.h"
#include "model/run.h"
#include "model/verdict.h"
#include "redact/redactor.h"

namespace runwarden::ingest {

using RedactorRef = std::shared_ptr<const redact::Redactor>;

// A run as detectors see it, and its document as stored. Both have the same id, times and steps.
struct RedactedRun {
  model::Run seen;
  std::optional<std::string> redacted;  // the document as stored, if detectors see more than that
  redact::Redactions found;
  RedactorRef redactor;  // null: nothing is redacted

  const std::string& document() const { return redacted ? *redacted : seen.document; }
  // Removes from the detectors' texts what was removed from the run.
  void clean(model::Verdict& verdict) const;
};

// Null if the settings have no rules.
RedactorRef make_redactor(const model::RedactSettings& settings);

// Reads the document of a stored or redacted run, whose limits were checked when it was ingested. A run without a runId gets `run_id`.
Result<model::Run> read_stored_run(std::string_view document, std::string_view run_id);

class Redaction {
 public:
  using InForce = std::function<RedactorRef()>;  // null: nothing is redacted
  using OnRedacted = std::function<void(std::string_view rule, std::uint64_t values)>;

  Redaction(InForce in_force, OnRedacted on_redacted) : in_force_(std::move(in_force)), on_redacted_(std::move(on_redacted)) {}

  // `internal` if detectors are to see the run as redacted and it can no longer be read, which no rule should cause: then nothing of it may
  // be stored.
  Result<RedactedRun> run(model::Run run) const;
  // For the document of a stored run: what detectors see is redacted whatever the rules let them see.
  Result<RedactedRun> stored_run(std::string_view document, std::string_view run_id) const;
  void change(intake::ChangeText& change) const;
  void policy(intake::PolicyText& policy) const;
  // A note on a decision or review. Redacted like the summary of a change; rules for the key `note` apply, too.
  void note(std::string& note) const;
  void events(intake::EventsRequest& request) const;
  // The facts of spans (intake/otlp/span_facts.h), in place.
  void spans(std::span<std::string* const> jsons) const;
  // Returns the error without secrets that it may quote from its request.
  Error error(Error error, std::string_view request) const;
  // Redacts any text that may quote a client, for the log.
  std::string text(std::string_view text) const;

 private:
  std::optional<std::string> document(const RedactorRef& redactor, model::DocumentKind kind, std::string_view json,
                                      redact::Redactions& found) const;
  void report(const redact::Redactor& redactor, const redact::Redactions& found) const;

  InForce in_force_;
  OnRedacted on_redacted_;
};

}  // namespace runwarden::ingest
