#include "detect/call.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "base/ascii.h"
#include "base/utf8.h"
#include "detect/abi_text.h"
#include "detect/fingerprint.h"
#include "detect/json_find.h"

namespace runwarden::detect {
namespace {

constexpr double kMaxWasteUsd = 1e12;

bool is_text(rw_str text) {
  if (text.ptr == nullptr) return text.len == 0;
  const std::string_view bytes(text.ptr, text.len);
  return utf8_fault(bytes) == bytes.size() && bytes.find('\0') == std::string_view::npos;
}

// A label: lower-case letters and underscores, so it cannot carry client data.
bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return ascii::is_lower(c) || c == '_'; });
}

constexpr const char* kNoWord = "\" is not a word of lower-case letters and underscores";

// Nothing that a reader sees.
bool is_blank(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c <= ' '; });
}

bool has_line_end(std::string_view text) {
  return text.find_first_of("\n\r") != std::string_view::npos;
}

// A length larger than any object: the text must not be read.
bool is_absurd(rw_str text) {
  return text.len > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
}

bool is_confidence(double value) {
  return value >= 0 && value <= 1;
}

// What a library that was built for 1.0 sets.
constexpr std::size_t kOldestFinding = offsetof(rw_finding, reserved) + sizeof(rw_finding::reserved);

// At most about `limit` bytes, cut between characters, with invalid UTF-8 and NUL replaced.
std::string sanitized(std::string_view text, std::size_t limit) {
  std::string out;
  for (std::size_t i = 0; i < text.size() && out.size() < limit;) {
    const std::size_t length = utf8_length_at(text, i);
    const bool bad = length == 0 || text[i] == '\0';
    out += bad ? std::string_view("\xEF\xBF\xBD") : text.substr(i, length);
    i += length == 0 ? 1 : length;
  }
  return out;
}

model::Text error_text(const model::Step& step) {
  for (const model::Text text : {step.error_message, step.error_code, step.status}) {
    if (!text.empty()) return text;
  }
  return {};
}

}  // namespace

Call::Call(const Clock& clock) : clock_(clock) {
  raw_ = {sizeof raw_,
          0,
          this,
          std::numeric_limits<std::int64_t>::max(),
          &Call::emit,
          &Call::suppress,
          &Call::abstain,
          &Call::fail,
          &Call::should_stop,
          nullptr,
          &Call::candidate};
}

Call::Call(const Clock& clock, const model::Run& run, std::string_view detector_key, std::int64_t deadline_ns) : Call(clock) {
  run_ = &run;
  key_ = detector_key;
  raw_.deadline_ns = deadline_ns;
}

rw_status Call::emit(void* ctx, const rw_finding* finding) noexcept {
  auto& self = *static_cast<Call*>(ctx);
  if (self.run_ == nullptr) return RW_UNSUPPORTED;
  try {
    if (finding == nullptr) return self.refuse("the finding is a null pointer");
    if (finding->struct_size < kOldestFinding)
      return self.refuse("the finding's struct_size is " + std::to_string(finding->struct_size) + ", at least " +
                         std::to_string(kOldestFinding) + " is needed");
    return self.take(*finding);
  } catch (const std::bad_alloc&) {
    return RW_INTERNAL;
  }
}

rw_status Call::suppress(void* ctx, rw_str rule, std::int32_t step, rw_str reason) noexcept {
  auto& self = *static_cast<Call*>(ctx);
  if (self.run_ == nullptr) return RW_UNSUPPORTED;
  if (view(rule).size() > RW_MAX_RULE || view(reason).size() > RW_MAX_REASON || self.suppressed.size() >= RW_MAX_SUPPRESSIONS)
    return RW_LIMIT;
  if (!is_text(rule) || view(rule).empty() || !is_text(reason) || !self.names_step(step)) return RW_INVALID_ARGUMENT;
  try {
    const std::string step_id(step < 0 ? model::Text() : self.run_->steps[static_cast<std::size_t>(step)].id);
    self.suppressed.push_back({std::string(view(rule)), step_id, std::string(view(reason))});
    return RW_OK;
  } catch (const std::bad_alloc&) {
    return RW_INTERNAL;
  }
}

rw_status Call::candidate(void* ctx, rw_str rule, std::int32_t step, rw_str reason, double confidence) noexcept {
  auto& self = *static_cast<Call*>(ctx);
  if (self.run_ == nullptr) return RW_UNSUPPORTED;
  if (!is_confidence(confidence)) return RW_INVALID_ARGUMENT;
  const rw_status status = suppress(ctx, rule, step, reason);
  if (status == RW_OK) self.suppressed.back().confidence = confidence;
  return status;
}

rw_status Call::abstain(void* ctx, rw_str reason) noexcept {
  auto& self = *static_cast<Call*>(ctx);
  if (self.run_ == nullptr) return RW_UNSUPPORTED;
  try {
    if (view(reason).size() > RW_MAX_REASON) {
      return self.refuse_abstention(RW_LIMIT,
                                    "it has " + std::to_string(reason.len) + " bytes, the limit is " + std::to_string(RW_MAX_REASON));
    }
    if (!is_text(reason)) return self.refuse_abstention(RW_INVALID_ARGUMENT, "it is not UTF-8 text without NUL");
    if (view(reason).empty()) return self.refuse_abstention(RW_INVALID_ARGUMENT, "it is empty");
    self.abstained = view(reason);
    return RW_OK;
  } catch (const std::bad_alloc&) {
    return RW_INTERNAL;
  }
}

rw_status Call::refuse_abstention(rw_status status, std::string why) {
  abstention_refused = std::move(why);
  return status;
}

std::string Call::rejection() const {
  if (!refused.empty()) return "its finding was rejected: " + refused;
  if (abstained.empty() && !abstention_refused.empty()) return "its reason to abstain was rejected: " + abstention_refused;
  return {};
}

rw_status Call::fail(void* ctx, rw_str text) noexcept {
  if (is_absurd(text)) return RW_INVALID_ARGUMENT;
  try {
    static_cast<Call*>(ctx)->failure = sanitized(view(text), RW_MAX_REASON);
    return RW_OK;
  } catch (const std::bad_alloc&) {
    return RW_INTERNAL;
  }
}

std::uint32_t Call::should_stop(void* ctx) noexcept {
  const auto& self = *static_cast<const Call*>(ctx);
  return self.clock_.monotonic_ns() >= self.raw_.deadline_ns ? 1 : 0;
}

rw_status Call::explain(void* ctx, const rw_explanation* item) noexcept {
  auto& self = *static_cast<Call*>(ctx);
  if (self.run_ == nullptr) return RW_UNSUPPORTED;
  try {
    if (item == nullptr || item->struct_size < sizeof(rw_explanation))
      return self.refuse_item("it is a null pointer, or its struct_size is too small");
    const rw_status status = self.take(*item);
    if (status == RW_LIMIT) self.explanation_cut = true;
    return status;
  } catch (const std::bad_alloc&) {
    return RW_INTERNAL;
  }
}

std::string Call::fault_of(const rw_explanation& item) const {
  if (item.kind > RW_EXPLAIN_RULE) return "the kind is " + std::to_string(item.kind) + ", expected 0 to 5";
  if (!names_step(item.step)) return "the step is " + std::to_string(item.step) + ", " + steps_text();
  if (item.confidence != RW_ABSENT && !is_confidence(item.confidence)) return "the confidence is not a number from 0 to 1";
  for (const rw_str text : {item.subject, item.label, item.outcome, item.objects, item.reason, item.json_pointer}) {
    if (!is_text(text)) return "one of its texts is not UTF-8 text without NUL";
  }
  if (view(item.subject).empty()) return "the subject is empty";
  if (!is_word(view(item.label))) return "the label \"" + std::string(view(item.label)) + kNoWord;
  if (!view(item.outcome).empty() && !is_word(view(item.outcome))) return "the outcome \"" + std::string(view(item.outcome)) + kNoWord;
  const std::string_view pointer = view(item.json_pointer);
  return is_json_pointer(pointer) ? "" : "\"" + std::string(pointer) + "\" is not a JSON Pointer";
}

rw_status Call::take(const rw_explanation& item) {
  const std::size_t bytes = view(item.subject).size() + view(item.label).size() + view(item.outcome).size() + view(item.objects).size() +
                            view(item.reason).size() + view(item.json_pointer).size();
  const bool fits = view(item.subject).size() <= RW_MAX_SUBJECT && view(item.objects).size() <= RW_MAX_SUBJECT &&
                    view(item.label).size() <= RW_MAX_LABEL && view(item.outcome).size() <= RW_MAX_LABEL &&
                    view(item.reason).size() <= RW_MAX_REASON && view(item.json_pointer).size() <= RW_MAX_POINTER;
  if (!fits || explanation.size() >= RW_MAX_EXPLANATIONS || explanation_bytes_ + bytes > RW_MAX_EXPLANATION_BYTES) return RW_LIMIT;
  if (std::string why = fault_of(item); !why.empty()) return refuse_item(std::move(why));
  const std::string_view pointer = view(item.json_pointer);
  model::ExplanationItem out;
  out.kind = static_cast<model::ExplanationKind>(item.kind);
  out.step = item.step;
  if (item.confidence != RW_ABSENT) out.confidence = item.confidence;
  out.pointer = pointer;
  out.subject = view(item.subject);
  out.label = view(item.label);
  out.outcome = view(item.outcome);
  out.objects = view(item.objects);
  out.reason = view(item.reason);
  explanation_bytes_ += bytes;
  explanation.push_back(std::move(out));
  return RW_OK;
}

rw_status Call::refuse(std::string why) {
  refused = std::move(why);
  return RW_INVALID_ARGUMENT;
}

rw_status Call::refuse_item(std::string why) {
  explanation_refused = std::move(why);
  return RW_INVALID_ARGUMENT;
}

rw_status Call::over(const char* what, const char* units, std::size_t length, std::size_t limit) {
  refused = std::string(what) + " has " + std::to_string(length) + " " + units + ", the limit is " + std::to_string(limit);
  return RW_LIMIT;
}

bool Call::names_step(std::int32_t step) const {
  return step == RW_NO_STEP || (step >= 0 && static_cast<std::size_t>(step) < run_->steps.size());
}

std::string Call::steps_text() const {
  return "the run has " + std::to_string(run_->steps.size()) + " steps";
}

rw_status Call::take(const rw_finding& finding) {
  if (findings.size() >= RW_MAX_FINDINGS) {
    ++dropped;
    return RW_LIMIT;
  }
  if (view(finding.title).size() > RW_MAX_TITLE) return over("the title", "bytes", finding.title.len, RW_MAX_TITLE);
  if (view(finding.summary).size() > RW_MAX_SUMMARY) return over("the summary", "bytes", finding.summary.len, RW_MAX_SUMMARY);
  if (!is_text(finding.title) || !is_text(finding.summary)) return refuse("title or summary is not UTF-8 text without NUL");
  if (is_blank(view(finding.title)) || is_blank(view(finding.summary))) return refuse("title or summary is empty or blank");
  if (has_line_end(view(finding.title))) return refuse("the title is not one line");
  if (finding.score < 0 || finding.score > 100) return refuse("the score is " + std::to_string(finding.score) + ", expected 0 to 100");
  if (finding.severity > RW_SEVERITY_CRITICAL) return refuse("the severity is " + std::to_string(finding.severity) + ", expected 0 to 3");
  if (finding.source > RW_SOURCE_COORDINATION) return refuse("the source is " + std::to_string(finding.source) + ", expected 0 to 3");
  if (!names_step(finding.primary_step)) return refuse("the primary step is " + std::to_string(finding.primary_step) + ", " + steps_text());
  const bool has_waste = finding.waste_usd != RW_ABSENT;
  if (has_waste && !(finding.waste_usd >= 0 && finding.waste_usd <= kMaxWasteUsd))
    return refuse("the waste is not a USD amount from 0 to 1e12");
  model::Finding out;
  out.detector_key = key_;
  out.suspicion_score = finding.score;
  out.severity = static_cast<model::Severity>(finding.severity);
  out.source = static_cast<model::Source>(finding.source);
  out.title = view(finding.title);
  out.summary = view(finding.summary);
  if (finding.primary_step >= 0) out.primary_step_id = run_->steps[static_cast<std::size_t>(finding.primary_step)].id;
  if (has_waste) out.waste_usd = finding.waste_usd + 0.0;  // 0 of -0
  if (const rw_status status = take_evidence(finding, out); status != RW_OK) return status;
  if (const rw_status status = take_confidence(finding, out); status != RW_OK) return status;
  if (const rw_status status = take_fingerprint(finding, out); status != RW_OK) return status;
  findings.push_back(std::move(out));
  return RW_OK;
}

rw_status Call::take_evidence(const rw_finding& finding, model::Finding& out) {
  if (finding.evidence_count > RW_MAX_EVIDENCE) return over("the evidence", "items", finding.evidence_count, RW_MAX_EVIDENCE);
  if (finding.evidence_count > 0 && finding.evidence == nullptr) return refuse("the evidence is a null pointer");
  for (std::uint32_t i = 0; i < finding.evidence_count; ++i) {
    const rw_evidence* item = finding.evidence[i];
    if (item == nullptr || item->struct_size < sizeof(rw_evidence))
      return refuse("evidence " + std::to_string(i) + " is null or its struct_size too small");
    const std::string_view pointer = view(item->json_pointer);
    const std::string_view value = view(item->value);
    if (pointer.size() > RW_MAX_POINTER) return over("a pointer of the evidence", "bytes", pointer.size(), RW_MAX_POINTER);
    if (value.size() > RW_MAX_VALUE) return over("a value of the evidence", "bytes", value.size(), RW_MAX_VALUE);
    if (!is_text(item->json_pointer) || !is_text(item->value))
      return refuse("evidence " + std::to_string(i) + " is not UTF-8 text without NUL");
    if (!is_json_pointer(pointer)) return refuse("evidence " + std::to_string(i) + " has no JSON Pointer");
    out.evidence.push_back({std::string(pointer), std::string(value)});
  }
  return RW_OK;
}

rw_status Call::take_confidence(const rw_finding& finding, model::Finding& out) {
  if (!RW_HAS(&finding, rw_finding, confidence) || finding.confidence == RW_ABSENT) return RW_OK;
  if (!is_confidence(finding.confidence)) return refuse("the confidence is not a number from 0 to 1");
  out.confidence = finding.confidence;
  return RW_OK;
}

rw_status Call::take_fingerprint(const rw_finding& finding, model::Finding& out) {
  if (finding.fingerprint_part_count > RW_MAX_FINGERPRINT_PARTS) {
    return over("the fingerprint", "parts", finding.fingerprint_part_count, RW_MAX_FINGERPRINT_PARTS);
  }
  if (finding.fingerprint_part_count > 0 && finding.fingerprint_parts == nullptr)
    return refuse("the fingerprint's parts are a null pointer");
  const model::Step* step = finding.primary_step < 0 ? nullptr : &run_->steps[static_cast<std::size_t>(finding.primary_step)];
  std::vector<std::string> parts;
  for (std::uint32_t i = 0; i < finding.fingerprint_part_count; ++i) {
    const rw_str part = finding.fingerprint_parts[i];
    if (view(part).size() > RW_MAX_PART) return over("a part of the fingerprint", "bytes", part.len, RW_MAX_PART);
    if (!is_text(part)) return refuse("a part of the fingerprint is not UTF-8 text without NUL");
    parts.emplace_back(view(part));
  }
  if (parts.empty() && step != nullptr) parts = {std::string(step->name), std::string(error_text(*step))};
  if (parts.empty()) parts = {out.title};
  out.fingerprint_step = step == nullptr ? std::string() : std::string(step->name);
  out.fingerprint_parts = std::move(parts);
  out.fingerprint = fingerprint(key_, out.fingerprint_step, out.fingerprint_parts);
  return RW_OK;
}

}  // namespace runwarden::detect
