#include "store/postgres/maintenance/importing_groups.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "store/cluster_merge.h"
#include "store/postgres/group_rows.h"
#include "store/postgres/group_writer.h"
#include "store/postgres/row.h"
#include "store/record_codec.h"

namespace runwarden::store::postgres {
namespace {

constexpr std::size_t kCountedAtOnce = 2000;

// A group that does not exist gets an empty row, so that other transactions wait for the outcome. The row is filled or deleted before the
// commit.
constexpr const char* kTouch =
    "INSERT INTO runwarden.cluster (tenant, half, failures, body) SELECT $1, u.half, 0, '' FROM unnest($2) AS u(half) ORDER BY u.half "
    "ON CONFLICT (tenant, half) DO NOTHING";
constexpr const char* kLock = "SELECT half, body FROM runwarden.cluster WHERE tenant = $1 AND half = ANY($2) ORDER BY half FOR UPDATE";
constexpr const char* kLockEmpty =
    "SELECT half, body = '' FROM runwarden.cluster WHERE tenant = $1 AND half = ANY($2) ORDER BY half FOR UPDATE";
// Groups that have more failures than were imported.
constexpr const char* kWithMore =
    "SELECT u.half FROM unnest($2, $3) AS u(half, came) WHERE u.came < (SELECT count(*) FROM (SELECT FROM runwarden.failure f "
    "WHERE f.tenant = $1 AND f.fingerprint = u.half AND NOT f.shadow LIMIT u.came + 1) few)";
constexpr const char* kWithFailures =
    "SELECT u.half FROM unnest($2) AS u(half) WHERE EXISTS "
    "(SELECT FROM runwarden.failure f WHERE f.tenant = $1 AND f.fingerprint = u.half AND NOT f.shadow)";
constexpr const char* kTouchTotal =
    "INSERT INTO runwarden.cluster_total (tenant, clusters, left_out) VALUES ($1, 0, 0) ON CONFLICT (tenant) DO NOTHING";
constexpr const char* kLockTotal = "SELECT clusters FROM runwarden.cluster_total WHERE tenant = $1 FOR UPDATE";
constexpr const char* kPutTotal = "UPDATE runwarden.cluster_total SET clusters = $2 WHERE tenant = $1";
constexpr const char* kPut =
    "UPDATE runwarden.cluster c SET failures = u.failures, body = u.body FROM unnest($2, $3, $4) AS u(half, failures, body) "
    "WHERE c.tenant = $1 AND c.half = u.half";
constexpr const char* kForget = "DELETE FROM runwarden.cluster WHERE tenant = $1 AND half = ANY($2) AND body = ''";

constexpr const char* kRunsAt =
    "SELECT r.time_ms, r.seq, CASE WHEN r.state = 0 THEN (SELECT o.body FROM runwarden.open_run o WHERE o.tenant = r.tenant AND o.time_ms "
    "= r.time_ms "
    "AND o.seq = r.seq) ELSE r.body END FROM unnest($2, $3) AS w(time_ms, seq) JOIN runwarden.run r ON r.time_ms = w.time_ms AND r.seq = "
    "w.seq "
    "WHERE r.tenant = $1 AND r.time_ms BETWEEN $4 AND $5";
constexpr const char* kFailuresAt =
    "SELECT f.time_ms, f.seq, f.body FROM unnest($2, $3) AS w(time_ms, seq) JOIN runwarden.failure f ON f.time_ms = w.time_ms AND f.seq = "
    "w.seq "
    "WHERE f.tenant = $1 AND f.time_ms BETWEEN $4 AND $5";

constexpr const char* kGroupsThere = "SELECT half FROM runwarden.cluster WHERE tenant = $1 AND half = ANY($2) AND body <> ''";
constexpr const char* kEntriesAt =
    "SELECT t.half, t.time_ms, t.seq, t.body FROM unnest($2, $3, $4) AS w(half, time_ms, seq) "
    "JOIN runwarden.triage t ON t.half = w.half AND t.time_ms = w.time_ms AND t.seq = w.seq WHERE t.tenant = $1";
constexpr const char* kPutEntries =
    "INSERT INTO runwarden.triage (tenant, half, time_ms, seq, body) SELECT $1, * FROM unnest($2, $3, $4, $5)";

using EntryPlace = std::pair<model::ClusterKey, model::RecordKey>;

struct EntryColumns {
  std::vector<std::string> halves;
  std::vector<std::int64_t> times, seqs;

  void add(const EntryPlace& entry) {
    halves.emplace_back(view(entry.first));
    times.push_back(entry.second.time_ms);
    seqs.push_back(number_of(entry.second.seq));
  }
  Params params(model::TenantId tenant) const { return std::move(Params().i32(column(tenant)).byteas(halves).i64s(times).i64s(seqs)); }
};

}  // namespace

void GroupImport::Places::add(const model::RecordKey& key) {
  times.push_back(key.time_ms);
  seqs.push_back(number_of(key.seq));
}

void GroupImport::begin(model::TenantId tenant) {
  tenant_ = tenant;
  known_since_.clear();
  joined_.clear();
  left_out_.clear();
}

void GroupImport::note_run(const model::RunRecord& run) {
  if (!run.dimensions.empty()) runs_.add(run.key);
}

void GroupImport::note_failure(const model::FailureRecord& failure) {
  if (failure.shadow || !failure.grouped) return;
  const model::ClusterKey key = model::cluster_key(failure.fingerprint);
  failures_.add(failure.key);
  Growth& growth = grown_[key];
  if (growth.failures++ == 0) growth.first.add(failure);
  joined_.insert(key);
}

void GroupImport::touch_groups(const std::vector<std::string_view>& halves) {
  connection_.query(kTouch, std::move(Params().i32(column(tenant_)).byteas(halves)));
}

// Locks all groups first, in the same order as batches.
void GroupImport::count_noted() {
  std::vector<std::string_view> halves;
  for (const auto& [key, growth] : grown_) halves.push_back(view(key));
  if (!halves.empty()) begin_groups(halves);
  const auto slice = [](const Places& all, std::size_t from) {
    Places some;
    for (std::size_t at = from; at < std::min(all.times.size(), from + kCountedAtOnce); ++at) {
      some.times.push_back(all.times[at]);
      some.seqs.push_back(all.seqs[at]);
    }
    return some;
  };
  for (std::size_t at = 0; at < std::max(runs_.times.size(), failures_.times.size()); at += kCountedAtOnce)
    count_some(slice(runs_, at), slice(failures_, at));
  runs_ = {};
  failures_ = {};
  grown_.clear();
}

// Begins the new groups, as long as there is room. This comes before counting: a count of some of a group's failures sees all of them, and
// could not tell them from earlier ones.
void GroupImport::begin_groups(const std::vector<std::string_view>& halves) {
  touch_groups(halves);
  std::vector<std::string_view> fresh;
  std::vector<std::int64_t> failures;
  const Rows there = connection_.query(kLockEmpty, std::move(Params().i32(column(tenant_)).byteas(halves)));
  for (std::size_t row = 0; row < there.size(); ++row) {
    if (!there.boolean(row, 1)) continue;
    const auto grown = grown_.find(cluster_key_of(there.bytes(row, 0)));
    fresh.push_back(view(grown->first));
    failures.push_back(column(grown->second.failures));
  }
  if (fresh.empty()) return;
  std::set<model::ClusterKey> with_earlier;
  const Rows earlier = connection_.query(kWithMore, std::move(Params().i32(column(tenant_)).byteas(fresh).i64s(failures)));
  for (std::size_t row = 0; row < earlier.size(); ++row) with_earlier.insert(cluster_key_of(earlier.bytes(row, 0)));
  auto clusters = lock_total();
  std::vector<std::string_view> begun;
  std::vector<std::string> bodies;
  for (const std::string_view half : fresh) {
    const model::ClusterKey key = cluster_key_of(half);
    if (with_earlier.contains(key) || clusters >= rules_.max_clusters) continue;
    ++clusters;
    begun.push_back(half);
    bodies.push_back(encode_cluster(cluster_place(tenant_, key), begin_cluster(key, grown_.at(key).first)));
  }
  if (begun.empty()) return;
  const std::vector<std::int64_t> none(begun.size());
  connection_.query(kPut, std::move(Params().i32(column(tenant_)).byteas(begun).i64s(none).byteas(bodies)));
  connection_.query(kPutTotal, std::move(Params().i32(column(tenant_)).i64(column(clusters))));
}

void GroupImport::count_some(const Places& runs, const Places& failures) {
  BatchEffects effects;
  const auto read = [&](const char* sql, const Places& at, auto use) {
    if (at.times.empty()) return;
    const auto [first, last] = std::minmax_element(at.times.begin(), at.times.end());
    const Rows rows = connection_.query(sql, std::move(Params().i32(column(tenant_)).i64s(at.times).i64s(at.seqs).i64(*first).i64(*last)));
    for (std::size_t row = 0; row < rows.size(); ++row) use(record_key(rows, row, 0), rows.bytes(row, 2));
  };
  read(kRunsAt, runs, [&](const model::RecordKey& place, std::string_view body) {
    effects.runs_entered.push_back({tenant_, place, decode_run_head(place_key(tenant_, place), body).run.dimensions});
  });
  std::vector<model::FailureRecord> heads;
  read(kFailuresAt, failures, [&](const model::RecordKey& place, std::string_view body) {
    heads.push_back(decode_failure_head(place_key(tenant_, place), body));
  });
  std::sort(heads.begin(), heads.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  for (const model::FailureRecord& head : heads) effects.failures_added.push_back({tenant_, &head});
  connection_.run(write_effects(connection_, effects, rules_));
}

std::set<model::ClusterKey> GroupImport::note_known(const TakenLines<GroupLine>& lines) {
  std::set<model::ClusterKey> keys;
  for (const auto& line : lines) {
    const model::Cluster& told = line.record().cluster;
    keys.insert(told.key);
    known_since_.insert_or_assign(told.key, told.first_ms);
  }
  return keys;
}

std::uint64_t GroupImport::lock_total() {
  connection_.query(kTouchTotal, std::move(Params().i32(column(tenant_))));
  return unsigned_at(connection_.query(kLockTotal, std::move(Params().i32(column(tenant_)))), 0, 0);
}

GroupImport::LockedGroups GroupImport::lock_groups(const std::vector<std::string_view>& halves) {
  LockedGroups groups;
  const Rows rows = connection_.query(kLock, std::move(Params().i32(column(tenant_)).byteas(halves)));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const model::ClusterKey cluster = cluster_key_of(rows.bytes(row, 0));
    const KeyBytes key = cluster_place(tenant_, cluster);
    auto& head = groups.heads[cluster];
    if (!rows.bytes(row, 1).empty()) head = decoded("cluster", key, [&] { return decode_cluster(key, rows.bytes(row, 1)); });
  }
  const Rows with_failures = connection_.query(kWithFailures, std::move(Params().i32(column(tenant_)).byteas(halves)));
  for (std::size_t row = 0; row < with_failures.size(); ++row) groups.with_failures.insert(cluster_key_of(with_failures.bytes(row, 0)));
  groups.total = lock_total();
  return groups;
}

void GroupImport::merge_group(const GroupLine& line, LockedGroups& groups) {
  const model::Cluster& told = line.cluster;
  const KeyBytes key = cluster_place(tenant_, told.key);
  auto& head = groups.heads[told.key];
  const bool is_new = !head;
  if (is_new) {
    // Groups whose failures were left out stay left out.
    if (!line.decided || groups.with_failures.contains(told.key) || groups.total >= rules_.max_clusters) {
      left_out_.insert(told.key);
      return;
    }
    ++groups.total;
    head = head_without_failures(told);
  }
  const std::string before = encode_cluster(key, *head);
  merge_cluster(*head, told, joined_.contains(told.key) ? Brings::failures : Brings::nothing);
  std::string after = encode_cluster(key, *head);
  if (!is_new && before == after) {
    joined_.contains(told.key) ? tally_.stored("group", {}) : tally_.already_there();
    return;
  }
  groups.changed.insert_or_assign(told.key, std::pair(static_cast<std::int64_t>(head->cluster.count), std::move(after)));
  tally_.stored("group", {});
}

void GroupImport::put_changed(LockedGroups& groups) {
  std::vector<std::string_view> halves;
  std::vector<std::int64_t> failures;
  std::vector<std::string> bodies;
  for (auto& [cluster, row] : groups.changed) {
    halves.push_back(view(cluster));
    failures.push_back(row.first);
    bodies.push_back(std::move(row.second));
  }
  if (!halves.empty()) connection_.query(kPut, std::move(Params().i32(column(tenant_)).byteas(halves).i64s(failures).byteas(bodies)));
}

void GroupImport::store_groups(const TakenLines<GroupLine>& lines) {
  if (lines.empty()) return;
  const std::set<model::ClusterKey> keys = note_known(lines);
  std::vector<std::string_view> halves;
  halves.reserve(keys.size());
  for (const model::ClusterKey& key : keys) halves.push_back(view(key));
  touch_groups(halves);
  LockedGroups groups = lock_groups(halves);
  const std::uint64_t total_before = groups.total;
  for (const auto& line : lines) merge_group(line.record(), groups);
  put_changed(groups);
  connection_.query(kForget, std::move(Params().i32(column(tenant_)).byteas(halves)));
  if (groups.total == total_before) return;
  connection_.query(kPutTotal, std::move(Params().i32(column(tenant_)).i64(column(groups.total))));
}

std::set<model::ClusterKey> GroupImport::groups_there(const TakenLines<TriageLine>& lines) {
  std::vector<std::string> halves;
  for (const auto& line : lines) halves.emplace_back(view(model::cluster_key(line.record().fingerprint)));
  const Rows rows = connection_.query(kGroupsThere, std::move(Params().i32(column(tenant_)).byteas(halves)));
  std::set<model::ClusterKey> there;
  for (std::size_t row = 0; row < rows.size(); ++row) there.insert(cluster_key_of(rows.bytes(row, 0)));
  return there;
}

void GroupImport::store_entries(const TakenLines<TriageLine>& lines) {
  if (lines.empty()) return;
  const auto groups = groups_there(lines);
  EntryColumns all;
  for (const auto& line : lines) all.add({model::cluster_key(line.record().fingerprint), line.record().entry.key});
  std::map<EntryPlace, std::string> there;
  const Rows rows = connection_.query(kEntriesAt, all.params(tenant_));
  for (std::size_t row = 0; row < rows.size(); ++row)
    there.emplace(EntryPlace(cluster_key_of(rows.bytes(row, 0)), record_key(rows, row, 1)), rows.bytes(row, 3));
  EntryColumns put;
  std::vector<std::string> bodies;
  for (const auto& line : lines) {
    const EntryPlace place(model::cluster_key(line.record().fingerprint), line.record().entry.key);
    if (left_out_.contains(place.first)) continue;
    if (!groups.contains(place.first)) throw BadLine("history of a group that no earlier line contains", line.number);
    const KeyBytes key = triage_place(tenant_, place.first, place.second);
    std::string value = line.line.value(key);
    if (!tally_.is_free(there, place, key, value, line, "a decision about this group at this time")) continue;
    put.add(place);
    if (ledger_.is_on()) {
      ledger_.add(tenant_, ledger::Kind::triage, triage_name(place.first, place.second),
                  body_of(place.first, decode_triage(key, value), ledger::CameBy::import));
    }
    bodies.push_back(std::move(value));
    tally_.stored("triage", place.second);
  }
  if (bodies.empty()) return;
  Params params = put.params(tenant_);
  connection_.query(kPutEntries, std::move(params.byteas(bodies)));
}

}  // namespace runwarden::store::postgres
