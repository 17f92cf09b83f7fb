// Knows how much the store may still take, and keeps a reserve so that deleting works when nothing else does.
//
// begin(), admit() and the notes belong to the writing thread; now() may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "store/capacity.h"
#include "store/lmdb/env.h"

namespace runwarden::store {

class SpaceAccounting {
 public:
  SpaceAccounting(LmdbEnv& env, const Clock& clock) : env_(env), clock_(clock) {}

  // A write transaction has begun.
  void begin();
  // Whether values of that many bytes in all may be written; they count as written from then on.
  bool admit(std::uint64_t bytes);
  // A write that was admitted did not fit after all, or did.
  void note_refused(std::uint64_t bytes);
  void note_stored() { refused_ns_.store(0, std::memory_order_relaxed); }

  Room now(const Txn& txn) const;

 private:
  struct Pages {
    std::uint64_t unused = 0;  // in the file, free to be used again
    std::uint64_t growth = 0;  // the file may still grow by
    std::uint64_t all = 0;     // that the map has
    std::uint64_t file = 0;    // that the file has
    std::uint64_t page_bytes = 4096;
    bool disk_is_short = false;  // it is the disk that ends the growth, not the map
    std::uint64_t left() const { return unused + growth; }
  };
  Pages count(const Txn& txn) const;
  void count_again();
  static std::uint64_t reserve_pages(const Pages& pages);
  std::uint64_t taken_by(std::uint64_t bytes) const;

  LmdbEnv& env_;
  const Clock& clock_;
  std::uint64_t page_bytes_ = 4096;
  std::uint64_t left_bytes_ = 0;  // as counted last, less what was admitted since
  std::uint64_t reserve_bytes_ = 0;
  std::int64_t counted_ns_ = 0;
  bool checked_ = false;  // the list of free pages, once: what this process and LMDB write to it is right
  bool counted_ = false;
  bool counted_in_this_txn_ = false;
  std::uint64_t admitted_in_this_txn_ = 0;   // pages: a count sees only what was committed
  std::atomic<std::int64_t> refused_ns_{0};  // when a write last did not fit though it was admitted; 0: it fits again
};

}  // namespace runwarden::store
