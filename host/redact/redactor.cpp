#include "redact/redactor.h"

#include <algorithm>

#include "redact/repeated_secrets.h"
#include "redact/secret_matcher.h"

namespace runwarden::redact {
namespace {

// Calls `use` for each text of a verdict that may quote a client.
void each_text(model::Verdict& verdict, const std::function<void(std::string&)>& use) {
  for (auto* findings : {&verdict.findings, &verdict.shadow_findings}) {
    for (model::Finding& finding : *findings) {
      use(finding.title);
      use(finding.summary);
      for (model::Evidence& one : finding.evidence) use(one.value);
      for (std::string& part : finding.fingerprint_parts) use(part);
      use(finding.fingerprint_step);
    }
  }
  for (auto* reports : {&verdict.reports, &verdict.shadow_reports}) {
    for (model::DetectorReport& report : *reports) {
      use(report.reason);
      for (model::Suppression& one : report.suppressed) use(one.reason);
      for (model::ExplanationItem& one : report.explanation) {
        use(one.subject);
        use(one.objects);
        use(one.reason);
      }
    }
  }
}

}  // namespace

Redactor::Redactor(const model::RedactSettings& settings)
    : see_before_(settings.detectors_see == model::RedactSettings::DetectorsSee::before) {
  for (const model::RedactRule& rule : settings.rules) {
    const std::size_t number = names_.size();
    names_.push_back(rule.name);
    rules_.markers.push_back("[redacted:" + rule.name + "]");
    if (rule.by == model::RedactRule::By::key) rules_.keys.add(rule.what, number);
    for (std::size_t i = 0; rule.by == model::RedactRule::By::pointer && i < kDocumentKinds; ++i) {
      rules_.pointers[i].add(rule.what, number, static_cast<model::DocumentKind>(i));
    }
    if (rule.by != model::RedactRule::By::kind) continue;
    const auto kind = std::find(model::kSecretKinds.begin(), model::kSecretKinds.end(), rule.what) - model::kSecretKinds.begin();
    rules_.kinds.set(static_cast<std::size_t>(kind));
    rules_.kind_rules[static_cast<std::size_t>(kind)] = number;
  }
}

std::optional<std::string> Redactor::document(model::DocumentKind kind, std::string_view json, Redactions& found) const {
  auto without = without_secrets(rules_, kind, json, found);
  if (!without) return std::nullopt;
  const SecretMatcher matcher(rules_, found.secrets);
  if (matcher.empty()) return without;
  auto again = without_repeated_secrets(matcher, kind, *without, found);
  return again ? std::move(again) : std::move(without);
}

std::optional<std::string> Redactor::member(model::DocumentKind kind, std::string_view name, std::string_view text,
                                            Redactions& found) const {
  auto without = member_without_secrets(rules_, kind, name, text, found);
  if (!without) return std::nullopt;
  const SecretMatcher matcher(rules_, found.secrets);
  return matcher.empty() ? std::move(without) : matcher.without(*without, found);
}

void Redactor::documents(model::DocumentKind kind, std::span<std::string* const> jsons, Redactions& found) const {
  for (std::string* json : jsons) {
    if (auto without = without_secrets(rules_, kind, *json, found)) *json = std::move(*without);
  }
  const SecretMatcher matcher(rules_, found.secrets);
  if (matcher.empty()) return;
  for (std::string* json : jsons) {
    if (auto again = without_repeated_secrets(matcher, kind, *json, found)) *json = std::move(*again);
  }
}

// A rule may redact the value at the pointer, or a container above it, as a whole. Otherwise the value is redacted as text.
std::optional<std::string> Redactor::evidence(const model::Evidence& evidence) const {
  ValuePosition where{model::DocumentKind::run, model::DocumentPlace::root, rules_.pointers[0].start(), 0};
  for (const std::string& name : model::pointer_parts(evidence.pointer)) {
    if (const auto rule = hidden_as_whole(rules_, where, name)) return rules_.markers[*rule];
  }
  Redactions ignored;
  return text_without_secrets(rules_, where, evidence.value, ignored);
}

bool Redactor::clean(model::Verdict& verdict, const Redactions& found) const {
  bool changed = false;
  const auto put = [&changed](std::string& text, std::optional<std::string> without) {
    if (!without || *without == text) return;
    text = std::move(*without);
    changed = true;
  };
  for (auto* findings : {&verdict.findings, &verdict.shadow_findings}) {
    for (model::Finding& finding : *findings) {
      for (model::Evidence& one : finding.evidence) put(one.value, evidence(one));
    }
  }
  const ValuePosition loose{model::DocumentKind::run, model::DocumentPlace::other, {}, 0};
  Redactions ignored;
  each_text(verdict, [&](std::string& text) { put(text, text_without_secrets(rules_, loose, text, ignored)); });
  if (found.secrets.empty()) return changed;
  std::vector<std::string_view> texts;
  each_text(verdict, [&](std::string& text) { texts.emplace_back(text); });
  const SecretMatcher matcher(rules_, found.secrets, texts);
  if (matcher.empty()) return changed;
  each_text(verdict, [&](std::string& text) { put(text, matcher.without(text)); });
  return changed;
}

void Redactor::clean(Error& error, std::string_view request) const {
  std::vector<std::string*> texts{&error.detail, &error.log};
  for (FieldFault& fault : error.faults) {
    texts.push_back(&fault.pointer);
    texts.push_back(&fault.detail);
  }
  const ValuePosition loose{model::DocumentKind::run, model::DocumentPlace::other, {}, 0};
  Redactions found;
  static_cast<void>(text_without_secrets(rules_, loose, request, found));
  std::vector<std::string_view> views;
  for (std::string* one : texts) {
    *one = text(*one);
    views.emplace_back(*one);
  }
  if (found.secrets.empty()) return;
  const SecretMatcher matcher(rules_, found.secrets, views);
  if (matcher.empty()) return;
  for (std::string* one : texts) *one = matcher.without(*one);
}

std::string Redactor::text(std::string_view text) const {
  Redactions ignored;
  const ValuePosition loose{model::DocumentKind::run, model::DocumentPlace::other, {}, 0};
  auto without = text_without_secrets(rules_, loose, text, ignored);
  return without ? std::move(*without) : std::string(text);
}

void Redactor::each_count(const Redactions& found, const std::function<void(std::string_view, std::uint64_t)>& report) const {
  for (std::size_t rule = 0; rule < found.counts.size(); ++rule) {
    if (found.counts[rule] > 0) report(names_[rule], found.counts[rule]);
  }
}

}  // namespace runwarden::redact
