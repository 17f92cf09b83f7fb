// The environment of a service before whose C library another is loaded, which plays faults on command.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace runwarden::test {

using Environment = std::vector<std::pair<std::string, std::string>>;

// `commands`: what that library is told. AddressSanitizer, which wants to be the first, lets it pass.
inline Environment preloaded(const std::string& library, Environment commands) {
  const char* const options = std::getenv("ASAN_OPTIONS");
  commands.emplace_back("LD_PRELOAD", library);
  commands.emplace_back("ASAN_OPTIONS", (options == nullptr ? std::string() : std::string(options) + ":") + "verify_asan_link_order=0");
  return commands;
}

}  // namespace runwarden::test
