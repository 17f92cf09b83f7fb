#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>

#include "base/json_text.h"
#include "base/open_fault.h"
#include "cli/context.h"
#include "cli/loaded_detectors.h"
#include "config/loading.h"
#include "part_settings/part_settings.h"
#include "store/engines/engine_module.h"
#include "store/lmdb/secret_file.h"
#include "store/lmdb/store.h"

namespace runwarden::cli {
namespace {

// Printed as text or as one JSON object.
struct CheckResult {
  std::string source;
  std::string faults;  // one per line
  std::vector<std::string> warnings;
  std::vector<detect::DetectorInfo> detectors;

  // Empty: none.
  void add_fault(const std::string& fault) { faults += (faults.empty() || fault.empty() ? "" : "\n") + fault; }
};

std::string as_json(const CheckResult& result) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("ok").boolean(result.faults.empty());
  result.source.empty() ? out.key("config").null() : out.key("config").string(result.source);
  out.key("errors").begin_array();
  std::istringstream lines(result.faults);
  for (std::string line; std::getline(lines, line);) out.string(line);
  out.end_array().key("warnings").strings(result.warnings).key("detectors").raw(detectors_as_json(result.detectors)).end_object();
  return text;
}

int errno_of_access(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) return ENOTDIR;
  return ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

// With which errno serve would fail to create the folder, which is the last one of the path; 0: it would not. Only trying tells: root may
// write to folders that take nothing, such as /proc.
int errno_of_creating(const std::filesystem::path& folder) {
  std::string other = (folder.parent_path() / ".runwarden-check-XXXXXX").string();
  if (::mkdtemp(other.data()) == nullptr) return errno;
  ::rmdir(other.c_str());
  return 0;
}

// Why serve could not use this store; empty: it could. Creates no store.
std::string store_fault(const config::Settings& settings) {
  const std::filesystem::path folder = settings.store.path;
  std::error_code ignored;
  const bool is_there = std::filesystem::exists(folder, ignored);
  const int code = is_there ? errno_of_access(folder) : errno_of_creating(folder);
  if (code == 0 && is_there && settings.store.driver == "lmdb") {
    using Ledger = store::StoreSettings::Ledger;
    const Status tried = store::try_lmdb(folder, settings.ledger.enabled ? Ledger::on : Ledger::off);
    return tried.ok() ? std::string() : settings.fault_of("store.path") + tried.error().detail;
  }
  if (code == 0) return {};
  const std::filesystem::path wanted = is_there ? folder / "service.lock" : folder;
  return settings.fault_of("store.path") + "serve could not open \"" + folder.string() +
         "\": " + open_fault(wanted, code, OpenFor::writing);
}

// The fault of the connection settings, the database engine, or the database itself; empty: none.
std::string database_fault(const config::Settings& settings, const store::PostgresTarget& place, std::vector<std::string>& warnings) {
  const auto engine = store::postgres_engine();
  if (!engine.ok()) return settings.fault_of("store.driver") + engine.error().detail;
  const auto tried = (*engine)->try_target(place);
  if (!tried.ok()) return tried.error().detail;
  warnings.insert(warnings.end(), tried->begin(), tried->end());
  return {};
}

// Whether no value of the section is faulty: what its values name can be looked at.
bool is_sound(const Status& loaded, const std::string& section) {
  if (loaded.ok()) return true;
  const std::vector<FieldFault>& faults = loaded.error().faults;
  return std::none_of(faults.begin(), faults.end(), [&](const FieldFault& fault) { return fault.pointer.starts_with(section + "."); });
}

CheckResult examine(Context& context) {
  CheckResult result;
  const auto options = config::process_options(context.config, context.data_dir);
  result.source = options.path.string();
  const config::PartialSettings loaded = config::load_partially(options);
  if (!loaded.status.ok()) result.add_fault(loaded.status.error().detail);
  if (!loaded.settings) return result;
  const config::Settings& settings = *loaded.settings;
  result.source = settings.source;
  result.warnings = settings.warnings;
  for (const auto& more : {settings.service_warnings, settings.detector_warnings}) {
    result.warnings.insert(result.warnings.end(), more.begin(), more.end());
  }
  if (is_sound(loaded.status, "store")) {
    result.add_fault(store_fault(settings));
    for (std::string& exposed : store::exposed_secrets(settings.store.path)) result.warnings.push_back(std::move(exposed));
    if (const auto place = part_settings::postgres_target(settings)) result.add_fault(database_fault(settings, *place, result.warnings));
  }
  if (settings.second_opinion.enabled && is_sound(loaded.status, "second_opinion")) {
    const auto opinion = part_settings::second_opinion(settings);
    if (!opinion.ok()) result.add_fault(opinion.error().detail);
  }
  const auto set = try_detectors(context, settings, 1);
  if (!set.ok()) {
    result.add_fault(set.error().detail);
    return result;
  }
  result.detectors = (*set)->list();
  return result;
}

int check(Context& context, bool json) {
  const CheckResult result = examine(context);
  context.warn(result.warnings);
  if (!result.faults.empty()) context.err << result.faults << "\n";
  if (json) {
    context.out << as_json(result) << "\n";
  } else if (result.faults.empty()) {
    context.out << (result.source.empty() ? "No configuration file found: the built-in defaults are in effect" : result.source + " is fine")
                << "\n\n";
    print_detectors(context.out, result.detectors);
  }
  const int written = context.finish();
  return result.faults.empty() ? written : kWanting;
}

}  // namespace

void add_check(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("check", "Read the configuration, look at the store's folder or database and load every detector, as serve would");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print one JSON object: ok, config, errors, warnings, detectors");
  command->footer(
      "Reports every error with file, line and column, and exits with 1 if there is one. Does not affect a running service. A database\n"
      "that serve could not use now is an error: unreachable, read-only, with another schema or encoding, or a role without the rights.\n\n"
      "Example:\n  runwarden check --config /etc/runwarden/runwarden.yaml");
  command->callback([&context, json] { context.exit_code = check(context, *json); });
}

}  // namespace runwarden::cli
