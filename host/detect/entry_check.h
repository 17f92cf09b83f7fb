// Reads what a loaded library says of itself and decides whether this host can run it. Pure; any thread.
#pragma once

#include <runwarden/detector.h>

#include <string>
#include <string_view>

#include "detect/libraries.h"

namespace runwarden::detect {

// What this host is.
struct HostVersion {
  std::uint32_t abi_minor = RW_ABI_MINOR;
  std::uint32_t schema_minor = RW_SCHEMA_MINOR;
};

// What is wrong with the library as a whole, worded to stand after "loop.so: refused: "; empty: nothing.
std::string entry_fault(const LoadedLibrary& library, const HostVersion& host);

// The same for one of its detectors; the entry is without fault.
std::string detector_fault(const rw_entry& entry, const rw_detector* detector, const HostVersion& host);

// The entry of a library that this host takes: looked at, loaded (load_library), checked as a whole and detector by detector. The
// error's detail is whole: "loop.so: refused: ...". Good as long as the process lives.
Result<const rw_entry*> take_entry(const LibraryFile& file, const std::filesystem::path& private_folder);

// The detector of a key in an entry without fault; null: it has none.
const rw_detector* detector_of(const rw_entry& entry, std::string_view key);

// "a, b" of an entry whose detectors are without fault.
std::string keys_of(const rw_entry& entry);

// "1.2": what the library needs.
std::string abi_text(const rw_entry& entry);

inline std::string_view view(rw_str text) {
  return {text.ptr, text.ptr == nullptr ? 0 : text.len};
}

}  // namespace runwarden::detect
