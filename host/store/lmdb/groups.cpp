#include "store/lmdb/groups.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "store/lmdb/answers.h"
#include "store/lmdb/commit_log.h"
#include "store/lmdb/keys.h"
#include "store/lmdb/runs.h"

namespace runwarden::store {
namespace {

constexpr std::size_t kTenantBytes = 4;
constexpr std::size_t kRowKeyBytes = kTenantBytes + sizeof(Half);
constexpr std::size_t kMostFalseAlarms = 1024;  // of a group, examined for their summaries

KeyBytes triage_prefix(model::TenantId tenant, const Half& cluster) {
  return KeyBytes().u32(tenant).bytes(view(cluster));
}

KeyBytes triage_key(model::TenantId tenant, const Half& cluster, const model::RecordKey& key) {
  return triage_prefix(tenant, cluster).time(key.time_ms).u64(key.seq);
}

void put_entry(WriteBatch& batch, model::TenantId tenant, const Half& cluster, const model::TriageEntry& entry) {
  const KeyBytes key = triage_key(tenant, cluster, entry.key);
  batch.txn.put(batch.tables.triage.handle, key, encode_triage(key, entry));
  if (!batch.ledger) return;
  batch.ledger->append_decision(tenant, triage_name(cluster, entry.key), ledger::decision_of(cluster, entry), ledger::CameBy::itself);
}

bool has_entries(const Txn& txn, const Tables& tables, model::TenantId tenant, const Half& cluster) {
  const KeyBytes prefix = triage_prefix(tenant, cluster);
  Cursor cursor(txn, tables.triage.handle);
  return cursor.at_or_after(prefix) && cursor.key().starts_with(prefix.view());
}

// A failure that cannot be read counts as missing: it must not keep the others from being deleted.
std::optional<model::FailureRecord> read_failure_head(const Txn& txn, const Tables& tables, model::TenantId tenant,
                                                      const model::RecordKey& at) {
  const KeyBytes key = place_key(tenant, at);
  const auto value = txn.get(tables.failures.handle, key);
  if (!value) return std::nullopt;
  try {
    return decode_failure_head(key, *value);
  } catch (const BadValue&) {
    return std::nullopt;
  }
}

// The summary marks of a group's newest false alarms, each once.
std::vector<std::uint64_t> false_alarm_marks(const Txn& txn, const Tables& tables, model::TenantId tenant, const Half& cluster) {
  std::vector<std::uint64_t> marks;
  const KeyBytes prefix = cluster_row_key(tenant, cluster);
  Cursor cursor(txn, tables.fingerprints.handle);
  bool more = cursor.before(KeyBytes(prefix).u64(~std::uint64_t{0}).u64(~std::uint64_t{0}));
  std::size_t seen = 0;
  for (; more && cursor.key().starts_with(prefix.view()) && seen < kMostFalseAlarms && marks.size() < kMostMarks;
       more = cursor.previous()) {
    if (!is_false_alarm_row(cursor.value())) continue;
    ++seen;
    const KeyBytes key = KeyBytes().u32(tenant).bytes(cursor.key().substr(kRowKeyBytes));
    const auto value = txn.get(tables.failures.handle, key);
    if (!value) continue;
    try {
      model::FailureRecord failure = decode_failure_head(key, *value);
      if (failure.summary_mark == 0) {
        failure = decode_failure(key, *value);
        model::read_summary(failure);
      }
      add_mark(marks, failure);
    } catch (const BadValue&) {  // reported where that failure is read
    }
  }
  return marks;
}

bool all_are_false_alarms(const Txn& txn, const Tables& tables, model::TenantId tenant, const Half& cluster) {
  const KeyBytes prefix = cluster_row_key(tenant, cluster);
  Cursor cursor(txn, tables.fingerprints.handle);
  bool any = false;
  for (bool more = cursor.at_or_after(prefix); more && cursor.key().starts_with(prefix.view()); more = cursor.next()) {
    if (!is_false_alarm_row(cursor.value())) return false;
    any = true;
  }
  return any;
}

// An affected run, with the values of its dimensions.
struct AffectedRun {
  const RunKey& place;
  std::span<const model::Dimension> dimensions;
};

void count_affected(WriteBatch& batch, const AffectedRun& run, const Affected& affected, bool any, std::int64_t change) {
  if (affected.clusters.empty() && affected.detectors.empty() && !any) return;
  SeriesChanges& series = batch.groups.series;
  const RunKey& place = run.place;
  std::vector<ValueKey> values;
  for (const model::Dimension& one : run.dimensions) {
    values.push_back(value_key(batch.groups.dimensions.counted_as(batch.txn, batch.tables, place, one)));
  }
  const auto add = [&](const Half& subject) { series.add(place.tenant, affected_series(subject), values, place.key.time_ms, change); };
  for (const Half& cluster : affected.clusters) add(cluster);
  for (const std::string& detector : affected.detectors) add(subject_half(Subject::of_detector(detector)));
  if (any) add(subject_half(Subject::any()));
}

// Writes the heads that a transaction changes, one tenant after the other.
class HeadWriter {
 public:
  explicit HeadWriter(WriteBatch& batch) : batch_(batch), txn_(batch.txn), tables_(batch.tables) {}

  void write(model::TenantId tenant, const Half& cluster, const ClusterChange& change) {
    begin(tenant);
    auto head = read_cluster(txn_, tables_, tenant, cluster);
    const bool fresh = !head;
    if (fresh) head = make(cluster, change);
    if (!head) return send_failure_messages(nullptr, change);
    store::apply(*head, change);
    if (change.removed > 0) look_again(*head, change);
    triage(*head, change);
    review(*head, change);
    if (fresh && change.found() > 0) send_message(model::MessageType::cluster_created, *head, change.newest);
    send_failure_messages(&*head, change);
    put(*head);
  }

  void end() {
    if (tenant_ == 0 || groups_ == before_) return;
    write_tenant_groups(txn_, tables_, tenant_, {static_cast<std::uint64_t>(groups_.first), static_cast<std::uint64_t>(groups_.second)});
  }

 private:
  using Counts = std::pair<std::int64_t, std::int64_t>;  // groups, failures that were left out

  void begin(model::TenantId tenant) {
    if (tenant == tenant_) return;
    end();
    tenant_ = tenant;
    const TenantGroups groups = read_tenant_groups(txn_, tables_, tenant);
    groups_ = {static_cast<std::int64_t>(groups.clusters), static_cast<std::int64_t>(groups.left_out)};
    before_ = groups_;
  }

  // A head for a group that has none. Nothing: the group is left out, because the tenant has too many, or because its earlier failures were
  // left out.
  std::optional<ClusterHead> make(const Half& cluster, const ClusterChange& change) {
    const std::int64_t net = change.net();
    const auto all = static_cast<std::int64_t>(count_all(txn_, tables_, tenant_, cluster));
    const bool earlier = all > net && read_group_build(txn_, tables_).stage == GroupBuild::Stage::done;
    const bool full = groups_.first >= static_cast<std::int64_t>(batch_.max_clusters);
    if (net <= 0 || earlier || full) {
      groups_.second = std::max<std::int64_t>(groups_.second + net, 0);
      return std::nullopt;
    }
    ++groups_.first;
    return begin_cluster(cluster, change);
  }

  // The first or newest failure may be gone: the fingerprint index says which it is.
  void look_again(ClusterHead& head, const ClusterChange& change) {
    if (head.cluster.count == 0) return;
    const auto newest = newest_failure(txn_, tables_, tenant_, head.cluster.key);
    if (!newest) return;
    Outermost now{{}, *newest, {}};
    if (first_may_go(head, change)) now.oldest = oldest_failure(txn_, tables_, tenant_, head.cluster.key);
    if (const auto failure = read_failure_head(txn_, tables_, tenant_, now.newest)) now.title = failure->title;
    store::look_again(head, change, now);
  }

  void send_message(model::MessageType type, const ClusterHead& head, const std::optional<model::RecordKey>& failure,
                    const model::TriageEntry* entry = nullptr) {
    if (batch_.messages) enqueue_group_message(*batch_.messages, type, {tenant_, head.cluster, batch_.times.now_ms}, failure, entry);
  }

  void send_failure_messages(const ClusterHead* head, const ClusterChange& change) {
    if (batch_.messages) enqueue_failure_messages(*batch_.messages, tenant_, head == nullptr ? nullptr : &head->cluster, change);
  }

  void note(ClusterHead& head, model::TriageEntry entry, const std::optional<model::RecordKey>& failure) {
    decide(head, entry);
    put_entry(batch_, tenant_, head.cluster.key, entry);
    const bool regressed = entry.action == model::TriageAction::regressed;
    send_message(regressed ? model::MessageType::cluster_regressed : model::MessageType::cluster_triaged, head, failure, &entry);
  }

  // Applies the decision that follows from added failures and from the time.
  void triage(ClusterHead& head, const ClusterChange& change) {
    const auto entry = service_decision(head, change, batch_.times.now_ms, [&] { return last_hour(head); });
    if (entry) note(head, *entry, change.newest);
  }

  // A group is ignored while all of its failures are false alarms.
  void review(ClusterHead& head, const ClusterChange& change) {
    const Half& key = head.cluster.key;
    const auto entry =
        review_decision(head, change, batch_.times.now_ms, [&] { return all_are_false_alarms(txn_, tables_, tenant_, key); });
    const bool ends = entry && entry->action == model::TriageAction::ignore_ended;
    if (entry) note(head, *entry, ends ? newest_failure(txn_, tables_, tenant_, key) : std::nullopt);
    if (!ends && needs_marks(head, change)) head.cluster.triage.false_alarm_marks = false_alarm_marks(txn_, tables_, tenant_, key);
  }

  model::LastHour last_hour(const ClusterHead& head) {
    const Span span = whole_entries({batch_.times.now_ms - kLastHourMs, batch_.times.now_ms + 1});
    const std::uint64_t affected = sum_series(txn_, {tables_.series, tenant_, affected_series(head.cluster.key)}, span);
    return {affected, count_window(txn_, tables_, {tenant_, kRunSeries, span.from_ms, span.before_ms})};
  }

  void put(const ClusterHead& head) {
    const KeyBytes key = cluster_row_key(tenant_, head.cluster.key);
    if (head.cluster.count > 0 || has_entries(txn_, tables_, tenant_, head.cluster.key)) {
      return txn_.put(tables_.clusters.handle, key, encode_cluster(key, head));
    }
    txn_.erase(tables_.clusters.handle, key);
    groups_.first = std::max<std::int64_t>(groups_.first - 1, 0);
  }

  WriteBatch& batch_;
  WriteTxn& txn_;
  const Tables& tables_;
  model::TenantId tenant_ = 0;
  Counts groups_;
  Counts before_;
};

}  // namespace

void Affected::add(const model::FailureRecord& failure) {
  clusters.insert(half_digest(failure.fingerprint));
  detectors.insert(failure.detector_key);
}

Affected affected_by(const Txn& txn, const Tables& tables, model::TenantId tenant, const StoredRun& stored, const model::RecordKey* but) {
  Affected affected;
  for (const model::RecordKey& key : stored.failures) {
    if (but != nullptr && key == *but) continue;
    const auto failure = read_failure_head(txn, tables, tenant, key);
    if (failure && !failure->is_false_alarm()) affected.add(*failure);
  }
  return affected;
}

std::optional<model::RecordKey> oldest_failure(const Txn& txn, const Tables& tables, model::TenantId tenant, const Half& cluster) {
  const KeyBytes prefix = cluster_row_key(tenant, cluster);
  const std::size_t time_at = prefix.view().size();
  Cursor cursor(txn, tables.fingerprints.handle);
  for (bool more = cursor.at_or_after(prefix); more && cursor.key().starts_with(prefix.view()); more = cursor.next()) {
    if (is_false_alarm_row(cursor.value())) continue;
    return model::RecordKey{read_time(cursor.key(), time_at), read_be(cursor.key(), time_at + 8, 8)};
  }
  return std::nullopt;
}

std::optional<model::RecordKey> newest_failure(const Txn& txn, const Tables& tables, model::TenantId tenant, const Half& cluster) {
  const KeyBytes prefix = cluster_row_key(tenant, cluster);
  const std::size_t time_at = prefix.view().size();
  Cursor cursor(txn, tables.fingerprints.handle);
  const KeyBytes beyond = KeyBytes(prefix).u64(~std::uint64_t{0}).u64(~std::uint64_t{0});
  for (bool more = cursor.before(beyond); more && cursor.key().starts_with(prefix.view()); more = cursor.previous()) {
    if (is_false_alarm_row(cursor.value())) continue;
    return model::RecordKey{read_time(cursor.key(), time_at), read_be(cursor.key(), time_at + 8, 8)};
  }
  return std::nullopt;
}

KeyBytes cluster_row_key(model::TenantId tenant, const Half& cluster) {
  return KeyBytes().u32(tenant).bytes(view(cluster));
}

std::optional<ClusterHead> read_cluster(const Txn& txn, const Tables& tables, model::TenantId tenant, const Half& cluster) {
  const KeyBytes key = cluster_row_key(tenant, cluster);
  const auto value = txn.get(tables.clusters.handle, key);
  if (!value) return std::nullopt;
  return decoded(tables.clusters, key, [&] { return decode_cluster(key, *value); });
}

TenantGroups read_tenant_groups(const Txn& txn, const Tables& tables, model::TenantId tenant) {
  const KeyBytes key = KeyBytes().u32(tenant);
  const auto value = txn.get(tables.clusters.handle, key);
  if (!value) return {};
  return decoded(tables.clusters, key, [&] {
    const std::string_view numbers = open_head(key, *value);
    if (numbers.size() != 16) throw BadValue("the numbers have " + std::to_string(numbers.size()) + " bytes");
    return TenantGroups{read_be(numbers, 0, 8), read_be(numbers, 8, 8)};
  });
}

void write_tenant_groups(WriteTxn& txn, const Tables& tables, model::TenantId tenant, const TenantGroups& groups) {
  const KeyBytes key = KeyBytes().u32(tenant);
  if (groups.clusters == 0 && groups.left_out == 0) return static_cast<void>(txn.erase(tables.clusters.handle, key));
  txn.put(tables.clusters.handle, key, seal(key, KeyBytes().u64(groups.clusters).u64(groups.left_out)));
}

void enter_group(WriteBatch& batch, model::TenantId tenant, const model::FailureRecord& failure, Addition comes) {
  const Half half = half_digest(failure.fingerprint);
  ClusterChange& change = batch.groups.clusters[{tenant, half}];
  change.add(failure, comes);
  const bool wanted = comes == Addition::found && batch.messages && batch.messages->wanted(tenant, model::MessageType::failure_created);
  if (wanted) change.told.push_back({failure.key, failure.score, failure.severity});
  for (const Subject& subject : {Subject::any(), Subject::of_detector(failure.detector_key)}) {
    batch.groups.series.add(tenant, failures_series(subject_half(subject)), kFinestOfFailures, failure.key.time_ms, 1);
  }
}

void leave_group(WriteBatch& batch, model::TenantId tenant, const model::FailureRecord& failure, Removal gone) {
  if (!failure.grouped) return;
  batch.groups.clusters[{tenant, half_digest(failure.fingerprint)}].remove(failure, gone);
  for (const Subject& subject : {Subject::any(), Subject::of_detector(failure.detector_key)}) {
    batch.groups.series.add(tenant, failures_series(subject_half(subject)), kFinestOfFailures, failure.key.time_ms, -1);
  }
}

void enter_dimensions(WriteBatch& batch, const RunKey& place, std::span<const model::Dimension> dimensions) {
  for (const model::Dimension& one : dimensions) batch.groups.dimensions.enter(batch.txn, batch.tables, place, one);
}

void leave_dimensions(WriteBatch& batch, const RunKey& place, std::span<const model::Dimension> dimensions) {
  for (const model::Dimension& one : dimensions) batch.groups.dimensions.leave(batch.txn, batch.tables, place, one);
}

void enter_affected(WriteBatch& batch, const RunKey& place, std::span<const model::Dimension> dimensions,
                    std::span<const model::FailureRecord> failures) {
  Affected affected;
  for (const model::FailureRecord& failure : failures) {
    if (!failure.shadow && !failure.is_false_alarm()) affected.add(failure);
  }
  count_affected(batch, {place, dimensions}, affected, !affected.clusters.empty(), 1);
}

void enter_affected(WriteBatch& batch, const RunKey& place) {
  const auto stored = read_run_head(batch.txn, batch.tables, place.tenant, place.key);
  if (!stored) return;
  const Affected affected = affected_by(batch.txn, batch.tables, place.tenant, *stored);
  count_affected(batch, {place, stored->run.dimensions}, affected, !affected.clusters.empty(), 1);
}

namespace {

// Adds or subtracts what only that failure contributes to its run's counts.
void count_affected_by(WriteBatch& batch, model::TenantId tenant, const model::FailureRecord& failure, std::int64_t change) {
  const RunKey place{tenant, failure.run};
  const auto stored = read_run_head(batch.txn, batch.tables, tenant, failure.run);
  if (!stored || !stored->run.grouped) return;
  const auto named = std::find(stored->failures.begin(), stored->failures.end(), failure.key);
  if (named == stored->failures.end()) return;
  const Affected rest = affected_by(batch.txn, batch.tables, tenant, *stored, &failure.key);
  Affected by_it;
  by_it.add(failure);
  std::erase_if(by_it.clusters, [&](const Half& one) { return rest.clusters.contains(one); });
  std::erase_if(by_it.detectors, [&](const std::string& one) { return rest.detectors.contains(one); });
  count_affected(batch, {place, stored->run.dimensions}, by_it, rest.clusters.empty(), change);
}

}  // namespace

void leave_affected(WriteBatch& batch, model::TenantId tenant, const model::FailureRecord& failure) {
  count_affected_by(batch, tenant, failure, -1);
}

void return_affected(WriteBatch& batch, model::TenantId tenant, const model::FailureRecord& failure) {
  count_affected_by(batch, tenant, failure, 1);
}

void leave_affected(WriteBatch& batch, const RunKey& place, const StoredRun& stored) {
  if (!stored.run.grouped) return;
  const Affected affected = affected_by(batch.txn, batch.tables, place.tenant, stored);
  count_affected(batch, {place, stored.run.dimensions}, affected, !affected.clusters.empty(), -1);
}

void flush(WriteBatch& batch) {
  batch.counts.flush(batch.txn, batch.tables);
  batch.groups.dimensions.add_to(batch.groups.series);
  batch.groups.series.flush(batch.txn, batch.tables);
  batch.groups.dimensions.flush(batch.txn, batch.tables);
  HeadWriter heads(batch);
  for (const auto& [key, change] : batch.groups.clusters) heads.write(key.first, key.second, change);
  heads.end();
  batch.groups.clusters.clear();
  if (batch.messages) batch.messages->flush();
  write_notes(batch.txn, batch.tables, batch.groups.log, batch.times.now_ms);
}

WriteResult write_triage(WriteBatch& batch, const TriageWrite& write) {
  if (write.idempotency) {
    const auto answer = find_answer(batch.txn, batch.tables, write.tenant, write.idempotency->identity, batch.times);
    if (answer && answer->idempotency.content != write.idempotency->content) return {WriteResult::Outcome::idempotency_conflict, {}, {}};
    if (answer) {
      WriteResult replayed{WriteResult::Outcome::replayed, {}, {}};
      replayed.decided = answer->record;
      if (auto head = read_cluster(batch.txn, batch.tables, write.tenant, write.cluster)) replayed.cluster = std::move(head->cluster);
      return replayed;
    }
  }
  auto head = read_cluster(batch.txn, batch.tables, write.tenant, write.cluster);
  WriteResult result;
  if (!head) return result;
  const KeyBytes key = cluster_row_key(write.tenant, write.cluster);
  constexpr std::size_t kRowsBytes = 1024;
  if (!batch.room.admit(kRowsBytes + write.entry.note.size())) return {WriteResult::Outcome::unavailable, {}, {}};
  const auto failure = batch.messages ? newest_failure(batch.txn, batch.tables, write.tenant, write.cluster) : std::nullopt;
  for (model::TriageEntry& entry : entries_of(write, head->cluster.triage)) {
    decide(*head, entry);
    put_entry(batch, write.tenant, write.cluster, entry);
    if (!batch.messages) continue;
    enqueue_group_message(*batch.messages, model::MessageType::cluster_triaged, {write.tenant, head->cluster, entry.key.time_ms}, failure,
                          &entry);
  }
  batch.txn.put(batch.tables.clusters.handle, key, encode_cluster(key, *head));
  remember_answer(batch, write.tenant, write.idempotency, {.kind = IdempotentAnswer::Kind::triage, .record = write.entry.key});
  result.cluster = std::move(head->cluster);
  return result;
}

std::uint64_t expire_triage(WriteBatch& batch, const Retention& retention, std::size_t most) {
  if (retention.changes_before_ms == kBeginningMs) return 0;
  std::vector<std::string> old;
  {
    Cursor cursor(batch.txn, batch.tables.triage.handle);
    bool more = cursor.at_or_after(KeyBytes().u32(retention.tenant.value_or(0)));
    while (more && old.size() < most) {
      const std::string key(cursor.key());
      if (retention.tenant && tenant_of(key) != *retention.tenant) break;
      const std::string_view group = std::string_view(key).substr(0, kRowKeyBytes);
      more = cursor.next();
      if (read_time(key, kRowKeyBytes) >= retention.changes_before_ms) continue;
      const bool latest = !more || !cursor.key().starts_with(group);
      if (latest) {
        const auto head = batch.txn.get(batch.tables.clusters.handle, group);
        const bool lives = head && decoded(batch.tables.clusters, group, [&] { return decode_cluster(group, *head).cluster.count > 0; });
        if (lives) continue;
      }
      old.push_back(key);
    }
  }
  for (const std::string& key : old) {
    const std::string group = key.substr(0, kRowKeyBytes);
    batch.txn.erase(batch.tables.triage.handle, key);
    if (batch.ledger) batch.ledger->erase(tenant_of(key), ledger::Kind::triage, std::string_view(key).substr(kTenantBytes));
    Half half{};
    std::copy_n(group.data() + 4, half.size(), half.begin());
    const model::TenantId tenant = tenant_of(group);
    batch.groups.log.note(tenant);
    if (has_entries(batch.txn, batch.tables, tenant, half)) continue;
    const auto head = read_cluster(batch.txn, batch.tables, tenant, half);
    if (!head || head->cluster.count > 0) continue;
    batch.txn.erase(batch.tables.clusters.handle, group);
    TenantGroups groups = read_tenant_groups(batch.txn, batch.tables, tenant);
    groups.clusters -= groups.clusters > 0 ? 1 : 0;
    write_tenant_groups(batch.txn, batch.tables, tenant, groups);
  }
  return old.size();
}

GroupBuild group_build_start() {
  return {GroupBuild::Stage::failures, {0, {std::numeric_limits<std::int64_t>::min(), 0}}};
}

GroupBuild read_group_build(const Txn& txn, const Tables& tables) {
  GroupBuild build;
  build.stage = static_cast<GroupBuild::Stage>(std::min<std::uint64_t>(read_meta(txn, tables, meta::kGroupStage), 2));
  build.at.tenant = static_cast<model::TenantId>(read_meta(txn, tables, meta::kGroupTenant));
  build.at.key.time_ms = static_cast<std::int64_t>(read_meta(txn, tables, meta::kGroupTime));
  build.at.key.seq = read_meta(txn, tables, meta::kGroupSeq);
  return build;
}

void write_group_build(WriteTxn& txn, const Tables& tables, const GroupBuild& build) {
  if (build.stage == GroupBuild::Stage::done) {
    for (const std::string_view name : {meta::kGroupStage, meta::kGroupTenant, meta::kGroupTime, meta::kGroupSeq}) {
      txn.erase(tables.meta.handle, name);
    }
    return;
  }
  write_meta(txn, tables, meta::kGroupStage, static_cast<std::uint64_t>(build.stage));
  write_meta(txn, tables, meta::kGroupTenant, build.at.tenant);
  write_meta(txn, tables, meta::kGroupTime, static_cast<std::uint64_t>(build.at.key.time_ms));
  write_meta(txn, tables, meta::kGroupSeq, build.at.key.seq);
}

namespace {

void build_failure(WriteBatch& batch, std::string_view key, std::string_view value) {
  model::FailureRecord failure = decoded(batch.tables.failures, key, [&] { return decode_failure(key, value); });
  if (failure.grouped) return;
  model::read_summary(failure);
  failure.executed_ms = failure.run.time_ms;
  failure.grouped = true;
  batch.txn.put(batch.tables.failures.handle, key, encode_failure(key, failure));
  if (!failure.is_false_alarm()) enter_group(batch, tenant_of(key), failure);
}

void build_run(WriteBatch& batch, std::string_view key, std::string_view value) {
  const StoredRun head = decoded(batch.tables.runs, key, [&] { return decode_run_head(key, value); });
  if (head.run.grouped || (head.buffering && head.failures.empty())) return;
  StoredRun stored = decoded(batch.tables.runs, key, [&] { return decode_run(key, value); });
  model::RunOutline none;  // for a run from a version that kept no outlines
  none.left_out = 1;
  stored.run.dimensions = model::dimensions_of(stored.run.outline.value_or(none), stored.run.document, batch.dimension_names);
  stored.run.grouped = true;
  batch.txn.put(batch.tables.runs.handle, key, encode_run(key, stored));
  const RunKey place{tenant_of(key), record_key_of(key)};
  enter_dimensions(batch, place, stored.run.dimensions);
  const Affected affected = affected_by(batch.txn, batch.tables, place.tenant, stored);
  count_affected(batch, {place, stored.run.dimensions}, affected, !affected.clusters.empty(), 1);
}

}  // namespace

bool build_groups(WriteBatch& batch, std::size_t most) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 20;
  GroupBuild build = read_group_build(batch.txn, batch.tables);
  if (build.stage == GroupBuild::Stage::done) return false;
  const bool failures = build.stage == GroupBuild::Stage::failures;
  const Table& table = failures ? batch.tables.failures : batch.tables.runs;
  std::string at(place_key(build.at.tenant, build.at.key).view());
  std::uint64_t bytes = 0;
  bool more = true;
  for (std::size_t done = 0; done < most && bytes < kMostBytes; ++done) {
    std::string key;
    std::string value;
    {
      Cursor cursor(batch.txn, table.handle);
      more = cursor.at_or_after(at);
      if (!more) break;
      key = cursor.key();
      value = cursor.value();
    }
    bytes += value.size();
    try {
      failures ? build_failure(batch, key, value) : build_run(batch, key, value);
    } catch (const StoreError&) {
      // Unreadable records are in no count; reads and verify report them.
    }
    at = key + '\0';
    build.at = {tenant_of(key), record_key_of(key)};
    ++build.at.key.seq;
  }
  if (!more) build = {failures ? GroupBuild::Stage::runs : GroupBuild::Stage::done, {0, {std::numeric_limits<std::int64_t>::min(), 0}}};
  flush(batch);
  write_group_build(batch.txn, batch.tables, build);
  return build.stage != GroupBuild::Stage::done;
}

}  // namespace runwarden::store
