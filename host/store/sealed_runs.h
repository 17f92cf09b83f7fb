// What of a run's write is made before it has its place in the order. For the files of store/ only. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "store/writes.h"

namespace runwarden::store {

// The values to be written: the run, then its failures. Names the run in each failure, and fills in what is kept of it.
std::vector<std::string> seal_run(RunWrite& write);

}  // namespace runwarden::store
