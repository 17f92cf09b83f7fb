#include "cli/loaded_detectors.h"

#include <limits>
#include <utility>

#include "base/json_text.h"
#include "base/mutex.h"
#include "cli/command_process.h"
#include "cli/table.h"

namespace runwarden::cli {
namespace {

std::string state_of(const detect::DetectorInfo& detector) {
  if (!detector.enabled) return "disabled";
  if (!detector.loaded) return "not loaded";
  return detector.mode == model::DetectorMode::shadow ? "shadow" : "enabled";
}

}  // namespace

detect::LoadContext load_context(Context& context, const config::Settings& settings, std::size_t workers) {
  detect::LoadContext load;
  load.workers = workers;
  load.log = [&err = context.err, mutex = std::make_shared<Mutex>()](LogLevel level, std::string_view text) {
    if (level < LogLevel::warn) return;
    const MutexLock lock(*mutex);
    err << "runwarden: " << text << "\n";
  };
  load.settings_fault = [&locations = settings.locations](const std::string& tenant, const std::string& key, const FieldFault& fault) {
    return locations.fault(tenant, key, fault);
  };
  return load;
}

Result<std::shared_ptr<detect::DetectorSet>> try_detectors(Context& context, const config::Settings& settings, std::size_t workers) {
  if (Status in_child = go_on_in_child(context.err); !in_child.ok()) return std::move(in_child.error());
  return detect::DetectorSet::load(settings.detectors, load_context(context, settings, workers));
}

std::shared_ptr<detect::DetectorSet> load_detectors(Context& context, const config::Settings& settings, std::size_t workers) {
  context.warn(settings.detector_warnings);
  auto set = try_detectors(context, settings, workers);
  if (set.ok()) return std::move(*set);
  context.err << set.error().detail << "\n";
  return nullptr;
}

std::unique_ptr<ConfiguredDetectors> load_to_compare(Context& context, config::Settings settings, std::size_t workers) {
  settings.detectors.quarantine_failures = std::numeric_limits<int>::max();
  auto loaded = std::make_unique<ConfiguredDetectors>(ConfiguredDetectors{std::move(settings), nullptr});
  loaded->detectors = load_detectors(context, loaded->settings, workers);
  return loaded->detectors ? std::move(loaded) : nullptr;
}

void print_detectors(std::ostream& out, const std::vector<detect::DetectorInfo>& detectors) {
  Table table({"KEY", "VERSION", "ABI", "STATE", "TITLE", "LIBRARY"});
  for (const auto& detector : detectors) {
    table.add({detector.key, detector.version, detector.abi, state_of(detector), detector.title, detector.library.string()});
  }
  table.print(out);
  for (const auto& detector : detectors) {
    if (!detector.fault.empty()) out << detector.fault << "\n";
  }
}

std::string detectors_as_json(const std::vector<detect::DetectorInfo>& detectors) {
  std::string text;
  JsonWriter out(text);
  out.begin_array();
  for (const auto& detector : detectors) {
    out.begin_object().key("key").string(detector.key).key("title").string(detector.title).key("version").string(detector.version);
    out.key("abi").string(detector.abi).key("library").string(detector.library.string()).key("sha256").string(detector.sha256);
    out.key("enabled").boolean(detector.enabled).key("optional").boolean(detector.optional).key("loaded").boolean(detector.loaded);
    out.key("mode").string(model::name(detector.mode)).key("settingsHash").string(detector.settings_hash);
    if (!detector.fault.empty()) out.key("fault").string(detector.fault);
    out.key("settings").raw(detector.settings_json.empty() ? "{}" : detector.settings_json).end_object();
  }
  out.end_array();
  return text;
}

}  // namespace runwarden::cli
