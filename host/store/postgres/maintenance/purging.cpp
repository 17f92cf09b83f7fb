// Deletes a tenant's records from a database.
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "store/postgres/engine.h"
#include "store/postgres/group_rows.h"
#include "store/postgres/ledger_store.h"
#include "store/postgres/ledger_writer.h"
#include "store/postgres/maintenance/postgres_maintenance.h"
#include "store/postgres/maintenance/recounting.h"
#include "store/postgres/maintenance/session.h"
#include "store/postgres/note.h"
#include "store/postgres/reviews.h"
#include "store/postgres/row.h"
#include "store/postgres/schema.h"
#include "store/record_codec.h"

namespace runwarden::store::postgres {
namespace {

constexpr std::size_t kRecordsAtOnce = 500;  // per transaction, which takes some tens of milliseconds
constexpr int kMostTries = 20;

#define RW_NO_RUN "NOT EXISTS (SELECT FROM runwarden.run r WHERE r.tenant = t.tenant AND r.time_ms = t.time_ms AND r.seq = t.seq)"
#define RW_NO_RUNS "NOT EXISTS (SELECT FROM runwarden.run r WHERE r.tenant = t.tenant)"
#define RW_NO_FAILURES(condition) \
  "NOT EXISTS (SELECT FROM runwarden.failure f WHERE f.tenant = t.tenant AND f.fingerprint = t.half AND NOT f.shadow" condition ")"

// A table, and which of its rows `t` lead nowhere.
struct Leftovers {
  const char* table;
  const char* lead_nowhere;
  const char* returning = "";
};
// Partitioned by day; their rows never change.
constexpr std::array<Leftovers, 4> kOfDays = {
    {{"former", RW_NO_RUN, " RETURNING t.time_ms, t.seq"}, {"event", RW_NO_RUN}, {"event_id", RW_NO_RUN}, {"run_dimension", RW_NO_RUN}}};
constexpr Leftovers kHeads{"head", RW_NO_RUN};
constexpr Leftovers kOpenRuns{"open_run", RW_NO_RUN};
constexpr Leftovers kPolicyNames{"policy_head",
                                 "NOT EXISTS (SELECT FROM runwarden.policy p WHERE p.tenant = t.tenant AND p.policy = t.policy)"};
constexpr Leftovers kClusters{
    "cluster", RW_NO_FAILURES("") " AND NOT EXISTS (SELECT FROM runwarden.triage e WHERE e.tenant = t.tenant AND e.half = t.half)"};
constexpr Leftovers kEntries{"triage", "NOT EXISTS (SELECT FROM runwarden.cluster c WHERE c.tenant = t.tenant AND c.half = t.half)",
                             " RETURNING t.half, t.time_ms, t.seq"};
constexpr Leftovers kTotals{"cluster_total",
                            "NOT EXISTS (SELECT FROM runwarden.cluster c WHERE c.tenant = t.tenant)"
                            " AND NOT EXISTS (SELECT FROM runwarden.failure f WHERE f.tenant = t.tenant AND NOT f.shadow)"};
constexpr Leftovers kValues{"dimension_value", RW_NO_RUNS};
constexpr Leftovers kStretches{"dimension_stretch", RW_NO_RUNS};
constexpr Leftovers kDeliveries{"delivery",
                                "NOT EXISTS (SELECT FROM runwarden.endpoint e WHERE e.tenant = t.tenant AND e.seq = t.endpoint)"};
constexpr Leftovers kOpinions{
    "opinion", "NOT EXISTS (SELECT FROM runwarden.run r WHERE r.tenant = t.tenant AND r.time_ms = t.run_time_ms AND r.seq = t.run_seq)"};

// Groups whose heads count more failures than exist, after unreadable failures were deleted.
constexpr const char* kMiscounted =
    "SELECT t.half FROM runwarden.cluster t WHERE t.tenant = $1 AND t.half > $2 AND t.body <> '' AND t.failures > (SELECT count(*) FROM "
    "runwarden.failure f "
    "WHERE f.tenant = t.tenant AND f.fingerprint = t.half AND NOT f.shadow AND NOT f.false_alarm) ORDER BY t.half LIMIT 100";
constexpr const char* kLockGroup = "SELECT body FROM runwarden.cluster WHERE tenant = $1 AND half = $2 AND body <> '' FOR UPDATE";
constexpr const char* kPutGroup = "UPDATE runwarden.cluster SET failures = $3, body = $4 WHERE tenant = $1 AND half = $2";

class Purging {
 public:
  Purging(const ConnectSettings& connect, const MaintenanceContext& maintenance, const PurgeQuery& query)
      : context_(maintenance), query_(query), connect_(patient(connect)), session_(open_session(connect)), connection_(*session_) {}

  // An Error says what is gone already: each step is a transaction of its own.
  Result<Purged> run() {
    auto done = guarded([&]() -> Result<Purged> { return delete_what_is_asked(); });
    const std::uint64_t gone = purged_.gone.total() + purged_.leftovers;
    if (!done.ok() && gone > 0) {
      done.error().detail +=
          "; " + std::to_string(gone) + " records were deleted before that, for good: run the same purge again to delete the others";
    }
    return done;
  }

  Purged delete_what_is_asked() {
    const Retention retention = find_retention();
    PostgresSettings settings;
    settings.connect = connect_;
    settings.store.max_clusters = context_.max_clusters;
    Engine engine(settings, context_.clock, Role::command);
    delete_all(engine, retention);
    if (recount_groups()) delete_all(engine, retention);  // groups that only had unreadable failures left
    sweep();
    note_purge();
    if (query_.on_last_checkpoint) remove_ledger();
    return purged_;
  }

  Expired count() {
    const Retention retention = find_retention();
    const Snapshot snapshot(connection_);
    const std::int64_t runs = retention.runs_before_ms;
    const std::int64_t failures = retention.failures_before_ms;
    const std::int64_t changes = retention.changes_before_ms;
    count(counted_.runs, "SELECT count(*) FROM runwarden.run WHERE tenant = $1 AND time_ms < $2", {runs});
    count(counted_.events, "SELECT coalesce(sum(count), 0)::bigint FROM runwarden.event WHERE tenant = $1 AND time_ms < $2", {runs});
    // A run's failures are deleted with it.
    count(counted_.failures,
          "SELECT count(*) FROM runwarden.failure f WHERE f.tenant = $1 AND (f.time_ms < $3 OR (f.run_time_ms < $2 AND EXISTS (SELECT FROM "
          "runwarden.run r "
          "WHERE r.tenant = f.tenant AND r.time_ms = f.run_time_ms AND r.seq = f.run_seq)))",
          {runs, failures});
    count(counted_.changes, "SELECT count(*) FROM runwarden.change WHERE tenant = $1 AND time_ms < $2", {changes});
    count(counted_.policies, "SELECT count(*) FROM runwarden.policy WHERE tenant = $1 AND time_ms < $2", {retention.policies_before_ms});
    count(counted_.crash_marks, "SELECT count(*) FROM runwarden.crash_mark WHERE tenant = $1 AND time_ms < $2", {runs});
    count(counted_.idempotency_keys, "SELECT count(*) FROM runwarden.idempotency WHERE tenant = $1 AND created_ms < $2", {runs});
    // The latest entry of a group stays as long as the group has failures.
    count(counted_.triage,
          "SELECT count(*) FROM runwarden.triage t WHERE t.tenant = $1 AND t.time_ms < $4 AND (EXISTS (SELECT FROM runwarden.triage n "
          "WHERE n.tenant = t.tenant "
          "AND n.half = t.half AND (n.time_ms, n.seq) > (t.time_ms, t.seq)) OR " RW_NO_FAILURES(
              " AND NOT f.false_alarm AND f.run_time_ms >= $2 AND f.time_ms >= $3") ")",
          {runs, failures, changes});
    // The last review of a failure or run that stays is kept with it.
    count(counted_.reviews,
          "SELECT count(*) FROM runwarden.review o WHERE o.tenant = $1 AND o.time_ms < $3 AND NOT (o.run_time_ms >= $2 AND " +
              is_in_use("o") + ")",
          {runs, changes});
    count(counted_.deliveries, "SELECT count(*) FROM runwarden.delivery WHERE tenant = $1 AND time_ms < $2",
          {retention.deliveries_before_ms});
    return counted_;
  }

 private:
  Params of_tenant() const { return std::move(Params().i32(column(tenant_))); }

  // A purge without a time ends at what is stored when it begins; otherwise it might never end beside busy hosts.
  Retention find_retention() {
    tenant_ = find_tenant(connection_, query_.tenant);
    Retention retention;
    retention.tenant = tenant_;
    retention.open_runs_too = true;
    retention.changes_before_ms = query_.before_ms;
    retention.policies_before_ms = query_.before_ms;
    retention.deliveries_before_ms = query_.before_ms;
    retention.runs_before_ms = query_.before_ms;
    retention.failures_before_ms = query_.before_ms;
    if (query_.before_ms != kEndMs) return retention;
    const std::int64_t end = std::max({now_ms(), context_.clock.wall_ms(), last_of("run"), last_of("failure")}) + 1;
    retention.runs_before_ms = end;
    retention.failures_before_ms = end;
    return retention;
  }

  std::int64_t last_of(const std::string& table) {
    const Rows rows =
        connection_.query("SELECT time_ms FROM runwarden." + table + " WHERE tenant = $1 ORDER BY time_ms DESC LIMIT 1", of_tenant());
    return rows.empty() ? 0 : rows.number(0, 0);
  }

  void count(std::uint64_t& to, const std::string& sql, const std::vector<std::int64_t>& before_ms) {
    Params params = of_tenant();
    for (const std::int64_t ms : before_ms) params.i64(ms);
    to = unsigned_at(connection_.query(sql, std::move(params)), 0, 0);
    report_progress(context_, {"count", "records", "", counted_.total(), 0});
  }

  void report_purged() const { report_progress(context_, {"purge", "records", "", purged_.gone.total(), 0}); }

  // Pauses as long as the work took, so that the hosts get their turn.
  template <class Use>
  static auto in_turn(Use use) {
    const auto begun = std::chrono::steady_clock::now();
    const auto result = use();
    std::this_thread::sleep_for(std::chrono::steady_clock::now() - begun);
    return result;
  }

  void delete_all(Store& store, const Retention& retention) {
    for (bool more = true; more;) {
      const Expired gone = in_turn([&] { return store.expire(retention, kRecordsAtOnce); });
      purged_.gone.add(gone);
      more = gone.more;
      report_purged();
    }
  }

  // Returns whether a head was wrong.
  bool recount_groups() {
    bool any = false;
    for (std::string after;;) {
      Params params = of_tenant();
      const Rows found = connection_.query(kMiscounted, std::move(params.bytes(after)));
      if (found.empty()) return any;
      for (std::size_t row = 0; row < found.size(); ++row) {
        const model::ClusterKey cluster = cluster_key_of(found.bytes(row, 0));
        any = in_turn([&] { return recount(cluster); }) || any;
        report_purged();
      }
      after = found.bytes(found.size() - 1, 0);
    }
  }

  bool recount(const model::ClusterKey& cluster) {
    const auto of_group = [&] { return std::move(Params().i32(column(tenant_)).bytes(view(cluster))); };
    const KeyBytes key = cluster_place(tenant_, cluster);
    connection_.script(std::string("BEGIN; ") + kDurable);
    const Rows there = connection_.query(kLockGroup, of_group());
    if (there.empty()) {
      connection_.rollback();
      return false;
    }
    ClusterHead head = decoded("cluster", key, [&] { return decode_cluster(key, there.bytes(0, 0)); });
    recount_cluster(connection_, tenant_, cluster).correct(head);
    Params params = of_group();
    connection_.query(kPutGroup, std::move(params.i64(column(head.cluster.count)).bytes(encode_cluster(key, head))));
    connection_.script("COMMIT");
    return true;
  }

  void sweep() {
    sweep_days();
    sweep(kHeads);
    sweep(kOpenRuns);
    sweep(kOpinions);
    sweep(kPolicyNames);
    sweep(kClusters);
    sweep(kEntries);
    sweep(kTotals);
    sweep(kValues);
    sweep(kStretches);
    sweep(kDeliveries);
  }

  void sweep_days() {
    std::vector<std::int64_t> ends;
    for (const Partition& partition : partitions(connection_)) ends.push_back(partition.end_ms);
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    for (const std::int64_t end_ms : ends) {
      for (const Leftovers& one : kOfDays) {
        sweep_day(one, end_ms);
      }
      report_purged();
    }
  }

  void sweep_day(const Leftovers& leftovers, std::int64_t end_ms) {
    Params params = of_tenant();
    connection_.script(std::string("BEGIN; ") + kDurable);
    const Rows gone = connection_.query(std::string("DELETE FROM runwarden.") + leftovers.table +
                                            " t WHERE t.tenant = $1 AND t.time_ms >= $2 AND t.time_ms < $3 AND " + leftovers.lead_nowhere +
                                            leftovers.returning,
                                        std::move(params.i64(end_ms - kDayMs).i64(end_ms)));
    std::vector<ErasedRecord> erased;  // previous revisions
    for (std::size_t row = 0; row < gone.size(); ++row)
      erased.push_back({tenant_, ledger::Kind::run, place_name(record_key(gone, row, 0))});
    if (!erased.empty()) connection_.run(erase_from_ledgers(connection_, erased, erasing()));
    connection_.script("COMMIT");
    purged_.leftovers += gone.affected();
  }

  void sweep(const Leftovers& leftovers) {
    const std::string where = std::string(" WHERE t.tenant = $1 AND ") + leftovers.lead_nowhere;
    for (;;) {
      const Rows found = connection_.query(
          std::string("SELECT t.ctid::text FROM runwarden.") + leftovers.table + " t" + where + " LIMIT 1000", of_tenant());
      if (found.empty()) return;
      std::vector<std::string> places;
      for (std::size_t row = 0; row < found.size(); ++row) places.emplace_back(found.bytes(row, 0));
      const std::uint64_t erased = in_turn([&] { return erase(leftovers, where, places); });
      purged_.leftovers += erased;
      report_purged();
      if (erased == 0) return;  // other transactions came in between
    }
  }

  // Checks the rows again while no one else can write to the table. Waiting for that lock holds up all writers, so each wait is short and
  // then repeated.
  std::uint64_t erase(const Leftovers& leftovers, const std::string& where, const std::vector<std::string>& places) {
    const std::string table = std::string("runwarden.") + leftovers.table;
    for (int tries = 1;; ++tries) {
      try {
        connection_.script(std::string("BEGIN; ") + kDurable + "; SET LOCAL lock_timeout = '200ms'; LOCK TABLE " + table +
                           " IN SHARE ROW EXCLUSIVE MODE");
        Params params = of_tenant();
        const std::string sql = "DELETE FROM " + table + " t" + where + " AND t.ctid = ANY($2::text[]::tid[])" + leftovers.returning;
        const Rows gone = connection_.query(sql, std::move(params.texts(places)));
        note_erased(leftovers, gone.affected());
        if (leftovers.table == kEntries.table) erase_entries(gone);
        connection_.script("COMMIT");
        return gone.affected();
      } catch (const PgFault& fault) {
        if (fault.kind != PgFault::Kind::again || tries == kMostTries) throw;
        connection_.rollback();
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        report_purged();
      }
    }
  }

  // Erases what their ledger entries were about.
  void erase_entries(const Rows& gone) {
    std::vector<ErasedRecord> erased;
    for (std::size_t row = 0; row < gone.size(); ++row) {
      erased.push_back({tenant_, ledger::Kind::triage, triage_name(cluster_key_of(gone.bytes(row, 0)), record_key(gone, row, 1))});
    }
    connection_.run(erase_from_ledgers(connection_, erased, erasing()));
  }
  Erasing erasing() { return {ledger::Kind::purge, before_ms(), now_ms()}; }
  std::optional<std::int64_t> before_ms() const { return query_.before_ms == kEndMs ? std::nullopt : std::optional(query_.before_ms); }

  void note_purge() {
    connection_.script(std::string("BEGIN; ") + kDurable);
    LedgerWriter writer(connection_, now_ms(), records_of(read_ledger_standing(connection_)));
    writer.lock({tenant_});
    writer.append_purge(tenant_, before_ms(), purged_.gone);
    connection_.run(writer.take_statements());
    connection_.script("COMMIT");
  }

  // The last checkpoint is given out first. Records that came during the purge begin the next ledger.
  void remove_ledger() {
    connection_.script(std::string("BEGIN; ") + kDurable);
    const std::string note = sign_last_checkpoint(connection_, tenant_);
    connection_.script("COMMIT");
    if (note.empty()) return;
    query_.on_last_checkpoint(note);
    connection_.script(std::string("BEGIN; ") + kDurable);
    connection_.run(postgres::remove_ledger(connection_, tenant_, now_ms()));
    connection_.script("COMMIT");
  }

  std::int64_t now_ms() {
    DatabaseClock time(context_.clock);
    time.look(connection_);
    return time.now_ms();
  }

  // Corrects their counts in other tables.
  void note_erased(const Leftovers& leftovers, std::uint64_t erased) {
    if (erased == 0) return;
    if (leftovers.table == kClusters.table) {
      Params params = of_tenant();
      connection_.query("UPDATE runwarden.cluster_total SET clusters = greatest(clusters - $2, 0) WHERE tenant = $1",
                        std::move(params.i64(column(erased))));
    }
    if (leftovers.table == kOpenRuns.table) {
      connection_.query(
          "INSERT INTO runwarden.lane AS l (start, lane, epoch, batch, open_runs) VALUES (0, 0, 0, 0, -$1::bigint) ON CONFLICT (start, "
          "lane) "
          "DO UPDATE SET open_runs = l.open_runs + excluded.open_runs",
          std::move(Params().i64(column(erased))));
    }
  }

  const MaintenanceContext& context_;
  const PurgeQuery& query_;
  const ConnectSettings connect_;
  std::unique_ptr<Connection> session_;
  Connection& connection_;
  model::TenantId tenant_ = 0;
  Purged purged_;
  Expired counted_;
};

}  // namespace

Result<Purged> purge(const ConnectSettings& connect, const MaintenanceContext& maintenance, const PurgeQuery& query) {
  return guarded([&]() -> Result<Purged> { return Purging(connect, maintenance, query).run(); });
}

Result<Expired> count_purge(const ConnectSettings& connect, const MaintenanceContext& maintenance, const PurgeQuery& query) {
  return guarded([&]() -> Result<Expired> { return Purging(connect, maintenance, query).count(); });
}

}  // namespace runwarden::store::postgres
