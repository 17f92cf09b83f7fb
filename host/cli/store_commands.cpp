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
  if (!command.find_store(IfNoStore::refuse)) return kWanting;
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
  CLI::App* command = store.add_subcommand("accept-clock", "Confirm that the clock is right, so that deletion resumes");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print a JSON object: machineTime, and the previous lastUse");
  command->footer(
      "If the log reports clock_jumped, check the clock first (timedatectl). If it is wrong, correct it; there is nothing to accept. If\n"
      "it is right because the service was stopped for a long time, a backup was restored, or the earlier time was wrong, accept it:\n"
      "records, answers to Idempotency-Keys and keys then expire by it, and records past their retention are deleted.\n"
      "Can run while the service is running, which applies it within a second, or before it starts. Hosts that share a database follow\n"
      "its clock, which is then the one to check and accept.\n\n"
      "Example:\n  runwarden store accept-clock");
  command->callback([&context, json] { context.exit_code = accept_clock(context, *json); });
}

}  // namespace

void add_store(CLI::App& app, Context& context) {
  CLI::App* store = app.add_subcommand("store", "Operator commands for the store");
  need_subcommand(*store);
  store->footer("Example:\n  runwarden store accept-clock");
  add_accept_clock(*store, context);
}

}  // namespace runwarden::cli
