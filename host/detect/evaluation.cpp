#include "detect/evaluation.h"

#include <algorithm>
#include <utility>

namespace runwarden::detect {

class Evaluation::GuardedCall final : public WorkPool::Guarded {
 public:
  GuardedCall(Evaluation& evaluation, Asking& asking, Detector& detector) : evaluation_(evaluation), asking_(asking), detector_(detector) {}

  void call() override { asking_.call(); }
  WorkPool::Task instead() override {
    asking_.leave_behind();
    evaluation_.so_far_.run_in_use = true;
    return [self = evaluation_.shared_from_this(), &detector = detector_, begin_ns = asking_.begin_ns()](std::size_t worker) {
      self->go_on_without(detector, begin_ns, worker);
    };
  }

 private:
  Evaluation& evaluation_;
  Asking& asking_;
  Detector& detector_;
};

bool Evaluation::go_on(std::size_t worker) {
  const RunView view(*question_.run, question_.tenant);
  so_far_.verdict.reports.reserve(lineup_.size());
  while (next_ < lineup_.size()) {
    if (!ask(*lineup_[next_++], view, worker)) return false;
  }
  sort_findings(so_far_.verdict.findings);
  const auto done = std::move(then_.done);  // goes now, not with the last thread that was left behind
  done(worker, std::move(so_far_));
  then_.failed = nullptr;
  return true;
}

bool Evaluation::ask(Seat& seat, const RunView& view, std::size_t worker) {
  Asking asking(terms_, seat, view, worker);
  if (auto report = asking.skipped()) {
    so_far_.verdict.reports.push_back(std::move(*report));
    return true;
  }
  GuardedCall call(*this, asking, *seat.detector);
  if (!pool_.guard(worker, asking.due_ns(), call)) {
    asking.returned_late();
    return false;
  }
  so_far_.verdict.reports.push_back(asking.report(so_far_.verdict.findings));
  return true;
}

void Evaluation::go_on_without(Detector& detector, std::int64_t begin_ns, std::size_t worker) {
  try {
    so_far_.verdict.reports.push_back(left_behind_report(terms_, detector, begin_ns, question_.run->id));
    go_on(worker);
  } catch (...) {
    if (then_.failed) then_.failed();
    throw;
  }
}

void sort_findings(std::vector<model::Finding>& findings) {
  const auto first = [](const model::Finding& a, const model::Finding& b) {
    return a.suspicion_score != b.suspicion_score ? a.suspicion_score > b.suspicion_score : a.detector_key < b.detector_key;
  };
  std::stable_sort(findings.begin(), findings.end(), first);
}

}  // namespace runwarden::detect
