// Loads detectors for a set and gathers every fault on the way, so that an operator mends all of them at once. One thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "detect/library_file.h"
#include "detect/seats.h"

namespace runwarden::detect {

class Loading {
 public:
  // Settings and context outlive this.
  Loading(const model::DetectorSettings& settings, const LoadContext& context) : settings_(settings), context_(context) {}

  // Null: refused; `faults` or, for an optional one, `missing` says why.
  std::unique_ptr<Detector> load(const model::DetectorEntry& entry);

  // Null: settings or creation refused, likewise. An empty tenant: the settings of everybody.
  std::shared_ptr<Seat> seat(Detector& detector, const std::string& tenant, const std::string& settings_json);

  // Tenants may only speak of detectors that are enabled.
  void check_tenant(const std::string& tenant, const model::TenantChange& change);

  std::vector<std::string> faults;    // a line each
  std::vector<DetectorInfo> missing;  // optional ones without which the service goes on

 private:
  std::string take_library(const LibraryFile& file, Detector& detector) const;
  void note_crashes(Detector& detector) const;
  void refuse(const model::DetectorEntry& entry, const std::string& why);
  bool check_settings(const Detector& detector, const std::string& tenant, const std::string& settings_json);
  void refuse_creation(const Detector& detector, const std::string& tenant, const Error& error);
  std::string worded(const Detector& detector, const std::string& tenant, const FieldFault& fault) const;

  const model::DetectorSettings& settings_;
  const LoadContext& context_;
};

}  // namespace runwarden::detect
