// Cuts the texts of a run's steps, for a reader that shows the beginning of each. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "model/records.h"

namespace runwarden::ingest {

// The run's JSON with every text of its steps at most that many bytes long, cut between two characters, and with `cut`: the JSON
// Pointers of those that were longer. A field that evidence of the run's failures points at stays whole, and so does a stepId. A member
// `cut` of the client's own is left out. `run_json` is what clients read of the run.
std::string with_cut_step_texts(std::string_view run_json, std::size_t most_bytes, const model::RunRecord& run);

}  // namespace runwarden::ingest
