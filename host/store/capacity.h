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

// How long to wait before a retry when the store is full: an operator, or deletion, has to free space first.
constexpr int kStoreFullRetryS = 30;
constexpr int kStoreDamagedRetryS = 30;  // an operator has to restore a backup first

struct SpaceStatus {
  std::uint64_t used_bytes = 0;              // by records
  std::optional<std::uint64_t> limit_bytes;  // their limit, if one is set
  std::uint64_t disk_bytes = 0;              // on this host's disk, including space that can be reused
  bool refusing = false;                     // no space for another run
  std::string reason;                        // why, and the remedy; for clients, too
  bool away = false;                         // refusing because the store cannot be reached or written to, not because it is full
  std::string cause;                         // what the store's medium or server said, for the operator; may be empty
};

class Capacity {
 public:
  virtual ~Capacity() = default;

  virtual SpaceStatus space() = 0;
  // Whether a write would succeed now, and why not.
  virtual Status writable() = 0;
  // What commits wait for if they take long; empty if the store knows nothing of it. Read from memory.
  virtual std::string delayed_by() { return {}; }
  // Which part of the store was found damaged, and the remedy; empty if nothing was found. Requests that reach the damage fail; others do
  // not.
  virtual std::string damage() { return {}; }
  // How many services use this store, including this one; read from memory. They share the limits that hold for all of them together.
  virtual std::size_t hosts() { return 1; }
  // Metrics that only this engine has; read from memory.
  virtual std::vector<MetricSample> samples() { return {}; }
};

}  // namespace runwarden::store
