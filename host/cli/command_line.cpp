#include <CLI/CLI.hpp>
#include <cstdlib>
#include <exception>
#include <optional>

#include "base/nearest_names.h"
#include "cli/context.h"
#include "detect/crash_note.h"

namespace runwarden::cli {
namespace {

void add_common(CLI::App& app, Context& context) {
  app.set_version_flag("--version", std::string("runwarden ") + RUNWARDEN_VERSION);
  app.add_option("--config", context.config, "Configuration file; default $RUNWARDEN_CONFIG, else /etc/runwarden/runwarden.yaml")
      ->type_name("FILE");
  app.add_option("--data-dir", context.data_dir, "Folder of the store; overrides store.path")->type_name("DIR");
  need_subcommand(app);
  app.fallthrough();
  app.footer(
      "An environment variable can set any single configuration value: RUNWARDEN_LIMITS__BURST=20.\n"
      "Exit status: 0 success, 1 failure or problem found, 2 usage error.\n\n"
      "Example:\n  runwarden serve --config /etc/runwarden/runwarden.yaml");
}

// An empty value, as of a variable that the caller's script did not set, would mean the default.
void refuse_empty_values(CLI::App& app) {
  const auto expect_text = [](const std::string& value) { return std::string(value.empty() ? "expected a value, got \"\"" : ""); };
  for (CLI::Option* const option : app.get_options()) option->check(expect_text);
  for (CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; })) refuse_empty_values(*command);
}

// The error for arguments that no command takes, in their order: CLI11's own has them from the last to the first.
std::string unexpected_arguments(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining(true);
  std::string text = extras.size() == 1 ? "The following argument was not expected:" : "The following arguments were not expected:";
  for (const std::string& one : extras) text += " " + one;
  const CLI::App* last = &app;  // of the commands that were recognized
  while (!last->get_subcommands().empty()) last = last->get_subcommands().front();
  std::vector<std::string> names;
  for (const CLI::App* command : last->get_subcommands([](const CLI::App*) { return true; })) names.push_back(command->get_name());
  const std::string likely = likely_name(extras.front(), names);
  return text + (likely.empty() ? "" : "; the nearest command is " + likely) + "\nRun with --help for more information.\n";
}

void add_commands(CLI::App& app, Context& context) {
  add_serve(app, context);
  add_check(app, context);
  add_keys(app, context);
  add_clusters(app, context);
  add_guardrail(app, context);
  add_webhooks(app, context);
  add_second_opinion(app, context);
  add_ledger(app, context);
  add_detectors(app, context);
  add_analyze(app, context);
  add_bundle(app, context);
  add_replay(app, context);
  add_score(app, context);
  add_corpus(app, context);
  add_export(app, context);
  add_import(app, context);
  add_backup(app, context);
  add_verify(app, context);
  add_compact(app, context);
  add_purge(app, context);
  add_migrate(app, context);
  add_store(app, context);
}

// Runs the command that the arguments name. Returns the exit status if no command ran.
std::optional<int> parse(CLI::App& app, int argc, const char* const* argv, Context& context) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& end) {
    // CLI11 looks at --help, --version, and what is missing or wrong before it looks at what it does not know.
    if (app.remaining_size(true) > 0) {
      context.err << unexpected_arguments(app);
      return kUsage;
    }
    app.exit(end, context.out, context.err);
    return end.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success) ? context.finish() : kUsage;
  }
}

// Returns the exit status.
int run_command(int argc, const char* const* argv, Context& context) {
  try {
    CLI::App app("Collects records of AI-agent runs and reports runs that only look successful.", "runwarden");
    add_common(app, context);
    add_commands(app, context);
    refuse_empty_values(app);
    const auto exit_code = parse(app, argc, argv, context);
    return exit_code ? *exit_code : context.exit_code;
  } catch (const std::exception& fault) {
    return context.refuse(text_of(fault));
  }
}

}  // namespace

void need_subcommand(CLI::App& app) {
  app.require_subcommand(0, 1);
  app.callback([&app] {
    if (app.get_subcommands().empty()) throw CLI::RequiredError("A subcommand");
  });
}

int run(int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
  Context context{out, err, {}, {}, kFine};
  const int exit_code = run_command(argc, argv, context);
  out.flush();
  err.flush();
  detect::CrashMessage::finished(exit_code);
  if (context.has_abandoned_calls) std::_Exit(exit_code);
  return exit_code;
}

}  // namespace runwarden::cli
