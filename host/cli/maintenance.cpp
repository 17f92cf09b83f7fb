// backup, verify, compact and purge.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>

#include "base/ascii.h"
#include "base/json_text.h"
#include "base/time_text.h"
#include "cli/maintenance_command.h"
#include "cli/table.h"

namespace runwarden::cli {
namespace {

std::int64_t number(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

int backup(Context& context, const std::string& folder, bool json) {
  MaintenanceCommand command(context);
  if (!command.find_folder("pg_basebackup, or `pg_dump -n runwarden`") || !command.find_store(IfNoStore::refuse)) return kWanting;
  const auto copied = store::back_up(command.maintenance(), folder);
  if (!copied.ok()) return command.refuse(copied.error());
  command.clear_progress();
  if (json) {
    std::string text;
    JsonWriter out(text);
    out.begin_object().key("folder").string(folder).key("bytes").integer(number(copied->bytes));
    out.key("entries").integer(number(copied->records)).end_object();
    context.out << text << "\n";
  } else {
    context.out << folder << ": " << size_text(copied->bytes) << ", " << copied->records << " entries, all verified\n";
  }
  return context.finish();
}

int compact(Context& context, bool json) {
  MaintenanceCommand command(context);
  if (!command.find_folder("VACUUM, or pg_repack") || !command.find_stopped_store(IfNoStore::refuse)) return kWanting;
  const auto compacted = store::compact(command.maintenance());
  if (!compacted.ok()) return command.refuse(compacted.error());
  command.clear_progress();
  if (json) {
    std::string text;
    JsonWriter out(text);
    out.begin_object().key("bytesBefore").integer(number(compacted->bytes_before));
    out.key("bytesAfter").integer(number(compacted->bytes_after)).end_object();
    context.out << text << "\n";
  } else {
    context.out << "before " << size_text(compacted->bytes_before) << ", after " << size_text(compacted->bytes_after) << "\n";
  }
  return context.finish();
}

// The progress of a verification in a child process, in memory shared with the parent.
struct Followed {
  char table[32];
};

void print_verified(Context& context, const store::Verified& verified, bool json) {
  if (!json) {
    Table table({"TABLE", "ENTRIES"});
    for (const auto& [name, entries] : verified.entries) table.add({name, std::to_string(entries)});
    table.print(context.out);
    for (const store::StoreFault& fault : verified.first_ones) {
      const std::string key = fault.key.empty() ? "" : ", key 0x" + fault.key;
      context.out << "fault: " << fault.table << key << ": " << fault.detail << "; " << fault.remedy << "\n";
    }
    context.out << (verified.faults == 0 ? "no" : std::to_string(verified.faults)) << (verified.faults > 1 ? " faults" : " fault")
                << " found\n";
    return;
  }
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("ok").boolean(verified.faults == 0).key("entries").begin_object();
  for (const auto& [name, entries] : verified.entries) out.key(name).integer(number(entries));
  out.end_object().key("faultCount").integer(number(verified.faults)).key("faults").begin_array();
  for (const store::StoreFault& fault : verified.first_ones) {
    out.begin_object().key("table").string(fault.table).key("key").string(fault.key).key("detail").string(fault.detail);
    out.key("remedy").string(fault.remedy).end_object();
  }
  out.end_array().end_object();
  context.out << text << "\n";
}

int verify_here(Context& context, MaintenanceCommand& command, bool json, Followed& followed) {
  store::MaintenanceContext maintenance = command.maintenance();
  maintenance.on_progress = [&command, &followed](const store::Progress& progress) {
    std::strncpy(followed.table, progress.table, sizeof followed.table - 1);
    command.show(progress);
    return !MaintenanceCommand::interrupted();
  };
  const auto verified = store::verify(maintenance);
  if (!verified.ok()) return command.refuse(verified.error());
  command.clear_progress();
  print_verified(context, *verified, json);
  const int finished = context.finish();
  return verified->faults > 0 ? kWanting : finished;
}

void say_damaged(Context& context, const Followed& followed, bool json) {
  store::Verified verified;
  verified.faults = 1;
  verified.first_ones.push_back({followed.table[0] == '\0' ? "store" : followed.table, "",
                                 "the file's page structure is damaged: reading it crashes the process", "restore a backup"});
  print_verified(context, verified, json);
  context.finish();
}

// Verifies in a child process: the file is mapped into memory, and damaged pages can crash the process that reads them.
int verify(Context& context, bool json) {
  MaintenanceCommand command(context);
  if (!command.find_store(IfNoStore::refuse)) return kWanting;
  void* const shared = ::mmap(nullptr, sizeof(Followed), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return context.refuse(std::string("verify: cannot allocate memory: ") + std::strerror(errno));
  Followed& followed = *static_cast<Followed*>(shared);
  context.out.flush();
  const pid_t child = ::fork();
  if (child < 0) return context.refuse(std::string("verify: cannot start a process: ") + std::strerror(errno));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    for (const int number : {SIGSEGV, SIGBUS, SIGABRT})
      ::signal(number, SIG_DFL);  // the exit status must show the signal, whatever handled it before
    ::_exit(verify_here(context, command, json, followed));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) != child) {
    if (MaintenanceCommand::interrupted()) ::kill(child, SIGTERM);
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  command.clear_progress();
  say_damaged(context, followed, json);
  return kWanting;
}

struct PurgeOptions {
  std::string tenant;
  std::string before;
  bool yes = false;
  bool dry_run = false;
  bool compact = false;
  bool ledger = false;
  bool json = false;
};

using Counts = store::NamedCounts;

struct Receipt {
  std::string tenant;
  std::optional<std::int64_t> before_ms;
  std::int64_t asked_ms = 0;
  bool dry_run = false;
  bool in_database = false;
  Counts counts;
  std::string last_checkpoint;                // of the deleted ledger; empty: it was not deleted
  std::optional<store::Compacted> compacted;  // nothing: the deleted bytes are still in free pages
};

Counts counts_of(const store::Purged& purged) {
  Counts counts = store::named_counts(purged.gone);
  counts.emplace_back("indexEntries", purged.leftovers);
  return counts;
}

std::string what_remains(const Receipt& receipt) {
  if (receipt.in_database) {
    return "The deleted bytes stay in the database's files until overwritten: VACUUM (or pg_repack) makes that happen sooner. "
           "Earlier backups and WAL archives still hold the records.";
  }
  if (!receipt.compacted) {
    return "The deleted bytes stay in free pages of the store's file until those are reused: `runwarden compact`, with the service "
           "stopped, rewrites the file without them. Earlier backups still hold the records.";
  }
  return "Store file rewritten: " + size_text(receipt.compacted->bytes_before) + " to " + size_text(receipt.compacted->bytes_after) +
         ". It holds none of the deleted bytes. Earlier backups still hold the records.";
}

void print_receipt(Context& context, const Receipt& receipt, bool json) {
  if (!json) {
    context.out << (receipt.dry_run ? "dry run, nothing was deleted; a purge at " : "purged at ") << format_time(receipt.asked_ms)
                << ": tenant \"" << receipt.tenant << "\", "
                << (receipt.before_ms ? "records before " + format_time(*receipt.before_ms) : "every record") << "\n";
    Table table({receipt.dry_run ? "WOULD DELETE" : "DELETED", "COUNT"});
    for (const auto& [name, count] : receipt.counts) table.add({name, std::to_string(count)});
    table.print(context.out);
    if (!receipt.dry_run) context.out << what_remains(receipt) << "\n";
    return;
  }
  std::string text;
  JsonWriter out(text);
  out.begin_object().key("tenant").string(receipt.tenant).key("before");
  receipt.before_ms ? out.string(format_time(*receipt.before_ms)) : out.null();
  if (receipt.dry_run) out.key("dryRun").boolean(true);
  out.key(receipt.dry_run ? "countedAt" : "purgedAt").string(format_time(receipt.asked_ms));
  out.key(receipt.dry_run ? "wouldDelete" : "deleted").begin_object();
  for (const auto& [name, count] : receipt.counts) out.key(name).integer(number(count));
  out.end_object();
  if (!receipt.last_checkpoint.empty()) out.key("lastCheckpoint").string(receipt.last_checkpoint);
  if (!receipt.dry_run) out.key("compacted").boolean(receipt.compacted.has_value()).key("remains").string(what_remains(receipt));
  out.end_object();
  context.out << text << "\n";
}

// A purge of all records needs consent, from --yes or from a person at a terminal. A --before that is not in the past spares none.
enum class Consent { given, ask, nobody_to_ask };

Consent consent_to(const PurgeOptions& options, std::int64_t now_ms) {
  if (options.yes || options.dry_run) return Consent::given;
  if (!options.before.empty() && *point_in_time(options.before, now_ms) < now_ms) return Consent::given;
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1 ? Consent::ask : Consent::nobody_to_ask;
}

// Reads a line and returns whether it says yes. The end of input and an interruption count as no.
bool says_yes() {
  std::string line;
  char typed = '\0';
  while (line.size() < 16 && ::read(STDIN_FILENO, &typed, 1) == 1 && typed != '\n') {
    line += ascii::to_lower(typed);
  }
  return !MaintenanceCommand::interrupted() && (line == "y" || line == "yes");
}

// --compact cannot replace a file that a service uses: report that before deleting anything.
bool find_store_to_purge(Context& context, MaintenanceCommand& command, const PurgeOptions& options) {
  if (!options.compact) return command.find_store(IfNoStore::refuse);
  if (!command.find_folder("purge without --compact, then VACUUM or pg_repack")) return false;
  if (command.find_stopped_store(IfNoStore::refuse)) return true;
  context.err
      << "Nothing was deleted. While the service is running, purge without --compact, and run `runwarden compact` once it is stopped.\n";
  return false;
}

int refuse_without_consent(Context& context, const PurgeOptions& options) {
  context.refuse("purge: " + (options.before.empty() ? "without --before" : "as --before " + options.before + " is not in the past") +
                 ", this deletes every record of tenant \"" + options.tenant +
                 "\"; pass --yes to confirm, or count them first with --dry-run");
  return kUsage;
}

Receipt begin_receipt(const MaintenanceCommand& command, const PurgeOptions& options) {
  Receipt receipt;
  receipt.tenant = options.tenant;
  receipt.asked_ms = command.clock().wall_ms();
  if (!options.before.empty()) receipt.before_ms = *point_in_time(options.before, receipt.asked_ms);
  receipt.dry_run = options.dry_run;
  receipt.in_database = command.in_database();
  return receipt;
}

// What is deleted or, in a dry run, would be.
Result<Counts> purge_records(MaintenanceCommand& command, const store::PurgeQuery& query, const PurgeOptions& options) {
  if (options.dry_run) {
    auto counted = store::count_purge(command.maintenance(), query);
    if (!counted.ok()) return std::move(counted.error());
    return store::named_counts(*counted);
  }
  std::uint64_t deleted = 0;
  store::MaintenanceContext maintenance = command.maintenance();
  maintenance.on_progress = [&deleted, show = std::move(maintenance.on_progress)](const store::Progress& progress) {
    if (std::string_view(progress.doing) == "purge") deleted = progress.done;
    return show(progress);
  };
  auto purged = store::purge(maintenance, query);
  if (purged.ok()) return counts_of(*purged);
  Error error = std::move(purged.error());
  if (deleted > 0)
    error.detail +=
        "\nDeleted before that: " + std::to_string(deleted) + (deleted == 1 ? " record" : " records") + "; run it again for the rest.";
  return error;
}

int purge(Context& context, const PurgeOptions& options) {
  MaintenanceCommand command(context);
  const Consent consent = consent_to(options, command.clock().wall_ms());
  if (consent == Consent::nobody_to_ask) return refuse_without_consent(context, options);
  if (!find_store_to_purge(context, command, options)) return kWanting;
  Receipt receipt = begin_receipt(command, options);
  store::PurgeQuery query{options.tenant};
  if (receipt.before_ms) query.before_ms = *receipt.before_ms;
  if (options.ledger) {
    // Printed before the ledger is deleted; on standard error with --json, because standard output gets the JSON receipt.
    query.on_last_checkpoint = [&](const std::string& note) {
      command.clear_progress();
      receipt.last_checkpoint = note;
      (options.json ? context.err : context.out) << note << std::flush;
    };
  }
  if (consent == Consent::ask) {
    context.err << "Delete every record of tenant \"" << options.tenant << "\"? [y/N] " << std::flush;
    if (!says_yes()) return context.refuse("nothing was deleted");
  }
  auto counts = purge_records(command, query, options);
  if (!counts.ok()) return command.refuse(counts.error());
  receipt.counts = std::move(*counts);
  if (options.compact) {
    const auto compacted = store::compact(command.maintenance());
    if (!compacted.ok()) {
      print_receipt(context, receipt, options.json);
      return command.refuse(compacted.error());
    }
    receipt.compacted = *compacted;
  }
  command.clear_progress();
  print_receipt(context, receipt, options.json);
  return context.finish();
}

}  // namespace

void add_backup(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("backup", "Copy the store to a folder; the service may be running");
  auto folder = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command->add_option("folder", *folder, "A new folder, or an empty one")->required()->type_name("DIR");
  command->add_flag("--json", *json, "Print the receipt as a JSON object");
  command->footer(
      "The copy holds everything acknowledged before the command started, including keys, and is verified before it gets its name.\n"
      "It is a store: to restore, stop the service and replace the files in store.path with it, or serve it with --data-dir.\n\n"
      "Example:\n  runwarden backup /srv/backup/runwarden-2026-11-21");
  command->callback([&context, folder, json] { context.exit_code = backup(context, *folder, *json); });
}

void add_verify(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("verify", "Check every record, index and count of the store");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print a JSON object: ok, entries by table, faultCount, faults with table, key, detail and remedy");
  command->footer(
      "Can run while the service is running. Exits with 1 if it finds any fault; it lists the first 1000.\n\n"
      "Example:\n  runwarden verify --data-dir /srv/backup/runwarden-2026-11-21");
  command->callback([&context, json] { context.exit_code = verify(context, *json); });
}

void add_compact(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("compact", "Rewrite the store's file without its free pages; the service must be stopped");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print the sizes as a JSON object");
  command->footer(
      "Returns the space of deleted records to the disk and removes their bytes from the file. Needs disk space for a copy, which is\n"
      "verified before it replaces the old file; if interrupted, the old file stays.\n\n"
      "Example:\n  runwarden compact");
  command->callback([&context, json] { context.exit_code = compact(context, *json); });
}

void add_purge(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("purge", "Delete a tenant's records, all or those before a time, and print a receipt");
  auto options = std::make_shared<PurgeOptions>();
  command->add_option("--tenant", options->tenant, "Whose records")->required()->type_name("TENANT");
  command->add_option("--before", options->before, "Only records before then: a time, or an age such as 90d")
      ->type_name("TIME")
      ->check(check_point_in_time);
  command->add_flag("--dry-run", options->dry_run, "Count what would be deleted, but delete nothing");
  command->add_flag("--yes", options->yes, "Do not ask for confirmation; required without a --before in the past if there is no terminal");
  command
      ->add_flag("--ledger", options->ledger,
                 "Also delete the tenant's ledger after printing its last checkpoint; otherwise the ledger stays and records the purge")
      ->excludes("--dry-run")
      ->excludes("--before");
  command->add_flag("--compact", options->compact, "Then rewrite the file without the deleted bytes; the service must be stopped")
      ->excludes("--dry-run");
  command->add_flag("--json", options->json, "Print the receipt as a JSON object");
  command->footer(
      "Can run while the service is running, except with --compact. Without --before, or if that is not in the past, it asks first.\n"
      "Deletes a run, open or not, with its events, failures and revisions by the time it was received; other failures, changes and\n"
      "policies by their own time. Does not delete keys: use `runwarden keys revoke`.\n"
      "The deleted bytes stay in free pages of the file until those are reused. --compact, or a later `runwarden compact`, rewrites the\n"
      "file without them; that requires a stopped service and disk space for a copy. Earlier backups still hold the records, and so may\n"
      "the disk blocks of the old file.\n\n"
      "Example:\n  runwarden purge --tenant acme --before 2026-01-01T00:00:00Z");
  command->callback([&context, options] { context.exit_code = purge(context, *options); });
}

}  // namespace runwarden::cli
