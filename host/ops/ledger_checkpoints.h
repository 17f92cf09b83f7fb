// Makes checkpoints of ledgers that have grown, and publishes each as a log line and a webhook message.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/clock.h"
#include "ops/log.h"
#include "store/ledger_store.h"
#include "store/write_queue.h"

namespace runwarden::ops {

class LedgerCheckpoints {
 public:
  struct Parts {
    store::LedgerStore& ledger;
    store::WriteQueue& queue;
    const Clock& clock;
    std::function<void(std::function<void()> work)> post;  // to a thread that may wait for the disk
    std::function<std::string(model::TenantId tenant)> tenant_name;
    LineFunction log;
  };

  LedgerCheckpoints(Parts parts, std::int64_t interval_ms);

  // Starts a round if the interval has passed and the last round has ended. One thread.
  void start_due();

  struct State {
    std::uint64_t entries = 0;  // of all ledgers
    std::int64_t age_ms = 0;    // since a round last covered everything
  };
  // As of the latest rounds. Any thread.
  State state() const;

 private:
  void make();
  void log(const store::SignedCheckpoint& one) const;

  Parts parts_;
  std::int64_t interval_ms_;
  std::int64_t begun_ns_;
  std::atomic<bool> making_{false};
  std::atomic<std::uint64_t> entries_{0};
  std::atomic<std::int64_t> covered_ns_;  // when a round last covered everything
};

}  // namespace runwarden::ops
