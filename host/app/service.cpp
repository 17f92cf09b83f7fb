#include "app/service.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <thread>

#include "api/api.h"
#include "base/mutex.h"
#include "base/time_text.h"
#include "config/otlp_mapping.h"
#include "detect/abandoned_calls.h"
#include "detect/crash_marks.h"
#include "detect/crash_note.h"
#include "detect/libraries.h"
#include "ingest/canary_run.h"
#include "ops/canary.h"
#include "ops/clock_monitor.h"
#include "ops/log.h"
#include "ops/metrics.h"
#include "ops/service_manager.h"
#include "ops/space_monitor.h"
#include "ops/ticker.h"
#include "ops/watchdog.h"
#include "store/open_store.h"

namespace runwarden::app {
namespace {

// Bounds for requests between body and answer. Enough for every connection of a busy service; more would only wait longer. A tenant may use
// at most as much as it leaves free, here and in the bounds for results and queued records.
constexpr std::uint64_t kMaxInFlight = 16'384;
constexpr std::uint64_t kMaxInFlightBytes = 512ull << 20;
constexpr std::uint64_t kMaxResultBytes = 256ull << 20;  // results of unanswered NDJSON batches
constexpr std::uint64_t kMaxQueuedRecords =
    131'072;  // half of it is what 64 batches of one tenant can queue; records are small, so the byte limit rarely applies
constexpr std::uint64_t kMaxQueuedBytes = 256ull << 20;
constexpr std::int64_t kHousekeepingMs = 200;
constexpr std::int64_t kMaintenanceIntervalMs = 10'000;
constexpr std::int64_t kLastCommitsMs = 30'000;  // time for a stop beyond the drain
constexpr std::size_t kDeleteAtOnce = 200;       // records per transaction: a few milliseconds
constexpr std::size_t kBuiltAtOnce = 500;        // likewise

ops::LogLevel log_level(const std::string& name) {
  if (name == "debug") return ops::LogLevel::debug;
  if (name == "warn") return ops::LogLevel::warn;
  if (name == "error") return ops::LogLevel::error;
  return ops::LogLevel::info;
}

ops::LogLevel to_log_level(detect::LogLevel level) {
  switch (level) {
    case detect::LogLevel::debug: return ops::LogLevel::debug;
    case detect::LogLevel::info: return ops::LogLevel::info;
    case detect::LogLevel::warn: return ops::LogLevel::warn;
    case detect::LogLevel::error: return ops::LogLevel::error;
  }
  return ops::LogLevel::error;
}

std::size_t cores() {
  return std::max(1u, std::thread::hardware_concurrency());
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

// The keys known to config::changed_keys() that apply_config() applies. All others take effect at a restart.
constexpr std::array<std::string_view, 8> kReloadedKeys = {"limits.max_body_bytes", "limits.max_batch_bytes",     "limits.max_batch_runs",
                                                           "limits.max_json_depth", "limits.requests_per_second", "limits.burst",
                                                           "limits.max_reply_bytes", "limits.otlp_max_body_bytes"};

// "store.map_size, server.address"; empty if no restart is needed.
std::string keys_that_need_a_restart(const config::Settings& started_with, const config::Settings& fresh) {
  std::string text;
  for (const std::string& key : config::changed_keys(started_with, fresh)) {
    if (std::find(kReloadedKeys.begin(), kReloadedKeys.end(), key) == kReloadedKeys.end()) text += (text.empty() ? "" : ", ") + key;
  }
  return text;
}

void set_limits(api::ApiLimits& api, const config::LimitsSection& limits) {
  api.max_body_bytes = static_cast<std::uint64_t>(limits.max_body_bytes);
  api.max_batch_bytes = static_cast<std::uint64_t>(limits.max_batch_bytes);
  api.max_batch_runs = static_cast<std::uint64_t>(limits.max_batch_runs);
  api.otlp_max_body_bytes = static_cast<std::uint64_t>(limits.otlp_max_body_bytes);
  api.max_json_depth = static_cast<int>(limits.max_json_depth);
}

// A value that a reload replaces as a whole, such as the detectors. Each run reads it once. Any thread.
template <class What>
class Reloadable {
 public:
  std::shared_ptr<What> get() const {
    const MutexLock lock(mutex_);
    return what_;
  }
  void put(std::shared_ptr<What> what) {
    const MutexLock lock(mutex_);
    what_.swap(what);
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<What> what_ RW_GUARDED_BY(mutex_);
};

class Service {
 public:
  Service(const config::Settings& settings, const ServiceHooks& hooks)
      : settings_(settings),
        hooks_(hooks),
        log_(log_level(settings.log.level), settings.log.format == "json" ? ops::LogFormat::json : ops::LogFormat::text) {
    log_.redact_with([this](std::string_view text) { return redaction_.text(text); });
  }

  Status start();
  void wait_for_signals(const std::function<Result<config::Settings>()>& reload);
  void stop();
  // After stop(): whether an abandoned detector call still uses objects of the service.
  bool has_abandoned_calls() const { return pool_ && pool_->abandoned() > 0; }

 private:
  Status open_store();
  void log_unreadable(const std::string& text);
  void record_previous_crash();
  void store_crash_mark(model::CrashMark mark);
  void refresh_crash_marks();
  Result<std::shared_ptr<detect::DetectorSet>> load_detectors(const config::Settings& settings);
  std::filesystem::path state_dir() const { return settings_.store.path; }
  std::filesystem::path plugins_folder() const { return state_dir() / store::kPluginCopies; }
  void make_ingest();
  Status make_page();
  Status listen();
  void reload_detectors(const std::function<Result<config::Settings>()>& reload);
  Status apply_config(const config::Settings& fresh);
  void start_watchdog();
  std::string thread_stalled(std::int64_t within_ms) const;
  void notify_ready();
  std::string serving() const;
  void check_descriptors();
  void housekeeping();
  void log_accept_pauses();
  void save_key_use();
  void delete_old();
  bool delete_some();
  void build_groups();
  std::string tenant_name(model::TenantId tenant);
  api::Readiness readiness();
  void when_ready(const std::function<void(const api::Readiness&)>& done);
  ops::Gauges gauges();
  void log(ops::LogLevel level, std::string_view event, std::string_view text) { log_.write(level, event, {{"text", text}}); }

  config::Settings settings_;
  const ServiceHooks& hooks_;
  SystemClock machine_clock_;
  ClockGuard clock_{machine_clock_};  // the clock of every part of the service
  ops::Log log_;
  ops::Metrics metrics_;
  FairBudget in_flight_{kMaxInFlightBytes, kMaxInFlight};
  FairBudget results_{kMaxResultBytes};
  api::ReplyBudgets replies_;
  api::ApiLimits limits_;
  detect::AbandonedCalls abandoned_calls_;
  detect::CrashMarks crash_marks_;
  bool crash_marks_stored_ = true;  // false: the store was full, and a mark is only in crash_marks_
  Reloadable<detect::DetectorSet> detectors_;
  Reloadable<const redact::Redactor> redactor_;
  ingest::Redaction redaction_{[this] { return redactor_.get(); },
                               [this](std::string_view rule, std::uint64_t values) { metrics_.redacted(rule, values); }};
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<store::WriteQueue> wrapped_queue_;  // by the hook
  store::WriteQueue* queue_ = nullptr;                // of the store, or around it
  std::unique_ptr<auth::KeyRing> keys_;
  std::unique_ptr<auth::RateLimiter> rates_;
  std::unique_ptr<WorkPool> pool_;
  ingest::Turnstile turnstile_;
  std::unique_ptr<ingest::Judge> judge_;
  std::unique_ptr<ingest::RunIngest> runs_;
  std::unique_ptr<ingest::RunResolver> resolver_;
  std::unique_ptr<ingest::EventIngest> events_;
  std::unique_ptr<ingest::ChangeIngest> changes_;
  model::SpanMapping span_mapping_;
  std::unique_ptr<ingest::TraceIngest> traces_;
  std::unique_ptr<ingest::TriageIngest> triage_;
  std::unique_ptr<ingest::CanaryRun> canary_run_;
  std::shared_ptr<ops::Canary> canary_;
  std::unique_ptr<api::Reads> reads_;
  std::unique_ptr<api::PageParts> page_;  // null: server.page is false
  std::unique_ptr<api::ApiParts> parts_;
  std::unique_ptr<api::Api> api_;
  std::unique_ptr<api::Api> ops_api_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<http::Server> ops_server_;
  std::unique_ptr<ops::ClockMonitor> clock_monitor_;
  std::unique_ptr<ops::SpaceMonitor> space_monitor_;
  std::unique_ptr<ops::Ticker> ticker_;
  const ops::ServiceManager manager_;
  std::unique_ptr<ops::Watchdog> watchdog_;
  bool started_ = false;
  bool ready_notified_ = false;
  std::string last_not_ready_reason_;
  std::uint64_t logged_pauses_ = 0;
  std::int64_t next_pause_log_ns_ = 0;  // the earliest time of the next log line about accept pauses
  Mutex tenants_mutex_;
  std::map<model::TenantId, std::string> tenants_ RW_GUARDED_BY(tenants_mutex_);  // names never change
  std::int64_t maintained_ns_ = 0;
  std::atomic<bool> deleting_{false};
  std::atomic<bool> building_{false};
  std::atomic<std::int64_t> last_expired_ns_{0};  // the last time that nothing was left to delete
};

Status Service::open_store() {
  store::StoreSettings opening;
  opening.state_dir = settings_.store.path;
  opening.max_bytes = static_cast<std::uint64_t>(settings_.store.map_size_bytes);
  opening.commit_interval_ms = settings_.store.commit_interval_ms;
  opening.max_commit_records = static_cast<std::size_t>(settings_.store.max_commit_records);
  opening.max_waiting = kMaxQueuedRecords;
  opening.max_waiting_bytes = kMaxQueuedBytes;
  opening.keep_idempotency_ms = settings_.retention.idempotency_keys_ms;
  if (settings_.store.begin_anew) opening.if_lost = store::StoreSettings::IfLost::begin_anew;
  opening.listener.on_unreadable = [this](const std::string& text) { log_unreadable(text); };
  opening.listener.on_last_use = [this](const ClockGuard::LastUse& last_use) {
    const std::int64_t most_ms = settings_.retention.max_clock_step_ms;
    clock_.start(last_use, most_ms == config::kForever ? ClockGuard::kNoLimit : most_ms);
  };
  opening.listener.on_damage = [this](const std::string& text) {
    metrics_.unreadable_record();
    log(ops::LogLevel::error, "store_damaged", text);
  };
  opening.listener.on_begun_anew = [this](const std::string& text) { log(ops::LogLevel::warn, "new_store", text); };
  opening.listener.on_fatal = [this](const std::string& why) {
    log_.write(ops::LogLevel::error, "store_failed", {{"text", std::string_view(why)}});
    log_.flush();
    std::_Exit(EXIT_FAILURE);  // what was asked for is in doubt: nothing more may be acknowledged
  };
  opening.listener.on_fault = [this](const std::string& why) { log(ops::LogLevel::error, "store_fault", why); };
  opening.listener.on_commit = [this](const store::CommitReport& commit) {
    metrics_.commit(commit.records, static_cast<double>(commit.commit_ns) / 1e9);
  };
  auto opened = store::open_store(opening, clock_, store::Role::service);
  if (!opened.ok()) return std::move(opened.error());
  store_ = std::move(*opened);
  if (hooks_.wrap_queue) wrapped_queue_ = hooks_.wrap_queue(*store_);
  queue_ = wrapped_queue_ ? wrapped_queue_.get() : store_.get();
  return Nothing{};
}

void Service::log_unreadable(const std::string& text) {
  metrics_.unreadable_record();
  log(ops::LogLevel::error, "unreadable_record", text);
}

// Stores the crash note of the previous process, if there is one, and installs the handlers for this one.
void Service::record_previous_crash() {
  const auto file = state_dir() / store::kCrashNote;
  auto crash = detect::CrashNote::read(file);
  refresh_crash_marks();
  if (crash) {
    const std::string text = "detector \"" + crash->detector_key + "\" (" + crash->library + ", SHA-256 " + crash->library_sha256 +
                             ") crashed the process (" + detect::signal_name(crash->signal) + ") at " + format_time(crash->key.time_ms) +
                             " while evaluating run \"" + crash->run_id + "\" of tenant \"" + crash->tenant_name +
                             "\"; that run is judged without it until its library changes. Fix or disable it.";
    log(ops::LogLevel::error, "detector_crash", text);
    store_crash_mark(std::move(*crash));
  }
  if (Status watched = detect::CrashNote::watch(file); !watched.ok()) {
    log(ops::LogLevel::warn, "crash_note", watched.error().detail + "; a run that crashes the process will not be recognized");
  }
}

void Service::store_crash_mark(model::CrashMark mark) {
  try {
    for (const model::Tenant& tenant : store_->tenants()) {
      if (tenant.name == mark.tenant_name) mark.tenant = tenant.id;
    }
    crash_marks_.add(mark);
    if (mark.tenant != 0) store_->put_crash_mark(std::move(mark));
  } catch (const store::StoreError& full) {
    crash_marks_stored_ = false;
    log(ops::LogLevel::warn, "crash_note", std::string("the crash mark of that run is lost at the next restart: ") + full.what());
  }
}

// A purge or retention may have deleted some.
void Service::refresh_crash_marks() {
  if (!crash_marks_stored_) return;
  try {
    crash_marks_.put(store_->crash_marks());
  } catch (const store::StoreError& fault) {
    log(ops::LogLevel::error, "store_fault", fault.what());
  }
}

Result<std::shared_ptr<detect::DetectorSet>> Service::load_detectors(const config::Settings& settings) {
  detect::LoadContext context;
  context.private_folder = plugins_folder();
  context.workers = cores();
  context.clock = &clock_;
  context.crash_marks = &crash_marks_;
  context.abandoned_calls = &abandoned_calls_;
  context.log = [this](detect::LogLevel level, std::string_view text) { log(to_log_level(level), "detector", text); };
  context.settings_fault = [&settings](const std::string& tenant, const std::string& key, std::string_view pointer,
                                       std::string_view detail) { return settings.locations.fault(tenant, key, pointer, detail); };
  return detect::DetectorSet::load(settings.detectors, std::move(context));
}

Status Service::start() {
  for (const std::string& warning : settings_.warnings) log(ops::LogLevel::warn, "configuration", warning);
  if (!manager_.fault().empty()) log(ops::LogLevel::warn, "service_manager", manager_.fault());
  check_descriptors();
  if (Status status = open_store(); !status.ok()) return status;
  record_previous_crash();
  if (const std::size_t old = detect::prune_copies(plugins_folder()); old > 0) {
    log(ops::LogLevel::info, "pruned", std::to_string(old) + " unused copies of detector libraries were removed");
  }
  auto mapping = config::read_otlp_mapping(config::built_in_otlp_mapping());
  if (!mapping.ok()) return std::move(mapping.error());
  span_mapping_ = std::move(*mapping);
  auto detectors = load_detectors(settings_);
  if (!detectors.ok()) return std::move(detectors.error());
  detectors_.put(std::move(*detectors));
  redactor_.put(ingest::make_redactor(settings_.redact));
  keys_ = std::make_unique<auth::KeyRing>(auth::KeySource{[this] { return store_->keys(); }, [this] { return store_->keys_version(); }},
                                          clock_);
  rates_ = std::make_unique<auth::RateLimiter>(auth::Rate{settings_.limits.requests_per_second, settings_.limits.burst}, clock_);
  clock_monitor_ = std::make_unique<ops::ClockMonitor>(ops::ClockMonitor::Parts{
      clock_, *store_, [this](auto job) { queue_->run_between(std::move(job)); },
      [this](ops::LogLevel level, std::string_view event, const ClockGuard::Times& times, std::string_view text) {
        const std::string expected = format_time(times.expected_ms);
        const std::string machine = format_time(times.machine_ms);
        log_.write(level, event,
                   {{"expectedTime", std::string_view(expected)}, {"machineTime", std::string_view(machine)}, {"text", text}});
      }});
  space_monitor_ = std::make_unique<ops::SpaceMonitor>(
      *store_, clock_, [this](ops::LogLevel level, std::string_view event, std::string_view text) { log(level, event, text); });
  clock_monitor_->tick();  // log a start in doubt before anything else
  pool_ = std::make_unique<WorkPool>(cores(), [this](const std::string& why) { log(ops::LogLevel::error, "task_failed", why); });
  set_limits(limits_, settings_.limits);
  replies_.reads.set_max_bytes(static_cast<std::uint64_t>(settings_.limits.max_reply_bytes));
  make_ingest();
  auto secret = store_->secret("cursor");
  if (!secret.ok()) return std::move(secret.error());
  reads_ = std::make_unique<api::Reads>(
      *store_, store_->groups(), auth::CursorSeal(std::move(*secret)), clock_, [this] { return detectors_.get(); }, replies_.reads, span_mapping_,
      [this](const std::string& text) { log_unreadable(text); });
  if (Status status = make_page(); !status.ok()) return status;
  parts_.reset(new api::ApiParts{*keys_, *rates_, *runs_, *events_, *changes_, *traces_, *triage_, [this] { return detectors_.get(); }, redaction_, *reads_, *pool_,
                            in_flight_, results_, replies_, metrics_, log_, clock_, limits_, [this](const auto& done) { when_ready(done); },
                            [this] { return gauges(); }, page_.get()});
  last_expired_ns_ = clock_.monotonic_ns();
  if (Status status = listen(); !status.ok()) return status;
  ticker_ = std::make_unique<ops::Ticker>("housekeeping", kHousekeepingMs, [this] { housekeeping(); });
  start_watchdog();
  started_ = true;
  return Nothing{};
}

// Connections need descriptors, as do the store, the log, reloaded libraries and the pollers of threads.
void Service::check_descriptors() {
  constexpr std::uint64_t kBesideConnections = 48;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const auto wanted = static_cast<std::uint64_t>(settings_.limits.max_connections) + kBesideConnections;
  if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= wanted) return;
  log(ops::LogLevel::warn, "few_descriptors",
      "limits.max_connections is " + std::to_string(settings_.limits.max_connections) + ", but this process may only open " +
          std::to_string(limit.rlim_cur) + " files: connections beyond that wait to be accepted. Raise LimitNOFILE= (ulimit -n) to " +
          std::to_string(wanted) + ", or lower limits.max_connections");
}

void Service::start_watchdog() {
  if (!manager_.watchdog_ms()) return;
  watchdog_ = std::make_unique<ops::Watchdog>(
      manager_, *manager_.watchdog_ms(), [this](std::int64_t within_ms) { return thread_stalled(within_ms); },
      ops::Watchdog::Listener{[this](const std::string& why) { log(ops::LogLevel::error, "thread_stalled", why); },
                              [this] { log(ops::LogLevel::warn, "thread_recovered", "watchdog notifications resume"); }});
}

std::string Service::thread_stalled(std::int64_t within_ms) const {
  if (!queue_->moves(within_ms)) return "the writer thread";
  if (!server_->workers_alive(within_ms) || (ops_server_ && !ops_server_->workers_alive(within_ms))) {
    return "an HTTP worker";
  }
  return {};
}

void Service::make_ingest() {
  judge_ = std::make_unique<ingest::Judge>(
      *store_, *pool_, [this] { return detectors_.get(); }, [this](const model::Verdict& verdict) { metrics_.verdict(verdict); });
  runs_ =
      std::make_unique<ingest::RunIngest>(ingest::RunIngest::Steps{*store_, *store_, *queue_, *pool_, clock_, turnstile_, *judge_, redaction_});
  intake::RunLimits any_length;
  any_length.max_json_depth = static_cast<int>(settings_.limits.max_json_depth);
  any_length.max_steps = std::numeric_limits<std::size_t>::max();  // its events were bounded on arrival
  const store::BufferRules rules{.idle_ms = settings_.buffer.idle_timeout_ms,
                                 .max_age_ms = settings_.buffer.max_age_ms,
                                 .otlp_root_grace_ms = settings_.buffer.otlp_root_grace_ms,
                                 .otlp_idle_ms = settings_.buffer.otlp_idle_timeout_ms};
  resolver_ = std::make_unique<ingest::RunResolver>(
      ingest::RunResolver::Steps{*store_, *queue_, *pool_, clock_, *judge_, redaction_, any_length,
                                 [this](model::TenantId tenant) { return tenant_name(tenant); },
                                 [this](const std::string& why) { log(ops::LogLevel::error, "resolve_fault", why); }},
      rules);
  ingest::EventIngest::Steps events{*store_, *store_, *queue_, *pool_, clock_, turnstile_, *resolver_, redaction_, replies_.reads, {}};
  events.max_events = static_cast<std::uint32_t>(settings_.buffer.max_events);
  events.max_open_runs = static_cast<std::uint64_t>(settings_.buffer.max_open_runs);
  events_ = std::make_unique<ingest::EventIngest>(std::move(events));
  ingest::TraceIngest::Steps traces{*store_, *store_, *queue_, *pool_, clock_, *resolver_, redaction_, span_mapping_};
  traces.max_events = static_cast<std::uint32_t>(settings_.buffer.max_events);
  traces.max_open_runs = static_cast<std::uint64_t>(settings_.buffer.max_open_runs);
  traces_ = std::make_unique<ingest::TraceIngest>(traces);
  changes_ =
      std::make_unique<ingest::ChangeIngest>(ingest::ChangeIngest::Steps{*store_, *queue_, *pool_, clock_, turnstile_, redaction_});
  triage_ = std::make_unique<ingest::TriageIngest>(ingest::TriageIngest::Steps{*store_, store_->groups(), *queue_, clock_, redaction_});
  canary_run_ = std::make_unique<ingest::CanaryRun>(
      ingest::CanaryRun::Steps{*store_, *queue_, *pool_, clock_, [this] { return detectors_.get(); }});
  ops::Canary::Limits canary;
  canary.interval_ms = settings_.server.canary_interval_ms;
  canary_ = ops::Canary::make([this](auto done) { canary_run_->send(std::move(done)); }, canary, clock_);
}

std::string Service::tenant_name(model::TenantId tenant) {
  const MutexLock lock(tenants_mutex_);
  const auto known = tenants_.find(tenant);
  if (known != tenants_.end()) return known->second;
  for (const model::Tenant& one : store_->tenants()) tenants_[one.id] = one.name;
  return tenants_[tenant];
}

Status Service::make_page() {
  if (!settings_.server.page) return Nothing{};
  auto secret = store_->secret("session");
  if (!secret.ok()) return std::move(secret.error());
  auto sessions = auth::Sessions::open(std::move(*secret), state_dir() / store::kEndedSessions, clock_);
  if (!sessions.ok()) return std::move(sessions.error());
  page_.reset(new api::PageParts{std::move(*sessions), auth::FailedTries(clock_)});
  return Nothing{};
}

Status Service::listen() {
  const bool apart = !settings_.server.ops_address.empty();
  api_ = std::make_unique<api::Api>(*parts_, apart ? api::Api::Serves::keyed : api::Api::Serves::all);
  auto server = http::Server::start(http_settings(settings_, settings_.server.address), *api_);
  if (!server.ok()) return std::move(server.error());
  server_ = std::move(*server);
  log_.write(ops::LogLevel::info, "listening",
             {{"address", std::string_view(settings_.server.address)}, {"port", std::int64_t{server_->port()}}});
  if (apart) {
    ops_api_ = std::make_unique<api::Api>(*parts_, api::Api::Serves::open);
    http::ServerSettings ops = http_settings(settings_, settings_.server.ops_address);
    ops.threads = 1;
    auto ops_server = http::Server::start(std::move(ops), *ops_api_);
    if (!ops_server.ok()) return std::move(ops_server.error());
    ops_server_ = std::move(*ops_server);
    log_.write(ops::LogLevel::info, "listening_ops",
               {{"address", std::string_view(settings_.server.ops_address)}, {"port", std::int64_t{ops_server_->port()}}});
  }
  log_.flush();
  return Nothing{};
}

void Service::wait_for_signals(const std::function<Result<config::Settings>()>& reload) {
  constexpr timespec kUntilReady{0, 200'000'000};
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
  for (;;) {
    if (!ready_notified_) notify_ready();
    const int number = ready_notified_ ? sigwaitinfo(&signals, nullptr) : sigtimedwait(&signals, nullptr, &kUntilReady);
    if (number < 0) continue;
    if (number != SIGHUP) return;
    reload_detectors(reload);
  }
}

std::string Service::serving() const {
  return "serving on " + settings_.server.address + " with " + std::to_string(detectors_.get()->list().size()) + " detectors";
}

// Notifies the service manager once. /readyz reports later changes.
void Service::notify_ready() {
  const api::Readiness now = readiness();
  if (now.reasons.empty()) {
    ready_notified_ = true;
    return manager_.ready(serving());
  }
  if (std::exchange(last_not_ready_reason_, now.reasons.front()) == now.reasons.front()) return;
  log(ops::LogLevel::warn, "not_ready", now.reasons.front());
  manager_.not_ready(now.reasons.front());
}

void Service::reload_detectors(const std::function<Result<config::Settings>()>& reload) {
  manager_.reloading();
  auto fresh = reload();
  const Status taken = fresh.ok() ? apply_config(*fresh) : Status(std::move(fresh.error()));
  const std::string left = taken.ok() ? keys_that_need_a_restart(settings_, *fresh) : std::string();
  metrics_.reload(taken.ok() ? ops::Metrics::Reload::done : ops::Metrics::Reload::refused);
  if (taken.ok()) {
    log(ops::LogLevel::info, "reloaded",
        "the new detectors, redaction and request limits are in force; other settings take effect at a restart");
    if (!left.empty()) log(ops::LogLevel::warn, "restart_needed", "changed since the start, takes effect at a restart: " + left);
  } else {
    log(ops::LogLevel::error, "reload_refused", taken.error().detail + "\nThe previous configuration stays in force.");
  }
  log_.wake();
  if (!ready_notified_) return;
  if (!taken.ok()) return manager_.ready(serving() + " unchanged; the reload was refused: " + taken.error().detail);
  manager_.ready(left.empty() ? serving() : serving() + "; a restart is needed for " + left);
}

Status Service::apply_config(const config::Settings& fresh) {
  auto set = load_detectors(fresh);
  if (!set.ok()) return std::move(set.error());
  set_limits(limits_, fresh.limits);
  replies_.reads.set_max_bytes(static_cast<std::uint64_t>(fresh.limits.max_reply_bytes));
  rates_->change({fresh.limits.requests_per_second, fresh.limits.burst});
  detectors_.put(std::move(*set));
  redactor_.put(ingest::make_redactor(fresh.redact));
  canary_->invalidate();
  return Nothing{};
}

void Service::housekeeping() {
  log_.wake();
  pool_->post([this](std::size_t) { resolver_->poke(); });
  canary_->tick();
  clock_monitor_->tick();
  space_monitor_->tick();
  log_accept_pauses();
  if (clock_.monotonic_ns() - maintained_ns_ < kMaintenanceIntervalMs * 1'000'000) return;
  maintained_ns_ = clock_.monotonic_ns();
  save_key_use();
  if (crash_marks_.any()) refresh_crash_marks();
  if (!clock_.in_doubt() && !deleting_.exchange(true)) delete_old();
  if (!building_.exchange(true)) build_groups();
}

void Service::log_accept_pauses() {
  const http::ServerCounts now = server_->counts();
  const std::uint64_t pauses = now.accept_pauses - logged_pauses_;
  if (pauses == 0 || clock_.monotonic_ns() < next_pause_log_ns_) return;
  logged_pauses_ = now.accept_pauses;
  next_pause_log_ns_ = clock_.monotonic_ns() + kMaintenanceIntervalMs * 1'000'000;  // it can happen thousands of times a second
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  log(ops::LogLevel::warn, "accept_paused",
      "accepting paused " + std::to_string(pauses) + " times with " + std::to_string(now.connections_open) +
          " connections open: clients wait. The limits are limits.max_connections (" + std::to_string(settings_.limits.max_connections) +
          ") and LimitNOFILE= (ulimit -n, " + std::to_string(limit.rlim_cur) + " files); raise the one that is exhausted");
}

// Deletes in small transactions between commits until no expired record is left.
void Service::delete_old() {
  queue_->run_between([this] {
    bool more = false;
    try {
      more = delete_some();
    } catch (...) {
      deleting_ = false;  // tried again later
      throw;
    }
    if (more) return delete_old();
    deleting_ = false;
  });
}

// Whether there is more to delete.
bool Service::delete_some() {
  const std::int64_t now = clock_.wall_ms();
  if (clock_.in_doubt()) return false;
  const auto before = [now](std::int64_t keep_ms) { return keep_ms == config::kForever ? store::kBeginningMs : now - keep_ms; };
  store::Retention retention;
  retention.runs_before_ms = before(settings_.retention.runs_ms);
  retention.failures_before_ms = before(settings_.retention.failures_ms);
  retention.changes_before_ms = before(settings_.retention.changes_ms);
  retention.policies_before_ms = before(settings_.retention.policies_ms);
  if (store_->expire(retention, kDeleteAtOnce).more) return true;
  last_expired_ns_ = clock_.monotonic_ns();
  return false;
}

// A store of before groups has them counted in small transactions between two batches.
void Service::build_groups() {
  queue_->run_between([this] {
    try {
      store::GroupStore& groups = store_->groups();
      if (groups.group_totals(0).building && groups.build(kBuiltAtOnce)) return build_groups();
    } catch (const store::StoreError& fault) {
      log(ops::LogLevel::warn, "groups_not_built", std::string("groups of failures are counted later: ") + fault.what());
    }
    building_ = false;
  });
}

void Service::save_key_use() {
  auto used = keys_->take_last_used();
  if (used.empty()) return;
  queue_->run_between([this, used = std::move(used)] { store_->touch_keys(used); });
}

api::Readiness Service::readiness() {
  api::Readiness readiness;
  if (Status writable = store_->writable(); !writable.ok()) {
    readiness.reasons.push_back(writable.error().detail);
    readiness.retry_after_s = writable.error().retry_after_s;
  }
  for (const auto& detector : detectors_.get()->list()) {
    if (detector.quarantined) readiness.quarantined.push_back(detector.key);
    if (!detector.loaded) readiness.not_loaded.push_back(detector.key);
  }
  if (auto warning = clock_monitor_->warning()) readiness.warnings.push_back(std::move(*warning));
  if (std::string damage = store_->damage(); !damage.empty()) readiness.warnings.push_back({"store_damaged", std::move(damage)});
  return readiness;
}

// Reports known faults at once, and otherwise the outcome of the canary.
void Service::when_ready(const std::function<void(const api::Readiness&)>& done) {
  const api::Readiness now = readiness();
  if (!now.reasons.empty()) return done(now);
  canary_->check([this, done](const std::string& fault) {
    api::Readiness later = readiness();
    if (!fault.empty() && later.reasons.empty()) later.reasons.push_back(fault);  // otherwise the fault is a consequence
    done(later);
  });
}

ops::Gauges Service::gauges() {
  ops::Gauges gauges;
  const auto add = [&gauges](const http::Server* server) {
    if (server == nullptr) return;
    const http::ServerCounts counts = server->counts();
    gauges.connections += counts.connections_open;
    gauges.connections_accepted += counts.connections_accepted;
    gauges.accept_pauses += counts.accept_pauses;
    gauges.framing_errors += counts.framing_errors;
    gauges.timeouts += counts.timeouts;
    gauges.answers_dropped += counts.answers_dropped;
  };
  add(server_.get());
  add(ops_server_.get());
  gauges.log_lines_dropped = log_.dropped_lines();
  const FairBudget::State in_flight = in_flight_.state();
  gauges.requests_in_flight = in_flight.leases;
  gauges.request_bytes_in_flight = in_flight.bytes;
  gauges.replies = {{"reads", replies_.reads.state()}, {"ingest", replies_.ingest.state()}, {"open", replies_.open.state()}};
  gauges.batch_result_bytes = results_.state().bytes;
  const auto queue = queue_->waiting();
  gauges.queue_depth = queue.items;
  gauges.queue_bytes = queue.bytes;
  const store::Room room = store_->room();
  gauges.store_used_bytes = room.used_bytes;
  gauges.store_map_bytes = room.limit_bytes.value_or(0);
  gauges.store_file_bytes = room.disk_bytes;
  gauges.store_refusing = room.refusing;
  const store::OpenRuns open = store_->open_runs();
  gauges.open_runs = open.count;
  gauges.oldest_open_run_ms = open.oldest_age_ms;
  gauges.abandoned_calls = pool_->abandoned();
  gauges.crash_marks = crash_marks_.count();
  gauges.clock_in_doubt = clock_.in_doubt();
  if (deleting_) gauges.retention_lag_ms = (clock_.monotonic_ns() - last_expired_ns_) / 1'000'000;
  return gauges;
}

void Service::stop() {
  if (started_) log(ops::LogLevel::info, "stopping", "answering requests in flight");
  const std::int64_t end_ms = clock_.monotonic_ns() / 1'000'000 + settings_.server.drain_timeout_ms;
  manager_.stopping(settings_.server.drain_timeout_ms + kLastCommitsMs);
  if (watchdog_) watchdog_->set_check([this](std::int64_t ms) { return queue_->moves(ms) ? std::string() : "the writer thread"; });
  if (server_) server_->drain();
  if (ops_server_) ops_server_->drain();
  ticker_.reset();
  // The pool object outlives the writer, which may still post to it.
  if (pool_) pool_->finish(std::max<std::int64_t>(0, end_ms - clock_.monotonic_ns() / 1'000'000));
  if (keys_ && queue_) save_key_use();
  if (clock_monitor_) clock_monitor_->stop();
  if (queue_) queue_->drain();
  watchdog_.reset();
  if (started_) log(ops::LogLevel::info, "stopped", "everything acknowledged is on disk");
  log_.flush();
}

void block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

// Connections need descriptors: raises the soft limit, which is low for the sake of select(2), to the hard limit.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int run_service(const config::Settings& settings, const std::function<Result<config::Settings>()>& reload, const ServiceHooks& hooks) {
  block_signals();
  raise_descriptor_limit();
  Service service(settings, hooks);
  if (Status started = service.start(); !started.ok()) {
    const std::string text = "runwarden: " + started.error().detail + "\n";
    [[maybe_unused]] const auto wrote = ::write(STDERR_FILENO, text.data(), text.size());
    service.stop();
    return EXIT_FAILURE;
  }
  service.wait_for_signals(reload);
  service.stop();
  if (service.has_abandoned_calls()) std::_Exit(EXIT_SUCCESS);
  return EXIT_SUCCESS;
}

}  // namespace runwarden::app
