// Runs out of the store of the configuration, for commands that judge them again. [main] only.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/run_input.h"

namespace runwarden::cli {

// The latest revisions of a tenant's runs, in that order, or in a run's place why it is not to be had; each as the file "TENANT/RUN".
// Beside a serving process; the store is closed again before this returns. Nothing, after a message, if there is no such store or tenant.
std::optional<std::vector<InputRun>> stored_runs(Context& context, const std::string& tenant, const std::vector<std::string>& run_ids);

}  // namespace runwarden::cli
