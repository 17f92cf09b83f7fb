// Prints the line counts of an export or import as text or JSON. Pure; any thread.
#pragma once

#include <ostream>
#include <string_view>

#include "store/maintenance_commands.h"

namespace runwarden::cli {

// "exported 12 runs, 3 failures", or {"run": 12, "failure": 3}.
void print_counts(std::ostream& out, std::string_view what, const store::LineCounts& counts, bool json);

}  // namespace runwarden::cli
