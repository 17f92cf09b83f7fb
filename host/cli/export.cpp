#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <memory>

#include "base/json_text.h"
#include "base/open_fault.h"
#include "cli/line_counts.h"
#include "cli/maintenance_command.h"

namespace runwarden::cli {
namespace {

// The export's file: there under its name once it is whole and on disk, not before.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path) : path_(std::move(path)), partial_(path_.string() + ".partial") {
    std::error_code ignored;
    std::filesystem::remove(partial_, ignored);  // of an export that was interrupted
    file_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  }
  ~OutputFile() {
    if (file_ >= 0) ::close(file_);
    std::error_code ignored;
    if (!done_) std::filesystem::remove(partial_, ignored);
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  bool write(std::string_view bytes) {
    while (file_ >= 0 && !bytes.empty()) {
      const ssize_t wrote = ::write(file_, bytes.data(), bytes.size());
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) return note_fault();
      bytes.remove_prefix(static_cast<std::size_t>(wrote));
    }
    return file_ >= 0 || note_fault();
  }
  bool finish() {
    if (::fsync(file_) != 0 || ::rename(partial_.c_str(), path_.c_str()) != 0) return note_fault();
    done_ = true;
    const std::filesystem::path folder = std::filesystem::absolute(path_).parent_path();
    const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened >= 0) {
      ::fsync(opened);
      ::close(opened);
    }
    return true;
  }
  bool opened() const { return file_ >= 0; }
  // Empty: nothing went wrong.
  std::string fault() const {
    return errno_ == 0 ? std::string() : "\"" + path_.string() + "\" could not be written: " + open_fault(path_, errno_, OpenFor::writing);
  }

 private:
  bool note_fault() {
    errno_ = errno;
    return false;
  }

  std::filesystem::path path_;
  std::filesystem::path partial_;
  int file_ = -1;
  int errno_ = 0;
  bool done_ = false;
};

struct ExportOptions {
  std::string tenant;
  std::string since;
  std::string output;
  bool json = false;
};

// What was left out is told, and the exit is 1: the export is good, but it is not everything.
int finish_export(Context& context, const store::Exported& exported) {
  for (const store::StoreFault& row : exported.first_ones) context.err << "left out: " << row.detail << "\n";
  const int finished = context.finish();
  if (exported.unreadable == 0) return finished;
  return context.refuse(
      "records left out because they could not be read: " + std::to_string(exported.unreadable) +
      ". The last line of the export names them; everything else is in it. Run `runwarden verify`, and restore them from a backup");
}

int export_to_file(Context& context, MaintenanceCommand& command, const store::ExportQuery& query, const ExportOptions& options) {
  OutputFile file(options.output);
  if (!file.opened()) {
    return context.refuse("\"" + options.output + "\" cannot be written: " + open_fault(options.output, errno, OpenFor::writing));
  }
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
  command->add_option("--since", options->since, "Only records from then on: a time, or how long ago, such as 30d")
      ->type_name("TIME")
      ->check(check_point_in_time);
  command->add_option("--output", options->output, "Write to this file, which is there once it is whole; default standard output")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "The counts at the end as a JSON object");
  command->footer(
      "Runs beside a serving process. The counts go to standard output with --output, else to standard error. Keys and\n"
      "marks of detectors that crashed are not exported; `runwarden backup` holds them. Records that cannot be read are left out and\n"
      "named in the last line, and the exit is 1.\n\n"
      "Example:\n  runwarden export --tenant acme --since 30d --output acme.ndjson");
  command->callback([&context, options] { context.exit_code = run_export(context, *options); });
}

}  // namespace runwarden::cli
