#include <CLI/CLI.hpp>
#include <memory>

#include "base/json_text.h"
#include "cli/line_counts.h"
#include "cli/maintenance_command.h"
#include "cli/output_file.h"

namespace runwarden::cli {
namespace {

struct ExportOptions {
  std::string tenant;
  std::string since;
  std::string output;
  bool json = false;
};

// Prints what was left out and returns 1: the export is valid but incomplete.
int finish_export(Context& context, const store::Exported& exported) {
  for (const store::StoreFault& row : exported.first_ones) context.err << "left out: " << row.detail << "\n";
  const int finished = context.finish();
  if (exported.unreadable == 0) return finished;
  const std::string stretches =
      exported.stretches == 0 ? "" : " (stretches of an unknown number of records: " + std::to_string(exported.stretches) + ")";
  return context.refuse(
      "records skipped because they could not be read: " + std::to_string(exported.unreadable) + stretches +
      ". The last line of the export names them; everything else is in it. Run `runwarden verify`, and restore them from a backup");
}

int export_to_file(Context& context, MaintenanceCommand& command, const store::ExportQuery& query, const ExportOptions& options) {
  OutputFile file(options.output);
  if (!file.fault().empty()) return context.refuse(file.fault());
  const auto exported = store::export_tenant(command.maintenance(), query, [&](std::string_view lines) { return file.write(lines); });
  command.clear_progress();
  if (!file.fault().empty()) return context.refuse(file.fault());
  if (!exported.ok()) return command.refuse(exported.error());
  if (!file.finish()) return context.refuse(file.fault());
  print_counts(context.out, "exported", exported->lines, options.json);
  return finish_export(context, *exported);
}

int export_to_output(Context& context, MaintenanceCommand& command, const store::ExportQuery& query, const ExportOptions& options) {
  const auto exported = store::export_tenant(command.maintenance(), query, [&](std::string_view lines) {
    context.out.write(lines.data(), static_cast<std::streamsize>(lines.size()));
    return context.out.good();
  });
  if (context.finish() != kFine) return kWanting;
  if (!exported.ok()) return command.refuse(exported.error());
  command.clear_progress();
  print_counts(context.err, "exported", exported->lines, options.json);
  return finish_export(context, *exported);
}

int run_export(Context& context, const ExportOptions& options) {
  MaintenanceCommand command(context);
  if (!command.find_store(IfNoStore::refuse)) return kWanting;
  store::ExportQuery query;
  query.tenant = options.tenant;
  if (!options.since.empty()) query.since_ms = *point_in_time(options.since, command.clock().wall_ms());
  return options.output.empty() ? export_to_output(context, command, query, options) : export_to_file(context, command, query, options);
}

}  // namespace

void add_export(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("export", "Write every record of a tenant as lines of JSON");
  auto options = std::make_shared<ExportOptions>();
  command->add_option("--tenant", options->tenant, "Whose records")->required()->type_name("TENANT");
  command->add_option("--since", options->since, "Only records since then: a time, or an age such as 30d")
      ->type_name("TIME")
      ->check(check_point_in_time);
  command->add_option("--output", options->output, "Write to this file, which appears only once it is complete; default standard output")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Print the final counts as a JSON object");
  command->footer(
      "Can run while the service is running. The counts go to standard output with --output, else to standard error. Use\n"
      "`runwarden keys export` for keys; records of detector crashes are not exported. Unreadable records are skipped and named in\n"
      "the last line, and the exit code is 1.\n\n"
      "Example:\n  runwarden export --tenant acme --since 30d --output acme.ndjson");
  command->callback([&context, options] { context.exit_code = run_export(context, *options); });
}

}  // namespace runwarden::cli
