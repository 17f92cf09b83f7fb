// ledger export, verify, checkpoint, key and rotate-key.
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/base64.h"
#include "base/time_text.h"
#include "cli/command_store.h"
#include "cli/line_reader.h"
#include "cli/output_file.h"
#include "cli/terminal_progress.h"
#include "ledger/erased_ranges.h"
#include "ledger/file_verifier.h"

namespace runwarden::cli {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 30;  // no record in a store is longer
constexpr std::size_t kLargestNote = std::size_t{64} << 10;
constexpr int kExportTries = 3;

// Runs `work` with the configuration and reports its store faults.
int with_store(Context& context, const std::function<int(const config::Settings&, CommandClock&)>& work) {
  CommandClock clock;
  const auto settings = context.settings();
  if (!settings) return kWanting;
  try {
    return work(*settings, clock);
  } catch (const store::StoreError& fault) {
    return context.refuse(fault.what());
  }
}

int with_ledger(Context& context, const std::string& tenant, const std::function<int(store::LedgerStore&, model::TenantId)>& work) {
  return with_store(context, [&](const config::Settings& settings, CommandClock& clock) -> int {
    const auto opened = open_tenant_store(context, settings, clock, tenant);
    if (!opened) return kWanting;
    store::LedgerStore& ledger = opened->store->ledger();
    if (!ledger.is_on())
      return context.refuse("the store has no ledger; start the service once with ledger.enabled true, which is the default");
    return work(ledger, opened->tenant);
  });
}

struct ExportOptions {
  std::string tenant;
  bool records = false;
  std::string output;
};

enum class Exported : std::uint8_t { whole, no_reader, overtaken };

// Writes all entries that the checkpoint covers. `overtaken`: a deletion meanwhile emptied entries; its receipt is beyond the checkpoint.
Exported export_entries(store::LedgerStore& ledger, const store::SignedCheckpoint& checkpoint, const ExportOptions& options,
                        ResultOutput& output, TerminalProgress& progress) {
  const std::uint64_t size = checkpoint.checkpoint.tree.size;
  const auto parts = options.records ? store::PartsToo::yes : store::PartsToo::no;
  ledger::ErasedRanges erased;
  if (!output.write(ledger::line_of(ledger::HeaderLine{checkpoint.checkpoint.origin, checkpoint.public_key, size}) + "\n"))
    return Exported::no_reader;
  for (std::uint64_t index = 0; index < size;) {
    std::string lines;
    for (const ledger::EntryLine& entry : ledger.entries(checkpoint.tenant, index, size, parts)) {
      const bool is_receipt = entry.entry.kind == ledger::Kind::purge || entry.entry.kind == ledger::Kind::expiry;
      if (is_receipt && entry.told) erased.take_receipt(entry.index, entry.told->body);
      if (!entry.told) erased.note_erased(entry.index);
      lines += ledger::line_of(entry) + "\n";
      index = entry.index + 1;
    }
    if (!output.write(lines)) return Exported::no_reader;
    progress.show({"export", "entries", "", index, size});
  }
  if (erased.first_without_receipt()) return Exported::overtaken;
  output.write(ledger::checkpoint_line(checkpoint.note) + "\n");
  return Exported::whole;
}

int export_ledger(Context& context, const ExportOptions& options) {
  return with_ledger(context, options.tenant, [&](store::LedgerStore& ledger, model::TenantId tenant) -> int {
    for (int tries = kExportTries; tries > 0; --tries) {
      ResultOutput output(context, options.output);
      if (!output.open()) return kWanting;
      TerminalProgress progress(context.err);
      const Exported exported = export_entries(ledger, ledger.checkpoint(tenant), options, output, progress);
      progress.clear();
      if (exported != Exported::overtaken) return output.finish();
      if (!output.can_begin_again()) break;
    }
    return context.refuse("records were deleted during the export, so the output is incomplete; export it again");
  });
}

int checkpoint(Context& context, const std::string& tenant) {
  return with_ledger(context, tenant, [&](store::LedgerStore& ledger, model::TenantId of) -> int {
    context.out << ledger.checkpoint(of).note;
    return context.finish();
  });
}

int with_key(Context& context, const std::function<std::string(store::LedgerStore&)>& work) {
  return with_store(context, [&](const config::Settings& settings, CommandClock& clock) -> int {
    const auto store = open_command_store(context, settings, clock, IfMissing::refuse);
    if (!store) return kWanting;
    if (!store->ledger().is_on())
      return context.refuse("the store has no ledger; start the service once with ledger.enabled true, which is the default");
    context.out << bytes_to_base64(work(store->ledger())) << "\n";
    return context.finish();
  });
}

struct VerifyOptions {
  std::vector<std::string> files;
  std::string after;
  std::string public_key;
};

Result<std::optional<ledger::Note>> read_after(const std::string& file) {
  if (file.empty()) return std::optional<ledger::Note>();
  const auto input = InputFile::open(file);
  if (!input.ok()) return input.error();
  const auto text = read_whole(input->descriptor(), kLargestNote);
  if (!text.ok()) return text.error();
  auto note = ledger::read_note(text->value_or(std::string()));
  if (!note.ok()) return Error{Code::validation_failed, file + ": " + note.error().detail, {}, {}};
  return std::optional(std::move(*note));
}

Result<ledger::FileVerifier::Summary> verify_file(const std::string& file, const ledger::FileVerifier::Trust& trust) {
  const auto input = InputFile::open(file);
  if (!input.ok()) return input.error();
  LineReader lines(input->descriptor(), kLongestLine);
  ledger::FileVerifier verifier(trust);
  std::uint64_t expected = 1;
  for (;;) {
    auto line = lines.next();
    if (!line.ok()) return std::move(line.error());
    if (!*line) return verifier.finish();
    // The reader skips empty lines, but an export has none.
    if ((*line)->too_long || (*line)->number != expected++)
      return Error{Code::validation_failed, "line " + std::to_string(expected - 1) + " is empty or too long", {}, {}};
    if (Status taken = verifier.take((*line)->text); !taken.ok()) return std::move(taken.error());
  }
}

void print_summary(Context& context, const std::string& file, const ledger::FileVerifier::Summary& summary, const VerifyOptions& options) {
  const ledger::Checkpoint& checkpoint = summary.checkpoint;
  const auto& root = checkpoint.tree.root;
  context.out << file << ": good\n  origin " << checkpoint.origin << "\n  entries " << checkpoint.tree.size;
  if (checkpoint.tree.size > 0) context.out << ", from " << format_time(summary.first_ms) << " to " << format_time(summary.last_ms);
  context.out << "\n";
  for (const auto& [kind, count] : summary.entries) context.out << "    " << kind << " " << count << "\n";
  if (summary.erased > 0) context.out << "  erased " << summary.erased << ", each covered by a receipt\n";
  context.out << "  root " << bytes_to_base64({reinterpret_cast<const char*>(root.data()), root.size()}) << "\n";
  context.out << "  signed by " << bytes_to_base64(summary.public_key)
              << (options.public_key.empty() ? ", which the file names itself" : "") << "\n";
  if (!options.after.empty()) context.out << "  the older checkpoint is a prefix of it\n";
}

int verify_ledger(Context& context, const VerifyOptions& options) {
  ledger::FileVerifier::Trust trust;
  if (!options.public_key.empty()) trust.public_key = bytes_from_base64(options.public_key).bytes;
  auto after = read_after(options.after);
  if (!after.ok()) return context.refuse(after.error().detail);
  trust.after = std::move(*after);
  bool all_good = true;
  for (const std::string& file : options.files) {
    const auto summary = verify_file(file, trust);
    if (summary.ok()) {
      print_summary(context, file, *summary, options);
    } else {
      all_good = false;
      context.refuse(file + ": " + summary.error().detail);
    }
  }
  const int finished = context.finish();
  return all_good ? finished : kWanting;
}

void add_export_command(CLI::App& ledger, Context& context) {
  CLI::App* command = ledger.add_subcommand("export", "Write a tenant's ledger as lines of JSON, with a checkpoint");
  auto options = std::make_shared<ExportOptions>();
  command->add_option("--tenant", options->tenant, "Whose ledger")->required()->type_name("TENANT");
  command->add_flag("--records", options->records, "Include the texts that the entries' bodies refer to by SHA-256");
  command->add_option("--output", options->output, "Write to this file, which appears only once it is complete; default standard output")
      ->type_name("FILE");
  command->footer(
      "Can run while the service is running. `runwarden ledger verify` checks the file on any machine.\n\n"
      "Example:\n  runwarden ledger export --tenant acme --output acme.ledger");
  command->callback([&context, options] { context.exit_code = export_ledger(context, *options); });
}

void add_verify_command(CLI::App& ledger, Context& context) {
  CLI::App* command = ledger.add_subcommand("verify", "Check that nothing in exported ledgers was changed, dropped, inserted or moved");
  auto options = std::make_shared<VerifyOptions>();
  command->add_option("files", options->files, "Files that `runwarden ledger export` wrote")->required()->type_name("FILE");
  command->add_option("--after", options->after, "An older checkpoint, kept elsewhere, that must be a prefix of the file")
      ->type_name("CHECKPOINT_FILE");
  command->add_option("--public-key", options->public_key, "The key that must have signed it; default the one that the file names")
      ->type_name("BASE64")
      ->check([](const std::string& key) {
        const bool is_key = bytes_from_base64(key).bytes.size() == ledger::kPublicKeyBytes;
        return is_key ? std::string()
                      : "expected the Base64 of " + std::to_string(ledger::kPublicKeyBytes) + " bytes, as `runwarden ledger key` prints it";
      });
  command->footer(
      "Needs neither store nor configuration. Prints a summary and exits with 0, or names the first wrong entry and exits with 1. Without\n"
      "--public-key and --after, the file is only checked against itself: anyone who can write the file can forge one.\n\n"
      "Example:\n  runwarden ledger verify acme.ledger --after acme.checkpoint");
  command->callback([&context, options] { context.exit_code = verify_ledger(context, *options); });
}

void add_checkpoint_command(CLI::App& ledger, Context& context) {
  CLI::App* command = ledger.add_subcommand("checkpoint", "Print a signed checkpoint of a tenant's ledger as it is now");
  auto tenant = std::make_shared<std::string>();
  command->add_option("--tenant", *tenant, "Whose ledger")->required()->type_name("TENANT");
  command->footer(
      "Prints a C2SP tlog-checkpoint signed note: origin, size, root, signatures. Keep it out of reach of anyone who controls this host.\n"
      "Can run while the service is running.\n\n"
      "Example:\n  runwarden ledger checkpoint --tenant acme");
  command->callback([&context, tenant] { context.exit_code = checkpoint(context, *tenant); });
}

void add_key_commands(CLI::App& ledger, Context& context) {
  CLI::App* key = ledger.add_subcommand("key", "Print the public key that signs checkpoints");
  key->footer("Base64 of the 32 bytes of an Ed25519 key; one key signs the ledgers of all tenants.\n\nExample:\n  runwarden ledger key");
  key->callback([&context] { context.exit_code = with_key(context, [](store::LedgerStore& store) { return store.public_key(); }); });
  CLI::App* rotate = ledger.add_subcommand("rotate-key", "Sign with a new key from now on, and print its public key");
  rotate->footer(
      "Each ledger records the rotation in an entry, and both keys sign its next checkpoint. The previous key stays in the store's "
      "folder.\n"
      "Can run while the service is running.\n\n"
      "Example:\n  runwarden ledger rotate-key");
  rotate->callback([&context] { context.exit_code = with_key(context, [](store::LedgerStore& store) { return store.rotate_key(); }); });
}

}  // namespace

void add_ledger(CLI::App& app, Context& context) {
  CLI::App* ledger = app.add_subcommand("ledger", "What was known, when, and that nobody rewrote it");
  need_subcommand(*ledger);
  ledger->footer("Example:\n  runwarden ledger export --tenant acme --output acme.ledger");
  add_export_command(*ledger, context);
  add_verify_command(*ledger, context);
  add_checkpoint_command(*ledger, context);
  add_key_commands(*ledger, context);
}

}  // namespace runwarden::cli
