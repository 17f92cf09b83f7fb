#include "detect/invocation.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "detect/crash_context.h"
#include "detect/crash_marks.h"

namespace runwarden::detect {

using model::DetectorStatus;

// The status of a call that has finished or is not made, and the reason.
struct CallResult {
  DetectorStatus status;
  std::string reason;
};

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

CallResult classify(const Instance::AbiResult& result, const Call& call, std::int64_t elapsed_ns, std::int64_t deadline_ms) {
  const bool late = elapsed_ns >= deadline_ms * kNsPerMs;
  const bool stopped = result.status == RW_STOPPED && result.thrown.empty();
  if (!result.thrown.empty()) return {DetectorStatus::error, result.thrown};
  if (late && (stopped || result.status == RW_OK)) {
    return {DetectorStatus::timeout,
            "took " + std::to_string(elapsed_ns / kNsPerMs) + " ms, the deadline is " + std::to_string(deadline_ms) + " ms"};
  }
  if (stopped) return {DetectorStatus::error, "stopped before its deadline"};
  if (result.status != RW_OK) {
    const std::string why = call.failure.empty() ? "status " + std::to_string(result.status) + " without an error text" : call.failure;
    return {DetectorStatus::error, call.rejection().empty() ? why : why + "; " + call.rejection()};
  }
  if (call.findings.empty() && !call.rejection().empty()) return {DetectorStatus::error, call.rejection()};
  if (call.findings.empty()) return {call.abstained.empty() ? DetectorStatus::clean : DetectorStatus::not_evaluable, call.abstained};
  if (call.dropped == 0) return {DetectorStatus::fired, {}};
  return {DetectorStatus::fired, std::to_string(call.dropped) + " more findings exceeded the limit of " + std::to_string(RW_MAX_FINDINGS)};
}

void note_failure(const EvaluationContext& context, Detector& detector, const model::DetectorReport& report) {
  ++(report.status == DetectorStatus::timeout ? detector.timeouts : detector.errors);
  detector.note_failure(context.clock.monotonic_ns(), report.reason, context.log);
}

std::string named(const Detector& detector) {
  return "detector \"" + detector.entry.key + "\" (" + detector.file.string() + ")";
}

}  // namespace

std::int64_t grace_ms(std::int64_t deadline_ms) {
  return std::clamp<std::int64_t>(deadline_ms / 10, 10, 100);
}

Invocation::Invocation(const EvaluationContext& context, InstancePool& instances, const AbiRunView& view, std::size_t worker,
                       const EvaluationRequest* request)
    : context_(context),
      instances_(instances),
      view_(view),
      request_(request),
      worker_(worker),
      begin_ns_(context.clock.monotonic_ns()),
      call_(context.clock, view.run(), instances.detector->entry.key, begin_ns_ + context.deadline_ms * kNsPerMs),
      instance_(instances.of(worker)) {
  if (request != nullptr && request->explain == Explain::yes) ask_for_explanation();
}

std::optional<model::DetectorReport> Invocation::skipped() {
  std::optional<CallResult> why = why_skipped();
  if (!why) return std::nullopt;
  model::DetectorReport report;
  report.key = instances_.detector->entry.key;
  report.status = why->status;
  report.reason = std::move(why->reason);
  // Or else a detector whose calls never return would stay below the limit of failures. What is late once may still return.
  const bool stuck =
      report.status == DetectorStatus::timeout && begin_ns_ - kind().abandoned->since_ns() >= 2 * context_.deadline_ms * kNsPerMs;
  if (stuck && !call_.explains()) note_failure(context_, *instances_.detector, report);
  return report;
}

std::optional<CallResult> Invocation::why_skipped() const {
  const Detector& detector = *instances_.detector;
  if (detector.quarantine.active()) return CallResult{DetectorStatus::quarantined, detector.quarantine.reason()};
  if (auto reason = crash_reason()) return CallResult{DetectorStatus::quarantined, std::move(*reason)};
  const int abandoned = kind().abandoned->count();
  if (abandoned < kMaxAbandonedCalls) return std::nullopt;
  return CallResult{DetectorStatus::timeout,
                    std::to_string(abandoned) + " of its calls for other runs have not returned yet, so it was not called"};
}

// Of a crash on this run in a call of this kind or, because an explanation takes the same way, in one that judged it.
std::optional<std::string> Invocation::crash_reason() const {
  if (context_.crash_marks == nullptr || request_ == nullptr || !context_.crash_marks->any()) return std::nullopt;
  const Detector& detector = *instances_.detector;
  for (const CallKind* of : {&detector.judging, &kind()}) {
    auto reason = context_.crash_marks->reason({of->key, detector.sha256, request_->tenant, view_.run().id, request_->content});
    if (reason) return reason;
  }
  return std::nullopt;
}

void Invocation::call() {
  const Detector& detector = *instances_.detector;
  CrashContext context;
  context.run_id = view_.run().id;
  context.detector_key = kind().key;
  context.library_sha256 = detector.sha256;
  context.library = detector.file.native();
  if (request_ != nullptr) {
    context.tenant = request_->tenant;
    context.content = &request_->content;
    context.origin = request_->origin;
  }
  const CrashContextScope scope(context);
  if (instance_ == nullptr) {
    Result<Instance*> another = instances_.acquire(context_.clock);
    if (!another.ok()) {
      abi_result_.status = RW_INTERNAL;
      call_.failure = "cannot create another instance: " + another.error().detail;
      return;
    }
    instance_ = *another;
  }
  abi_result_ = instance_->evaluate(view_.raw(), call_.raw());
}

model::DetectorReport Invocation::report(std::vector<model::Finding>& findings) {
  Detector& detector = *instances_.detector;
  if (instance_ != nullptr && instances_.of(worker_) == nullptr) instances_.assign(worker_, instance_);
  model::DetectorReport report;
  report.key = detector.entry.key;
  report.elapsed_ns = context_.clock.monotonic_ns() - begin_ns_;
  if (!call_.explains()) ++detector.evaluations;
  CallResult result = classify(abi_result_, call_, report.elapsed_ns, context_.deadline_ms);
  report.status = result.status;
  report.reason = std::move(result.reason);
  if (report.status == DetectorStatus::error || report.status == DetectorStatus::timeout) {
    if (!call_.explains()) note_failure(context_, detector, report);
    return report;
  }
  report.suppressed = std::move(call_.suppressed);
  report.explanation = std::move(call_.explanation);
  report.explanation_cut = call_.explanation_cut;
  for (model::Finding& finding : call_.findings) {
    finding.provenance = instances_.provenance;
    finding.shadow = instances_.mode == model::DetectorMode::shadow;
  }
  std::move(call_.findings.begin(), call_.findings.end(), std::back_inserter(findings));
  return report;
}

void Invocation::abandon() {
  kind().abandoned->abandoned(begin_ns_);
  instances_.abandon(worker_);
}

void Invocation::returned_after_abandon() {
  if (instance_ != nullptr) instances_.release(instance_);
  kind().abandoned->returned();
  if (!context_.log) return;
  const std::int64_t elapsed_ms = (context_.clock.monotonic_ns() - begin_ns_) / kNsPerMs;
  context_.log(LogLevel::warn,
               named(*instances_.detector) + " returned from an abandoned call after " + std::to_string(elapsed_ms) + " ms");
}

model::DetectorReport Invocation::abandoned_report(const EvaluationContext& context, Detector& detector, std::int64_t begin_ns,
                                                   const EvaluationRequest& request) {
  model::DetectorReport report;
  report.key = detector.entry.key;
  report.status = DetectorStatus::timeout;
  report.elapsed_ns = context.clock.monotonic_ns() - begin_ns;
  report.reason = "had not returned after " + std::to_string(report.elapsed_ns / kNsPerMs) + " ms, the deadline is " +
                  std::to_string(context.deadline_ms) + " ms; the run continued without it";
  const std::string run(request.run->id.empty() ? model::Text(request.origin) : request.run->id);
  if (context.log) context.log(LogLevel::warn, named(detector) + ", called for run \"" + run + "\", " + report.reason);
  if (request.explain == Explain::yes) return report;
  ++detector.evaluations;
  note_failure(context, detector, report);
  return report;
}

}  // namespace runwarden::detect
