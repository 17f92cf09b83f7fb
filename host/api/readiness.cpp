#include "api/readiness.h"

#include <utility>

namespace runwarden::api {

Readiness ReadinessCheck::now() const {
  Readiness readiness;
  if (Status writable = store_.writable(); !writable.ok()) {
    readiness.reasons.push_back(writable.error().detail);
    readiness.retry_after_s = writable.error().retry_after_s;
  }
  for (const auto& detector : detectors_()->list()) {
    if (detector.quarantined) readiness.quarantined.push_back(detector.key);
    if (detector.enabled && !detector.loaded) readiness.not_loaded.push_back(detector.key);
  }
  if (auto warning = clock_.warning()) readiness.warnings.push_back(std::move(*warning));
  if (std::string damage = store_.damage(); !damage.empty()) readiness.warnings.push_back({"store_damaged", std::move(damage)});
  if (auto warning = second_opinion_warning()) readiness.warnings.push_back(std::move(*warning));
  return readiness;
}

std::optional<ops::OperatorWarning> ReadinessCheck::second_opinion_warning() const {
  if (second_opinion_ == nullptr) return std::nullopt;
  const opinion::WorkerState state = second_opinion_->state();
  // Only an answer shows that the endpoint works again, and without questions, as after a purge, there will be none.
  if (state.failing.empty() || state.queue.waiting + state.queue.dead == 0) return std::nullopt;
  return ops::OperatorWarning{"second_opinion_failing", "the endpoint at second_opinion.url does not answer correctly (" + state.failing +
                                                            "); " + std::to_string(state.queue.waiting) + " questions wait"};
}

void ReadinessCheck::check(const std::function<void(const Readiness&)>& done) {
  const Readiness known = now();
  if (!known.reasons.empty()) return done(known);
  canary_.check([this, done](const std::string& fault) {
    Readiness later = now();
    if (fault.empty() || !later.reasons.empty()) return done(later);  // the fault is a consequence of the reasons
    std::string cause = store_.delayed_by();
    later.reasons.push_back(cause.empty() ? fault : std::move(cause));
    done(later);
  });
}

}  // namespace runwarden::api
