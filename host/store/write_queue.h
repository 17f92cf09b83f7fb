// The way into a store for all writes while serving. Waiting writes are committed together, so that requests share a flush.
//
// Any thread; only drain() blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/permit.h"
#include "store/write_result.h"
#include "store/writes.h"

namespace runwarden::store {

class WriteQueue {
 public:
  using Done = std::function<void(WriteResult)>;
  using Job = std::function<void()>;
  struct Depth {
    std::size_t items = 0;
    std::uint64_t bytes = 0;
  };
  virtual ~WriteQueue() = default;

  // Calls `done` once, when the outcome of the write is settled, on a thread of the store that it must not hold up. Never calls it if the
  // store fails before (StoreListener::on_fatal). Writes of one run, and of one idempotency identity, are done in order of arrival. Returns
  // false, and never calls `done`, if there is no room for this tenant, the queue was drained, or the store failed. The permit is asked
  // just before the commit; a write that it refuses ends as `denied`.
  virtual bool submit(Write write, Done done, Permit permit = nullptr) = 0;
  // Why submit() takes nothing at the moment, for clients, if it is not for lack of room: the store cannot be reached. Otherwise empty.
  virtual std::string refuses_for() const { return {}; }
  // Does a small piece of other writing when it holds up no write, on a thread of the store. Dropped if the store has failed.
  virtual void run_between(Job job) = 0;
  // Commits the waiting writes and does the jobs. Nothing can be submitted once it has begun.
  virtual void drain() = 0;

  virtual Depth depth() const = 0;
  // False if there is work and the store has not turned to anything new for `within_ms`.
  virtual bool is_progressing(std::int64_t within_ms) const = 0;
};

}  // namespace runwarden::store
