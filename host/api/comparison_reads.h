// Answers the requests that compare runs by dimension: the dimensions, a group's differences, the baseline. Any pool thread.
#pragma once

#include <optional>
#include <string>

#include "api/admission.h"
#include "base/clock.h"
#include "base/rate.h"
#include "base/result.h"
#include "store/group_store.h"

namespace runwarden::api {

class ComparisonReads {
 public:
  ComparisonReads(store::GroupStore& groups, const Clock& clock) : groups_(groups), clock_(clock) {}

  Result<std::string> dimensions(const Admission& admission);
  Result<std::string> differences(const Admission& admission);
  Result<std::string> baseline(const Admission& admission);

 private:
  store::GroupStore& groups_;
  const Clock& clock_;
};

}  // namespace runwarden::api
