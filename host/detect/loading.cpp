#include "detect/loading.h"

#include <algorithm>

#include "detect/abandoned_calls.h"
#include "detect/abi_text.h"
#include "detect/crash_context.h"
#include "detect/crash_marks.h"
#include "detect/entry_check.h"
#include "detect/libraries.h"
#include "detect/settings_check.h"
#include "detect/settings_hash.h"

namespace runwarden::detect {
namespace {

std::string for_tenant(const std::string& tenant) {
  return tenant.empty() ? std::string() : " for tenant \"" + tenant + "\"";
}

std::string named(const model::DetectorEntry& entry) {
  return "config: detector \"" + entry.key + "\"" + (entry.location.empty() ? "" : " (" + entry.location + ")");
}

}  // namespace

DetectorInfo without_library(const model::DetectorEntry& entry) {
  DetectorInfo info;
  info.key = entry.key;
  info.library = entry.library;
  info.settings_json = entry.settings_json;
  info.mode = entry.mode;
  info.optional = entry.optional;
  info.loaded = false;
  return info;
}

std::unique_ptr<Detector> Loading::load(const model::DetectorEntry& entry) {
  auto detector = std::make_unique<Detector>(entry, settings_, context_);
  Result<LibraryFile> file =
      context_.library_place == LibraryPlace::guarded ? find_library(entry.library, settings_.search_path) : read_library(entry.library);
  if (!file.ok()) return refuse(entry, file.error().detail), nullptr;
  if (std::string fault = take_library(*file, *detector); !fault.empty()) return refuse(entry, fault), nullptr;
  return detector;
}

// Fills the detector from its library. Returns the fault; empty on success.
std::string Loading::take_library(const LibraryFile& file, Detector& detector) const {
  const CrashContext loading{.library = file.file.native(), .code = DetectorCode::load};
  const CrashContextScope scope(loading);
  Result<const rw_entry*> entry = take_entry(file, context_.private_folder);
  if (!entry.ok()) return entry.error().detail;
  const rw_detector* functions = detector_of(**entry, detector.entry.key);
  if (functions == nullptr) {
    return refusal(file.file,
                   "it has no detector \"" + detector.entry.key + "\", but " + keys_of(**entry) + ". Correct the key or the library.")
        .detail;
  }
  detector.functions = functions;
  detector.file = file.file;
  detector.sha256 = file.sha256;
  detector.abi = abi_text(**entry);
  for (CallKind* kind : {&detector.judging, &detector.explaining}) {
    kind->abandoned =
        context_.abandoned_calls == nullptr ? std::make_shared<AbandonedCount>() : context_.abandoned_calls->of(detector.sha256, kind->key);
  }
  if (context_.earlier_crashes == EarlierCrashes::counted) note_crashes(detector);
  return {};
}

// Counts the crashes in earlier processes toward the quarantine.
void Loading::note_crashes(Detector& detector) const {
  if (context_.crash_marks == nullptr) return;
  const std::int64_t now_ns = context_.clock->monotonic_ns();
  const std::int64_t now_ms = context_.clock->wall_ms();
  for (const std::int64_t time_ms : context_.crash_marks->times_ms(detector.entry.key, detector.sha256)) {
    if (now_ms - time_ms > settings_.quarantine_window_ms) continue;
    detector.note_failure(now_ns - (now_ms - time_ms) * 1'000'000, "it crashed the process", context_.log);
  }
}

std::shared_ptr<InstancePool> Loading::instances(Detector& detector, const std::string& tenant, const std::string& settings_json) {
  if (!check_settings(detector, tenant, settings_json)) return nullptr;
  const rw_info& info = *detector.functions->info;
  const bool concurrent = ((info.optional_caps | info.required_caps) & RW_CAP_CONCURRENT) != 0;
  auto instances = std::make_shared<InstancePool>(detector, settings_json, concurrent);
  instances->provenance = std::make_shared<const model::Provenance>(
      model::Provenance{std::string(view(info.version)), detector.sha256, settings_hash(settings_json)});
  const CrashContext creating{.detector_key = detector.entry.key, .library = detector.file.native(), .code = DetectorCode::create};
  for (std::size_t count = concurrent ? 1 : context_.workers; count > 0; --count) {
    Result<Instance> made = [&] {
      const CrashContextScope scope(creating);
      return Instance::create(*detector.functions, detector.host, *context_.clock, settings_json);
    }();
    if (!made.ok()) return refuse_creation(detector, tenant, made.error()), nullptr;
    instances->add(std::move(*made));
  }
  return instances;
}

void Loading::check_tenant(const std::string& tenant, const model::TenantChange& change) {
  const auto check = [&](const std::string& key, const char* where) {
    const auto same = [&](const model::DetectorEntry& entry) { return entry.key == key; };
    if (std::any_of(settings_.entries.begin(), settings_.entries.end(), same)) return;
    faults.push_back("config: detectors.tenants." + tenant + "." + where + ": \"" + key +
                     "\" is not an enabled detector. Remove it, or enable the detector.");
  };
  for (const std::string& key : change.disabled) check(key, "disabled");
  for (const auto& [key, unused] : change.settings_json) check(key, "settings");
  for (const auto& [key, unused] : change.modes) check(key, "mode");
}

void Loading::refuse(const model::DetectorEntry& entry, const std::string& why) {
  refuse(entry, why, named(entry) + ": " + why);
}

// `line`: the reason with its location in the configuration.
void Loading::refuse(const model::DetectorEntry& entry, const std::string& why, const std::string& line) {
  if (!entry.optional) return faults.push_back(line);
  if (context_.log)
    context_.log(LogLevel::warn, line + (line.ends_with('.') ? "" : ".") + " It is optional: the service continues without it.");
  DetectorInfo info = without_library(entry);
  info.fault = why;
  missing.push_back(std::move(info));
}

// Settings that break the schema are an error even for an optional detector: the host knows that they are wrong.
bool Loading::check_settings(const Detector& detector, const std::string& tenant, const std::string& settings_json) {
  if (settings_json.empty()) return true;
  const std::vector<FieldFault> found = settings_faults(view(detector.functions->info->config_schema_json), settings_json);
  for (const FieldFault& fault : found) faults.push_back(worded(detector, tenant, fault));
  return found.empty();
}

void Loading::refuse_creation(const Detector& detector, const std::string& tenant, const Error& error) {
  if (!error.faults.empty()) {
    FieldFault fault = error.faults.front();
    if (!declares(view(detector.functions->info->config_schema_json), fault.pointer)) fault.code = kUnknownSetting;
    return refuse(detector.entry, error.detail, worded(detector, tenant, fault));
  }
  const std::string what = "the detector \"" + detector.entry.key + "\" could not be created" + for_tenant(tenant) + ": " + error.detail;
  refuse(detector.entry, refusal(detector.file, what).detail);
}

std::string Loading::worded(const Detector& detector, const std::string& tenant, const FieldFault& fault) const {
  if (context_.settings_fault) return context_.settings_fault(tenant, detector.entry.key, fault);
  return named(detector.entry) + ": settings" + fault.pointer + for_tenant(tenant) + ": " + fault.detail;
}

}  // namespace runwarden::detect
