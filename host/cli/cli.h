// The command line: parses the arguments and runs the command. Once per process; [main] only.
#pragma once

#include <ostream>

namespace runwarden::cli {

// 0 success, 1 refused or a check failed, 2 wrong usage.
enum ExitCode : int { kFine = 0, kWanting = 1, kUsage = 2 };

// Results go to `out`, everything else to `err`; standard input is file descriptor 0.
int run(int argc, const char* const* argv, std::ostream& out, std::ostream& err);

}  // namespace runwarden::cli
