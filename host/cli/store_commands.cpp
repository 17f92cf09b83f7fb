// store accept-clock.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/json_text.h"
#include "base/time_text.h"
#include "cli/maintenance_command.h"

namespace runwarden::cli {
namespace {

std::optional<std::int64_t> last_use_ms(const ClockGuard::LastUse& last_use) {
  if (!last_use.noted_ms) return last_use.newest_ms;
  return std::max(*last_use.noted_ms, last_use.newest_ms.value_or(*last_use.noted_ms));
}

std::string since_text(std::int64_t now_ms, std::int64_t last_ms) {
  return about_duration(std::abs(now_ms - last_ms)) + (now_ms < last_ms ? " later" : " ago");
}

int accept_clock(Context& context, bool json) {
  MaintenanceCommand command(context);
  if (!command.find_folder("nothing: its hosts go by the database's clock") || !command.find_store(IfNoStore::refuse)) return kWanting;
  const auto accepted = store::accept_clock(command.maintenance());
  if (!accepted.ok()) return command.refuse(accepted.error());
  const auto last_ms = last_use_ms(accepted->last_use);
  if (json) {
    std::string text;
    JsonWriter out(text);
    out.begin_object().key("machineTime").string(format_time(accepted->now_ms)).key("lastUse");
    last_ms ? out.string(format_time(*last_ms)) : out.null();
    out.end_object();
    context.out << text << "\n";
  } else {
    context.out << format_time(accepted->now_ms) << " is accepted as the time";
    if (last_ms)
      context.out << "; the store was last in use at " << format_time(*last_ms) << ", " << since_text(accepted->now_ms, *last_ms);
    context.out << "\n";
  }
  return context.finish();
}

void add_accept_clock(CLI::App& store, Context& context) {
  CLI::App* command = store.add_subcommand("accept-clock", "Confirm that the machine's clock is right, so that deletion goes on");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "A JSON object: machineTime, and lastUse before it");
  command->footer(
      "Where the log says clock_jumped, look at the clock first (timedatectl). If it is wrong, set it right: then there is nothing to\n"
      "accept. If it is right, because the service was stopped for long, a backup was restored, or the time before was wrong, accept\n"
      "it: records, answers to Idempotency-Keys and keys end by it from then on, and what is past its retention is deleted.\n"
      "Runs beside a serving process, which takes it up within a second, or before one is started.\n\n"
      "Example:\n  runwarden store accept-clock");
  command->callback([&context, json] { context.exit_code = accept_clock(context, *json); });
}

}  // namespace

void add_store(CLI::App& app, Context& context) {
  CLI::App* store = app.add_subcommand("store", "What an operator tells the store");
  need_subcommand(*store);
  store->footer("Example:\n  runwarden store accept-clock");
  add_accept_clock(*store, context);
}

}  // namespace runwarden::cli
