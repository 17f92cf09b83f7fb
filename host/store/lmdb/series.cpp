#include "store/lmdb/series.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

namespace runwarden::store {
namespace {

constexpr std::array<int, 4> kLevels = {10, 16, 22, 28};
constexpr std::size_t kLevelAt = 4 + sizeof(Half);
constexpr std::size_t kBucketAt = kLevelAt + 1;
constexpr std::int64_t kFar = std::int64_t{1} << 60;

KeyBytes entry_key(model::TenantId tenant, const Half& series, int level, std::int64_t bucket) {
  return KeyBytes().u32(tenant).bytes(view(series)).u8(static_cast<std::uint8_t>(level)).time(bucket);
}

constexpr std::size_t kCountBytes = 8;
constexpr std::size_t kWithBytes = 16;

// The bytes of a row, with their length checked.
std::string_view open_row(std::string_view key, std::string_view value) {
  const std::string_view bytes = open_head(key, value);
  if (bytes.size() < kCountBytes || (bytes.size() - kCountBytes) % kWithBytes != 0) {
    throw BadValue("the count has " + std::to_string(bytes.size()) + " bytes");
  }
  return bytes;
}

std::uint64_t read_entry(const SeriesRef& ref, std::string_view key, std::string_view value) {
  return decoded(ref.table, key, [&]() -> std::uint64_t {
    const std::string_view row = open_row(key, value);
    if (!ref.value) return read_be(row, 0, 8);
    for (std::size_t at = kCountBytes; at < row.size(); at += kWithBytes) {
      if (read_be(row, at, 8) == *ref.value) return read_be(row, at + 8, 8);
    }
    return 0;
  });
}

// Reads the entries of one series, level by level.
class SeriesReader {
 public:
  SeriesReader(const Txn& txn, const SeriesRef& ref) : ref_(ref), cursor_(txn, ref.table.handle) {}

  // Passes each entry of a level, from `first` to before `end`, to `use`: its bucket and count.
  template <class Use>
  void each(int level, std::int64_t first, std::int64_t end, Use use) {
    if (first >= end) return;
    const KeyBytes last = entry_key(ref_.tenant, ref_.series, level, end);
    for (bool more = cursor_.at_or_after(entry_key(ref_.tenant, ref_.series, level, first)); more && cursor_.key() < last.view();
         more = cursor_.next()) {
      use(read_time(cursor_.key(), kBucketAt), read_entry(ref_, cursor_.key(), cursor_.value()));
    }
  }

  // Sums from the finest entries at both ends inwards to the coarsest in the middle.
  std::uint64_t sum_between(std::size_t level, std::int64_t first, std::int64_t end) {
    if (level + 1 == kLevels.size()) return sum(level, first, end);
    const int step = kLevels[level + 1] - kLevels[level];
    const std::int64_t first_whole = (first + (std::int64_t{1} << step) - 1) >> step;
    const std::int64_t end_whole = end >> step;
    if (first_whole >= end_whole) return sum(level, first, end);
    return sum(level, first, first_whole << step) + sum_between(level + 1, first_whole, end_whole) + sum(level, end_whole << step, end);
  }

 private:
  std::uint64_t sum(std::size_t level, std::int64_t first, std::int64_t end) {
    std::uint64_t total = 0;
    each(kLevels[level], first, end, [&](std::int64_t, std::uint64_t count) { total += count; });
    return total;
  }

  const SeriesRef& ref_;
  Cursor cursor_;
};

std::size_t level_index(int level) {
  return static_cast<std::size_t>(std::find(kLevels.begin(), kLevels.end(), level) - kLevels.begin());
}

Half mixed(const Half& half, std::uint8_t tag) {
  Half series = half;
  series.front() = static_cast<char>(series.front() ^ tag);
  series.back() = static_cast<char>(series.back() + tag);
  return series;
}

constexpr std::uint8_t kFailuresTag = 0x5a;
constexpr std::uint8_t kAffectedTag = 0xa5;
constexpr std::uint8_t kRunsTag = 0x3c;

}  // namespace

Half subject_half(const Subject& subject) {
  switch (subject.kind) {
    case Subject::Kind::cluster: return subject.cluster;
    case Subject::Kind::detector: return half_digest("detector\n" + subject.detector_key);
    case Subject::Kind::any: break;
  }
  static const Half any = half_digest("any");
  return any;
}

Half failures_series(const Half& subject) {
  return mixed(subject, kFailuresTag);
}

Half affected_series(const Half& subject) {
  return mixed(subject, kAffectedTag);
}

Half runs_series(const Half& value) {
  return mixed(value, kRunsTag);
}

ValueKey value_key(const Half& value) {
  return read_be(view(value), 0, 8);
}

SeriesRow decode_series_row(std::string_view key, std::string_view value) {
  const std::string_view bytes = open_row(key, value);
  SeriesRow row{read_be(bytes, 0, 8), {}};
  for (std::size_t at = kCountBytes; at < bytes.size(); at += kWithBytes)
    row.with.emplace_back(read_be(bytes, at, 8), read_be(bytes, at + 8, 8));
  return row;
}

void SeriesChanges::Change::operator+=(const Change& other) {
  count += other.count;
  with.insert(with.end(), other.with.begin(), other.with.end());
}

void SeriesChanges::Change::settle() {
  std::sort(with.begin(), with.end());
  std::vector<std::pair<ValueKey, std::int64_t>> sums;
  for (const auto& [value, change] : with) {
    if (!sums.empty() && sums.back().first == value) {
      sums.back().second += change;
    } else {
      sums.emplace_back(value, change);
    }
  }
  std::erase_if(sums, [](const auto& one) { return one.second == 0; });
  with = std::move(sums);
}

void SeriesChanges::add(model::TenantId tenant, const Half& series, int finest, std::int64_t time_ms, std::int64_t change) {
  changes_[std::string(entry_key(tenant, series, finest, time_ms >> finest).view())].count += change;
}

void SeriesChanges::add(model::TenantId tenant, const Half& series, std::span<const ValueKey> values, std::int64_t time_ms,
                        std::int64_t change) {
  Change& row = changes_[std::string(entry_key(tenant, series, kFinestOfRuns, time_ms >> kFinestOfRuns).view())];
  row.count += change;
  for (const ValueKey value : values) row.with.emplace_back(value, change);
}

void SeriesChanges::write(WriteTxn& txn, const Table& table, const std::string& key, const Change& change) {
  const auto value = txn.get(table.handle, key);
  const SeriesRow before = value ? decoded(table, key, [&] { return decode_series_row(key, *value); }) : SeriesRow();
  const std::uint64_t count = plus(before.count, change.count);
  if (count == 0) return static_cast<void>(txn.erase(table.handle, key));
  std::string row(KeyBytes().u64(count).view());
  const auto append = [&](ValueKey of, std::uint64_t number) {
    if (number != 0) row += KeyBytes().u64(of).u64(number).view();
  };
  auto kept = before.with.begin();
  for (const auto& [of, by] : change.with) {
    for (; kept != before.with.end() && kept->first < of; ++kept) append(kept->first, kept->second);
    const bool is_there = kept != before.with.end() && kept->first == of;
    append(of, plus(is_there ? kept++->second : 0, by));
  }
  for (; kept != before.with.end(); ++kept) append(kept->first, kept->second);
  txn.put(table.handle, key, seal(key, row));
}

void SeriesChanges::flush(WriteTxn& txn, const Tables& tables) {
  std::map<std::string, Change> all;  // in order of keys: neighbors are written one after the other
  for (auto& [key, change] : changes_) {
    change.settle();
    if (change.changes_nothing()) continue;
    const int finest = static_cast<std::uint8_t>(key[kLevelAt]);
    const std::int64_t bucket = read_time(key, kBucketAt);
    const std::string_view series = std::string_view(key).substr(0, kLevelAt);
    all[key] += change;
    for (std::size_t level = level_index(finest) + 1; level < kLevels.size(); ++level) {
      const KeyBytes above =
          KeyBytes().bytes(series).u8(static_cast<std::uint8_t>(kLevels[level])).time(bucket >> (kLevels[level] - finest));
      all[std::string(above.view())] += change;
    }
  }
  for (auto& [key, change] : all) {
    change.settle();
    if (!change.changes_nothing()) write(txn, tables.series, key, change);
  }
  changes_.clear();
}

SpanParts parts_of(const Span& span, int level) {
  const std::int64_t from = std::clamp(span.from_ms, -kFar, kFar);
  const std::int64_t before = std::max(std::clamp(span.before_ms, -kFar, kFar), from);
  const std::int64_t first = std::min((((from - 1) >> level) + 1) << level, before);
  const std::int64_t end = std::max(before >> level << level, first);
  return {{from, first}, {first, end}, {end, before}};
}

std::uint64_t sum_series(const Txn& txn, const SeriesRef& ref, const Span& span) {
  const std::int64_t from = std::clamp(span.from_ms, -kFar, kFar);
  const std::int64_t before = std::clamp(span.before_ms, -kFar, kFar);
  if (from >= before) return 0;
  return SeriesReader(txn, ref).sum_between(level_index(ref.finest), from >> ref.finest, ((before - 1) >> ref.finest) + 1);
}

std::vector<std::uint64_t> sums_of_coarsest(const Txn& txn, const SeriesRef& ref, std::span<const Half> series, const Span& span) {
  std::vector<std::uint64_t> sums(series.size());
  const int level = kLevels.back();
  const std::int64_t from = std::clamp(span.from_ms, -kFar, kFar);
  const std::int64_t before = std::clamp(span.before_ms, -kFar, kFar);
  if (from >= before) return sums;
  std::vector<std::size_t> order(series.size());  // in the order of the table: neighbors share pages
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) { return view(series[left]) < view(series[right]); });
  Cursor cursor(txn, ref.table.handle);
  for (const std::size_t at : order) {
    const KeyBytes first = entry_key(ref.tenant, series[at], level, from >> level);
    const KeyBytes end = entry_key(ref.tenant, series[at], level, ((before - 1) >> level) + 1);
    for (bool more = cursor.at_or_after(first); more && cursor.key() < end.view(); more = cursor.next()) {
      sums[at] += read_entry(ref, cursor.key(), cursor.value());
    }
  }
  return sums;
}

std::optional<Span> outermost_entries(const Txn& txn, const SeriesRef& ref, const Span& span) {
  const KeyBytes first = entry_key(ref.tenant, ref.series, ref.finest, span.from_ms >> ref.finest);
  const KeyBytes end = entry_key(ref.tenant, ref.series, ref.finest, ((span.before_ms - 1) >> ref.finest) + 1);
  Cursor cursor(txn, ref.table.handle);
  if (!cursor.at_or_after(first) || cursor.key() >= end.view()) return std::nullopt;
  const std::int64_t from = read_time(cursor.key(), kBucketAt);
  cursor.before(end);
  return Span{from << ref.finest, (read_time(cursor.key(), kBucketAt) + 1) << ref.finest};
}

std::vector<std::uint64_t> bucket_sums(const Txn& txn, const SeriesRef& ref, const BucketedSpan& bucketed) {
  const TimeBuckets& buckets = bucketed.buckets;
  std::vector<std::uint64_t> sums(buckets.count);
  std::size_t index = level_index(ref.finest);
  while (index + 1 < kLevels.size() && (buckets.end_ms() - buckets.from_ms) >> kLevels[index] > kMostEntries) ++index;
  const int level = kLevels[index];
  const SpanParts parts = parts_of(bucketed.span, level);
  const auto add = [&](std::int64_t at_ms, std::uint64_t count) {
    sums[static_cast<std::size_t>((at_ms - buckets.from_ms) / buckets.width_ms)] += count;
  };
  SeriesReader(txn, ref).each(level, parts.whole.from_ms >> level, parts.whole.before_ms >> level,
                              [&](std::int64_t entry, std::uint64_t count) { add(entry << level, count); });
  for (const Span& end : {parts.before, parts.after}) {
    if (end.from_ms < end.before_ms) add(end.from_ms, bucketed.count(end));
  }
  return sums;
}

}  // namespace runwarden::store
