// What a store does for the service itself, beside the records of tenants: deletion by age, crash marks, the time of last use.
// Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/records.h"
#include "store/errors.h"
#include "store/queries.h"

namespace runwarden::store {

class Maintenance {
 public:
  virtual ~Maintenance() = default;

  // Deletes at most that many records, oldest first, in one transaction. Works also when there is no room for anything else.
  virtual Expired expire(const Retention& retention, std::size_t most) = 0;

  // Keeps a crash mark; its key is given here. Throws StoreError when there is no room for it.
  virtual void put_crash_mark(model::CrashMark mark) = 0;
  virtual std::vector<model::CrashMark> crash_marks() = 0;

  // Notes that the store is in use at that time, which has to be of a guarded clock: the next start compares its own with it. Nothing
  // happens if clock_accepts() says something else by now: what an operator confirmed is not written over. Throws StoreError when there
  // is no room for it.
  virtual void note_clock(std::int64_t wall_ms, std::uint64_t accepts) = 0;
  // Grows each time an operator confirms the clock, from whichever process.
  virtual std::uint64_t clock_accepts() = 0;
};

}  // namespace runwarden::store
