// Tells a tenant's rows as lines of JSON.
#include <set>
#include <string>
#include <utility>

#include "base/digest.h"
#include "store/lmdb_events.h"
#include "store/lmdb_failures.h"
#include "store/lmdb_keys.h"
#include "store/lmdb_policies.h"
#include "store/lmdb_runs.h"
#include "store/open_store.h"
#include "store/record_lines.h"
#include "store/upkeep.h"

namespace runwarden::store {
namespace {

constexpr std::size_t kSliceBytes = std::size_t{4} << 20;  // of text that one transaction gathers, about
constexpr std::size_t kIdsALine = 1000;

class Exporting {
 public:
  Exporting(const Upkeep& upkeep, const ExportQuery& query, const LineSink& sink)
      : upkeep_(upkeep),
        query_(query),
        sink_(sink),
        store_(upkeep.folder, upkeep.map_size, StoreUse::Kind::shared, LmdbSettings::IfOlder::refuse) {}

  LineCounts run() {
    find_tenant();
    HeaderLine header{query_.tenant, upkeep_.clock.wall_ms(), std::nullopt};
    if (query_.since_ms != kBeginningMs) header.since_ms = query_.since_ms;
    text_ = line_of(header) + "\n";
    policies();
    policy_names();
    changes();
    runs();
    other_failures();
    answers();
    hand_over();
    std::uint64_t lines = 0;
    for (const auto& [kind, count] : counts_) lines += count;
    text_ = line_of(EndLine{lines, to_hex(digest_.so_far())}) + "\n";
    hand_over();
    return counts_;
  }

 private:
  void find_tenant() {
    const ReadTxn txn = store_.env.read();
    all_ = txn.entries(store_.tables.runs.handle);
    for (const model::Tenant& one : read_tenants(txn, store_.tables)) {
      if (one.name == query_.tenant) return static_cast<void>(tenant_ = one.id);
    }
    throw StoreError("there is no tenant \"" + query_.tenant + "\"; `runwarden keys list` shows those that have keys");
  }

  // Every entry of the tenant from the given time on, of a table whose keys begin with tenant and time.
  template <class Visit>
  void walk(const Table& table, const KeyBytes& prefix, const KeyBytes& from, Visit visit) {
    walk_slices(
        store_.env, table, std::string(from.view()),
        [&](const Txn& txn, std::string_view key, std::string_view value) {
          if (!key.starts_with(prefix.view())) return Visited::end;
          visit(txn, key, value);
          return text_.size() < kSliceBytes ? Visited::go_on : Visited::end_slice;
        },
        [this] { hand_over(); });
  }
  KeyBytes of_tenant() const { return KeyBytes().u32(tenant_); }
  KeyBytes since() const { return query_.since_ms == kBeginningMs ? of_tenant() : of_tenant().time(query_.since_ms); }

  void add(const char* kind, const std::string& line) {
    text_.append(line).append("\n");
    ++counts_[kind];
  }

  // Outside every transaction: the sink may be slow.
  void hand_over() {
    if (!text_.empty()) {
      digest_.add(text_);
      if (!sink_(text_)) throw Stopped{};
      text_.clear();
    }
    tell(upkeep_, {"export", "runs", "", runs_seen_, all_});
  }

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
      const RunPlace place{tenant_, record_key_of(key)};
      const RunLine line{decoded(store_.tables.runs, key, [&] { return decode_run(key, value); }), false};
      add("run", line_of_row(key, value, line));
      former(txn, place);
      events(txn, place);
      for (const model::RecordKey& failure : line.stored.failures) {
        const KeyBytes at = place_key(tenant_, failure);
        for (const Table* table : {&store_.tables.failures, &store_.tables.shadow_failures}) {
          if (const auto found = txn.get(table->handle, at)) add_failure(*table, at, *found);
        }
      }
    });
  }

  void former(const Txn& txn, const RunPlace& place) {
    const Table& table = store_.tables.former;
    const KeyBytes prefix = place_key(place.tenant, place.key);
    Cursor cursor(txn, table.handle);
    for (bool more = cursor.at_or_after(prefix); more && cursor.key().starts_with(prefix.view()); more = cursor.next()) {
      const RunLine line{decoded(table, cursor.key(), [&] { return decode_run(cursor.key(), cursor.value()); }), true};
      add("run", line_of_row(cursor.key(), cursor.value(), line));
    }
  }

  void events(const Txn& txn, const RunPlace& place) {
    const Table& table = store_.tables.events;
    const KeyBytes prefix = place_key(place.tenant, place.key);
    EventIdsLine ids{place.key, {}};
    Cursor cursor(txn, table.handle);
    for (bool more = cursor.at_or_after(prefix); more && cursor.key().starts_with(prefix.view()); more = cursor.next()) {
      const std::string_view key = cursor.key();
      if (static_cast<EventPart>(key[kPlaceBytes]) == EventPart::id) {
        ids.halves.emplace_back(key.substr(kPlaceBytes + 1));
        if (ids.halves.size() < kIdsALine) continue;
        add("event_ids", line_of(ids));
        ids.halves.clear();
        continue;
      }
      EventsLine line{place.key, static_cast<EventPart>(key[kPlaceBytes]) == EventPart::packed, 0, 0, {}};
      if (!line.packed) line.first = static_cast<std::uint32_t>(read_be(key, kPlaceBytes + 1, 4));
      line.received_ms = decoded(table, key, [&] { return decode_events_head(key, cursor.value()); }).received_ms;
      line.events = decoded(table, key, [&] { return decode_events(key, cursor.value()); });
      add("events", line_of_row(key, cursor.value(), line));
    }
    if (!ids.halves.empty()) add("event_ids", line_of(ids));
  }

  void add_failure(const Table& table, std::string_view key, std::string_view value) {
    auto failure = decoded(table, key, [&] { return decode_failure(key, value); });
    failure.shadow = &table == &store_.tables.shadow_failures;
    add(failure.shadow ? "shadow_failure" : "failure", line_of_row(key, value, failure));
  }

  // Those that no run shows any more, because retention took it.
  void other_failures() {
    for (const Table* table : {&store_.tables.failures, &store_.tables.shadow_failures}) {
      walk(*table, of_tenant(), since(), [&](const Txn& txn, std::string_view key, std::string_view value) {
        const auto failure = decoded(*table, key, [&] { return decode_failure_head(key, value); });
        const bool told = failure.run.time_ms >= query_.since_ms && txn.get(store_.tables.runs.handle, place_key(tenant_, failure.run));
        if (!told) add_failure(*table, key, value);
      });
    }
  }

  // Answers that lead to a record which is not there any more are as good as none.
  void answers() {
    const Table& table = store_.tables.idempotency;
    std::uint32_t day = 0;
    for (bool more = true; more;) {
      more = next_day_with_answers(day);
      if (!more) break;
      const KeyBytes prefix = KeyBytes().u32(day).u32(tenant_);
      walk(table, prefix, prefix, [&](const Txn& txn, std::string_view key, std::string_view value) {
        const Answered answered = decoded(table, key, [&] { return decode_answered(key, value); });
        if (answered.created_ms < query_.since_ms || answered.record.time_ms < query_.since_ms) return;
        if (is_there(txn, answered)) add("answer", line_of_row(key, value, answered));
      });
      ++day;
    }
  }

  bool next_day_with_answers(std::uint32_t& day) {
    const ReadTxn txn = store_.env.read();
    Cursor cursor(txn, store_.tables.idempotency.handle);
    for (bool more = cursor.at_or_after(KeyBytes().u32(day).u32(tenant_)); more;) {
      const auto found_day = static_cast<std::uint32_t>(read_be(cursor.key(), 0, 4));
      const auto found_tenant = static_cast<model::TenantId>(read_be(cursor.key(), 4, 4));
      day = found_day;
      if (found_tenant == tenant_) return true;
      if (found_tenant > tenant_) ++day;
      more = cursor.at_or_after(KeyBytes().u32(day).u32(tenant_));
    }
    return false;
  }

  bool is_there(const Txn& txn, const Answered& answered) const {
    const Table* table = &store_.tables.runs;
    if (answered.kind == Answered::Kind::change) table = &store_.tables.changes;
    if (answered.kind == Answered::Kind::policy) table = &store_.tables.policies;
    return txn.get(table->handle, place_key(tenant_, answered.record)).has_value();
  }

  const Upkeep& upkeep_;
  const ExportQuery& query_;
  const LineSink& sink_;
  OpenStore store_;
  model::TenantId tenant_ = 0;
  std::string text_;
  Sha256 digest_;
  LineCounts counts_;
  std::set<std::string> names_;
  std::uint64_t runs_seen_ = 0;
  std::uint64_t all_ = 0;  // runs of every tenant: there is no cheaper count
};

}  // namespace

Result<LineCounts> export_tenant(const Upkeep& upkeep, const ExportQuery& query, const LineSink& sink) {
  return guarded(upkeep, [&]() -> Result<LineCounts> { return Exporting(upkeep, query, sink).run(); });
}

}  // namespace runwarden::store
