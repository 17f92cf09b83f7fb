// Fakes for testing a detector without the host: build a run in code, call the detector through its entry as the host does, and
// inspect the answer. For tests only; works with any test framework, or none.
//
//   #include <runwarden/testing.hpp>
//   using namespace rw::testing;
//
//   FakeRun run;
//   run.user_request("Refund order 7").success(true).outcome("Your refund has been processed.");
//   run.add(tool_step("issue_refund").input("{\"order\":7}").failed("502 Bad Gateway"));
//   Subject subject("pii_leak", "{\"words\": [\"secret\"]}");    // the detector with that key in this program
//   Answer answer = subject.evaluate(run);
//   assert(answer.fired() && answer.findings[0].score == 90);
//
// The test program must compile the detector's own source files, because it needs runwarden_entry_v1. Single-threaded.
#ifndef RUNWARDEN_TESTING_HPP
#define RUNWARDEN_TESTING_HPP

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runwarden/detector.hpp"

namespace rw::testing {

// ---- The run ---------------------------------------------------------------------------------------------------------

namespace detail {
inline rw_str str(const std::optional<std::string>& text) {
  return text ? rw_str{text->data(), text->size()} : rw_str{nullptr, 0};
}
inline rw_value string_value(const std::string& text) {
  rw_value value{};
  value.type = RW_VALUE_STRING;
  value.as.str = {text.data(), text.size()};
  return value;
}
using Members = std::map<std::string, std::string, std::less<>>;
}  // namespace detail

// One step; members that are not set are absent.
class FakeStep {
 public:
  explicit FakeStep(rw_step_kind kind) { raw_.kind = kind; }

  FakeStep& id(std::string text) { return set(id_, std::move(text)); }
  FakeStep& name(std::string text) { return set(name_, std::move(text)); }
  FakeStep& kind_text(std::string text) { return set(kind_text_, std::move(text)); }
  FakeStep& status_text(std::string text) { return set(status_text_, std::move(text)); }
  FakeStep& error_code(std::string text) { return set(error_code_, std::move(text)); }
  FakeStep& error_message(std::string text) { return set(error_message_, std::move(text)); }
  FakeStep& input(std::string text) { return set(input_, std::move(text)); }
  FakeStep& output(std::string text) { return set(output_, std::move(text)); }
  FakeStep& model(std::string text) { return set(model_, std::move(text)); }
  FakeStep& raw_json(std::string text) { return set(raw_json_, std::move(text)); }
  FakeStep& outcome(rw_outcome value) { return raw(raw_.outcome, static_cast<std::uint32_t>(value)); }
  FakeStep& retry_count(std::int64_t value) { return raw(raw_.retry_count, value); }
  FakeStep& input_tokens(std::int64_t value) { return raw(raw_.input_tokens, value); }
  FakeStep& http_status(std::int64_t value) { return raw(raw_.http_status, value); }
  FakeStep& started_ms(std::int64_t value) { return raw(raw_.started_ms, value); }
  FakeStep& ended_ms(std::int64_t value) { return raw(raw_.ended_ms, value); }
  // Makes find() return this string for a JSON Pointer into the step.
  FakeStep& member(std::string json_pointer, std::string text) {
    members_[std::move(json_pointer)] = std::move(text);
    return *this;
  }
  // Marks the step as failed with this error message.
  FakeStep& failed(std::string message) { return outcome(RW_OUTCOME_FAILED).status_text("failed").error_message(std::move(message)); }
  // Marks the step as successful.
  FakeStep& ok() { return outcome(RW_OUTCOME_OK).status_text("completed"); }

 private:
  friend class FakeRun;

  FakeStep& set(std::optional<std::string>& member, std::string text) {
    member = std::move(text);
    return *this;
  }
  template <class T>
  FakeStep& raw(T& member, T value) {
    member = value;
    return *this;
  }

  rw_step view(std::size_t index) {
    if (!id_) id_ = "step_" + std::to_string(index + 1);
    rw_step view = raw_;
    view.id = detail::str(id_);
    view.name = detail::str(name_);
    view.kind_text = detail::str(kind_text_);
    view.status_text = detail::str(status_text_);
    view.error_code = detail::str(error_code_);
    view.error_message = detail::str(error_message_);
    view.input = detail::str(input_);
    view.output = detail::str(output_);
    view.model = detail::str(model_);
    view.raw_json = detail::str(raw_json_);
    return view;
  }

  static rw_step blank() {
    rw_step step{};
    step.struct_size = sizeof step;
    step.retry_count = step.input_tokens = step.http_status = RW_ABSENT;
    step.started_ms = step.ended_ms = RW_NO_TIME;
    return step;
  }

  rw_step raw_ = blank();
  std::optional<std::string> id_, name_, kind_text_, status_text_, error_code_, error_message_, input_, output_, model_, raw_json_;
  detail::Members members_;
};

inline FakeStep tool_step(std::string name) {
  return FakeStep(RW_STEP_TOOL).name(std::move(name));
}
inline FakeStep model_step(std::string said) {
  return FakeStep(RW_STEP_MODEL).output(std::move(said));
}
inline FakeStep user_step(std::string said) {
  return FakeStep(RW_STEP_USER).output(std::move(said));
}

// One run; members that are not set are absent.
class FakeRun {
 public:
  FakeRun& id(std::string text) { return set(id_, std::move(text)); }
  FakeRun& tenant(std::string text) { return set(tenant_, std::move(text)); }
  FakeRun& user_request(std::string text) { return set(user_request_, std::move(text)); }
  FakeRun& outcome(std::string text) { return set(outcome_, std::move(text)); }
  FakeRun& model(std::string text) { return set(model_, std::move(text)); }
  FakeRun& raw_json(std::string text) { return set(raw_json_, std::move(text)); }
  FakeRun& success(bool value) { return raw(raw_.success, static_cast<std::uint32_t>(value ? RW_FLAG_TRUE : RW_FLAG_FALSE)); }
  FakeRun& cost_usd(double value) { return raw(raw_.cost_usd, value); }
  FakeRun& input_tokens(std::int64_t value) { return raw(raw_.input_tokens, value); }
  FakeRun& started_ms(std::int64_t value) { return raw(raw_.started_ms, value); }
  FakeRun& ended_ms(std::int64_t value) { return raw(raw_.ended_ms, value); }
  // Makes find() return this string for a JSON Pointer into the run.
  FakeRun& member(std::string json_pointer, std::string text) {
    members_[std::move(json_pointer)] = std::move(text);
    return *this;
  }
  // Makes find() return this boolean.
  FakeRun& flag(std::string json_pointer, bool value) {
    flags_[std::move(json_pointer)] = value;
    return *this;
  }
  FakeRun& add(FakeStep step) {
    steps_.push_back(std::move(step));
    return *this;
  }

  std::size_t size() const { return steps_.size(); }

  // The run as a detector receives it; valid until this object changes.
  const rw_run& view() {
    views_.clear();
    for (std::size_t i = 0; i < steps_.size(); ++i) views_.push_back(steps_[i].view(i));
    raw_.step_count = static_cast<std::uint32_t>(steps_.size());
    raw_.id = detail::str(id_);
    raw_.tenant = detail::str(tenant_);
    raw_.user_request = detail::str(user_request_);
    raw_.outcome = detail::str(outcome_);
    raw_.model = detail::str(model_);
    raw_.raw_json = detail::str(raw_json_);
    raw_.ctx = this;
    raw_.step_at = [](void* ctx, std::uint32_t index) noexcept -> const rw_step* {
      const auto& views = static_cast<FakeRun*>(ctx)->views_;
      return index < views.size() ? &views[index] : nullptr;
    };
    raw_.find = [](void* ctx, std::int32_t step, rw_str pointer, rw_value* out) noexcept -> rw_status {
      return static_cast<FakeRun*>(ctx)->find(step, pointer, out);
    };
    return raw_;
  }

 private:
  FakeRun& set(std::optional<std::string>& member, std::string text) {
    member = std::move(text);
    return *this;
  }
  template <class T>
  FakeRun& raw(T& member, T value) {
    member = value;
    return *this;
  }

  rw_status find(std::int32_t step, rw_str pointer, rw_value* out) const noexcept {
    const std::string_view where = rw::view(pointer);
    const bool no_pointer = pointer.ptr == nullptr || (!where.empty() && where[0] != '/');
    if (out == nullptr || no_pointer || step < RW_NO_STEP || step >= static_cast<std::int64_t>(steps_.size())) return RW_INVALID_ARGUMENT;
    const detail::Members& members = step == RW_NO_STEP ? members_ : steps_[static_cast<std::size_t>(step)].members_;
    const auto found = members.find(where);
    *out = found == members.end() ? rw_value{} : detail::string_value(found->second);
    const auto flag = step == RW_NO_STEP ? flags_.find(where) : flags_.end();
    if (flag != flags_.end()) {
      out->type = RW_VALUE_BOOL;
      out->as.boolean = flag->second ? 1 : 0;
    }
    return RW_OK;
  }

  static rw_run blank() {
    rw_run run{};
    run.struct_size = sizeof run;
    run.cost_usd = RW_ABSENT;
    run.input_tokens = RW_ABSENT;
    run.started_ms = run.ended_ms = RW_NO_TIME;
    return run;
  }

  rw_run raw_ = blank();
  std::optional<std::string> id_ = "run_1", tenant_ = "test", user_request_, outcome_, model_, raw_json_;
  detail::Members members_;
  std::map<std::string, bool, std::less<>> flags_;
  std::vector<FakeStep> steps_;
  std::vector<rw_step> views_;
};

// ---- The answer ------------------------------------------------------------------------------------------------------

struct FoundEvidence {
  std::string json_pointer, value;
};

struct Found {
  std::string title, summary;
  int score = 0;
  Severity severity = Severity::medium;
  Source source = Source::tool;
  std::int32_t primary_step = RW_NO_STEP;
  std::vector<FoundEvidence> evidence;
  std::optional<double> waste_usd;
  std::vector<std::string> fingerprint_parts;
#if RW_TARGET_MINOR >= 2
  std::optional<double> confidence = {};
#endif
};

struct Suppressed {
  std::string rule;
  std::int32_t step = RW_NO_STEP;
  std::string reason;
#if RW_TARGET_MINOR >= 2
  std::optional<double> confidence = {};  // of a candidate
#endif
};

#if RW_TARGET_MINOR >= 1
struct Explained {
  ExplanationKind kind = ExplanationKind::rule;
  std::int32_t step = RW_NO_STEP;
  std::optional<double> confidence;
  std::string json_pointer, subject, label, outcome, objects, reason;
};
#endif

// The result of one evaluate.
struct Answer {
  rw_status status = RW_OK;
  std::vector<Found> findings;
  std::vector<Suppressed> suppressed;
  std::optional<std::string> abstained;  // the reason
  std::string failure;                   // the text passed to fail
  std::vector<rw_status> refusals;       // what emit returned for rejected findings
#if RW_TARGET_MINOR >= 1
  std::vector<Explained> explanation;  // set by Subject::explain
#endif

  bool failed() const { return status != RW_OK; }
  bool fired() const { return !failed() && !findings.empty(); }
  bool not_evaluable() const { return !failed() && findings.empty() && abstained.has_value(); }
  bool clean() const { return !failed() && findings.empty() && !abstained.has_value(); }
};

namespace detail {

inline bool is_text(rw_str text, bool may_be_empty) {
  if (text.ptr == nullptr || text.len == 0) return may_be_empty;
  return rw::view(text).find('\0') == std::string_view::npos;
}

#if RW_TARGET_MINOR >= 1
inline bool is_label(rw_str text, bool may_be_empty) {
  if (!is_text(text, may_be_empty)) return false;
  for (const char c : rw::view(text)) {
    if (c != '_' && (c < 'a' || c > 'z')) return false;
  }
  return true;
}
#endif

// The host's side of a call. Checks what the host checks, except UTF-8.
class FakeCall {
 public:
  FakeCall(Answer& answer, std::uint32_t step_count, int stop_after) : answer_(answer), step_count_(step_count), stop_after_(stop_after) {
    raw_.struct_size = sizeof raw_;
    raw_.ctx = this;
    raw_.deadline_ns = std::numeric_limits<std::int64_t>::max();
    raw_.emit = &emit;
    raw_.suppress = &suppress;
    raw_.abstain = &abstain;
    raw_.fail = &fail;
    raw_.should_stop = &should_stop;
#if RW_TARGET_MINOR >= 2
    raw_.candidate = &candidate;
#endif
  }
  FakeCall(const FakeCall&) = delete;
  FakeCall& operator=(const FakeCall&) = delete;

  const rw_call& raw() const { return raw_; }
#if RW_TARGET_MINOR >= 1
  void ask_for_explanation() { raw_.explain = &explain; }
#endif

 private:
  static FakeCall& of(void* ctx) { return *static_cast<FakeCall*>(ctx); }

  static rw_status emit(void* ctx, const rw_finding* finding) noexcept {
    FakeCall& self = of(ctx);
    const rw_status status = self.check(finding);
    if (status != RW_OK) {
      self.answer_.refusals.push_back(status);
      return status;
    }
    self.take(*finding);
    return RW_OK;
  }

  rw_status check(const rw_finding* f) const {
    if (f == nullptr || f->struct_size < sizeof(rw_finding)) return RW_INVALID_ARGUMENT;
    if (answer_.findings.size() >= RW_MAX_FINDINGS || f->title.len > RW_MAX_TITLE || f->summary.len > RW_MAX_SUMMARY) return RW_LIMIT;
    if (f->evidence_count > RW_MAX_EVIDENCE || f->fingerprint_part_count > RW_MAX_FINGERPRINT_PARTS) return RW_LIMIT;
    const bool texts = is_text(f->title, false) && is_text(f->summary, false);
    const bool ranges = f->score >= 0 && f->score <= 100 && f->severity <= RW_SEVERITY_CRITICAL && f->source <= RW_SOURCE_COORDINATION;
    if (!texts || !ranges || !names_step(f->primary_step) || !(f->waste_usd >= 0 || f->waste_usd == RW_ABSENT)) return RW_INVALID_ARGUMENT;
#if RW_TARGET_MINOR >= 2
    if (f->confidence != RW_ABSENT && !is_share(f->confidence)) return RW_INVALID_ARGUMENT;
#endif
    for (std::uint32_t i = 0; i < f->evidence_count; ++i) {
      const rw_evidence& item = *f->evidence[i];
      if (item.json_pointer.len > RW_MAX_POINTER || item.value.len > RW_MAX_VALUE) return RW_LIMIT;
      if (item.json_pointer.len > 0 && item.json_pointer.ptr[0] != '/') return RW_INVALID_ARGUMENT;
    }
    return RW_OK;
  }

  void take(const rw_finding& f) {
    Found found;
    found.title = rw::view(f.title);
    found.summary = rw::view(f.summary);
    found.score = f.score;
    found.severity = static_cast<Severity>(f.severity);
    found.source = static_cast<Source>(f.source);
    found.primary_step = f.primary_step;
    if (f.waste_usd >= 0) found.waste_usd = f.waste_usd;
#if RW_TARGET_MINOR >= 2
    if (f.confidence >= 0) found.confidence = f.confidence;
#endif
    for (std::uint32_t i = 0; i < f.evidence_count; ++i) {
      found.evidence.push_back({std::string(rw::view(f.evidence[i]->json_pointer)), std::string(rw::view(f.evidence[i]->value))});
    }
    for (std::uint32_t i = 0; i < f.fingerprint_part_count; ++i) found.fingerprint_parts.emplace_back(rw::view(f.fingerprint_parts[i]));
    answer_.findings.push_back(std::move(found));
  }

  bool names_step(std::int64_t step) const { return step == RW_NO_STEP || (step >= 0 && step < static_cast<std::int64_t>(step_count_)); }

  static rw_status suppress(void* ctx, rw_str rule, std::int32_t step, rw_str reason) noexcept {
    FakeCall& self = of(ctx);
    if (rule.len > RW_MAX_RULE || reason.len > RW_MAX_REASON || self.answer_.suppressed.size() >= RW_MAX_SUPPRESSIONS) return RW_LIMIT;
    if (!is_text(rule, false) || !is_text(reason, true) || !self.names_step(step)) return RW_INVALID_ARGUMENT;
    Suppressed one;
    one.rule = rw::view(rule);
    one.step = step;
    one.reason = rw::view(reason);
    self.answer_.suppressed.push_back(std::move(one));
    return RW_OK;
  }

#if RW_TARGET_MINOR >= 2
  static bool is_share(double value) { return value >= 0 && value <= 1; }

  static rw_status candidate(void* ctx, rw_str rule, std::int32_t step, rw_str reason, double confidence) noexcept {
    if (!is_share(confidence)) return RW_INVALID_ARGUMENT;
    const rw_status status = suppress(ctx, rule, step, reason);
    if (status == RW_OK) of(ctx).answer_.suppressed.back().confidence = confidence;
    return status;
  }
#endif

#if RW_TARGET_MINOR >= 1
  static rw_status explain(void* ctx, const rw_explanation* item) noexcept {
    FakeCall& self = of(ctx);
    if (item == nullptr || item->struct_size < sizeof(rw_explanation)) return RW_INVALID_ARGUMENT;
    const bool small = item->subject.len <= RW_MAX_SUBJECT && item->objects.len <= RW_MAX_SUBJECT && item->label.len <= RW_MAX_LABEL &&
                       item->outcome.len <= RW_MAX_LABEL && item->reason.len <= RW_MAX_REASON && item->json_pointer.len <= RW_MAX_POINTER;
    if (!small || self.answer_.explanation.size() >= RW_MAX_EXPLANATIONS) return RW_LIMIT;
    const bool texts = is_text(item->subject, false) && is_label(item->label, false) && is_label(item->outcome, true) &&
                       is_text(item->objects, true) && is_text(item->reason, true) && is_text(item->json_pointer, true);
    const bool sure = item->confidence == RW_ABSENT || (item->confidence >= 0 && item->confidence <= 1);
    if (!texts || !sure || item->kind > RW_EXPLAIN_RULE || !self.names_step(item->step)) return RW_INVALID_ARGUMENT;
    Explained out;
    out.kind = static_cast<ExplanationKind>(item->kind);
    out.step = item->step;
    if (item->confidence >= 0) out.confidence = item->confidence;
    out.json_pointer = rw::view(item->json_pointer);
    out.subject = rw::view(item->subject);
    out.label = rw::view(item->label);
    out.outcome = rw::view(item->outcome);
    out.objects = rw::view(item->objects);
    out.reason = rw::view(item->reason);
    self.answer_.explanation.push_back(std::move(out));
    return RW_OK;
  }
#endif

  static rw_status abstain(void* ctx, rw_str reason) noexcept {
    if (reason.len > RW_MAX_REASON) return RW_LIMIT;
    if (!is_text(reason, false)) return RW_INVALID_ARGUMENT;
    of(ctx).answer_.abstained = std::string(rw::view(reason));
    return RW_OK;
  }

  static rw_status fail(void* ctx, rw_str text) noexcept {
    of(ctx).answer_.failure = std::string(rw::view(text));
    return RW_OK;
  }

  static std::uint32_t should_stop(void* ctx) noexcept {
    FakeCall& self = of(ctx);
    return self.stop_after_ >= 0 && self.asked_++ >= self.stop_after_ ? 1 : 0;
  }

  Answer& answer_;
  std::uint32_t step_count_;
  int stop_after_;
  int asked_ = 0;
  rw_call raw_{};
};

}  // namespace detail

// ---- The detector ----------------------------------------------------------------------------------------------------

// create refused the settings, or the entry has no such detector.
class CreateFailed : public std::runtime_error {
 public:
  CreateFailed(rw_status status, const std::string& text) : std::runtime_error(text), status_(status) {}
  rw_status status() const noexcept { return status_; }

 private:
  rw_status status_;
};

// One instance of a detector, created and destroyed as the host does.
class Subject {
 public:
  // Creates the detector with this key from the program's own entry. "{}" is what a service hands over where the operator gave no settings;
  // std::nullopt, that they are absent, must get the same answers. Throws CreateFailed.
  explicit Subject(std::string_view key, std::optional<std::string> settings_json = "{}")
      : Subject(runwarden_entry_v1, key, std::move(settings_json)) {}

  Subject(const rw_entry& entry, std::string_view key, std::optional<std::string> settings_json) : detector_(find(entry, key)) {
    host_ = {sizeof host_, RW_ABI_MINOR, RW_SCHEMA_MINOR, 0, RW_STR("fake"), RW_STR("0"), this, &log, &monotonic_ns, &get_extension};
    Answer answer;
    const detail::FakeCall call(answer, 0, -1);
    const rw_status status = detector_->create(&host_, &call.raw(), detail::str(settings_json), &self_);
    if (status != RW_OK) throw CreateFailed(status, answer.failure);
  }

  ~Subject() { detector_->destroy(self_); }
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  const rw_info& info() const { return *detector_->info; }

  // stop_after: should_stop returns true from this call on, counted from 0; -1 means never.
  Answer evaluate(FakeRun& run, int stop_after = -1) {
    Answer answer;
    const rw_run& view = run.view();
    const detail::FakeCall call(answer, view.step_count, stop_after);
    answer.status = detector_->evaluate(self_, &view, &call.raw());
    return answer;
  }

#if RW_TARGET_MINOR >= 1
  // Like evaluate, with a host that asks for an explanation.
  Answer explain(FakeRun& run) {
    Answer answer;
    const rw_run& view = run.view();
    detail::FakeCall call(answer, view.step_count, -1);
    call.ask_for_explanation();
    answer.status = detector_->evaluate(self_, &view, &call.raw());
    return answer;
  }
#endif

  // The lines that the detector logged.
  std::vector<std::string> log_lines;
  // The clock that the detector sees.
  std::int64_t now_ns = 0;

 private:
  static const rw_detector* find(const rw_entry& entry, std::string_view key) {
    for (std::uint32_t i = 0; i < entry.detector_count; ++i) {
      if (rw::view(entry.detectors[i]->info->key) == key) return entry.detectors[i];
    }
    throw CreateFailed(RW_INVALID_ARGUMENT, "the entry has no detector \"" + std::string(key) + "\"");
  }

  static void log(void* ctx, std::uint32_t, rw_str text) noexcept { static_cast<Subject*>(ctx)->log_lines.emplace_back(rw::view(text)); }
  static std::int64_t monotonic_ns(void* ctx) noexcept { return static_cast<Subject*>(ctx)->now_ns; }
  static const void* get_extension(void*, rw_str) noexcept { return nullptr; }

  const rw_detector* detector_;
  rw_host host_{};
  void* self_ = nullptr;
};

}  // namespace rw::testing

#endif  // RUNWARDEN_TESTING_HPP
