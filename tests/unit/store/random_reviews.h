// Random runs, reviews, deletions and restarts of a store, and a count of the records themselves. One owner, one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "store/store.h"
#include "support/fake_clock.h"

namespace runwarden::store {

struct RandomReviews {
  test::FakeClock& clock;
  std::function<std::unique_ptr<Store>()> open;

  static constexpr std::int64_t kHour = 3'600'000;
  static constexpr std::int64_t kDay = 24 * kHour;

  model::RecordKey new_key(Store& store) const;
  void run(std::unique_ptr<Store>& store, model::TenantId tenant, unsigned seed, int steps);

  void expect_as_counted(Store& store, model::TenantId tenant) const;
};

}  // namespace runwarden::store
