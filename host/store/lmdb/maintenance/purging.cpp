// Deletes the records of a tenant.
#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "store/change_codec.h"
#include "store/lmdb/answers.h"
#include "store/lmdb/expire.h"
#include "store/lmdb/failures.h"
#include "store/lmdb/groups.h"
#include "store/lmdb/keys.h"
#include "store/lmdb/ledger_start.h"
#include "store/lmdb/ledger_store.h"
#include "store/lmdb/policies.h"
#include "store/lmdb/reviews.h"
#include "store/lmdb/runs.h"
#include "store/lmdb/maintenance/open_store.h"
#include "store/lmdb/maintenance/recounting.h"
#include "store/lmdb/maintenance/commands.h"

namespace runwarden::store {
namespace {

constexpr std::size_t kRecordsAtOnce = 200;  // per transaction: a few milliseconds
constexpr std::size_t kHalfBytes = sizeof(Half);
constexpr std::size_t kSeriesAt = 4;  // in the keys of fingerprints and counts, after the tenant

class Purging {
 public:
  Purging(const MaintenanceContext& maintenance, const PurgeQuery& query)
      : context_(maintenance),
        query_(query),
        store_(maintenance.folder, maintenance.max_bytes, StoreUse::Kind::shared, LmdbSettings::IfOlder::refuse),
        room_(store_.env, maintenance.clock) {}

  Purged run() {
    Retention retention = find_tenant();
    delete_all(retention);
    sweep_fingerprints();
    if (purged_.leftovers > 0) delete_all(retention);  // groups that had only unreadable failures left
    sweep();
    note_purge();
    if (query_.on_last_checkpoint) remove_ledger();
    return purged_;
  }

  Expired count() {
    const Retention retention = find_tenant();
    count_runs(retention);
    for (const Table* table : {&store_.tables.failures, &store_.tables.shadow_failures}) {
      count_places(*table, retention.failures_before_ms, counted_.failures);
    }
    count_places(store_.tables.changes, retention.changes_before_ms, counted_.changes);
    count_places(store_.tables.policies, retention.policies_before_ms, counted_.policies);
    count_places(store_.tables.crash_marks, retention.runs_before_ms, counted_.crash_marks);
    count_answers(retention.runs_before_ms);
    count_triage(retention);
    count_deliveries(retention.deliveries_before_ms);
    count_reviews(retention);
    return counted_;
  }

 private:
  // A purge without a time ends with what is stored when it begins; otherwise it might never end alongside a busy service.
  Retention find_tenant() {
    const ReadTxn txn = store_.env.read();
    for (const model::Tenant& one : read_tenants(txn, store_.tables)) {
      if (one.name != query_.tenant) continue;
      tenant_ = one.id;
      Retention retention;
      retention.tenant = tenant_;
      retention.open_runs_too = true;
      retention.changes_before_ms = query_.before_ms;
      retention.policies_before_ms = query_.before_ms;
      retention.deliveries_before_ms = query_.before_ms;
      retention.runs_before_ms = query_.before_ms;
      retention.failures_before_ms = query_.before_ms;
      if (query_.before_ms == kEndMs) {
        const std::int64_t end = std::max({context_.clock.wall_ms(), last_of(txn, store_.tables.runs), last_of(txn, store_.tables.failures),
                                           last_of(txn, store_.tables.shadow_failures)}) +
                                 1;
        retention.runs_before_ms = end;
        retention.failures_before_ms = end;
      }
      return retention;
    }
    throw StoreError("no tenant \"" + query_.tenant + "\"; `runwarden keys list` shows the tenants that have keys");
  }

  std::int64_t last_of(const Txn& txn, const Table& table) const {
    Cursor cursor(txn, table.handle);
    if (!cursor.before(KeyBytes().u32(tenant_ + 1)) || tenant_of(cursor.key()) != tenant_) return 0;
    return record_key_of(cursor.key()).time_ms;
  }

  // Visits the tenant's entries from before that time, in a table whose keys begin with tenant and time.
  template <class Visit>
  void walk_before(const Table& table, std::int64_t before_ms, Visit visit) {
    const KeyBytes prefix = KeyBytes().u32(tenant_);
    walk_slices(
        store_.env, table, std::string(prefix.view()),
        [&](const Txn& txn, std::string_view key, std::string_view) {
          if (!key.starts_with(prefix.view()) || record_key_of(key).time_ms >= before_ms) return Visited::end;
          visit(txn, key);
          return Visited::proceed;
        },
        [this] { report_counted(); });
  }

  void count_places(const Table& table, std::int64_t before_ms, std::uint64_t& count) {
    walk_before(table, before_ms, [&](const Txn&, std::string_view) { ++count; });
  }

  // Also counts failures of these runs that are younger: a run takes them with it.
  void count_runs(const Retention& retention) {
    walk_before(store_.tables.runs, retention.runs_before_ms, [&](const Txn& txn, std::string_view key) {
      ++counted_.runs;
      try {
        const StoredRun stored = *read_run_head(txn, store_.tables, tenant_, record_key_of(key));
        counted_.events += stored.buffering ? stored.buffering->total : stored.run.events;
        for (const model::RecordKey& failure : stored.failures) {
          if (failure.time_ms < retention.failures_before_ms) continue;
          const KeyBytes place = place_key(tenant_, failure);
          const bool is_there = txn.get(store_.tables.failures.handle, place) || txn.get(store_.tables.shadow_failures.handle, place);
          counted_.failures += is_there ? 1 : 0;
        }
      } catch (const StoreError&) {  // an unreadable run is deleted without what it would lead to
      }
    });
  }

  void count_answers(std::int64_t before_ms) {
    const Table& table = store_.tables.idempotency;
    const auto find_day = [&](std::uint32_t& day) {
      const ReadTxn txn = store_.env.read();
      return next_day_with_answers(txn, store_.tables, tenant_, day);
    };
    for (std::uint32_t day = 0; find_day(day); ++day) {
      const KeyBytes prefix = KeyBytes().u32(day).u32(tenant_);
      walk_slices(
          store_.env, table, std::string(prefix.view()),
          [&](const Txn&, std::string_view key, std::string_view value) {
            if (!key.starts_with(prefix.view())) return Visited::end;
            counted_.idempotency_keys += is_answer_before(key, value, before_ms) ? 1 : 0;
            return Visited::proceed;
          },
          [this] { report_counted(); });
    }
  }

  // The latest entry of a group stays as long as the group has failures.
  void count_triage(const Retention& retention) {
    const KeyBytes prefix = KeyBytes().u32(tenant_);
    walk_slices(
        store_.env, store_.tables.triage, std::string(prefix.view()),
        [&](const Txn& txn, std::string_view key, std::string_view) {
          if (!key.starts_with(prefix.view())) return Visited::end;
          if (read_time(key, kSeriesAt + kHalfBytes) >= retention.changes_before_ms) return Visited::proceed;
          const std::string_view group = key.substr(0, kSeriesAt + kHalfBytes);
          counted_.triage += is_last_in(txn, store_.tables.triage, group, key) && outlives(txn, group, retention) ? 0 : 1;
          return Visited::proceed;
        },
        [this] { report_counted(); });
  }

  void count_deliveries(std::int64_t before_ms) {
    const KeyBytes prefix = KeyBytes().u32(tenant_);
    walk_slices(
        store_.env, store_.tables.deliveries, std::string(prefix.view()),
        [&](const Txn&, std::string_view key, std::string_view) {
          if (!key.starts_with(prefix.view())) return Visited::end;
          counted_.deliveries += key.size() == kDeliveryKeyBytes && read_time(key, kEndpointKeyBytes) < before_ms ? 1 : 0;
          return Visited::proceed;
        },
        [this] { report_counted(); });
  }

  // The last review of a remaining failure or run stays with it.
  void count_reviews(const Retention& retention) {
    walk_before(store_.tables.reviews, retention.changes_before_ms, [&](const Txn& txn, std::string_view key) {
      try {
        const auto review = read_review_at(txn, store_.tables, tenant_, record_key_of(key));
        const bool stays = review && review->run.time_ms >= retention.runs_before_ms && is_in_use(txn, store_.tables, tenant_, *review);
        counted_.reviews += stays ? 0 : 1;
      } catch (const StoreError&) {  // an unreadable review is deleted, too
        ++counted_.reviews;
      }
    });
  }

  static bool is_last_in(const Txn& txn, const Table& table, std::string_view group, std::string_view key) {
    Cursor cursor(txn, table.handle);
    if (!cursor.at_or_after(key) || !cursor.next()) return true;
    return !cursor.key().starts_with(group);
  }

  // Whether the group's newest failure stays.
  bool outlives(const Txn& txn, std::string_view group, const Retention& retention) const {
    Cursor cursor(txn, store_.tables.fingerprints.handle);
    if (!cursor.before(KeyBytes().bytes(group).u64(~std::uint64_t{0}).u64(~std::uint64_t{0})) || !cursor.key().starts_with(group))
      return false;
    const KeyBytes place = KeyBytes().u32(tenant_).bytes(cursor.key().substr(group.size()));
    if (record_key_of(place).time_ms < retention.failures_before_ms) return false;
    try {
      const auto value = txn.get(store_.tables.failures.handle, place);
      return value && decode_failure_head(place, *value).run.time_ms >= retention.runs_before_ms;
    } catch (const BadValue&) {
      return false;
    }
  }

  // As the ledger says it.
  std::optional<std::int64_t> before_ms() const { return query_.before_ms == kEndMs ? std::nullopt : std::optional(query_.before_ms); }

  void report_counted() const { report_progress(context_, {"count", "records", "", counted_.total(), 0}); }

  // One transaction, then a pause of the same length, so that a service alongside gets its turn.
  template <class Use>
  auto write(Use use) {
    const auto begun = std::chrono::steady_clock::now();
    const auto pause = [begun] { std::this_thread::sleep_for(std::chrono::steady_clock::now() - begun); };
    WriteTxn txn = store_.env.write();
    WriteBatch batch{txn, store_.tables, room_, {context_.clock.wall_ms(), 0}, {}, {}};
    const bool on = ledger_state(txn, store_.tables) == LedgerState::on;
    using Records = LedgerWriter::Records;
    batch.ledger.emplace(txn, store_.tables, context_.clock.wall_ms(), on ? Records::make_entries : Records::make_none);
    auto result = use(batch);
    flush(batch);
    batch.ledger->write_receipts(ledger::Kind::purge, before_ms());
    batch.ledger->flush();
    if (!batch.open_runs.empty()) write_meta(txn, store_.tables, meta::kPurges, read_meta(txn, store_.tables, meta::kPurges) + 1);
    txn.commit();
    pause();
    return result;
  }

  void delete_all(const Retention& retention) {
    for (bool more = true; more;) {
      more = delete_some(retention);
      report_progress(context_, {"purge", "records", "", purged_.gone.total(), 0});
    }
  }

  // With little room left, even a deletion may need more pages than there are. It is then retried with fewer records.
  bool delete_some(const Retention& retention) {
    for (std::size_t some = kRecordsAtOnce;; some /= 2) {
      try {
        const Expired gone = write([&](WriteBatch& batch) { return expire_in(batch, retention, some); });
        purged_.gone.add(gone);
        return gone.more;
      } catch (const NoRoom&) {
        if (some <= 1) throw;
      }
    }
  }

  void sweep_fingerprints() {
    sweep_table(store_.tables.fingerprints, [&](const Txn& txn, std::string_view key, std::string_view) {
      return !txn.get(store_.tables.failures.handle, KeyBytes().u32(tenant_).bytes(key.substr(kSeriesAt + kHalfBytes)));
    });
  }

  // Deletes entries that lead nowhere. Finds them in slices, and checks them again in the transaction that deletes them.
  void sweep() {
    const Tables& tables = store_.tables;
    const auto without_run = [&](const Txn& txn, std::string_view key, std::string_view) {
      return !txn.get(tables.runs.handle, key.substr(0, kPlaceBytes));
    };
    sweep_table(tables.run_ids,
                [&](const Txn& txn, std::string_view key, std::string_view value) { return leads_nowhere(txn, tables.runs, key, value); });
    sweep_table(tables.previous, without_run);
    sweep_table(tables.events, without_run);
    sweep_table(tables.open_runs, without_run);
    sweep_table(tables.opinion_runs, without_run);
    // A policy's name comes before its times, and is deleted once they are gone.
    for (int round = 0; round < 2; ++round) {
      sweep_table(tables.policy_index,
                  [&](const Txn& txn, std::string_view key, std::string_view value) { return policy_is_gone(txn, key, value); });
    }
    // The tenant's own row comes before its groups, and is deleted once they are gone.
    for (int round = 0; round < 2; ++round) {
      sweep_table(tables.clusters, [&](const Txn& txn, std::string_view key, std::string_view) { return groups_nothing(txn, key); });
    }
    sweep_table(tables.triage, [&](const Txn& txn, std::string_view key, std::string_view) {
      return !txn.get(tables.clusters.handle, key.substr(0, kSeriesAt + kHalfBytes));
    });
    sweep_table(tables.series, [&](const Txn& txn, std::string_view, std::string_view) {
      return !has_any(txn, tables.runs) && !has_any(txn, tables.failures);
    });
    sweep_table(tables.review_index, [&](const Txn& txn, std::string_view key, std::string_view) { return reviews_nothing(txn, key); });
    sweep_table(tables.dimensions, [&](const Txn& txn, std::string_view, std::string_view) { return !has_any(txn, tables.runs); });
    sweep_table(tables.outbox,
                [&](const Txn& txn, std::string_view key, std::string_view value) { return waits_for_nothing(txn, key, value); });
    sweep_table(tables.tally, [&](const Txn& txn, std::string_view key, std::string_view) { return counts_nothing(txn, key); });
  }

  bool has_any(const Txn& txn, const Table& table) const {
    const KeyBytes prefix = KeyBytes().u32(tenant_);
    Cursor cursor(txn, table.handle);
    return cursor.at_or_after(prefix) && cursor.key().starts_with(prefix.view());
  }

  // Whether a group has no failures and no decisions. For the tenant's own row: whether no group and no failure is left.
  bool groups_nothing(const Txn& txn, std::string_view key) const {
    if (key.size() == kSeriesAt) {
      Cursor groups(txn, store_.tables.clusters.handle);
      const bool any = groups.at_or_after(key) && groups.next() && groups.key().starts_with(key);
      return !any && !has_any(txn, store_.tables.fingerprints);
    }
    for (const Table* table : {&store_.tables.fingerprints, &store_.tables.triage}) {
      Cursor cursor(txn, table->handle);
      if (cursor.at_or_after(key) && cursor.key().starts_with(key)) return false;
    }
    return true;
  }

  bool reviews_nothing(const Txn& txn, std::string_view key) const {
    if (key.size() != kReviewIndexKeyBytes) return !has_any(txn, store_.tables.reviews);
    return !txn.get(store_.tables.reviews.handle, KeyBytes().u32(tenant_).bytes(key.substr(kReviewSubjectKeyBytes)));
  }

  bool leads_nowhere(const Txn& txn, const Table& to, std::string_view key, std::string_view value) const {
    try {
      return !txn.get(to.handle, place_key(tenant_, decode_place(key, value)));
    } catch (const BadValue&) {
      return true;
    }
  }

  bool waits_for_nothing(const Txn& txn, std::string_view key, std::string_view value) const {
    try {
      if (key.size() != kOutboxKeyBytes) return true;
      const model::RecordKey delivery{decode_queued(key, value), read_be(key, kEndpointKeyBytes + 8, 8)};
      return !txn.get(store_.tables.deliveries.handle, delivery_key(tenant_, read_be(key, 4, 8), delivery));
    } catch (const BadValue&) {
      return true;
    }
  }

  bool policy_is_gone(const Txn& txn, std::string_view key, std::string_view value) const {
    const auto part = static_cast<PolicyPart>(key[kSeriesAt]);
    const std::string_view half = key.substr(kSeriesAt + 1, kHalfBytes);
    if (part == PolicyPart::revision) return leads_nowhere(txn, store_.tables.policies, key, value);
    if (part == PolicyPart::time) {
      return !txn.get(store_.tables.policies.handle, KeyBytes().u32(tenant_).bytes(key.substr(kSeriesAt + 1 + kHalfBytes)));
    }
    const KeyBytes times = KeyBytes().u32(tenant_).u8(static_cast<std::uint8_t>(PolicyPart::time)).bytes(half);
    Cursor cursor(txn, store_.tables.policy_index.handle);
    return !cursor.at_or_after(times) || !cursor.key().starts_with(times.view());
  }

  bool counts_nothing(const Txn& txn, std::string_view key) const {
    const std::string_view series = key.substr(kSeriesAt, kHalfBytes);
    const bool runs = series == view(kRunSeries);
    const KeyBytes prefix = runs ? KeyBytes().u32(tenant_) : KeyBytes().u32(tenant_).bytes(series);
    Cursor cursor(txn, runs ? store_.tables.runs.handle : store_.tables.fingerprints.handle);
    return !cursor.at_or_after(prefix) || !cursor.key().starts_with(prefix.view());
  }

  template <class IsLeftover>
  void sweep_table(const Table& table, IsLeftover is_leftover) {
    std::vector<std::string> found;
    const KeyBytes prefix = KeyBytes().u32(tenant_);
    walk_slices(
        store_.env, table, std::string(prefix.view()),
        [&](const Txn& txn, std::string_view key, std::string_view value) {
          if (!key.starts_with(prefix.view())) return Visited::end;
          if (is_leftover(txn, key, value)) found.emplace_back(key);
          return found.size() < kRecordsAtOnce ? Visited::proceed : Visited::end_slice;
        },
        [&] {
          if (!found.empty()) purged_.leftovers += erase_leftovers(table, std::exchange(found, {}), is_leftover);
          report_progress(context_, {"purge", "records", "", purged_.gone.total(), 0});
        });
  }

  template <class IsLeftover>
  std::uint64_t erase_leftovers(const Table& table, const std::vector<std::string>& keys, IsLeftover is_leftover) {
    return write([&](WriteBatch& batch) {
      std::uint64_t erased = 0;
      std::set<Half> groups;  // that lost failures, and have to be recounted
      for (const std::string& key : keys) {
        const auto value = batch.txn.get(table.handle, key);
        if (!value || !is_leftover(static_cast<const Txn&>(batch.txn), key, *value)) continue;
        const bool counted = !is_false_alarm_row(*value);
        batch.txn.erase(table.handle, key);
        ++erased;
        if (table.handle == store_.tables.triage.handle)
          batch.ledger->erase(tenant_, ledger::Kind::triage, std::string_view(key).substr(kSeriesAt));
        if (table.handle == store_.tables.previous.handle)
          batch.ledger->erase(tenant_, ledger::Kind::run, std::string_view(key).substr(kSeriesAt));
        if (table.handle == store_.tables.clusters.handle && key.size() > kSeriesAt) forget_group(batch);
        if (table.handle == store_.tables.open_runs.handle) batch.open_runs.push_back({{tenant_, record_key_of(key)}, 0, std::nullopt});
        if (table.handle != store_.tables.fingerprints.handle) continue;
        Half series{};
        std::copy_n(key.data() + kSeriesAt, kHalfBytes, series.data());
        if (counted) batch.counts.add(tenant_, series, read_time(key, kSeriesAt + kHalfBytes), -1);
        groups.insert(series);
      }
      for (const Half& group : groups) recount_head(batch, tenant_, group);
      return erased;
    });
  }

  void note_purge() {
    write([&](WriteBatch& batch) {
      batch.ledger->append_purge(tenant_, before_ms(), purged_.gone);
      return Nothing{};
    });
  }

  // Gives out the last checkpoint first. What arrived during the purge begins the next ledger.
  void remove_ledger() {
    ensure_may_sign({store_.env, store_.tables, context_.folder, context_.clock.wall_ms(), [this](const auto& work) {
                       write([&](WriteBatch& batch) {
                         work(batch.txn);
                         return Nothing{};
                       });
                     }});
    {
      const ReadTxn txn = store_.env.read();
      const std::string note = sign_last_checkpoint(context_.folder, txn, store_.tables, tenant_);
      if (note.empty()) return;
      query_.on_last_checkpoint(note);
    }
    write([&](WriteBatch& batch) {
      std::vector<RecordEntry> remaining;
      erase_rows(batch.txn, store_.tables.ledger_records, [&](std::string_view key) {
        remaining.push_back({static_cast<ledger::Kind>(key[kSeriesAt]), RecordName(key.substr(kSeriesAt + 1)), context_.clock.wall_ms()});
      });
      for (const Table* table :
           {&store_.tables.ledger_entries, &store_.tables.ledger_subtrees, &store_.tables.ledger_bodies, &store_.tables.ledgers}) {
        erase_rows(batch.txn, *table, [](std::string_view) {});
      }
      for (RecordEntry& entry : remaining) {
        const auto body = body_of_record(batch.txn, store_.tables, tenant_, entry.kind, entry.name, entry.came);
        if (body) batch.ledger->append(tenant_, prepare_entry(std::move(entry), body->body));
      }
      return Nothing{};
    });
  }

  template <class Visit>
  void erase_rows(WriteTxn& txn, const Table& table, Visit visit) const {
    const KeyBytes prefix = KeyBytes().u32(tenant_);
    Cursor cursor(txn, table.handle);
    for (bool more = cursor.at_or_after(prefix); more && cursor.key().starts_with(prefix.view()); more = cursor.next()) {
      visit(cursor.key());
      cursor.erase();
    }
  }

  void forget_group(WriteBatch& batch) const {
    TenantGroups groups = read_tenant_groups(batch.txn, store_.tables, tenant_);
    groups.clusters -= groups.clusters > 0 ? 1 : 0;
    write_tenant_groups(batch.txn, store_.tables, tenant_, groups);
  }

  const MaintenanceContext& context_;
  const PurgeQuery& query_;
  OpenStore store_;
  SpaceAccounting room_;
  model::TenantId tenant_ = 0;
  Purged purged_;
  Expired counted_;
};

}  // namespace

Result<Purged> lmdb::purge(const MaintenanceContext& maintenance, const PurgeQuery& query) {
  return guarded(maintenance, [&]() -> Result<Purged> { return Purging(maintenance, query).run(); });
}

Result<Expired> lmdb::count_purge(const MaintenanceContext& maintenance, const PurgeQuery& query) {
  return guarded(maintenance, [&]() -> Result<Expired> { return Purging(maintenance, query).count(); });
}

}  // namespace runwarden::store
