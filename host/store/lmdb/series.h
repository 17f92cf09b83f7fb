// Counts of the page by time: a detector's failures, runs that a subject's failures affect, runs with a dimension's value. Internal to
// store/.
//
// Keys are like those of the tally: tenant, half digest of the series, level u8, bucket. A level is a shift: its buckets are 2^level ms
// long. Series of failures begin at level 10, those of runs at 16. A row is the count u64; for affected runs, then also how many of them
// have a value of a dimension: ValueKey u64 and count u64, in order of keys. So a failure touches one page of its group, however many
// dimensions there are.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/time_buckets.h"
#include "model/cluster.h"
#include "store/group_store.h"
#include "store/lmdb/time_bucket_counts.h"
#include "store/lmdb/txn.h"

namespace runwarden::store {

constexpr int kFinestOfFailures = 10;
constexpr int kFinestOfRuns = 16;

// Series, by half digest. The half of a series mixes its subject's own half with what is counted.
Half subject_half(const Subject& subject);
Half failures_series(const Half& subject);  // of a detector or of all; a group's failures are in the tally
Half affected_series(const Half& subject);
Half runs_series(const Half& value);  // runs with a dimension's value; takes the value_half() of dimensions.h

// How a row identifies a dimension's value: by the beginning of its value_half(). A row has at most some 1,600 of them.
using ValueKey = std::uint64_t;
ValueKey value_key(const Half& value);

struct SeriesRow {
  std::uint64_t count = 0;
  std::vector<std::pair<ValueKey, std::uint64_t>> with;  // in order of keys; no count is 0

  bool operator==(const SeriesRow&) const = default;
};
SeriesRow decode_series_row(std::string_view key, std::string_view value);  // throws BadValue

// Gathers the changes of one transaction; flush() writes each row once.
class SeriesChanges {
 public:
  void add(model::TenantId tenant, const Half& series, int finest, std::int64_t time_ms, std::int64_t change);
  // An affected run with these values.
  void add(model::TenantId tenant, const Half& series, std::span<const ValueKey> values, std::int64_t time_ms, std::int64_t change);
  void flush(WriteTxn& txn, const Tables& tables);

 private:
  struct Change {
    std::int64_t count = 0;
    std::vector<std::pair<ValueKey, std::int64_t>> with;  // in any order; a key may repeat

    void operator+=(const Change& other);
    void settle();  // each key once, none without a change
    bool changes_nothing() const { return count == 0 && with.empty(); }
  };
  static void write(WriteTxn& txn, const Table& table, const std::string& key, const Change& change);

  std::unordered_map<std::string, Change> changes_;  // by key of the finest level
};

// A series in a table of counts by time, and which counts to read: all, or those with a value.
struct SeriesRef {
  const Table& table;
  model::TenantId tenant = 0;
  Half series{};
  int finest = kFinestOfRuns;
  std::optional<ValueKey> value = std::nullopt;
};

// The sum over the entries that overlap the span.
std::uint64_t sum_series(const Txn& txn, const SeriesRef& ref, const Span& span);

// A span as the entries of a level that are whole in it, and what is left of it before and after them.
struct SpanParts {
  Span before;
  Span whole;
  Span after;
};
SpanParts parts_of(const Span& span, int level);

// For each series, the sum of the coarsest entries that overlap the span: at least the span's own sum, from a few reads. Uses the table,
// the tenant and the value of `ref`.
std::vector<std::uint64_t> sums_of_coarsest(const Txn& txn, const SeriesRef& ref, std::span<const Half> series, const Span& span);

// From the beginning of the first to the end of the last of the finest entries within the span; nothing: there are none.
std::optional<Span> outermost_entries(const Txn& txn, const SeriesRef& ref, const Span& span);

// One sum per bucket of what the span contains, from the finest level with at most kMostEntries entries in the buckets. An entry belongs to
// the bucket it begins in. The buckets cover the span.
constexpr std::int64_t kMostEntries = 25'000;
struct BucketedSpan {
  Span span;
  TimeBuckets buckets;
  std::function<std::uint64_t(const Span&)> count;  // exact; for the ends of the span, which are shorter than an entry
};
std::vector<std::uint64_t> bucket_sums(const Txn& txn, const SeriesRef& ref, const BucketedSpan& bucketed);

}  // namespace runwarden::store
