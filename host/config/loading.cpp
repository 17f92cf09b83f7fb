#include "config/loading.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <set>

#include "base/ascii.h"
#include "base/nearest_names.h"
#include "base/program_file.h"
#include "config/addresses.h"
#include "config/core_types.h"
#include "config/detectors_reader.h"
#include "config/file_text.h"
#include "config/redact_reader.h"
#include "config/second_opinion_reader.h"
#include "config/section.h"

extern char** environ;

namespace runwarden::config {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultFile = "/etc/runwarden/runwarden.yaml";
constexpr std::string_view kPrefix = "RUNWARDEN_";
constexpr std::string_view kFileVariable = "RUNWARDEN_CONFIG";
constexpr std::int64_t kGiB = 1LL << 30;
constexpr Range kDelay{1, 3'600'000};           // timeouts
constexpr Range kLifetime{1, 36'500 * kDayMs};  // retention

// The member, or null if absent.
const Node* written(const Node* node, std::string_view key) {
  const Member* member = node ? node->member(key) : nullptr;
  return member ? member->value.get() : nullptr;
}

void check_address(Section& section, std::string_view key, const Node* node, const std::string& address, bool allow_plaintext) {
  if (!node || !is_text(*node)) return;
  if (!is_listen_address(address)) {
    section.fault(key, *node, "a numeric address or localhost, and a port from 0 to 65535, such as 127.0.0.1:8080 or [::1]:8080");
  } else if (!allow_plaintext && !is_loopback(address)) {
    section.fault(key, *node,
                  "a loopback address, because keys would cross the network unencrypted (put a TLS proxy in front, or set "
                  "server.allow_plaintext: true)");
  }
}

void read_server(const Node* node, Reading& reading, ServerSection& out) {
  Section section(node, "server", reading);
  section.text("address", out.address);
  section.integer("threads", {0, 1024}, out.threads);
  section.duration("drain_timeout", {0, 3'600'000}, out.drain_timeout_ms);
  section.boolean("allow_plaintext", out.allow_plaintext);
  section.texts("trusted_proxies", out.trusted_proxies, [](const std::string& item) {
    return is_address_block(item) ? "" : "expected an address or a block, such as 10.0.0.7 or 10.0.0.0/8, got \"" + item + "\"";
  });
  section.duration("canary_interval", kDelay, out.canary_interval_ms);
  section.boolean("page", out.page);
  section.text("ops_address", out.ops_address);
  check_address(section, "address", written(node, "address"), out.address, out.allow_plaintext);
  if (!out.ops_address.empty()) check_address(section, "ops_address", written(node, "ops_address"), out.ops_address, out.allow_plaintext);
  if (!out.ops_address.empty() && listen_alike(out.address, out.ops_address)) {
    const Node* ops = written(node, "ops_address");
    section.fault("ops_address", *ops, "a port other than server.address's, or empty to serve both on one");
  }
}

void read_limits(const Node* node, Reading& reading, LimitsSection& out) {
  Section section(node, "limits", reading);
  section.size("max_body_bytes", {1, kGiB}, out.max_body_bytes);
  section.size("max_batch_bytes", {1, 1024 * kGiB}, out.max_batch_bytes);
  section.integer("max_json_depth", {1, 1000}, out.max_json_depth);
  section.integer("max_batch_runs", {1, 100'000'000}, out.max_batch_runs);
  section.number("requests_per_second", {0, 1'000'000}, out.requests_per_second);
  section.integer("burst", {0, 1'000'000}, out.burst);
  section.duration("header_timeout", kDelay, out.header_timeout_ms);
  section.duration("body_timeout", kDelay, out.body_timeout_ms);
  section.integer("max_connections", {1, 1'000'000}, out.max_connections);
  section.size("max_reply_bytes", {32LL << 20, 1024 * kGiB}, out.max_reply_bytes);
  section.size("otlp_max_body_bytes", {1, kGiB}, out.otlp_max_body_bytes);
  section.integer("max_clusters", {1, 10'000'000}, out.max_clusters);
}

void read_buffer(const Node* node, Reading& reading, BufferSection& out) {
  Section section(node, "buffer", reading);
  section.duration("idle_timeout", kLifetime, out.idle_timeout_ms);
  section.duration("max_age", kLifetime, out.max_age_ms);
  section.integer("max_events", {1, 1'000'000}, out.max_events);
  section.integer("max_open_runs", {1, 1'000'000'000}, out.max_open_runs);
  section.duration("otlp_root_grace", {0, kLifetime.high}, out.otlp_root_grace_ms);
  section.duration("otlp_idle_timeout", kLifetime, out.otlp_idle_timeout_ms);
}

bool is_empty_mapping(const Node& node) {
  return node.kind == Node::Kind::mapping && node.members.empty();
}

void read_store(const Node* node, Reading& reading, StoreSection& out) {
  Section section(node, "store", reading);
  section.choice("driver", {"lmdb", "postgres"}, out.driver);
  section.text("path", out.path);
  if (const Node* path = written(node, "path"); path && out.path.empty()) section.fault("path", *path, "a folder");
  section.size("map_size", {4LL << 20, 64 * 1024 * kGiB}, out.map_size_bytes);
  section.duration("commit_interval", {0, 10'000}, out.commit_interval_ms);
  section.integer("max_commit_records", {1, 100'000}, out.max_commit_records);
  section.text("dsn", out.dsn);
  section.text("password_file", out.password_file);
  section.integer("write_connections", {1, 64}, out.write_connections);
  section.integer("read_connections", {1, 256}, out.read_connections);
  section.duration("connect_timeout", {1'000, 60'000}, out.connect_timeout_ms);
  section.duration("patience", {1'000, 600'000}, out.patience_ms);
  section.boolean("require_sync_standby", out.require_sync_standby);
  section.boolean("prepared", out.prepared);
  section.boolean("allow_plaintext", out.allow_plaintext);
  // Its place is reserved for databases that share the tenants.
  if (const Node* shards = section.take("shards"); shards && shards->kind != Node::Kind::null && !is_empty_mapping(*shards))
    section.fault("shards", *shards, "an empty mapping, because shards are not in this version");
  if (const Node* driver = written(node, "driver"); driver && out.driver == "postgres" && out.dsn.empty())
    section.fault(
        "driver", *driver,
        "lmdb, or postgres together with store.dsn, the database's address, such as \"host=db.internal user=runwarden dbname=runwarden\"");
}

void read_retention(const Node* node, Reading& reading, RetentionSection& out) {
  Section section(node, "retention", reading);
  section.duration_or_forever("runs", kLifetime, out.runs_ms);
  section.duration_or_forever("failures", kLifetime, out.failures_ms);
  section.duration_or_forever("changes", kLifetime, out.changes_ms);
  section.duration_or_forever("policies", kLifetime, out.policies_ms);
  section.duration_or_forever("idempotency_keys", kLifetime, out.idempotency_keys_ms);
  section.duration_or_forever("max_clock_step", {3'600'000, kLifetime.high}, out.max_clock_step_ms);
}

// `seen`: the names before this one, which is added.
std::string dimension_fault(const std::string& name, std::set<std::string>& seen) {
  if (!seen.insert(name).second) return "expected each name once, got \"" + name + "\" again";
  const bool has_control = std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (!has_control && name.size() <= model::kMostDimensionBytes) return {};
  return "expected the name of a member of metadata, of at most " + std::to_string(model::kMostDimensionBytes) +
         " bytes and without control characters, got \"" + name.substr(0, model::kMostDimensionBytes) + "\"";
}

void read_page(const Node* node, Reading& reading, PageSection& out) {
  Section section(node, "page", reading);
  section.text("public_url", out.public_url);
  while (out.public_url.ends_with('/')) out.public_url.pop_back();
  if (out.public_url.ends_with("/ui")) out.public_url.resize(out.public_url.size() - 3);  // as copied from a browser
  const bool takes_paths = is_http_url(out.public_url) && out.public_url.find_first_of("?#") == std::string::npos;
  if (!out.public_url.empty() && !takes_paths) {
    section.fault("public_url", *written(node, "public_url"),
                  "where people open the page, such as https://runwarden.example.com, without ? and #");
  }
  std::set<std::string> seen;
  section.texts("dimensions", out.dimensions, [&seen](const std::string& name) { return dimension_fault(name, seen); });
  if (out.dimensions.size() > model::kMostDimensions) {
    reading.faults.push_back(
        {"page.dimensions", written(node, "dimensions")->location,
         "expected at most " + std::to_string(model::kMostDimensions) + " names, got " + std::to_string(out.dimensions.size())});
  }
}

std::optional<std::int64_t> retry_delay_ms(const std::string& text) {
  const auto delay_ms = duration_ms(text);
  return delay_ms && *delay_ms >= 1 && *delay_ms <= 30 * kDayMs ? delay_ms : std::nullopt;
}

void read_webhooks(const Node* node, Reading& reading, WebhooksSection& out) {
  constexpr std::size_t kMostRetries = 50;
  Section section(node, "webhooks", reading);
  std::vector<std::string> retry;
  for (const std::int64_t delay_ms : out.retry_ms) retry.push_back(duration_text(delay_ms));
  section.texts("retry", retry, [](const std::string& item) {
    return retry_delay_ms(item) ? "" : "expected a duration from 1ms to 30d, such as 5m, got \"" + item + "\"";
  });
  section.duration("timeout", {100, 300'000}, out.timeout_ms);
  section.duration("keep", kLifetime, out.keep_ms);
  section.integer("max_pending", {1, 10'000'000}, out.max_pending);
  section.peers("allow", out.allow);
  section.boolean("allow_http", out.allow_http);
  const Node* const delays = written(node, "retry");
  if (delays == nullptr) return;
  out.retry_ms.clear();
  for (const std::string& text : retry) out.retry_ms.push_back(retry_delay_ms(text).value_or(0));
  if (retry.size() > kMostRetries) {
    reading.faults.push_back({"webhooks.retry", delays->location,
                              "expected at most " + std::to_string(kMostRetries) + " durations, got " + std::to_string(retry.size())});
  }
}

void read_ledger(const Node* node, Reading& reading, LedgerSection& out) {
  Section section(node, "ledger", reading);
  section.boolean("enabled", out.enabled);
  section.duration("checkpoint_interval", {100, kDayMs}, out.checkpoint_interval_ms);
}

void read_log(const Node* node, Reading& reading, LogSection& out) {
  Section section(node, "log", reading);
  section.choice("level", {"debug", "info", "warn", "error"}, out.level);
  section.choice("format", {"json", "text"}, out.format);
}

// Sets the value at that path in the tree, creating mappings as needed.
NodePtr with_value(const NodePtr& node, const std::vector<std::string>& path, std::size_t depth, const NodePtr& value) {
  if (depth == path.size()) return value;
  if (node && node->kind != Node::Kind::mapping && node->kind != Node::Kind::null) return node;  // reported elsewhere
  Node changed;
  if (node) changed = *node;
  changed.kind = Node::Kind::mapping;
  if (!node) changed.location = value->location;
  changed.from_environment = !node;
  const auto found =
      std::find_if(changed.members.begin(), changed.members.end(), [&](const Member& member) { return member.key == path[depth]; });
  if (found != changed.members.end()) {
    found->value = with_value(found->value, path, depth + 1, value);
  } else {
    changed.members.push_back({path[depth], value->location, with_value(nullptr, path, depth + 1, value)});
  }
  return std::make_shared<const Node>(std::move(changed));
}

// limits.burst: RUNWARDEN_LIMITS__BURST.
std::string variable_of(std::string_view key) {
  std::string name(kPrefix);
  for (const char c : key) {
    name += c == '.' ? std::string("__") : std::string(1, ascii::to_upper(c));
  }
  return name;
}

// LIMITS__BURST: limits, burst.
std::vector<std::string> path_of_variable(std::string_view name) {
  std::vector<std::string> path;
  const std::string text = ascii::to_lower(name);
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find("__", at), text.size());
    path.push_back(text.substr(at, end - at));
    at = end + 2;
  }
  return path;
}

// A variable with this program's prefix that names no setting.
void warn_of_variables(const LoadOptions& options, const std::vector<std::string>& known, Settings& settings) {
  for (const auto& [name, value] : options.environment) {
    if (!name.starts_with(kPrefix) || name == kFileVariable || name.find("__", kPrefix.size()) != std::string::npos) continue;
    std::vector<std::string> variables;
    variables.reserve(known.size());
    for (const std::string& key : known) variables.push_back(variable_of(key));
    settings.warnings.push_back("the environment variable " + name +
                                " names no setting and has no effect; write RUNWARDEN_<SECTION>__<KEY>, " + name_hint(name, variables));
  }
}

// The answer to a repeated request is made from the stored run.
void warn_of_retention(Settings& settings) {
  const RetentionSection& kept = settings.retention;
  const bool keys_last = kept.idempotency_keys_ms == kForever || kept.runs_ms < kept.idempotency_keys_ms;
  if (kept.runs_ms == kForever || !keys_last) return;
  const auto text = [](std::int64_t ms) { return ms == kForever ? std::string("forever") : duration_text(ms); };
  const auto place = settings.written.find(settings.written.count("retention.runs") > 0 ? "retention.runs" : "retention.idempotency_keys");
  settings.service_warnings.push_back("retention.runs" + (place == settings.written.end() ? "" : " (" + place->second + ")") + ": " +
                                      text(kept.runs_ms) + " is less than retention.idempotency_keys, " + text(kept.idempotency_keys_ms) +
                                      ": an Idempotency-Key is forgotten as soon as its run expires, and a retry after that is stored as a "
                                      "new run; keep runs at least as long");
}

NodePtr with_environment(NodePtr root, const std::vector<std::pair<std::string, std::string>>& environment) {
  for (const auto& [name, value] : environment) {
    if (!name.starts_with(kPrefix) || name.find("__", kPrefix.size()) == std::string::npos) continue;
    Node scalar = *plain_scalar(value, {std::make_shared<const std::string>(name), 0, 0});
    scalar.from_environment = true;
    root = with_value(root, path_of_variable(std::string_view(name).substr(kPrefix.size())), 0,
                      std::make_shared<const Node>(std::move(scalar)));
  }
  return root;
}

std::string absolute_from(const fs::path& folder, const std::string& path) {
  return fs::absolute(folder / path).lexically_normal().string();
}

// Makes a path absolute unless it is empty. A relative path in the file starts at the file's folder.
void make_absolute(const Node* said, const fs::path& folder, std::string& path) {
  if (path.empty()) return;
  const bool of_file = said && !said->from_environment;
  path = absolute_from(of_file ? folder : fs::path(), path);
}

std::vector<std::string> settings_keys(const Settings& settings) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : settings.values) keys.push_back(key);
  return keys;
}

void read_root(const Node& root, const DetectorSources& sources, Reading& reading, Settings& settings) {
  Section section(&root, "", reading);
  read_server(section.take("server"), reading, settings.server);
  read_limits(section.take("limits"), reading, settings.limits);
  read_buffer(section.take("buffer"), reading, settings.buffer);
  const Node* store = section.take("store");
  read_store(store, reading, settings.store);
  read_retention(section.take("retention"), reading, settings.retention);
  read_page(section.take("page"), reading, settings.page);
  read_webhooks(section.take("webhooks"), reading, settings.webhooks);
  const Node* second_opinion = section.take("second_opinion");
  read_second_opinion(second_opinion, reading, settings.second_opinion);
  read_ledger(section.take("ledger"), reading, settings.ledger);
  const Node* redact = section.take("redact");
  const Node* detectors = section.take("detectors");
  read_log(section.take("log"), reading, settings.log);
  settings.written = reading.locations;
  settings.values = reading.values;  // before the lists of rules and detectors, which have no keys
  read_redact(redact, reading, settings.redact);
  read_detectors(detectors, sources, reading, settings);
  check_second_opinion(second_opinion, settings.detectors, reading, settings.second_opinion);
  make_absolute(written(store, "path"), sources.folder, settings.store.path);
  make_absolute(written(store, "password_file"), sources.folder, settings.store.password_file);
  make_absolute(written(second_opinion, "api_key_file"), sources.folder, settings.second_opinion.api_key_file);
}

Error refusal(std::vector<Fault> faults) {
  std::stable_sort(faults.begin(), faults.end(), [](const Fault& a, const Fault& b) {
    const int files = a.location.file->compare(*b.location.file);
    return files != 0 ? files < 0 : std::pair(a.location.line, a.location.column) < std::pair(b.location.line, b.location.column);
  });
  Error error{Code::validation_failed, {}, {}, {}};
  for (const Fault& fault : faults) {
    error.detail += (error.detail.empty() ? "" : "\n") + fault.text();
    error.faults.push_back({fault.path, "config", fault.detail});
  }
  return error;
}

// The text of the file; empty if the default file does not exist.
Result<std::string> text_of(const LoadOptions& options) {
  std::error_code ignored;
  if (options.path.empty() || (!options.named && !fs::exists(options.path, ignored))) return std::string();
  Result<std::string> text = read_file(options.path.string());
  if (!text) text.error().detail = "config: " + options.path.string() + ": " + text.error().detail;
  return text;
}

}  // namespace

LoadOptions process_options(std::string config_flag, std::string data_dir_flag) {
  LoadOptions options;
  for (char** variable = environ; variable && *variable; ++variable) {
    const std::string_view text = *variable;
    const auto equals = text.find('=');
    if (!text.starts_with(kPrefix) || equals == std::string_view::npos) continue;
    options.environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    if (text.starts_with("RUNWARDEN_CONFIG=") && config_flag.empty()) config_flag = text.substr(equals + 1);
  }
  options.named = !config_flag.empty();
  options.path = options.named ? config_flag : kDefaultFile;
  options.data_dir = std::move(data_dir_flag);
  options.binary_dir = program_file().parent_path();
  return options;
}

PartialSettings load_partially(const LoadOptions& options) {
  const Result<std::string> text = text_of(options);
  if (!text) return {std::nullopt, text.error()};
  std::error_code ignored;
  const bool has_file = !options.path.empty() && (options.named || fs::exists(options.path, ignored));
  Settings settings;
  Reading reading;
  NodePtr root = parse_yaml(*text, has_file ? options.path.string() : "built-in", reading.faults);
  if (!root) return {std::nullopt, refusal(std::move(reading.faults))};
  root = with_environment(std::move(root), options.environment);
  DetectorSources sources;
  if (has_file) {
    settings.source = options.path.string();
    sources.folder = fs::absolute(options.path).parent_path();
  }
  sources.binary_dir = options.binary_dir;
  read_root(*root, sources, reading, settings);
  if (!options.data_dir.empty()) {
    settings.store.path = absolute_from({}, options.data_dir);
    settings.written["store.path"] = "--data-dir";
  }
  settings.values["store.path"] = settings.store.path;
  warn_of_variables(options, settings_keys(settings), settings);
  warn_of_retention(settings);
  return {std::move(settings), reading.faults.empty() ? Status(Nothing{}) : Status(refusal(std::move(reading.faults)))};
}

Result<Settings> load(const LoadOptions& options) {
  PartialSettings loaded = load_partially(options);
  if (!loaded.status.ok()) return std::move(loaded.status.error());
  return std::move(*loaded.settings);
}

std::string Settings::fault_of(const std::string& key) const {
  const auto found = written.find(key);
  return "config: " + key + (found == written.end() ? "" : " (" + found->second + ")") + ": ";
}

std::vector<std::string> changed_keys(const Settings& before, const Settings& after) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : after.values) {
    const auto was = before.values.find(key);
    if (was == before.values.end() || was->second != value) keys.push_back(key);
  }
  return keys;
}

std::vector<std::string> known_keys() {
  Settings settings;
  Reading reading;
  const Node empty;
  read_root(empty, {}, reading, settings);
  return reading.known;
}

}  // namespace runwarden::config
