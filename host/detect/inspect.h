// Describes a detector file, for `runwarden detectors inspect`. One thread. Loads the file, which runs its constructors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace runwarden::detect {

struct InspectedDetector {
  std::string key, version, title;
  std::string schema_json;  // empty: accepts any settings
  std::uint32_t min_schema_minor = 0;
  std::vector<std::string> required_caps, optional_caps;  // names, or "bit 5" for unknown bits
};

struct Inspection {
  std::filesystem::path file;
  std::uint64_t size_bytes = 0;
  std::string sha256;
  bool has_entry = false;  // the version numbers below come from the entry
  std::uint32_t abi_major = 0, abi_minor = 0, min_host_minor = 0;
  std::vector<InspectedDetector> detectors;
  bool loadable = false;           // this host accepts it, apart from its location
  std::string refusal;             // why not: "loop.so: refused: ..."
  std::vector<std::string> notes;  // about the location: owner, mode, folder
};

// `search_path` may be empty, which skips its check.
Inspection inspect(const std::filesystem::path& file, const std::vector<std::string>& search_path);

// The ABI of this host, "1.0".
std::string host_abi();

}  // namespace runwarden::detect
