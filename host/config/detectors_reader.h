// Reads the `detectors` section: its entries, those of included drop-in files, and the settings of tenants. One thread.
#pragma once

#include <filesystem>

#include "config/section.h"
#include "config/settings.h"

namespace runwarden::config {

struct DetectorSources {
  std::filesystem::path folder;      // of the configuration file; globs and relative paths start here
  std::filesystem::path binary_dir;  // of the program
};

// Fills settings.detectors, settings.locations and settings.warnings.
void read_detectors(const Node* node, const DetectorSources& sources, Reading& reading, Settings& settings);

}  // namespace runwarden::config
