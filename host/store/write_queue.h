// The way into a store for all that is written while serving: what waits is committed together, so that requests share a flush.
//
// Any thread; nothing here waits, but for drain().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/permit.h"
#include "store/writes.h"

namespace runwarden::store {

class WriteQueue {
 public:
  using Done = std::function<void(WriteResult)>;
  using Job = std::function<void()>;
  struct Waiting {
    std::size_t items = 0;
    std::uint64_t bytes = 0;
  };
  virtual ~WriteQueue() = default;

  // `done` is called once when what becomes of the write is settled, on a thread of the store's that it must not hold up; never, if the
  // store fails before (StoreListener::on_fatal). Writes of one run, and of one idempotency identity, are done in the order they came.
  // False: there is no room for this tenant, the queue was drained, or the store failed; `done` is not called then. The permit is asked
  // just before the commit; what it refuses ends as `denied`.
  virtual bool submit(Write write, Done done, Permit permit = nullptr) = 0;
  // Does a small piece of other writing when it is in nobody's way, on a thread of the store's; dropped when the store failed.
  virtual void run_between(Job job) = 0;
  // Commits what waits and does the jobs. Nothing can be submitted after it began.
  virtual void drain() = 0;

  virtual Waiting waiting() const = 0;
  // False when there is something to do and the store has not turned to anything new for `within_ms`.
  virtual bool moves(std::int64_t within_ms) const = 0;
};

}  // namespace runwarden::store
