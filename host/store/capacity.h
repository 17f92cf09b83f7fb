// Whether a store can take more, and how much it holds. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/metric_sample.h"
#include "base/result.h"
#include "store/errors.h"

namespace runwarden::store {

// After how long it is worth to send again what a store without room refused: an operator, or deletion, has to make some.
constexpr int kStoreFullRetryS = 30;

struct Room {
  std::uint64_t used_bytes = 0;              // by records
  std::optional<std::uint64_t> limit_bytes;  // the most they may use, where that is set
  std::uint64_t disk_bytes = 0;              // of this host's disk, with what is free to be used again
  bool refusing = false;                     // there is none for another run now
  std::string reason;                        // why, and the remedy
  bool away = false;                         // refusing: not for want of room, the store cannot be reached or written to
};

class Capacity {
 public:
  virtual ~Capacity() = default;

  virtual Room room() = 0;
  // Whether a write would succeed now, and why not.
  virtual Status writable() = 0;
  // What of the store was found damaged, and the remedy; empty: nothing so far. Requests that meet it fail, others do not.
  virtual std::string damage() { return {}; }
  // How many services keep their records here now, this one included; from memory. What all of them may do together is shared among them.
  virtual std::size_t hosts() { return 1; }
  // What only this engine has to tell; from memory.
  virtual std::vector<MetricSample> samples() { return {}; }
};

}  // namespace runwarden::store
