// Forwards the store's reports to the log and the metrics. Any thread.
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

  // For opening the store, which this must outlive; leaves out the clock. Ends the process if the outcome of a write is in doubt.
  store::StoreListener listener();

  // For a record left out of an answer because it cannot be read: which, why, and the remedy.
  void unreadable(const std::string& text);

 private:
  Log& log_;
  Metrics& metrics_;
};

}  // namespace runwarden::ops
