// Knows how much more the store may take, and keeps a reserve so that deletion works when nothing else does.
//
// begin(), admit() and the notes belong to the writing thread; now() may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "store/capacity.h"
#include "store/lmdb/env.h"
#include "store/lmdb/txn.h"

namespace runwarden::store {

class SpaceAccounting {
 public:
  SpaceAccounting(LmdbEnv& env, const Clock& clock) : env_(env), clock_(clock) {}

  // A write transaction has begun.
  void begin();
  // Whether values of that many bytes in total may be written; if so, they count as written from then on.
  bool admit(std::uint64_t bytes);
  // Report that an admitted write did not fit after all, or that it did.
  void note_refused(std::uint64_t bytes);
  void note_stored() { refused_ns_.store(0, std::memory_order_relaxed); }

  SpaceStatus now(const Txn& txn) const;

 private:
  struct Pages {
    std::uint64_t unused = 0;  // in the file, free for reuse
    std::uint64_t growth = 0;  // by which the file may still grow
    std::uint64_t all = 0;     // in the map
    std::uint64_t file = 0;    // in the file
    std::uint64_t page_bytes = 4096;
    bool disk_is_short = false;        // the disk limits the growth, not the map
    bool file_limit_is_short = false;  // or a limit of this process does
    std::uint64_t left() const { return unused + growth; }
  };
  Pages count(const Txn& txn) const;
  void count_again();
  static std::uint64_t reserve_pages(const Pages& pages);
  std::uint64_t taken_by(std::uint64_t bytes) const;

  LmdbEnv& env_;
  const Clock& clock_;
  std::uint64_t page_bytes_ = 4096;
  std::uint64_t left_bytes_ = 0;  // as of the last count, less what was admitted since
  std::uint64_t reserve_bytes_ = 0;
  std::int64_t counted_ns_ = 0;
  bool checked_ = false;  // the list of free pages was checked; once is enough, since later changes are by this process and LMDB
  bool counted_ = false;
  bool counted_in_this_txn_ = false;
  std::uint64_t admitted_in_this_txn_ = 0;   // bytes: a count sees only what is committed
  std::atomic<std::int64_t> refused_ns_{0};  // when an admitted write last did not fit; 0: writes fit again
};

}  // namespace runwarden::store
