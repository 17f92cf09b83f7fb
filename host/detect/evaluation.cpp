#include "detect/evaluation.h"

#include <algorithm>
#include <utility>

namespace runwarden::detect {

class Evaluation::GuardedCall final : public WorkPool::Guarded {
 public:
  GuardedCall(Evaluation& evaluation, Asking& asking, const Seat& seat) : evaluation_(evaluation), asking_(asking), seat_(seat) {}

  void call() override { asking_.call(); }
  WorkPool::Task instead() override {
    asking_.leave_behind();
    evaluation_.so_far_.run_in_use = true;
    return [self = evaluation_.shared_from_this(), &seat = seat_, begin_ns = asking_.begin_ns()](std::size_t worker) {
      self->go_on_without(seat, begin_ns, worker);
    };
  }

 private:
  Evaluation& evaluation_;
  Asking& asking_;
  const Seat& seat_;
};

bool Evaluation::go_on(std::size_t worker) {
  const RunView view(*question_.run, question_.tenant);
  so_far_.verdict.reports.reserve(lineup_.size());
  while (next_ < lineup_.size()) {
    if (!ask(*lineup_[next_++], view, worker)) return false;
  }
  sort_findings(so_far_.verdict);
  const auto done = std::move(then_.done);  // goes now, not with the last thread that was left behind
  done(worker, std::move(so_far_));
  then_.failed = nullptr;
  return true;
}

bool Evaluation::ask(Seat& seat, const RunView& view, std::size_t worker) {
  Asking asking(terms_, seat, view, worker, &question_);
  if (auto report = asking.skipped()) {
    reports_of(so_far_.verdict, seat).push_back(std::move(*report));
    return true;
  }
  GuardedCall call(*this, asking, seat);
  if (!pool_.guard(worker, asking.due_ns(), call)) {
    asking.returned_late();
    return false;
  }
  reports_of(so_far_.verdict, seat).push_back(asking.report(findings_of(so_far_.verdict, seat)));
  return true;
}

void Evaluation::go_on_without(const Seat& seat, std::int64_t begin_ns, std::size_t worker) {
  try {
    reports_of(so_far_.verdict, seat).push_back(left_behind_report(terms_, *seat.detector, begin_ns, question_.run->id));
    go_on(worker);
  } catch (...) {
    if (then_.failed) then_.failed();
    throw;
  }
}

std::vector<model::DetectorReport>& reports_of(model::Verdict& verdict, const Seat& seat) {
  return seat.mode == model::DetectorMode::shadow ? verdict.shadow_reports : verdict.reports;
}

std::vector<model::Finding>& findings_of(model::Verdict& verdict, const Seat& seat) {
  return seat.mode == model::DetectorMode::shadow ? verdict.shadow_findings : verdict.findings;
}

void sort_findings(model::Verdict& verdict) {
  const auto first = [](const model::Finding& a, const model::Finding& b) {
    return a.suspicion_score != b.suspicion_score ? a.suspicion_score > b.suspicion_score : a.detector_key < b.detector_key;
  };
  std::stable_sort(verdict.findings.begin(), verdict.findings.end(), first);
  std::stable_sort(verdict.shadow_findings.begin(), verdict.shadow_findings.end(), first);
}

}  // namespace runwarden::detect
