// 32 random bytes in a file of their own, made on first use. Any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"

namespace runwarden::store {

// Nothing: there is none, or a crash has truncated it.
Result<std::optional<std::string>> read_secret(const std::filesystem::path& path);
// Recreates the file if a crash has truncated it.
Result<std::string> read_or_make_secret(const std::filesystem::path& path);

}  // namespace runwarden::store
