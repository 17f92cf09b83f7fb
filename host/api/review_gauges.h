// Maintains the metrics of reviews: a counter of stored reviews, and for each detector the counts of the last 90 days. Recounts after new
// reviews and every hour, because old reviews leave the window.
//
// Call stored() from any thread; call tick() from one thread, as often as changes should show.
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
