// Checks a database row by row: that each row can be read, that its checksum holds, and that it agrees with all rows it refers to.
//
// A row and all that it is compared with are read as of one moment, so that concurrent writes cannot look like faults: runs and all other
// tables that are partitioned by day, a day at a time; the other tables, a slice at a time.
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/hex.h"
#include "base/json_check.h"
#include "base/json_members.h"
#include "model/record_ids.h"
#include "store/change_codec.h"
#include "store/crash_mark_codec.h"
#include "store/group_store.h"
#include "store/ledger_check.h"
#include "store/opinion_codec.h"
#include "store/postgres/group_rows.h"
#include "store/postgres/ledger_keys.h"
#include "store/postgres/ledger_rows.h"
#include "store/postgres/ledger_writer.h"
#include "store/postgres/maintenance/answer_row.h"
#include "store/postgres/maintenance/postgres_maintenance.h"
#include "store/postgres/maintenance/recounting.h"
#include "store/postgres/maintenance/session.h"
#include "store/postgres/open_runs.h"
#include "store/postgres/reviews.h"
#include "store/postgres/row.h"
#include "store/postgres/run_heads.h"
#include "store/postgres/schema.h"
#include "store/record_codec.h"
#include "store/review_codec.h"
#include "store/webhook_codec.h"

namespace runwarden::store::postgres {
namespace {

constexpr const char* kOfRecord = "restore a backup, or purge the tenant's records of that time";
constexpr const char* kOfMovedRun = "send the run an event with \"final\": true: it is judged again, with all of its events";
constexpr const char* kOfIndex = "restore a backup; or export the tenant and import it into a new database, which rebuilds every index";
constexpr const char* kOfKey = "revoke the key and create another";
constexpr const char* kOfWebhook = "remove the webhook and add it again";
constexpr std::uint64_t kNoEnd = ~std::uint64_t{0};  // of a ledger
constexpr const char* kOfLedger = "restore a backup; run `runwarden ledger verify` on an export to see what the ledger still proves";
constexpr const char* kNone = "none needed: it is rewritten while hosts run";

constexpr int kDeepestJson = 1001;  // for a value received under the largest limits.max_json_depth
constexpr std::size_t kSecretBytes = 32;

// SQL: a slice of the rows `t` of a table in key order, after the row whose key is $1 and on; at most 512 rows, and about 4 MB or one row.
// The columns of the answer begin with the key. `size` says how large a row is; `where` may use parameters after those of the key.
using Slices = std::string;
Slices slices(const std::string& from, const std::vector<std::string>& key, const std::string& columns, const std::string& size,
              const std::string& where = "true") {
  std::string keys, names, after;
  for (std::size_t i = 0; i < key.size(); ++i) {
    keys += (i == 0 ? "t." : ", t.") + key[i];
    names += (i == 0 ? "" : ", ") + key[i];
    after += (i == 0 ? "$" : ", $") + std::to_string(i + 1);
  }
  return "SELECT * FROM (SELECT *, coalesce(sum(row_size) OVER (ORDER BY " + names +
         " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before FROM (SELECT " + keys + ", " + columns + ", (" + size +
         ")::bigint AS row_size FROM " + from + " WHERE " + where + " AND (" + keys + ") > (" + after + ") ORDER BY " + keys +
         " LIMIT 512) s) w WHERE before < 4194304 ORDER BY " + names;
}
const std::string kBodySize = "octet_length(t.body)";
// Limits a table that is partitioned by day, and whose key has that many columns, to the day from $n + 1 to $n + 2.
std::string in_day(int keys) {
  return "t.time_ms >= $" + std::to_string(keys + 1) + " AND t.time_ms < $" + std::to_string(keys + 2);
}
const std::vector<std::string> kPlace = {"tenant", "time_ms", "seq"};
const std::string kHasRun = "EXISTS (SELECT FROM runwarden.run r WHERE r.tenant = t.tenant AND r.time_ms = t.time_ms AND r.seq = t.seq)";

// Whether a row's record, by its name, has an entry in the ledger.
std::string in_ledger(ledger::Kind kind, const std::string& name) {
  return "EXISTS (SELECT FROM runwarden.ledger_record l WHERE l.tenant = t.tenant AND l.kind = " + std::to_string(static_cast<int>(kind)) +
         " AND l.name = " + name + ") AS in_ledger";
}
const std::string kPlaceName = "int8send(t.time_ms # (-9223372036854775808)::bigint) || int8send(t.seq)";
const std::string kRunName = kPlaceName + " || int4send(t.revision)";
const std::string kEntryName = "t.half || " + kPlaceName;

// A part of the key that a walk has reached: a number of four or eight bytes, a text, or bytes.
struct Number {
  std::int64_t value = 0;
  int width = 8;
};
struct Bytes {
  std::string bytes;
};
using KeyPart = std::variant<Number, std::string, Bytes>;
const Number kFirstTenant{std::numeric_limits<std::int32_t>::min(), 4};
const Number kFirst{std::numeric_limits<std::int64_t>::min(), 8};

// A row to be checked.
struct Entry {
  const Rows& rows;
  std::size_t row = 0;
  std::string key;  // as reported

  std::int64_t number(int column) const { return rows.number(row, column); }
  std::string_view bytes(int column) const { return rows.bytes(row, column); }
  bool is_null(int column) const { return rows.is_null(row, column); }
  model::TenantId tenant() const { return tenant_at(rows, row, 0); }
  model::RecordKey place() const { return record_key(rows, row, 1); }
};

class Verifying {
 public:
  Verifying(const ConnectSettings& connect, const MaintenanceContext& maintenance)
      : context_(maintenance), session_(open_session(connect)), connection_(*session_) {}

  Verified run() {
    all_ = about_how_many(connection_, "%");
    counters();
    tenants();
    keys();
    key_uses();
    secrets();
    for (const std::int64_t end_ms : days()) day(end_ms - kDayMs, end_ms);
    heads();
    open_runs();
    open_counts();
    groups();
    triage();
    stretches();
    commits();
    changes();
    policies();
    policy_names();
    answers();
    crash_marks();
    endpoints();
    deliveries();
    reviews();
    opinions();
    ledgers();
    canaries();
    return std::move(verified_);
  }

 private:
  using Check = std::function<void(const Entry&)>;

  // Begins the check of a table, with the remedy for its faults.
  void begin(const char* table, const char* remedy) {
    table_ = table;
    remedy_ = remedy;
    verified_.entries.try_emplace(table, 0);
    report_progress(context_, {"verify", "entries", table_, std::min(looked_at_, all_), all_});
  }

  void fault(std::string_view key, std::string detail) { fault(key, std::move(detail), remedy_); }
  void fault(std::string_view key, std::string detail, const char* remedy) {
    ++verified_.faults;
    if (verified_.first_ones.size() < kMostTold) verified_.first_ones.push_back({table_, bytes_to_hex(key), std::move(detail), remedy});
  }
  void want(bool holds, const Entry& entry, const char* detail) {
    if (!holds) fault(entry.key, detail);
  }

  void look_at(const Entry& entry, const Check& check) {
    ++looked_at_;
    ++verified_.entries[table_];
    try {
      check(entry);
    } catch (const BadValue& bad) {
      fault(entry.key, bad.what());
    } catch (const StoreError& bad) {
      fault(entry.key, bad.what());
    }
  }

  static std::string key_of(const Rows& rows, std::size_t row, const std::vector<KeyPart>& key) {
    KeyBytes bytes;
    for (std::size_t i = 0; i < key.size(); ++i) {
      const int at = static_cast<int>(i);
      if (const auto* const number = std::get_if<Number>(&key[i])) {
        number->width == 4 ? bytes.u32(static_cast<std::uint32_t>(rows.number(row, at)))
                           : bytes.u64(static_cast<std::uint64_t>(rows.number(row, at)));
      } else {
        bytes.bytes(rows.bytes(row, at));
      }
    }
    return std::string(bytes.view());
  }

  static void add(Params& params, const KeyPart& part) {
    if (const auto* const number = std::get_if<Number>(&part)) {
      number->width == 4 ? params.i32(static_cast<std::int32_t>(number->value)) : params.i64(number->value);
    } else if (const auto* const text = std::get_if<std::string>(&part)) {
      params.text(*text);
    } else {
      params.bytes(std::get<Bytes>(part).bytes);
    }
  }

  // Passes the slices of a table to `take`, starting after `from`.
  enum class Moment { of_each_slice, of_the_caller };
  template <class More, class Take>
  void each_slice(Moment moment, const Slices& of, std::vector<KeyPart> from, More more, Take take) {
    for (bool proceed = true; proceed;) {
      std::optional<Snapshot> snapshot;
      if (moment == Moment::of_each_slice) snapshot.emplace(connection_);
      Params params;
      for (const KeyPart& part : from) add(params, part);
      more(params);
      const Rows rows = connection_.query(of, std::move(params));
      proceed = !rows.empty();
      if (!proceed) continue;
      take(rows);
      for (std::size_t i = 0; i < from.size(); ++i) set(from[i], rows, rows.size() - 1, static_cast<int>(i));
      report_progress(context_, {"verify", "entries", table_, std::min(looked_at_, all_), all_});
    }
  }
  static void set(KeyPart& part, const Rows& rows, std::size_t row, int column) {
    if (auto* const number = std::get_if<Number>(&part)) number->value = rows.number(row, column);
    if (auto* const text = std::get_if<std::string>(&part)) *text = rows.bytes(row, column);
    if (auto* const bytes = std::get_if<Bytes>(&part)) bytes->bytes = rows.bytes(row, column);
  }

  // All rows of a table.
  void walk(const Slices& of, const std::vector<KeyPart>& from, const Check& check) {
    each_slice(
        Moment::of_each_slice, of, from, [](Params&) {},
        [&](const Rows& rows) {
          for (std::size_t row = 0; row < rows.size(); ++row) look_at({rows, row, key_of(rows, row, from)}, check);
        });
  }

  // For tables whose key is a place in the first three columns; reported like the keys of records.
  static std::string place_text(const Rows& rows, std::size_t row) {
    return std::string(place_key(tenant_at(rows, row, 0), record_key(rows, row, 1)).view());
  }
  void walk_places(const Slices& of, const Check& check) {
    each_slice(
        Moment::of_each_slice, of, {kFirstTenant, kFirst, kFirst}, [](Params&) {},
        [&](const Rows& rows) {
          for (std::size_t row = 0; row < rows.size(); ++row) look_at({rows, row, place_text(rows, row)}, check);
        });
  }
  // All rows of the day.
  void walk_day(const Slices& of, const std::vector<KeyPart>& from, const Check& check) {
    each_slice(
        Moment::of_the_caller, of, from, [&](Params& params) { params.i64(from_ms_).i64(end_ms_); },
        [&](const Rows& rows) {
          for (std::size_t row = 0; row < rows.size(); ++row) look_at({rows, row, place_text(rows, row)}, check);
        });
  }

  void known_tenant(const Entry& entry, model::TenantId tenant) {
    want(known_tenants_.contains(tenant) || is_tenant(tenant), entry, "no tenant has that number");
  }
  // The tenant may have been added meanwhile.
  bool is_tenant(model::TenantId tenant) {
    const Rows rows = connection_.query("SELECT 1 FROM runwarden.tenant WHERE tenant = $1", std::move(Params().i32(column(tenant))));
    if (!rows.empty()) known_tenants_.insert(tenant);
    return !rows.empty();
  }
  // The tenant must exist, and the number must come from this database.
  void check_place(const Entry& entry) {
    known_tenant(entry, entry.tenant());
    if (entry.place().seq >> kCounterBits > start_ && entry.place().seq >> kCounterBits > look_at_start()) {
      fault(entry.key, "its number belongs to a service start that the database has no record of");
    }
  }
  std::uint64_t look_at_start() {
    const Rows rows = connection_.query("SELECT value FROM runwarden.counter WHERE name = 'start'");
    start_ = rows.empty() ? 0 : unsigned_at(rows, 0, 0);
    return start_;
  }

  void counters() {
    begin("counter", kOfIndex);
    const Rows rows = connection_.query("SELECT name, value FROM runwarden.counter");
    std::set<std::string> names;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      look_at({rows, row, std::string(rows.bytes(row, 0))}, [&](const Entry& entry) {
        names.emplace(entry.bytes(0));
        want(entry.number(1) >= 0, entry, "it is less than 0");
      });
    }
    for (const char* name : {"start", "tenant", "note"}) {
      if (!names.contains(name)) fault(name, "it does not exist");
    }
    look_at_start();
    ledger_ = read_ledger_standing(connection_);
  }

  void tenants() {
    begin("tenant", kOfIndex);
    const Rows rows = connection_.query(
        "SELECT t.tenant, t.tenant <= c.value FROM runwarden.tenant t LEFT JOIN runwarden.counter c ON c.name = 'tenant'");
    for (std::size_t row = 0; row < rows.size(); ++row) {
      known_tenants_.insert(tenant_at(rows, row, 0));
      look_at({rows, row, std::string(KeyBytes().u32(tenant_at(rows, row, 0)).view())}, [&](const Entry& entry) {
        want(!entry.is_null(1) && rows.boolean(entry.row, 1), entry, "its number is greater than the last assigned one");
      });
    }
  }

  void keys() {
    begin("api_key", kOfKey);
    static const Slices kKeys = slices("runwarden.api_key t", {"id"}, "t.tenant, t.scopes, t.digest", "100");
    walk(kKeys, {std::string()}, [&](const Entry& entry) {
      known_tenant(entry, tenant_at(entry.rows, entry.row, 1));
      want(entry.number(2) >= 0 && entry.number(2) < 8, entry, "it has a scope that this program does not support");
      want(entry.bytes(3).size() == sizeof(model::Digest), entry, "its digest is truncated");
    });
  }

  void key_uses() {
    begin("key_use", "none needed: it is rewritten when the key is used");
    static const Slices kUses = slices("runwarden.key_use t", {"id"}, "EXISTS (SELECT FROM runwarden.api_key k WHERE k.id = t.id)", "100");
    walk(kUses, {std::string()}, [&](const Entry& entry) { want(entry.rows.boolean(entry.row, 1), entry, "no key has that id"); });
  }

  // The secrets of sessions, cursors and ledgers.
  void secrets() {
    begin("secret",
          "restore a backup; without one, delete the row and restart the hosts: everything sealed or signed with it becomes invalid");
    const Rows rows = connection_.query("SELECT name, value FROM runwarden.secret");
    for (std::size_t row = 0; row < rows.size(); ++row) {
      look_at({rows, row, std::string(rows.bytes(row, 0))}, [&](const Entry& entry) {
        if (entry.bytes(0).starts_with("ledger")) return static_cast<void>(read_keys(connection_));
        want(entry.bytes(1).size() == kSecretBytes, entry, "its length does not match its kind");
      });
    }
  }

  // The ends of the existing days.
  std::set<std::int64_t> days() {
    std::set<std::int64_t> ends;
    for (const Partition& partition : partitions(connection_)) ends.insert(partition.end_ms);
    return ends;
  }

  void day(std::int64_t from_ms, std::int64_t end_ms) {
    const Snapshot snapshot(connection_);
    from_ms_ = from_ms;
    end_ms_ = end_ms;
    borne_.clear();
    unreadable_.clear();
    read_numbered();
    runs();
    previous();
    events();
    event_ids();
    failures();
    dimensions();
  }

  enum RunColumn { run_id = 3, revision, state, source, max_score, fired, content, body, kept, open_id, head_ms, head_seq, open_part };
  // After open_part: revision, total, previous, bytes, ending, cut, tail_final, awaits, whether it is in the ledger.

  void runs() {
    begin("run", kOfRecord);
    static const Slices kRuns = slices(
        "runwarden.run t LEFT JOIN runwarden.open_run o ON o.tenant = t.tenant AND o.time_ms = t.time_ms AND o.seq = t.seq "
        "LEFT JOIN runwarden.head h ON h.tenant = t.tenant AND h.run_id = t.run_id",
        kPlace,
        "t.run_id, t.revision, t.state, t.source, t.max_score, array_to_string(t.fired, chr(31)) AS fired, t.content, "
        "CASE WHEN t.state = 0 THEN o.body ELSE t.body END AS body, octet_length(t.body) AS kept, o.run_id AS open_id, h.time_ms AS "
        "head_ms, h.seq AS head_seq, "
        "o.revision AS open_revision, o.total, o.former, o.bytes, o.ending, o.cut, o.tail_final, o.awaits, " +
            in_ledger(ledger::Kind::run, kRunName),
        "octet_length(t.body) + coalesce(octet_length(o.body), 0)", in_day(3));
    static const std::string kChunks =
        "SELECT e.tenant, e.time_ms, e.seq, e.first, e.count FROM runwarden.event e WHERE e.time_ms >= $7 AND e.time_ms < $8 "
        "AND (e.tenant, e.time_ms, e.seq) >= ($1, $2, $3) AND (e.tenant, e.time_ms, e.seq) <= ($4, $5, $6) ORDER BY e.tenant, e.time_ms, "
        "e.seq, e.first";
    each_slice(
        Moment::of_the_caller, kRuns, {kFirstTenant, kFirst, kFirst}, [&](Params& params) { params.i64(from_ms_).i64(end_ms_); },
        [&](const Rows& rows) {
          Params range;
          for (const std::size_t row : {std::size_t{0}, rows.size() - 1}) {
            range.i32(static_cast<std::int32_t>(rows.number(row, 0))).i64(rows.number(row, 1)).i64(rows.number(row, 2));
          }
          const Rows chunks = connection_.query(kChunks, std::move(range.i64(from_ms_).i64(end_ms_)));
          std::size_t chunk = 0;
          for (std::size_t row = 0; row < rows.size(); ++row) {
            const Entry entry{rows, row, place_text(rows, row)};
            const auto place = std::pair(entry.tenant(), entry.place());
            const auto place_of = [&](std::size_t at) { return std::pair(tenant_at(chunks, at, 0), record_key(chunks, at, 1)); };
            while (chunk < chunks.size() && place_of(chunk) < place) ++chunk;
            Chunks of_run;
            for (; chunk < chunks.size() && place_of(chunk) == place; ++chunk) of_run.add(chunks.number(chunk, 3), chunks.number(chunk, 4));
            look_at(entry, [&](const Entry& one) { run_row(one, of_run); });
          }
        });
  }

  // The event rows of one run, in order: the packed ones first.
  struct Chunks {
    std::int64_t total = 0;
    bool in_order = true;
    void add(std::int64_t first, std::int64_t count) {
      in_order = in_order && (first == kPackedFirst ? total == 0 : first == total);
      total += count;
    }
  };

  void run_row(const Entry& entry, const Chunks& chunks) {
    check_place(entry);
    const model::TenantId tenant = entry.tenant();
    unreadable_.insert(tenant);
    const bool open = entry.number(state) == static_cast<int>(model::RunState::open);
    want(open == !entry.is_null(open_id), entry,
         open ? "it is open, but not among the open runs" : "it is resolved, but among the open runs");
    if (entry.is_null(body)) return;
    const StoredRun stored = decode_run(place_key(tenant, entry.place()), entry.bytes(body));
    unreadable_.erase(tenant);
    const model::RunRecord& run = stored.run;
    want(run.key == entry.place(), entry, "the key stored in the run differs from the row's key");
    want(has_columns(entry, run), entry, "its columns do not match the encoded record");
    const bool has_head = !entry.is_null(head_ms);
    const bool leads_here = has_head && record_key(entry.rows, entry.row, head_ms) == run.key;
    want(leads_here || (!has_head && run.run_id == model::make_run_id(run.key)), entry,
         "its runId is not in the index, or points to a different run");
    want(open == stored.buffering.has_value(), entry, "it is open without a buffer, or has a buffer but is not open");
    want(!open || entry.number(kept) == 0, entry, "it is open, but its row holds its previous revision");
    if (stored.buffering) want(has_open_columns(entry, stored), entry, "the open run's columns do not match the encoded record");
    outline(entry, stored);
    want(chunks.in_order, entry, "its events are not contiguous");
    const std::int64_t said = stored.buffering ? stored.buffering->total : stored.run.events;
    if (chunks.total != said) fault(entry.key, "it claims " + std::to_string(said) + " events, but has " + std::to_string(chunks.total));
    for (const model::Dimension& one : run.dimensions) bear(tenant, run.key, one);
    if (!open) want_in_ledger(entry, open_part + 8);
  }

  static bool has_columns(const Entry& entry, const model::RunRecord& run) {
    std::string all;
    for (const std::string& one : run.fired) all += (all.empty() ? "" : "\x1f") + one;
    return run.run_id == entry.bytes(run_id) && run.revision == entry.number(revision) &&
           static_cast<int>(run.state) == entry.number(state) && static_cast<int>(run.source) == entry.number(source) &&
           run.max_score == entry.number(max_score) && all == entry.bytes(fired) && view(run.content) == entry.bytes(content);
  }

  static bool has_open_columns(const Entry& entry, const StoredRun& stored) {
    const Buffering& buffering = *stored.buffering;
    const auto column = [&](int at) { return entry.number(open_part + at); };
    const bool ends = !entry.is_null(open_part + 4);
    if (ends != buffering.ending.has_value()) return false;
    if (ends && (column(4) != static_cast<int>(*buffering.ending) || column(5) != buffering.cut)) return false;
    return column(0) == stored.run.revision && column(1) == buffering.total && column(2) == buffering.previous &&
           column(3) == static_cast<std::int64_t>(buffering.bytes) &&
           entry.rows.boolean(entry.row, open_part + 6) == buffering.tail_final && entry.bytes(open_id) == stored.run.run_id &&
           column(7) == static_cast<int>(awaited_by(stored.run));
  }

  void outline(const Entry& entry, const StoredRun& stored) {
    if (!stored.run.outline) return;
    const model::RunOutline& shown = *stored.run.outline;
    for (const std::string* json : {&shown.members, &shown.last_output, &shown.failures, &shown.detectors, &shown.policies}) {
      want(json->empty() || check_json(*json, kDeepestJson).ok(), entry, "its text for lists is not JSON");
    }
  }

  void previous() {
    begin("former", kOfRecord);
    static const Slices kPrevious =
        slices("runwarden.former t LEFT JOIN runwarden.run r ON r.tenant = t.tenant AND r.time_ms = t.time_ms AND r.seq = t.seq",
               {"tenant", "time_ms", "seq", "revision"}, "r.run_id, r.revision AS last, t.body, " + in_ledger(ledger::Kind::run, kRunName),
               kBodySize, in_day(4));
    walk_day(kPrevious, {kFirstTenant, kFirst, kFirst, kFirstTenant}, [&](const Entry& entry) {
      check_place(entry);
      const StoredRun stored = decode_run(place_key(entry.tenant(), entry.place()), entry.bytes(6));
      want(entry.number(3) == stored.run.revision, entry, "its revision differs from its key's");
      if (entry.is_null(4)) return want(false, entry, "its run does not exist");
      want(entry.bytes(4) == stored.run.run_id, entry, "its runId differs from its run's");
      want(entry.number(5) > stored.run.revision, entry, "no later revision exists");
      want_in_ledger(entry, 7);
    });
  }

  void events() {
    begin("event", kOfRecord);
    static const Slices kEvents = slices("runwarden.event t", {"tenant", "time_ms", "seq", "first"},
                                         "t.count, t.received_ms, t.bytes, t.body, " + kHasRun + " AS has_run", kBodySize, in_day(4));
    walk_day(kEvents, {kFirstTenant, kFirst, kFirst, kFirstTenant}, [&](const Entry& entry) {
      check_place(entry);
      want(entry.rows.boolean(entry.row, 8), entry, "the run of these events does not exist");
      const KeyBytes key = events_place({entry.tenant(), entry.place()}, entry.number(3));
      const EventChunk chunk = decode_events_head(key, entry.bytes(7));
      const auto all = decode_events(key, entry.bytes(7));
      std::uint64_t size = 0;
      for (const std::string& event : all) size += event.size();
      want(all.size() == chunk.count && size == chunk.bytes, entry, "its event count or size does not match its events");
      want(entry.number(4) == chunk.count && entry.number(5) == chunk.received_ms &&
               entry.number(6) == static_cast<std::int64_t>(chunk.bytes),
           entry, "its columns do not match the encoded record");
      if (entry.number(3) == kPackedFirst && lacks_steps_of(entry, all))
        fault(entry.key, "the run was judged again after it was imported, but without these events", kOfMovedRun);
    });
  }

  // Whether the run of these packed events has been resolved since it came here, and its record has none of their steps.
  bool lacks_steps_of(const Entry& entry, const std::vector<std::string>& events) {
    const std::set<std::string> ids = ids_of(events);
    if (ids.empty()) return false;
    Params params;
    params.i32(static_cast<std::int32_t>(entry.tenant())).i64(entry.place().time_ms).i64(number_of(entry.place().seq));
    const Rows run = connection_.query(
        "SELECT r.body FROM runwarden.run r WHERE r.tenant = $1 AND r.time_ms = $2 AND r.seq = $3 AND r.state = 1 AND EXISTS (SELECT FROM "
        "runwarden.event e WHERE e.tenant = r.tenant AND e.time_ms = r.time_ms AND e.seq = r.seq AND e.first >= 0)",
        std::move(params));
    if (run.empty()) return false;
    const StoredRun stored = decode_run(place_key(entry.tenant(), entry.place()), run.bytes(0, 0));
    const auto steps = json_member_view(stored.run.document, "steps");
    if (!steps) return false;
    const auto is_known = [&](std::string_view step) {
      const auto id = json_member_view(step, "eventId");
      return id && ids.contains(std::string(*id));
    };
    return std::ranges::none_of(json_element_views(*steps), is_known);
  }

  // The eventIds of events that make steps, as JSON.
  static std::set<std::string> ids_of(const std::vector<std::string>& events) {
    std::set<std::string> ids;
    for (const std::string& event : events) {
      if (event.empty()) continue;  // lost to damage
      const auto type = json_member_view(event, "type");
      if (type == R"("run_started")" || type == R"("run_finished")") continue;
      if (const auto id = json_member_view(event, "eventId")) ids.emplace(*id);
    }
    return ids;
  }

  void event_ids() {
    begin("event_id", kOfRecord);
    static const Slices kIds =
        slices("runwarden.event_id t", {"tenant", "time_ms", "seq", "half"}, kHasRun + " AS has_run", "100", in_day(4));
    walk_day(kIds, {kFirstTenant, kFirst, kFirst, Bytes()}, [&](const Entry& entry) {
      check_place(entry);
      want(entry.bytes(3).size() == sizeof(model::ClusterKey), entry, "an event's id is truncated");
      want(entry.rows.boolean(entry.row, 4), entry, "the run of these events does not exist");
    });
  }

  void failures() {
    begin("failure", kOfRecord);
    static const Slices kFailures = slices(
        "runwarden.failure t LEFT JOIN runwarden.run r ON r.tenant = t.tenant AND r.time_ms = t.run_time_ms AND r.seq = t.run_seq", kPlace,
        "t.run_time_ms, t.run_seq, t.detector, t.severity, t.score, t.shadow, t.fingerprint, t.reviewed, t.body, CASE WHEN r.state = 0 "
        "THEN " +
            run_body() + " ELSE " + head_of("r.body") +
            " END AS run_value, "
            "coalesce((SELECT v.verdict FROM runwarden.review v WHERE v.tenant = t.tenant AND v.failure_ms = t.time_ms AND v.failure_seq = "
            "t.seq "
            "ORDER BY v.time_ms DESC, v.seq DESC LIMIT 1), 0::smallint) AS last_verdict",
        kBodySize, in_day(3));
    walk_day(kFailures, {kFirstTenant, kFirst, kFirst}, [&](const Entry& entry) {
      check_place(entry);
      const model::FailureRecord failure = decode_failure(place_key(entry.tenant(), entry.place()), entry.bytes(11));
      want(failure.key == entry.place() && failure.id == model::make_failure_id(entry.place()), entry,
           "the key stored in the failure differs from the row's key");
      const bool same = failure.run == record_key(entry.rows, entry.row, 3) && failure.detector_key == entry.bytes(5) &&
                        static_cast<int>(failure.severity) == entry.number(6) && failure.score == entry.number(7) &&
                        view(model::cluster_key(failure.fingerprint)) == entry.bytes(9) &&
                        static_cast<int>(failure.reviewed) == entry.number(10);
      want(same, entry, "its columns do not match the encoded record");
      want(entry.number(13) == static_cast<int>(failure.reviewed), entry, "its verdict differs from its last review's");
      if (entry.is_null(12)) return;  // retention deletes runs and failures by separate times
      const auto shown = decode_run_head(place_key(entry.tenant(), failure.run), entry.bytes(12)).failures;
      want(std::find(shown.begin(), shown.end(), failure.key) != shown.end(), entry, "its run does not list it");
    });
  }

  // A dimension value in one stretch.
  struct Value {
    model::TenantId tenant = 0;
    std::string dimension;
    std::int64_t stretch = 0;
    std::string value;
    auto operator<=>(const Value&) const = default;
    std::string key() const { return std::string(KeyBytes().u32(tenant).bytes(dimension).time(stretch).bytes(value).view()); }
  };
  static Value value_in(const Rows& rows, std::size_t row) {
    return {tenant_at(rows, row, 0), std::string(rows.bytes(row, 1)), rows.number(row, 2), std::string(rows.bytes(row, 3))};
  }

  // The values that runs of the day may be counted under.
  void read_numbered() {
    numbered_.clear();
    const Rows rows =
        connection_.query("SELECT tenant, dimension, stretch, value FROM runwarden.dimension_value WHERE stretch BETWEEN $1 AND $2",
                          std::move(Params().i64(from_ms_ >> kStretchShift).i64((end_ms_ - 1) >> kStretchShift)));
    for (std::size_t row = 0; row < rows.size(); ++row) numbered_.insert(value_in(rows, row));
  }
  void bear(model::TenantId tenant, const model::RecordKey& run, const model::Dimension& one) {
    Value value{tenant, one.name, run.time_ms >> kStretchShift, one.value};
    if (!numbered_.contains(value)) value.value = model::kOtherValue;
    ++borne_[value];
  }

  void dimensions() {
    begin("run_dimension", kOfIndex);
    const auto of_day = [&] { return std::move(Params().i64(from_ms_).i64(end_ms_)); };
    const Rows stray = connection_.query(
        "SELECT t.tenant, t.time_ms, t.seq, " + kHasRun +
            " FROM runwarden.run_dimension t LEFT JOIN runwarden.dimension_value v ON v.tenant = t.tenant "
            "AND v.id = t.value_id WHERE t.time_ms >= $1 AND t.time_ms < $2 AND (v.id IS NULL OR v.stretch <> t.time_ms >> 28 OR NOT " +
            kHasRun + ") LIMIT 1000",
        of_day());
    static_assert(kStretchShift == 28, "the statement above says so");
    for (std::size_t row = 0; row < stray.size(); ++row) {
      fault(place_text(stray, row),
            stray.boolean(row, 3) ? "it points to a dimension's value that does not exist" : "it counts a run that does not exist");
    }
    const Rows counted = connection_.query(
        "SELECT v.tenant, v.dimension, v.stretch, v.value, count(*) FROM runwarden.run_dimension t JOIN runwarden.dimension_value v ON "
        "v.tenant = t.tenant "
        "AND v.id = t.value_id WHERE t.time_ms >= $1 AND t.time_ms < $2 GROUP BY 1, 2, 3, 4",
        of_day());
    for (std::size_t row = 0; row < counted.size(); ++row) {
      const Value value = value_in(counted, row);
      const std::uint64_t says = unsigned_at(counted, row, 4);
      looked_at_ += says;
      verified_.entries[table_] += says;
      const auto found = borne_.extract(value);
      const std::uint64_t is = found ? found.mapped() : 0;
      if (says != is && !unreadable_.contains(value.tenant))
        fault(value.key(), "it counts " + std::to_string(says) + " runs, but there are " + std::to_string(is));
    }
    for (const auto& [value, runs] : borne_) {
      if (!unreadable_.contains(value.tenant)) fault(value.key(), "it is missing, but there are " + std::to_string(runs) + " to count");
    }
  }

  void heads() {
    begin("head", kOfIndex);
    static const Slices kHeads =
        slices("runwarden.head t LEFT JOIN runwarden.run r ON r.tenant = t.tenant AND r.time_ms = t.time_ms AND r.seq = t.seq",
               {"tenant", "run_id"}, "r.run_id AS has", "100");
    walk(kHeads, {kFirstTenant, std::string()}, [&](const Entry& entry) {
      known_tenant(entry, entry.tenant());
      if (entry.is_null(2)) return want(false, entry, "it points to a run that does not exist");
      want(entry.bytes(2) == entry.bytes(1), entry, "it points to a run with a different runId");
    });
  }

  void open_runs() {
    begin("open_run", kOfIndex);
    static const Slices kOpen =
        slices("runwarden.open_run t LEFT JOIN runwarden.run r ON r.tenant = t.tenant AND r.time_ms = t.time_ms AND r.seq = t.seq",
               {"tenant", "run_id"}, "coalesce(r.state = 0 AND r.run_id = t.run_id, false) AS is_open", "100");
    walk(kOpen, {kFirstTenant, std::string()}, [&](const Entry& entry) {
      known_tenant(entry, entry.tenant());
      want(entry.rows.boolean(entry.row, 2), entry, "it points to no open run");
    });
  }

  void groups() {
    begin("cluster", kOfIndex);
    static const Slices kClusters =
        slices("runwarden.cluster t", {"tenant", "half"},
               "t.failures, t.body, EXISTS (SELECT FROM runwarden.cluster_total o WHERE o.tenant = t.tenant) AS has_total", kBodySize);
    walk(kClusters, {kFirstTenant, Bytes()}, [&](const Entry& entry) {
      known_tenant(entry, entry.tenant());
      const model::ClusterKey cluster = cluster_key_of(entry.bytes(1));
      const ClusterHead head = decode_cluster(cluster_place(entry.tenant(), cluster), entry.bytes(3));
      want(head.cluster.key == cluster && model::cluster_key(head.cluster.fingerprint) == cluster, entry,
           "its fingerprint does not match its key");
      want(entry.number(2) == static_cast<std::int64_t>(head.cluster.count), entry, "its columns do not match the encoded record");
      want(entry.rows.boolean(entry.row, 4), entry, "the tenant's group count is missing");
      head_differences(entry, head);
    });
    totals();
  }

  void head_differences(const Entry& entry, const ClusterHead& head) {
    const ClusterRecount is = recount_cluster(connection_, entry.tenant(), head.cluster.key);
    if (!is.readable()) return;  // the check of that failure reports it
    for (const std::string& detail : is.differences(head)) fault(entry.key, detail);
    const Rows entries = connection_.query("SELECT time_ms, seq, body FROM runwarden.triage WHERE tenant = $1 AND half = $2",
                                           std::move(Params().i32(column(entry.tenant())).bytes(view(head.cluster.key))));
    bool decided = entries.empty() && is_undecided(head);
    for (std::size_t row = 0; row < entries.size() && !decided; ++row) {
      try {
        const KeyBytes key = triage_place(entry.tenant(), head.cluster.key, record_key(entries, row, 0));
        decided = is_decided_by(head, decode_triage(key, entries.bytes(row, 2)));
      } catch (const BadValue&) {
        decided = true;  // the check of that table reports it
      }
    }
    want(decided, entry, "nothing in its history explains its state");
    want(is.count() > 0 || head.cluster.count > 0 || !entries.empty(), entry, "it has neither failures nor a history");
  }

  void totals() {
    begin("cluster_total", kOfIndex);
    static const Slices kTotals = slices(
        "runwarden.cluster_total t", {"tenant"},
        "t.clusters, t.left_out, (SELECT count(*) FROM runwarden.cluster c WHERE c.tenant = t.tenant) AS heads, "
        "(SELECT coalesce(sum(c.failures), 0)::bigint FROM runwarden.cluster c WHERE c.tenant = t.tenant) AS counted, "
        "(SELECT count(*) FROM runwarden.failure f WHERE f.tenant = t.tenant AND NOT f.shadow AND NOT f.false_alarm) AS all_failures",
        "100");
    walk(kTotals, {kFirstTenant}, [&](const Entry& entry) {
      known_tenant(entry, entry.tenant());
      if (entry.number(1) != entry.number(3)) {
        fault(entry.key, counts_wrong(static_cast<std::uint64_t>(entry.number(1)), " groups", static_cast<std::uint64_t>(entry.number(3))));
      }
      if (entry.number(2) + entry.number(4) == entry.number(5)) return;
      fault(entry.key, "it counts " + std::to_string(entry.number(2)) + " failures outside of groups: of " +
                           std::to_string(entry.number(5)) + " the groups have " + std::to_string(entry.number(4)));
    });
  }

  void triage() {
    begin("triage", kOfIndex);
    static const Slices kEntries =
        slices("runwarden.triage t", {"tenant", "half", "time_ms", "seq"},
               "t.body, EXISTS (SELECT FROM runwarden.cluster c WHERE c.tenant = t.tenant AND c.half = t.half) AS has_group, " +
                   in_ledger(ledger::Kind::triage, kEntryName),
               kBodySize);
    walk(kEntries, {kFirstTenant, Bytes(), kFirst, kFirst}, [&](const Entry& entry) {
      known_tenant(entry, entry.tenant());
      const model::RecordKey place = record_key(entry.rows, entry.row, 2);
      const model::TriageEntry decided = decode_triage(triage_place(entry.tenant(), cluster_key_of(entry.bytes(1)), place), entry.bytes(4));
      want(decided.key == place, entry, "the key stored in it differs from the row's key");
      want(entry.rows.boolean(entry.row, 5), entry, "its group does not exist");
      want_in_ledger(entry, 6, place);
    });
  }

  void stretches() {
    begin("dimension_stretch", kOfIndex);
    static const Slices kStretches = slices("runwarden.dimension_stretch t", {"tenant", "dimension", "stretch"},
                                            "t.numbered, (SELECT count(*) FROM runwarden.dimension_value v WHERE v.tenant = t.tenant AND "
                                            "v.dimension = t.dimension AND v.stretch = t.stretch "
                                            "AND v.value <> convert_to('" +
                                                std::string(model::kOtherValue) + "', 'UTF8')) AS counted",
                                            "100");
    walk(kStretches, {kFirstTenant, Bytes(), kFirst}, [&](const Entry& entry) {
      known_tenant(entry, entry.tenant());
      want(entry.number(3) == entry.number(4), entry, "its count of values does not match");
    });
    begin("dimension_value", kOfIndex);
    static const Slices kValues = slices("runwarden.dimension_value t", {"tenant", "dimension", "stretch", "value"},
                                         "EXISTS (SELECT FROM runwarden.dimension_stretch s WHERE s.tenant = t.tenant AND s.dimension = "
                                         "t.dimension AND s.stretch = t.stretch) AS has",
                                         "100");
    walk(kValues, {kFirstTenant, Bytes(), kFirst, Bytes()}, [&](const Entry& entry) {
      known_tenant(entry, entry.tenant());
      want(entry.rows.boolean(entry.row, 4), entry, "the head of its dimension's values is missing");
    });
  }

  // Their numbers are consecutive up to the last one given out.
  void commits() {
    begin("commit_log", kOfIndex);
    static const Slices kLog = slices(
        "runwarden.commit_log t", {"tenant", "first"},
        "t.count, t.body, coalesce((SELECT min(n.first) FROM runwarden.commit_log n WHERE n.tenant = t.tenant AND n.first > t.first), "
        "(SELECT l.last + 1 FROM runwarden.commit_last l WHERE l.tenant = t.tenant)) AS next",
        kBodySize);
    walk(kLog, {kFirstTenant, kFirst}, [&](const Entry& entry) {
      known_tenant(entry, entry.tenant());
      const auto items = decode_tail(tail_place(entry.tenant()), entry.bytes(3));
      want(entry.number(2) == static_cast<std::int64_t>(items.size()), entry, "its count of commits does not match");
      want(!entry.is_null(4) && entry.number(1) + entry.number(2) == entry.number(4), entry, "the next row's number does not follow");
    });
  }

  void changes() {
    begin("change", kOfRecord);
    static const Slices kChanges = slices("runwarden.change t", kPlace,
                                          "t.kind, t.received_ms, t.body, EXISTS (SELECT FROM runwarden.policy p WHERE p.tenant = t.tenant "
                                          "AND p.time_ms = t.time_ms AND p.seq = t.seq) AS has_policy, " +
                                              in_ledger(ledger::Kind::change, kPlaceName),
                                          kBodySize);
    walk_places(kChanges, [&](const Entry& entry) {
      check_place(entry);
      const model::ChangeRecord change = decode_change(place_key(entry.tenant(), entry.place()), entry.bytes(5));
      want(change.key == entry.place(), entry, "the key stored in the change differs from the row's key");
      want(change.kind == entry.bytes(3) && change.received_ms == entry.number(4), entry, "its columns do not match the encoded record");
      if (is_of_policy(change)) return want(entry.rows.boolean(entry.row, 6), entry, "its policy revision does not exist");
      want_in_ledger(entry, 7);
    });
  }

  void policies() {
    begin("policy", kOfRecord);
    static const Slices kPolicies = slices("runwarden.policy t", kPlace,
                                           "t.policy, t.revision, t.author, t.content, t.received_ms, t.body, EXISTS (SELECT FROM "
                                           "runwarden.policy_head h WHERE h.tenant = t.tenant "
                                           "AND h.policy = t.policy) AS has_head, " +
                                               in_ledger(ledger::Kind::policy, kPlaceName),
                                           kBodySize);
    walk_places(kPolicies, [&](const Entry& entry) {
      check_place(entry);
      const model::PolicyRecord policy = decode_policy(place_key(entry.tenant(), entry.place()), entry.bytes(8));
      want(policy.key == entry.place(), entry, "the key stored in the policy revision differs from the row's key");
      const bool same = policy.policy == entry.bytes(3) && policy.revision == entry.bytes(4) &&
                        column_text(policy.author) == entry.bytes(5) && view(policy.content) == entry.bytes(6) &&
                        policy.received_ms == entry.number(7);
      want(same, entry, "its columns do not match the encoded record");
      want(entry.rows.boolean(entry.row, 9), entry, "its name is not in the index");
      want_in_ledger(entry, 10);
    });
  }

  // A name may outlive its revisions.
  void policy_names() {
    begin("policy_head", kOfIndex);
    static const Slices kNames =
        slices("runwarden.policy_head t", {"tenant", "policy"},
               "coalesce((SELECT max(p.revision::numeric) FROM runwarden.policy p WHERE p.tenant = t.tenant AND p.policy = t.policy "
               "AND p.revision ~ '^[0-9]+$'), -1) <= t.highest AS is_highest",
               "100");
    walk(kNames, {kFirstTenant, std::string()}, [&](const Entry& entry) {
      known_tenant(entry, entry.tenant());
      want(entry.rows.boolean(entry.row, 2), entry, "a revision is above its highest revision");
    });
  }

  // What it answered may be gone: retention deletes each by its own time.
  void answers() {
    begin("idempotency", kOfRecord);
    static const Slices kAnswers =
        slices("runwarden.idempotency t", {"tenant", "identity"}, "t.content, t.created_ms, t.kind, t.time_ms, t.seq, t.revision, t.answer",
               "coalesce(octet_length(t.answer), 0) + 200");
    walk(kAnswers, {kFirstTenant, Bytes()}, [&](const Entry& entry) {
      known_tenant(entry, entry.tenant());
      answer_in(entry.tenant(), entry.rows, entry.row, 1);
    });
  }

  void crash_marks() {
    begin("crash_mark", kOfRecord);
    static const Slices kMarks = slices("runwarden.crash_mark t", kPlace, "t.body", kBodySize);
    walk_places(kMarks, [&](const Entry& entry) {
      check_place(entry);
      decode_crash_mark_value(place_key(entry.tenant(), entry.place()), entry.bytes(3));
    });
  }

  void endpoints() {
    begin("endpoint", kOfWebhook);
    static const Slices kEndpoints =
        slices("runwarden.endpoint t", {"tenant", "seq"},
               "t.removed, t.disabled, t.body, (SELECT count(*) FROM runwarden.delivery d WHERE d.tenant = t.tenant AND d.endpoint = t.seq "
               "AND d.state = 0) AS waiting, "
               "(SELECT count(*) FROM runwarden.delivery d WHERE d.tenant = t.tenant AND d.endpoint = t.seq AND d.state = 2) AS dead",
               kBodySize);
    walk(kEndpoints, {kFirstTenant, kFirst}, [&](const Entry& entry) {
      known_tenant(entry, entry.tenant());
      const std::uint64_t seq = unsigned_at(entry.rows, entry.row, 1);
      const model::Endpoint endpoint = decode_endpoint(endpoint_place(entry.tenant(), seq), entry.bytes(4));
      want(endpoint.key.seq == seq, entry, "the key stored in the webhook differs from the row's key");
      if (entry.rows.boolean(entry.row, 2)) return;  // the rest of it is being deleted
      want(entry.number(3) == static_cast<int>(endpoint.disabled), entry, "its columns do not match the encoded record");
      want(entry.number(5) == static_cast<std::int64_t>(endpoint.pending), entry, "its count of pending deliveries does not match");
      want(entry.number(6) == static_cast<std::int64_t>(endpoint.dead), entry, "its count of dead deliveries does not match");
    });
  }

  void deliveries() {
    begin("delivery", kOfWebhook);
    static const Slices kDeliveries = slices("runwarden.delivery t", {"tenant", "endpoint", "time_ms", "seq"},
                                             "t.state, t.due_ms, t.body, EXISTS (SELECT FROM runwarden.endpoint e WHERE e.tenant = "
                                             "t.tenant AND e.seq = t.endpoint) AS has_endpoint",
                                             kBodySize);
    walk(kDeliveries, {kFirstTenant, kFirst, kFirst, kFirst}, [&](const Entry& entry) {
      known_tenant(entry, entry.tenant());
      const model::RecordKey place = record_key(entry.rows, entry.row, 2);
      const model::Delivery delivery =
          decode_delivery(delivery_place(entry.tenant(), unsigned_at(entry.rows, entry.row, 1), place), entry.bytes(6));
      want(delivery.key == place, entry, "the key stored in the delivery differs from the row's key");
      want(entry.rows.boolean(entry.row, 7), entry, "its webhook does not exist");
      const bool waits = delivery.state == model::DeliveryState::pending;
      want(entry.number(4) == static_cast<int>(delivery.state) && (!waits || entry.number(5) == delivery.next_ms), entry,
           "its columns do not match the encoded record");
    });
  }

  // What it reviews may be gone: retention deletes each by its own time.
  void reviews() {
    begin("review", kOfRecord);
    static const Slices kReviews =
        slices("runwarden.review t", kPlace,
               "t.run_time_ms, t.run_seq, t.subject, t.failure_ms, t.failure_seq, t.detector, t.version, t.settings, t.verdict, t.body, " +
                   in_ledger(ledger::Kind::triage, kPlaceName) + ", t.of_candidate",
               kBodySize);
    walk_places(kReviews, [&](const Entry& entry) {
      check_place(entry);
      const model::Review review = decode_review(place_key(entry.tenant(), entry.place()), entry.bytes(12));
      want(review.key == entry.place(), entry, "the key stored in the review differs from the row's key");
      want(check_json(review.document, kDeepestJson).ok(), entry, "its document is not JSON");
      const auto failure = reviewed_failure(review);
      const bool of_failure = !entry.is_null(6) && !entry.is_null(7);
      const bool same = review.run == record_key(entry.rows, entry.row, 3) && subject_of(review) == entry.bytes(5) &&
                        of_failure == failure.has_value() && (!failure || *failure == record_key(entry.rows, entry.row, 6)) &&
                        review.detector_key == entry.bytes(8) && review.detector_version == entry.bytes(9) &&
                        review.settings_hash == entry.bytes(10) && static_cast<int>(review.verdict) == entry.number(11) &&
                        review.of_candidate == entry.rows.boolean(entry.row, 14);
      want(same, entry, "its columns do not match the encoded record");
      want_in_ledger(entry, 13);
    });
  }

  void opinions() {
    begin("opinion", kOfRecord);
    static const Slices kOpinions =
        slices("runwarden.opinion t", kPlace,
               "t.run_time_ms, t.run_seq, t.detector, t.of_alarm, t.state, t.due_ms, t.token, t.body, "
               "EXISTS (SELECT FROM runwarden.run r WHERE r.tenant = t.tenant AND r.time_ms = t.run_time_ms AND r.seq = t.run_seq)",
               kBodySize);
    walk_places(kOpinions, [&](const Entry& entry) {
      check_place(entry);
      const model::Opinion opinion = decode_opinion(place_key(entry.tenant(), entry.place()), entry.bytes(10));
      want(opinion.key == entry.place() && opinion.id == model::make_candidate_id(entry.place()), entry,
           "the key stored in the opinion differs from the row's key");
      want(opinion.review.empty() || check_json(opinion.review, kDeepestJson).ok(), entry, "the model's review is not JSON");
      const bool same = opinion.run == record_key(entry.rows, entry.row, 3) && opinion.detector_key == entry.bytes(5) &&
                        opinion.of_alarm == entry.rows.boolean(entry.row, 6) && static_cast<int>(opinion.state) == entry.number(7) &&
                        opinion.due_ms == entry.number(8) && opinion.token == static_cast<std::uint64_t>(entry.number(9));
      want(same, entry, "its columns do not match the encoded record");
      want(entry.rows.boolean(entry.row, 11), entry, "its run does not exist");
    });
  }

  // For a record that was stored since all records have entries.
  void want_in_ledger(const Entry& entry, int column) { want_in_ledger(entry, column, entry.place()); }
  void want_in_ledger(const Entry& entry, int column, const model::RecordKey& record) {
    if (ledger_.state != LedgerState::on || record.seq >> kCounterBits < ledger_.since) return;
    want(entry.rows.boolean(entry.row, column), entry, "it has no ledger entry");
  }

  void ledgers() {
    begin("ledger", kOfLedger);
    static const Slices kHeads = slices(
        "runwarden.ledger t", {"tenant"},
        "t.origin, t.size, t.body, EXISTS (SELECT FROM runwarden.ledger_entry e WHERE e.tenant = t.tenant AND e.first = 0) AS has_first",
        kBodySize);
    walk(kHeads, {kFirstTenant}, [&](const Entry& entry) {
      known_tenant(entry, entry.tenant());
      const LedgerHead head = decode_ledger_head(ledger_head_key(entry.tenant()), entry.bytes(3));
      want(head.origin == entry.bytes(1) && head.tree.size() == unsigned_at(entry.rows, entry.row, 2), entry,
           "its columns do not match the encoded record");
      want(head.tree.size() == 0 || entry.rows.boolean(entry.row, 4), entry, "its first entries are missing");
    });
    ledger_rows();
    ledger_parts();
  }

  void ledger_rows() {
    begin("ledger_entry", kOfLedger);
    static const Slices kRows = slices("runwarden.ledger_entry t", {"tenant", "first"}, "t.body", kBodySize);
    std::optional<LedgerCheck> check;
    const auto end = [&] {
      if (!check) return;
      for (std::string& detail : check->end()) fault(KeyBytes().u32(check->tenant()), std::move(detail));
      check.reset();
    };
    each_slice(
        Moment::of_each_slice, kRows, {kFirstTenant, kFirst}, [](Params&) {},
        [&](const Rows& rows) {
          std::optional<LedgerRows> reader;  // as of this slice
          for (std::size_t row = 0; row < rows.size(); ++row) {
            const model::TenantId tenant = tenant_at(rows, row, 0);
            const std::uint64_t first = unsigned_at(rows, row, 1);
            if (check && check->tenant() != tenant) end();
            if (!check || !reader) reader.emplace(connection_, tenant);
            if (!check) check.emplace(tenant);
            const KeyBytes key = ledger_row_key(tenant, first);
            look_at({rows, row, std::string(key.view())}, [&](const Entry& entry) {
              known_tenant(entry, tenant);
              const LedgerRow entries = decode_ledger_row(key, entry.bytes(2));
              // A row may have a single entry, so the next rows' records are read with it.
              if (!reader->expects(first, first + entries.entries.size())) reader->expect(first, kNoEnd);
              for (std::string& detail : check->take(*reader, entries)) fault(entry.key, std::move(detail));
            });
          }
        });
    end();
  }

  void ledger_parts() {
    begin("ledger_subtree", kOfLedger);
    static const Slices kSubtrees =
        slices("runwarden.ledger_subtree t", {"tenant", "height", "number"},
               "t.body, (SELECT l.size FROM runwarden.ledger l WHERE l.tenant = t.tenant) AS ledger_size", kBodySize);
    walk(kSubtrees, {kFirstTenant, kFirstTenant, kFirst}, [&](const Entry& entry) {
      const auto height = static_cast<unsigned>(entry.number(1));
      decode_subtree(subtree_key(entry.tenant(), height, unsigned_at(entry.rows, entry.row, 2)), entry.bytes(3));
      want(!entry.is_null(4) && is_kept_height(height) && entry.number(2) < entry.number(4) >> height, entry,
           "the ledger has no such subtree");
    });
    begin("ledger_record", kOfLedger);
    static const Slices kRecords = slices("runwarden.ledger_record t", {"tenant", "kind", "name"}, "t.body", kBodySize);
    each_slice(
        Moment::of_each_slice, kRecords, {kFirstTenant, kFirstTenant, Bytes()}, [](Params&) {},
        [&](const Rows& rows) {
          std::map<model::TenantId, LedgerRows> readers;  // as of this slice
          for (std::size_t row = 0; row < rows.size(); ++row) {
            const auto kind = static_cast<ledger::Kind>(rows.number(row, 1));
            const KeyBytes key = ledger_record_key(tenant_at(rows, row, 0), kind, rows.bytes(row, 2));
            look_at({rows, row, std::string(key.view())}, [&](const Entry& entry) {
              const LedgerRecord record = decode_ledger_record(key, entry.bytes(3));
              const auto found = readers.try_emplace(entry.tenant(), connection_, entry.tenant()).first->second.row_of(record.index);
              const bool named = found && found->names[record.index - found->first] == entry.bytes(2) &&
                                 found->entries[record.index - found->first].kind == kind;
              want(named, entry, "its entry is missing or belongs to a different record");
            });
          }
        });
    begin("ledger_body", kOfLedger);
    static const Slices kBodies =
        slices("runwarden.ledger_body t", {"tenant", "entry"},
               "t.body, (SELECT l.size FROM runwarden.ledger l WHERE l.tenant = t.tenant) AS ledger_size", kBodySize);
    walk(kBodies, {kFirstTenant, kFirst}, [&](const Entry& entry) {
      decode_ledger_body(ledger_row_key(entry.tenant(), unsigned_at(entry.rows, entry.row, 1)), entry.bytes(2));
      want(!entry.is_null(3) && entry.number(1) < entry.number(3), entry, "no entry has that index");
    });
  }

  // Runs that lanes opened, minus those that they ended.
  void open_counts() {
    begin("lane", kOfIndex);
    const Rows rows = connection_.query(
        "SELECT (SELECT coalesce(sum(open_runs), 0)::bigint FROM runwarden.lane), (SELECT count(*) FROM runwarden.open_run), (SELECT "
        "count(*) FROM runwarden.lane)");
    verified_.entries[table_] += unsigned_at(rows, 0, 2);
    if (rows.number(0, 0) != rows.number(0, 1)) {
      fault({}, "they count " + std::to_string(rows.number(0, 0)) + " open runs, but there are " + std::to_string(rows.number(0, 1)));
    }
  }

  void canaries() {
    begin("canary", kNone);
    static const Slices kCanaries = slices("runwarden.canary t", {"name"}, "t.body", kBodySize);
    walk(kCanaries, {std::string()}, [&](const Entry& entry) { decode_run(place_key(0, {}), entry.bytes(1)); });
  }

  const MaintenanceContext& context_;
  std::unique_ptr<Connection> session_;
  Connection& connection_;
  const char* table_ = "";  // under check
  const char* remedy_ = "";
  std::set<model::TenantId> known_tenants_;
  LedgerStanding ledger_;
  std::uint64_t start_ = 0;  // the last one given out
  // Of the day:
  std::int64_t from_ms_ = 0;
  std::int64_t end_ms_ = 0;
  std::set<Value> numbered_;
  std::map<Value, std::uint64_t> borne_;  // how many runs should be counted
  std::set<model::TenantId> unreadable_;  // tenants with a run that cannot be read
  std::uint64_t looked_at_ = 0;
  std::uint64_t all_ = 0;
  Verified verified_;
};

}  // namespace

Result<Verified> verify(const ConnectSettings& connect, const MaintenanceContext& maintenance) {
  return guarded([&]() -> Result<Verified> { return Verifying(connect, maintenance).run(); });
}

}  // namespace runwarden::store::postgres
