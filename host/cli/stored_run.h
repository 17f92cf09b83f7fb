// Reads runs from the configured store, for commands that judge them again. [main] only.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/run_input.h"

namespace runwarden::cli {

// The latest revisions of a tenant's runs in the order of `run_ids`, each under the file name "TENANT/RUN"; for a run that cannot be
// read, the reason. Works beside a serving process and closes the store before it returns. Nothing, after a message, if there is no such
// store or tenant.
std::optional<std::vector<InputRun>> stored_runs(Context& context, const std::string& tenant, const std::vector<std::string>& run_ids);

}  // namespace runwarden::cli
