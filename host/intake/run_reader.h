// Parses the JSON of one run into a model::Run. Pure; any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/warning.h"
#include "model/run.h"

namespace runwarden::intake {

// How to treat the members of a run's metadata that only this service writes (onlyModelSpan).
enum class ServerMarks : std::uint8_t {
  dropped,  // for a document from a client
  kept,     // for a document that the service assembled from spans or has read before
};

// Whether a step's metadata may have a second httpStatus behind one that is not a count.
enum class Statuses : std::uint8_t {
  once,        // for a document from a client
  may_repeat,  // for a document from a store: some have both
};

struct RunLimits {
  int max_json_depth = 64;
  std::size_t max_steps = 100'000;  // limits the memory that a small body can claim
  ServerMarks marks = ServerMarks::dropped;
  Statuses statuses = Statuses::once;
};

// For a document from a store, which has passed the limits on intake.
inline constexpr RunLimits kStoredRun{.max_json_depth = 1000,
                                      .max_steps = std::numeric_limits<std::size_t>::max(),
                                      .marks = ServerMarks::kept,
                                      .statuses = Statuses::may_repeat};

// Returns the normalized run, or malformed_json, or validation_failed with all faults. A run without a runId gets `id_if_absent` (empty:
// none). Appends likely mistakes to `warnings` (may be null) if the run is valid.
Result<model::Run> read_run(std::string_view json, const RunLimits& limits, std::string_view id_if_absent,
                            std::vector<Warning>* warnings = nullptr);

}  // namespace runwarden::intake
