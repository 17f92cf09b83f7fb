// What becomes of each record's secrets on its way: taken out of what is kept, and of what the detectors say of it.
//
// Any thread. Each record goes by the rules that are in force when it comes in.
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

// A run as it is kept, and where detectors may see more, as it was sent.
struct RedactedRun {
  model::Run kept;
  std::optional<model::Run> sent;
  redact::Redactions found;
  RedactorRef redactor;  // null: nothing is redacted

  const model::Run& seen() const { return sent ? *sent : kept; }
  // Takes out of the detectors' words what was taken out of the run.
  void clean(model::Verdict& verdict) const;
};

// Null where the settings have no rules.
RedactorRef make_redactor(const model::RedactSettings& settings);

class Redaction {
 public:
  using InForce = std::function<RedactorRef()>;  // null: nothing is redacted
  using OnRedacted = std::function<void(std::string_view rule, std::uint64_t values)>;

  Redaction(InForce in_force, OnRedacted on_redacted) : in_force_(std::move(in_force)), on_redacted_(std::move(on_redacted)) {}

  // `internal` where what is left cannot be read any more, which no rule should bring about: nothing of it may be kept then.
  Result<RedactedRun> run(model::Run run) const;
  Status change(intake::ChangeText& change) const;
  Status policy(intake::PolicyText& policy) const;
  // A text that somebody adds to a decision: as the summary of a change is.
  Status note(std::string& note) const;
  void events(intake::EventsRequest& request) const;
  // The facts of spans (intake/otlp/span_facts.h), in place.
  void spans(std::span<std::string* const> jsons) const;
  // The error without what it may quote of the request that it answers.
  Error error(Error error, std::string_view request) const;
  // Any text that may quote a client's words, for the log.
  std::string text(std::string_view text) const;

 private:
  std::optional<std::string> document(const RedactorRef& redactor, model::DocumentKind kind, std::string_view json,
                                      redact::Redactions& found) const;

  InForce in_force_;
  OnRedacted on_redacted_;
};

}  // namespace runwarden::ingest
