// Counts the steps of an open run that a whole run for the same runId lacks. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace runwarden::ingest {

// `told`: the steps from events (intake::steps_of_events), normalized like those of `document`, the whole run (Run::document). The whole
// run may have further steps and members, but its steps must come in the same order.
std::size_t steps_missing(const std::vector<std::string>& told, std::string_view document);

}  // namespace runwarden::ingest
