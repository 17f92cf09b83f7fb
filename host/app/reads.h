// Answers the reading requests: looks things up, lists them, investigates. Any pool thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/admission.h"
#include "auth/cursor_seal.h"
#include "base/result.h"
#include "detect/detector_set.h"
#include "store/store.h"

namespace runwarden::app {

class Reads {
 public:
  using Detectors = std::function<std::shared_ptr<detect::DetectorSet>()>;

  Reads(store::Store& store, auth::CursorSeal seal, Detectors detectors)
      : store_(store), seal_(std::move(seal)), detectors_(std::move(detectors)) {}

  // The JSON of a 200, or why not.
  Result<std::string> answer(const Admission& admission);

 private:
  Result<std::string> run(const Admission& admission);
  Result<std::string> runs(const Admission& admission);
  Result<std::string> failure(const Admission& admission);
  Result<std::string> failures(const Admission& admission);
  Result<std::string> investigation(const Admission& admission);
  Result<std::string> changes(const Admission& admission);
  Result<std::string> policies(const Admission& admission);
  Result<std::string> policy(const Admission& admission);
  Result<std::string> detectors(const Admission& admission);

  store::Store& store_;
  auth::CursorSeal seal_;
  Detectors detectors_;
};

}  // namespace runwarden::app
