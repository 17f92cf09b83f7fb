// A run on its way past a tenant's detectors, one after the other, on a pool's thread; on another one when a detector did not
// return and was left behind with its thread.
//
// One thread at a time goes on with it. It stays until the last thread that was left behind with a part of it has come back.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/work_pool.h"
#include "detect/asking.h"
#include "detect/detector_set.h"
#include "detect/seats.h"

namespace runwarden::detect {

class Evaluation : public std::enable_shared_from_this<Evaluation> {
 public:
  // `keep` holds lineup and terms.
  Evaluation(std::shared_ptr<const void> keep, const Lineup& lineup, const Terms& terms, Question question, WorkPool& pool, Then then)
      : keep_(std::move(keep)), lineup_(lineup), terms_(terms), question_(std::move(question)), pool_(pool), then_(std::move(then)) {}

  // False: the caller's thread was left behind, and has to return from its task.
  bool go_on(std::size_t worker);

 private:
  class GuardedCall;
  bool ask(Seat& seat, const RunView& view, std::size_t worker);
  void go_on_without(const Seat& seat, std::int64_t begin_ns, std::size_t worker);

  const std::shared_ptr<const void> keep_;
  const Lineup& lineup_;
  const Terms& terms_;
  const Question question_;
  WorkPool& pool_;
  Then then_;
  std::size_t next_ = 0;  // of the lineup
  Evaluated so_far_;
};

// Where what a seat's detector says goes: with the others', or apart while it is on trial.
std::vector<model::DetectorReport>& reports_of(model::Verdict& verdict, const Seat& seat);
std::vector<model::Finding>& findings_of(model::Verdict& verdict, const Seat& seat);

// Highest score first, ties by detector key.
void sort_findings(model::Verdict& verdict);

}  // namespace runwarden::detect
