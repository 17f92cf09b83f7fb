// The answer of /readyz: known faults at once, otherwise the outcome of a canary run.
//
// Any thread; never blocks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "detect/detector_set.h"
#include "opinion/worker.h"
#include "ops/canary.h"
#include "ops/clock_monitor.h"
#include "store/capacity.h"

namespace runwarden::api {

struct Readiness {
  std::vector<std::string> reasons;            // empty: ready
  int retry_after_s = 5;                       // while not ready
  std::vector<std::string> quarantined;        // keys of detectors that are skipped until a reload
  std::vector<std::string> not_loaded;         // keys of optional detectors that could not be loaded
  std::vector<ops::OperatorWarning> warnings;  // for an operator, ready or not
};

class ReadinessCheck {
 public:
  using Detectors = std::function<std::shared_ptr<detect::DetectorSet>()>;

  // Everything outlives it. `second_opinion` is null if no model is used.
  ReadinessCheck(store::Capacity& store, Detectors detectors, const ops::ClockMonitor& clock, ops::Canary& canary,
                 const opinion::Worker* second_opinion)
      : store_(store), detectors_(std::move(detectors)), clock_(clock), canary_(canary), second_opinion_(second_opinion) {}

  // Reports known faults only, without a canary run.
  Readiness now() const;
  // `done` is called once, on this thread or the one that completes the canary.
  void check(const std::function<void(const Readiness&)>& done);

 private:
  std::optional<ops::OperatorWarning> second_opinion_warning() const;

  store::Capacity& store_;
  Detectors detectors_;
  const ops::ClockMonitor& clock_;
  ops::Canary& canary_;
  const opinion::Worker* second_opinion_;
};

}  // namespace runwarden::api
