// Truncates the texts of a run's steps, for readers that show the beginning of each. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "model/run_record.h"

namespace runwarden::ingest {

// Returns the run's JSON with every step text limited to `most_bytes` bytes, cut between two characters. Adds `cut`: the JSON Pointers of
// the truncated texts. stepIds, and fields that evidence of the run's failures points at, stay whole. Drops a client's own member named
// `cut`. `run_json` is what clients read of the run.
std::string with_cut_step_texts(std::string_view run_json, std::size_t most_bytes, const model::RunRecord& run);

}  // namespace runwarden::ingest
