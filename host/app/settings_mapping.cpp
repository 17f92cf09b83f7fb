#include "app/settings_mapping.h"

#include <algorithm>
#include <array>
#include <thread>

namespace runwarden::app {
namespace {

// Half of the records is what 64 batches of one tenant can queue; records are small, so the byte limit rarely applies.
constexpr std::uint64_t kMaxQueuedRecords = 131'072;
constexpr std::uint64_t kMaxQueuedBytes = 256ull << 20;

// The keys known to config::changed_keys() that apply_config() applies. All others take effect at a restart.
constexpr std::array<std::string_view, 8> kReloadedKeys = {"limits.max_body_bytes",  "limits.max_batch_bytes",     "limits.max_batch_runs",
                                                           "limits.max_json_depth",  "limits.requests_per_second", "limits.burst",
                                                           "limits.max_reply_bytes", "limits.otlp_max_body_bytes"};

}  // namespace

std::size_t cores() {
  return std::max(1u, std::thread::hardware_concurrency());
}

std::size_t work_threads(const config::Settings& settings) {
  if (settings.store.driver != "postgres") return cores();
  return std::max(cores(), static_cast<std::size_t>(settings.store.read_connections));
}

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

std::optional<store::PostgresPlace> postgres_place(const config::Settings& settings) {
  const config::StoreSection& store = settings.store;
  if (store.driver != "postgres") return std::nullopt;
  return store::PostgresPlace{.dsn = store.dsn,
                              .password_file = store.password_file,
                              .write_connections = static_cast<std::size_t>(store.write_connections),
                              .read_connections = static_cast<std::size_t>(store.read_connections),
                              .connect_timeout_ms = store.connect_timeout_ms,
                              .patience_ms = store.patience_ms,
                              .require_sync_standby = store.require_sync_standby,
                              .prepared = store.prepared,
                              .allow_plaintext = store.allow_plaintext};
}

store::StoreSettings store_settings(const config::Settings& settings) {
  store::StoreSettings opening;
  opening.postgres = postgres_place(settings);
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
  if (settings.store.begin_anew) opening.if_lost = store::StoreSettings::IfLost::begin_anew;
  return opening;
}

ingest::Ingest::Limits ingest_limits(const config::Settings& settings) {
  const config::BufferSection& buffer = settings.buffer;
  return {.max_json_depth = static_cast<int>(settings.limits.max_json_depth),
          .max_events = static_cast<std::uint32_t>(buffer.max_events),
          .max_open_runs = static_cast<std::uint64_t>(buffer.max_open_runs),
          .dimensions = settings.page.dimensions,
          .buffer = {.idle_ms = buffer.idle_timeout_ms,
                     .max_age_ms = buffer.max_age_ms,
                     .otlp_root_grace_ms = buffer.otlp_root_grace_ms,
                     .otlp_idle_ms = buffer.otlp_idle_timeout_ms}};
}

Result<webhooks::DispatchSettings> dispatch_settings(const config::Settings& settings) {
  auto rules = webhooks::AddressRules::make(settings.webhooks.allow, settings.webhooks.allow_http);
  if (!rules.ok()) return Error{Code::validation_failed, "webhooks.allow: " + rules.error().detail, {}, {}};
  return webhooks::DispatchSettings{.rules = std::move(*rules),
                                    .retry_ms = settings.webhooks.retry_ms,
                                    .timeout_ms = settings.webhooks.timeout_ms,
                                    .public_url = settings.page.public_url,
                                    .user_agent = "runwarden/" RUNWARDEN_VERSION};
}

ops::StoreMaintenance::Periods retention_periods(const config::Settings& settings) {
  const config::RetentionSection& retention = settings.retention;
  const auto period = [](std::int64_t ms) { return ms == config::kForever ? std::nullopt : std::optional(ms); };
  return {.runs_ms = period(retention.runs_ms),
          .failures_ms = period(retention.failures_ms),
          .changes_ms = period(retention.changes_ms),
          .policies_ms = period(retention.policies_ms),
          .deliveries_ms = settings.webhooks.keep_ms};
}

void set_limits(api::ApiLimits& api, const config::LimitsSection& limits) {
  api.max_body_bytes = static_cast<std::uint64_t>(limits.max_body_bytes);
  api.max_batch_bytes = static_cast<std::uint64_t>(limits.max_batch_bytes);
  api.max_batch_runs = static_cast<std::uint64_t>(limits.max_batch_runs);
  api.otlp_max_body_bytes = static_cast<std::uint64_t>(limits.otlp_max_body_bytes);
  api.max_json_depth = static_cast<int>(limits.max_json_depth);
}

std::string keys_that_need_a_restart(const config::Settings& started_with, const config::Settings& fresh) {
  std::string text;
  for (const std::string& key : config::changed_keys(started_with, fresh)) {
    if (std::find(kReloadedKeys.begin(), kReloadedKeys.end(), key) == kReloadedKeys.end()) text += (text.empty() ? "" : ", ") + key;
  }
  return text;
}

}  // namespace runwarden::app
