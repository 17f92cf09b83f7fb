// Passes on what the store tells beside its answers: to the log and to the metrics. Any thread.
#pragma once

#include <string>

#include "ops/log.h"
#include "ops/metrics.h"
#include "store/open_store.h"

namespace runwarden::ops {

class StoreReports {
 public:
  // Both outlive it.
  StoreReports(Log& log, Metrics& metrics) : log_(log), metrics_(metrics) {}

  // For the store to open, which this outlives; without what concerns the clock. Where what is being written is in doubt it ends the
  // process.
  store::StoreListener listener();

  // Of a record that is left out of an answer because it cannot be read: which, why, and the remedy.
  void unreadable(const std::string& text);

 private:
  Log& log_;
  Metrics& metrics_;
};

}  // namespace runwarden::ops
