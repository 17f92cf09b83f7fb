// The registry of loaded libraries, by the SHA-256 of their bytes. Any thread.
//
// One per process, and it lives as long as the process. Libraries are never unloaded, so pointers into them stay valid, and a library
// with the same bytes is loaded once.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "detect/library_file.h"

namespace runwarden::detect {

// The entry symbol of a loaded library; null if it has none.
struct LoadedLibrary {
  const void* entry = nullptr;
  int other_major = 0;  // if entry is null: the ABI major version whose entry it exports, or 0
};

// Copies the bytes into the private folder as <sha256>.so and loads the copy. If the folder is empty, or its file system is full or mounted
// noexec, copies them into memory. The error's detail is the full text, "loop.so: refused: ...". prune_copies() removes the copy once no
// process uses it.
Result<LoadedLibrary> load_library(const LibraryFile& file, const std::filesystem::path& private_folder);

// Removes the copies in a private folder that no running process has loaded: replaced libraries and partial copies of killed processes.
// Returns how many it removed; 0 if the folder does not exist.
std::size_t prune_copies(const std::filesystem::path& private_folder);

}  // namespace runwarden::detect
