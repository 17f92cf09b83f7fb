// Finds a detector's file and reads it through one descriptor, so that what was checked is what is loaded. One thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace runwarden::detect {

struct LibraryFile {
  std::filesystem::path file;
  std::string bytes;
  std::string sha256;  // of the bytes, lower-case hexadecimal
};

// The file of a configured library: a name on the search path, or an absolute path inside one of its folders. Refuses symbolic
// links, what is no regular file, and a file or folder that somebody other than root and the service's user could change. The
// error's detail is whole: "loop.so: refused: ...".
Result<LibraryFile> find_library(const std::string& library, const std::vector<std::string>& search_path);

// The file at a path, wherever it lies.
Result<LibraryFile> read_library(const std::filesystem::path& file);

// What find_library would refuse about where a file lies and who may change it; empty when nothing.
std::string place_fault(const std::filesystem::path& file, const std::vector<std::string>& search_path);

// "loop.so: refused: <why>" as an Error.
Error refusal(const std::filesystem::path& file, const std::string& why);

}  // namespace runwarden::detect
