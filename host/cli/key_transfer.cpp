#include "cli/key_transfer.h"

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/hex.h"
#include "base/json_text.h"
#include "cli/command_store.h"
#include "cli/line_reader.h"
#include "cli/output_file.h"

namespace runwarden::cli {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "runwarden-keys";
constexpr int kVersion = 1;
constexpr std::size_t kLongestLine = std::size_t{64} << 10;  // of a key: its names have at most 256 bytes
constexpr std::size_t kMostKeys = 1'000'000;

std::string line_of(const model::KeyRecord& key) {
  std::string text;
  JsonWriter out(text);
  out.begin_object()
      .key("record")
      .string("key")
      .key("id")
      .string(key.id)
      .key("tenant")
      .string(key.tenant_name)
      .key("name")
      .string(key.name);
  out.key("scopes").begin_array();
  if (key.may_ingest) out.string("ingest");
  if (key.may_read) out.string("read");
  if (key.may_manage) out.string("manage");
  out.end_array().key("sha256").string(to_hex(key.digest)).key("createdMs").integer(key.created_ms);
  const auto time = [&](const char* name, std::int64_t ms) {
    if (ms != model::kNever) out.key(name).integer(ms);
  };
  time("expiresMs", key.expires_ms);
  time("revokedMs", key.revoked_ms);
  if (key.revoked_at_once) out.key("revokedAtOnce").boolean(true);
  time("lastUsedMs", key.last_used_ms);
  out.end_object();
  return text + "\n";
}

std::string lines_of(const std::vector<model::KeyRecord>& keys, std::int64_t now_ms) {
  std::string text = std::string(R"({"record":"header","format":")") + kFormat + R"(","version":)" + std::to_string(kVersion) +
                     R"(,"exportedMs":)" + std::to_string(now_ms) + "}\n";
  for (const model::KeyRecord& key : keys) text += line_of(key);
  return text + R"({"record":"end","keys":)" + std::to_string(keys.size()) + R"(,"sha256":")" + to_hex(sha256(text)) + "\"}\n";
}

// A line that stops the import.
struct BadLine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string text_at(const json& line, const char* name) {
  const auto found = line.find(name);
  if (found == line.end() || !found->is_string()) throw BadLine(std::string("the text \"") + name + "\" is missing");
  return found->get<std::string>();
}
std::int64_t number_at(const json& line, const char* name) {
  const auto found = line.find(name);
  if (found == line.end() || !found->is_number_integer()) throw BadLine(std::string("the integer \"") + name + "\" is missing");
  return found->get<std::int64_t>();
}

model::KeyRecord key_of(const json& line) {
  model::KeyRecord key;
  key.id = text_at(line, "id");
  key.tenant_name = text_at(line, "tenant");
  key.name = text_at(line, "name");
  if (!key.id.starts_with("key_") || key.tenant_name.empty())
    throw BadLine("not an API key record: \"id\" must start with \"key_\" and \"tenant\" must not be empty");
  const auto scopes = line.find("scopes");
  if (scopes == line.end() || !scopes->is_array()) throw BadLine("the list \"scopes\" is missing");
  for (const json& scope : *scopes) {
    if (scope == "ingest")
      key.may_ingest = true;
    else if (scope == "read")
      key.may_read = true;
    else if (scope == "manage")
      key.may_manage = true;
    else
      throw BadLine("unknown scope; expected ingest, read or manage, got " + scope.dump().substr(0, 40));
  }
  const auto digest = bytes_from_hex(text_at(line, "sha256"));
  if (!digest || digest->size() != key.digest.size()) throw BadLine("\"sha256\" is not 64 hexadecimal digits");
  std::copy_n(reinterpret_cast<const std::uint8_t*>(digest->data()), key.digest.size(), key.digest.begin());
  key.created_ms = number_at(line, "createdMs");
  if (line.contains("expiresMs")) key.expires_ms = number_at(line, "expiresMs");
  if (line.contains("revokedMs")) key.revoked_ms = number_at(line, "revokedMs");
  if (line.contains("lastUsedMs")) key.last_used_ms = number_at(line, "lastUsedMs");
  key.revoked_at_once = line.value("revokedAtOnce", false);
  return key;
}

// Reads a whole export before any key is stored.
class KeyReading {
 public:
  Result<std::vector<model::KeyRecord>> run(LineReader& lines) {
    std::uint64_t number = 0;
    try {
      for (;;) {
        auto line = lines.next();
        if (!line.ok()) return std::move(line.error());
        if (!line->has_value()) break;
        number = (*line)->number;
        if ((*line)->too_long) throw BadLine("line exceeds 64 KiB; this is not a key export");
        take((*line)->text);
      }
      if (!begun_) throw BadLine("nothing to import: a key export begins with a header line");
      if (!ended_) throw BadLine("the export ends without its last line: it was truncated; export it again");
    } catch (const BadLine& bad) {
      return Error{Code::bad_request, "keys import: line " + std::to_string(number) + ": " + bad.what() + "; nothing was imported", {}, {}};
    } catch (const json::exception&) {
      return Error{Code::bad_request,
                   "keys import: line " + std::to_string(number) + ": not the JSON of a key export; nothing was imported",
                   {},
                   {}};
    }
    return std::move(keys_);
  }

 private:
  void take(const std::string& text) {
    if (ended_) throw BadLine("unexpected data after the last line of the export");
    const json line = json::parse(text);
    if (!line.is_object()) throw BadLine("expected an object");
    const std::string kind = text_at(line, "record");
    if (!begun_) {
      if (kind != "header" || text_at(line, "format") != kFormat) throw BadLine("expected the header line of a key export");
      if (number_at(line, "version") != kVersion) throw BadLine("written by a later version of runwarden; upgrade this one");
      begun_ = true;
    } else if (kind == "end") {
      return end(line);
    } else if (kind == "key") {
      if (keys_.size() == kMostKeys) throw BadLine("more than " + std::to_string(kMostKeys) + " keys; split the export by tenant");
      keys_.push_back(key_of(line));
    } else {
      throw BadLine("\"" + kind.substr(0, 40) + "\" is not a key record");
    }
    digest_.add(text);
    digest_.add("\n");
  }

  void end(const json& line) {
    if (number_at(line, "keys") != static_cast<std::int64_t>(keys_.size()))
      throw BadLine("the number of keys differs from the last line's: the file is incomplete; export it again");
    if (text_at(line, "sha256") != to_hex(digest_.so_far()))
      throw BadLine("the export's SHA-256 does not match: the file was modified; export it again");
    ended_ = true;
  }

  std::vector<model::KeyRecord> keys_;
  Sha256 digest_;
  bool begun_ = false;
  bool ended_ = false;
};

int export_keys(Context& context, const std::string& tenant, const std::string& output) {
  const auto settings = context.settings();
  if (!settings) return kWanting;
  CommandClock clock;
  const auto store = open_command_store(context, *settings, clock, IfMissing::refuse);
  if (!store) return kWanting;
  auto keys = store->keys();
  if (!tenant.empty()) std::erase_if(keys, [&](const auto& key) { return key.tenant_name != tenant; });
  if (!tenant.empty() && keys.empty()) return context.refuse("tenant \"" + tenant + "\" has no keys; runwarden keys list shows all keys");
  std::sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  ResultOutput file(context, output);
  if (!file.open()) return kWanting;
  file.write(lines_of(keys, clock.wall_ms()));
  const int finished = file.finish();
  if (finished == kFine) context.err << "exported " << keys.size() << (keys.size() == 1 ? " key" : " keys") << "\n";
  return finished;
}

bool is_same(const model::KeyRecord& a, const model::KeyRecord& b) {
  return a.digest == b.digest && a.tenant_name == b.tenant_name;
}

std::int64_t earlier(std::int64_t a_ms, std::int64_t b_ms) {
  if (a_ms == model::kNever || b_ms == model::kNever) return std::max(a_ms, b_ms);
  return std::min(a_ms, b_ms);
}

// Lets the key end as early as the other one says. False: it does already.
bool take_over_end(model::KeyRecord& key, const model::KeyRecord& other) {
  const model::KeyRecord before = key;
  key.revoked_ms = earlier(key.revoked_ms, other.revoked_ms);
  key.expires_ms = earlier(key.expires_ms, other.expires_ms);
  key.revoked_at_once = key.revoked_at_once || other.revoked_at_once;
  return key.revoked_ms != before.revoked_ms || key.expires_ms != before.expires_ms || key.revoked_at_once != before.revoked_at_once;
}

int import_keys(Context& context, const std::string& file) {
  auto input = InputFile::open(file);
  if (!input.ok()) return context.refuse(input.error().detail);
  LineReader lines(input->descriptor(), kLongestLine);
  auto keys = KeyReading().run(lines);
  if (!keys.ok()) return context.refuse(keys.error().detail);
  const auto settings = context.settings();
  if (!settings) return kWanting;
  CommandClock clock;
  const auto store = open_command_store(context, *settings, clock, IfMissing::make);
  if (!store) return kWanting;
  std::map<std::string, model::KeyRecord> there;
  std::set<model::Digest> digests;
  for (model::KeyRecord& key : store->keys()) {
    digests.insert(key.digest);
    there.emplace(key.id, std::move(key));
  }
  std::size_t stored = 0, same = 0, ended = 0, conflicts = 0;
  std::vector<std::pair<std::string, std::int64_t>> used;
  for (const model::KeyRecord& key : *keys) {
    const auto found = there.find(key.id);
    if (found != there.end() && is_same(found->second, key)) {
      ++same;
      if (take_over_end(found->second, key)) {
        store->put_key(found->second);
        ++ended;
      }
    } else if (found != there.end() || !digests.insert(key.digest).second) {
      ++conflicts;
      context.err << key.id << " of tenant \"" << key.tenant_name << "\": a different key has this id; it was kept\n";
    } else {
      there.emplace(key.id, store->put_key(key));
      if (key.last_used_ms != model::kNever) used.emplace_back(key.id, key.last_used_ms);
      ++stored;
    }
  }
  if (!used.empty()) store->touch_keys(used);
  context.out << "imported " << stored << (stored == 1 ? " key" : " keys") << "\n";
  if (same > 0) context.out << same << (same == 1 ? " key" : " keys") << " already existed\n";
  if (ended > 0) context.out << ended << " of them took over a revocation or an earlier end\n";
  const int finished = context.finish();
  if (conflicts == 0) return finished;
  return context.refuse(std::to_string(conflicts) + (conflicts == 1 ? " key was" : " keys were") + " skipped");
}

}  // namespace

void add_keys_export(CLI::App& keys, Context& context) {
  CLI::App* command = keys.add_subcommand("export", "Write the keys as lines of JSON, with their digests");
  auto tenant = std::make_shared<std::string>();
  auto output = std::make_shared<std::string>();
  command->add_option("--tenant", *tenant, "Only those of this tenant")->type_name("TENANT");
  command->add_option("--output", *output, "Write to this file, which appears only once it is complete; default standard output")
      ->type_name("FILE");
  command->footer(
      "Moves keys to another store, so that clients keep their keys. A key cannot be derived from its digest, but the file names tenants:\n"
      "keep it private.\n\n"
      "Example:\n  runwarden keys export --config old.yaml | runwarden keys import --config new.yaml");
  command->callback([&context, tenant, output] { context.exit_code = export_keys(context, *tenant, *output); });
}

void add_keys_import(CLI::App& keys, Context& context) {
  CLI::App* command = keys.add_subcommand("import", "Import what keys export wrote");
  auto file = std::make_shared<std::string>("-");
  command->add_option("file", *file, "The export; default standard input")->type_name("FILE");
  command->footer(
      "Creates the store and the tenants if needed. Keys that already exist are counted; they only take over a revocation\n"
      "or an earlier end, so that a key which was revoked in the other store is revoked here. Conflicting keys are reported and skipped, "
      "the rest is imported, and the exit code is 1.\n\n"
      "Example:\n  runwarden keys import keys.ndjson");
  command->callback([&context, file] { context.exit_code = import_keys(context, *file); });
}

}  // namespace runwarden::cli
