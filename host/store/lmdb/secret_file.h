// 32 random bytes in a file of their own, made on first use. Any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace runwarden::store {

// Nothing: there is none, or a crash has truncated it.
Result<std::optional<std::string>> read_secret(const std::filesystem::path& path);
// Recreates the file if a crash has truncated it.
Result<std::string> read_or_make_secret(const std::filesystem::path& path);

// A warning for each file of secrets in that folder, keys of ledgers included, that others than its owner may access: names the file, its
// mode and the remedy. Empty: there is none, or no folder.
std::vector<std::string> exposed_secrets(const std::filesystem::path& folder);

}  // namespace runwarden::store
