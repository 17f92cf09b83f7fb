#include "store/postgres/engine.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <type_traits>
#include <variant>

#include "base/work_pool.h"
#include "model/record_ids.h"
#include "store/postgres/note.h"
#include "store/postgres/schema.h"
#include "store/postgres/target_check.h"

namespace runwarden::store::postgres {
namespace {

constexpr std::int64_t kBetweenLooksNs = 5'000'000;
constexpr std::chrono::seconds kLongestLook{1};
// Commits of one tenant wait for one another, because their numbers and the ledger are ordered. So a tenant's writes go into one batch; a
// second lane makes the next batch during the flush only if enough writes for a good batch are waiting.
constexpr std::size_t kLanesOfATenant = 2;
constexpr std::size_t kGoodBatch = 64;
constexpr std::size_t kLookUps = 2;  // connections beside read_connections, for look-ups of ingest

// The same after a restart, as only one process may serve from a folder.
std::string host_name(const std::filesystem::path& state_dir) {
  std::array<char, 256> name{};
  const bool known = ::gethostname(name.data(), name.size() - 1) == 0 && name.front() != '\0';
  const std::string host = known ? name.data() : "unknown";
  return state_dir.empty() ? host : host + ":" + std::filesystem::absolute(state_dir).string();
}

// Only this process owns the numbers once the counter is committed, even if two processes start at once.
std::int64_t take_start(Pool& pool) {
  return pool.write([](Connection& connection) {
    const std::vector<Connection::Statement> statements{
        {"BEGIN"}, {kDurable}, {"UPDATE runwarden.counter SET value = value + 1 WHERE name = 'start' RETURNING value"}, {"COMMIT"}};
    return connection.run(statements)[2].number(0, 0);
  });
}

// What writes to the same rows have in common: the run, otherwise the idempotency identity, the policy or the group.
std::string order_of(const model::RunRecord& run, const std::optional<Idempotency>& idempotency) {
  const bool named = run.run_id != model::make_run_id(run.key);
  if (named || !idempotency) return run.run_id;
  return {reinterpret_cast<const char*>(idempotency->identity.data()), idempotency->identity.size()};
}
std::string order_of(const std::optional<Idempotency>& idempotency) {
  if (!idempotency) return {};
  return {reinterpret_cast<const char*>(idempotency->identity.data()), idempotency->identity.size()};
}
std::string order_of(const Write& write) {
  return std::visit(
      [](const auto& one) -> std::string {
        using One = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<One, RunWrite>) return one.claim ? one.claim->run_id : order_of(one.run, one.idempotency);
        else if constexpr (std::is_same_v<One, EventsWrite>) return one.run_id;
        else if constexpr (std::is_same_v<One, TracesWrite>) return one.traces.empty() ? std::string() : one.traces.front().run_id;
        else if constexpr (std::is_same_v<One, PolicyWrite>) return one.policy.policy;
        else if constexpr (std::is_same_v<One, TriageWrite>) return {one.cluster.data(), one.cluster.size()};
        else if constexpr (std::is_same_v<One, AnswerWrite> || std::is_same_v<One, ChangeWrite> || std::is_same_v<One, ReviewWrite>)
          return order_of(one.idempotency);
        else return {};
      },
      write);
}

// The samples gathered so far.
class SampleList {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;

  template <class Value>
  void gauge(const char* name, const char* help, Labels labels, Value value) {
    samples_.push_back({name, help, MetricSample::Kind::gauge, std::move(labels), static_cast<double>(value)});
  }
  template <class Value>
  void counter(const char* name, const char* help, Labels labels, Value value) {
    samples_.push_back({name, help, MetricSample::Kind::counter, std::move(labels), static_cast<double>(value)});
  }
  std::vector<MetricSample> take() { return std::move(samples_); }

 private:
  std::vector<MetricSample> samples_;
};

// The lanes' counts, added up.
struct LaneTotals {
  std::size_t connected = 0;
  std::map<std::string, std::uint64_t> doubts{{"committed", 0}, {"refused", 0}, {"unknown", 0}};
  std::map<std::string, std::uint64_t> retries{{"23505", 0}, {"40001", 0}, {"40P01", 0}, {"55P03", 0}};

  void add(const LaneCounts& counts) {
    connected += counts.connected ? 1 : 0;
    doubts["committed"] += counts.doubts_committed;
    doubts["refused"] += counts.doubts_refused;
    doubts["unknown"] += counts.doubts_left;
    for (const auto& [state, count] : counts.retries) retries[state.empty() ? "fence" : state] += count;
  }
};

void add_connections(SampleList& samples, std::size_t writing, const Pool::Counts& reading) {
  constexpr const char* kConnections = "runwarden_store_connections";
  constexpr const char* kConnectionsHelp = "Connections to the database, by purpose";
  samples.gauge(kConnections, kConnectionsHelp, {{"pool", "write"}, {"state", "open"}}, writing);
  samples.gauge(kConnections, kConnectionsHelp, {{"pool", "read"}, {"state", "open"}}, reading.open);
  samples.gauge(kConnections, kConnectionsHelp, {{"pool", "read"}, {"state", "in_use"}}, reading.in_use);
}

void add_commits(SampleList& samples, const LaneTotals& lanes) {
  for (const auto& [settled, count] : lanes.doubts) {
    samples.counter("runwarden_store_in_doubt_total", "Commits whose answer was lost, by outcome", {{"settled", settled}}, count);
  }
  for (const auto& [state, count] : lanes.retries) {
    samples.counter("runwarden_store_retries_total", "Commits retried because of concurrent transactions, by SQLSTATE",
                    {{"sqlstate", state}}, count);
  }
}

void add_look_ups(SampleList& samples, const LookUps::Counts& look_ups) {
  samples.counter("runwarden_store_lookups_total", "Runs looked up before they were judged", {}, look_ups.asked);
  samples.counter("runwarden_store_lookup_round_trips_total", "Round trips to the database for these lookups", {}, look_ups.round_trips);
}

void add_server(SampleList& samples, const Watch& watch) {
  const Watch::Server server = watch.server();
  samples.counter("runwarden_store_away_seconds_total", "Total time during which the database could not be reached", {},
                  static_cast<double>(watch.away_ms()) / 1e3);
  samples.gauge("runwarden_store_watch_age_seconds", "Time since the last answer from the database", {},
                static_cast<double>(watch.age_ms()) / 1e3);
  samples.gauge("runwarden_store_sync_standby", "1 if a synchronous standby confirms commits", {}, server.sync_standby ? 1 : 0);
  for (const auto& [table, rows] : server.dead_rows) {
    samples.gauge("runwarden_store_dead_rows", "Rows of a small, hot table waiting for VACUUM", {{"table", table}}, rows);
  }
}

void add_deleted(SampleList& samples, const Expired& deleted) {
  const std::pair<const char*, std::uint64_t> kinds[] = {{"run", deleted.runs},
                                                         {"failure", deleted.failures},
                                                         {"change", deleted.changes},
                                                         {"policy", deleted.policies},
                                                         {"idempotency_key", deleted.idempotency_keys},
                                                         {"crash_mark", deleted.crash_marks},
                                                         {"triage", deleted.triage},
                                                         {"delivery", deleted.deliveries},
                                                         {"review", deleted.reviews}};
  for (const auto& [kind, count] : kinds) {
    samples.counter("runwarden_retention_deleted_total", "Records deleted by this host's retention and purges, by kind", {{"kind", kind}},
                    count);
  }
}

}  // namespace

Engine::Engine(const PostgresSettings& settings, const Clock& clock, Role role)
    : settings_(settings),
      clock_(clock),
      time_(std::make_shared<DatabaseClock>(clock, settings.time)),
      pool_(settings.connect, settings.read_connections + kLookUps),
      start_(take_start(pool_)),
      canary_(std::to_string(start_)),
      seq_(static_cast<std::uint64_t>(start_) << kCounterBits),
      watch_({settings.connect, role == Role::service ? start_ : 0, host_name(settings.store.state_dir), settings.require_sync_standby,
              settings.stale_after},
             *time_),
      reads_(pool_, *time_, {settings.store.keep_idempotency_ms, settings.store.listener.on_unreadable}),
      look_ups_(reads_, role == Role::service ? kLookUps : 0),
      keys_(pool_, watch_),
      duties_(pool_, *time_, watch_,
              {start_, settings.store.keep_idempotency_ms, settings.store.max_clusters, [this] { return next_seq(); }}),
      open_runs_(pool_, *time_, settings.store.listener.on_unreadable),
      groups_(pool_, settings.store.listener.on_unreadable),
      webhooks_({pool_, *time_, [this] { return next_seq(); }, settings.store.listener.on_unreadable, settings.store.max_pending_messages}),
      reviews_(pool_, settings.store.listener.on_unreadable),
      opinions_({pool_, [this] { return next_seq(); }, settings.store.listener.on_unreadable}),
      ledger_({pool_, settings.connect, reads_, *time_, [this] { return next_seq(); }, settings.store.max_pending_messages}) {
  pool_.give_up_when([this] { return watch_.is_stale(); });
  pool_.report_to(settings.store.listener.on_fault);
  const StoreListener& listener = settings.store.listener;
  if (settings.time == DatabaseClock::Source::database && listener.on_shared_clock) listener.on_shared_clock(time_);
  if (listener.on_last_use) listener.on_last_use(duties_.last_use());
  const bool serves = role == Role::service;
  if (serves) duties_.prepare_partitions();
  if (serves && watch_.hosts() == 1) open_runs_.reset_claims();  // the first host, or the only one
  if (serves) webhooks_.take_from_gone_hosts();
  if (serves) pool_.open_all();
  ledger_.begin(settings.store.ledger, static_cast<std::uint64_t>(start_));
  const std::size_t lanes = serves ? std::max<std::size_t>(settings.write_connections, 1) : 1;
  for (std::size_t number = 0; number < lanes; ++number) {
    LaneSetup lane;
    lane.settings = settings;
    lane.start = start_;
    lane.number = static_cast<int>(number);
    lane.host = canary_;
    lane.next_seq = [this] { return next_seq(); };
    lane.lacks_standby = [this] { return watch_.lacks_standby(); };
    lane.is_away = [this] { return watch_.is_stale(); };
    lane.on_open_runs = [this](std::int64_t change) { watch_.add_open_runs(change); };
    lane.ledger = &ledger_.on();
    lane.on_policies = [this](std::uint64_t version) { watch_.raise(Watch::What::policies, version); };
    lanes_.push_back(std::make_unique<Lane>(std::move(lane), clock, *time_, open_runs_.rules()));
  }
}

Engine::~Engine() {
  drain();
}

// Takes a round trip, which callers that ask meanwhile share. Thousands of unknown keys cause no more round trips than that.
bool Engine::look_for_keys() {
  const std::int64_t now_ns = clock_.monotonic_ns();
  std::int64_t before_ns = looked_ns_.load();
  if (now_ns - before_ns < kBetweenLooksNs || !looked_ns_.compare_exchange_strong(before_ns, now_ns)) return false;
  auto known = std::make_shared<std::promise<bool>>();
  std::future<bool> answer = known->get_future();
  const WorkPool::BlockingScope blocking;
  watch_.after_next_refresh([known](bool current) { known->set_value(current); });
  const bool came = answer.wait_for(kLongestLook) == std::future_status::ready && answer.get();
  if (!came) throw StoreAway("the database does not answer");
  return true;
}

Lane& Engine::lane_of(const Write& write) {
  const std::size_t of_tenant = tenant_of(write) * kLanesOfATenant;
  Lane& first = *lanes_[of_tenant % lanes_.size()];
  if (first.depth().items < kGoodBatch) return first;
  return *lanes_[(of_tenant + std::hash<std::string>{}(order_of(write)) % kLanesOfATenant) % lanes_.size()];
}

bool Engine::submit(Write write, Done done, Permit permit) {
  Lane& lane = lane_of(write);
  return lane.submit(std::move(write), std::move(done), std::move(permit));
}

std::string Engine::refuses_for() const {
  for (const auto& lane : lanes_) {
    if (std::string why = lane->refuses_for(); !why.empty()) return why;
  }
  return {};
}

void Engine::run_between(Job job) {
  lanes_[jobs_++ % lanes_.size()]->run_between(std::move(job));
}

std::optional<LookedUp> Engine::look_up(const LookUp& asked, std::function<void(LookedUp)> then) {
  watch_.version(Watch::What::policies);  // throws if the database was not heard from
  look_ups_.ask(asked, std::move(then));
  return std::nullopt;
}

void Engine::drain() {
  look_ups_.stop();
  for (const auto& lane : lanes_) lane->drain();
}

WriteQueue::Depth Engine::depth() const {
  Depth all;
  for (const auto& lane : lanes_) {
    const Depth one = lane->depth();
    all.items += one.items;
    all.bytes += one.bytes;
  }
  return all;
}

bool Engine::is_progressing(std::int64_t within_ms) const {
  return std::all_of(lanes_.begin(), lanes_.end(), [&](const auto& lane) { return lane->is_progressing(within_ms); });
}

std::string Engine::delayed_by() {
  if (!watch_.server().lacks_wanted_standby) return {};
  return "commits wait for a synchronous standby, and none is connected to the database; start one, or change synchronous_standby_names";
}

std::vector<MetricSample> Engine::samples() {
  LaneTotals lanes;
  for (const auto& lane : lanes_) lanes.add(lane->counts());
  SampleList samples;
  add_connections(samples, lanes.connected, pool_.counts());
  add_commits(samples, lanes);
  add_look_ups(samples, look_ups_.counts());
  add_server(samples, watch_);
  samples.gauge("runwarden_duty_held", "1 while this host performs the task that one host performs for all", {{"duty", "retention"}},
                duties_.has_duty() ? 1 : 0);
  samples.gauge("runwarden_hosts", "Hosts that use this database", {}, watch_.hosts());
  samples.counter("runwarden_claims_lost_total", "Claims of open runs that another host took over", {}, open_runs_.lost());
  samples.gauge("runwarden_clock_offset_seconds", "How far this host's clock is ahead of the database's, which hosts follow", {},
                static_cast<double>(time_->machine_offset_ms()) / 1e3);
  add_deleted(samples, duties_.deleted());
  return samples.take();
}

Result<std::unique_ptr<Store>> open_postgres(const PostgresSettings& settings, const Clock& clock, Role role) {
  const auto cannot = [](const char* why) {
    return Error{Code::unavailable, std::string("cannot open the database of store.dsn: ") + why, {}, {}};
  };
  try {
    {
      Connection connection(settings.connect);
      if (Status usable = check_target(connection); !usable.ok()) return cannot(usable.error().detail.c_str());
      if (schema_state(connection).version == 0) make_schema(connection, clock.wall_ms());
    }
    return std::unique_ptr<Store>(std::make_unique<Engine>(settings, clock, role));
  } catch (const PgFault& fault) {
    return cannot(fault.what());
  } catch (const StoreError& fault) {
    return cannot(fault.what());
  }
}

}  // namespace runwarden::store::postgres
