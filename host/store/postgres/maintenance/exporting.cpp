// Exports a tenant's rows as lines of JSON.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "store/change_codec.h"
#include "store/export_writer.h"
#include "store/group_codec.h"
#include "store/opinion_codec.h"
#include "store/postgres/group_rows.h"
#include "store/postgres/maintenance/answer_row.h"
#include "store/postgres/maintenance/postgres_maintenance.h"
#include "store/postgres/maintenance/session.h"
#include "store/postgres/reviews.h"
#include "store/postgres/row.h"
#include "store/postgres/schema.h"
#include "store/record_lines.h"
#include "store/review_codec.h"
#include "store/webhook_codec.h"

namespace runwarden::store::postgres {
namespace {

constexpr std::size_t kIdsALine = 1000;

// Slices: at most `most` rows, and of these about 4 MB or one row.
#define RW_SLICE_OF(columns, rows, most)                                                                                              \
  "SELECT * FROM (SELECT *, coalesce(sum(size) OVER (ORDER BY time_ms, seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS " \
  "before FROM ("                                                                                                                     \
  "SELECT " columns " FROM " rows " ORDER BY time_ms, seq LIMIT " most ") t) u WHERE before < 4194304 ORDER BY time_ms, seq"

constexpr const char* kPolicies = RW_SLICE_OF("time_ms, seq, body, octet_length(body) AS size",
                                              "runwarden.policy WHERE tenant = $1 AND (time_ms, seq) > ($2, $3)", "512");
constexpr const char* kChanges = RW_SLICE_OF("time_ms, seq, body, octet_length(body) AS size",
                                             "runwarden.change WHERE tenant = $1 AND (time_ms, seq) > ($2, $3)", "512");
// While a run is open, its record is in open_run. All that belongs to the run comes with it.
constexpr const char* kRuns = RW_SLICE_OF(
    "r.time_ms, r.seq, CASE WHEN r.state = 0 THEN o.body ELSE r.body END AS body, octet_length(r.body) + coalesce(octet_length(o.body), 0) "
    "+ coalesce((SELECT sum(octet_length(f.body)) FROM runwarden.former f WHERE f.tenant = r.tenant AND f.time_ms = r.time_ms AND f.seq = "
    "r.seq), 0) "
    "+ coalesce((SELECT sum(e.bytes) FROM runwarden.event e WHERE e.tenant = r.tenant AND e.time_ms = r.time_ms AND e.seq = r.seq), 0) AS "
    "size",
    "runwarden.run r LEFT JOIN runwarden.open_run o ON o.tenant = r.tenant AND o.time_ms = r.time_ms AND o.seq = r.seq AND r.state = 0 "
    "WHERE r.tenant = $1 AND r.time_ms >= $2 AND (r.time_ms, r.seq) > ($2, $3)",
    "128");
// Failures that no exported run lists: $4 whether they are of detectors on trial, $5 since when runs are exported, $6 and $7 runs that were
// not.
constexpr const char* kOtherFailures = RW_SLICE_OF(
    "f.time_ms, f.seq, CASE WHEN w.told THEN NULL ELSE f.body END AS body, CASE WHEN w.told THEN 0 ELSE octet_length(f.body) END AS size",
    "runwarden.failure f CROSS JOIN LATERAL (SELECT f.run_time_ms >= $5 "
    "AND EXISTS (SELECT 1 FROM runwarden.run r WHERE r.tenant = f.tenant AND r.time_ms = f.run_time_ms AND r.seq = f.run_seq) "
    "AND NOT EXISTS (SELECT 1 FROM unnest($6, $7) AS n(time_ms, seq) WHERE n.time_ms = f.run_time_ms AND n.seq = f.run_seq) AS told) w "
    "WHERE f.tenant = $1 AND f.time_ms >= $2 AND (f.time_ms, f.seq) > ($2, $3) AND f.shadow = $4",
    "2048");
constexpr const char* kOpinions = RW_SLICE_OF("time_ms, seq, body, octet_length(body) AS size",
                                              "runwarden.opinion WHERE tenant = $1 AND (time_ms, seq) > ($2, $3)", "512");
// Reviews from $4 on, and earlier ones that are in force for runs from then on: the last one of a failure or run.
const std::string kReviews =
    "SELECT * FROM (SELECT *, coalesce(sum(size) OVER (ORDER BY time_ms, seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS "
    "before FROM ("
    "SELECT o.time_ms, o.seq, o.body, octet_length(o.body) AS size FROM runwarden.review o WHERE o.tenant = $1 AND (o.time_ms, o.seq) > "
    "($2, $3) "
    "AND (o.time_ms >= $4 OR (o.run_time_ms >= $4 AND " +
    is_in_use("o") + ")) ORDER BY o.time_ms, o.seq LIMIT 512) t) u WHERE before < 4194304 ORDER BY time_ms, seq";
#undef RW_SLICE_OF

// For the runs from one place to another.
constexpr const char* kPrevious =
    "SELECT time_ms, seq, revision, body FROM runwarden.former WHERE tenant = $1 AND time_ms BETWEEN $2 AND $4 "
    "AND (time_ms, seq) >= ($2, $3) AND (time_ms, seq) <= ($4, $5) ORDER BY time_ms, seq, revision";
constexpr const char* kEvents =
    "SELECT time_ms, seq, first, count, received_ms, body FROM runwarden.event WHERE tenant = $1 AND time_ms BETWEEN $2 AND $4 "
    "AND (time_ms, seq) >= ($2, $3) AND (time_ms, seq) <= ($4, $5) ORDER BY time_ms, seq, first";
constexpr const char* kEventIds =
    "SELECT time_ms, seq, half FROM runwarden.event_id WHERE tenant = $1 AND time_ms BETWEEN $2 AND $4 "
    "AND (time_ms, seq) >= ($2, $3) AND (time_ms, seq) <= ($4, $5) ORDER BY time_ms, seq, half";
constexpr const char* kFailures =
    "SELECT f.time_ms, f.seq, f.shadow, f.body FROM runwarden.failure f JOIN unnest($4, $5) AS w(time_ms, seq) USING (time_ms, seq) "
    "WHERE f.tenant = $1 AND f.time_ms BETWEEN $2 AND $3";

// In the order of the LMDB engine's keys.
constexpr const char* kPolicyNames =
    "SELECT policy, highest::text FROM runwarden.policy_head WHERE tenant = $1 ORDER BY substring(sha256(convert_to(policy, 'UTF8')) for "
    "16)";
constexpr const char* kFirstDayOfAnswers =
    "SELECT min(greatest(created_ms, 0) / 86400000) FROM runwarden.idempotency WHERE tenant = $1 AND created_ms >= $2";
constexpr const char* kGroups = "SELECT half, body FROM runwarden.cluster WHERE tenant = $1 AND half > $2 ORDER BY half LIMIT 512";
// Entries from the given time on, and always the latest one, which determines the group's state.
constexpr const char* kHistory =
    "SELECT time_ms, seq, half, body FROM runwarden.triage t WHERE tenant = $1 AND half > $2 AND half <= $3 AND (time_ms >= $4 OR NOT "
    "EXISTS "
    "(SELECT 1 FROM runwarden.triage l WHERE l.tenant = $1 AND l.half = t.half AND (l.time_ms, l.seq) > (t.time_ms, t.seq))) ORDER BY "
    "half, time_ms, seq";
constexpr const char* kEndpoints = "SELECT seq, body FROM runwarden.endpoint WHERE tenant = $1 AND NOT removed ORDER BY seq";
constexpr const char* kDeliveries =
    "SELECT time_ms, seq, body FROM runwarden.delivery WHERE tenant = $1 AND endpoint = $4 AND (time_ms, seq) > ($2, $3) ORDER BY time_ms, "
    "seq LIMIT 512";
// From a slice by identity: answers between $3 and $4, no older than $5, whose record exists.
constexpr const char* kAnswers =
    "SELECT identity, content, created_ms, kind, time_ms, seq, revision, answer, wanted AND CASE kind "
    "WHEN 2 THEN EXISTS (SELECT 1 FROM runwarden.change r WHERE r.tenant = $1 AND r.time_ms = t.time_ms AND r.seq = t.seq) "
    "WHEN 3 THEN EXISTS (SELECT 1 FROM runwarden.policy r WHERE r.tenant = $1 AND r.time_ms = t.time_ms AND r.seq = t.seq) "
    "WHEN 4 THEN true WHEN 5 THEN true "  // answered with the current state of what was decided about
    "ELSE EXISTS (SELECT 1 FROM runwarden.run r WHERE r.tenant = $1 AND r.time_ms = t.time_ms AND r.seq = t.seq) END AS told "
    "FROM (SELECT *, greatest(created_ms, 0) BETWEEN $3 AND $4 AND created_ms >= $5 AND time_ms >= $5 AS wanted FROM runwarden.idempotency "
    "WHERE tenant = $1 AND identity > $2 ORDER BY identity LIMIT 4096) t ORDER BY identity";

// policy_head.highest as text for a line: it is -1 if no revision of the policy is a whole number.
std::string highest_of(std::string_view number) {
  return number.starts_with('-') ? std::string() : std::string(number);
}

model::RecordKey place_in(const Rows& rows, std::size_t row) {
  return record_key(rows, row, 0);
}

// Rows of several runs, in order, to be taken run by run.
class RowsByRun {
 public:
  explicit RowsByRun(Rows rows) : rows_(std::move(rows)) {}
  const Rows& rows() const { return rows_; }
  // Calls `visit(row)` for the rows of that run; skips those of earlier runs.
  template <class Visit>
  void of(const model::RecordKey& run, Visit visit) {
    while (at_ < rows_.size() && place_in(rows_, at_) < run) ++at_;
    for (; at_ < rows_.size() && place_in(rows_, at_) == run; ++at_) visit(at_);
  }

 private:
  Rows rows_;
  std::size_t at_ = 0;
};

class Exporting : private ExportWriter {
 public:
  Exporting(const ConnectSettings& connect, const MaintenanceContext& maintenance, const ExportQuery& query, const LineSink& sink)
      : ExportWriter(maintenance, query, sink), session_(open_session(connect)), connection_(*session_) {}

  Exported run() {
    tenant_ = find_tenant(connection_, query_.tenant);
    all_ = about_how_many(connection_, "run\\_%d%");
    begin();
    policies();
    policy_names();
    changes();
    runs();
    other_failures(false);
    other_failures(true);
    groups();
    reviews();
    opinions();
    webhooks();
    answers();
    return end();
  }

 private:
  Params of_tenant() const { return std::move(Params().i32(static_cast<std::int32_t>(tenant_))); }
  static Params& add_place(Params& params, const model::RecordKey& key) {
    return params.i64(key.time_ms).i64(static_cast<std::int64_t>(key.seq));
  }

  // Passes each slice of rows after the previous one to `take`, within one snapshot; `more` adds parameters after tenant and place.
  template <class More, class Take>
  void walk(std::string_view sql, More more, Take take) {
    walk_from(query_.since_ms, sql, more, take);
  }
  template <class More, class Take>
  void walk_from(std::int64_t time_ms, std::string_view sql, More more, Take take) {
    std::int64_t seq = -1;
    for (bool proceed = true; proceed;) {
      {
        const Snapshot snapshot(connection_);
        Params params = of_tenant();
        params.i64(time_ms).i64(seq);
        more(params);
        const Rows rows = connection_.query(sql, std::move(params));
        proceed = !rows.empty();
        if (proceed) {
          take(rows);
          time_ms = rows.number(rows.size() - 1, 0);
          seq = rows.number(rows.size() - 1, 1);
        }
      }
      hand_over();
    }
  }
  static void nothing_more(Params&) {}

  void policies() {
    walk(kPolicies, nothing_more, [&](const Rows& rows) {
      for (std::size_t row = 0; row < rows.size(); ++row) {
        const KeyBytes key = place_key(tenant_, place_in(rows, row));
        leave_out_unreadable("policy", key, [&] {
          const auto policy = decoded("policy", key, [&] { return decode_policy(key, rows.bytes(row, 2)); });
          names_.insert(policy.policy);
          add("policy", line_of_row(key, rows.bytes(row, 2), policy));
        });
      }
    });
  }

  void policy_names() {
    const Rows rows = connection_.query(kPolicyNames, of_tenant());
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const std::string policy(rows.bytes(row, 0));
      if (query_.since_ms == kBeginningMs || names_.contains(policy))
        add("policy_name", line_of(PolicyNameLine{policy, highest_of(rows.bytes(row, 1))}));
    }
  }

  void changes() {
    walk(kChanges, nothing_more, [&](const Rows& rows) {
      for (std::size_t row = 0; row < rows.size(); ++row) {
        const KeyBytes key = place_key(tenant_, place_in(rows, row));
        leave_out_unreadable("change", key, [&] {
          add("change",
              line_of_row(key, rows.bytes(row, 2), decoded("change", key, [&] { return decode_change(key, rows.bytes(row, 2)); })));
        });
      }
    });
  }

  void runs() {
    walk(kRuns, nothing_more, [&](const Rows& rows) {
      std::map<model::RecordKey, RunLine> lines;
      for (std::size_t row = 0; row < rows.size(); ++row) {
        const model::RecordKey place = place_in(rows, row);
        const KeyBytes key = place_key(tenant_, place);
        ++runs_seen_;
        unreadable_runs_.insert(place);
        leave_out_unreadable("run", key, [&] {
          if (rows.is_null(row, 2)) throw StoreError("a row of \"run\": it is open, but not among the open runs; run `runwarden verify`");
          lines.emplace(place, RunLine{decoded("run", key, [&] { return decode_run(key, rows.bytes(row, 2)); }), false});
          unreadable_runs_.erase(place);
        });
      }
      tell_runs(rows, lines);
    });
  }

  void tell_runs(const Rows& rows, const std::map<model::RecordKey, RunLine>& lines) {
    Params range = of_tenant();
    add_place(add_place(range, place_in(rows, 0)), place_in(rows, rows.size() - 1));
    const std::vector<Connection::Statement> statements{{kPrevious, range}, {kEvents, range}, {kEventIds, range}};
    std::vector<Rows> answers = connection_.run(statements);
    RowsByRun previous(std::move(answers[0]));
    RowsByRun events(std::move(answers[1]));
    RowsByRun ids(std::move(answers[2]));
    const auto failures = failures_of(lines);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const model::RecordKey place = place_in(rows, row);
      const auto line = lines.find(place);
      if (line == lines.end()) continue;
      add("run", line_of_row(place_key(tenant_, place), rows.bytes(row, 2), line->second));
      previous.of(place, [&](std::size_t at) { previous_revision(previous.rows(), at); });
      events.of(place, [&](std::size_t at) { chunk(events.rows(), at); });
      EventIdsLine seen{place, {}};
      ids.of(place, [&](std::size_t at) {
        seen.halves.emplace_back(ids.rows().bytes(at, 2));
        if (seen.halves.size() == kIdsALine) event_ids(seen);
      });
      if (!seen.halves.empty()) event_ids(seen);
      for (const model::RecordKey& failure : line->second.stored.failures) {
        const auto found = failures.find(failure);
        if (found != failures.end()) add_failure(failure, found->second.second, found->second.first);
      }
    }
  }

  // The failures that lists show for these runs: whether the detector is on trial, and the value.
  std::map<model::RecordKey, std::pair<bool, std::string>> failures_of(const std::map<model::RecordKey, RunLine>& lines) {
    std::vector<std::int64_t> times;
    std::vector<std::int64_t> seqs;
    for (const auto& [place, line] : lines) {
      for (const model::RecordKey& failure : line.stored.failures) {
        times.push_back(failure.time_ms);
        seqs.push_back(static_cast<std::int64_t>(failure.seq));
      }
    }
    std::map<model::RecordKey, std::pair<bool, std::string>> found;
    if (times.empty()) return found;
    const auto [first, last] = std::minmax_element(times.begin(), times.end());
    const Rows rows = connection_.query(kFailures, std::move(of_tenant().i64(*first).i64(*last).i64s(times).i64s(seqs)));
    for (std::size_t row = 0; row < rows.size(); ++row)
      found.emplace(place_in(rows, row), std::pair(rows.boolean(row, 2), std::string(rows.bytes(row, 3))));
    return found;
  }

  void previous_revision(const Rows& rows, std::size_t row) {
    const KeyBytes key = place_key(tenant_, place_in(rows, row));
    leave_out_unreadable("former", key, [&] {
      add("run",
          line_of_row(key, rows.bytes(row, 3), RunLine{decoded("former", key, [&] { return decode_run(key, rows.bytes(row, 3)); }), true}));
    });
  }

  // Lost events are nulls in the line, so that the run still has as many events as it says.
  void chunk(const Rows& rows, std::size_t row) {
    const model::RecordKey place = place_in(rows, row);
    const std::int64_t first = rows.number(row, 2);
    const bool packed = first == kPackedFirst;
    const KeyBytes key = events_place({tenant_, place}, first);
    EventsLine line{place, packed, packed ? 0 : static_cast<std::uint32_t>(first), rows.number(row, 4), {}};
    bool readable = false;
    leave_out_unreadable("event", key, [&] {
      line.events = decoded("event", key, [&] { return decode_events(key, rows.bytes(row, 5)); });
      readable = true;
    });
    if (!readable) line.events.resize(static_cast<std::size_t>(rows.number(row, 3)));
    add("events", readable ? line_of_row(key, rows.bytes(row, 5), line) : line_of(line));
  }

  void event_ids(EventIdsLine& ids) {
    add("event_ids", line_of(ids));
    ids.halves.clear();
  }

  void add_failure(const model::RecordKey& place, std::string_view value, bool shadow) {
    const KeyBytes key = place_key(tenant_, place);
    leave_out_unreadable("failure", key, [&] {
      auto failure = decoded("failure", key, [&] { return decode_failure(key, value); });
      failure.shadow = shadow;
      failure.reviewed = model::ReviewVerdict::none;  // its review sets it again on import
      add(shadow ? "shadow_failure" : "failure", line_of_row(key, with_verdict(key, value, failure.reviewed), failure));
    });
  }

  // Failures that no run lists, because retention deleted the run.
  void other_failures(bool shadow) {
    std::vector<std::int64_t> times;
    std::vector<std::int64_t> seqs;
    for (const model::RecordKey& run : unreadable_runs_) {
      times.push_back(run.time_ms);
      seqs.push_back(static_cast<std::int64_t>(run.seq));
    }
    walk(
        kOtherFailures, [&](Params& params) { params.boolean(shadow).i64(query_.since_ms).i64s(times).i64s(seqs); },
        [&](const Rows& rows) {
          for (std::size_t row = 0; row < rows.size(); ++row) {
            if (!rows.is_null(row, 2)) add_failure(place_in(rows, row), rows.bytes(row, 2), shadow);
          }
        });
  }

  // The import recounts what is counted of a group; since when it is known and the decisions about it are exported.
  void groups() {
    for (std::string half;;) {
      {
        const Snapshot snapshot(connection_);
        const Rows rows = connection_.query(kGroups, std::move(of_tenant().bytes(half)));
        if (rows.empty()) return;
        const std::string last(rows.bytes(rows.size() - 1, 0));
        const Rows history = connection_.query(kHistory, std::move(of_tenant().bytes(half).bytes(last).i64(query_.since_ms)));
        std::size_t entry = 0;
        for (std::size_t row = 0; row < rows.size(); ++row) {
          while (entry < history.size() && history.bytes(entry, 2) < rows.bytes(row, 0)) ++entry;
          const std::size_t first = entry;
          while (entry < history.size() && history.bytes(entry, 2) == rows.bytes(row, 0)) ++entry;
          group(rows, row, history, first, entry);
        }
        half = last;
      }
      hand_over();
    }
  }

  void group(const Rows& rows, std::size_t row, const Rows& history, std::size_t first, std::size_t end) {
    const KeyBytes key = cluster_place(tenant_, cluster_key_of(rows.bytes(row, 0)));
    leave_out_unreadable("cluster", key, [&] {
      GroupLine line{decoded("cluster", key, [&] { return decode_cluster(key, rows.bytes(row, 1)).cluster; }), false};
      line.decided = first != end || line.cluster.triage != model::Triage();
      if (line.cluster.last_ms < query_.since_ms && line.cluster.triage.since_ms < query_.since_ms) return;
      add("group", line_of(line));
      for (std::size_t entry = first; entry < end; ++entry) triage(line.cluster.fingerprint, history, entry);
    });
  }

  void triage(const std::string& fingerprint, const Rows& rows, std::size_t row) {
    const KeyBytes key = triage_place(tenant_, cluster_key_of(rows.bytes(row, 2)), place_in(rows, row));
    leave_out_unreadable("triage", key, [&] {
      const TriageLine line{fingerprint, decoded("triage", key, [&] { return decode_triage(key, rows.bytes(row, 3)); })};
      add("triage", line_of_row(key, rows.bytes(row, 3), line));
    });
  }

  // Includes reviews whose failures and runs are gone.
  void reviews() {
    const auto since = [&](Params& params) { params.i64(query_.since_ms); };
    walk_from(kBeginningMs, kReviews, since, [&](const Rows& rows) {
      for (std::size_t row = 0; row < rows.size(); ++row) {
        const KeyBytes key = place_key(tenant_, place_in(rows, row));
        leave_out_unreadable("review", key, [&] {
          add("review",
              line_of_row(key, rows.bytes(row, 2), decoded("review", key, [&] { return decode_review(key, rows.bytes(row, 2)); })));
        });
      }
    });
  }

  // Opinions of exported runs. Waiting questions are asked from where they are imported.
  void opinions() {
    walk_from(query_.since_ms, kOpinions, [](Params&) {}, [&](const Rows& rows) {
      for (std::size_t row = 0; row < rows.size(); ++row) {
        const KeyBytes key = place_key(tenant_, place_in(rows, row));
        leave_out_unreadable("opinion", key, [&] {
          const auto opinion = decoded("opinion", key, [&] { return decode_opinion_head(key, rows.bytes(row, 2)); });
          if (opinion.run.time_ms >= query_.since_ms)
            add("opinion", line_of_row(key, rows.bytes(row, 2), OpinionLine{opinion.key, opinion.run, opinion.id}));
        });
      }
    });
  }

  // Pending messages are sent from where they are imported, with the same ids.
  void webhooks() {
    std::map<std::uint64_t, model::RecordKey> webhooks;  // by seq
    const Rows rows = connection_.query(kEndpoints, of_tenant());
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const KeyBytes key = endpoint_place(tenant_, static_cast<std::uint64_t>(rows.number(row, 0)));
      leave_out_unreadable("endpoint", key, [&] {
        const auto endpoint = decoded("endpoint", key, [&] { return decode_endpoint(key, rows.bytes(row, 1)); });
        webhooks.emplace(endpoint.key.seq, endpoint.key);
        add("webhook", line_of_row(key, rows.bytes(row, 1), WebhookLine{endpoint.key, endpoint.url}));
      });
    }
    for (const auto& [seq, endpoint] : webhooks) deliveries(endpoint);
  }

  void deliveries(const model::RecordKey& endpoint) {
    const auto of_endpoint = [&](Params& params) { params.i64(static_cast<std::int64_t>(endpoint.seq)); };
    walk(kDeliveries, of_endpoint, [&](const Rows& rows) {
      for (std::size_t row = 0; row < rows.size(); ++row) {
        const KeyBytes key = delivery_place(tenant_, endpoint.seq, place_in(rows, row));
        leave_out_unreadable("delivery", key, [&] {
          const auto delivery = decoded("delivery", key, [&] { return decode_delivery_head(key, rows.bytes(row, 2)); });
          add("delivery", line_of_row(key, rows.bytes(row, 2), DeliveryLine{delivery.key, endpoint}));
        });
      }
    });
  }

  // Skips answers whose record no longer exists: they are useless.
  void answers() {
    for (std::int64_t from_ms = query_.since_ms;;) {
      const Rows rows = connection_.query(kFirstDayOfAnswers, std::move(of_tenant().i64(from_ms)));
      if (rows.is_null(0, 0)) return;
      answers_of(rows.number(0, 0));
      from_ms = (rows.number(0, 0) + 1) * kDayMs;
    }
  }

  void answers_of(std::int64_t day) {
    for (std::string identity;;) {
      {
        const Snapshot snapshot(connection_);
        const Rows rows = connection_.query(
            kAnswers, std::move(of_tenant().bytes(identity).i64(day * kDayMs).i64((day + 1) * kDayMs - 1).i64(query_.since_ms)));
        if (rows.empty()) return;
        for (std::size_t row = 0; row < rows.size(); ++row) {
          if (rows.boolean(row, 8)) answer(rows, row);
        }
        identity = rows.bytes(rows.size() - 1, 0);
      }
      hand_over();
    }
  }

  void answer(const Rows& rows, std::size_t row) {
    leave_out_unreadable("idempotency", rows.bytes(row, 0), [&] {
      const IdempotentAnswer answer = decoded("idempotency", rows.bytes(row, 0), [&] { return answer_in(tenant_, rows, row, 0); });
      const bool of_run = answer.kind == IdempotentAnswer::Kind::run || answer.kind == IdempotentAnswer::Kind::events;
      if (!of_run || !unreadable_runs_.contains(answer.record)) add("answer", line_of(answer));
    });
  }

  std::unique_ptr<Connection> session_;
  Connection& connection_;
  model::TenantId tenant_ = 0;
  std::set<model::RecordKey> unreadable_runs_;
  std::set<std::string> names_;
};

}  // namespace

Result<Exported> export_tenant(const ConnectSettings& connect, const MaintenanceContext& maintenance, const ExportQuery& query,
                               const LineSink& sink) {
  return guarded([&]() -> Result<Exported> { return Exporting(connect, maintenance, query, sink).run(); });
}

}  // namespace runwarden::store::postgres
