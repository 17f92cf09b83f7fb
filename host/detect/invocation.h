// One invocation of a detector for one run on one thread: whether to call it, the call, and its report.
//
// Lives on the stack of the thread that makes the call and is used by that thread, except for abandon(), which the pool's watcher calls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "detect/abi_run_view.h"
#include "detect/call.h"
#include "detect/detector_set.h"
#include "detect/instance.h"
#include "detect/instance_pool.h"

namespace runwarden::detect {

// What all invocations of a detector set share.
struct EvaluationContext {
  const Clock& clock;
  const LogSink& log;  // may be empty
  std::int64_t deadline_ms;
  const CrashMarks* crash_marks;  // may be null
};

// A detector with this many abandoned calls is skipped. One problematic run then affects only itself, and a detector that always hangs
// cannot exhaust the threads.
constexpr int kMaxAbandonedCalls = 2;

// How long after its deadline a call is abandoned. A detector that polls should_stop has returned by then.
std::int64_t grace_ms(std::int64_t deadline_ms);

struct CallResult;

class Invocation {
 public:
  // The arguments outlive the invocation. `request` may be null; a crash is then reported without a tenant.
  Invocation(const EvaluationContext& context, InstancePool& instances, const AbiRunView& view, std::size_t worker,
             const EvaluationRequest* request = nullptr);
  // Call before call(): asks the detector for an explanation.
  void ask_for_explanation() { call_.ask_for_explanation(); }

  // The report of a detector that must be skipped; empty if it is to be called. Calls that explain are skipped with those that judge.
  // A call that is skipped because earlier ones have not returned for twice the deadline is one more failure. Call it once.
  std::optional<model::DetectorReport> skipped();
  // When the call is abandoned, on the monotonic clock.
  std::int64_t due_ns() const { return begin_ns_ + (context_.deadline_ms + grace_ms(context_.deadline_ms)) * 1'000'000; }

  void call();
  // After call(): returns the report and appends its findings.
  model::DetectorReport report(std::vector<model::Finding>& findings);

  // The report in place of that of an abandoned call.
  static model::DetectorReport abandoned_report(const EvaluationContext& context, Detector& detector, std::int64_t begin_ns,
                                                const EvaluationRequest& request);

  // While call() is running: gives up the call. Its results are ignored.
  void abandon();
  // After an abandoned call() has returned.
  void returned_after_abandon();
  std::int64_t begin_ns() const { return begin_ns_; }

 private:
  const CallKind& kind() const { return call_.explains() ? instances_.detector->explaining : instances_.detector->judging; }
  std::optional<CallResult> why_skipped() const;
  std::optional<std::string> crash_reason() const;

  const EvaluationContext& context_;
  InstancePool& instances_;
  const AbiRunView& view_;
  const EvaluationRequest* const request_;
  const std::size_t worker_;
  const std::int64_t begin_ns_;
  Call call_;
  Instance* instance_;
  Instance::AbiResult abi_result_;
};

}  // namespace runwarden::detect
