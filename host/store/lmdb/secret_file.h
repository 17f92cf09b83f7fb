// 32 random bytes in a file of their own, made when they are first asked for. Any thread.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace runwarden::store {

// A file that a crash has cut short is made anew.
Result<std::string> read_or_make_secret(const std::filesystem::path& path);

}  // namespace runwarden::store
