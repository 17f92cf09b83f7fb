// The evaluation of a run by a tenant's detectors, one after the other, on a thread of the pool. When a call is abandoned with its
// thread, the evaluation continues on another.
//
// Used by one thread at a time. Lives until the last abandoned call returns.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/work_pool.h"
#include "detect/detector_set.h"
#include "detect/instance_pool.h"
#include "detect/invocation.h"

namespace runwarden::detect {

class Evaluation : public std::enable_shared_from_this<Evaluation> {
 public:
  // `owner` keeps `detectors` and `context` alive.
  Evaluation(std::shared_ptr<const void> owner, const DetectorList& detectors, const EvaluationContext& context, EvaluationRequest request,
             WorkPool& pool, EvaluationCallbacks callbacks)
      : owner_(std::move(owner)),
        detectors_(detectors),
        context_(context),
        request_(std::move(request)),
        pool_(pool),
        callbacks_(std::move(callbacks)) {}

  // False: the caller's thread has been abandoned and must return from its task.
  bool resume(std::size_t worker);

 private:
  class DeadlineCall;
  bool invoke(InstancePool& instances, const AbiRunView& view, std::size_t worker);
  void resume_without(const InstancePool& instances, std::int64_t begin_ns, std::size_t worker);

  const std::shared_ptr<const void> owner_;
  const DetectorList& detectors_;
  const EvaluationContext& context_;
  const EvaluationRequest request_;
  WorkPool& pool_;
  EvaluationCallbacks callbacks_;
  std::size_t next_ = 0;  // index into detectors_
  EvaluationResult result_;
};

// Where a detector's results go: those of shadow detectors are separate.
std::vector<model::DetectorReport>& reports_of(model::Verdict& verdict, const InstancePool& instances);
std::vector<model::Finding>& findings_of(model::Verdict& verdict, const InstancePool& instances);

// Highest score first, ties by detector key.
void sort_findings(model::Verdict& verdict);

}  // namespace runwarden::detect
