// Redacts clients' texts by the operator's rules before anything is stored. Built once from the settings, then used by any thread.
//
// Replaces each match by [redacted:name]. Keeps ids, times, numbers and flags on which the service itself relies. Redaction is idempotent.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/redact_settings.h"
#include "model/verdict.h"
#include "redact/document.h"

namespace runwarden::redact {

class Redactor {
 public:
  explicit Redactor(const model::RedactSettings& settings);

  bool detectors_see_before() const { return see_before_; }

  // Returns a normalized document, or one event of it, without secrets; empty if it has none. Adds the redacted values to `found`.
  std::optional<std::string> document(model::DocumentKind kind, std::string_view json, Redactions& found) const;
  // The same for the text of one member of such a document's outermost object.
  std::optional<std::string> member(model::DocumentKind kind, std::string_view name, std::string_view text, Redactions& found) const;
  // The same for several documents that belong together, in place: a secret found in one is also redacted where another repeats it.
  void documents(model::DocumentKind kind, std::span<std::string* const> jsons, Redactions& found) const;

  // Redacts the verdict on a run with those redactions: titles, summaries, evidence, reasons, explanations, parts of fingerprints. True if
  // that changed the verdict.
  bool clean(model::Verdict& verdict, const Redactions& found) const;

  // Redacts an error, which may quote the request: detail, log, and the pointers and details of faults.
  void clean(Error& error, std::string_view request) const;

  // Redacts any other text: secrets by shape, and values after names.
  std::string text(std::string_view text) const;

  // Reports how many values each rule redacted, for the metrics.
  void each_count(const Redactions& found, const std::function<void(std::string_view rule, std::uint64_t count)>& report) const;

 private:
  std::optional<std::string> evidence(const model::Evidence& evidence) const;

  Rules rules_;
  std::vector<std::string> names_;  // by rule
  bool see_before_ = true;
};

}  // namespace runwarden::redact
