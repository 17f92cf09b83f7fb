// Loads the configuration: from the built-in defaults, the file, the environment and the command line, in this order. Any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/settings.h"

namespace runwarden::config {

struct LoadOptions {
  std::filesystem::path path;  // empty: no file
  bool named = false;          // named explicitly: it is a fault if the file does not exist
  std::vector<std::pair<std::string, std::string>> environment;
  std::string data_dir;              // replaces store.path; empty: none
  std::filesystem::path binary_dir;  // detectors are also searched for beside the program: ../lib/runwarden/detectors
};

// The inputs of this process: --config and --data-dir (empty: not given), the environment, the path of the program.
LoadOptions process_options(std::string config_flag, std::string data_dir_flag);

// On failure, `detail` has one line for each fault, and `faults` has each with its path.
Result<Settings> load(const LoadOptions& options);

// What can be read in spite of faults, for a command that looks for more of them in what the settings name.
struct PartialSettings {
  std::optional<Settings> settings;  // faulty values are absent or have their defaults; none: the file cannot be read or is not YAML
  Status status;                     // the error of load()
};
PartialSettings load_partially(const LoadOptions& options);

// The keys whose values differ, such as "limits.burst", without detectors and redact.
std::vector<std::string> changed_keys(const Settings& before, const Settings& after);

// All keys, such as "limits.burst".
std::vector<std::string> known_keys();

}  // namespace runwarden::config
