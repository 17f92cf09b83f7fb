#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "auth/key.h"
#include "base/clock.h"
#include "base/json_text.h"
#include "base/nearest_names.h"
#include "base/time_text.h"
#include "base/utf8.h"
#include "cli/command_store.h"
#include "cli/key_transfer.h"
#include "cli/list_option.h"
#include "cli/table.h"
#include "config/core_types.h"

namespace runwarden::cli {
namespace {

constexpr std::size_t kMaxNameBytes = 256;

// Opens the configured store. A service may be using it.
std::unique_ptr<store::Store> open_store(Context& context, CommandClock& clock, IfMissing if_missing) {
  const auto settings = context.settings();
  return settings ? open_command_store(context, *settings, clock, if_missing) : nullptr;
}

std::vector<std::string> scopes_of(const model::KeyRecord& key) {
  std::vector<std::string> scopes;
  if (key.may_ingest) scopes.emplace_back("ingest");
  if (key.may_read) scopes.emplace_back("read");
  if (key.may_manage) scopes.emplace_back("manage");
  return scopes;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string text;
  for (const std::string& one : texts) text += (text.empty() ? "" : ",") + one;
  return text;
}

std::string time_or_nothing(std::int64_t ms) {
  return ms == model::kNever ? std::string() : format_time(ms);
}

// Prints only the key on standard output; everything else goes to standard error.
int hand_over(Context& context, const std::string& key, const model::KeyRecord& record) {
  context.out << key << "\n";
  if (context.finish() != kFine) return context.refuse("the key was not printed; revoke it: runwarden keys revoke " + record.id);
  context.err << record.id << " for tenant \"" << record.tenant_name << "\", scopes " << joined(scopes_of(record))
              << (record.expires_ms == model::kNever ? "" : ", expires " + format_time(record.expires_ms))
              << ". It is shown only once; the store keeps only its SHA-256.\n";
  return kFine;
}

struct CreateOptions {
  std::string tenant;
  std::string name = "default";
  std::vector<std::string> scopes = {"ingest"};
  std::string expires;
};

// Reports a new tenant, because a misspelled name creates one by mistake.
void report_if_new(Context& context, const std::vector<model::Tenant>& before, const std::string& tenant) {
  std::vector<std::string> names;
  for (const model::Tenant& one : before) {
    if (one.name == tenant) return;
    names.push_back(one.name);
  }
  const std::string near = likely_name(tenant, names);
  context.err << "created tenant \"" << tenant << "\"" << (near.empty() ? "" : "; there is also \"" + near + "\"") << "\n";
}

int create(Context& context, const CreateOptions& options) {
  CommandClock clock;
  const auto store = open_store(context, clock, IfMissing::make);
  if (!store) return kWanting;
  model::KeyRecord wanted;
  wanted.tenant_name = options.tenant;
  wanted.name = options.name;
  for (const std::string& scope : options.scopes)
    (scope == "read" ? wanted.may_read : scope == "manage" ? wanted.may_manage : wanted.may_ingest) = true;
  wanted.created_ms = clock.wall_ms();
  if (!options.expires.empty()) wanted.expires_ms = wanted.created_ms + *config::duration_ms(options.expires);
  auto made = auth::make_key(wanted);
  if (!made.ok()) return context.refuse(made.error().detail);
  const std::vector<model::Tenant> before = store->tenants();
  const model::KeyRecord record = store->put_key(made->record);
  report_if_new(context, before, record.tenant_name);
  return hand_over(context, made->key, record);
}

void append_key(JsonWriter& out, const model::KeyRecord& key) {
  const auto time = [&](const char* name, std::int64_t ms) {
    out.key(name);
    ms == model::kNever ? out.null() : out.string(format_time(ms));
  };
  out.begin_object().key("id").string(key.id).key("tenant").string(key.tenant_name).key("name").string(key.name);
  out.key("scopes").strings(scopes_of(key));
  time("createdAt", key.created_ms);
  time("expiresAt", key.expires_ms);
  time("revokedAt", key.revoked_ms);
  time("lastUsedAt", key.last_used_ms);
  out.end_object();
}

int list(Context& context, const std::string& tenant, bool json) {
  CommandClock clock;
  const auto store = open_store(context, clock, IfMissing::refuse);
  if (!store) return kWanting;
  if (!tenant.empty() && find_tenant(context, *store, tenant) == 0) return kWanting;
  auto keys = store->keys();
  if (!tenant.empty()) std::erase_if(keys, [&](const auto& key) { return key.tenant_name != tenant; });
  std::stable_sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) {
    return std::tie(a.tenant_name, a.created_ms, a.id) < std::tie(b.tenant_name, b.created_ms, b.id);
  });
  if (json) {
    std::string text;
    JsonWriter out(text);
    out.begin_array();
    for (const auto& key : keys) append_key(out, key);
    out.end_array();
    context.out << text << "\n";
    return context.finish();
  }
  Table table({"ID", "TENANT", "NAME", "SCOPES", "CREATED", "EXPIRES", "REVOKED", "LAST USED"});
  for (const auto& key : keys) {
    table.add({key.id, key.tenant_name, key.name, joined(scopes_of(key)), time_or_nothing(key.created_ms), time_or_nothing(key.expires_ms),
               time_or_nothing(key.revoked_ms), time_or_nothing(key.last_used_ms)});
  }
  table.print(context.out);
  return context.finish();
}

// The key with that id, or the key itself, which is never repeated; nothing, after a message, if there is none.
std::optional<model::KeyRecord> find(Context& context, store::Store& store, const std::string& given) {
  const model::Digest digest = auth::digest_of(given);
  for (model::KeyRecord& key : store.keys()) {
    if (key.id == given || key.digest == digest) return std::move(key);
  }
  const bool is_id = given.starts_with("key_");
  context.refuse("no key " + (is_id ? "\"" + given + "\"" : std::string("with this id")) +
                 "; runwarden keys list shows the ids of all keys");
  return std::nullopt;
}

int revoke(Context& context, const std::string& given) {
  CommandClock clock;
  const auto store = open_store(context, clock, IfMissing::refuse);
  if (!store) return kWanting;
  auto key = find(context, *store, given);
  if (!key) return kWanting;
  const std::string id = key->id;
  const std::int64_t now_ms = clock.wall_ms();
  const bool by_time = key->revoked_ms != model::kNever && key->revoked_ms <= now_ms;
  if (key->revoked_at_once || by_time) context.err << id << " was already revoked, at " << format_time(key->revoked_ms) << "\n";
  if (key->revoked_at_once) return kFine;
  key->revoked_at_once = true;  // the service's clock may differ from the one here
  if (!by_time) key->revoked_ms = now_ms;
  store->put_key(*key);
  if (by_time) return kFine;
  context.err << id << " of tenant \"" << key->tenant_name << "\" is revoked\n";
  return kFine;
}

int rotate(Context& context, const std::string& given, std::int64_t overlap_ms) {
  CommandClock clock;
  const auto store = open_store(context, clock, IfMissing::refuse);
  if (!store) return kWanting;
  auto old = find(context, *store, given);
  if (!old) return kWanting;
  const std::string id = old->id;
  const std::int64_t now_ms = clock.wall_ms();
  const bool revoked = old->revoked_at_once || (old->revoked_ms != model::kNever && old->revoked_ms <= now_ms);
  const bool expired = old->expires_ms != model::kNever && old->expires_ms <= now_ms;
  if (revoked || expired) {
    return context.refuse("the key " + id + " has ended (" + (revoked ? "revoked" : "expired") +
                          "); create a new one: runwarden keys create --tenant " + old->tenant_name);
  }
  model::KeyRecord wanted;
  wanted.tenant = old->tenant;
  wanted.tenant_name = old->tenant_name;
  wanted.name = old->name;
  wanted.may_ingest = old->may_ingest;
  wanted.may_read = old->may_read;
  wanted.may_manage = old->may_manage;
  wanted.created_ms = now_ms;
  if (old->expires_ms != model::kNever) wanted.expires_ms = now_ms + (old->expires_ms - old->created_ms);
  auto made = auth::make_key(wanted);
  if (!made.ok()) return context.refuse(made.error().detail);
  const model::KeyRecord record = store->put_key(made->record);
  std::int64_t end_ms = now_ms + overlap_ms;
  for (const std::int64_t ends_anyway_ms : {old->revoked_ms, old->expires_ms}) {
    if (ends_anyway_ms != model::kNever) end_ms = std::min(end_ms, ends_anyway_ms);
  }
  old->revoked_ms = end_ms;
  store->put_key(*old);
  const int handed = hand_over(context, made->key, record);
  context.err << id << " ends at " << format_time(old->revoked_ms) << "\n";
  return handed;
}

std::string check_name(const std::string& name) {
  if (name.empty() || name.size() > kMaxNameBytes) return "expected 1 to 256 bytes";
  const bool control = std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  if (control) return "control characters are not allowed";
  return utf8_fault(name) < name.size() ? "expected UTF-8 text; check the encoding of the terminal or script" : "";
}

std::string check_lifetime(const std::string& text) {
  const auto ms = config::duration_ms(text);
  constexpr std::int64_t kLongest = 36'500 * config::kDayMs;
  return ms && *ms > 0 && *ms <= kLongest ? "" : "expected a duration such as 24h or 90d, at most 36500d, got \"" + text + "\"";
}

std::string check_overlap(const std::string& text) {
  const auto ms = config::duration_ms(text);
  constexpr std::int64_t kLongest = 36'500 * config::kDayMs;
  return ms && *ms <= kLongest ? "" : "expected a duration such as 0s, 30m or 24h, at most 36500d, got \"" + text + "\"";
}

void add_create(CLI::App& keys, Context& context) {
  CLI::App* command = keys.add_subcommand("create", "Create a key and print it, only once, as the only text on standard output");
  auto options = std::make_shared<CreateOptions>();
  command->add_option("--tenant", options->tenant, "The tenant whose records it can access; created if needed")
      ->required()
      ->type_name("TENANT")
      ->check(check_name);
  command->add_option("--name", options->name, "What it is for; policy revisions sent with it name it as their author")
      ->type_name("NAME")
      ->check(check_name)
      ->capture_default_str();
  add_list_option(*command, "--scopes", options->scopes, {"ingest", "read", "manage"})
      ->type_name("SCOPES")
      ->description("ingest, read, manage or several: --scopes ingest,read; default ingest");
  command->add_option("--expires", options->expires, "When it expires, such as 90d; default never")
      ->type_name("DURATION")
      ->check(check_lifetime);
  command->footer(
      "Creates the store if needed. A running service accepts the key at once.\n\n"
      "Example:\n  KEY=$(runwarden keys create --tenant acme --name ci --scopes ingest,read --expires 90d)");
  command->callback([&context, options] { context.exit_code = create(context, *options); });
}

void add_list(CLI::App& keys, Context& context) {
  CLI::App* command = keys.add_subcommand("list", "List the keys, but never the secrets themselves");
  auto tenant = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command->add_option("--tenant", *tenant, "Only those of this tenant")->type_name("TENANT");
  command->add_flag("--json", *json, "An array of objects: id, tenant, name, scopes, createdAt, expiresAt, revokedAt, lastUsedAt");
  command->footer("Example:\n  runwarden keys list --tenant acme --json");
  command->callback([&context, tenant, json] { context.exit_code = list(context, *tenant, *json); });
}

void add_revoke(CLI::App& keys, Context& context) {
  CLI::App* command = keys.add_subcommand("revoke", "Revoke a key at once");
  auto id = std::make_shared<std::string>();
  command->add_option("id", *id, "The key's id, as keys list shows it, or the key itself")->required()->type_name("ID");
  command->footer("Example:\n  runwarden keys revoke key_3f0c9a517be24d86");
  command->callback([&context, id] { context.exit_code = revoke(context, *id); });
}

void add_rotate(CLI::App& keys, Context& context) {
  CLI::App* command = keys.add_subcommand("rotate", "Replace a key with a new one; the old one expires a little later");
  auto id = std::make_shared<std::string>();
  auto overlap = std::make_shared<std::string>("24h");
  command->add_option("id", *id, "The old key's id, as keys list shows it, or the old key itself")->required()->type_name("ID");
  command->add_option("--overlap", *overlap, "How long the old key remains valid; 0s: revoke it at once")
      ->type_name("DURATION")
      ->check(check_overlap)
      ->capture_default_str();
  command->footer(
      "The new key has the old one's tenant, name, scopes and lifetime, and is the only text on standard output.\n\n"
      "Example:\n  KEY=$(runwarden keys rotate key_3f0c9a517be24d86 --overlap 1h)");
  command->callback([&context, id, overlap] { context.exit_code = rotate(context, *id, *config::duration_ms(*overlap)); });
}

}  // namespace

void add_keys(CLI::App& app, Context& context) {
  CLI::App* keys = app.add_subcommand("keys", "Create, list, transfer and revoke API keys");
  need_subcommand(*keys);
  keys->footer("Changes take effect at once, even in a running service.\n\nExample:\n  runwarden keys create --tenant acme");
  add_create(*keys, context);
  add_list(*keys, context);
  add_revoke(*keys, context);
  add_rotate(*keys, context);
  add_keys_export(*keys, context);
  add_keys_import(*keys, context);
}

}  // namespace runwarden::cli
