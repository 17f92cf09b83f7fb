// migrate.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/time_text.h"
#include "cli/context.h"
#include "cli/table.h"
#include "part_settings/part_settings.h"
#include "store/engines/engine_module.h"

namespace runwarden::cli {
namespace {

struct MigrateOptions {
  bool status = false;
  bool json = false;
};

void print_json(Context& context, const store::SchemaStatus& schema) {
  std::string text;
  JsonWriter out(text);
  out.begin_object()
      .key("version")
      .integer(schema.version)
      .key("wanted")
      .integer(schema.wanted)
      .key("required")
      .integer(schema.required)
      .key("done")
      .begin_array();
  for (const store::SchemaStepStatus& step : schema.steps) {
    if (step.just_now) out.string(step.name);
  }
  out.end_array().key("steps").begin_array();
  for (const store::SchemaStepStatus& step : schema.steps) {
    out.begin_object().key("version").integer(step.version).key("name").string(step.name).key("appliedAt");
    step.done ? out.string(format_time(step.applied_ms)) : out.null();
    out.key("appliedBy");
    step.done ? out.string(step.applied_by) : out.null();
    out.key("changed").boolean(step.changed).end_object();
  }
  out.end_array().end_object();
  context.out << text << "\n";
}

void print_text(Context& context, const store::SchemaStatus& schema, bool status) {
  for (const store::SchemaStepStatus& step : schema.steps) {
    if (step.just_now) context.out << "done: " << step.name << "\n";
  }
  if (status) {
    Table table({"STEP", "NAME", "DONE", "BY"});
    for (const store::SchemaStepStatus& step : schema.steps) {
      table.add({std::to_string(step.version), step.name, step.done ? format_time(step.applied_ms) : "", step.applied_by});
    }
    table.print(context.out);
  }
  for (const store::SchemaStepStatus& step : schema.steps) {
    if (step.changed)
      context.err << "step " << step.version << " (" << step.name
                  << ") was applied by another build, with a different text than this one's\n";
  }
  context.out << "schema " << schema.version << " of " << schema.wanted
              << (schema.version < schema.wanted    ? "; run `runwarden migrate`"
                  : schema.required > schema.wanted ? "; it requires a newer runwarden than this one: upgrade this host"
                  : schema.version > schema.wanted  ? "; a newer runwarden created it, which this one can use"
                                                    : "")
              << "\n";
}

// Whether this program can use the schema as it is.
bool fits(const store::SchemaStatus& schema) {
  const bool changed =
      std::any_of(schema.steps.begin(), schema.steps.end(), [](const store::SchemaStepStatus& step) { return step.changed; });
  return schema.version >= schema.wanted && schema.required <= schema.wanted && !changed;
}

int migrate(Context& context, const MigrateOptions& options) {
  const auto settings = context.settings();
  if (!settings) return kWanting;
  const auto place = part_settings::postgres_target(*settings);
  if (!place)
    return context.refuse("store.driver is " + settings->store.driver +
                          ": migrate applies only to a database; serve upgrades a store in a folder automatically");
  const auto engine = store::postgres_engine();
  if (!engine.ok()) return context.refuse(engine.error().detail);
  const SystemClock clock;
  const auto schema = (*engine)->migrate(*place, clock, !options.status);
  if (!schema.ok()) return context.refuse(schema.error().detail);
  options.json ? print_json(context, *schema) : print_text(context, *schema, options.status);
  const int finished = context.finish();
  return fits(*schema) ? finished : kWanting;
}

}  // namespace

void add_migrate(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("migrate", "Create or upgrade the schema of the database that hosts share");
  auto options = std::make_shared<MigrateOptions>();
  command->add_flag("--status", options->status, "Only show the schema's version; exits with 1 if this program cannot use it as it is");
  command->add_flag("--json", options->json, "Print a JSON object: version, wanted, required, done, steps");
  command->footer(
      "Each step is one transaction and is applied exactly once, even if migrate runs again or twice at once. Hosts may keep running: a\n"
      "step only adds to the schema; what they no longer use is removed one release later. An empty database needs no migrate: serve and\n"
      "keys create create its schema.\n\n"
      "Example:\n  runwarden migrate --status");
  command->callback([&context, options] { context.exit_code = migrate(context, *options); });
}

}  // namespace runwarden::cli
