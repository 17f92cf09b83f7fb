// The libraries that this process has loaded, by the SHA-256 of their bytes. Any thread.
//
// The one registry of the process, alive until it ends: nothing is ever unloaded, so that no pointer into a library goes stale,
// and the same bytes are loaded once.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "detect/library_file.h"

namespace runwarden::detect {

// The entry symbol of a library as it stands in memory; null where there is none.
struct LoadedLibrary {
  const void* entry = nullptr;
  int other_major = 0;  // without an entry: the ABI major whose entry it has, 0 if none
};

// Copies the bytes into the private folder as <sha256>.so (empty, or on a file system that nothing may be executed from: into
// memory) and loads the copy. The error's detail is whole: "loop.so: refused: ...".
// The copy stays until prune_copies() finds that no process uses it.
Result<LoadedLibrary> load_library(const LibraryFile& file, const std::filesystem::path& private_folder);

// Removes copies from a private folder that no running process has loaded: those of libraries that have been replaced since, and
// what a process that was killed left half written. How many; a folder that is not there has none.
std::size_t prune_copies(const std::filesystem::path& private_folder);

}  // namespace runwarden::detect
