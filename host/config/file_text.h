// Reads a configuration file of bounded size. Any thread.
#pragma once

#include <string>

#include "base/result.h"

namespace runwarden::config {

// Reads at most kMaxFileBytes + 1 bytes, so that the parser notices a file that is too large.
Result<std::string> read_file(const std::string& path);

}  // namespace runwarden::config
