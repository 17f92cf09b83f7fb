#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "app/service.h"
#include "base/user_name.h"
#include "cli/context.h"
#include "config/loading.h"

namespace runwarden::cli {
namespace {

// What a detector prints goes beside the log, and without this only when a buffer is full or the service ends.
void show_printed_lines_at_once() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::cout << std::unitbuf;
}

// Why this user must not serve the folder's store; empty: nothing forbids it. Files that root makes there would lock its owner out.
std::string foreign_store(const std::filesystem::path& folder) {
  struct stat found {};
  if (::geteuid() != 0 || ::stat(folder.c_str(), &found) != 0 || found.st_uid == 0) return {};
  const std::string owner = user_name(found.st_uid);
  return "store.path: \"" + folder.string() + "\" belongs to user " + owner +
         ", who could not open what root would create in it; run this as " + owner + ": sudo -u " + owner + " runwarden serve ...\n";
}

int serve(Context& context, bool new_store) {
  app::hold_signals();
  show_printed_lines_at_once();
  auto options = config::process_options(context.config, context.data_dir);
  // For the next reloads: a detector may change the process's folder.
  options.path = std::filesystem::absolute(options.path);
  if (!options.data_dir.empty()) options.data_dir = std::filesystem::absolute(options.data_dir);
  auto settings = config::load(options);
  if (!settings.ok()) {
    context.err << settings.error().detail << "\n";
    return kWanting;
  }
  if (settings->source.empty()) {
    settings->warnings.push_back("no configuration file at " + options.path.string() +
                                 ": using the built-in defaults, among them server.address " + settings->server.address +
                                 " and store.path " + settings->store.path +
                                 "; `runwarden check` shows the detectors, and --config names a file");
  }
  if (const std::string foreign = foreign_store(settings->store.path); !foreign.empty()) {
    context.err << "runwarden: " << foreign;
    return kWanting;
  }
  settings->store.create_new = new_store;
  return app::run_service(*settings, [options] { return config::load(options); });
}

}  // namespace

void add_serve(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("serve", "Run the service");
  command->footer(
      "SIGTERM stops it after it has answered and committed everything in flight. SIGHUP applies changed detectors, redaction"
      " rules, request limits and second-opinion settings.\n\n"
      "Example:\n  runwarden serve --config /etc/runwarden/runwarden.yaml --data-dir /srv/runwarden");
  auto new_store = std::make_shared<bool>(false);
  command->add_flag(
      "--new-store", *new_store,
      "Start with an empty store if the file of the folder's store is missing, truncated or damaged; what is left of the file "
      "is set aside. A store that can be opened is used unchanged");
  command->callback([&context, new_store] { context.exit_code = serve(context, *new_store); });
}

}  // namespace runwarden::cli
