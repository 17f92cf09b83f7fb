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

  // Told of each record that a list leaves out because a part of it cannot be read. Any pool thread.
  using OnUnreadable = std::function<void(const std::string& text)>;

  Reads(store::Store& store, auth::CursorSeal seal, Detectors detectors, OnUnreadable on_unreadable)
      : store_(store), seal_(std::move(seal)), detectors_(std::move(detectors)), on_unreadable_(std::move(on_unreadable)) {}

  // The JSON of a 200, or why not.
  Result<std::string> answer(const Admission& admission);

 private:
  Result<std::string> run(const Admission& admission);
  std::string listed_run(model::TenantId tenant, const model::RunRecord& run);
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
  OnUnreadable on_unreadable_;
};

}  // namespace runwarden::app
