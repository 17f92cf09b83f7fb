// Which detectors run, from where, and with which settings. Values; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace runwarden::model {

// A shadow detector evaluates every run, but its results are stored separately and never appear in an answer.
enum class DetectorMode : std::uint8_t { live, shadow };

inline const char* name(DetectorMode mode) {
  return mode == DetectorMode::shadow ? "shadow" : "live";
}

struct DetectorEntry {
  std::string key;
  std::string library;        // a file name on the search path, or an absolute path
  std::string settings_json;  // one JSON object
  bool optional = false;      // a fault of this detector does not prevent startup
  std::string location;       // "runwarden.yaml:41:5"
  DetectorMode mode = DetectorMode::live;
};

struct TenantChange {
  std::vector<std::string> disabled;                 // detector keys
  std::map<std::string, std::string> settings_json;  // by detector key: the tenant's complete settings, its own merged over the common ones
  std::map<std::string, DetectorMode> modes = {};    // by detector key
};

struct DetectorSettings {
  std::int64_t deadline_ms = 250;
  std::vector<std::string> search_path = {"/usr/lib/runwarden/detectors", "/usr/local/lib/runwarden/detectors"};
  int quarantine_failures = 5;
  std::int64_t quarantine_window_ms = 60'000;
  std::vector<DetectorEntry> entries;
  std::vector<DetectorEntry> switched_off;  // configured, but not to be loaded
  std::map<std::string, TenantChange> tenants;
};

}  // namespace runwarden::model
