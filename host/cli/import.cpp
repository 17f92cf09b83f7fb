#include <CLI/CLI.hpp>
#include <memory>

#include "base/json_text.h"
#include "cli/line_counts.h"
#include "cli/line_reader.h"
#include "cli/maintenance_command.h"

namespace runwarden::cli {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 30;  // no record in a store is longer

struct ImportOptions {
  std::string file = "-";
  bool json = false;
};

void print_json(std::ostream& out, const store::Imported& imported) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("tenants").strings(imported.tenants).key("stored").begin_object();
  for (const auto& [kind, count] : imported.stored) json.key(kind).integer(static_cast<std::int64_t>(count));
  json.end_object().key("alreadyThere").integer(static_cast<std::int64_t>(imported.already_there));
  json.key("conflicts").integer(static_cast<std::int64_t>(imported.conflicts)).key("conflictLines").begin_array();
  for (const auto& one : imported.first_ones) {
    json.begin_object().key("line").integer(static_cast<std::int64_t>(one.line)).key("detail").string(one.detail).end_object();
  }
  json.end_array().end_object();
  out << text << "\n";
}

int report_import(Context& context, const ImportOptions& options, const store::Imported& imported) {
  if (options.json) {
    print_json(context.out, imported);
  } else {
    print_counts(context.out, "imported", imported.stored, false);
    if (imported.already_there > 0) context.out << counted(imported.already_there, "record") << " already existed\n";
  }
  if (imported.conflicts > 0) {
    for (const auto& one : imported.first_ones) context.err << options.file << ":" << one.line << ": " << one.detail << "\n";
    context.err << "runwarden: " << counted(imported.conflicts, "record")
                << " skipped: other content is already stored under the same id\n";
  }
  const int finished = context.finish();
  return imported.conflicts > 0 ? kWanting : finished;
}

int run_import(Context& context, const ImportOptions& options) {
  auto input = InputFile::open(options.file);
  if (!input.ok()) return context.refuse(input.error().detail);
  MaintenanceCommand command(context, MaintenanceCommand::Signals::end_process);  // uncommitted records leave no trace
  if (!command.find_stopped_store(IfNoStore::make)) return kWanting;
  LineReader lines(input->descriptor(), kLongestLine);
  const auto imported = store::import_lines(command.maintenance(), [&]() -> Result<std::optional<std::string>> {
    auto line = lines.next();
    if (!line.ok()) return std::move(line.error());
    if (!line->has_value()) return std::optional<std::string>();
    if ((*line)->too_long) return Error{Code::bad_request, "import: a line exceeds 1 GiB; this is not a runwarden export", {}, {}};
    return std::optional(std::move((*line)->text));
  });
  if (!imported.ok()) {
    command.undo_making();
    return command.refuse(imported.error());
  }
  command.clear_progress();
  return report_import(context, options, *imported);
}

}  // namespace

std::string counted(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

void print_counts(std::ostream& out, std::string_view what, const store::LineCounts& counts, bool json) {
  std::string text;
  if (json) {
    JsonWriter writer(text);
    writer.begin_object();
    for (const auto& [kind, count] : counts) writer.key(kind).integer(static_cast<std::int64_t>(count));
    writer.end_object();
  } else {
    text = std::string(what);
    std::uint64_t lines = 0;
    std::string parts;
    for (const auto& [kind, count] : counts) {
      lines += count;
      parts += (parts.empty() ? "" : ", ") + kind + " " + std::to_string(count);
    }
    text += " " + counted(lines, "record") + (parts.empty() ? "" : ": " + parts);
  }
  out << text << "\n";
}

void add_import(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("import", "Import what export wrote; unless the store is a database, the service must be stopped");
  auto options = std::make_shared<ImportOptions>();
  command->add_option("file", options->file, "The export; default standard input")->type_name("FILE");
  command->add_flag("--json", options->json, "Print the counts as a JSON object");
  command->footer(
      "All or nothing: if interrupted at any point, it has stored nothing. Records that already exist are counted and left alone; lines\n"
      "that conflict with a stored record are reported and skipped, the rest is imported, and the exit code is 1.\n"
      "Creates the store and the tenant if needed; add keys with `runwarden keys import` or `runwarden keys create`.\n"
      "Imported records trigger no webhooks.\n\n"
      "Example:\n  runwarden import acme.ndjson --data-dir /srv/runwarden");
  command->callback([&context, options] { context.exit_code = run_import(context, *options); });
}

}  // namespace runwarden::cli
