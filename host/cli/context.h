// What every command has at hand: the common options and where its words go. Lives as long as the command line; [main] only.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <string_view>

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

  // The settings, warnings told; or nothing, the faults told.
  std::optional<config::Settings> settings();
  // Tells why and answers kWanting.
  int refuse(std::string_view why);
  // kFine if everything given to `out` was taken, else told and kWanting.
  int finish();
};

// At most one subcommand, and none is wrong usage: told after arguments that are not known, so that a misspelt one is named.
void need_subcommand(CLI::App& app);

// Each adds its command with its options, its help and its example, and sets context.exit_code when it was run.
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
