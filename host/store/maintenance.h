// What a store does for the service itself, apart from the records of tenants: deletion by age, crash marks, the time of last use. Any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/crash_mark.h"
#include "store/errors.h"
#include "store/retention.h"

namespace runwarden::store {

class Maintenance {
 public:
  virtual ~Maintenance() = default;

  // Deletes at most `most` records, oldest first, in one transaction. Works even if there is no room for anything else.
  virtual Expired expire(const Retention& retention, std::size_t most) = 0;

  // Stores a crash mark and assigns its key. Throws StoreError if there is no room for it.
  virtual void put_crash_mark(model::CrashMark mark) = 0;
  virtual std::vector<model::CrashMark> crash_marks() = 0;

  // Notes that the store is in use at that time, which must come from a guarded clock: the next start compares its own clock with it. Does
  // nothing if clock_accepts() is not `accepts` any more, so that it does not overwrite what an operator confirmed. Throws StoreError if
  // there is no room for it.
  virtual void note_clock(std::int64_t wall_ms, std::uint64_t accepts) = 0;
  // Grows each time an operator confirms the clock, in any process.
  virtual std::uint64_t clock_accepts() = 0;
};

}  // namespace runwarden::store
