// What every command shares: the common options and the output streams. Lives as long as the command line; [main] only.
#pragma once

#include <exception>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli.h"
#include "config/settings.h"

namespace CLI {
class App;
}

namespace runwarden::cli {

struct Context {
  std::ostream& out;
  std::ostream& err;
  std::string config;    // --config; empty: not given
  std::string data_dir;  // --data-dir; empty: not given
  int exit_code = kFine;
  bool has_abandoned_calls = false;  // a detector call still runs: the process must end without destroying what it uses

  // Loads the settings and reports warnings that concern every command. Nothing on failure, after reporting the faults.
  std::optional<config::Settings> settings();
  void warn(const std::vector<std::string>& warnings);
  // Reports the reason and returns kWanting.
  int refuse(std::string_view why);
  // Flushes `out`. Returns kFine if everything was written, or else reports it and returns kWanting.
  int finish();
};

// The text of an exception that ends a command, with the remedy where memory or threads have run out.
std::string text_of(const std::exception& fault);

// Requires exactly one subcommand. Unknown arguments are reported first, so that the error names a misspelled subcommand.
void need_subcommand(CLI::App& app);

// Each adds a command with its options, help and example. The command sets context.exit_code when it runs.
void add_serve(CLI::App& app, Context& context);
void add_check(CLI::App& app, Context& context);
void add_keys(CLI::App& app, Context& context);
void add_clusters(CLI::App& app, Context& context);
void add_guardrail(CLI::App& app, Context& context);
void add_webhooks(CLI::App& app, Context& context);
void add_second_opinion(CLI::App& app, Context& context);
void add_ledger(CLI::App& app, Context& context);
void add_detectors(CLI::App& app, Context& context);
void add_analyze(CLI::App& app, Context& context);
void add_bundle(CLI::App& app, Context& context);
void add_replay(CLI::App& app, Context& context);
void add_score(CLI::App& app, Context& context);
void add_corpus(CLI::App& app, Context& context);
void add_export(CLI::App& app, Context& context);
void add_import(CLI::App& app, Context& context);
void add_backup(CLI::App& app, Context& context);
void add_verify(CLI::App& app, Context& context);
void add_compact(CLI::App& app, Context& context);
void add_purge(CLI::App& app, Context& context);
void add_migrate(CLI::App& app, Context& context);
void add_store(CLI::App& app, Context& context);

}  // namespace runwarden::cli
