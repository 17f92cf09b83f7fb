// Reads a secret, such as a password or a key, from a file of its own. Any thread.
#pragma once

#include <string>

#include "base/result.h"

namespace runwarden {

// The contents of the file without trailing line ends. Returns validation_failed, naming the file, if it cannot be read, is not a file, is
// empty, is longer than 4096 bytes, or has any permission bit of group or others set. A file that root owns may have mode 0440, as the
// credentials of systemd and mounted secrets do.
Result<std::string> read_secret_file(const std::string& path);

}  // namespace runwarden
