#include "store/lmdb/dimensions.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "store/record_codec.h"

namespace runwarden::store {
namespace {

constexpr std::size_t kStretchAt = 4 + sizeof(Half);
constexpr std::size_t kHeadKeyBytes = kStretchAt + 8;
constexpr std::int64_t kLastStretch = std::int64_t{1} << 40;

KeyBytes dimension_prefix(model::TenantId tenant, std::string_view dimension) {
  return KeyBytes().u32(tenant).bytes(view(half_digest(dimension)));
}

KeyBytes row_key(const KeyBytes& head, std::string_view value) {
  return KeyBytes(head).bytes(value);
}

std::string encode_stretch(std::string_view key, const StretchHead& head) {
  return seal(key, KeyBytes().u64(head.values).u64(head.runs).bytes(head.dimension));
}

std::string encode_value_row(std::string_view key, const ValueRow& row) {
  return seal(key, KeyBytes().u64(row.runs).time(row.first.time_ms).u64(row.first.seq).time(row.last_ms));
}

std::int64_t stretch_of_time(std::int64_t time_ms) {
  return time_ms >> kStretchShift;
}

void erase_stretch(WriteTxn& txn, const Tables& tables, const KeyBytes& head) {
  Cursor cursor(txn, tables.dimensions.handle);
  for (bool more = cursor.at_or_after(head); more && cursor.key().starts_with(head.view()); more = cursor.next()) cursor.erase();
}

// The values read so far: of the finished dimensions, the most frequent ones.
class DimensionRows {
 public:
  explicit DimensionRows(std::size_t most) : most_(most) {}

  void add(const model::Dimension& of, const ValueRow& row) {
    const auto [found, is_new] = values_.try_emplace(of.value, DimensionRow{of.name, of.value, 0, row.first.time_ms, row.last_ms});
    found->second.runs += row.runs;
    found->second.first_ms = std::min(found->second.first_ms, row.first.time_ms);
    found->second.last_ms = std::max(found->second.last_ms, row.last_ms);
  }
  void end_dimension() {
    std::vector<DimensionRow> of_one;
    of_one.reserve(values_.size());
    for (auto& [value, row] : values_) of_one.push_back(std::move(row));
    values_.clear();
    std::stable_sort(of_one.begin(), of_one.end(), [](const DimensionRow& a, const DimensionRow& b) { return a.runs > b.runs; });
    if (of_one.size() > most_) of_one.resize(most_);
    std::move(of_one.begin(), of_one.end(), std::back_inserter(rows_));
  }
  std::vector<DimensionRow> take() {
    end_dimension();
    return std::move(rows_);
  }

 private:
  std::size_t most_;
  std::vector<DimensionRow> rows_;
  std::map<std::string, DimensionRow, std::less<>> values_;  // of the dimension being read
};

}  // namespace

Half value_half(const model::Dimension& dimension) {
  return half_digest("dimension\n" + dimension.name + "\n" + dimension.value);
}

KeyBytes stretch_key(model::TenantId tenant, std::string_view dimension, std::int64_t stretch) {
  return dimension_prefix(tenant, dimension).time(stretch);
}

StretchHead decode_stretch(std::string_view key, std::string_view value) {
  const std::string_view bytes = open_head(key, value);
  if (bytes.size() < 16) throw BadValue("the head of a dimension's values is truncated");
  return {std::string(bytes.substr(16)), read_be(bytes, 0, 8), read_be(bytes, 8, 8)};
}

ValueRow decode_value_row(std::string_view key, std::string_view value) {
  const std::string_view bytes = open_head(key, value);
  if (bytes.size() != 32) throw BadValue("the row of a value has " + std::to_string(bytes.size()) + " bytes");
  return {read_be(bytes, 0, 8), {read_time(bytes, 8), read_be(bytes, 16, 8)}, read_time(bytes, 24)};
}

DimensionChanges::Stretch& DimensionChanges::stretch_of(const Txn& txn, const Tables& tables, const RunKey& place,
                                                        const std::string& dimension) {
  const std::int64_t number = stretch_of_time(place.key.time_ms);
  auto& dimensions = stretches_[{place.tenant, number}];
  if (const auto known = dimensions.find(dimension); known != dimensions.end()) return known->second;
  Stretch& stretch = dimensions[dimension];
  const KeyBytes key = stretch_key(place.tenant, dimension, number);
  if (const auto value = txn.get(tables.dimensions.handle, key)) {
    stretch.kept = decoded(tables.dimensions, key, [&] { return decode_stretch(key, *value); });
  }
  stretch.kept.dimension = dimension;
  return stretch;
}

DimensionChanges::Row& DimensionChanges::row_of(const Txn& txn, const Tables& tables, const RunKey& place,
                                                const model::Dimension& dimension, Stretch& stretch) {
  if (const auto known = stretch.rows.find(dimension.value); known != stretch.rows.end()) return known->second;
  Row& row = stretch.rows[dimension.value];
  row.half = value_half(dimension);
  const KeyBytes key = row_key(stretch_key(place.tenant, dimension.name, stretch_of_time(place.key.time_ms)), dimension.value);
  if (const auto bytes = txn.get(tables.dimensions.handle, key)) {
    row.kept = decoded(tables.dimensions, key, [&] { return decode_value_row(key, *bytes); });
    row.is_there = true;
  }
  return row;
}

DimensionChanges::Row& DimensionChanges::counting_row(const Txn& txn, const Tables& tables, const RunKey& place,
                                                      const model::Dimension& dimension, IfNew if_new) {
  Stretch& stretch = stretch_of(txn, tables, place, dimension.name);
  Row& row = row_of(txn, tables, place, dimension, stretch);
  if (row.is_there) return row;
  const bool is_other = dimension.value == model::kOtherValue;
  const bool has_room = is_other || stretch.kept.values + stretch.fresh < kMostValues;
  if (if_new == IfNew::makes_row && has_room) {
    row.is_there = true;
    if (!is_other) ++stretch.fresh;
    return row;
  }
  return is_other ? row : counting_row(txn, tables, place, {dimension.name, model::kOtherValue}, if_new);
}

void DimensionChanges::enter(const Txn& txn, const Tables& tables, const RunKey& place, const model::Dimension& dimension) {
  Row& row = counting_row(txn, tables, place, dimension, IfNew::makes_row);
  if (static_cast<std::int64_t>(row.kept.runs) + row.runs <= 0) {  // its times are those of runs that are gone
    row.kept.first = {std::numeric_limits<std::int64_t>::max(), 0};
    row.kept.last_ms = std::numeric_limits<std::int64_t>::min();
  }
  if (place.key <= row.kept.first) row.lost_first = false;
  ++row.runs;
  ++row.entries[place.key.time_ms >> kFinestOfRuns];
  row.kept.first = std::min(row.kept.first, place.key);
  row.kept.last_ms = std::max(row.kept.last_ms, place.key.time_ms);
}

void DimensionChanges::leave(const Txn& txn, const Tables& tables, const RunKey& place, const model::Dimension& dimension) {
  Row& row = counting_row(txn, tables, place, dimension, IfNew::counts_as_other);
  --row.runs;
  --row.entries[place.key.time_ms >> kFinestOfRuns];
  row.removed = true;
  if (place.key <= row.kept.first) row.lost_first = true;
}

void DimensionChanges::add_to(SeriesChanges& series) {
  for (auto& [of, dimensions] : stretches_) {
    for (auto& [dimension, stretch] : dimensions) {
      for (auto& [value, row] : stretch.rows) {
        for (const auto& [entry, runs] : row.entries)
          series.add(of.first, runs_series(row.half), kFinestOfRuns, entry << kFinestOfRuns, runs);
        row.entries.clear();
      }
    }
  }
}

Half DimensionChanges::counted_as(const Txn& txn, const Tables& tables, const RunKey& place, const model::Dimension& dimension) {
  return counting_row(txn, tables, place, dimension, IfNew::counts_as_other).half;
}

void DimensionChanges::flush(WriteTxn& txn, const Tables& tables) {
  for (auto& [of, dimensions] : stretches_) {
    for (auto& [dimension, stretch] : dimensions) write(txn, tables, {of.first, dimension, of.second}, stretch);
  }
  stretches_.clear();
}

// Narrows the times of a value to the entries of the series that are left.
void DimensionChanges::look_at_rest(const Txn& txn, const Tables& tables, const StretchPlace& place, Row& row) {
  const SeriesRef ref{tables.series, place.tenant, runs_series(row.half), kFinestOfRuns};
  const auto left = outermost_entries(txn, ref, {place.number << kStretchShift, (place.number + 1) << kStretchShift});
  if (!left) return;
  if (left->from_ms > row.kept.first.time_ms) row.kept.first = {left->from_ms, 0};
  row.kept.last_ms = std::min(row.kept.last_ms, left->before_ms - 1);
}

// Looks for the first runs with these values among the next runs. Few are looked at, because the writing thread does it; records are
// deleted oldest first, so mostly it is one of them.
void DimensionChanges::look_for_first(const Txn& txn, const Tables& tables, const StretchPlace& place,
                                      std::map<std::string_view, Row*> rows) {
  constexpr int kMostRuns = 512;
  model::RecordKey from = rows.begin()->second->kept.first;
  for (const auto& [value, row] : rows) from = std::min(from, row->kept.first);
  Cursor cursor(txn, tables.runs.handle);
  bool more = cursor.at_or_after(place_key(place.tenant, from));
  for (int looked_at = 0; more && looked_at < kMostRuns && !rows.empty(); more = cursor.next(), ++looked_at) {
    const model::RecordKey key = record_key_of(cursor.key());
    if (tenant_of(cursor.key()) != place.tenant || stretch_of_time(key.time_ms) != place.number) return;
    std::vector<model::Dimension> dimensions;
    try {
      dimensions = decode_run_head(cursor.key(), cursor.value()).run.dimensions;
    } catch (const BadValue&) {  // verify reports it
    }
    for (const model::Dimension& one : dimensions) {
      const auto found = one.name == place.dimension ? rows.find(one.value) : rows.end();
      if (found == rows.end() || key < found->second->kept.first) continue;
      found->second->kept.first = key;
      rows.erase(found);
    }
  }
}

void DimensionChanges::write(WriteTxn& txn, const Tables& tables, const StretchPlace& place, Stretch& stretch) {
  const KeyBytes head = stretch_key(place.tenant, place.dimension, place.number);
  StretchHead after = stretch.kept;
  after.values += stretch.fresh;
  for (const auto& [value, row] : stretch.rows) after.runs = plus(after.runs, row.runs);
  if (after.runs == 0) return erase_stretch(txn, tables, head);
  std::map<std::string_view, Row*> without_first;
  for (auto& [value, row] : stretch.rows) {
    row.kept.runs = plus(row.kept.runs, row.runs);
    if (!row.is_there || !row.removed || row.kept.runs == 0) continue;
    look_at_rest(txn, tables, place, row);
    if (row.lost_first) without_first.emplace(value, &row);
  }
  if (!without_first.empty()) look_for_first(txn, tables, place, std::move(without_first));
  for (const auto& [value, row] : stretch.rows) {
    if (!row.is_there || (row.runs == 0 && !row.removed)) continue;
    const KeyBytes key = row_key(head, value);
    txn.put(tables.dimensions.handle, key, encode_value_row(key, row.kept));
  }
  if (after.values != stretch.kept.values || after.runs != stretch.kept.runs)
    txn.put(tables.dimensions.handle, head, encode_stretch(head, after));
}

std::vector<DimensionRow> read_dimensions(const Txn& txn, const Tables& tables, model::TenantId tenant, const std::optional<Span>& span,
                                          std::size_t most) {
  const std::int64_t first = span ? stretch_of_time(span->from_ms) : -kLastStretch;
  const std::int64_t last = span ? stretch_of_time(span->before_ms - 1) : kLastStretch;
  const Table& table = tables.dimensions;
  DimensionRows rows(most);
  std::string dimension;
  std::string prefix;  // of the dimension being read
  Cursor cursor(txn, table.handle);
  bool more = cursor.at_or_after(KeyBytes().u32(tenant));
  while (more && tenant_of(cursor.key()) == tenant) {
    const std::string_view key = cursor.key();
    if (!key.starts_with(prefix) || prefix.empty()) {
      rows.end_dimension();
      prefix = key.substr(0, kStretchAt);
    }
    const std::int64_t stretch = read_time(key, kStretchAt);
    if (stretch < first) {
      more = cursor.at_or_after(KeyBytes().bytes(prefix).time(first));
      continue;
    }
    if (stretch > last) {
      more = cursor.at_or_after(KeyBytes().bytes(prefix).time(std::numeric_limits<std::int64_t>::max()));
      continue;
    }
    if (key.size() == kHeadKeyBytes) {
      dimension = decoded(table, key, [&] { return decode_stretch(key, cursor.value()); }).dimension;
    } else if (const ValueRow row = decoded(table, key, [&] { return decode_value_row(key, cursor.value()); }); row.runs > 0) {
      rows.add({dimension, std::string(key.substr(kHeadKeyBytes))}, row);
    }
    more = cursor.next();
  }
  return rows.take();
}

std::optional<model::RecordKey> first_run_with(const Txn& txn, const Tables& tables, model::TenantId tenant,
                                               const model::Dimension& dimension) {
  const Table& table = tables.dimensions;
  const KeyBytes prefix = dimension_prefix(tenant, dimension.name);
  Cursor cursor(txn, table.handle);
  bool more = cursor.at_or_after(prefix);
  while (more && cursor.key().starts_with(prefix.view())) {
    const std::int64_t stretch = read_time(cursor.key(), kStretchAt);
    const KeyBytes key = row_key(KeyBytes(prefix).time(stretch), dimension.value);
    const auto value = txn.get(table.handle, key);
    if (value && !dimension.value.empty()) {
      const ValueRow row = decoded(table, key, [&] { return decode_value_row(key, *value); });
      if (row.runs > 0) return row.first;
    }
    more = cursor.at_or_after(KeyBytes(prefix).time(stretch + 1));
  }
  return std::nullopt;
}

}  // namespace runwarden::store
