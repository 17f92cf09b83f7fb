// Loads the detectors of a set and collects all faults, so that an operator can fix them in one pass. One thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "detect/instance_pool.h"
#include "detect/library_file.h"

namespace runwarden::detect {

// What is known of a detector that is not loaded.
DetectorInfo without_library(const model::DetectorEntry& entry);

class Loading {
 public:
  // Settings and context outlive this.
  Loading(const model::DetectorSettings& settings, const LoadContext& context) : settings_(settings), context_(context) {}

  // Null if the detector is refused: the reason is in `faults` or, if it is optional, in `missing`.
  std::unique_ptr<Detector> load(const model::DetectorEntry& entry);

  // Null if the settings or the creation are refused, likewise. Empty tenant: the default settings.
  std::shared_ptr<InstancePool> instances(Detector& detector, const std::string& tenant, const std::string& settings_json);

  // Refuses tenant settings for detectors that are not enabled.
  void check_tenant(const std::string& tenant, const model::TenantChange& change);

  std::vector<std::string> faults;    // one line each
  std::vector<DetectorInfo> missing;  // optional detectors that could not be loaded

 private:
  std::string take_library(const LibraryFile& file, Detector& detector) const;
  void note_crashes(Detector& detector) const;
  void refuse(const model::DetectorEntry& entry, const std::string& why);
  void refuse(const model::DetectorEntry& entry, const std::string& why, const std::string& line);
  bool check_settings(const Detector& detector, const std::string& tenant, const std::string& settings_json);
  void refuse_creation(const Detector& detector, const std::string& tenant, const Error& error);
  std::string worded(const Detector& detector, const std::string& tenant, const FieldFault& fault) const;

  const model::DetectorSettings& settings_;
  const LoadContext& context_;
};

}  // namespace runwarden::detect
