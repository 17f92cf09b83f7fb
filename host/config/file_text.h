// The bytes of a configuration file, bounded. Any thread.
#pragma once

#include <string>

#include "base/result.h"

namespace runwarden::config {

// At most kMaxFileBytes and one more, so that too long a file is noticed by who parses it.
Result<std::string> read_file(const std::string& path);

}  // namespace runwarden::config
