// Keeps the metrics of reviews: each review as it is stored, and by detector what those of the last 90 days say of it. Counts again when
// there are new ones and each hour, as old ones leave the window.
//
// stored() from any thread; tick() from one, as often as a change should show.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/work_pool.h"
#include "model/review.h"
#include "ops/metrics.h"
#include "ops/store_reports.h"
#include "store/store.h"

namespace runwarden::api {

class ReviewGauges {
 public:
  // All of it outlives the tasks of the pool.
  struct Parts {
    ops::Metrics& metrics;
    store::Store& store;
    WorkPool& pool;
    const Clock& clock;
    ops::StoreReports& reports;
  };

  explicit ReviewGauges(const Parts& parts) : parts_(parts) {}

  void stored(const model::Review& review);
  void tick();

 private:
  void count();

  const Parts parts_;
  std::atomic<bool> changed_{true};
  std::int64_t counted_ns_ = 0;
};

}  // namespace runwarden::api
