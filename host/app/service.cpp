#include "app/service.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "api/api_server.h"
#include "api/review_gauges.h"
#include "base/followed_clock.h"
#include "base/reloadable.h"
#include "config/opinion_prompts.h"
#include "config/otlp_mapping.h"
#include "detect/crash_note.h"
#include "detect/current_detectors.h"
#include "ingest/crash_recorder.h"
#include "ingest/ingest.h"
#include "opinion/worker.h"
#include "ops/canary.h"
#include "ops/connection_limits.h"
#include "ops/housekeeping.h"
#include "ops/log.h"
#include "ops/metrics.h"
#include "ops/service_status.h"
#include "ops/signals.h"
#include "ops/store_reports.h"
#include "ops/ticker.h"
#include "part_settings/part_settings.h"
#include "store/open_store.h"
#include "webhooks/dispatcher.h"

namespace runwarden::app {
namespace {

constexpr std::int64_t kTickMs = 200;
constexpr std::int64_t kUntilReadyMs = 200;  // between looks at the readiness that the service manager waits for
constexpr std::int64_t kMaintenanceIntervalMs = 10'000;
constexpr std::int64_t kLastCommitsMs = 30'000;  // time for a stop beyond the drain
constexpr std::int64_t kLastDestroysMs = 1'000;  // time to destroy the detectors where the drain took all of its own

class Service {
 public:
  Service(const config::Settings& settings, const ServiceHooks& hooks)
      : settings_(settings),
        hooks_(hooks),
        log_(ops::log_level(settings.log.level), settings.log.format == "json" ? ops::LogFormat::json : ops::LogFormat::text),
        connections_(static_cast<std::uint64_t>(settings.limits.max_connections), clock_, log_.text_writer()) {
    log_.redact_with([this](std::string_view text) { return redaction_.text(text); });
  }

  Status start();
  void wait_for_signals(const std::function<Result<config::Settings>()>& reload);
  void stop();
  // The service was asked to stop before it had started.
  bool stop_wanted() const { return stop_wanted_; }
  // After stop(): whether the code of a detector library still uses objects of the service.
  bool in_use() const { return in_use_; }

 private:
  Status open_store();
  Result<std::shared_ptr<detect::DetectorSet>> load_detectors(const config::Settings& settings);
  std::filesystem::path state_dir() const { return settings_.store.path; }
  Status make_dispatcher();
  Status make_second_opinion();
  Status make_ingest();
  Status make_api();
  void reload_config(const std::function<Result<config::Settings>()>& reload);
  Status apply_config(const config::Settings& fresh);
  std::string thread_stalled(std::int64_t within_ms) const;
  void notify_ready();
  std::string serving() const;
  void tick();
  void release_detectors(std::int64_t within_ms);

  config::Settings settings_;
  const ServiceHooks& hooks_;
  SystemClock machine_clock_;
  FollowedClock shared_clock_{machine_clock_};  // of the store, where several hosts go by one
  ClockGuard clock_{shared_clock_};             // the clock of every part of the service
  ops::Log log_;
  ops::Metrics metrics_;
  ops::StoreReports store_reports_{log_, metrics_};
  api::RequestBudgets requests_;
  api::ReplyBudgets replies_;
  detect::CurrentDetectors detectors_{{.clock = clock_,
                                       .private_folder = state_dir() / store::kPluginCopies,
                                       .workers = part_settings::work_threads(settings_).threads,
                                       .log = [this](LogLevel level, std::string_view text) { log_.write(level, "detector", text); }}};
  Reloadable<const redact::Redactor> redactor_;
  ingest::Redaction redaction_{[this] { return redactor_.get(); },
                               [this](std::string_view rule, std::uint64_t values) { metrics_.redacted(rule, values); }};
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<store::WriteQueue> wrapped_queue_;  // by the hook
  store::WriteQueue* queue_ = nullptr;                // of the store, or around it
  std::unique_ptr<ingest::CrashRecorder> crash_recorder_;
  std::unique_ptr<WorkPool> pool_;
  std::unique_ptr<api::ReviewGauges> review_gauges_;
  model::SpanMapping span_mapping_;
  std::unique_ptr<ingest::Ingest> ingest_;
  std::shared_ptr<ops::Canary> canary_;
  std::unique_ptr<ops::Housekeeping> housekeeping_;
  std::unique_ptr<webhooks::Dispatcher> dispatcher_;
  std::unique_ptr<opinion::Worker> second_opinion_;  // null: second_opinion.enabled is false
  std::unique_ptr<api::ApiServer> api_;
  ops::ConnectionLimits connections_;
  std::unique_ptr<ops::Ticker> ticker_;
  ops::ServiceStatus status_{log_, metrics_};
  std::int64_t maintained_ns_ = 0;
  bool stop_wanted_ = false;
  bool in_use_ = false;
};

Status Service::open_store() {
  store::StoreSettings opening = part_settings::store_settings(settings_);
  opening.listener = store_reports_.listener();
  opening.listener.on_fatal = [report = std::move(opening.listener.on_fatal)](const std::string& why) {
    detect::CrashNote::stopped();  // the store ends the process, not a detector
    report(why);
  };
  opening.listener.on_shared_clock = [this](std::shared_ptr<const Clock> shared) { shared_clock_.follow(std::move(shared)); };
  opening.listener.on_last_use = [this](const ClockGuard::LastUse& last_use) {
    clock_.start(last_use, part_settings::max_clock_step_ms(settings_));
  };
  auto opened = store::open_store(opening, clock_, store::Role::service);
  if (!opened.ok()) return std::move(opened.error());
  store_ = std::move(*opened);
  if (hooks_.wrap_queue) wrapped_queue_ = hooks_.wrap_queue(*store_);
  queue_ = wrapped_queue_ ? wrapped_queue_.get() : store_.get();
  return Nothing{};
}

// Meanwhile SIGTERM ends the wait, and a SIGHUP waits its turn.
Result<std::shared_ptr<detect::DetectorSet>> Service::load_detectors(const config::Settings& settings) {
  const auto locations = std::make_shared<const config::DetectorLocations>(settings.locations);
  const auto fault_text = [locations](const std::string& tenant, const std::string& key, const FieldFault& fault) {
    return locations->fault(tenant, key, fault);
  };
  return detectors_.load(settings.detectors, fault_text,
                         {.wake = ops::wake, .is_to_stop = [this] { return stop_wanted_ = ops::wait_for_stop(kTickMs); }});
}

Status Service::start() {
  for (const auto& warnings : {settings_.warnings, settings_.service_warnings, settings_.detector_warnings}) status_.starting(warnings);
  connections_.check_descriptors();
  if (Status status = open_store(); !status.ok()) return status;
  crash_recorder_ = std::make_unique<ingest::CrashRecorder>(*store_, detectors_.crash_marks(), clock_, log_.text_writer());
  crash_recorder_->record_previous(state_dir() / store::kCrashNote);
  if (const std::size_t old = detectors_.prune_copies(); old > 0) {
    log_.write(LogLevel::info, "pruned", "removed unused copies of detector libraries: " + std::to_string(old));
  }
  auto detectors = load_detectors(settings_);
  if (!detectors.ok()) return std::move(detectors.error());
  detectors_.put(std::move(*detectors));
  redactor_.put(ingest::make_redactor(settings_.redact));
  pool_ = std::make_unique<WorkPool>(part_settings::work_threads(settings_),
                                     [this](const std::string& why) { log_.write(LogLevel::error, "task_failed", why); });
  housekeeping_ = std::make_unique<ops::Housekeeping>(
      ops::Housekeeping::Parts{.store = *store_,
                               .queue = *queue_,
                               .pool = *pool_,
                               .clock = clock_,
                               .log = log_,
                               .tenant_name = [this](model::TenantId tenant) { return ingest_->tenants.of(tenant); }},
      part_settings::housekeeping_settings(settings_));
  review_gauges_ = std::make_unique<api::ReviewGauges>(api::ReviewGauges::Parts{metrics_, *store_, *pool_, clock_, store_reports_});
  if (Status status = make_ingest(); !status.ok()) return status;
  if (Status status = make_dispatcher(); !status.ok()) return status;
  if (Status status = make_second_opinion(); !status.ok()) return status;
  if (Status status = make_api(); !status.ok()) return status;
  ticker_ = std::make_unique<ops::Ticker>("housekeeping", kTickMs, [this] { tick(); });
  status_.watch([this](std::int64_t within_ms) { return thread_stalled(within_ms); });
  status_.started();
  return Nothing{};
}

std::string Service::thread_stalled(std::int64_t within_ms) const {
  if (!queue_->is_progressing(within_ms)) return "the writer thread";
  if (!api_->workers_alive(within_ms)) return "an HTTP worker";
  return {};
}

Status Service::make_ingest() {
  auto mapping = config::read_otlp_mapping(config::built_in_otlp_mapping());
  if (!mapping.ok()) return std::move(mapping.error());
  span_mapping_ = std::move(*mapping);
  ingest_ = std::make_unique<ingest::Ingest>(
      ingest::Ingest::Parts{.store = *store_,
                            .queue = *queue_,
                            .pool = *pool_,
                            .clock = clock_,
                            .detectors = [this] { return detectors_.get(); },
                            .redaction = redaction_,
                            .mapping = span_mapping_,
                            .reads = replies_.reads,
                            .on_verdict = [this](const model::Verdict& verdict) { metrics_.verdict(verdict); },
                            .log = log_.text_writer(),
                            .on_review = [this](const model::Review& review) { review_gauges_->stored(review); }},
      part_settings::ingest_limits(settings_));
  canary_ = ops::Canary::make([this](auto done) { ingest_->canary.send(std::move(done)); },
                              {.interval_ms = settings_.server.canary_interval_ms}, clock_);
  return Nothing{};
}

Status Service::make_dispatcher() {
  auto settings = part_settings::dispatch_settings(settings_);
  if (!settings.ok()) return std::move(settings.error());
  dispatcher_ = std::make_unique<webhooks::Dispatcher>(
      webhooks::Dispatcher::Parts{.webhooks = store_->webhooks(),
                                  .records = *store_,
                                  .groups = store_->groups(),
                                  .queue = *queue_,
                                  .clock = clock_,
                                  .tenant_name = [this](model::TenantId tenant) { return ingest_->tenants.of(tenant); },
                                  .on_attempt = [this](model::DeliveryState after) { metrics_.webhook_attempt(after); },
                                  .log = log_.text_writer()},
      std::move(*settings));
  return Nothing{};
}

Status Service::make_second_opinion() {
  if (!settings_.second_opinion.enabled) return Nothing{};
  auto settings = part_settings::second_opinion(settings_);
  if (!settings.ok()) return std::move(settings.error());
  second_opinion_ = std::make_unique<opinion::Worker>(
      opinion::Worker::Parts{
          .opinions = store_->opinions(),
          .records = *store_,
          .reviews = store_->reviews(),
          .queue = *queue_,
          .clock = clock_,
          .prompts = config::built_in_opinion_prompts(),
          .on_asked = [this] { metrics_.opinion_asked(); },
          .on_answer = [this](std::string_view verdict) { metrics_.opinion_answer(verdict); },
          .on_failure = [this](std::string_view reason) { metrics_.opinion_failure(reason); },
          .on_tokens = [this](std::uint64_t prompt, std::uint64_t completion) { metrics_.opinion_tokens(prompt, completion); },
          .on_review = [this](const model::Review& review) { review_gauges_->stored(review); },
          .log = log_.text_writer(),
          .redact = [this](std::string& reason) { redaction_.note(reason); }},
      std::move(settings->endpoint), std::move(settings->worker));
  return Nothing{};
}

Status Service::make_api() {
  auto made = api::ApiServer::make({.store = *store_,
                                    .queue = *queue_,
                                    .pool = *pool_,
                                    .clock = clock_,
                                    .log = log_,
                                    .metrics = metrics_,
                                    .reports = store_reports_,
                                    .ingest = *ingest_,
                                    .detectors = [this] { return detectors_.get(); },
                                    .redaction = redaction_,
                                    .mapping = span_mapping_,
                                    .requests = requests_,
                                    .replies = replies_,
                                    .dispatcher = *dispatcher_,
                                    .canary = *canary_,
                                    .housekeeping = *housekeeping_,
                                    .crash_marks = detectors_.crash_marks(),
                                    .second_opinion = second_opinion_.get()},
                                   part_settings::api_settings(settings_));
  if (!made.ok()) return std::move(made.error());
  api_ = std::move(*made);
  return api_->listen();
}

void Service::wait_for_signals(const std::function<Result<config::Settings>()>& reload) {
  for (;;) {
    if (!status_.is_ready()) notify_ready();
    const auto signal = status_.is_ready() ? ops::wait_for_signal() : ops::wait_for_signal(kUntilReadyMs);
    if (!signal) continue;
    if (*signal == ops::Signal::stop) return;
    reload_config(reload);
    if (stop_wanted_) return;
  }
}

std::string Service::serving() const {
  return "serving on " + settings_.server.address + " with " + std::to_string(detectors_.get()->enabled_count()) + " detectors";
}

// /readyz reports later changes.
void Service::notify_ready() {
  const api::Readiness now = api_->readiness();
  now.reasons.empty() ? status_.ready(serving()) : status_.not_ready(now.reasons.front());
}

void Service::reload_config(const std::function<Result<config::Settings>()>& reload) {
  status_.reloading();
  auto fresh = reload();
  const Status taken = fresh.ok() ? apply_config(*fresh) : Status(std::move(fresh.error()));
  if (stop_wanted_) return;
  if (!taken.ok()) return status_.reload_refused(serving(), taken.error());
  status_.reloaded(serving(), part_settings::keys_that_need_a_restart(settings_, *fresh));
}

Status Service::apply_config(const config::Settings& fresh) {
  auto set = load_detectors(fresh);
  if (!set.ok()) return std::move(set.error());
  if (second_opinion_ && fresh.second_opinion.enabled) {
    auto opinion = part_settings::second_opinion(fresh);
    if (!opinion.ok()) return std::move(opinion.error());
    second_opinion_->change(std::move(opinion->worker));
  }
  api_->change(part_settings::request_limits(fresh.limits));
  detectors_.put(std::move(*set));
  redactor_.put(ingest::make_redactor(fresh.redact));
  canary_->invalidate();
  return Nothing{};
}

void Service::tick() {
  log_.wake();
  detectors_.look();
  pool_->post([this](std::size_t) { ingest_->resolver.poke(); });
  ingest_->events.poke();
  canary_->tick();
  housekeeping_->tick();
  review_gauges_->tick();
  const http::ServerCounts http = api_->counts();
  connections_.tick(http.accept_pauses, http.connections_open);
  if (clock_.monotonic_ns() - maintained_ns_ < kMaintenanceIntervalMs * 1'000'000) return;
  maintained_ns_ = clock_.monotonic_ns();
  api_->save_key_use();
  const bool others_mark = settings_.store.driver == "postgres";  // what crashed another host is not to crash this one
  if (others_mark || detectors_.crash_marks().any()) crash_recorder_->refresh();
  housekeeping_->maintain();
}

void Service::stop() {
  const std::int64_t end_ms = clock_.monotonic_ns() / 1'000'000 + settings_.server.drain_timeout_ms;
  status_.stopping(settings_.server.drain_timeout_ms + kLastCommitsMs);
  status_.change_watch([this](std::int64_t ms) { return queue_->is_progressing(ms) ? std::string() : "the writer thread"; });
  if (api_) api_->drain();
  ticker_.reset();
  if (ingest_) ingest_->events.stop();
  if (dispatcher_) dispatcher_->stop();
  if (second_opinion_) second_opinion_->stop();
  // The pool object outlives the writer, which may still post to it.
  if (pool_) pool_->finish(std::max<std::int64_t>(0, end_ms - clock_.monotonic_ns() / 1'000'000));
  if (api_) api_->save_key_use();
  if (housekeeping_) housekeeping_->stop();
  if (queue_) queue_->drain();
  release_detectors(std::max(kLastDestroysMs, end_ms - clock_.monotonic_ns() / 1'000'000));
  status_.end_watch();
  status_.stopped();
}

// Destroys the instances, unless an abandoned call still uses one of them.
void Service::release_detectors(std::int64_t within_ms) {
  in_use_ = pool_ && pool_->abandoned() > 0;
  if (in_use_) return;
  api_.reset();
  in_use_ = !detectors_.release(within_ms);
}

}  // namespace

void hold_signals() {
  ops::block_signals();
}

int run_service(const config::Settings& settings, const std::function<Result<config::Settings>()>& reload, const ServiceHooks& hooks) {
  hold_signals();
  detect::CrashNote::install();
  ops::ConnectionLimits::raise_descriptor_limit();
  Service service(settings, hooks);
  const Status started = service.start();
  const bool refused = !started.ok() && !service.stop_wanted();
  if (refused) {
    const std::string text = "runwarden: " + started.error().detail + "\n";
    [[maybe_unused]] const auto wrote = ::write(STDERR_FILENO, text.data(), text.size());
  }
  if (started.ok()) service.wait_for_signals(reload);
  service.stop();
  detect::CrashNote::stopped();
  const int code = refused ? EXIT_FAILURE : EXIT_SUCCESS;
  if (service.in_use()) std::_Exit(code);
  return code;
}

}  // namespace runwarden::app
