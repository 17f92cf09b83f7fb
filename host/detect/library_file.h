// Finds a detector's file and reads it through one descriptor, so that the bytes checked are the bytes loaded. One thread.
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

// Reads a configured library: a name on the search path, or an absolute path inside one of its folders. Refuses symbolic links, anything
// but a regular file, and files or folders that users other than root and the service's user can change. The error's detail is the full
// text, "loop.so: refused: ...".
Result<LibraryFile> find_library(const std::string& library, const std::vector<std::string>& search_path);

// Reads the file at a path, in any folder.
Result<LibraryFile> read_library(const std::filesystem::path& file);

// Why find_library would refuse a file's location, owner or mode; empty if it would not.
std::string location_fault(const std::filesystem::path& file, const std::vector<std::string>& search_path);

// "loop.so: refused: <why>" as an Error.
Error refusal(const std::filesystem::path& file, const std::string& why);

}  // namespace runwarden::detect
