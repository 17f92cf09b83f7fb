#include "detect/evaluation.h"

#include <algorithm>
#include <utility>

namespace runwarden::detect {

class Evaluation::DeadlineCall final : public WorkPool::DeadlineTask {
 public:
  DeadlineCall(Evaluation& evaluation, Invocation& invocation, const InstancePool& instances)
      : evaluation_(evaluation), invocation_(invocation), instances_(instances) {}

  void call() override { invocation_.call(); }
  WorkPool::Task continuation() override {
    invocation_.abandon();
    evaluation_.result_.run_in_use = true;
    return [self = evaluation_.shared_from_this(), &instances = instances_, begin_ns = invocation_.begin_ns()](std::size_t worker) {
      self->resume_without(instances, begin_ns, worker);
    };
  }

 private:
  Evaluation& evaluation_;
  Invocation& invocation_;
  const InstancePool& instances_;
};

bool Evaluation::resume(std::size_t worker) {
  const AbiRunView view(*request_.run, request_.tenant);
  result_.verdict.reports.reserve(detectors_.size());
  while (next_ < detectors_.size()) {
    if (!invoke(*detectors_[next_++], view, worker)) return false;
  }
  sort_findings(result_.verdict);
  const auto done = std::move(callbacks_.done);  // destroyed now rather than with the last abandoned thread
  done(worker, std::move(result_));
  callbacks_.failed = nullptr;
  return true;
}

bool Evaluation::invoke(InstancePool& instances, const AbiRunView& view, std::size_t worker) {
  Invocation invocation(context_, instances, view, worker, &request_);
  if (auto report = invocation.skipped()) {
    reports_of(result_.verdict, instances).push_back(std::move(*report));
    return true;
  }
  DeadlineCall call(*this, invocation, instances);
  if (!pool_.run_with_deadline(worker, invocation.due_ns(), call)) {
    invocation.returned_after_abandon();
    return false;
  }
  reports_of(result_.verdict, instances).push_back(invocation.report(findings_of(result_.verdict, instances)));
  return true;
}

void Evaluation::resume_without(const InstancePool& instances, std::int64_t begin_ns, std::size_t worker) {
  try {
    reports_of(result_.verdict, instances).push_back(Invocation::abandoned_report(context_, *instances.detector, begin_ns, request_));
    resume(worker);
  } catch (...) {
    if (callbacks_.failed) callbacks_.failed();
    throw;
  }
}

std::vector<model::DetectorReport>& reports_of(model::Verdict& verdict, const InstancePool& instances) {
  return instances.mode == model::DetectorMode::shadow ? verdict.shadow_reports : verdict.reports;
}

std::vector<model::Finding>& findings_of(model::Verdict& verdict, const InstancePool& instances) {
  return instances.mode == model::DetectorMode::shadow ? verdict.shadow_findings : verdict.findings;
}

void sort_findings(model::Verdict& verdict) {
  const auto first = [](const model::Finding& a, const model::Finding& b) {
    return a.suspicion_score != b.suspicion_score ? a.suspicion_score > b.suspicion_score : a.detector_key < b.detector_key;
  };
  std::stable_sort(verdict.findings.begin(), verdict.findings.end(), first);
  std::stable_sort(verdict.shadow_findings.begin(), verdict.shadow_findings.end(), first);
}

}  // namespace runwarden::detect
