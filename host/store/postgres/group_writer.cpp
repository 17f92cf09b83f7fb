#include "store/postgres/group_writer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "store/cluster_change.h"
#include "store/group_store.h"
#include "store/postgres/dimension_writer.h"
#include "store/postgres/group_rows.h"
#include "store/postgres/messages.h"
#include "store/record_codec.h"

namespace runwarden::store::postgres {
namespace {

using Statements = std::vector<Connection::Statement>;

// A group that does not exist gets an empty row, so that other transactions wait for the outcome. The row is filled or deleted before the
// commit.
constexpr const char* kTouchClusters = R"sql(
INSERT INTO runwarden.cluster(tenant, half, failures, body) SELECT k.tenant, k.half, 0, '' FROM unnest($1, $2) AS k(tenant, half) ORDER BY 1, 2
ON CONFLICT (tenant, half) DO NOTHING)sql";
constexpr const char* kLockClusters = R"sql(
SELECT c.tenant, c.half, c.body FROM runwarden.cluster c JOIN unnest($1, $2) AS k(tenant, half) ON c.tenant = k.tenant AND c.half = k.half
ORDER BY c.tenant, c.half FOR UPDATE OF c)sql";
constexpr const char* kPutClusters = R"sql(
UPDATE runwarden.cluster c SET failures = k.failures, body = k.body FROM unnest($1, $2, $3, $4) AS k(tenant, half, failures, body)
WHERE c.tenant = k.tenant AND c.half = k.half)sql";
constexpr const char* kEraseClusters = R"sql(
DELETE FROM runwarden.cluster c USING unnest($1, $2) AS k(tenant, half) WHERE c.tenant = k.tenant AND c.half = k.half)sql";
constexpr const char* kPutEntries = R"sql(
INSERT INTO runwarden.triage(tenant, half, time_ms, seq, body) SELECT * FROM unnest($1, $2, $3, $4, $5)
ON CONFLICT (tenant, half, time_ms, seq) DO UPDATE SET body = excluded.body)sql";

constexpr const char* kTouchTotals = R"sql(
INSERT INTO runwarden.cluster_total(tenant, clusters, left_out) SELECT k.tenant, 0, 0 FROM unnest($1) AS k(tenant) ORDER BY 1
ON CONFLICT (tenant) DO NOTHING)sql";
constexpr const char* kLockTotals = R"sql(
SELECT tenant, clusters, left_out FROM runwarden.cluster_total WHERE tenant = ANY($1) ORDER BY tenant FOR UPDATE)sql";
constexpr const char* kPutTotals = R"sql(
UPDATE runwarden.cluster_total t SET clusters = k.clusters, left_out = k.left_out FROM unnest($1, $2, $3) AS k(tenant, clusters, left_out)
WHERE t.tenant = k.tenant)sql";

// Counts the failures of each group, up to a limit that shows whether there are others than those of the batch.
constexpr const char* kCountUpTo = R"sql(
SELECT k.tenant, k.half, (SELECT count(*) FROM (SELECT FROM runwarden.failure f
  WHERE f.tenant = k.tenant AND f.fingerprint = k.half AND NOT f.shadow AND NOT f.false_alarm LIMIT $3) few)
FROM unnest($1, $2) AS k(tenant, half))sql";
constexpr const char* kOutermost = R"sql(
SELECT k.tenant, k.half, a.time_ms, z.time_ms, z.seq, z.body FROM unnest($1, $2) AS k(tenant, half)
CROSS JOIN LATERAL (SELECT f.time_ms FROM runwarden.failure f WHERE f.tenant = k.tenant AND f.fingerprint = k.half AND NOT f.shadow AND NOT f.false_alarm
  ORDER BY f.time_ms, f.seq LIMIT 1) a
CROSS JOIN LATERAL (SELECT f.time_ms, f.seq, f.body FROM runwarden.failure f WHERE f.tenant = k.tenant AND f.fingerprint = k.half AND NOT f.shadow AND NOT f.false_alarm
  ORDER BY f.time_ms DESC, f.seq DESC LIMIT 1) z)sql";
constexpr const char* kWithEntries = R"sql(
SELECT k.tenant, k.half FROM unnest($1, $2) AS k(tenant, half)
WHERE EXISTS (SELECT FROM runwarden.triage t WHERE t.tenant = k.tenant AND t.half = k.half))sql";
// Groups that have false alarms, and whether they have nothing else; and the heads of their newest false alarms, at most $3.
constexpr const char* kFalseAlarms = R"sql(
SELECT k.tenant, k.half, NOT EXISTS (SELECT FROM runwarden.failure f WHERE f.tenant = k.tenant AND f.fingerprint = k.half
  AND NOT f.shadow AND NOT f.false_alarm) FROM unnest($1, $2) AS k(tenant, half)
WHERE EXISTS (SELECT FROM runwarden.failure f WHERE f.tenant = k.tenant AND f.fingerprint = k.half AND NOT f.shadow AND f.false_alarm))sql";
const std::string kNewestFalseAlarms = "SELECT k.tenant, k.half, z.time_ms, z.seq, z.head FROM unnest($1, $2) AS k(tenant, half)"
    " CROSS JOIN LATERAL (SELECT f.time_ms, f.seq, " + head_of("f.body") + " AS head FROM runwarden.failure f WHERE f.tenant = k.tenant"
    " AND f.fingerprint = k.half AND NOT f.shadow AND f.false_alarm ORDER BY f.time_ms DESC, f.seq DESC LIMIT $3) z"
    " ORDER BY z.time_ms DESC, z.seq DESC";
constexpr const char* kLastHour = R"sql(
SELECT k.tenant, k.half,
  (SELECT count(DISTINCT (f.run_time_ms, f.run_seq)) FROM runwarden.failure f
   JOIN runwarden.run r ON r.tenant = f.tenant AND r.time_ms = f.run_time_ms AND r.seq = f.run_seq
   WHERE f.tenant = k.tenant AND f.fingerprint = k.half AND NOT f.shadow AND NOT f.false_alarm AND f.run_time_ms >= $3 AND f.run_time_ms < $4
     AND r.time_ms >= $3 AND r.time_ms < $4),
  (SELECT count(*) FROM runwarden.run r WHERE r.tenant = k.tenant AND r.time_ms >= $3 AND r.time_ms < $4)
FROM unnest($1, $2) AS k(tenant, half))sql";
constexpr const char* kEndpoints = "SELECT tenant, seq, body FROM runwarden.endpoint WHERE tenant = ANY($1) AND NOT removed";

// The number follows that of the previous commit; no other transaction gets one until this one has ended.
constexpr const char* kLog = R"sql(
WITH at AS (INSERT INTO runwarden.commit_last AS c (tenant, last) VALUES ($1, $2) ON CONFLICT (tenant) DO UPDATE SET last = c.last + $2 RETURNING last)
INSERT INTO runwarden.commit_log(tenant, first, count, body) SELECT $1, at.last - $2 + 1, $3, $4 FROM at)sql";
constexpr const char* kTrimLog = R"sql(
DELETE FROM runwarden.commit_log c USING runwarden.commit_last l WHERE c.tenant = $1 AND l.tenant = $1 AND c.first + c.count + $2 <= l.last
  AND c.first IN (SELECT first FROM runwarden.commit_log WHERE tenant = $1 ORDER BY first LIMIT 256))sql";
constexpr std::int64_t kKeptItems = 65'536;  // per tenant

using ClusterId = std::pair<model::TenantId, model::ClusterKey>;

// Columns of groups, as parameters of statements.
struct ClusterColumns {
  std::vector<std::int32_t> tenants;
  std::vector<std::string_view> halves;
  void add(const ClusterId& id) {  // `id` must outlive the columns
    tenants.push_back(column(id.first));
    halves.push_back(view(id.second));
  }
  bool empty() const { return tenants.empty(); }
  Params params() const {
    Params params;
    params.i32s(tenants).byteas(halves);
    return params;
  }
};

// A group that the batch changes or decides about.
struct Group {
  ClusterChange change;
  bool is_changed = false;                 // by failures
  bool is_decided = false;
  bool has_row = false;                    // possibly an empty one
  std::optional<ClusterHead> head;         // nothing: there is no such group
  bool has_entries = false;
  std::optional<Outermost> outermost;
  std::uint64_t counted = 0;               // existing failures, up to the limit that was asked for
  bool only_false_alarms = false;          // it has failures, and all of them are
  std::vector<std::uint64_t> false_alarm_marks;
  model::LastHour last_hour;
  bool put = false;
  bool erase = false;

  std::int64_t count_after() const { return static_cast<std::int64_t>(head ? head->cluster.count : 0) + change.net(); }
};

struct Totals {
  std::int64_t clusters = 0;
  std::int64_t left_out = 0;
};

bool is_counted(const model::FailureRecord& failure) {
  return failure.grouped && !failure.shadow && !failure.is_false_alarm();
}

class EffectWriter {
 public:
  EffectWriter(Connection& connection, const BatchEffects& effects, const EffectRules& rules)
      : connection_(connection), effects_(effects), rules_(rules), message_rules_{rules.next_seq, rules.max_pending_messages.value_or(0)},
        messages_(connection, message_rules_, rules.now_ms), dimensions_(connection, effects) {}

  Statements write() {
    gather();
    read_groups();
    dimensions_.number_values();
    read_more();
    for (const BatchEffects::Decision& decision : effects_.decisions) decide_one(decision);
    for (auto& [id, group] : groups_) {
      if (group.is_changed) change_one(id, group);
    }
    return statements();
  }

 private:
  bool tells() const { return rules_.max_pending_messages.has_value(); }

  void gather() {
    for (const auto& one : effects_.failures_removed) {
      if (!is_counted(one.head)) continue;
      Group& group = groups_[{one.tenant, model::cluster_key(one.head.fingerprint)}];
      group.change.remove(one.head, one.gone);
      group.is_changed = true;
    }
    for (const auto& one : effects_.failures_added) {
      if (!is_counted(*one.failure)) continue;
      Group& group = groups_[{one.tenant, model::cluster_key(one.failure->fingerprint)}];
      group.change.add(*one.failure, one.comes);
      group.is_changed = true;
    }
    for (const auto& one : effects_.failures_reviewed) {
      if (!one.head.grouped) continue;
      Group& group = groups_[{one.tenant, model::cluster_key(one.head.fingerprint)}];
      if (one.head.is_false_alarm()) group.change.remove(one.head, Removal::false_alarm);
      if (one.was_false_alarm) group.change.add(one.head, Addition::restored);
      group.change.known_since_ms = one.known_since_ms;
      group.change.review = one.review;
      group.change.confirmed = group.change.confirmed || one.head.reviewed == model::ReviewVerdict::right;
      group.is_changed = true;
    }
    for (const auto& one : effects_.decisions) groups_[{one.write->tenant, one.write->cluster}].is_decided = true;
  }

  // The first round trip: locks the groups, and looks up webhooks and the numbers of values.
  void read_groups() {
    ClusterColumns grown, all;
    std::set<model::TenantId> tenants;
    for (const auto& [id, group] : groups_) {
      if (group.change.added > 0) grown.add(id);
      all.add(id);
      tenants.insert(id.first);
    }
    Statements statements;
    if (!grown.empty()) statements.push_back({kTouchClusters, grown.params()});
    const std::size_t locked = statements.size();
    if (!all.empty()) {
      const std::vector<std::int32_t> of(tenants.begin(), tenants.end());
      statements.push_back({kLockClusters, all.params()});
      if (tells()) statements.push_back({kEndpoints, std::move(Params().i32s(of))});
    }
    const std::size_t looked_up = statements.size();
    dimensions_.add_look_up(statements);
    if (statements.empty()) return;
    const std::vector<Rows> rows = connection_.run(statements);
    if (!all.empty()) {
      take_heads(rows[locked]);
      if (tells()) take_wishes(rows[locked + 1]);
      for (const model::TenantId tenant : tenants) messages_.know(tenant);
    }
    dimensions_.take_look_up(std::span(rows).subspan(looked_up));
  }

  void take_heads(const Rows& rows) {
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const ClusterId id{tenant_at(rows, row, 0), cluster_key_of(rows.bytes(row, 1))};
      Group& group = groups_.at(id);
      group.has_row = true;
      const std::string_view body = rows.bytes(row, 2);
      const KeyBytes key = cluster_place(id.first, id.second);
      if (!body.empty()) group.head = decoded("cluster", key, [&] { return decode_cluster(key, body); });
    }
  }

  // Finds the tenants whose webhooks may get messages: these are locked. Failures are reported one by one only if a webhook wants that.
  void take_wishes(const Rows& rows) {
    std::map<model::TenantId, std::vector<model::Endpoint>> endpoints;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const model::TenantId tenant = tenant_at(rows, row, 0);
      try {
        endpoints[tenant].push_back(endpoint_of(tenant, unsigned_at(rows, row, 1), rows.bytes(row, 2)));
      } catch (const StoreError&) {
      }
    }
    const auto wants = [&](model::TenantId tenant, model::MessageType type) {
      return std::any_of(endpoints[tenant].begin(), endpoints[tenant].end(), [&](const model::Endpoint& one) { return one.wants(type); });
    };
    for (const auto& [id, group] : groups_) {
      const bool decides = group.is_decided || group.change.review || group.change.removed > 0 ||
                           (group.head && group.head->cluster.triage.kind != model::Triage::Kind::none);
      const bool told =
          (group.change.added > 0 && (wants(id.first, model::MessageType::failure_created) ||
                                      (!group.head && wants(id.first, model::MessageType::cluster_created)))) ||
          (decides && (wants(id.first, model::MessageType::cluster_triaged) || wants(id.first, model::MessageType::cluster_regressed)));
      if (told) to_lock_.insert(id.first);
    }
    for (const auto& one : effects_.failures_added) {
      const bool is_new = is_counted(*one.failure) && one.comes == Addition::found;
      if (!is_new || !wants(one.tenant, model::MessageType::failure_created)) continue;
      groups_.at({one.tenant, model::cluster_key(one.failure->fingerprint)})
          .change.told.push_back({one.failure->key, one.failure->score, one.failure->severity});
    }
  }

  // The second round trip, if more must be known.
  void read_more() {
    std::set<model::TenantId> counted;
    ClusterColumns begun, looked_at, emptied, shared, marked;
    std::int64_t most = 1;
    for (const auto& [id, group] : groups_) {
      const bool may_go = group.head && group.is_changed && group.count_after() <= 0;
      if ((!group.head && group.is_changed) || may_go) counted.insert(id.first);
      if (!group.head && group.change.net() > 0) {
        begun.add(id);
        most = std::max(most, group.change.net() + 1);
      }
      if (may_go) emptied.add(id);
      if (group.is_decided || group.change.removed > 0 || group.change.review) looked_at.add(id);
      if (may_go || (group.head && group.is_changed && needs_marks(*group.head, group.change))) marked.add(id);
      const bool by_share = group.head && group.change.added > 0 && group.head->cluster.triage.until.share;
      const bool may_share = group.head && group.change.added > 0 && group.is_decided;  // the decision may ask for it
      if (by_share || may_share) shared.add(id);
    }
    Statements statements;
    std::vector<std::function<void(const Rows&)>> takers;
    const auto ask = [&](Connection::Statement statement, std::function<void(const Rows&)> take) {
      statements.push_back(std::move(statement));
      takers.push_back(std::move(take));
    };
    const auto each = [this](auto use) {
      return [this, use](const Rows& rows) {
        for (std::size_t row = 0; row < rows.size(); ++row)
          use(groups_.at({tenant_at(rows, row, 0), cluster_key_of(rows.bytes(row, 1))}), rows, row);
      };
    };
    if (!counted.empty()) {
      const std::vector<std::int32_t> tenants(counted.begin(), counted.end());
      ask({kTouchTotals, std::move(Params().i32s(tenants))}, [](const Rows&) {});
      ask({kLockTotals, std::move(Params().i32s(tenants))}, [this](const Rows& rows) {
        for (std::size_t row = 0; row < rows.size(); ++row) totals_[tenant_at(rows, row, 0)] = {rows.number(row, 1), rows.number(row, 2)};
      });
    }
    if (!to_lock_.empty()) {
      const std::vector<std::int32_t> tenants(to_lock_.begin(), to_lock_.end());
      ask(Messages::lock_statement(tenants), [this](const Rows& rows) { messages_.know(rows); });
    }
    if (!begun.empty()) {
      Params params = begun.params();
      params.i64(most);
      ask({kCountUpTo, std::move(params)},
          each([](Group& group, const Rows& rows, std::size_t row) { group.counted = unsigned_at(rows, row, 2); }));
    }
    if (!looked_at.empty()) ask({kOutermost, looked_at.params()}, each([](Group& group, const Rows& rows, std::size_t row) {
      group.outermost = Outermost{model::RecordKey{rows.number(row, 2), 0}, record_key(rows, row, 3), title_of(rows, row)};
    }));
    if (!emptied.empty()) {
      ask({kWithEntries, emptied.params()}, each([](Group& group, const Rows&, std::size_t) { group.has_entries = true; }));
      ask({kFalseAlarms, emptied.params()},
          each([](Group& group, const Rows& rows, std::size_t row) { group.only_false_alarms = rows.boolean(row, 2); }));
    }
    if (!marked.empty()) {
      Params params = marked.params();
      params.i64(static_cast<std::int64_t>(kMostFalseAlarms));
      ask({kNewestFalseAlarms, std::move(params)},
          each([](Group& group, const Rows& rows, std::size_t row) { take_mark(group, rows, row); }));
    }
    if (!shared.empty()) {
      const Span hour = whole_entries({rules_.now_ms - kLastHourMs, rules_.now_ms + 1});
      Params params = shared.params();
      params.i64(hour.from_ms).i64(hour.before_ms);
      ask({kLastHour, std::move(params)}, each([](Group& group, const Rows& rows, std::size_t row) {
        group.last_hour = {unsigned_at(rows, row, 2), unsigned_at(rows, row, 3)};
      }));
    }
    if (statements.empty()) return;
    const std::vector<Rows> rows = connection_.run(statements);
    for (std::size_t i = 0; i < rows.size(); ++i) takers[i](rows[i]);
  }

  // Empty if it cannot be read.
  static std::string title_of(const Rows& rows, std::size_t row) {
    try {
      return decode_failure_head(place_key(tenant_at(rows, row, 0), record_key(rows, row, 3)), rows.bytes(row, 5)).title;
    } catch (const BadValue&) {
      return {};
    }
  }

  static void take_mark(Group& group, const Rows& rows, std::size_t row) {
    if (group.false_alarm_marks.size() == kMostMarks) return;
    try {
      add_mark(group.false_alarm_marks,
               decode_failure_head(place_key(tenant_at(rows, row, 0), record_key(rows, row, 2)), rows.bytes(row, 4)));
    } catch (const BadValue&) {  // reading that failure reports it
    }
  }

  void put_entry(const ClusterId& id, Group& group, const model::TriageEntry& entry) {
    entries_[{id, entry.key}] = encode_triage(triage_place(id.first, id.second, entry.key), entry);
    group.has_entries = true;
    if (rules_.on_entry) rules_.on_entry(id.first, id.second, entry);
  }

  void decide_one(const BatchEffects::Decision& decision) {
    const TriageWrite& write = *decision.write;
    const ClusterId id{write.tenant, write.cluster};
    Group& group = groups_.at(id);
    if (!group.head) return;
    if (!decision.replayed) {
      const auto newest = group.outermost ? std::optional(group.outermost->newest) : std::nullopt;
      for (model::TriageEntry& entry : entries_of(write, group.head->cluster.triage)) {
        decide(*group.head, entry);
        put_entry(id, group, entry);
        group.put = true;
        enqueue_group_message(messages_, model::MessageType::cluster_triaged, {id.first, group.head->cluster, entry.key.time_ms}, newest,
                              &entry);
      }
    }
    decision.result->cluster = group.head->cluster;
  }

  void change_one(const ClusterId& id, Group& group) {
    const ClusterChange& change = group.change;
    const bool is_new = !group.head;
    if (is_new && !begin(id, group)) {
      group.erase = group.has_row;
      return enqueue_failure_messages(messages_, id.first, nullptr, change);
    }
    ClusterHead& head = *group.head;
    apply(head, change);
    if (change.removed > 0) look_again_at(group);
    service_decides(id, group);
    reviews_decide(id, group);
    if (is_new && change.found() > 0)
      enqueue_group_message(messages_, model::MessageType::cluster_created, {id.first, head.cluster, rules_.now_ms}, change.newest);
    enqueue_failure_messages(messages_, id.first, &head.cluster, change);
    group.put = head.cluster.count > 0 || group.has_entries;
    group.erase = !group.put;
    if (group.erase) --totals_.at(id.first).clusters;
  }

  // False: the group is left out, because the tenant has too many, or because its earlier failures were left out.
  bool begin(const ClusterId& id, Group& group) {
    Totals& totals = totals_.at(id.first);
    const std::int64_t net = group.change.net();
    const bool earlier = group.counted > static_cast<std::uint64_t>(std::max<std::int64_t>(net, 0));
    if (net <= 0 || earlier || totals.clusters >= static_cast<std::int64_t>(rules_.max_clusters)) {
      totals.left_out = std::max<std::int64_t>(totals.left_out + net, 0);
      return false;
    }
    ++totals.clusters;
    group.head = begin_cluster(id.second, group.change);
    return true;
  }

  static void look_again_at(Group& group) {
    if (group.head->cluster.count == 0 || !group.outermost) return;
    Outermost now = *group.outermost;
    if (!first_may_go(*group.head, group.change)) now.oldest.reset();
    look_again(*group.head, group.change, now);
  }

  void note(const ClusterId& id, Group& group, model::TriageEntry entry, const std::optional<model::RecordKey>& failure) {
    decide(*group.head, entry);
    put_entry(id, group, entry);
    const bool regressed = entry.action == model::TriageAction::regressed;
    enqueue_group_message(messages_, regressed ? model::MessageType::cluster_regressed : model::MessageType::cluster_triaged,
                          {id.first, group.head->cluster, rules_.now_ms}, failure, &entry);
  }

  void service_decides(const ClusterId& id, Group& group) {
    const auto entry = service_decision(*group.head, group.change, rules_.now_ms, [&] { return group.last_hour; });
    if (entry) note(id, group, *entry, group.change.newest);
  }

  // A group whose failures are all false alarms is ignored until one is not.
  void reviews_decide(const ClusterId& id, Group& group) {
    const auto entry = review_decision(*group.head, group.change, rules_.now_ms, [&] { return group.only_false_alarms; });
    const bool ends = entry && entry->action == model::TriageAction::ignore_ended;
    const auto newest = ends && group.outermost ? std::optional(group.outermost->newest) : std::nullopt;
    if (entry) note(id, group, *entry, newest);
    if (!ends && needs_marks(*group.head, group.change)) group.head->cluster.triage.false_alarm_marks = group.false_alarm_marks;
  }

  Statements statements() {
    Statements all = dimensions_.statements();
    add_clusters(all);
    add_entries(all);
    add_totals(all);
    for (Connection::Statement& one : messages_.take_statements()) all.push_back(std::move(one));
    return all;
  }

  void add_clusters(Statements& all) const {
    ClusterColumns put, erased;
    std::vector<std::int64_t> failures;
    std::vector<std::string> bodies;
    for (const auto& [id, group] : groups_) {
      if (group.erase) erased.add(id);
      if (!group.put) continue;
      put.add(id);
      failures.push_back(column(group.head->cluster.count));
      bodies.push_back(encode_cluster(cluster_place(id.first, id.second), *group.head));
    }
    if (!put.empty()) {
      Params params = put.params();
      params.i64s(failures).byteas(bodies);
      all.push_back({kPutClusters, std::move(params)});
    }
    if (!erased.empty()) all.push_back({kEraseClusters, erased.params()});
  }

  void add_entries(Statements& all) const {
    if (entries_.empty()) return;
    ClusterColumns of;
    std::vector<std::int64_t> times, seqs;
    std::vector<std::string_view> bodies;
    for (const auto& [place, body] : entries_) {
      of.add(place.first);
      times.push_back(place.second.time_ms);
      seqs.push_back(column(place.second.seq));
      bodies.push_back(body);
    }
    Params params = of.params();
    params.i64s(times).i64s(seqs).byteas(bodies);
    all.push_back({kPutEntries, std::move(params)});
  }

  void add_totals(Statements& all) const {
    if (totals_.empty()) return;
    std::vector<std::int32_t> tenants;
    std::vector<std::int64_t> clusters, left_out;
    for (const auto& [tenant, totals] : totals_) {
      tenants.push_back(column(tenant));
      clusters.push_back(std::max<std::int64_t>(totals.clusters, 0));
      left_out.push_back(totals.left_out);
    }
    all.push_back({kPutTotals, std::move(Params().i32s(tenants).i64s(clusters).i64s(left_out))});
  }

  Connection& connection_;
  const BatchEffects& effects_;
  const EffectRules& rules_;
  MessageQueue::Rules message_rules_;
  Messages messages_;
  DimensionWriter dimensions_;
  std::map<ClusterId, Group> groups_;
  std::set<model::TenantId> to_lock_;
  std::map<model::TenantId, Totals> totals_;
  std::map<std::pair<ClusterId, model::RecordKey>, std::string> entries_;  // of histories
};

}  // namespace

std::vector<Connection::Statement> write_effects(Connection& connection, const BatchEffects& effects, const EffectRules& rules) {
  return EffectWriter(connection, effects, rules).write();
}

std::vector<Connection::Statement> log_statements(const CommitNotes& notes, std::int64_t now_ms, Trim trim) {
  Statements statements;
  for (const auto& [tenant, items] : notes.items()) {
    const auto count = static_cast<std::int32_t>(items.size());
    const std::string body = encode_tail(tail_place(tenant), items, now_ms);
    statements.push_back({kLog, std::move(Params().i32(column(tenant)).i64(count).i32(count).bytes(body))});
    if (trim == Trim::yes) statements.push_back({kTrimLog, std::move(Params().i32(column(tenant)).i64(kKeptItems))});
  }
  return statements;
}

}  // namespace runwarden::store::postgres
