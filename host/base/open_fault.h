// Explains why a file or folder could not be opened or created, naming the offending part of the path and the remedy. Any thread.
#pragma once

#include <filesystem>
#include <string>

namespace runwarden {

enum class OpenFor { reading, writing };

// `code` is the errno of the failed call. Inspects the file system, so call it before that changes:
// "\"/srv/data\" is a file, not a folder; name a folder".
std::string open_fault(const std::filesystem::path& path, int code, OpenFor purpose);

}  // namespace runwarden
