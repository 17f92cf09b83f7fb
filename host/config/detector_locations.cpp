#include "config/detector_locations.h"

#include "config/yaml_tree.h"

namespace runwarden::config {
namespace {

// "/tables/0/name" as it reads in a path: ".tables[0].name".
std::string dotted(const Node& root, std::string_view pointer) {
  std::string path;
  std::size_t at = 0;
  while (at < pointer.size()) {
    const auto end = std::min(pointer.find('/', at + 1), pointer.size());
    const Node& parent = at_pointer(root, pointer.substr(0, at));
    const std::string token(pointer.substr(at + 1, end - at - 1));
    path += parent.kind == Node::Kind::list ? "[" + token + "]" : "." + token;
    at = end;
  }
  return path;
}

}  // namespace

void DetectorLocations::note(const std::string& tenant, const std::string& detector, NodePtr settings) {
  settings_[{tenant, detector}] = std::move(settings);
}

const Node* DetectorLocations::find(const std::string& tenant, const std::string& detector) const {
  auto found = settings_.find({tenant, detector});
  if (found == settings_.end()) found = settings_.find({"", detector});
  return found == settings_.end() ? nullptr : found->second.get();
}

std::string DetectorLocations::where(const std::string& tenant, const std::string& detector, std::string_view pointer) const {
  const Node* settings = find(tenant, detector);
  return settings ? at_pointer(*settings, pointer).location.text() : std::string();
}

std::string DetectorLocations::fault(const std::string& tenant, const std::string& detector, const FieldFault& fault) const {
  const Node* settings = find(tenant, detector);
  if (!settings) return "config: detectors." + detector + ": " + fault.detail;
  const std::string path = tenant.empty() ? "detectors." + detector + ".settings" : "detectors.tenants." + tenant + ".settings." + detector;
  const SourceLocation location =
      fault.code == kUnknownSetting ? key_at_pointer(*settings, fault.pointer) : at_pointer(*settings, fault.pointer).location;
  return Fault{path + dotted(*settings, fault.pointer), location, fault.detail}.text();
}

}  // namespace runwarden::config
