// Imports the lines of an export in one transaction.
//
// Lines are gathered and stored table by table: the rows under their keys are read, each line is decided in order, and what is new is
// written.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/digest.h"
#include "base/json_text.h"
#include "model/cluster.h"
#include "model/dimensions.h"
#include "model/record_ids.h"
#include "store/change_codec.h"
#include "store/postgres/database_clock.h"
#include "store/postgres/group_rows.h"
#include "store/postgres/group_writer.h"
#include "store/postgres/keys.h"
#include "store/postgres/maintenance/answer_row.h"
#include "store/postgres/maintenance/import_ledger.h"
#include "store/postgres/maintenance/import_tally.h"
#include "store/postgres/maintenance/importing_groups.h"
#include "store/postgres/maintenance/importing_opinions.h"
#include "store/postgres/maintenance/importing_reviews.h"
#include "store/postgres/maintenance/importing_webhooks.h"
#include "store/postgres/maintenance/postgres_maintenance.h"
#include "store/postgres/maintenance/session.h"
#include "store/postgres/note.h"
#include "store/postgres/open_runs.h"
#include "store/postgres/schema.h"
#include "store/postgres/watch.h"
#include "store/record_lines.h"

namespace runwarden::store::postgres {
namespace {

constexpr std::size_t kLinesAtOnce = 2000;
constexpr std::size_t kBytesAtOnce = std::size_t{8} << 20;
constexpr std::uint64_t kReportEvery = 256;
constexpr std::size_t kHalfBytes = 16;

// The rows at places: $1 tenant, $2 times, $3 numbers; between $4 and $5 by time.
#define RW_AT(columns, table)                                                                         \
  "SELECT t.time_ms, t.seq, " columns " FROM unnest($2, $3) AS w(time_ms, seq) JOIN runwarden." table \
  " t ON t.time_ms = w.time_ms AND t.seq = w.seq "                                                    \
  "WHERE t.tenant = $1 AND t.time_ms BETWEEN $4 AND $5"
constexpr const char* kRunsAt = RW_AT(
    "CASE WHEN t.state = 0 THEN coalesce((SELECT o.body FROM runwarden.open_run o WHERE o.tenant = t.tenant AND o.time_ms = t.time_ms "
    "AND o.seq = t.seq), ''::bytea) ELSE t.body END, t.run_id",
    "run");
constexpr const char* kFailuresAt = RW_AT("t.body", "failure");
constexpr const char* kChangesAt = RW_AT("t.body", "change");
constexpr const char* kPoliciesAt = RW_AT("t.body", "policy");
#undef RW_AT
// The same for parts of runs; $6 distinguishes them.
#define RW_PART_AT(part, columns, table)                                                                                    \
  "SELECT t.time_ms, t.seq, t." part ", " columns " FROM unnest($2, $3, $6) AS w(time_ms, seq, part) JOIN runwarden." table \
  " t ON t.time_ms = w.time_ms AND t.seq = w.seq AND t." part " = w.part WHERE t.tenant = $1 AND t.time_ms BETWEEN $4 AND $5"
constexpr const char* kPreviousAt = RW_PART_AT("revision", "t.body", "former");
constexpr const char* kEventsAt = RW_PART_AT("first", "t.body", "event");
constexpr const char* kEventIdsAt = RW_PART_AT("half", "0", "event_id");
#undef RW_PART_AT

constexpr const char* kHeads = "SELECT run_id FROM runwarden.head WHERE tenant = $1 AND run_id = ANY($2)";
constexpr const char* kAnswersOf =
    "SELECT identity, content, created_ms, kind, time_ms, seq, revision, answer FROM runwarden.idempotency WHERE tenant = $1 AND identity "
    "= ANY($2)";

constexpr const char* kPutRuns =
    "INSERT INTO runwarden.run (tenant, time_ms, seq, run_id, revision, state, source, max_score, fired, content, body) "
    "SELECT $1, u.time_ms, u.seq, u.run_id, u.revision, u.state, u.source, u.max_score, u.fired::text[], u.content, u.body "
    "FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11) AS u(time_ms, seq, run_id, revision, state, source, max_score, fired, content, "
    "body)";
constexpr const char* kPutHeads =
    "INSERT INTO runwarden.head (tenant, run_id, time_ms, seq) SELECT $1, u.run_id, u.time_ms, u.seq FROM unnest($2, $3, $4) AS u(run_id, "
    "time_ms, seq) "
    "ORDER BY u.run_id";
constexpr const char* kPutPrevious =
    "INSERT INTO runwarden.former (tenant, time_ms, seq, revision, body) SELECT $1, * FROM unnest($2, $3, $4, $5)";
constexpr const char* kPutEvents =
    "INSERT INTO runwarden.event (tenant, time_ms, seq, first, count, received_ms, bytes, body) SELECT $1, * FROM unnest($2, $3, $4, $5, "
    "$6, $7, $8)";
constexpr const char* kPutEventIds = "INSERT INTO runwarden.event_id (tenant, time_ms, seq, half) SELECT $1, * FROM unnest($2, $3, $4)";
constexpr const char* kPutFailures =
    "INSERT INTO runwarden.failure (tenant, time_ms, seq, run_time_ms, run_seq, detector, severity, score, shadow, fingerprint, body) "
    "SELECT $1, u.time_ms, u.seq, u.run_time_ms, u.run_seq, u.detector, u.severity, u.score, u.shadow <> 0, u.fingerprint, u.body "
    "FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11) AS u(time_ms, seq, run_time_ms, run_seq, detector, severity, score, shadow, "
    "fingerprint, body)";
constexpr const char* kPutChanges =
    "INSERT INTO runwarden.change (tenant, time_ms, seq, kind, received_ms, body) SELECT $1, * FROM unnest($2, $3, $4, $5, $6)";
constexpr const char* kPutPolicy =
    "INSERT INTO runwarden.policy (tenant, policy, revision, time_ms, seq, author, content, received_ms, body) VALUES ($1, $2, $3, $4, $5, "
    "$6, $7, $8, $9)";
constexpr const char* kPutAnswers =
    "INSERT INTO runwarden.idempotency (tenant, identity, content, created_ms, kind, time_ms, seq, revision, answer) "
    "SELECT $1, u.identity, u.content, u.created_ms, u.kind, u.time_ms, u.seq, u.revision, nullif(u.answer, ''::bytea) "
    "FROM unnest($2, $3, $4, $5, $6, $7, $8, $9) AS u(identity, content, created_ms, kind, time_ms, seq, revision, answer)";
// Returns a row if it changed anything: the name is new, or its highest revision rose.
constexpr const char* kRaiseRevision =
    "INSERT INTO runwarden.policy_head AS h (tenant, policy, highest) VALUES ($1, $2, $3::text::numeric) ON CONFLICT (tenant, policy) "
    "DO UPDATE SET highest = excluded.highest WHERE h.highest < excluded.highest RETURNING 1";

// An array as text, because rows of arrays cannot be unnested.
std::string array_text(const std::vector<std::string>& values) {
  std::string text = "{";
  for (const std::string& value : values) {
    text += text.size() == 1 ? "\"" : ",\"";
    for (const char c : value) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += '"';
  }
  return text + "}";
}

// Throws BadLine for a text that its column cannot hold.
void want_text(const std::string& what, std::string_view text) {
  if (is_text(text)) return;
  std::string quoted;
  append_json_string(quoted, text);
  throw BadLine(what + " " + quoted + " contains a NUL or is not UTF-8, which PostgreSQL cannot store");
}

void want_texts(const RecordLine& record) {
  if (const auto* const line = std::get_if<RunLine>(&record)) {
    want_text("the run", line->stored.run.run_id);
    for (const std::string& detector : line->stored.run.fired) want_text("the run's detector", detector);
  }
  if (const auto* const failure = std::get_if<model::FailureRecord>(&record)) want_text("the failure's detector", failure->detector_key);
  if (const auto* const change = std::get_if<model::ChangeRecord>(&record)) want_text("the change's kind", change->kind);
  if (const auto* const policy = std::get_if<model::PolicyRecord>(&record)) {
    want_text("the policy", policy->policy);
    want_text("the policy's revision", policy->revision);
  }
  if (const auto* const name = std::get_if<PolicyNameLine>(&record)) want_text("the policy", name->policy);
  if (const auto* const review = std::get_if<ReviewLine>(&record)) {
    want_text("the review's detector", review->detector_key);
    want_text("the version of the review's detector", review->detector_version);
    want_text("the settings of the review's detector", review->settings_hash);
  }
}

// A record of an older version is counted in groups from here on, as it would be if a store of that version were opened.
void bring_up(RunLine& line, const std::vector<std::string>& dimension_names) {
  model::RunRecord& run = line.stored.run;
  if (run.grouped || line.previous || (line.stored.buffering && line.stored.failures.empty())) return;
  model::RunOutline none;  // of a version that kept no outlines
  none.left_out = 1;
  run.dimensions = model::dimensions_of(run.outline.value_or(none), run.document, dimension_names);
  run.grouped = true;
}

bool bring_up(model::FailureRecord& failure) {
  if (failure.grouped || failure.shadow) return false;
  model::read_summary(failure);
  failure.executed_ms = failure.run.time_ms;
  failure.grouped = true;
  return true;
}

// The places of rows as arrays, with their bounds in time.
struct Places {
  std::vector<std::int64_t> times;
  std::vector<std::int64_t> seqs;
  void add(const model::RecordKey& key) {
    times.push_back(key.time_ms);
    seqs.push_back(number_of(key.seq));
  }
  bool empty() const { return times.empty(); }
  std::int64_t first_ms() const { return *std::min_element(times.begin(), times.end()); }
  std::int64_t last_ms() const { return *std::max_element(times.begin(), times.end()); }
};

class Importing {
 public:
  Importing(const ConnectSettings& connect, const MaintenanceContext& maintenance, const LineSource& next)
      : connect_(connect),
        context_(maintenance),
        next_(next),
        session_(open_session(connect)),
        connection_(*session_),
        time_(maintenance.clock) {}

  Result<Imported> run() {
    time_.look(connection_);
    connection_.script(
        "BEGIN; SET LOCAL synchronous_commit = on; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0");
    ledger_.emplace(connection_, time_.now_ms());
    groups_.emplace(connection_, tally_, *ledger_, effect_rules());
    reviews_.emplace(connection_, tally_, *ledger_, effect_rules());
    try {
      for (;;) {
        auto line = next_();
        if (!line.ok()) return std::move(line.error());
        if (!line->has_value()) break;
        ++line_;
        take(**line);
        if (line_ % kReportEvery == 0) report_progress(context_, {"import", "lines", "", line_, 0});
      }
      if (open_) throw BadLine("the export ends without its last line: it was truncated; export it again");
      if (!tally_.any_tenant()) throw BadLine("nothing to import: an export begins with a header line");
    } catch (const BadLine& bad) {
      return refused(bad.what(), bad.number.value_or(line_));
    } catch (const BadValue& bad) {
      return refused(bad.what(), line_);
    } catch (const PgFault& fault) {
      if (fault.kind != PgFault::Kind::data) throw;
      const std::uint64_t first = line_ - std::min<std::uint64_t>(gathered_.lines, line_) + 1;
      return refused(
          "the database does not take a record of lines " + std::to_string(first) + " to " + std::to_string(line_) + ": " + fault.what(),
          line_);
    }
    finish();
    return tally_.take();
  }

 private:
  // What was gathered, by kind.
  struct Gathered {
    TakenLines<model::PolicyRecord> policies;
    TakenLines<PolicyNameLine> names;
    TakenLines<model::ChangeRecord> changes;
    TakenLines<RunLine> runs;
    TakenLines<RunLine> previous;
    TakenLines<EventsLine> events;
    TakenLines<EventIdsLine> ids;
    TakenLines<model::FailureRecord> failures;
    TakenLines<GroupLine> groups;
    TakenLines<TriageLine> entries;
    TakenLines<ReviewLine> reviews;
    TakenLines<OpinionLine> opinions;
    TakenLines<WebhookLine> webhooks;
    TakenLines<DeliveryLine> deliveries;
    TakenLines<IdempotentAnswer> answers;
    std::size_t lines = 0;
    std::size_t bytes = 0;
  };

  static Error refused(const std::string& why, std::uint64_t line) {
    return {Code::bad_request, "import: line " + std::to_string(line) + ": " + why + "; nothing was imported", {}, {}};
  }

  void take(const std::string& text) {
    ReadLine line = read_line(text);
    if (const auto* const header = std::get_if<HeaderLine>(&line.record)) return begin(*header, text);
    if (!open_) throw BadLine("expected the header line of an export");
    if (const auto* const end = std::get_if<EndLine>(&line.record)) return close(*end);
    digest_->add(text);
    digest_->add("\n");
    ++lines_;
    gather(std::move(line));
    ++gathered_.lines;
    gathered_.bytes += text.size();
    if (gathered_.lines >= kLinesAtOnce || gathered_.bytes >= kBytesAtOnce) store_gathered();
  }

  void begin(const HeaderLine& header, const std::string& text) {
    want_text("the tenant", header.tenant);
    if (open_) throw BadLine("another export begins here, but the previous one has no last line: it was truncated; export it again");
    digest_.emplace();
    digest_->add(text);
    digest_->add("\n");
    lines_ = 0;
    open_ = true;
    tenant_ = enter_tenant(connection_, header.tenant);
    groups_->begin(tenant_);
    refused_.clear();
    named_.clear();
    tally_.tenant(header.tenant);
    tenants_.insert(tenant_);
  }

  void close(const EndLine& end) {
    if (end.lines != lines_) {
      throw BadLine("the export has " + std::to_string(lines_) + " records, but its last line says " + std::to_string(end.lines) +
                    ": it is incomplete; export it again");
    }
    if (end.sha256 != to_hex(digest_->so_far()))
      throw BadLine("the export's SHA-256 does not match: the file was modified; export it again");
    store_gathered();
    groups_->count_noted();
    reviews_->settle(tenant_, groups_->known_since());
    open_ = false;
  }

  template <class Record>
  void gather_as(TakenLines<Record>& lines, ReadLine&& line) {
    lines.push_back({line_, std::move(line)});
  }

  void gather(ReadLine&& line) {
    want_texts(line.record);
    if (auto* const run = std::get_if<RunLine>(&line.record)) {
      const bool was_grouped = run->stored.run.grouped;
      bring_up(*run, context_.dimension_names);
      if (run->stored.run.grouped != was_grouped) line.bytes.reset();
      return gather_as(run->previous ? gathered_.previous : gathered_.runs, std::move(line));
    }
    if (auto* const failure = std::get_if<model::FailureRecord>(&line.record)) {
      if (bring_up(*failure)) line.bytes.reset();
      return gather_as(gathered_.failures, std::move(line));
    }
    if (const auto* const ids = std::get_if<EventIdsLine>(&line.record)) {
      for (const std::string& half : ids->halves) {
        if (half.size() != kHalfBytes) throw BadValue("an event's id has " + std::to_string(half.size()) + " bytes");
      }
      return gather_as(gathered_.ids, std::move(line));
    }
    if (std::holds_alternative<model::PolicyRecord>(line.record)) return gather_as(gathered_.policies, std::move(line));
    if (std::holds_alternative<PolicyNameLine>(line.record)) return gather_as(gathered_.names, std::move(line));
    if (std::holds_alternative<model::ChangeRecord>(line.record)) return gather_as(gathered_.changes, std::move(line));
    if (std::holds_alternative<EventsLine>(line.record)) return gather_as(gathered_.events, std::move(line));
    if (std::holds_alternative<IdempotentAnswer>(line.record)) return gather_as(gathered_.answers, std::move(line));
    if (std::holds_alternative<GroupLine>(line.record)) return gather_as(gathered_.groups, std::move(line));
    if (std::holds_alternative<TriageLine>(line.record)) return gather_as(gathered_.entries, std::move(line));
    if (std::holds_alternative<ReviewLine>(line.record)) return gather_as(gathered_.reviews, std::move(line));
    if (std::holds_alternative<OpinionLine>(line.record)) return gather_as(gathered_.opinions, std::move(line));
    if (std::holds_alternative<WebhookLine>(line.record)) return gather_as(gathered_.webhooks, std::move(line));
    if (std::holds_alternative<DeliveryLine>(line.record)) return gather_as(gathered_.deliveries, std::move(line));
  }

  void store_gathered() {
    make_room_for(gathered_);
    store_policies();
    store_names();
    store_changes();
    store_runs();
    store_previous();
    store_events();
    store_event_ids();
    store_failures();
    if (!gathered_.groups.empty() || !gathered_.entries.empty()) groups_->count_noted();
    groups_->store_groups(gathered_.groups);
    groups_->store_entries(gathered_.entries);
    reviews_->store(tenant_, gathered_.reviews);
    store_opinions(connection_, tally_, tenant_, gathered_.opinions, refused_);
    store_webhooks(connection_, tally_, tenant_, gathered_.webhooks);
    store_deliveries(connection_, tally_, tenant_, gathered_.deliveries);
    store_answers();
    gathered_ = {};
  }

  // Uses its own connection, before anything is written for these days. Partitions that stay empty because the import fails do no harm.
  void make_room_for(const Gathered& gathered) {
    std::set<std::int64_t> days;
    const auto need = [&](const model::RecordKey& key) {
      days.insert(day_of(key.time_ms));
    };
    for (const auto& line : gathered.runs) need(line.record().stored.run.key);
    for (const auto& line : gathered.previous) need(line.record().stored.run.key);
    for (const auto& line : gathered.events) need(line.record().run);
    for (const auto& line : gathered.ids) need(line.record().run);
    for (const auto& line : gathered.failures) need(line.record().key);
    for (const std::int64_t day : days) {
      if (!days_.insert(day).second) continue;
      if (!partitions_) partitions_ = std::make_unique<Connection>(patient(connect_));
      make_partitions(*partitions_, day * kDayMs);
    }
  }

  Params of_tenant() const { return std::move(Params().i32(static_cast<std::int32_t>(tenant_))); }

  Params at(const Places& places) const {
    return std::move(of_tenant().i64s(places.times).i64s(places.seqs).i64(places.first_ms()).i64(places.last_ms()));
  }

  // The values stored at these places, by place.
  std::map<model::RecordKey, std::string> bodies_at(const char* sql, const Places& places) {
    std::map<model::RecordKey, std::string> found;
    if (places.empty()) return found;
    const Rows rows = connection_.query(sql, at(places));
    for (std::size_t row = 0; row < rows.size(); ++row) {
      found.emplace(model::RecordKey{rows.number(row, 0), static_cast<std::uint64_t>(rows.number(row, 1))}, rows.bytes(row, 2));
    }
    return found;
  }

  void store_policies() {
    Places places;
    for (const auto& line : gathered_.policies) places.add(line.record().key);
    auto there = bodies_at(kPoliciesAt, places);
    for (const auto& line : gathered_.policies) {
      const model::PolicyRecord& policy = line.record();
      const KeyBytes key = place_key(tenant_, policy.key);
      const std::string value = line.line.value(key);
      const std::string what = "the revision \"" + policy.revision + "\" of the policy \"" + policy.policy + "\"";
      if (!tally_.is_free(there, policy.key, key, value, line, what)) continue;
      const Rows same = connection_.query("SELECT 1 FROM runwarden.policy WHERE tenant = $1 AND policy = $2 AND revision = $3",
                                          std::move(of_tenant().text(policy.policy).text(policy.revision)));
      if (!same.empty()) {
        there.erase(policy.key);
        tally_.conflict(line.number, what + " already exists with a different time; the stored record was kept");
        continue;
      }
      Params row = of_tenant();
      row.text(policy.policy).text(policy.revision).i64(policy.key.time_ms).i64(number_of(policy.key.seq)).text(column_text(policy.author));
      connection_.query(kPutPolicy, std::move(row.bytes(view(policy.content)).i64(policy.received_ms).bytes(value)));
      if (ledger_->is_on())
        ledger_->add(tenant_, ledger::Kind::policy, place_name(policy.key), body_of(decode_policy(key, value), ledger::CameBy::import));
      raise_revision(policy.policy, policy.revision);
      named_.insert(policy.policy);
      tally_.stored("policy", policy.key);
      policies_of_.insert(tenant_);
    }
  }

  // Notes a policy's name and, if it is a whole number, its revision; false if that changes nothing.
  bool raise_revision(const std::string& policy, const std::string& revision) {
    return !connection_.query(kRaiseRevision, std::move(of_tenant().text(policy).text(ascii::is_number(revision) ? revision : "-1")))
                .empty();
  }

  void store_names() {
    for (const auto& line : gathered_.names) {
      const bool raised = raise_revision(line.record().policy, line.record().highest);
      raised || named_.contains(line.record().policy) ? tally_.stored("policy_name", {}) : tally_.already_there();
    }
  }

  void store_changes() {
    Places places;
    for (const auto& line : gathered_.changes) places.add(line.record().key);
    auto there = bodies_at(kChangesAt, places);
    const auto policies = bodies_at(kPoliciesAt, places);
    Places put;
    std::vector<std::string> kinds;
    std::vector<std::int64_t> received;
    std::vector<std::string> bodies;
    for (const auto& line : gathered_.changes) {
      const model::ChangeRecord& change = line.record();
      const KeyBytes key = place_key(tenant_, change.key);
      const std::string value = line.line.value(key);
      if (!tally_.is_free(there, change.key, key, value, line, "the change " + change.id)) continue;
      if (is_of_policy(change) && !policies.contains(change.key)) {
        there.erase(change.key);
        tally_.conflict(line.number,
                        "the change " + change.id + " belongs to a policy revision that was not imported, so it was skipped too");
        continue;
      }
      put.add(change.key);
      kinds.push_back(change.kind);
      received.push_back(change.received_ms);
      bodies.push_back(value);
      if (ledger_->is_on() && !is_of_policy(change)) {
        ledger_->add(tenant_, ledger::Kind::change, place_name(change.key), body_of(decode_change(key, value), ledger::CameBy::import));
      }
      tally_.stored("change", change.key);
    }
    if (!put.empty())
      connection_.query(kPutChanges, std::move(of_tenant().i64s(put.times).i64s(put.seqs).texts(kinds).i64s(received).byteas(bodies)));
  }

  // The runIds of the gathered runs that are taken.
  std::set<std::string> taken_ids() {
    std::vector<std::string> ids;
    Places spelled;
    for (const auto& line : gathered_.runs) {
      const std::string& run_id = line.record().stored.run.run_id;
      ids.push_back(run_id);
      if (const auto place = model::parse_run_id(run_id)) spelled.add(*place);
    }
    std::set<std::string> taken;
    if (ids.empty()) return taken;
    const Rows heads = connection_.query(kHeads, std::move(of_tenant().texts(ids)));
    for (std::size_t row = 0; row < heads.size(); ++row) taken.emplace(heads.bytes(row, 0));
    if (spelled.empty()) return taken;
    // A client may have made up an id that looks like one of ours, so the record decides.
    const Rows runs = connection_.query(kRunsAt, at(spelled));
    for (std::size_t row = 0; row < runs.size(); ++row) taken.emplace(runs.bytes(row, 3));
    return taken;
  }

  // For a complete revision.
  void append_run(const KeyBytes& key, const std::string& value) {
    const model::RunRecord run = decode_run(key, value).run;
    ledger_->add(tenant_, ledger::Kind::run, run_name(run.key, run.revision), body_of(run, ledger::CameBy::import));
  }

  struct RunRows {
    Places places;
    std::vector<std::string> ids;
    std::vector<std::int32_t> revisions;
    std::vector<std::int16_t> states;
    std::vector<std::int16_t> sources;
    std::vector<std::int16_t> scores;
    std::vector<std::string> contents;
    std::vector<std::string> bodies;
    std::vector<std::string> fired;  // of each run, in the database's syntax for arrays
    // Runs whose id does not spell their place.
    Places heads;
    std::vector<std::string> head_ids;

    void add(const model::RunRecord& run, const std::string& body) {
      places.add(run.key);
      ids.push_back(run.run_id);
      revisions.push_back(static_cast<std::int32_t>(run.revision));
      states.push_back(static_cast<std::int16_t>(run.state));
      sources.push_back(static_cast<std::int16_t>(run.source));
      scores.push_back(static_cast<std::int16_t>(run.max_score));
      contents.emplace_back(view(run.content));
      bodies.push_back(body);
      fired.push_back(array_text(run.fired));
      if (run.run_id == model::make_run_id(run.key)) return;
      heads.add(run.key);
      head_ids.push_back(run.run_id);
    }
  };

  void store_runs() {
    Places places;
    for (const auto& line : gathered_.runs) places.add(line.record().stored.run.key);
    auto there = bodies_at(kRunsAt, places);
    std::set<std::string> taken = taken_ids();
    RunRows put;
    for (const auto& line : gathered_.runs) {
      const StoredRun& stored_run = line.record().stored;
      const model::RunRecord& run = stored_run.run;
      const KeyBytes key = place_key(tenant_, run.key);
      const std::string value = line.line.value(key);
      const std::string what = "the run \"" + run.run_id + "\"";
      const std::uint64_t conflicts = tally_.conflicts();
      if (!tally_.is_free(there, run.key, key, value, line, what)) {
        if (tally_.conflicts() != conflicts) refused_.insert(run.key);
        continue;
      }
      if (!taken.insert(run.run_id).second) {
        there.erase(run.key);
        refused_.insert(run.key);
        tally_.conflict(line.number, what + " already exists with a different receive time; the stored record was kept");
        continue;
      }
      put.add(run, stored_run.buffering ? std::string() : value);
      if (stored_run.buffering) open_runs_.push_back({stored_run, value});
      groups_->note_run(run);
      if (ledger_->is_on() && !stored_run.buffering) append_run(key, value);
      tally_.stored("run", run.key);
    }
    if (put.places.empty()) return;
    Params rows = of_tenant();
    rows.i64s(put.places.times)
        .i64s(put.places.seqs)
        .texts(put.ids)
        .i32s(put.revisions)
        .i16s(put.states)
        .i16s(put.sources)
        .i16s(put.scores);
    connection_.query(kPutRuns, std::move(rows.texts(put.fired).byteas(put.contents).byteas(put.bodies)));
    if (!put.heads.empty())
      connection_.query(kPutHeads, std::move(of_tenant().texts(put.head_ids).i64s(put.heads.times).i64s(put.heads.seqs)));
    store_open_runs();
  }

  // Open runs count as heard of just now, so that clients that go on with them are not cut off. The next look at them finds out when they
  // are due.
  void store_open_runs() {
    const std::int64_t now_ms = time_.now_ms();
    for (const OpenRun& open : open_runs_) {
      const Buffering& buffering = *open.stored.buffering;
      const model::RunRecord& run = open.stored.run;
      const Awaits awaits = awaited_by(run);
      Params row = of_tenant();
      row.text(run.run_id).i64(run.key.time_ms).i64(number_of(run.key.seq)).i32(static_cast<std::int32_t>(run.revision));
      row.i64(buffering.first_ms)
          .i64(now_ms)
          .i32(static_cast<std::int32_t>(buffering.total))
          .i32(static_cast<std::int32_t>(buffering.previous));
      row.i64(number_of(buffering.bytes))
          .i64_or_null(buffering.ending ? std::optional<std::int64_t>(static_cast<std::int64_t>(*buffering.ending)) : std::nullopt);
      row.i64_or_null(buffering.ending ? std::optional<std::int64_t>(buffering.cut) : std::nullopt).boolean(buffering.tail_final);
      row.i64(now_ms).i16(static_cast<std::int16_t>(awaits)).i64_or_null(awaits == Awaits::spans ? std::optional(now_ms) : std::nullopt);
      connection_.query(
          "INSERT INTO runwarden.open_run (tenant, run_id, time_ms, seq, revision, first_ms, last_ms, total, former, bytes, ending, cut, "
          "tail_final, "
          "due_ms, awaits, root_ms, body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::bigint::smallint, $12::bigint::int, $13, "
          "$14, $15, $16, $17)",
          std::move(row.bytes(open.value)));
      ++opened_;
    }
    open_runs_.clear();
  }

  // A part of a run: the run's key, and what distinguishes the part from others.
  template <class Part>
  using PartPlace = std::pair<model::RecordKey, Part>;

  template <class Part>
  std::map<PartPlace<Part>, std::string> parts_at(const char* sql, const Places& places, Params params) {
    std::map<PartPlace<Part>, std::string> found;
    if (places.empty()) return found;
    const Rows rows = connection_.query(sql, std::move(params));
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const model::RecordKey run{rows.number(row, 0), static_cast<std::uint64_t>(rows.number(row, 1))};
      if constexpr (std::is_same_v<Part, std::string>) {
        found.emplace(PartPlace<Part>(run, rows.bytes(row, 2)), std::string());
      } else {
        found.emplace(PartPlace<Part>(run, static_cast<Part>(rows.number(row, 2))), rows.bytes(row, 3));
      }
    }
    return found;
  }

  void store_previous() {
    Places places;
    std::vector<std::int32_t> revisions;
    for (const auto& line : gathered_.previous) {
      places.add(line.record().stored.run.key);
      revisions.push_back(static_cast<std::int32_t>(line.record().stored.run.revision));
    }
    if (places.empty()) return;
    auto there = parts_at<std::int32_t>(kPreviousAt, places, std::move(at(places).i32s(revisions)));
    Places put;
    std::vector<std::int32_t> put_revisions;
    std::vector<std::string> bodies;
    for (const auto& line : gathered_.previous) {
      const model::RunRecord& run = line.record().stored.run;
      if (refused_.contains(run.key)) continue;
      const KeyBytes key = place_key(tenant_, run.key);
      const std::string value = line.line.value(key);
      const auto revision = static_cast<std::int32_t>(run.revision);
      if (!tally_.is_free(there, PartPlace<std::int32_t>(run.key, revision), key, value, line, kPart)) continue;
      put.add(run.key);
      if (ledger_->is_on()) append_run(key, value);
      put_revisions.push_back(revision);
      bodies.push_back(value);
      tally_.stored("run", run.key);
    }
    if (!put.empty())
      connection_.query(kPutPrevious, std::move(of_tenant().i64s(put.times).i64s(put.seqs).i32s(put_revisions).byteas(bodies)));
  }

  static std::int32_t first_of(const EventsLine& events) { return events.packed ? kPackedFirst : static_cast<std::int32_t>(events.first); }

  void store_events() {
    Places places;
    std::vector<std::int32_t> firsts;
    for (const auto& line : gathered_.events) {
      places.add(line.record().run);
      firsts.push_back(first_of(line.record()));
    }
    if (places.empty()) return;
    auto there = parts_at<std::int32_t>(kEventsAt, places, std::move(at(places).i32s(firsts)));
    Places put;
    std::vector<std::int32_t> put_firsts;
    std::vector<std::int32_t> counts;
    std::vector<std::int64_t> received;
    std::vector<std::int64_t> bytes;
    std::vector<std::string> bodies;
    for (const auto& line : gathered_.events) {
      const EventsLine& events = line.record();
      if (refused_.contains(events.run)) continue;
      const std::int32_t first = first_of(events);
      const KeyBytes key = events_place({tenant_, events.run}, first);
      const std::string value = line.line.value(key);
      if (!tally_.is_free(there, PartPlace<std::int32_t>(events.run, first), key, value, line, kPart)) continue;
      const EventChunk head = decode_events_head(key, value);
      put.add(events.run);
      put_firsts.push_back(first);
      counts.push_back(static_cast<std::int32_t>(head.count));
      received.push_back(head.received_ms);
      bytes.push_back(number_of(head.bytes));
      bodies.push_back(value);
      tally_.stored("events", events.run);
    }
    if (put.empty()) return;
    Params rows = of_tenant();
    rows.i64s(put.times).i64s(put.seqs).i32s(put_firsts).i32s(counts).i64s(received).i64s(bytes);
    connection_.query(kPutEvents, std::move(rows.byteas(bodies)));
  }

  void store_event_ids() {
    Places places;
    std::vector<std::string> halves;
    for (const auto& line : gathered_.ids) {
      for (const std::string& half : line.record().halves) {
        places.add(line.record().run);
        halves.push_back(half);
      }
    }
    if (places.empty()) return;
    auto there = parts_at<std::string>(kEventIdsAt, places, std::move(at(places).byteas(halves)));
    Places put;
    std::vector<std::string> put_halves;
    for (const auto& line : gathered_.ids) {
      const model::RecordKey& run = line.record().run;
      if (refused_.contains(run)) continue;
      const std::size_t before = put_halves.size();
      for (const std::string& half : line.record().halves) {
        if (!there.emplace(PartPlace<std::string>(run, half), std::string()).second) continue;
        put.add(run);
        put_halves.push_back(half);
      }
      put_halves.size() != before ? tally_.stored("event_ids", run) : tally_.already_there();
    }
    if (!put.empty()) connection_.query(kPutEventIds, std::move(of_tenant().i64s(put.times).i64s(put.seqs).byteas(put_halves)));
  }

  // A line has a failure without its review, but the stored failure may have one.
  static std::string as_reviewed_there(const std::map<model::RecordKey, std::string>& there, const KeyBytes& key,
                                       const TakenLine<model::FailureRecord>& line) {
    std::string value = line.line.value(key);
    const auto found = there.find(line.record().key);
    if (found == there.end()) return value;
    try {
      return with_verdict(key, value, decode_failure_head(key, found->second).reviewed);
    } catch (const BadValue&) {  // is_free() reports it
      return value;
    }
  }

  void store_failures() {
    Places places;
    for (const auto& line : gathered_.failures) places.add(line.record().key);
    auto there = bodies_at(kFailuresAt, places);
    Places put;
    Places runs;
    std::vector<std::string> detectors;
    std::vector<std::int16_t> severities;
    std::vector<std::int16_t> scores;
    std::vector<std::int16_t> shadows;
    std::vector<std::string> fingerprints;
    std::vector<std::string> bodies;
    for (const auto& line : gathered_.failures) {
      const model::FailureRecord& failure = line.record();
      if (refused_.contains(failure.run)) continue;
      const KeyBytes key = place_key(tenant_, failure.key);
      const std::string value = as_reviewed_there(there, key, line);
      if (!tally_.is_free(there, failure.key, key, value, line, "the failure " + failure.id)) continue;
      groups_->note_failure(failure);
      put.add(failure.key);
      runs.add(failure.run);
      detectors.push_back(failure.detector_key);
      severities.push_back(static_cast<std::int16_t>(failure.severity));
      scores.push_back(static_cast<std::int16_t>(failure.score));
      shadows.push_back(failure.shadow ? 1 : 0);
      fingerprints.emplace_back(view(model::cluster_key(failure.fingerprint)));
      bodies.push_back(value);
      tally_.stored(failure.shadow ? "shadow_failure" : "failure", failure.key);
    }
    if (put.empty()) return;
    Params rows = of_tenant();
    rows.i64s(put.times).i64s(put.seqs).i64s(runs.times).i64s(runs.seqs).texts(detectors).i16s(severities).i16s(scores).i16s(shadows);
    connection_.query(kPutFailures, std::move(rows.byteas(fingerprints).byteas(bodies)));
  }

  void store_answers() {
    std::vector<std::string> identities;
    for (const auto& line : gathered_.answers) identities.emplace_back(view(line.record().idempotency.identity));
    if (identities.empty()) return;
    // Answers are compared by what they say, because their rows have more than one form.
    std::map<std::string, std::string> there;
    const Rows rows = connection_.query(kAnswersOf, std::move(of_tenant().byteas(identities)));
    for (std::size_t row = 0; row < rows.size(); ++row) there.emplace(rows.bytes(row, 0), said_by(rows, row));
    std::vector<std::string> put;
    std::vector<std::string> contents;
    std::vector<std::int64_t> created;
    std::vector<std::int16_t> kinds;
    Places records;
    std::vector<std::int32_t> revisions;
    std::vector<std::string> answers;
    for (const auto& line : gathered_.answers) {
      const IdempotentAnswer& answer = line.record();
      const bool of_run = answer.kind == IdempotentAnswer::Kind::run || answer.kind == IdempotentAnswer::Kind::events;
      if (of_run && refused_.contains(answer.record)) continue;
      const std::string identity(view(answer.idempotency.identity));
      const KeyBytes key = answer_key(tenant_, answer);
      const std::string value = encode_answer(key, answer);
      if (!tally_.is_free(there, identity, key, value, line, "an answer to this Idempotency-Key")) continue;
      put.push_back(identity);
      contents.emplace_back(view(answer.idempotency.content));
      created.push_back(answer.created_ms);
      kinds.push_back(static_cast<std::int16_t>(answer.kind));
      records.add(answer.record);
      revisions.push_back(static_cast<std::int32_t>(answer.revision));
      answers.push_back(answer.kind == IdempotentAnswer::Kind::events ? value : std::string());
      tally_.stored("answer", answer.record);
    }
    if (put.empty()) return;
    Params params = of_tenant();
    params.byteas(put).byteas(contents).i64s(created).i16s(kinds).i64s(records.times).i64s(records.seqs).i32s(revisions);
    connection_.query(kPutAnswers, std::move(params.byteas(answers)));
  }

  std::string said_by(const Rows& rows, std::size_t row) const {
    try {
      const IdempotentAnswer answer = answer_in(tenant_, rows, row, 0);
      return encode_answer(answer_key(tenant_, answer), answer);
    } catch (const BadValue&) {
      return {};
    }
  }

  // Does last what all writing transactions take turns for.
  void finish() {
    if (opened_ > 0) {
      connection_.query(
          "INSERT INTO runwarden.lane AS l (start, lane, epoch, batch, open_runs) VALUES (0, 0, 0, 0, $1) ON CONFLICT (start, lane) "
          "DO UPDATE SET open_runs = l.open_runs + excluded.open_runs",
          std::move(Params().i64(opened_)));
    }
    // Numbers of future records must begin above the imported ones.
    connection_.query("UPDATE runwarden.counter SET value = $1 WHERE name = 'start' AND value < $1",
                      std::move(Params().i64(number_of(tally_.highest_start()))));
    report_progress(context_, {"import", "lines", "", line_, line_});
    ledger_->write();
    CommitNotes notes;
    for (const model::TenantId tenant : tenants_) notes.note(tenant);
    connection_.run(log_statements(notes, time_.now_ms()));
    for (const model::TenantId tenant : policies_of_) {
      connection_.query(kWriteNote,
                        std::move(Params().i16(static_cast<std::int16_t>(Watch::What::policies)).i32(static_cast<std::int32_t>(tenant))));
    }
    commit_import();
  }

  // Sends no messages: they are for new events, and these happened before, elsewhere.
  EffectRules effect_rules() {
    EffectRules rules;
    rules.now_ms = time_.now_ms();
    rules.max_clusters = context_.max_clusters;
    rules.next_seq = [] { return std::uint64_t{0}; };
    rules.on_entry = [this](model::TenantId tenant, const model::ClusterKey& cluster, const model::TriageEntry& entry) {
      constexpr auto kByItself = ledger::CameBy::itself;
      if (ledger_->is_on())
        ledger_->add(tenant, ledger::Kind::triage, triage_name(cluster, entry.key), body_of(cluster, entry, kByItself), kByItself);
    };
    return rules;
  }

  void commit_import() {
    try {
      connection_.query("COMMIT");
    } catch (const PgFault& fault) {
      if (fault.kind != PgFault::Kind::lost) throw;
      throw StoreError(std::string("the connection was lost during the import's commit: ") + fault.what() +
                       "; either everything was stored or nothing. Import it again: existing records are only counted");
    }
  }

  struct OpenRun {
    StoredRun stored;
    std::string value;
  };
  static constexpr const char* kPart = "this part of the run";

  const ConnectSettings& connect_;
  const MaintenanceContext& context_;
  const LineSource& next_;
  std::unique_ptr<Connection> session_;
  Connection& connection_;
  DatabaseClock time_;
  std::unique_ptr<Connection> partitions_;
  std::set<std::int64_t> days_;  // days whose partitions exist
  model::TenantId tenant_ = 0;
  bool open_ = false;  // between a header and its end
  std::optional<Sha256> digest_;
  std::uint64_t line_ = 0;
  std::uint64_t lines_ = 0;  // of this export
  Gathered gathered_;
  std::vector<OpenRun> open_runs_;
  std::int64_t opened_ = 0;
  std::set<model::RecordKey> refused_;  // runs that met a conflict: what belongs to them is left out
  std::set<std::string> named_;         // policies named by revisions of this import
  std::set<model::TenantId> tenants_;   // of the exports
  std::set<model::TenantId> policies_of_;
  ImportTally tally_;
  std::optional<ImportLedger> ledger_;
  std::optional<GroupImport> groups_;
  std::optional<ReviewImport> reviews_;
};

}  // namespace

Result<Imported> import_lines(const ConnectSettings& connect, const MaintenanceContext& maintenance, const LineSource& next) {
  return guarded([&]() -> Result<Imported> { return Importing(connect, maintenance, next).run(); });
}

}  // namespace runwarden::store::postgres
