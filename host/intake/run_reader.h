// Turns the JSON of one run into a model::Run. Pure; any thread.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/warning.h"
#include "model/run.h"

namespace runwarden::intake {

struct RunLimits {
  int max_json_depth = 64;
  std::size_t max_steps = 100'000;  // bounds the memory a small body can ask for
};

// The normalized run, or malformed_json, or validation_failed with every fault. `id_if_absent` (may be empty: none) becomes
// the runId of a run that has none.
// `warnings` (may be null) is added to where the run was read and something in it looks like a mistake.
Result<model::Run> read_run(std::string_view json, const RunLimits& limits, std::string_view id_if_absent,
                            std::vector<Warning>* warnings = nullptr);

}  // namespace runwarden::intake
