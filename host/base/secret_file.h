// Reads a secret that an operator keeps in a file of its own: a password, a key. Any thread.
#pragma once

#include <string>

#include "base/result.h"

namespace runwarden {

// What the file holds, without line ends at its end. The Error names the file, and is validation_failed: it cannot be read, is not a file,
// can be read by others (any bit of group or others is set), is empty, or is longer than a secret is (4096 bytes).
Result<std::string> read_secret_file(const std::string& path);

}  // namespace runwarden
