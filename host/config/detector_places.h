// Where the settings of each detector were written, so that a fault that the detector itself finds, by JSON Pointer (RFC 6901)
// into its settings, is told with file, line and column. A value; any thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace runwarden::config {

struct Node;

class DetectorPlaces {
 public:
  // The settings that every tenant has (an empty tenant), or those of one tenant with the common ones under them.
  void note(const std::string& tenant, const std::string& detector, std::shared_ptr<const Node> settings);

  // "runwarden.yaml:41:12" of what the pointer names, or of the innermost part on the way that was written.
  // Empty for a detector that nothing is known of. An empty tenant means every tenant.
  std::string where(const std::string& tenant, const std::string& detector, std::string_view pointer) const;

  // "config: detectors.expensive_loop.settings.repeats (runwarden.yaml:41:12): <detail>"
  std::string fault(const std::string& tenant, const std::string& detector, std::string_view pointer, std::string_view detail) const;

 private:
  const Node* find(const std::string& tenant, const std::string& detector) const;

  std::map<std::pair<std::string, std::string>, std::shared_ptr<const Node>> settings_;  // by tenant and detector
};

}  // namespace runwarden::config
