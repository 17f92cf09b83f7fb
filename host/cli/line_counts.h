// Counts as text: of things, and of the lines of an export or import. Pure; any thread.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "store/maintenance_commands.h"

namespace runwarden::cli {

// "1 run", "12 runs". The noun takes a plain s.
std::string counted(std::uint64_t count, std::string_view noun);

// "exported 15 records: run 12, failure 3", or {"run": 12, "failure": 3}.
void print_counts(std::ostream& out, std::string_view what, const store::LineCounts& counts, bool json);

}  // namespace runwarden::cli
