#include "cli/detector_settings.h"

#include "config/file_text.h"

namespace runwarden::cli {
namespace {

// A file of detectors.d. Where it has no settings, it has a library.
bool is_drop_in(const config::Node& root) {
  return root.member("key") != nullptr && (root.member("settings") != nullptr || root.member("library") != nullptr);
}

}  // namespace

config::NodePtr read_detector_settings(Context& context, const std::string& wanted) {
  const auto start = wanted.find_first_not_of(" \t\r\n");
  const bool is_text = start == std::string::npos || wanted[start] == '{';
  std::string text = is_text ? wanted : std::string();
  if (!is_text) {
    auto file = config::read_file(wanted);
    if (!file.ok()) {
      context.refuse(wanted + ": " + file.error().detail);
      return nullptr;
    }
    text = std::move(*file);
  }
  std::vector<config::Fault> faults;
  config::NodePtr root = config::parse_yaml(text.empty() ? "{}" : text, is_text ? "--settings" : wanted, faults);
  if (root && is_drop_in(*root)) {
    const config::Member* const own = root->member("settings");
    root = own == nullptr ? config::parse_yaml("{}", wanted, faults) : own->value;
  }
  if (root && root->kind != config::Node::Kind::mapping)
    faults.push_back({"settings", root->location, "expected a mapping, got " + config::describe(*root)});
  for (const config::Fault& fault : faults) context.err << fault.text() << "\n";
  return faults.empty() ? root : nullptr;
}

std::optional<std::string> detector_settings_json(Context& context, const std::string& wanted) {
  const config::NodePtr root = read_detector_settings(context, wanted);
  if (!root) return std::nullopt;
  std::vector<config::Fault> faults;
  std::string json;
  config::append_json(json, *root, "settings", faults);
  for (const config::Fault& fault : faults) context.err << fault.text() << "\n";
  if (!faults.empty()) return std::nullopt;
  return json;
}

}  // namespace runwarden::cli
