// Checks a store, entry by entry: that it reads, that its checksums hold, and that it agrees with every other entry it refers to.
//
// An entry and all it is compared with are read in one transaction, so that concurrent writes cannot look like faults.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/hex.h"
#include "base/json_check.h"
#include "model/record_ids.h"
#include "store/change_codec.h"
#include "store/event_codec.h"
#include "store/ledger_check.h"
#include "store/lmdb/answers.h"
#include "store/lmdb/crash_marks.h"
#include "store/lmdb/events.h"
#include "store/lmdb/failures.h"
#include "store/lmdb/groups.h"
#include "store/lmdb/keys.h"
#include "store/lmdb/ledger_files.h"
#include "store/lmdb/ledger_rows.h"
#include "store/lmdb/ledger_start.h"
#include "store/lmdb/maintenance/commands.h"
#include "store/lmdb/maintenance/open_store.h"
#include "store/lmdb/maintenance/recounting.h"
#include "store/lmdb/opinions.h"
#include "store/lmdb/policies.h"
#include "store/lmdb/reviews.h"
#include "store/lmdb/runs.h"
#include "store/lmdb/secret_file.h"
#include "store/lmdb/time_bucket_counts.h"
#include "store/opinion_codec.h"
#include "store/review_codec.h"
#include "store/webhook_codec.h"

namespace runwarden::store {
namespace {

constexpr const char* kOfRecord = "restore a backup, or purge the tenant's records of that time";
constexpr const char* kOfFile = "restore a backup; `runwarden export` saves what is still readable";
constexpr const char* kOfIndex = "restore a backup; or export the tenant and import it into a new store, which rebuilds every index";
constexpr const char* kOfLedger = "restore a backup; run `runwarden ledger verify` on an export to see what the ledger still proves";
constexpr std::size_t kHalfBytes = sizeof(Half);
constexpr int kDeepestJson = 1001;  // for a value accepted within the largest limits.max_json_depth
constexpr std::uint64_t kReportEvery = 64;

// One entry, with the transaction for look-ups of what it refers to.
struct Entry {
  const Txn& txn;
  std::string_view key;
  std::string_view value;
};

class Verifying {
 public:
  explicit Verifying(const MaintenanceContext& maintenance)
      : context_(maintenance),
        store_(maintenance.folder, maintenance.max_bytes, StoreUse::Kind::reading, LmdbSettings::IfOlder::refuse),
        t_(store_.tables) {}

  Verified run() {
    count_entries();
    if (const std::string why = store_.env.write_refusal(); !why.empty()) file_fault("a write found damage: " + why);
    check(t_.meta, &Verifying::meta, kOfIndex);
    check(t_.tenants, &Verifying::tenant, kOfIndex);
    check(t_.keys, &Verifying::key, "revoke the key and create another");
    check(t_.key_uses, &Verifying::key_use, "none needed: it is rewritten when the key is used");
    check(t_.runs, &Verifying::run_entry, kOfRecord);
    check(t_.previous, &Verifying::previous, kOfRecord);
    check(t_.run_ids, &Verifying::run_id, kOfIndex);
    check(t_.open_runs, &Verifying::open_run, kOfIndex);
    check(t_.events, &Verifying::events, kOfRecord);
    check(t_.failures, &Verifying::failure, kOfRecord);
    check(t_.shadow_failures, &Verifying::shadow_failure, kOfRecord);
    check(t_.fingerprints, &Verifying::fingerprint, kOfIndex);
    check(t_.tally, &Verifying::count, kOfIndex);
    check(t_.clusters, &Verifying::cluster, kOfIndex);
    check(t_.triage, &Verifying::triage, kOfIndex);
    check(t_.series, &Verifying::series, kOfIndex);
    recount_all_series();
    check(t_.dimensions, &Verifying::dimension, kOfIndex);
    check(t_.commits, &Verifying::commits, kOfIndex);
    check(t_.changes, &Verifying::change, kOfRecord);
    check(t_.policies, &Verifying::policy, kOfRecord);
    check(t_.policy_index, &Verifying::policy_entry, kOfIndex);
    check(t_.idempotency, &Verifying::answer, kOfRecord);
    check(t_.crash_marks, &Verifying::crash_mark, kOfRecord);
    check(t_.endpoints, &Verifying::endpoint, "remove the webhook and add it again");
    check(t_.outbox, &Verifying::waiting, kOfIndex);
    check(t_.deliveries, &Verifying::delivery, "remove the webhook and add it again");
    check(t_.reviews, &Verifying::review, kOfRecord);
    check(t_.review_index, &Verifying::review_entry, kOfIndex);
    check(t_.opinions, &Verifying::opinion, kOfRecord);
    check(t_.opinion_runs, &Verifying::opinion_of_run, kOfIndex);
    check(t_.opinion_queue, &Verifying::opinion_queued, kOfIndex);
    check(t_.ledgers, &Verifying::ledger_head, kOfLedger);
    check(t_.ledger_entries, &Verifying::ledger_row, kOfLedger);
    end_ledger_check();
    check(t_.ledger_subtrees, &Verifying::ledger_subtree, kOfLedger);
    check(t_.ledger_records, &Verifying::ledger_record, kOfLedger);
    check(t_.ledger_bodies, &Verifying::ledger_body, kOfLedger);
    check(t_.canary, &Verifying::canary, "none needed: it is rewritten while the service runs");
    files_beside();
    if (const std::string why = store_.env.write_refusal(); !why.empty() && verified_.faults == 0) file_fault(why);
    return std::move(verified_);
  }

 private:
  using Check = void (Verifying::*)(const Entry& entry);

  // Only for the progress.
  void count_entries() {
    try {
      const ReadTxn txn = store_.env.read();
      t_.each([&](const Table& table) { all_ += txn.entries(table.handle); });
    } catch (const LmdbFault&) {
      all_ = 0;
    }
  }

  // A damaged page ends the check of its table, not of the others.
  void check(const Table& table, Check check_entry, const char* remedy) {
    try {
      check_entries(table, check_entry, remedy);
    } catch (const LmdbFault& fault) {
      if (!is_damage(fault.code)) throw;
      fault_of(table, {}, std::string("one of its pages is damaged, so the rest was not checked: ") + fault.what(), kOfFile);
      tenants_.clear();
    }
  }

  void check_entries(const Table& table, Check check_entry, const char* remedy) {
    table_ = &table;
    remedy_ = remedy;
    report_progress(context_, {"verify", "entries", table.name, std::min(looked_at_, all_), all_});
    std::uint64_t& seen = verified_.entries[table.name];
    walk_slices(
        store_.env, table, {},
        [&](const Txn& txn, std::string_view key, std::string_view value) {
          ++seen;
          const Entry entry{txn, key, value};
          if (&table != &t_.meta && &table != &t_.tenants) read_tenants_once(txn);
          try {
            (this->*check_entry)(entry);
          } catch (const BadValue& bad) {
            fault(key, bad.what());
          } catch (const StoreError& bad) {
            fault(key, bad.what());
          } catch (const std::out_of_range&) {
            fault(key, "the key is truncated");
          }
          return ++looked_at_ % kReportEvery == 0 ? Visited::end_slice : Visited::proceed;
        },
        [&] {
          tenants_.clear();
          row_.reset();
          report_progress(context_, {"verify", "entries", table.name, std::min(looked_at_, all_), all_});
        });
  }

  void fault(std::string_view key, std::string detail) { fault_of(*table_, key, std::move(detail), remedy_); }
  void fault_of(const Table& table, std::string_view key, std::string detail, const char* remedy) {
    ++verified_.faults;
    if (verified_.first_ones.size() < kMostTold) verified_.first_ones.push_back({table.name, bytes_to_hex(key), std::move(detail), remedy});
  }
  void file_fault(std::string detail) {
    ++verified_.faults;
    verified_.first_ones.push_back({"store", "", std::move(detail), kOfFile});
  }

  // The files beside the data that a service reads at its start.
  void files_beside() {
    const auto unreadable = [&](const char* name, std::string why, const char* remedy) {
      ++verified_.faults;
      verified_.first_ones.push_back({name, "", std::move(why), remedy});
    };
    for (const char* name : {kCursorSecret, kSessionSecret}) {
      const auto secret = read_secret(context_.folder / name);
      if (!secret.ok()) unreadable(name, secret.error().detail, "remove it: the service makes another");
    }
    try {
      LedgerKeys(context_.folder).check_all();
    } catch (const StoreError& bad) {
      unreadable("ledger", bad.what(), "or remove the file: each ledger goes on with another key, and has an entry about it");
    }
  }

  void want(bool holds, const Entry& entry, const char* detail) {
    if (!holds) fault(entry.key, detail);
  }

  bool has(const Txn& txn, const Table& table, std::string_view key) const { return txn.get(table.handle, key).has_value(); }

  void read_tenants_once(const Txn& txn) {
    if (!tenants_.empty()) return;
    try {
      for (const model::Tenant& one : read_tenants(txn, t_)) tenants_.push_back(one);
    } catch (const StoreError&) {
      // The check of that table reports it.
    }
  }

  // The place that a key begins with. Its tenant must exist, and this store must have assigned its number.
  model::RecordKey place_of(const Entry& entry) {
    if (entry.key.size() < kPlaceBytes) throw BadValue("the key has " + std::to_string(entry.key.size()) + " bytes");
    const model::RecordKey place = record_key_of(entry.key);
    known_tenant(entry, tenant_of(entry.key));
    if (place.seq >> kCounterBits > read_meta(entry.txn, t_, meta::kStart)) {
      fault(entry.key, "its number belongs to a service start that the store has no record of");
    }
    return place;
  }
  void known_tenant(const Entry& entry, model::TenantId tenant) {
    const bool known = std::any_of(tenants_.begin(), tenants_.end(), [&](const model::Tenant& one) { return one.id == tenant; });
    want(known, entry, "no tenant has that number");
  }

  void meta(const Entry& entry) { read_meta(entry.txn, t_, entry.key); }

  void tenant(const Entry& entry) {
    const std::string_view number = open_head(entry.key, entry.value);
    if (number.size() != 8) throw BadValue("the number has " + std::to_string(number.size()) + " bytes");
    want(read_be(number, 0, 8) <= read_meta(entry.txn, t_, meta::kLastTenant), entry, "its number is greater than the last assigned one");
  }

  void key(const Entry& entry) {
    const model::KeyRecord key = decode_key(entry.key, entry.value);
    want(key.id == entry.key, entry, "the id stored in the key differs from the row's key");
    const bool known = std::any_of(tenants_.begin(), tenants_.end(),
                                   [&](const model::Tenant& one) { return one.id == key.tenant && one.name == key.tenant_name; });
    want(known, entry, "its tenant does not exist");
  }

  void key_use(const Entry& entry) {
    decode_place(entry.key, entry.value);
    want(has(entry.txn, t_.keys, entry.key), entry, "no key has that id");
  }

  void run_entry(const Entry& entry) {
    const RunKey place{tenant_of(entry.key), place_of(entry)};
    const StoredRun stored = decode_run(entry.key, entry.value);
    want(stored.run.key == place.key, entry, "the key stored in the run differs from the row's key");
    want(counted(entry.txn, place.tenant, kRunSeries, place.key.time_ms), entry, "it is not counted");
    if (stored.run.run_id != model::make_run_id(place.key)) {
      const KeyBytes by_id = KeyBytes().u32(place.tenant).bytes(stored.run.run_id);
      const auto found = entry.txn.get(t_.run_ids.handle, by_id);
      want(found && decode_place(by_id, *found) == place.key, entry, "its runId is not in the index, or points to a different run");
    }
    want((stored.run.state == model::RunState::open) == stored.buffering.has_value(), entry,
         "it is open without a buffer, or has a buffer but is not open");
    const auto open = entry.txn.get(t_.open_runs.handle, entry.key);
    want(open.has_value() == stored.buffering.has_value(), entry,
         stored.buffering ? "it is open, but not among the open runs" : "it is resolved, but among the open runs");
    outline(entry, stored);
    events_of(entry, place, stored);
    if (!stored.buffering) in_ledger(entry, ledger::Kind::run, run_name(place.key, stored.run.revision), place.key.seq);
  }

  void outline(const Entry& entry, const StoredRun& stored) {
    if (!stored.run.outline) return;
    const model::RunOutline& outline = *stored.run.outline;
    for (const std::string* json : {&outline.members, &outline.last_output, &outline.failures, &outline.detectors, &outline.policies}) {
      want(json->empty() || check_json(*json, kDeepestJson).ok(), entry, "its text for lists is not JSON");
    }
  }

  // Checks that as many events are stored as the run says.
  void events_of(const Entry& entry, const RunKey& place, const StoredRun& stored) {
    std::uint32_t packed = 0;
    std::uint32_t total = 0;
    const KeyBytes packed_key = events_key(place, true, 0);
    if (const auto value = entry.txn.get(t_.events.handle, packed_key)) packed = decode_events_head(packed_key, *value).count;
    total = packed;
    bool in_order = true;
    const KeyBytes first = events_key(place, false, 0);
    const std::string_view prefix = first.view().substr(0, kPlaceBytes + 1);
    Cursor cursor(entry.txn, t_.events.handle);
    for (bool more = cursor.at_or_after(prefix); more && cursor.key().starts_with(prefix); more = cursor.next()) {
      in_order = in_order && cursor.key().size() == kPlaceBytes + 5 && read_be(cursor.key(), kPlaceBytes + 1, 4) == total;
      total += decode_events_head(cursor.key(), cursor.value()).count;
    }
    want(in_order, entry, "its events are not contiguous");
    const std::uint32_t said = stored.buffering ? stored.buffering->total : stored.run.events;
    if (total != said) fault(entry.key, "it claims " + std::to_string(said) + " events, but has " + std::to_string(total));
  }

  void previous(const Entry& entry) {
    place_of(entry);
    const StoredRun stored = decode_run(entry.key, entry.value);
    const auto run = run_of(entry);
    want(run.has_value(), entry, "its run does not exist");
    if (run) want(run->run.run_id == stored.run.run_id, entry, "its runId differs from its run's");
    if (run) want(run->run.revision > stored.run.revision, entry, "no later revision exists");
    want(entry.key.size() == kPlaceBytes + 4 && read_be(entry.key, kPlaceBytes, 4) == stored.run.revision, entry,
         "its revision differs from its key's");
    in_ledger(entry, ledger::Kind::run, run_name(record_key_of(entry.key), stored.run.revision), record_key_of(entry.key).seq);
  }

  std::optional<StoredRun> run_of(const Entry& entry) const {
    const std::string_view key = entry.key.substr(0, kPlaceBytes);
    const auto value = entry.txn.get(t_.runs.handle, key);
    if (!value) return std::nullopt;
    return decode_run_head(key, *value);
  }

  void run_id(const Entry& entry) {
    known_tenant(entry, tenant_of(entry.key));
    const KeyBytes place = place_key(tenant_of(entry.key), decode_place(entry.key, entry.value));
    const auto value = entry.txn.get(t_.runs.handle, place);
    want(value.has_value(), entry, "it points to a run that does not exist");
    if (value) want(decode_run_head(place, *value).run.run_id == entry.key.substr(4), entry, "it points to a run with a different runId");
  }

  void open_run(const Entry& entry) {
    place_of(entry);
    const std::string_view state = open_head(entry.key, entry.value);
    if (state.size() < 13) throw BadValue("the state is truncated");
    const auto run = run_of(entry);
    want(run && run->buffering, entry, "it points to no open run");
    if (!run || !run->buffering) return;
    want(read_be(state, 8, 4) == run->run.revision, entry, "its revision differs from the run's");
    want((state[12] != 0) == run->buffering->ending.has_value(), entry, "it and the run disagree about how the run ends");
  }

  void events(const Entry& entry) {
    place_of(entry);
    want(has(entry.txn, t_.runs, entry.key.substr(0, kPlaceBytes)), entry, "the run of these events does not exist");
    const auto part = static_cast<EventPart>(entry.key.at(kPlaceBytes));
    if (part == EventPart::id) return want(entry.key.size() == kPlaceBytes + 1 + kHalfBytes, entry, "an event's id is truncated");
    const EventChunk chunk = decode_events_head(entry.key, entry.value);
    const auto events = decode_events(entry.key, entry.value);
    std::uint64_t bytes = 0;
    for (const std::string& event : events) bytes += event.size();
    want(events.size() == chunk.count && bytes == chunk.bytes, entry, "its event count or size does not match its events");
  }

  void failure(const Entry& entry) {
    const model::RecordKey place = place_of(entry);
    const model::FailureRecord failure = decode_failure(entry.key, entry.value);
    const model::TenantId tenant = tenant_of(entry.key);
    want(failure.key == place && failure.id == model::make_failure_id(place), entry,
         "the key stored in the failure differs from the row's key");
    const Half half = half_digest(failure.fingerprint);
    const auto row = entry.txn.get(t_.fingerprints.handle, KeyBytes().u32(tenant).bytes(view(half)).time(place.time_ms).u64(place.seq));
    want(row.has_value(), entry, "its fingerprint is not in the index");
    want(!row || is_false_alarm_row(*row) == failure.is_false_alarm(), entry, "the fingerprint index and the review disagree about it");
    want(failure.is_false_alarm() || counted(entry.txn, tenant, half, place.time_ms), entry, "it is not counted");
    reviewed(entry, failure);
    shown_by_run(entry, failure);
  }

  void reviewed(const Entry& entry, const model::FailureRecord& failure) {
    model::Review subject;
    subject.run = failure.run;
    subject.failure_id = failure.id;
    const auto last = last_review(entry.txn, t_, review_subject_prefix(tenant_of(entry.key), subject));
    want((last ? last->verdict : model::ReviewVerdict::none) == failure.reviewed, entry, "its verdict differs from its last review's");
  }

  // A failure of a detector on trial: in no index and in no count.
  void shadow_failure(const Entry& entry) {
    const model::RecordKey place = place_of(entry);
    const model::FailureRecord failure = decode_failure(entry.key, entry.value);
    want(failure.key == place && failure.id == model::make_failure_id(place), entry,
         "the key stored in the failure differs from the row's key");
    reviewed(entry, failure);
    shown_by_run(entry, failure);
  }

  void shown_by_run(const Entry& entry, const model::FailureRecord& failure) {
    const model::RecordKey place = failure.key;
    const model::TenantId tenant = tenant_of(entry.key);
    const KeyBytes run_key = place_key(tenant, failure.run);
    const auto run = entry.txn.get(t_.runs.handle, run_key);
    if (!run) return;  // retention deletes runs and failures independently
    const auto shown = decode_run_head(run_key, *run).failures;
    want(std::find(shown.begin(), shown.end(), place) != shown.end(), entry, "its run does not list it");
  }

  void fingerprint(const Entry& entry) {
    if (entry.key.size() != 4 + kHalfBytes + 16) throw BadValue("the key has " + std::to_string(entry.key.size()) + " bytes");
    known_tenant(entry, tenant_of(entry.key));
    if (is_false_alarm_row(entry.value)) open_head(entry.key, entry.value);
    const KeyBytes place = KeyBytes().u32(tenant_of(entry.key)).bytes(entry.key.substr(4 + kHalfBytes));
    const auto value = entry.txn.get(t_.failures.handle, place);
    want(value.has_value(), entry, "it points to a failure that does not exist");
    if (!value) return;
    const Half half = half_digest(decode_failure_head(place, *value).fingerprint);
    want(view(half) == entry.key.substr(4, kHalfBytes), entry, "it points to a failure with a different fingerprint");
  }

  // Every record must be in a count of the lowest level. Each count is checked against the level below it.
  bool counted(const Txn& txn, model::TenantId tenant, const Half& series, std::int64_t time_ms) const {
    return has(txn, t_.tally, lowest_count_key(tenant, series, time_ms));
  }

  void count(const Entry& entry) {
    known_tenant(entry, tenant_of(entry.key));
    const CountCheck checked = check_count(entry.txn, t_, entry.key, entry.value);
    if (checked.says != checked.is) {
      fault(entry.key, "it counts " + std::to_string(checked.says) + ", but there are " + std::to_string(checked.is));
    }
    want(checked.above, entry, "the count above it does not include it");
  }

  // A store from before groups existed is not compared until all of it was counted.
  bool groups_are_built(const Txn& txn) const { return read_group_build(txn, t_).stage == GroupBuild::Stage::done; }

  void each_fault(const Entry& entry, const std::vector<std::string>& details) {
    for (const std::string& detail : details) fault(entry.key, detail);
  }

  void cluster(const Entry& entry) {
    const model::TenantId tenant = tenant_of(entry.key);
    known_tenant(entry, tenant);
    if (entry.key.size() == KeyBytes().u32(tenant).view().size()) {
      if (groups_are_built(entry.txn)) each_fault(entry, totals_differences(entry.txn, t_, tenant));
      return;
    }
    const ClusterHead head = decode_cluster(entry.key, entry.value);
    want(model::cluster_key(head.cluster.fingerprint) == head.cluster.key, entry, "its fingerprint does not match its key");
    want(has(entry.txn, t_.clusters, KeyBytes().u32(tenant)), entry, "the tenant's group count is missing");
    if (groups_are_built(entry.txn)) each_fault(entry, head_differences(entry.txn, t_, tenant, head));
  }

  void triage(const Entry& entry) {
    known_tenant(entry, tenant_of(entry.key));
    const model::TriageEntry decided = decode_triage(entry.key, entry.value);
    want(entry.key.size() == 4 + kHalfBytes + 16 && read_time(entry.key, 4 + kHalfBytes) == decided.key.time_ms &&
             read_be(entry.key, 4 + kHalfBytes + 8, 8) == decided.key.seq,
         entry, "the key stored in it differs from the row's key");
    want(has(entry.txn, t_.clusters, entry.key.substr(0, 4 + kHalfBytes)), entry, "its group does not exist");
    in_ledger(entry, ledger::Kind::triage, entry.key.substr(4), decided.key.seq);
  }

  void series(const Entry& entry) {
    known_tenant(entry, tenant_of(entry.key));
    each_fault(entry, level_differences(entry.txn, t_, entry.key, entry.value));
  }

  void recount_all_series() {
    table_ = &t_.series;
    remedy_ = kOfIndex;
    try {
      const auto tenants = [&] {
        const ReadTxn txn = store_.env.read();
        return groups_are_built(txn) ? read_tenants(txn, t_) : std::vector<model::Tenant>();
      }();
      for (const model::Tenant& one : tenants) {
        recount_series(store_.env, t_, one.id,
                       {[this](const std::string& key, std::string detail) { fault(key, std::move(detail)); },
                        [this] {
                          report_progress(context_, {"verify", "entries", table_->name, std::min(looked_at_, all_), all_});
                        }});
      }
    } catch (const LmdbFault& fault) {
      if (!is_damage(fault.code)) throw;  // otherwise the check of the table with that page reports it
    } catch (const StoreError&) {
    }
  }

  // Checks each value's row against its series, and the head of a stretch against its rows.
  void dimension(const Entry& entry) {
    constexpr std::size_t kStretchAt = 4 + kHalfBytes;
    const model::TenantId tenant = tenant_of(entry.key);
    known_tenant(entry, tenant);
    const KeyBytes head_key = KeyBytes().bytes(entry.key.substr(0, kStretchAt)).time(read_time(entry.key, kStretchAt));
    const auto head_value = entry.txn.get(t_.dimensions.handle, head_key);
    if (!head_value) throw BadValue("the head of its dimension's values is missing");
    const StretchHead head = decode_stretch(head_key, *head_value);
    if (entry.key == head_key.view()) {
      std::uint64_t values = 0;
      std::uint64_t runs = 0;
      Cursor cursor(entry.txn, t_.dimensions.handle);
      bool more = cursor.at_or_after(head_key) && cursor.next();
      for (; more && cursor.key().starts_with(head_key.view()); more = cursor.next()) {
        values += cursor.key().substr(head_key.view().size()) != model::kOtherValue ? 1 : 0;
        runs += decode_value_row(cursor.key(), cursor.value()).runs;
      }
      return want(values == head.values && runs == head.runs, entry, "its counts of values and runs do not match");
    }
    const std::uint64_t says = decode_value_row(entry.key, entry.value).runs;
    const Half value = value_half({head.dimension, std::string(entry.key.substr(head_key.view().size()))});
    const std::int64_t from_ms = read_time(entry.key, kStretchAt) << kStretchShift;
    const Span stretch{from_ms, from_ms + (std::int64_t{1} << kStretchShift)};
    const std::uint64_t is = sum_series(entry.txn, {t_.series, tenant, runs_series(value), kFinestOfRuns}, stretch);
    if (says != is) fault(entry.key, "it counts " + std::to_string(says) + " runs, but there are " + std::to_string(is));
  }

  void commits(const Entry& entry) {
    known_tenant(entry, tenant_of(entry.key));
    decode_tail(entry.key, entry.value);
  }

  void change(const Entry& entry) {
    const model::RecordKey place = place_of(entry);
    const model::ChangeRecord change = decode_change(entry.key, entry.value);
    want(change.key == place, entry, "the key stored in the change differs from the row's key");
    if (is_of_policy(change)) return want(has(entry.txn, t_.policies, entry.key), entry, "its policy revision does not exist");
    in_ledger(entry, ledger::Kind::change, place_name(place), place.seq);
  }

  void policy(const Entry& entry) {
    const model::RecordKey place = place_of(entry);
    const model::TenantId tenant = tenant_of(entry.key);
    const model::PolicyRecord policy = decode_policy(entry.key, entry.value);
    want(policy.key == place, entry, "the key stored in the policy revision differs from the row's key");
    const KeyBytes time = policy_times_prefix(tenant, policy.policy).time(place.time_ms).u64(place.seq);
    want(has(entry.txn, t_.policy_index, time), entry, "its time is not in the index");
    want(place_of_revision(entry.txn, t_, tenant, policy) == place, entry,
         "its revision is not in the index, or points to a different one");
    want(has(entry.txn, t_.policy_index, policy_name_key(tenant, policy.policy)), entry, "its name is not in the index");
    in_ledger(entry, ledger::Kind::policy, place_name(place), place.seq);
  }

  void policy_entry(const Entry& entry) {
    const model::TenantId tenant = tenant_of(entry.key);
    known_tenant(entry, tenant);
    const auto part = static_cast<PolicyPart>(entry.key.at(4));
    if (part == PolicyPart::head) {
      const std::string name = open_body(entry.key, entry.value);
      return want(policy_name_key(tenant, name).view() == entry.key, entry, "its policy does not match its key");
    }
    const KeyBytes place = part == PolicyPart::time ? KeyBytes().u32(tenant).bytes(entry.key.substr(5 + kHalfBytes))
                                                    : place_key(tenant, decode_place(entry.key, entry.value));
    const auto value = entry.txn.get(t_.policies.handle, place);
    want(value.has_value(), entry, "it points to a policy revision that does not exist");
    if (!value) return;
    const Half half = half_digest(decode_policy_head(place, *value).policy);
    want(view(half) == entry.key.substr(5, kHalfBytes), entry, "it points to a revision of a different policy");
  }

  // The record it answered with may be gone: retention deletes each independently.
  void answer(const Entry& entry) {
    const IdempotentAnswer answer = decode_answer(entry.key, entry.value);
    const auto tenant = static_cast<model::TenantId>(read_be(entry.key, 4, 4));
    known_tenant(entry, tenant);
    want(answer_key(answer, tenant).view() == entry.key, entry, "its Idempotency-Key or its day does not match its key");
  }

  void crash_mark(const Entry& entry) {
    if (entry.key.size() != kPlaceBytes) throw BadValue("the key has " + std::to_string(entry.key.size()) + " bytes");
    known_tenant(entry, tenant_of(entry.key));
    decode_crash_mark(entry.key, entry.value);
  }

  void endpoint(const Entry& entry) {
    known_tenant(entry, tenant_of(entry.key));
    if (entry.key.size() != kEndpointKeyBytes) throw BadValue("the key has " + std::to_string(entry.key.size()) + " bytes");
    const model::Endpoint endpoint = decode_endpoint(entry.key, entry.value);
    want(endpoint.key.seq == read_be(entry.key, 4, 8), entry, "the key stored in the webhook differs from the row's key");
    std::uint64_t waiting = 0;
    std::uint64_t dead = 0;
    Cursor cursor(entry.txn, t_.outbox.handle);
    for (bool more = cursor.at_or_after(entry.key); more && cursor.key().starts_with(entry.key); more = cursor.next()) ++waiting;
    Cursor deliveries(entry.txn, t_.deliveries.handle);
    for (bool more = deliveries.at_or_after(entry.key); more && deliveries.key().starts_with(entry.key); more = deliveries.next()) {
      dead += decode_delivery_head(deliveries.key(), deliveries.value()).state == model::DeliveryState::dead ? 1 : 0;
    }
    want(waiting == endpoint.pending, entry, "its count of pending deliveries does not match");
    want(dead == endpoint.dead, entry, "its count of dead deliveries does not match");
  }

  void waiting(const Entry& entry) {
    known_tenant(entry, tenant_of(entry.key));
    if (entry.key.size() != kOutboxKeyBytes) throw BadValue("the key has " + std::to_string(entry.key.size()) + " bytes");
    const model::RecordKey place{decode_queued(entry.key, entry.value), read_be(entry.key, kEndpointKeyBytes + 8, 8)};
    const KeyBytes key = delivery_key(tenant_of(entry.key), read_be(entry.key, 4, 8), place);
    const auto value = entry.txn.get(t_.deliveries.handle, key);
    want(value.has_value(), entry, "it points to a delivery that does not exist");
    if (!value) return;
    const model::Delivery delivery = decode_delivery_head(key, *value);
    want(delivery.state == model::DeliveryState::pending && delivery.next_ms == read_time(entry.key, kEndpointKeyBytes), entry,
         "it points to a delivery that is due at a different time");
  }

  void delivery(const Entry& entry) {
    const model::TenantId tenant = tenant_of(entry.key);
    known_tenant(entry, tenant);
    if (entry.key.size() != kDeliveryKeyBytes) throw BadValue("the key has " + std::to_string(entry.key.size()) + " bytes");
    const model::Delivery delivery = decode_delivery(entry.key, entry.value);
    const std::uint64_t endpoint_seq = read_be(entry.key, 4, 8);
    want(delivery_key(tenant, endpoint_seq, delivery.key).view() == entry.key, entry,
         "the key stored in the delivery differs from the row's key");
    if (delivery.state != model::DeliveryState::pending) return;
    want(has(entry.txn, t_.outbox, outbox_key(tenant, endpoint_seq, delivery)), entry, "it is pending, but not in the outbox");
  }

  // Its subject may be gone: retention deletes each independently.
  void review(const Entry& entry) {
    const model::RecordKey place = place_of(entry);
    const model::TenantId tenant = tenant_of(entry.key);
    const model::Review review = decode_review(entry.key, entry.value);
    want(review.key == place, entry, "the key stored in the review differs from the row's key");
    want(check_json(review.document, kDeepestJson).ok(), entry, "its document is not JSON");
    want(has(entry.txn, t_.review_index, review_index_key(tenant, review)), entry, "it is not in the index");
    const auto last = last_review(entry.txn, t_, review_subject_prefix(tenant, review));
    const bool counts = last && last->key == review.key && review.verdict != model::ReviewVerdict::none;
    want(!counts || has(entry.txn, t_.review_index, review_day_key(tenant, review)), entry, "it is not counted");
    in_ledger(entry, ledger::Kind::triage, place_name(review.key), review.key.seq);
  }

  void review_entry(const Entry& entry) {
    const model::TenantId tenant = tenant_of(entry.key);
    known_tenant(entry, tenant);
    const auto part = static_cast<ReviewPart>(entry.key.at(4));
    if (part == ReviewPart::day && entry.key.size() == kReviewDayKeyBytes) {
      const model::ReviewCounts says = decode_review_counts(entry.key, entry.value).counts;
      const model::ReviewCounts is = recount_reviews(entry.txn, t_, entry.key);
      if (says != is)
        fault(entry.key,
              "its counts of " + std::to_string(says.all()) + " reviews do not match the " + std::to_string(is.all()) + " stored reviews");
      return;
    }
    if (part != ReviewPart::subject || entry.key.size() != kReviewIndexKeyBytes)
      throw BadValue("the key has " + std::to_string(entry.key.size()) + " bytes");
    const KeyBytes place = KeyBytes().u32(tenant).bytes(entry.key.substr(kReviewSubjectKeyBytes));
    const auto value = entry.txn.get(t_.reviews.handle, place);
    want(value.has_value(), entry, "it points to a review that does not exist");
    if (value)
      want(review_index_key(tenant, decode_review_head(place, *value)).view() == entry.key, entry,
           "it points to a review of a different failure or run");
  }

  void opinion(const Entry& entry) {
    const model::RecordKey place = place_of(entry);
    const model::TenantId tenant = tenant_of(entry.key);
    const model::Opinion opinion = decode_opinion(entry.key, entry.value);
    want(opinion.key == place && opinion.id == model::make_candidate_id(place), entry,
         "the key stored in the opinion differs from the row's key");
    want(opinion.review.empty() || check_json(opinion.review, kDeepestJson).ok(), entry, "the model's review is not JSON");
    want(has(entry.txn, t_.runs, place_key(tenant, opinion.run)), entry, "its run does not exist");
    want(has(entry.txn, t_.opinion_runs, opinion_run_key(tenant, opinion)), entry, "it is not in its run's index");
    const auto queued = opinion_queue_key(tenant, opinion);
    want(!queued || has(entry.txn, t_.opinion_queue, *queued), entry, "it is waiting or dead, but not in the queue");
  }

  void opinion_of_run(const Entry& entry) {
    place_of(entry);
    if (entry.key.size() != kOpinionRunKeyBytes) throw BadValue("the key has " + std::to_string(entry.key.size()) + " bytes");
    const KeyBytes place = KeyBytes().u32(tenant_of(entry.key)).bytes(entry.key.substr(kPlaceBytes));
    const auto value = entry.txn.get(t_.opinions.handle, place);
    want(value.has_value(), entry, "it points to an opinion that does not exist");
    if (!value) return;
    const bool same = opinion_run_key(tenant_of(entry.key), decode_opinion_head(place, *value)).view() == entry.key;
    want(same, entry, "it points to an opinion about a different run");
  }

  void opinion_queued(const Entry& entry) {
    if (entry.key.size() != kOpinionQueueKeyBytes) throw BadValue("the key has " + std::to_string(entry.key.size()) + " bytes");
    const std::string_view place = entry.key.substr(kOpinionQueueKeyBytes - kPlaceBytes);
    known_tenant(entry, tenant_of(place));
    const auto value = entry.txn.get(t_.opinions.handle, place);
    want(value.has_value(), entry, "it points to an opinion that does not exist");
    if (!value) return;
    const auto queued = opinion_queue_key(tenant_of(place), decode_opinion_head(place, *value));
    want(queued && queued->view() == entry.key, entry, "it points to an opinion that is due at a different time");
  }

  // Checks that a record has its entry, if it was stored since every record has one.
  void in_ledger(const Entry& entry, ledger::Kind kind, std::string_view name, std::uint64_t seq) {
    if (ledger_state(entry.txn, t_) != LedgerState::on || seq >> kCounterBits < read_meta(entry.txn, t_, meta::kLedgerSince)) return;
    want(has(entry.txn, t_.ledger_records, ledger_record_key(tenant_of(entry.key), kind, name)), entry, "it has no ledger entry");
  }

  void ledger_head(const Entry& entry) {
    if (tenant_of(entry.key) == 0) return static_cast<void>(open_head(entry.key, entry.value));
    known_tenant(entry, tenant_of(entry.key));
    const LedgerHead head = decode_ledger_head(entry.key, entry.value);
    const bool empty = head.tree.size() == 0;
    want(empty || has(entry.txn, t_.ledger_entries, ledger_row_key(tenant_of(entry.key), 0)), entry, "its first entries are missing");
  }

  void ledger_row(const Entry& entry) {
    const model::TenantId tenant = tenant_of(entry.key);
    known_tenant(entry, tenant);
    if (ledger_check_ && ledger_check_->tenant() != tenant) end_ledger_check();
    if (!ledger_check_) ledger_check_.emplace(tenant);
    LmdbLedgerReader reader(entry.txn, t_, tenant);
    each_fault(entry, ledger_check_->take(reader, decode_ledger_row(entry.key, entry.value)));
  }

  void end_ledger_check() {
    if (!ledger_check_) return;
    table_ = &t_.ledger_entries;
    remedy_ = kOfLedger;
    for (const std::string& detail : ledger_check_->end()) fault(KeyBytes().u32(ledger_check_->tenant()), detail);
    ledger_check_.reset();
  }

  void ledger_subtree(const Entry& entry) {
    decode_subtree(entry.key, entry.value);
    const auto head = read_ledger_head(entry.txn, t_, tenant_of(entry.key));
    const auto height = static_cast<unsigned>(static_cast<std::uint8_t>(entry.key.at(4)));
    want(head && is_kept_height(height) && read_be(entry.key, 5, 8) < head->tree.size() >> height, entry, "the ledger has no such subtree");
  }

  void ledger_record(const Entry& entry) {
    const LedgerRecord record = decode_ledger_record(entry.key, entry.value);
    const model::TenantId tenant = tenant_of(entry.key);
    const bool same_row = row_ && row_tenant_ == tenant && row_->holds(record.index);
    if (!same_row) row_ = find_ledger_row(entry.txn, t_, tenant, record.index);
    row_tenant_ = tenant;
    const bool named = row_ && row_->names[record.index - row_->first] == entry.key.substr(5) &&
                       row_->entries[record.index - row_->first].kind == static_cast<ledger::Kind>(entry.key.at(4));
    want(named, entry, "its entry is missing or belongs to a different record");
  }

  void ledger_body(const Entry& entry) {
    decode_ledger_body(entry.key, entry.value);
    const auto row = find_ledger_row(entry.txn, t_, tenant_of(entry.key), read_be(entry.key, 4, 8));
    want(row.has_value(), entry, "no entry has that index");
  }

  void canary(const Entry& entry) { decode_run(entry.key, entry.value); }

  const MaintenanceContext& context_;
  OpenStore store_;
  Tables& t_;
  const Table* table_ = nullptr;  // being checked
  const char* remedy_ = "";
  std::vector<model::Tenant> tenants_;  // as of this slice
  std::optional<LedgerCheck> ledger_check_;
  std::optional<LedgerRow> row_;  // the ledger row that was read last in this slice
  model::TenantId row_tenant_ = 0;
  std::uint64_t looked_at_ = 0;
  std::uint64_t all_ = 0;
  Verified verified_;
};

}  // namespace

Result<Verified> lmdb::verify(const MaintenanceContext& maintenance) {
  return guarded(maintenance, [&]() -> Result<Verified> { return Verifying(maintenance).run(); });
}

}  // namespace runwarden::store
