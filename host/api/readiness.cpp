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
    if (!detector.loaded) readiness.not_loaded.push_back(detector.key);
  }
  if (auto warning = clock_.warning()) readiness.warnings.push_back(std::move(*warning));
  if (std::string damage = store_.damage(); !damage.empty()) readiness.warnings.push_back({"store_damaged", std::move(damage)});
  if (auto warning = warning_()) readiness.warnings.push_back(std::move(*warning));
  return readiness;
}

void ReadinessCheck::check(const std::function<void(const Readiness&)>& done) {
  const Readiness known = now();
  if (!known.reasons.empty()) return done(known);
  canary_.check([this, done](const std::string& fault) {
    Readiness later = now();
    if (!fault.empty() && later.reasons.empty()) later.reasons.push_back(fault);  // otherwise the fault is a consequence
    done(later);
  });
}

}  // namespace runwarden::api
