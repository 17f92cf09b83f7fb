// 32 random bytes in a file of their own, made on first use. Any thread.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace runwarden::store {

// Makes the file anew if a crash has cut it short.
Result<std::string> read_or_make_secret(const std::filesystem::path& path);

}  // namespace runwarden::store
