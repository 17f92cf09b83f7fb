#include "store/postgres/watch.h"

#include <algorithm>
#include <utility>

#include "store/errors.h"
#include "store/postgres/fault.h"
#include "store/postgres/standby.h"

namespace runwarden::store::postgres {
namespace {

constexpr std::chrono::milliseconds kInterval{200};
constexpr std::chrono::milliseconds kAnswerTimeout{2000};
constexpr std::chrono::milliseconds kServerInterval{1000};
constexpr std::chrono::milliseconds kSizeInterval{10'000};
constexpr std::int64_t kHostGoneMs = 10'000;
constexpr int kAwayRetryS = 1;
constexpr int kVersionBits = 40;  // of a version, below the number of the connection

constexpr const char* kNotes = "SELECT what, version FROM runwarden.note WHERE version > $1";
constexpr const char* kKeepStart = "UPDATE runwarden.counter SET value = $1 WHERE name = 'start' AND value < $1";
constexpr const char* kOtherOpenRuns = "SELECT coalesce(sum(open_runs), 0)::bigint FROM runwarden.lane WHERE start <> $1";
constexpr const char* kTellThatItLives =
    "INSERT INTO runwarden.host VALUES ($1, $2, $3, $4) ON CONFLICT (start) DO UPDATE SET seen_ms = excluded.seen_ms";
constexpr const char* kHosts = "SELECT count(*) FROM runwarden.host WHERE seen_ms > $1";
const std::string kServer =
    std::string("SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::bool, ") + kHasSyncStandby +
    ", (SELECT value FROM runwarden.counter WHERE name = 'clock_accepts'), current_setting('synchronous_standby_names') <> ''";
constexpr const char* kDeadRows =
    "SELECT relname::text, n_dead_tup FROM pg_stat_user_tables WHERE schemaname = 'runwarden' AND relname IN"
    " ('lane', 'open_run', 'head', 'idempotency', 'cluster', 'delivery', 'commit_last') ORDER BY relname";
constexpr const char* kSize =
    "SELECT pg_database_size(current_database()), (SELECT coalesce(min(first_ms), 0) FROM runwarden.open_run)";

ConnectSettings hasty(ConnectSettings settings) {
  settings.answer_timeout = std::min(settings.answer_timeout, kAnswerTimeout);
  return settings;
}

}  // namespace

Watch::Watch(WatchRules rules, DatabaseClock& clock) : rules_(std::move(rules)), clock_(clock) {
  connection_ = std::make_unique<Connection>(hasty(rules_.connect));
  retire_previous_process();
  look();
  thread_ = std::thread([this] { work(); });
}

Watch::~Watch() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
  announce_shutdown();
}

// The process that served under this name before has ended: this spares others the wait to find out.
void Watch::retire_previous_process() {
  if (rules_.start == 0 || rules_.host.find('/') == std::string::npos) return;
  connection_->query("UPDATE runwarden.host SET seen_ms = 0 WHERE name = $1 AND start <> $2",
                     std::move(Params().text(rules_.host).i64(rules_.start)));
}

// Its lanes have stopped, so nothing more can come from it. If no one hears this, others find out in time.
void Watch::announce_shutdown() {
  if (rules_.start == 0 || !connection_) return;
  try {
    connection_->query("UPDATE runwarden.host SET seen_ms = 0 WHERE start = $1", std::move(Params().i64(rules_.start)));
  } catch (const PgFault&) {
  }
}

bool Watch::is_stale() const {
  return Steady::now() - Steady::time_point(Steady::duration(heard_.load())) > rules_.stale_after;
}

std::uint64_t Watch::version(What what) const {
  if (is_stale()) throw StoreAway("the database does not answer; retry");
  return versions_.at(static_cast<std::size_t>(what)).load();
}

void Watch::raise(What what, std::uint64_t version) {
  version |= connected_ << kVersionBits;
  std::atomic<std::uint64_t>& known = versions_.at(static_cast<std::size_t>(what));
  std::uint64_t before = known.load();
  while (before < version && !known.compare_exchange_weak(before, version)) {
  }
}

void Watch::after_next_refresh(std::function<void(bool current)> then) {
  if (!is_stale()) {
    const MutexLock lock(mutex_);
    if (!stopping_) waiters_.push_back(std::exchange(then, nullptr));
  }
  if (then) return then(false);
  wake_.notify_one();
}

OpenRuns Watch::open_runs() const {
  OpenRuns open;
  open.count = static_cast<std::uint64_t>(std::max<std::int64_t>(own_open_runs_ + other_open_runs_, 0));
  const std::int64_t oldest_ms = oldest_open_ms_;
  if (open.count > 0 && oldest_ms > 0) open.oldest_age_ms = std::max<std::int64_t>(clock_.now_ms() - oldest_ms, 0);
  return open;
}

Watch::Server Watch::server() const {
  const MutexLock lock(mutex_);
  return server_;
}

std::int64_t Watch::age_ms() const {
  const auto age = Steady::now() - Steady::time_point(Steady::duration(heard_.load()));
  return std::chrono::duration_cast<std::chrono::milliseconds>(age).count();
}

std::int64_t Watch::away_ms() const { return away_ms_; }

SpaceStatus Watch::space() const {
  SpaceStatus room;
  room.used_bytes = used_bytes_;
  const MutexLock lock(mutex_);
  room.refusing = room.away = !refusal_.empty();
  room.reason = refusal_;
  room.cause = refusal_cause_;
  return room;
}

Status Watch::writable() const {
  const MutexLock lock(mutex_);
  if (!refusal_.empty()) return Error{Code::unavailable, refusal_, {}, {}, kAwayRetryS};
  return Nothing{};
}

void Watch::set_refusal(std::string why, std::string cause) {
  const MutexLock lock(mutex_);
  refusal_ = std::move(why);
  refusal_cause_ = std::move(cause);
}

void Watch::work() {
  while (true) {
    Waiters waiters;
    {
      MutexLock lock(mutex_);
      wake_.wait_for(lock, kInterval, [this]() RW_REQUIRES(mutex_) { return stopping_ || !waiters_.empty(); });
      std::swap(waiters, waiters_);
      if (stopping_) {
        lock.unlock();
        for (const auto& then : waiters) then(false);
        return;
      }
    }
    const bool current = try_look();
    for (const auto& then : waiters) then(current);
  }
}

bool Watch::try_look() {
  const auto since = std::exchange(tried_, Steady::now());
  try {
    if (!connection_) connect_again();
    look();
    return true;
  } catch (const PgFault& fault) {
    connection_.reset();
    server_due_ = {};
    if (since != Steady::time_point()) away_ms_ += std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - since).count();
    set_refusal(client_text(fault), fault.what());
    return false;
  }
}

// After a standby that lagged behind has taken over, the server may know less than the previous one, and its numbers go back. So everything
// counts as changed; and before anyone hears of that, the number of this process is protected from being given to another.
void Watch::connect_again() {
  connection_ = std::make_unique<Connection>(hasty(rules_.connect));
  try {
    if (rules_.start != 0) connection_->query(kKeepStart, std::move(Params().i64(rules_.start)));
  } catch (const PgFault&) {  // it takes no writes, as look() reports
    if (connection_->lost()) throw;
  }
  ++connected_;
  seen_version_ = 0;
  for (const What what : {What::keys, What::policies, What::crash_marks, What::purges}) raise(what, 0);
}

void Watch::look() {
  const auto now = Steady::now();
  look_for_changes();
  if (now >= server_due_) {
    clock_.look(*connection_);
    look_at_server();
    send_heartbeat();
    server_due_ = now + kServerInterval;
  }
  if (now >= size_due_) {
    look_at_size();
    size_due_ = now + kSizeInterval;
  }
  heard_ = now.time_since_epoch().count();
}

// A transaction that writes a note holds the counter until it ends, so versions are seen in order and none is missed.
void Watch::look_for_changes() {
  const std::vector<Connection::Statement> statements{{kNotes, std::move(Params().i64(seen_version_))},
                                                      {kOtherOpenRuns, std::move(Params().i64(rules_.start))}};
  const auto answers = connection_->run(statements);
  const Rows& notes = answers.front();
  for (std::size_t row = 0; row < notes.size(); ++row) {
    const auto what = static_cast<std::size_t>(notes.number(row, 0));
    const std::int64_t version = notes.number(row, 1);
    if (what < versions_.size()) raise(static_cast<What>(what), static_cast<std::uint64_t>(version));
    seen_version_ = std::max(seen_version_, version);
  }
  other_open_runs_ = answers.back().number(0, 0);
}

// Not worth the wait for a disk or a standby.
void Watch::send_heartbeat() {
  const std::int64_t now_ms = clock_.now_ms();
  if (rules_.start != 0) {
    const std::vector<Connection::Statement> statements{
        {"BEGIN"},
        {"SET LOCAL synchronous_commit = off"},
        {kTellThatItLives, std::move(Params().i64(rules_.start).text(rules_.host).text(RUNWARDEN_VERSION).i64(now_ms))},
        {"COMMIT"}};
    try {
      connection_->run(statements);
    } catch (const PgFault& fault) {
      if (connection_->lost()) throw;
      connection_->rollback();
      set_refusal(client_text(fault), fault.what());
    }
  }
  const Rows hosts = connection_->query(kHosts, std::move(Params().i64(now_ms - kHostGoneMs)));
  hosts_ = static_cast<std::size_t>(std::max<std::int64_t>(hosts.number(0, 0), 1));
}

void Watch::look_at_server() {
  const Rows server = connection_->query(kServer);
  lacks_standby_ = rules_.require_sync_standby && !server.boolean(0, 1);
  if (server.boolean(0, 0)) {
    set_refusal(kTakesNoWrites);
  } else if (lacks_standby_) {
    set_refusal("the database has no synchronous standby, which store.require_sync_standby requires");
  } else {
    set_refusal({});
  }
  clock_accepts_ = static_cast<std::uint64_t>(server.number(0, 2));
  const MutexLock lock(mutex_);
  server_.sync_standby = server.boolean(0, 1);
  server_.lacks_wanted_standby = server.boolean(0, 3) && !server.boolean(0, 1);
}

void Watch::look_at_size() {
  const Rows size = connection_->query(kSize);
  used_bytes_ = static_cast<std::uint64_t>(size.number(0, 0));
  oldest_open_ms_ = size.number(0, 1);
  const Rows dead = connection_->query(kDeadRows);
  const MutexLock lock(mutex_);
  server_.dead_rows.clear();
  for (std::size_t row = 0; row < dead.size(); ++row)
    server_.dead_rows.emplace_back(dead.bytes(row, 0), static_cast<std::uint64_t>(dead.number(row, 1)));
}

}  // namespace runwarden::store::postgres
