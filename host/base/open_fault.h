// Why a file or folder could not be opened or made, with the part of the path that is in the way and the remedy. Any thread.
#pragma once

#include <filesystem>
#include <string>

namespace runwarden {

enum class OpenFor { reading, writing };

// `code` is the errno of the call that failed on that path. Looks at the file system, so ask before it changes:
// "\"/srv/data\" is a file, not a folder; name a folder".
std::string open_fault(const std::filesystem::path& path, int code, OpenFor purpose);

}  // namespace runwarden
