#include "store/postgres/ledger_rows.h"

#include <algorithm>

#include "store/change_codec.h"
#include "store/group_codec.h"
#include "store/postgres/group_rows.h"
#include "store/postgres/row.h"
#include "store/record_codec.h"
#include "store/review_codec.h"

namespace runwarden::store::postgres {
namespace {

constexpr std::uint64_t kBlock = 256;          // entries, or roots of one height, read together
constexpr std::uint64_t kMostExpected = 512;   // entries
constexpr std::size_t kRunsAtOnce = 16;

constexpr const char* kHead = "SELECT body FROM runwarden.ledger WHERE tenant = $1";
constexpr const char* kRows = R"sql(
SELECT first, body FROM runwarden.ledger_entry WHERE tenant = $1 AND first <= $3
  AND first >= coalesce((SELECT max(first) FROM runwarden.ledger_entry WHERE tenant = $1 AND first <= $2), $2) ORDER BY first)sql";
constexpr const char* kSubtrees = R"sql(
SELECT number, body FROM runwarden.ledger_subtree WHERE tenant = $1 AND height = $2 AND number BETWEEN $3 AND $4)sql";
constexpr const char* kRecord = "SELECT body FROM runwarden.ledger_record WHERE tenant = $1 AND kind = $2 AND name = $3";
constexpr const char* kRecords = R"sql(
SELECT r.kind, r.name, r.body FROM unnest($2::smallint[], $3::bytea[]) AS k(kind, name)
JOIN runwarden.ledger_record r ON r.tenant = $1 AND r.kind = k.kind AND r.name = k.name)sql";
constexpr const char* kLatest = R"sql(
SELECT name FROM runwarden.ledger_record WHERE tenant = $1 AND kind = $2 AND name BETWEEN $3 AND $4 ORDER BY name DESC LIMIT 1)sql";
constexpr const char* kTold = "SELECT body FROM runwarden.ledger_body WHERE tenant = $1 AND entry = $2";
// A revision is stored with its run or, once another has followed, among the previous revisions.
constexpr const char* kRuns = R"sql(
SELECT k.time_ms, k.seq, k.revision, coalesce(r.body, f.body) FROM unnest($2::bigint[], $3::bigint[], $4::int[]) AS k(time_ms, seq, revision)
LEFT JOIN runwarden.run r ON r.tenant = $1 AND r.time_ms = k.time_ms AND r.seq = k.seq AND r.revision = k.revision AND r.state <> 0
LEFT JOIN runwarden.former f ON f.tenant = $1 AND f.time_ms = k.time_ms AND f.seq = k.seq AND f.revision = k.revision
WHERE r.body IS NOT NULL OR f.body IS NOT NULL)sql";
constexpr const char* kChange = "SELECT body FROM runwarden.change WHERE tenant = $1 AND time_ms = $2 AND seq = $3";
constexpr const char* kPolicy = "SELECT body FROM runwarden.policy WHERE tenant = $1 AND time_ms = $2 AND seq = $3";
constexpr const char* kReview = "SELECT body FROM runwarden.review WHERE tenant = $1 AND time_ms = $2 AND seq = $3";
constexpr const char* kDecision = "SELECT body FROM runwarden.triage WHERE tenant = $1 AND half = $2 AND time_ms = $3 AND seq = $4";

std::int16_t column(ledger::Kind kind) { return static_cast<std::int16_t>(kind); }

}  // namespace

LedgerHead ledger_head_of(model::TenantId tenant, std::string_view body) {
  const KeyBytes key = ledger_head_key(tenant);
  return decoded("ledger", key, [&] { return decode_ledger_head(key, body); });
}

std::optional<LedgerHead> LedgerRows::head() {
  if (head_) return *head_;
  const Rows rows = connection_.query(kHead, std::move(Params().i32(column(tenant_))));
  head_ = rows.empty() ? std::nullopt : std::optional(ledger_head_of(tenant_, rows.bytes(0, 0)));
  return *head_;
}

std::optional<LedgerRow> LedgerRows::row_of(std::uint64_t index) {
  const auto known = [&]() -> const LedgerRow* {
    const auto after = rows_.upper_bound(index);
    if (after == rows_.begin()) return nullptr;
    const LedgerRow& row = std::prev(after)->second;
    return row.holds(index) ? &row : nullptr;
  };
  if (const LedgerRow* const row = known()) return *row;
  const std::uint64_t first = index - index % kBlock;
  const Rows rows = connection_.query(
      kRows, std::move(Params().i32(column(tenant_)).i64(column(first)).i64(column(first + kBlock - 1))));
  rows_.clear();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::uint64_t at = unsigned_at(rows, row, 0);
    const KeyBytes key = ledger_row_key(tenant_, at);
    rows_.emplace(at, decoded("ledger_entry", key, [&] { return decode_ledger_row(key, rows.bytes(row, 1)); }));
  }
  const LedgerRow* const row = known();
  return row == nullptr ? std::nullopt : std::optional(*row);
}

std::optional<ledger::Hash> LedgerRows::subtree(unsigned height, std::uint64_t number) {
  if (const auto known = subtrees_.find({height, number}); known != subtrees_.end()) return known->second;
  const std::uint64_t first = number - number % kBlock;
  const Rows rows = connection_.query(kSubtrees, std::move(Params()
                                                               .i32(column(tenant_))
                                                               .i16(static_cast<std::int16_t>(height))
                                                               .i64(column(first))
                                                               .i64(column(first + kBlock - 1))));
  subtrees_.clear();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::uint64_t at = unsigned_at(rows, row, 0);
    const KeyBytes key = subtree_key(tenant_, height, at);
    subtrees_[{height, at}] = decoded("ledger_subtree", key, [&] { return decode_subtree(key, rows.bytes(row, 1)); });
  }
  const auto found = subtrees_.find({height, number});
  return found == subtrees_.end() ? std::nullopt : std::optional(found->second);
}

LedgerRecord LedgerRows::record_of(const Name& name, std::string_view body) const {
  const KeyBytes key = ledger_record_key(tenant_, name.first, name.second);
  return decoded("ledger_record", key, [&] { return decode_ledger_record(key, body); });
}

std::optional<LedgerRecord> LedgerRows::record(ledger::Kind kind, std::string_view name) {
  const Name asked(kind, name);
  if (const auto known = records_.find(asked); known != records_.end()) return record_of(asked, known->second);
  const Rows rows = connection_.query(kRecord, std::move(Params().i32(column(tenant_)).i16(column(kind)).bytes(name)));
  if (rows.empty()) return std::nullopt;
  return record_of(asked, rows.bytes(0, 0));
}

std::optional<ledger::EntryLine::Content> LedgerRows::told(std::uint64_t index) {
  const Rows rows = connection_.query(kTold, std::move(Params().i32(column(tenant_)).i64(column(index))));
  if (rows.empty()) return std::nullopt;
  const KeyBytes key = ledger_row_key(tenant_, index);
  return decoded("ledger_body", key, [&] { return decode_ledger_body(key, rows.bytes(0, 0)); });
}

void LedgerRows::expect(std::uint64_t from, std::uint64_t before) {
  expected_from_ = from;
  expected_before_ = std::min(before, from + kMostExpected);
  records_.clear();
  expected_.clear();
  runs_.clear();
  std::vector<std::int16_t> kinds;
  std::vector<std::string> names;
  std::optional<LedgerRow> row;
  try {
    for (std::uint64_t index = from; index < expected_before_; ++index) {
      if (!row || !row->holds(index)) row = row_of(index);
      if (!row) break;
      const RecordName& name = row->names[index - row->first];
      const ledger::Kind kind = row->entries[index - row->first].kind;
      if (name.empty()) continue;
      kinds.push_back(column(kind));
      names.push_back(name);
      if (kind == ledger::Kind::run) expected_.push_back(name);
    }
  } catch (const StoreError&) {  // whoever asks for that row gets the fault
  }
  std::reverse(expected_.begin(), expected_.end());
  if (names.empty()) return;
  const Rows rows = connection_.query(kRecords, std::move(Params().i32(column(tenant_)).i16s(kinds).byteas(names)));
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const Name name(static_cast<ledger::Kind>(rows.number(at, 0)), rows.bytes(at, 1));
    records_.emplace(name, rows.bytes(at, 2));
  }
}

// Also reads the next expected runs.
void LedgerRows::read_runs(std::string_view name) {
  std::vector<RecordName> names{RecordName(name)};
  while (!expected_.empty() && names.size() < kRunsAtOnce) {
    if (expected_.back() != name) names.push_back(std::move(expected_.back()));
    expected_.pop_back();
  }
  std::vector<std::int64_t> times, seqs;
  std::vector<std::int32_t> revisions;
  for (const RecordName& one : names) {
    if (!is_name_of(ledger::Kind::run, one)) continue;
    const model::RecordKey place = place_in(one);
    times.push_back(place.time_ms);
    seqs.push_back(number_of(place.seq));
    revisions.push_back(static_cast<std::int32_t>(revision_in(one)));
  }
  const Rows rows = connection_.query(kRuns, std::move(Params().i32(column(tenant_)).i64s(times).i64s(seqs).i32s(revisions)));
  runs_.clear();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    runs_[run_name(record_key(rows, row, 0), static_cast<std::uint32_t>(rows.number(row, 2)))] = rows.bytes(row, 3);
  }
}

std::optional<std::string> LedgerRows::value_at(const char* sql, const model::RecordKey& place) {
  const Rows rows = connection_.query(sql, std::move(Params().i32(column(tenant_)).i64(place.time_ms).i64(number_of(place.seq))));
  return rows.empty() ? std::nullopt : std::optional(std::string(rows.bytes(0, 0)));
}

std::optional<EntryBody> LedgerRows::body(ledger::Kind kind, std::string_view name, ledger::CameBy came) {
  using ledger::Kind;
  if (!is_name_of(kind, name)) return std::nullopt;
  const model::RecordKey place = place_in(name);
  const KeyBytes key = place_key(tenant_, place);
  if (kind == Kind::run) {
    if (!runs_.contains(RecordName(name))) read_runs(name);
    const auto found = runs_.find(RecordName(name));
    if (found == runs_.end()) return std::nullopt;
    return body_of(decoded("run", key, [&] { return decode_run(key, found->second).run; }), came);
  }
  if (kind == Kind::triage && !names_review(name)) {
    const model::ClusterKey cluster = cluster_in(name);
    const Rows rows = connection_.query(
        kDecision, std::move(Params().i32(column(tenant_)).bytes(view(cluster)).i64(place.time_ms).i64(number_of(place.seq))));
    if (rows.empty()) return std::nullopt;
    const KeyBytes at = triage_place(tenant_, cluster, place);
    return body_of(cluster, decoded("triage", at, [&] { return decode_triage(at, rows.bytes(0, 0)); }), came);
  }
  const auto value = value_at(kind == Kind::change ? kChange : kind == Kind::policy ? kPolicy : kReview, place);
  if (!value) return std::nullopt;
  if (kind == Kind::change) return body_of(decoded("change", key, [&] { return decode_change(key, *value); }), came);
  if (kind == Kind::policy) return body_of(decoded("policy", key, [&] { return decode_policy(key, *value); }), came);
  return body_of(decoded("review", key, [&] { return decode_review(key, *value); }), came);
}

std::uint32_t LedgerRows::latest_revision(const model::RecordKey& run) {
  const Rows rows = connection_.query(kLatest, std::move(Params()
                                                             .i32(column(tenant_))
                                                             .i16(column(ledger::Kind::run))
                                                             .bytes(run_name(run, 0))
                                                             .bytes(run_name(run, ~std::uint32_t{0}))));
  return rows.empty() ? 1 : revision_in(rows.bytes(0, 0));
}

}  // namespace runwarden::store::postgres
