// Reads the `detectors` section: its entries, those of included drop-in files, and the settings of tenants. One thread.
#pragma once

#include <array>
#include <filesystem>

#include "config/section.h"
#include "config/settings.h"

namespace runwarden::config {

// The keys of the detectors that come with the service.
constexpr std::array<const char*, 5> kShippedDetectors = {"context_overflow", "expensive_loop", "false_success", "missing_tool_call",
                                                          "schema_ghost"};

struct DetectorSources {
  std::filesystem::path folder;      // of the configuration file; globs and relative paths start here
  std::filesystem::path binary_dir;  // of the program
};

// Fills settings.detectors, settings.locations and settings.detector_warnings.
void read_detectors(const Node* node, const DetectorSources& sources, Reading& reading, Settings& settings);

}  // namespace runwarden::config
