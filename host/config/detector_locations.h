// Locations of the detectors' settings. A detector reports a fault by a JSON Pointer (RFC 6901) into its settings; this class adds file,
// line and column. A value; any thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace runwarden::config {

struct Node;

class DetectorLocations {
 public:
  // Records the default settings (empty tenant), or the settings of a tenant merged over the defaults.
  void note(const std::string& tenant, const std::string& detector, std::shared_ptr<const Node> settings);

  // "runwarden.yaml:41:12": the location of the value at the pointer, or else of its innermost existing ancestor. Empty for an unknown
  // detector. Empty tenant: the default settings.
  std::string where(const std::string& tenant, const std::string& detector, std::string_view pointer) const;

  // "config: detectors.expensive_loop.settings.repeats (runwarden.yaml:41:12): <detail>". The location of an unknown setting is its key's.
  std::string fault(const std::string& tenant, const std::string& detector, const FieldFault& fault) const;

 private:
  const Node* find(const std::string& tenant, const std::string& detector) const;

  std::map<std::pair<std::string, std::string>, std::shared_ptr<const Node>> settings_;  // by tenant and detector
};

}  // namespace runwarden::config
