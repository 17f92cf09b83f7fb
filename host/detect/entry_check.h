// Reads the entry of a loaded library and decides whether this host can run it. Pure; any thread.
#pragma once

#include <runwarden/detector.h>

#include <string>
#include <string_view>

#include "detect/libraries.h"

namespace runwarden::detect {

// The versions that this host implements.
struct HostVersion {
  std::uint32_t abi_minor = RW_ABI_MINOR;
  std::uint32_t schema_minor = RW_SCHEMA_MINOR;
};

// Describes what is wrong with the library as a whole, to follow "loop.so: refused: ". Empty: nothing.
std::string entry_fault(const LoadedLibrary& library, const HostVersion& host);

// The same for one of its detectors. entry_fault() must have accepted the entry.
std::string detector_fault(const rw_entry& entry, const rw_detector* detector, const HostVersion& host);

// Checks the file, loads it (load_library) and checks its entry and each detector. The error's detail is the full text,
// "loop.so: refused: ...". The entry stays valid until the process ends.
Result<const rw_entry*> take_entry(const LibraryFile& file, const std::filesystem::path& private_folder);

// The detector with that key; null if there is none. The entry must have been accepted.
const rw_detector* detector_of(const rw_entry& entry, std::string_view key);

// The keys of an accepted entry: "a, b".
std::string keys_of(const rw_entry& entry);

// The ABI version that the library needs: "1.2".
std::string abi_text(const rw_entry& entry);

}  // namespace runwarden::detect
