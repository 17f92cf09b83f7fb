#include "part_settings/part_settings.h"

#include <algorithm>
#include <array>
#include <thread>

#include "base/secret_file.h"
#include "config/loading.h"
#include "config/opinion_prompts.h"
#include "http/server.h"
#include "http_client/address_rules.h"
#include "opinion/request.h"

namespace runwarden::part_settings {
namespace {

// Half of the records is what 64 batches of one tenant can queue; records are small, so the byte limit rarely applies.
constexpr std::uint64_t kMaxQueuedRecords = 131'072;
constexpr std::uint64_t kMaxQueuedBytes = 256ull << 20;

// The keys known to config::changed_keys() that a reload applies. All others take effect at a restart.
constexpr std::array<std::string_view, 15> kReloadedKeys = {"limits.max_body_bytes",
                                                            "limits.max_batch_bytes",
                                                            "limits.max_batch_runs",
                                                            "limits.max_json_depth",
                                                            "limits.requests_per_second",
                                                            "limits.burst",
                                                            "limits.max_reply_bytes",
                                                            "limits.otlp_max_body_bytes",
                                                            "second_opinion.api_key_file",
                                                            "second_opinion.may_confirm",
                                                            "second_opinion.may_silence",
                                                            "second_opinion.max_in_flight",
                                                            "second_opinion.max_input_tokens",
                                                            "second_opinion.budget.requests_per_hour",
                                                            "second_opinion.budget.tokens_per_day"};

constexpr const char* kUserAgent = "runwarden/" RUNWARDEN_VERSION;

Error opinion_fault(const config::Settings& settings, const std::string& key, const std::string& detail) {
  return {Code::validation_failed, settings.fault_of("second_opinion." + key) + detail, {}, {}};
}

// A key goes into a header field.
Result<std::string> read_api_key(const config::Settings& settings) {
  const std::string& file = settings.second_opinion.api_key_file;
  if (file.empty()) return std::string();
  auto key = read_secret_file(file);
  if (!key.ok()) return opinion_fault(settings, "api_key_file", key.error().detail);
  const bool one_line = std::all_of(key->begin(), key->end(), [](unsigned char c) { return c > 0x20 && c < 0x7F; });
  if (!one_line)
    return opinion_fault(settings, "api_key_file", "\"" + file + "\" contains more than a key: expected one line without spaces");
  return key;
}

std::size_t cores() {
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

WorkPool::Size work_threads(const config::Settings& settings) {
  if (settings.store.driver != "postgres") return cores();
  return {std::max(cores(), static_cast<std::size_t>(settings.store.read_connections)), cores()};
}

std::optional<store::PostgresTarget> postgres_target(const config::Settings& settings) {
  const config::StoreSection& store = settings.store;
  if (store.driver != "postgres") return std::nullopt;
  return store::PostgresTarget{.dsn = store.dsn,
                               .password_file = store.password_file,
                               .write_connections = static_cast<std::size_t>(store.write_connections),
                               .read_connections = static_cast<std::size_t>(store.read_connections),
                               .connect_timeout_ms = store.connect_timeout_ms,
                               .patience_ms = store.patience_ms,
                               .require_sync_standby = store.require_sync_standby,
                               .prepared = store.prepared,
                               .allow_plaintext = store.allow_plaintext,
                               .dsn_fault = settings.fault_of("store.dsn"),
                               .password_file_fault = settings.fault_of("store.password_file")};
}

store::StoreSettings store_settings(const config::Settings& settings) {
  store::StoreSettings opening;
  opening.postgres = postgres_target(settings);
  opening.state_dir = settings.store.path;
  opening.max_bytes = static_cast<std::uint64_t>(settings.store.map_size_bytes);
  opening.commit_interval_ms = settings.store.commit_interval_ms;
  opening.max_commit_records = static_cast<std::size_t>(settings.store.max_commit_records);
  opening.max_waiting = kMaxQueuedRecords;
  opening.max_waiting_bytes = kMaxQueuedBytes;
  opening.max_clusters = static_cast<std::uint64_t>(settings.limits.max_clusters);
  opening.max_pending_messages = static_cast<std::uint64_t>(settings.webhooks.max_pending);
  opening.dimension_names = settings.page.dimensions;
  opening.ledger = settings.ledger.enabled ? store::StoreSettings::Ledger::on : store::StoreSettings::Ledger::off;
  opening.keep_idempotency_ms = settings.retention.idempotency_keys_ms;
  if (settings.store.create_new) opening.if_lost = store::StoreSettings::IfLost::create_new;
  return opening;
}

namespace {

ingest::OpinionRules opinion_rules(const config::SecondOpinionSection& section) {
  if (!section.enabled) return {};
  return {.candidates = section.ask != "alarms",
          .alarms = section.ask != "candidates",
          .detectors = {section.detectors.begin(), section.detectors.end()}};
}

}  // namespace

ingest::Ingest::Limits ingest_limits(const config::Settings& settings) {
  const config::BufferSection& buffer = settings.buffer;
  return {.max_json_depth = static_cast<int>(settings.limits.max_json_depth),
          .max_events = static_cast<std::uint32_t>(buffer.max_events),
          .max_open_runs = static_cast<std::uint64_t>(buffer.max_open_runs),
          .dimensions = settings.page.dimensions,
          .buffer = {.idle_ms = buffer.idle_timeout_ms,
                     .max_age_ms = buffer.max_age_ms,
                     .otlp_root_grace_ms = buffer.otlp_root_grace_ms,
                     .otlp_idle_ms = buffer.otlp_idle_timeout_ms},
          .opinions = opinion_rules(settings.second_opinion)};
}

Result<webhooks::DispatchSettings> dispatch_settings(const config::Settings& settings) {
  auto rules = http_client::AddressRules::make(settings.webhooks.allow, settings.webhooks.allow_http);
  if (!rules.ok()) return Error{Code::validation_failed, "webhooks.allow: " + rules.error().detail, {}, {}};
  return webhooks::DispatchSettings{.rules = std::move(*rules),
                                    .retry_ms = settings.webhooks.retry_ms,
                                    .timeout_ms = settings.webhooks.timeout_ms,
                                    .public_url = settings.page.public_url,
                                    .user_agent = kUserAgent};
}

Result<SecondOpinion> second_opinion(const config::Settings& settings) {
  const config::SecondOpinionSection& from = settings.second_opinion;
  using Rules = http_client::AddressRules;
  auto rules = Rules::make({}, true, Rules::Ports::any);
  const http_client::CheckedUrl url = http_client::check_url(from.url, *rules);
  if (url.fault) return opinion_fault(settings, "url", *url.fault + ", got \"" + from.url + "\"");
  rules = Rules::make(from.allow.empty() ? std::vector<std::string>{url.host} : from.allow, true, Rules::Ports::any);
  if (!rules.ok()) return opinion_fault(settings, from.allow.empty() ? "url" : "allow", rules.error().detail);
  auto key = read_api_key(settings);
  if (!key.ok()) return std::move(key.error());
  const std::size_t fewest = opinion::fewest_input_tokens(config::built_in_opinion_prompts());
  if (static_cast<std::size_t>(from.max_input_tokens) < fewest) {
    return opinion_fault(settings, "max_input_tokens",
                         "expected at least " + std::to_string(fewest) + ", which the prompts and part of a run take, got " +
                             std::to_string(from.max_input_tokens));
  }
  return SecondOpinion{
      .endpoint =
          {.url = from.url, .model = from.model, .rules = std::move(*rules), .timeout_ms = from.timeout_ms, .user_agent = kUserAgent},
      .worker = {.api_key = std::move(*key),
                 .max_in_flight = static_cast<std::size_t>(from.max_in_flight),
                 .max_input_tokens = static_cast<std::size_t>(from.max_input_tokens),
                 .may_confirm = from.may_confirm,
                 .may_silence = from.may_silence,
                 .budget = {static_cast<std::uint64_t>(from.requests_per_hour), static_cast<std::uint64_t>(from.tokens_per_day)}}};
}

std::int64_t max_clock_step_ms(const config::Settings& settings) {
  const std::int64_t most_ms = settings.retention.max_clock_step_ms;
  return most_ms == config::kForever ? ClockGuard::kNoLimit : most_ms;
}

ops::Housekeeping::Settings housekeeping_settings(const config::Settings& settings) {
  const config::RetentionSection& retention = settings.retention;
  const auto period = [](std::int64_t ms) { return ms == config::kForever ? std::nullopt : std::optional(ms); };
  return {.periods = {.runs_ms = period(retention.runs_ms),
                      .failures_ms = period(retention.failures_ms),
                      .changes_ms = period(retention.changes_ms),
                      .policies_ms = period(retention.policies_ms),
                      .deliveries_ms = settings.webhooks.keep_ms},
          .checkpoint_interval_ms = settings.ledger.enabled ? std::optional(settings.ledger.checkpoint_interval_ms) : std::nullopt};
}

namespace {

http::ServerSettings http_settings(const config::Settings& settings, const std::string& address) {
  http::ServerSettings http;
  http.address = address;
  http.threads = static_cast<int>(settings.server.threads > 0 ? static_cast<std::size_t>(settings.server.threads)
                                                              : std::max<std::size_t>(1, cores() / 2));
  http.max_connections = static_cast<std::size_t>(settings.limits.max_connections);
  http.header_timeout_ms = settings.limits.header_timeout_ms;
  http.body_timeout_ms = settings.limits.body_timeout_ms;
  http.drain_timeout_ms = settings.server.drain_timeout_ms - std::min<std::int64_t>(settings.server.drain_timeout_ms / 10, 1000);
  http.trusted_proxies = settings.server.trusted_proxies;
  return http;
}

}  // namespace

api::ApiSettings api_settings(const config::Settings& settings) {
  api::ApiSettings api;
  api.limits = request_limits(settings.limits);
  api.server = http_settings(settings, settings.server.address);
  if (!settings.server.ops_address.empty()) {
    api.ops_server = http_settings(settings, settings.server.ops_address);
    api.ops_server->address_setting = "server.ops_address";
    api.ops_server->threads = 1;
  }
  if (settings.server.page) api.page_folder = settings.store.path;
  return api;
}

api::RequestLimits request_limits(const config::LimitsSection& limits) {
  return {.max_body_bytes = static_cast<std::uint64_t>(limits.max_body_bytes),
          .max_batch_bytes = static_cast<std::uint64_t>(limits.max_batch_bytes),
          .max_batch_runs = static_cast<std::uint64_t>(limits.max_batch_runs),
          .otlp_max_body_bytes = static_cast<std::uint64_t>(limits.otlp_max_body_bytes),
          .max_reply_bytes = static_cast<std::uint64_t>(limits.max_reply_bytes),
          .max_json_depth = static_cast<int>(limits.max_json_depth),
          .rate = {limits.requests_per_second, limits.burst}};
}

std::string keys_that_need_a_restart(const config::Settings& started_with, const config::Settings& fresh) {
  std::string text;
  for (const std::string& key : config::changed_keys(started_with, fresh)) {
    if (std::find(kReloadedKeys.begin(), kReloadedKeys.end(), key) == kReloadedKeys.end()) text += (text.empty() ? "" : ", ") + key;
  }
  return text;
}

}  // namespace runwarden::part_settings
