// Encodes the parts of a run's write that do not depend on its place in the order. Internal to store/. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "store/run_writes.h"

namespace runwarden::store {

// The values to be written: the run, then its failures. Also names the run in each failure, and fills in what is stored of it.
std::vector<std::string> seal_run(RunWrite& write);

}  // namespace runwarden::store
