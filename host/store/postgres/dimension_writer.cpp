#include "store/postgres/dimension_writer.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "store/group_store.h"
#include "store/postgres/fault.h"
#include "store/postgres/group_rows.h"

namespace runwarden::store::postgres {
namespace {

using Statements = std::vector<Connection::Statement>;

constexpr const char* kValues = R"sql(
SELECT v.tenant, v.dimension, v.stretch, v.value, v.id FROM unnest($1, $2, $3, $4) AS k(tenant, dimension, stretch, value)
JOIN runwarden.dimension_value v ON v.tenant = k.tenant AND v.dimension = k.dimension AND v.stretch = k.stretch AND v.value = k.value)sql";
constexpr const char* kStretches = R"sql(
SELECT s.tenant, s.dimension, s.stretch, s.numbered FROM unnest($1, $2, $3) AS k(tenant, dimension, stretch)
JOIN runwarden.dimension_stretch s ON s.tenant = k.tenant AND s.dimension = k.dimension AND s.stretch = k.stretch)sql";
constexpr const char* kTouchStretches = R"sql(
INSERT INTO runwarden.dimension_stretch(tenant, dimension, stretch, numbered)
SELECT k.tenant, k.dimension, k.stretch, 0 FROM unnest($1, $2, $3) AS k(tenant, dimension, stretch) ORDER BY 1, 2, 3
ON CONFLICT (tenant, dimension, stretch) DO NOTHING)sql";
constexpr const char* kLockStretches = R"sql(
SELECT s.tenant, s.dimension, s.stretch, s.numbered FROM runwarden.dimension_stretch s
JOIN unnest($1, $2, $3) AS k(tenant, dimension, stretch) ON s.tenant = k.tenant AND s.dimension = k.dimension AND s.stretch = k.stretch
ORDER BY 1, 2, 3 FOR UPDATE OF s)sql";
constexpr const char* kAddValues = R"sql(
INSERT INTO runwarden.dimension_value(tenant, dimension, stretch, value) SELECT * FROM unnest($1, $2, $3, $4)
ON CONFLICT (tenant, dimension, stretch, value) DO NOTHING RETURNING tenant, dimension, stretch, value, id)sql";
constexpr const char* kPutNumbered = R"sql(
UPDATE runwarden.dimension_stretch s SET numbered = k.numbered FROM unnest($1, $2, $3, $4) AS k(tenant, dimension, stretch, numbered)
WHERE s.tenant = k.tenant AND s.dimension = k.dimension AND s.stretch = k.stretch)sql";

constexpr const char* kLeave = R"sql(
DELETE FROM runwarden.run_dimension d USING unnest($1, $2, $3, $4) AS k(tenant, value_id, time_ms, seq)
WHERE d.tenant = k.tenant AND d.value_id = k.value_id AND d.time_ms = k.time_ms AND d.seq = k.seq)sql";
constexpr const char* kEnter = R"sql(
INSERT INTO runwarden.run_dimension(tenant, value_id, time_ms, seq) SELECT * FROM unnest($1, $2, $3, $4) ORDER BY 1, 2, 3, 4
ON CONFLICT (tenant, value_id, time_ms, seq) DO NOTHING)sql";
// A stretch without runs starts over.
constexpr const char* kForgetValues = R"sql(
DELETE FROM runwarden.dimension_value v USING unnest($1, $2, $3) AS k(tenant, dimension, stretch)
WHERE v.tenant = k.tenant AND v.dimension = k.dimension AND v.stretch = k.stretch AND NOT EXISTS (
  SELECT FROM runwarden.dimension_value o JOIN runwarden.run_dimension d ON d.tenant = o.tenant AND d.value_id = o.id
  WHERE o.tenant = k.tenant AND o.dimension = k.dimension AND o.stretch = k.stretch
    AND d.time_ms >= k.stretch << 28 AND d.time_ms < (k.stretch + 1) << 28))sql";
constexpr const char* kForgetStretches = R"sql(
DELETE FROM runwarden.dimension_stretch s USING unnest($1, $2, $3) AS k(tenant, dimension, stretch)
WHERE s.tenant = k.tenant AND s.dimension = k.dimension AND s.stretch = k.stretch AND NOT EXISTS (
  SELECT FROM runwarden.dimension_value v WHERE v.tenant = k.tenant AND v.dimension = k.dimension AND v.stretch = k.stretch))sql";
static_assert(kStretchShift == 28, "the statements above say so");

struct StretchColumns {
  std::vector<std::int32_t> tenants;
  std::vector<std::string_view> dimensions;
  std::vector<std::int64_t> numbers;

  template <class Key>
  void add(const Key& place) {
    tenants.push_back(column(place.tenant));
    dimensions.push_back(place.dimension);
    numbers.push_back(place.number);
  }
  bool empty() const { return tenants.empty(); }
  Params params() const {
    Params params;
    params.i32s(tenants).byteas(dimensions).i64s(numbers);
    return params;
  }
};

struct ValueColumns : StretchColumns {
  std::vector<std::string_view> values;

  template <class Key>
  void add(const Key& place, std::string_view value) {
    StretchColumns::add(place);
    values.push_back(value);
  }
  Params params() const {
    Params params = StretchColumns::params();
    params.byteas(values);
    return params;
  }
};

struct RunColumns {
  std::vector<std::int32_t> tenants;
  std::vector<std::int64_t> ids, times, seqs;

  void add(model::TenantId tenant, std::int64_t id, const model::RecordKey& run) {
    tenants.push_back(column(tenant));
    ids.push_back(id);
    times.push_back(run.time_ms);
    seqs.push_back(column(run.seq));
  }
  Params params() const {
    Params params;
    params.i32s(tenants).i64s(ids).i64s(times).i64s(seqs);
    return params;
  }
};

}  // namespace

// Once a stretch has all of its numbers, a value without a number is counted under kOtherValue.
bool DimensionWriter::Stretch::is_settled(const std::string& value) const {
  if (ids.at(value)) return true;
  return value != model::kOtherValue && numbered >= kMostValues && ids.at(model::kOtherValue);
}

bool DimensionWriter::Stretch::lacks_numbers() const {
  return std::any_of(entering.begin(), entering.end(), [this](const std::string& value) { return !is_settled(value); });
}

std::vector<std::string_view> DimensionWriter::Stretch::number_entering() {
  std::vector<std::string_view> fresh;
  bool other = entering.contains(model::kOtherValue);
  for (const std::string& value : entering) {
    if (ids.at(value) || value == model::kOtherValue) continue;
    if (numbered >= kMostValues) {
      other = true;
      continue;
    }
    ++numbered;
    fresh.push_back(value);
  }
  if (other && !ids.at(model::kOtherValue)) fresh.push_back(model::kOtherValue);
  return fresh;
}

DimensionWriter::StretchPlace DimensionWriter::place_of(model::TenantId tenant, const model::RecordKey& run, const std::string& dimension) {
  return {tenant, dimension, run.time_ms >> kStretchShift};
}

DimensionWriter::DimensionWriter(Connection& connection, const BatchEffects& effects) : connection_(connection), effects_(effects) {
  const auto stretch_of = [this](model::TenantId tenant, const model::RecordKey& run, const model::Dimension& one) -> Stretch& {
    Stretch& stretch = stretches_[place_of(tenant, run, one.name)];
    stretch.ids[one.value];
    stretch.ids[model::kOtherValue];
    return stretch;
  };
  for (const auto& run : effects.runs_left) {
    for (const model::Dimension& one : run.dimensions) stretch_of(run.tenant, run.run, one).left = true;
  }
  for (const auto& run : effects.runs_entered) {
    for (const model::Dimension& one : run.dimensions) stretch_of(run.tenant, run.run, one).entering.insert(one.value);
  }
}

void DimensionWriter::add_look_up(Statements& statements) const {
  if (stretches_.empty()) return;
  ValueColumns values;
  StretchColumns stretches;
  for (const auto& [place, stretch] : stretches_) {
    stretches.add(place);
    for (const auto& [value, id] : stretch.ids) values.add(place, value);
  }
  statements.push_back({kValues, values.params()});
  statements.push_back({kStretches, stretches.params()});
}

void DimensionWriter::take_ids(const Rows& rows) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    Stretch& stretch = stretches_.at({tenant_at(rows, row, 0), std::string(rows.bytes(row, 1)), rows.number(row, 2)});
    stretch.ids.find(rows.bytes(row, 3))->second = rows.number(row, 4);
  }
}

void DimensionWriter::take_numbered(const Rows& rows) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    stretches_.at({tenant_at(rows, row, 0), std::string(rows.bytes(row, 1)), rows.number(row, 2)}).numbered = unsigned_at(rows, row, 3);
  }
}

void DimensionWriter::take_look_up(std::span<const Rows> answers) {
  if (stretches_.empty()) return;
  take_ids(answers[0]);
  take_numbered(answers[1]);
}

void DimensionWriter::number_values() {
  StretchColumns locked;
  ValueColumns looked_up;
  std::vector<std::pair<const StretchPlace*, Stretch*>> short_of;
  for (auto& [place, stretch] : stretches_) {
    if (!stretch.lacks_numbers()) continue;
    locked.add(place);
    for (const auto& [value, id] : stretch.ids) looked_up.add(place, value);
    short_of.emplace_back(&place, &stretch);
  }
  if (short_of.empty()) return;
  const Statements lock{{kTouchStretches, locked.params()}, {kLockStretches, locked.params()}, {kValues, looked_up.params()}};
  const std::vector<Rows> rows = connection_.run(lock);
  take_numbered(rows[1]);
  take_ids(rows[2]);
  ValueColumns fresh;
  StretchColumns raised;
  std::vector<std::int32_t> numbered;
  for (const auto& [place, stretch] : short_of) {
    const std::uint64_t before = stretch->numbered;
    for (const std::string_view value : stretch->number_entering()) fresh.add(*place, value);
    if (stretch->numbered == before) continue;
    raised.add(*place);
    numbered.push_back(static_cast<std::int32_t>(stretch->numbered));
  }
  if (fresh.empty()) return;
  Params put = raised.params();
  put.i32s(numbered);
  take_ids(connection_.run(Statements{{kAddValues, fresh.params()}, {kPutNumbered, std::move(put)}}).front());
}

Statements DimensionWriter::statements() const {
  Statements statements;
  if (stretches_.empty()) return statements;
  RunColumns left, entered;
  for (const auto& run : effects_.runs_left) {
    for (const model::Dimension& one : run.dimensions) {
      const Stretch& stretch = stretches_.at(place_of(run.tenant, run.run, one.name));
      for (const auto& id : {stretch.ids.at(one.value), stretch.ids.at(model::kOtherValue)}) {
        if (id) left.add(run.tenant, *id, run.run);
      }
    }
  }
  for (const auto& run : effects_.runs_entered) {
    for (const model::Dimension& one : run.dimensions) {
      const Stretch& stretch = stretches_.at(place_of(run.tenant, run.run, one.name));
      const auto& own = stretch.ids.at(one.value);
      const auto& counted_as = own ? own : stretch.ids.at(model::kOtherValue);
      if (!counted_as) throw PgFault(PgFault::Kind::again, "40001", "a dimension's values were deleted concurrently");
      entered.add(run.tenant, *counted_as, run.run);
    }
  }
  StretchColumns forgotten;
  for (const auto& [place, stretch] : stretches_) {
    if (stretch.left && stretch.entering.empty()) forgotten.add(place);
  }
  if (!left.ids.empty()) statements.push_back({kLeave, left.params()});
  if (!entered.ids.empty()) statements.push_back({kEnter, entered.params()});
  if (!forgotten.empty()) {
    statements.push_back({kForgetValues, forgotten.params()});
    statements.push_back({kForgetStretches, forgotten.params()});
  }
  return statements;
}

}  // namespace runwarden::store::postgres
