#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace runwarden::test {

/// The bytes of a file or pipe, read in blocks: under a sanitizer, one by one takes half a minute for a store. Empty when it cannot be
/// read.
inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

}  // namespace runwarden::test
