#include "store/postgres/open_runs.h"

#include <algorithm>
#include <span>

#include "model/cluster.h"
#include "store/earlier_failures.h"
#include "store/event_codec.h"
#include "store/key_encoding.h"
#include "store/postgres/group_rows.h"
#include "store/postgres/reviews.h"
#include "store/postgres/row.h"

namespace runwarden::store::postgres {
namespace {

constexpr std::int64_t kAwayMs = 2'000;  // how long a database may be away without a grace period
constexpr std::int64_t kGraceMs = 30'000;

// When a run is due by the rules, which are parameters from `first` on: idle, otlp_idle, otlp_root_grace, max_age.
std::string due_by(int first) {
  const auto parameter = [&](int rule) { return "$" + std::to_string(first + rule); };
  return "least(CASE o.awaits WHEN 0 THEN o.last_ms + " + parameter(0) + " WHEN 1 THEN o.last_ms + " + parameter(1) +
         " ELSE coalesce(o.root_ms, o.last_ms) + " + parameter(2) + " END, o.first_ms + " + parameter(3) + ")";
}

// $1 now, $2 how many, $3 the lease.
const std::string kIsDue = "(o.ending IS NOT NULL OR " + due_by(4) + " <= $1)";
const std::string kClaimDue =
    "WITH due AS MATERIALIZED (SELECT tenant, run_id, due_ms FROM runwarden.open_run WHERE due_ms <= $1 ORDER BY due_ms LIMIT $2 FOR "
    "UPDATE SKIP LOCKED)"
    " UPDATE runwarden.open_run o SET token = o.token + o.token % 2 + CASE WHEN " +
    kIsDue +
    " THEN 1 ELSE 0 END,"
    " due_ms = CASE WHEN " +
    kIsDue + " THEN $1 + $3 ELSE " + due_by(4) +
    " END"
    " FROM due WHERE o.tenant = due.tenant AND o.run_id = due.run_id"
    " RETURNING o.tenant, o.run_id, o.time_ms, o.seq, o.token, o.first_ms, o.last_ms, o.root_ms, o.awaits, o.body, due.due_ms";
constexpr std::string_view kClaimOne =
    "UPDATE runwarden.open_run o SET token = o.token + 1 + o.token % 2, due_ms = $4 + $5"
    " WHERE o.tenant = $1 AND o.time_ms = $2 AND o.seq = $3 AND NOT (o.token % 2 = 1 AND o.due_ms > $4)"
    " AND ($6 OR o.ending IS NOT NULL)"
    " RETURNING o.tenant, o.run_id, o.time_ms, o.seq, o.token, o.first_ms, o.last_ms, o.root_ms, o.awaits, o.body";
const std::string kReschedule =
    "UPDATE runwarden.open_run o SET due_ms = " + due_by(1) + " WHERE o.token % 2 = 0 AND o.ending IS NULL AND o.due_ms > " + due_by(1);
constexpr std::string_view kGrantGrace =
    "UPDATE runwarden.open_run o SET due_ms = $1 + $2 WHERE o.token % 2 = 0 AND o.ending IS NULL AND o.due_ms <= $1 AND o.first_ms + $3 > "
    "$1";
constexpr std::string_view kResetClaims =
    "UPDATE runwarden.open_run o SET last_ms = $1, root_ms = CASE WHEN o.awaits = 2 THEN $1 END, token = o.token + o.token % 2,"
    " due_ms = CASE WHEN o.ending IS NOT NULL THEN $1 ELSE least($1 + $2, o.first_ms + $3) END";
constexpr std::string_view kRelease =
    "UPDATE runwarden.open_run SET token = token + 1, due_ms = $1 WHERE tenant = $2 AND run_id = $3 AND token = $4";
constexpr std::string_view kReleaseAll =
    "WITH mine AS MATERIALIZED (SELECT o.tenant, o.run_id FROM unnest($2::int[], $3::text[], $4::bigint[]) u(tenant, run_id, token)"
    " JOIN runwarden.open_run o ON o.tenant = u.tenant AND o.run_id = u.run_id AND o.token = u.token ORDER BY o.tenant, o.run_id FOR "
    "UPDATE OF o)"
    " UPDATE runwarden.open_run o SET token = o.token + 1, due_ms = $1 FROM mine WHERE o.tenant = mine.tenant AND o.run_id = mine.run_id";
constexpr std::string_view kRenew =
    "WITH mine AS MATERIALIZED (SELECT o.tenant, o.run_id FROM unnest($2::int[], $3::text[], $4::bigint[]) u(tenant, run_id, token)"
    " JOIN runwarden.open_run o ON o.tenant = u.tenant AND o.run_id = u.run_id AND o.token = u.token ORDER BY o.tenant, o.run_id FOR "
    "UPDATE OF o)"
    " UPDATE runwarden.open_run o SET due_ms = $1 FROM mine WHERE o.tenant = mine.tenant AND o.run_id = mine.run_id RETURNING o.tenant, "
    "o.run_id, o.token";
constexpr std::string_view kReadEvents =
    "SELECT first, body FROM runwarden.event WHERE tenant = $1 AND time_ms = $2 AND seq = $3 AND first < $4 ORDER BY first";
constexpr std::string_view kReadFirst =
    "SELECT body FROM runwarden.former WHERE tenant = $1 AND time_ms = $2 AND seq = $3 AND revision = 1";

// The same for the failures of earlier revisions and their last reviews.
constexpr std::string_view kEarlierFailures =
    "SELECT time_ms, seq, detector, fingerprint, shadow FROM runwarden.failure WHERE tenant = $1 AND run_time_ms = $2 AND run_seq = $3"
    " ORDER BY time_ms, seq";
constexpr std::string_view kEarlierReviews =
    "SELECT DISTINCT ON (subject) time_ms, seq, body FROM runwarden.review WHERE tenant = $1 AND run_time_ms = $2 AND run_seq = $3"
    " AND failure_ms IS NOT NULL ORDER BY subject, time_ms DESC, seq DESC";

Params& add_rules(Params& params, const BufferRules& rules) {
  return params.i64(rules.idle_ms).i64(rules.otlp_idle_ms).i64(rules.otlp_root_grace_ms).i64(rules.max_age_ms);
}

Params by_place(model::TenantId tenant, const model::RecordKey& key) {
  return std::move(Params().i32(static_cast<std::int32_t>(tenant)).i64(key.time_ms).i64(static_cast<std::int64_t>(key.seq)));
}

std::int64_t idle_due(const RunActivity& activity, const BufferRules& rules) {
  switch (activity.awaits) {
    case Awaits::events: return activity.last_ms + rules.idle_ms;
    case Awaits::root: return activity.last_ms + rules.otlp_idle_ms;
    case Awaits::spans: return activity.root_ms.value_or(activity.last_ms) + rules.otlp_root_grace_ms;
  }
  return activity.last_ms;
}

std::string unreadable_text(std::string_view run_id, const char* why) {
  return "store: the open run \"" + std::string(run_id) + "\": " + why +
         "; run `runwarden verify`, and restore this record from a backup or purge it";
}

}  // namespace

Awaits awaited_by(const model::RunRecord& run) {
  if (run.source == model::RunSource::client) return Awaits::events;
  return run.root_arrived ? Awaits::spans : Awaits::root;
}

std::int64_t due_of(const RunActivity& activity, const BufferRules& rules) {
  return std::min(idle_due(activity, rules), activity.first_ms + rules.max_age_ms);
}

model::Resolution ending_of(const RunActivity& activity, const BufferRules& rules) {
  if (idle_due(activity, rules) > activity.first_ms + rules.max_age_ms) return model::Resolution::max_age;
  return activity.awaits == Awaits::spans ? model::Resolution::final : model::Resolution::idle;
}

OpenRunClaims::~OpenRunClaims() {
  try {
    release_all();
  } catch (const StoreError&) {  // the leases run out
  }
}

void OpenRunClaims::release_all() {
  std::vector<std::int32_t> tenants;
  std::vector<std::string> names;
  std::vector<std::int64_t> tokens;
  {
    const MutexLock lock(mutex_);
    for (const auto& [run, lease] : claim_leases_) {
      tenants.push_back(static_cast<std::int32_t>(run.first));
      names.push_back(run.second);
      tokens.push_back(static_cast<std::int64_t>(lease.token));
    }
    claim_leases_.clear();
  }
  if (tenants.empty()) return;
  const std::int64_t now_ms = time_.now_ms();
  pool_.read([&](Connection& connection) {
    return connection.query(kReleaseAll, std::move(Params().i64(now_ms).i32s(tenants).texts(names).i64s(tokens)));
  });
}

void OpenRunClaims::reset_claims(const BufferRules& rules) {
  const std::int64_t now_ms = time_.now_ms();
  const std::int64_t soonest_ms = std::min({rules.idle_ms, rules.otlp_idle_ms, rules.otlp_root_grace_ms});
  pool_.read([&](Connection& connection) {
    return connection.query(kResetClaims, std::move(Params().i64(now_ms).i64(soonest_ms).i64(rules.max_age_ms)));
  });
}

void OpenRunClaims::note_lease(const Claim& claim, std::int64_t until_ms) {
  const std::int64_t now_ms = time_.now_ms();
  const MutexLock lock(mutex_);
  claim_leases_[{claim.tenant, claim.run_id}] = {claim.token, until_ms};
  if (claim_leases_.size() < look_through_at_) return;
  std::erase_if(claim_leases_, [&](const auto& entry) { return entry.second.until_ms <= now_ms; });
  look_through_at_ = std::max<std::size_t>(64, 2 * claim_leases_.size());
}

// Reschedules runs that would be looked at too late. A run that is looked at too early is put off then.
void OpenRunClaims::reschedule(const BufferRules& rules) {
  Params params;
  add_rules(params, rules);
  try {
    pool_.read([&](Connection& connection) { return connection.query(kReschedule, params); });
  } catch (const StoreError&) {
    to_reschedule_ = true;
    throw;
  }
}

void OpenRunClaims::grant_grace(const BufferRules& rules) {
  const std::int64_t now_ms = time_.now_ms();
  {
    const MutexLock lock(mutex_);
    if (!away_since_ms_ || now_ms - *away_since_ms_ <= kAwayMs) return;
  }
  pool_.read([&](Connection& connection) {
    return connection.query(kGrantGrace, std::move(Params().i64(now_ms).i64(kGraceMs).i64(rules.max_age_ms)));
  });
}

std::vector<Claim> OpenRunClaims::claim(const BufferRules& rules, std::size_t most, std::int64_t lease_ms) {
  if (rules_.use(rules)) to_reschedule_ = true;
  try {
    grant_grace(rules);
    if (to_reschedule_.exchange(false)) reschedule(rules);
    std::vector<Claim> claims = claim_due(rules, most, lease_ms);
    const MutexLock lock(mutex_);  // the database answered: the next outage is another one
    away_since_ms_.reset();
    return claims;
  } catch (const StoreAway&) {
    const MutexLock lock(mutex_);
    if (!away_since_ms_) away_since_ms_ = time_.now_ms();
    throw;
  }
}

Claim OpenRunClaims::claim_at(const Rows& rows, std::size_t row, const BufferRules& rules) const {
  Claim claim;
  claim.tenant = static_cast<model::TenantId>(rows.number(row, 0));
  claim.run_id = rows.bytes(row, 1);
  claim.run = {rows.number(row, 2), static_cast<std::uint64_t>(rows.number(row, 3))};
  claim.token = static_cast<std::uint64_t>(rows.number(row, 4));
  RunActivity activity{rows.number(row, 5), rows.number(row, 6), std::nullopt, static_cast<Awaits>(rows.number(row, 8))};
  if (!rows.is_null(row, 7)) activity.root_ms = rows.number(row, 7);
  const StoredRun stored = decode_run_head(place_key(claim.tenant, claim.run), rows.bytes(row, 9));
  if (!stored.buffering) throw BadValue("it is marked resolved");
  const Buffering& buffering = *stored.buffering;
  claim.revision = stored.run.revision;
  claim.previous = buffering.previous;
  claim.upto = buffering.ending ? buffering.cut : buffering.total;
  claim.resolution = buffering.ending.value_or(ending_of(activity, rules));
  claim.first_ms = buffering.first_ms;
  claim.source = stored.run.source;
  claim.root_arrived = stored.run.root_arrived;
  claim.end_mark = stored.run.end_mark;
  return claim;
}

// Rows that come too early are put off and make room for others, so this asks until there are enough runs or no more.
std::vector<Claim> OpenRunClaims::claim_due(const BufferRules& rules, std::size_t most, std::int64_t lease_ms) {
  std::vector<std::pair<std::int64_t, Claim>> claims;  // by due time
  while (claims.size() < most) {
    const std::int64_t now_ms = time_.now_ms();
    const auto wanted = static_cast<std::int64_t>(most - claims.size());
    Params params;
    params.i64(now_ms).i64(wanted).i64(lease_ms);
    add_rules(params, rules);
    const Rows rows = pool_.read([&](Connection& connection) { return connection.query(kClaimDue, params); });
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (!is_held(rows.number(row, 4))) continue;
      try {
        claims.emplace_back(rows.number(row, 10), claim_at(rows, row, rules));
        note_lease(claims.back().second, now_ms + lease_ms);
      } catch (const BadValue& bad) {  // it stays open; the others are claimed
        if (on_unreadable_) on_unreadable_(unreadable_text(rows.bytes(row, 1), bad.what()));
      }
    }
    if (rows.size() < static_cast<std::size_t>(wanted)) break;
  }
  std::stable_sort(claims.begin(), claims.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Claim> in_order;
  in_order.reserve(claims.size());
  for (auto& [due_ms, claim] : claims) in_order.push_back(std::move(claim));
  return in_order;
}

std::optional<Claim> OpenRunClaims::claim_run(model::TenantId tenant, const model::RecordKey& run,
                                              std::optional<model::Resolution> resolution, std::int64_t lease_ms) {
  const std::int64_t now_ms = time_.now_ms();
  const Rows rows = pool_.read([&](Connection& connection) {
    return connection.query(kClaimOne, std::move(by_place(tenant, run).i64(now_ms).i64(lease_ms).boolean(resolution.has_value())));
  });
  if (rows.empty()) return std::nullopt;
  try {
    Claim claim = claim_at(rows, 0, rules_.now());
    const StoredRun stored = decode_run_head(place_key(tenant, run), rows.bytes(0, 9));
    if (!stored.buffering->ending && resolution) claim.resolution = *resolution;
    note_lease(claim, now_ms + lease_ms);
    return claim;
  } catch (const BadValue& bad) {
    throw StoreError(unreadable_text(rows.bytes(0, 1), bad.what()));
  }
}

void OpenRunClaims::release(const Claim& claim) {
  {
    const MutexLock lock(mutex_);
    const auto held = claim_leases_.find({claim.tenant, claim.run_id});
    if (held != claim_leases_.end() && held->second.token == claim.token) claim_leases_.erase(held);
  }
  const std::int64_t now_ms = time_.now_ms();
  try {
    pool_.read([&](Connection& connection) {
      return connection.query(kRelease, std::move(Params()
                                                      .i64(now_ms)
                                                      .i32(static_cast<std::int32_t>(claim.tenant))
                                                      .text(claim.run_id)
                                                      .i64(static_cast<std::int64_t>(claim.token))));
    });
  } catch (const StoreError&) {  // the lease runs out
  }
}

std::vector<bool> OpenRunClaims::renew(std::span<const Claim> claims, std::int64_t lease_ms) {
  if (claims.empty()) return {};
  std::vector<std::int32_t> tenants;
  std::vector<std::string_view> names;
  std::vector<std::int64_t> tokens;
  for (const Claim& claim : claims) {
    tenants.push_back(static_cast<std::int32_t>(claim.tenant));
    names.push_back(claim.run_id);
    tokens.push_back(static_cast<std::int64_t>(claim.token));
  }
  const std::int64_t until_ms = time_.now_ms() + lease_ms;
  const Rows rows = pool_.read([&](Connection& connection) {
    return connection.query(kRenew, std::move(Params().i64(until_ms).i32s(tenants).texts(names).i64s(tokens)));
  });
  std::map<RunId, std::uint64_t> good;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    good[{static_cast<model::TenantId>(rows.number(row, 0)), std::string(rows.bytes(row, 1))}] =
        static_cast<std::uint64_t>(rows.number(row, 2));
  }
  std::vector<bool> answers;
  answers.reserve(claims.size());
  for (const Claim& claim : claims) {
    const auto found = good.find({claim.tenant, claim.run_id});
    answers.push_back(found != good.end() && found->second == claim.token);
    if (answers.back())
      note_lease(claim, until_ms);
    else ++lost_;
  }
  return answers;
}

namespace {

// `rows`: the answers to kReadFirst, kEarlierFailures and kEarlierReviews.
void read_earlier(const Claim& claim, std::span<const Rows> rows, ClaimedRun& run) {
  if (!rows[0].empty()) {
    model::RunRecord first = decode_run(place_key(claim.tenant, claim.run), rows[0].bytes(0, 0)).run;
    if (first.resolution == model::Resolution::whole) run.whole = std::move(first);
  }
  const Rows& failures = rows[1];
  for (std::size_t row = 0; row < failures.size(); ++row) {
    run.failures.push_back({record_key(failures, row, 0), std::string(failures.bytes(row, 2)),
                            model::cluster_id(cluster_key_of(failures.bytes(row, 3))), failures.boolean(row, 4)});
  }
  std::vector<model::Review> reviews;
  for (std::size_t row = 0; row < rows[2].size(); ++row) {
    model::Review last = review_at(rows[2], row, 0, claim.tenant);
    if (last.verdict != model::ReviewVerdict::none) reviews.push_back(std::move(last));
  }
  add_reviewed(run.failures, reviews);
}

}  // namespace

ClaimedRun OpenRunClaims::fetch(const Claim& claim) {
  const std::vector<Rows> rows = pool_.read([&](Connection& connection) {
    std::vector<Connection::Statement> asked;
    asked.push_back({kReadEvents, std::move(by_place(claim.tenant, claim.run).i32(static_cast<std::int32_t>(claim.upto)))});
    if (claim.revision > 1) {
      for (const std::string_view sql : {kReadFirst, kEarlierFailures, kEarlierReviews})
        asked.push_back({sql, by_place(claim.tenant, claim.run)});
    }
    return connection.run(asked);
  });
  const Rows& events = rows[0];
  ClaimedRun run;
  if (claim.revision > 1) {
    try {
      read_earlier(claim, std::span(rows).subspan(1), run);
    } catch (const std::runtime_error& bad) {  // the run is judged by what can be read
      if (on_unreadable_) on_unreadable_(unreadable_text(claim.run_id, bad.what()));
    }
  }
  const std::int64_t from = run.whole ? run.whole->events : 0;
  for (std::size_t row = 0; row < events.size(); ++row) {
    const std::int64_t first = events.number(row, 0);
    try {
      std::vector<std::string> in_row = decode_events(events_place({claim.tenant, claim.run}, first), events.bytes(row, 1));
      std::int64_t index = index_of(first);
      const auto left = static_cast<std::size_t>(claim.upto - index);
      if (in_row.size() > left) in_row.resize(left);
      for (std::string& event : in_row) {
        if (index++ >= from && !event.empty()) run.events.push_back(std::move(event));
      }
    } catch (const BadValue& bad) {
      if (on_unreadable_) on_unreadable_(unreadable_text(claim.run_id, bad.what()));
    }
  }
  return run;
}

}  // namespace runwarden::store::postgres
