// bundle: writes a stored run to a file, with everything needed to judge it again.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command_store.h"
#include "cli/loaded_detectors.h"
#include "cli/output_file.h"
#include "ingest/bundle.h"
#include "ingest/ledger_json.h"

namespace runwarden::cli {
namespace {

struct BundleOptions {
  std::string run;
  std::string tenant;
  std::uint32_t revision = 0;  // 0: the current one
  std::string output;
};

Result<std::string> bundle_of(const TenantStore& opened, const BundleOptions& options, detect::DetectorSet& detectors, const Clock& clock) {
  try {
    store::RunStore& store = *opened.store;
    const auto current = store.find_run(opened.tenant, options.run);
    const bool previous = options.revision != 0 && current && options.revision != current->revision;
    auto run = previous ? store.find_revision(opened.tenant, options.run, options.revision) : current;
    const std::string what = previous ? "revision " + std::to_string(options.revision) + " of the run" : "run";
    if (!run) return Error{Code::not_found, "the tenant \"" + options.tenant + "\" has no " + what + " \"" + options.run + "\"", {}, {}};
    std::string proof = ingest::bundled_proof(opened.store->ledger(), opened.tenant, *run);
    return ingest::bundle_json(
        store, opened.store->reviews(),
        {opened.tenant, options.tenant, std::move(*run), detectors.list(options.tenant), clock.wall_ms(), std::move(proof)});
  } catch (const store::StoreError& fault) {
    return Error{Code::internal, fault.what(), {}, {}};
  }
}

int bundle(Context& context, const BundleOptions& options) {
  CommandClock clock;
  const auto settings = context.settings();
  if (!settings) return kWanting;
  const auto detectors = load_detectors(context, *settings, 1);
  if (!detectors) return kWanting;
  const auto opened = open_tenant_store(context, *settings, clock, options.tenant);
  if (!opened) return kWanting;
  const auto text = bundle_of(*opened, options, *detectors, clock);
  if (!text.ok()) return context.refuse(text.error().detail);
  ResultOutput output(context, options.output);
  if (!output.open()) return kWanting;
  output.write(*text + "\n");
  return output.finish();
}

}  // namespace

void add_bundle(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("bundle", "Write a stored run with everything needed to judge it again");
  auto options = std::make_shared<BundleOptions>();
  command->add_option("run", options->run, "The runId")->required()->type_name("RUN");
  command->add_option("--tenant", options->tenant, "Whose run")->required()->type_name("TENANT");
  command->add_option("--revision", options->revision, "An earlier revision; default the current one")
      ->type_name("N")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{0xFFFFFFFF}));
  command->add_option("--output", options->output, "Write to this file, which appears only once it is complete; default standard output")
      ->type_name("FILE");
  command->footer(
      "Writes one JSON object: the run as stored, its failures, the detectors with their settings, the policy revisions in force and\n"
      "the 20 changes before it. `runwarden replay` can judge it again on any machine. Can run while the service is running.\n\n"
      "Example:\n  runwarden bundle --tenant acme order-8842 --output order-8842.json");
  command->callback([&context, options] { context.exit_code = bundle(context, *options); });
}

}  // namespace runwarden::cli
