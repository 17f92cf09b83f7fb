#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "base/json_text.h"
#include "base/one_line.h"
#include "cli/command_process.h"
#include "cli/conformance.h"
#include "cli/context.h"
#include "cli/detector_test.h"
#include "cli/loaded_detectors.h"
#include "config/core_types.h"
#include "config/loading.h"
#include "conformance/kit.h"
#include "detect/inspect.h"

namespace runwarden::cli {
namespace {

// Takes a duration, "2s", where seconds are wanted.
CLI::Validator seconds() {
  return CLI::Validator(
      [](std::string& text) {
        if (const auto ms = config::duration_ms(text); ms && *ms % 1000 == 0) text = std::to_string(*ms / 1000);
        return std::string();
      },
      "");
}

int list(Context& context, const std::string& tenant, bool json) {
  const auto settings = context.settings();
  if (!settings) return kWanting;
  const auto set = load_detectors(context, *settings, 1);
  if (!set) return kWanting;
  const auto detectors = set->list(tenant);
  if (json) {
    context.out << detectors_as_json(detectors) << "\n";
  } else {
    print_detectors(context.out, detectors);
  }
  return context.finish();
}

std::string joined(const std::vector<std::string>& texts) {
  std::string text;
  for (const std::string& one : texts) text += (text.empty() ? "" : ", ") + one;
  return text.empty() ? "none" : text;
}

std::string version_text(std::uint32_t major, std::uint32_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

void print_inspection(std::ostream& out, const detect::Inspection& found) {
  out << found.file.string() << "\n  size      " << found.size_bytes << " bytes\n  sha256    " << found.sha256 << "\n";
  if (found.has_entry) {
    out << "  ABI       built with " << version_text(found.abi_major, found.abi_minor) << ", needs a host of "
        << version_text(found.abi_major, found.min_host_minor) << "; this host has " << detect::host_abi() << "\n";
  }
  for (const auto& detector : found.detectors) {
    out << "  detector  " << one_line(detector.key) << " " << one_line(detector.version) << ": " << one_line(detector.title) << "\n";
    out << "            run schema 1." << detector.min_schema_minor << ", requires " << joined(detector.required_caps) << ", offers "
        << joined(detector.optional_caps) << ", settings " << (detector.schema_json.empty() ? "unchecked" : "checked by its schema")
        << "\n";
  }
  for (const std::string& note : found.notes) out << "  note      " << note << "\n";
  out << "  verdict   " << (found.loadable ? "this host can load it" : found.refusal) << "\n";
}

std::string inspection_json(const detect::Inspection& found) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("file").string(found.file.string()).key("sizeBytes").integer(static_cast<std::int64_t>(found.size_bytes));
  out.key("sha256").string(found.sha256).key("hostAbi").string(detect::host_abi());
  if (found.has_entry) {
    out.key("abi").string(version_text(found.abi_major, found.abi_minor));
    out.key("minHostAbi").string(version_text(found.abi_major, found.min_host_minor));
  }
  out.key("detectors").begin_array();
  for (const auto& detector : found.detectors) {
    out.begin_object().key("key").string(detector.key).key("version").string(detector.version).key("title").string(detector.title);
    out.key("minSchemaMinor").integer(detector.min_schema_minor);
    out.key("requiredCaps").strings(detector.required_caps);
    out.key("optionalCaps").strings(detector.optional_caps);
    detector.schema_json.empty() ? out.key("schema").null() : out.key("schema").raw(detector.schema_json);
    out.end_object();
  }
  out.end_array().key("loadable").boolean(found.loadable);
  if (!found.refusal.empty()) out.key("refusal").string(found.refusal);
  out.key("notes").strings(found.notes);
  out.end_object();
  return text;
}

// The search path for libraries: of the configuration given by --config, or else the built-in one.
std::optional<std::vector<std::string>> search_path(Context& context) {
  config::LoadOptions built_in;
  built_in.binary_dir = config::process_options({}, {}).binary_dir;
  if (context.config.empty()) return config::load(built_in)->detectors.search_path;
  const auto settings = context.settings();
  if (!settings) return std::nullopt;
  return settings->detectors.search_path;
}

int inspect(Context& context, const std::vector<std::string>& files, bool json) {
  const auto folders = search_path(context);
  if (!folders) return kWanting;
  int worst = kFine;
  if (const Status in_child = go_on_in_child(context.err); !in_child.ok()) return context.refuse(in_child.error().detail);
  for (const std::string& file : files) {
    context.out.flush();  // loading a library may end the process
    const auto found = detect::inspect(std::filesystem::absolute(file), *folders);
    if (json) {
      context.out << inspection_json(found) << "\n";
    } else {
      print_inspection(context.out, found);
    }
    if (found.loadable) continue;
    worst = kWanting;
    context.err << found.refusal << "\n";
  }
  const int written = context.finish();
  return worst == kFine ? written : worst;
}

void add_list(CLI::App& detectors, Context& context) {
  CLI::App* command = detectors.add_subcommand("list", "Load the configured detectors and list them");
  auto tenant = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command->add_option("--tenant", *tenant, "With this tenant's settings")->type_name("TENANT");
  command->add_flag("--json", *json, "Print a JSON array of objects, including settings");
  command->footer("Example:\n  runwarden detectors list --json");
  command->callback([&context, tenant, json] { context.exit_code = list(context, *tenant, *json); });
}

void add_inspect(CLI::App& detectors, Context& context) {
  CLI::App* command = detectors.add_subcommand("inspect", "Describe a detector file, and check whether this host can load it");
  auto files = std::make_shared<std::vector<std::string>>();
  auto json = std::make_shared<bool>(false);
  command->add_option("files", *files, "Shared libraries")->required()->type_name("FILE.so");
  command->add_flag("--json", *json, "Print one JSON object per file, one per line");
  command->footer(
      "Needs no configuration. Exits with 1 if a file would be rejected; its location only yields a note. Loads the file's code.\n\n"
      "Example:\n  runwarden detectors inspect build/pii_leak.so");
  command->callback([&context, files, json] { context.exit_code = inspect(context, *files, *json); });
}

void add_test(CLI::App& detectors, Context& context) {
  CLI::App* command = detectors.add_subcommand("test", "Run the detectors of one file on run files and show everything they report");
  auto options = std::make_shared<DetectorTest>();
  command->add_option("library", options->library, "A shared library")->required()->type_name("FILE.so");
  command->add_option("runs", options->files, "Files with one run each, or exports; -: standard input")->type_name("RUN.json");
  command->add_option("--settings", options->settings, "Settings of the detector: JSON text, or a YAML or JSON file")
      ->type_name("JSON|FILE");
  command->add_option("--key", options->key, "The detector to test; default all detectors in the file")->type_name("KEY");
  command->add_option("--tenant", options->tenant, "The tenant of the runs that --run names; detectors see it as the run's tenant")
      ->type_name("TENANT");
  command->add_option("--run", options->run_ids, "A run of the tenant in the configured store. May be repeated")
      ->type_name("ID")
      ->allow_extra_args(false)
      ->needs("--tenant");
  command->add_flag("--ndjson", options->ndjson, "Each line of the files is a run");
  command->add_flag("--explain", options->explain, "Show what each detector understood of the run, and the result of each of its rules");
  command->add_option("--timeout", options->timeout_s, "Seconds, or a duration such as 2m, after which a run counts as hung")
      ->transform(seconds())
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  command->add_flag("--in-process", options->in_process, "For debuggers: no child process, no deadline, and a crash ends this process");
  command->add_flag("--json", options->json,
                    "Print one JSON object per run, one per line: file, failures, detectors, explanation, log, elapsedMicros; or crash");
  command->footer(
      "The detector runs in a child process: a crash is reported in place of the run's result, and the next run gets a new process. Shows\n"
      "what the detector logs. Exits with 1 if the file is rejected, a run cannot be read, or a detector crashes, fails or times out.\n"
      "Stored runs are read in their redacted form, and nothing is written; the service may be running. Only --settings sets settings.\n"
      "Where the file lies, and who may change it, does not matter here; `detectors inspect` says what a service would say to that.\n"
      "An explanation quotes the run; redact.rules are not applied to it.\n\n"
      "Example:\n  runwarden detectors test build/pii_leak.so --settings settings.json run.json\n"
      "  runwarden detectors test build/pii_leak.so --tenant acme --run run_1\n"
      "  gdb --args runwarden detectors test --in-process build/pii_leak.so run.json");
  command->callback([&context, options] {
    if (options->files.empty() && options->run_ids.empty()) throw CLI::RequiredError("A file with a run, or --tenant and --run,");
    context.exit_code = test_detectors(context, *options);
  });
}

void add_conformance(CLI::App& detectors, Context& context) {
  CLI::App* command = detectors.add_subcommand("conformance", "Check a detector file against everything a host may do with it");
  auto options = std::make_shared<Conformance>();
  command->add_option("library", options->library, "A shared library")->required()->type_name("FILE.so");
  command->add_option("--key", options->key, "The detector to check; default all detectors in the file")->type_name("KEY");
  command->add_option("--settings", options->settings, "Settings of the detector: JSON text, or a YAML or JSON file")
      ->type_name("JSON|FILE");
  command->add_option("--case", options->cases, "A case to run; default all. May be repeated")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(conformance::case_names()))
      ->type_name("CASE");
  command->add_option("--timeout", options->timeout_s, "Seconds, or a duration such as 2m, after which a case counts as hung")
      ->transform(seconds())
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print one JSON object: file, conformant, cases");
  command->footer(
      "For a detector's own CI. Each case runs in its own process, so that a crash fails only that case. Exits with 1 if a case fails.\n"
      "Leaks are checked only if this program was built with AddressSanitizer.\n\n"
      "Example:\n  runwarden detectors conformance build/pii_leak.so");
  command->callback([&context, options] { context.exit_code = check_conformance(context, *options); });
}

}  // namespace

void add_detectors(CLI::App& app, Context& context) {
  CLI::App* detectors = app.add_subcommand("detectors", "Show, inspect and try detectors");
  need_subcommand(*detectors);
  detectors->footer("Example:\n  runwarden detectors list");
  add_list(*detectors, context);
  add_inspect(*detectors, context);
  add_test(*detectors, context);
  add_conformance(*detectors, context);
}

}  // namespace runwarden::cli
