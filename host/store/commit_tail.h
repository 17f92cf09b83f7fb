// A piece of the log of commits: which runs and failures a store kept last, in order. Values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/record_key.h"

namespace runwarden::store {

struct TailItem {
  enum class Kind : std::uint8_t { other, run, failure };
  Kind kind = Kind::other;
  std::int64_t at_ms = 0;  // of the commit
  model::RecordKey record;
};
struct TailPage {
  std::vector<TailItem> items;
  std::uint64_t next = 0;  // where to continue
  bool too_old = false;    // `after` is older than what is kept
};
// Adds the items after page.next of a row of the log, whose first item has that number, up to `most` in all. Returns whether the page takes
// the items of the next row, too: not if it is full, or if items before `first` are missing, which makes it too old.
bool add_row(TailPage& page, std::uint64_t first, const std::vector<TailItem>& items, std::size_t most);

}  // namespace runwarden::store
