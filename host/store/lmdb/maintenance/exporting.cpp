// Exports a tenant's rows as lines of JSON.
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "store/export_writer.h"
#include "store/lmdb/answers.h"
#include "store/lmdb/events.h"
#include "store/lmdb/failures.h"
#include "store/lmdb/groups.h"
#include "store/lmdb/keys.h"
#include "store/lmdb/maintenance/commands.h"
#include "store/lmdb/maintenance/open_store.h"
#include "store/lmdb/policies.h"
#include "store/lmdb/reviews.h"
#include "store/lmdb/runs.h"
#include "store/opinion_codec.h"
#include "store/record_lines.h"
#include "store/review_codec.h"
#include "store/webhook_codec.h"

namespace runwarden::store {
namespace {

constexpr std::size_t kSliceBytes = std::size_t{4} << 20;  // of text gathered in one transaction, approximately
constexpr std::size_t kIdsALine = 1000;

class Exporting : private ExportWriter {
 public:
  Exporting(const MaintenanceContext& maintenance, const ExportQuery& query, const LineSink& sink)
      : ExportWriter(maintenance, query, sink),
        store_(maintenance.folder, maintenance.max_bytes, StoreUse::Kind::reading, LmdbSettings::IfOlder::refuse) {}

  Exported run() {
    find_tenant();
    begin();
    policies();
    policy_names();
    changes();
    runs();
    other_failures();
    groups();
    reviews();
    opinions();
    webhooks();
    answers();
    return end();
  }

 private:
  void find_tenant() {
    const ReadTxn txn = store_.env.read();
    all_ = txn.entries(store_.tables.runs.handle);  // there is no cheaper count
    for (const model::Tenant& one : read_tenants(txn, store_.tables)) {
      if (one.name == query_.tenant) return static_cast<void>(tenant_ = one.id);
    }
    throw StoreError("no tenant \"" + query_.tenant + "\"; `runwarden keys list` shows the tenants that have keys");
  }

  // Thrown to visit a row once more, because a transaction that met a damaged page may be of no further use.
  struct Again {};

  // Reads a row, or what belongs to one; false: a page on the way is damaged, for which the row is visited again without it.
  template <class Read>
  bool meets_no_damage(const Table& table, std::string_view key, Read read) {
    std::pair<std::string, std::string> what(table.name, key);
    if (damaged_.contains(what)) return false;
    try {
      read();
    } catch (const LmdbFault& fault) {
      damaged_.emplace(std::move(what), text_of_damage(fault, table, key));
      throw Again{};
    }
    return true;
  }

  // The same, but what cannot be read, for whichever reason, is named.
  template <class Read>
  bool read_or_leave_out(const Table& table, std::string_view key, Read read) {
    if (!meets_no_damage(table, key, [&] { leave_out_unreadable(table.name, key, read); })) leave_out_damaged(table, key);
    return !is_left_out(table.name, key);
  }

  void leave_out_damaged(const Table& table, std::string_view key) {
    const auto found = damaged_.find({table.name, std::string(key)});
    if (found != damaged_.end()) left_out(table.name, key, found->second);
  }

  // Throws what is no damage.
  static std::string text_of_damage(const LmdbFault& fault, const Table& table, std::string_view key) {
    if (!is_damage(fault.code)) throw LmdbFault(fault);
    return "store: " + place_text(table, key) + ": " + fault.what();
  }

  // Visits every entry of the tenant from the given time on, in a table whose keys begin with tenant and time.
  template <class Visit>
  void walk(const Table& table, const KeyBytes& prefix, const KeyBytes& from, Visit visit) {
    std::string at(from.view());
    for (bool more = true; more;) {
      try {
        walk_pages(table, prefix, at, visit);
        more = false;
      } catch (const Again&) {
        row_.clear();
      } catch (const LmdbFault& fault) {
        if (!is_damage(fault.code)) throw;
        more = go_to_readable(table, prefix, at);
      }
    }
  }

  // `at`: from which key on; then, whatever happens, the key to go on from.
  template <class Visit>
  void walk_pages(const Table& table, const KeyBytes& prefix, std::string& at, Visit visit) {
    walk_slices(
        store_.env, table, at,
        [&](const Txn& txn, std::string_view key, std::string_view value) {
          if (!key.starts_with(prefix.view())) return is_sealed(table, key, value) ? Visited::end : Visited::proceed;
          at = key;
          read_or_leave_out(table, key, [&] { visit(txn, key, value); });
          for (const auto& [kind, line] : row_) ExportWriter::add(kind, line);
          row_.clear();
          at = key_after(key);
          return gathered_bytes() < kSliceBytes ? Visited::proceed : Visited::end_slice;
        },
        [this] { hand_over(); });
  }

  static std::string key_after(std::string_view key) { return std::string(key) + '\0'; }

  // Whether the key is one that was written, as far as the value tells: a damaged one, which seems to end the tenant's rows, is named.
  bool is_sealed(const Table& table, std::string_view key, std::string_view value) {
    if (value.empty()) return true;
    try {
      decoded(table, key, [&] { return open_head(key, value); });
      return true;
    } catch (const StoreError& bad) {
      left_out(table.name, key, bad.what());
      return false;
    }
  }

  // Moves `at` to the next key that can be read, in transactions of its own, and names what is before it; false: there is none.
  bool go_to_readable(const Table& table, const KeyBytes& prefix, std::string& at) {
    const std::string from = at;
    std::string why;
    for (bool damaged = true; damaged && at.starts_with(prefix.view());) {
      const ReadTxn txn = store_.env.read();
      Cursor cursor(txn, table.handle);
      try {
        at = cursor.at_or_after(at) ? std::string(cursor.key()) : "";
        damaged = false;
      } catch (const LmdbFault& fault) {
        if (cursor.key() > at) {  // only its value is damaged
          left_out(table.name, cursor.key(), text_of_damage(fault, table, cursor.key()));
          at = key_after(cursor.key());
          continue;
        }
        if (!is_damage(fault.code)) throw;
        why = fault.what();
        at = key_behind_damage();
        if (at.empty()) damaged = false;
      }
    }
    if (!why.empty()) left_out_from(table.name, from, at, why);
    return !at.empty() && at.starts_with(prefix.view());
  }

  // Of the row being visited: they count once it has been visited as a whole.
  void add(const char* kind, std::string line) { row_.emplace_back(kind, std::move(line)); }

  KeyBytes of_tenant() const { return KeyBytes().u32(tenant_); }
  KeyBytes since() const { return query_.since_ms == kBeginningMs ? of_tenant() : of_tenant().time(query_.since_ms); }

  void policies() {
    const Table& table = store_.tables.policies;
    walk(table, of_tenant(), since(), [&](const Txn&, std::string_view key, std::string_view value) {
      const auto policy = decoded(table, key, [&] { return decode_policy(key, value); });
      names_.insert(policy.policy);
      add("policy", line_of_row(key, value, policy));
    });
  }

  void policy_names() {
    const Table& table = store_.tables.policy_index;
    const KeyBytes heads = of_tenant().u8(static_cast<std::uint8_t>(PolicyPart::head));
    walk(table, heads, heads, [&](const Txn&, std::string_view key, std::string_view value) {
      PolicyNameLine name;
      name.highest = decoded(table, key, [&] { return std::string(open_head(key, value)); });
      name.policy = decoded(table, key, [&] { return open_body(key, value); });
      if (query_.since_ms == kBeginningMs || names_.contains(name.policy)) add("policy_name", line_of_row(key, value, name));
    });
  }

  void changes() {
    const Table& table = store_.tables.changes;
    walk(table, of_tenant(), since(), [&](const Txn&, std::string_view key, std::string_view value) {
      add("change", line_of_row(key, value, decoded(table, key, [&] { return decode_change(key, value); })));
    });
  }

  void runs() {
    walk(store_.tables.runs, of_tenant(), since(), [&](const Txn& txn, std::string_view key, std::string_view value) {
      ++runs_seen_;
      if (key.size() != kPlaceBytes) throw StoreError("store: " + place_text(store_.tables.runs, key) + ": its length is wrong");
      const RunKey place{tenant_, record_key_of(key)};
      unreadable_runs_.insert(place.key);
      const RunLine line{decoded(store_.tables.runs, key, [&] { return decode_run(key, value); }), false};
      unreadable_runs_.erase(place.key);
      add("run", line_of_row(key, value, line));
      read_or_leave_out(store_.tables.previous, key, [&] { previous(txn, place); });
      const std::uint32_t total = line.stored.buffering ? line.stored.buffering->total : line.stored.run.events;
      if (!read_or_leave_out(store_.tables.events, key, [&] { events(txn, place, total); })) lost_events(place, line.stored, total);
      const KeyBytes ids = event_id_key(place, {});
      read_or_leave_out(store_.tables.events, ids, [&] { event_ids(txn, place); });
      for (const model::RecordKey& failure : line.stored.failures) failure_of_run(txn, place_key(tenant_, failure));
    });
  }

  // It is in one of two tables.
  void failure_of_run(const Txn& txn, const KeyBytes& key) {
    const auto tables = {&store_.tables.failures, &store_.tables.shadow_failures};
    bool found = false;
    for (const Table* table : tables) {
      meets_no_damage(*table, key, [&] {
        const auto value = txn.get(table->handle, key);
        if (!value) return;
        found = true;
        leave_out_unreadable(table->name, key, [&] { add_failure(*table, key, *value); });
      });
    }
    if (found) return;
    for (const Table* table : tables) leave_out_damaged(*table, key);
  }

  void previous(const Txn& txn, const RunKey& place) {
    const Table& table = store_.tables.previous;
    const KeyBytes prefix = place_key(place.tenant, place.key);
    Cursor cursor(txn, table.handle);
    for (bool more = cursor.at_or_after(prefix); more && cursor.key().starts_with(prefix.view()); more = cursor.next()) {
      leave_out_unreadable(table.name, cursor.key(), [&] {
        const RunLine line{decoded(table, cursor.key(), [&] { return decode_run(cursor.key(), cursor.value()); }), true};
        add("run", line_of_row(cursor.key(), cursor.value(), line));
      });
    }
  }

  // Lost events become nulls in the line, so that the run still has as many as it says.
  void events(const Txn& txn, const RunKey& place, std::uint32_t total) {
    const Table& table = store_.tables.events;
    std::string why;
    const std::function<void(const std::string&)> note = [&why](const std::string& text) { why = text; };
    const RunEvents of{txn, store_.tables, place, total, note};
    walk_event_rows(of, [&](EventRow& row) {
      auto events = events_in(of, row);
      if (!row.readable) left_out(table.name, row.key, why);
      EventsLine line{place.key, row.packed, row.first, row.received_ms, {}};
      line.events = events ? std::move(*events) : std::vector<std::string>(row.count);
      add("events", row.readable ? line_of_row(row.key, row.value, line) : line_of(line));
      return true;
    });
  }

  // In place of all of a run's events.
  void lost_events(const RunKey& place, const StoredRun& stored, std::uint32_t total) {
    if (total == 0) return;
    add("events", line_of(EventsLine{place.key, !stored.buffering, 0, place.key.time_ms, std::vector<std::string>(total)}));
  }

  void event_ids(const Txn& txn, const RunKey& place) {
    EventIdsLine ids{place.key, {}};
    const KeyBytes prefix = event_id_key(place, {});
    Cursor cursor(txn, store_.tables.events.handle);
    for (bool more = cursor.at_or_after(prefix); more && cursor.key().starts_with(prefix.view()); more = cursor.next()) {
      ids.halves.emplace_back(cursor.key().substr(kPlaceBytes + 1));
      if (ids.halves.size() < kIdsALine) continue;
      add("event_ids", line_of(ids));
      ids.halves.clear();
    }
    if (!ids.halves.empty()) add("event_ids", line_of(ids));
  }

  void add_failure(const Table& table, std::string_view key, std::string_view value) {
    auto failure = decoded(table, key, [&] { return decode_failure(key, value); });
    failure.shadow = &table == &store_.tables.shadow_failures;
    failure.reviewed = model::ReviewVerdict::none;  // its review sets this again during the import
    add(failure.shadow ? "shadow_failure" : "failure", line_of_row(key, with_verdict(key, value, failure.reviewed), failure));
  }

  // Failures that no run shows, because retention deleted it.
  void other_failures() {
    for (const Table* table : {&store_.tables.failures, &store_.tables.shadow_failures}) {
      walk(*table, of_tenant(), since(), [&](const Txn& txn, std::string_view key, std::string_view value) {
        const auto failure = decoded(*table, key, [&] { return decode_failure_head(key, value); });
        const bool told = failure.run.time_ms >= query_.since_ms && has_run(txn, failure.run);
        if (!told) add_failure(*table, key, value);
      });
    }
  }

  // Whether the export has that run, unless it is too old for it.
  bool has_run(const Txn& txn, const model::RecordKey& run) {
    if (unreadable_runs_.contains(run)) return false;
    const KeyBytes key = place_key(tenant_, run);
    bool is_there = false;
    return read_or_leave_out(store_.tables.runs, key, [&] { is_there = txn.get(store_.tables.runs.handle, key).has_value(); }) && is_there;
  }

  // The import recounts what a group counts. The line says since when it is known and what was decided about it.
  void groups() {
    const Table& table = store_.tables.clusters;
    walk(table, of_tenant(), of_tenant(), [&](const Txn& txn, std::string_view key, std::string_view value) {
      if (key.size() == of_tenant().view().size()) return;  // the tenant's own row
      GroupLine line{decoded(table, key, [&] { return decode_cluster(key, value).cluster; }), false};
      std::vector<std::pair<std::string, std::string>> entries;
      read_or_leave_out(store_.tables.triage, key, [&] { entries = entries_of(txn, key); });
      line.decided = !entries.empty() || line.cluster.triage != model::Triage();
      const bool since = line.cluster.last_ms >= query_.since_ms || line.cluster.triage.since_ms >= query_.since_ms;
      if (!since) return;
      add("group", line_of(line));
      for (const auto& entry : entries) {
        leave_out_unreadable(store_.tables.triage.name, entry.first, [&] { triage(line.cluster.fingerprint, entry.first, entry.second); });
      }
    });
  }

  // Oldest first, from the given time on. Always includes the latest, which determines the group's state.
  std::vector<std::pair<std::string, std::string>> entries_of(const Txn& txn, std::string_view group) const {
    std::vector<std::pair<std::string, std::string>> entries;
    Cursor cursor(txn, store_.tables.triage.handle);
    for (bool more = cursor.at_or_after(group); more && cursor.key().starts_with(group); more = cursor.next()) {
      const bool old = !entries.empty() && read_time(entries.back().first, group.size()) < query_.since_ms;
      if (old) entries.pop_back();
      entries.emplace_back(cursor.key(), cursor.value());
    }
    return entries;
  }

  void triage(const std::string& fingerprint, std::string_view key, std::string_view value) {
    const TriageLine line{fingerprint, decoded(store_.tables.triage, key, [&] { return decode_triage(key, value); })};
    add("triage", line_of_row(key, value, line));
  }

  // Includes reviews whose failures and runs are gone. From the given time on, and those that apply to what is exported.
  void reviews() {
    const Table& table = store_.tables.reviews;
    walk(table, of_tenant(), of_tenant(), [&](const Txn& txn, std::string_view key, std::string_view value) {
      const auto review = decoded(table, key, [&] { return decode_review(key, value); });
      if (review.key.time_ms < query_.since_ms && (review.run.time_ms < query_.since_ms || !is_in_use(txn, store_.tables, tenant_, review)))
        return;
      add("review", line_of_row(key, value, review));
    });
  }

  // Opinions of exported runs. The importing store asks the questions that wait.
  void opinions() {
    const Table& table = store_.tables.opinions;
    walk(table, of_tenant(), since(), [&](const Txn& txn, std::string_view key, std::string_view value) {
      const auto opinion = decoded(table, key, [&] { return decode_opinion_head(key, value); });
      if (opinion.run.time_ms < query_.since_ms) return;
      if (!has_run(txn, opinion.run)) return left_out(table.name, key, "the opinion " + opinion.id + " has lost its run");
      add("opinion", line_of_row(key, value, OpinionLine{opinion.key, opinion.run, opinion.id}));
    });
  }

  // The importing store sends the deliveries that wait, with the same ids.
  void webhooks() {
    const Table& endpoints = store_.tables.endpoints;
    walk(endpoints, of_tenant(), of_tenant(), [&](const Txn&, std::string_view key, std::string_view value) {
      const auto endpoint = decoded(endpoints, key, [&] { return decode_endpoint(key, value); });
      webhooks_.emplace(endpoint.key.seq, endpoint.key);
      add("webhook", line_of_row(key, value, WebhookLine{endpoint.key, endpoint.url}));
    });
    const Table& table = store_.tables.deliveries;
    for (const auto& [seq, endpoint] : webhooks_) {
      const KeyBytes prefix = endpoint_key(tenant_, seq);
      const KeyBytes from = query_.since_ms == kBeginningMs ? prefix : KeyBytes(prefix).time(query_.since_ms);
      walk(table, prefix, from, [&, &endpoint = endpoint](const Txn&, std::string_view key, std::string_view value) {
        const auto delivery = decoded(table, key, [&] { return decode_delivery_head(key, value); });
        add("delivery", line_of_row(key, value, DeliveryLine{delivery.key, endpoint}));
      });
    }
  }

  void answers() {
    const Table& table = store_.tables.idempotency;
    std::uint32_t day = 0;
    try {
      for (; next_day_with_answers(day); ++day) {
        const KeyBytes prefix = KeyBytes().u32(day).u32(tenant_);
        walk(table, prefix, prefix, [&](const Txn& txn, std::string_view key, std::string_view value) { answer(txn, key, value); });
      }
    } catch (const LmdbFault& fault) {
      if (!is_damage(fault.code)) throw;
      walk(table, {}, KeyBytes().u32(day), [&](const Txn& txn, std::string_view key, std::string_view value) {
        if (KeyBytes().bytes(key.substr(0, 4)).u32(tenant_).view() == key.substr(0, 8)) answer(txn, key, value);
      });
    }
  }

  bool next_day_with_answers(std::uint32_t& day) {
    const ReadTxn txn = store_.env.read();
    return store::next_day_with_answers(txn, store_.tables, tenant_, day);
  }

  // Skips answers whose record no longer exists.
  void answer(const Txn& txn, std::string_view key, std::string_view value) {
    const IdempotentAnswer answer = decoded(store_.tables.idempotency, key, [&] { return decode_answer(key, value); });
    if (answer.created_ms < query_.since_ms || answer.record.time_ms < query_.since_ms) return;
    if (is_there(txn, answer)) add("answer", line_of_row(key, value, answer));
  }

  bool is_there(const Txn& txn, const IdempotentAnswer& answer) {
    // The answer is the subject, as it is then.
    if (answer.kind == IdempotentAnswer::Kind::triage || answer.kind == IdempotentAnswer::Kind::review) return true;
    const bool of_change = answer.kind == IdempotentAnswer::Kind::change;
    if (!of_change && answer.kind != IdempotentAnswer::Kind::policy) return has_run(txn, answer.record);
    const Table* table = of_change ? &store_.tables.changes : &store_.tables.policies;
    return txn.get(table->handle, place_key(tenant_, answer.record)).has_value();
  }

  OpenStore store_;
  model::TenantId tenant_ = 0;
  std::vector<std::pair<const char*, std::string>> row_;                // lines of the row being visited, by kind
  std::map<std::pair<std::string, std::string>, std::string> damaged_;  // what cannot be read, by table and key: why
  std::set<model::RecordKey> unreadable_runs_;
  std::set<std::string> names_;
  std::map<std::uint64_t, model::RecordKey> webhooks_;  // by seq
};

}  // namespace

Result<Exported> lmdb::export_tenant(const MaintenanceContext& maintenance, const ExportQuery& query, const LineSink& sink) {
  return guarded(maintenance, [&]() -> Result<Exported> { return Exporting(maintenance, query, sink).run(); });
}

}  // namespace runwarden::store
