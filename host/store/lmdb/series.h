// Counts of the page by time: a detector's failures, runs that a subject's failures affect, runs with a dimension's value. For the
// files of store/ only.
//
// Keys are those of the tally: tenant, half digest of the series, level u8, bucket. A level is a shift: buckets of 2^level ms. Series
// of failures begin at level 10, those of runs at 16. A row is the count u64; then, for affected runs, how many of them have a value of
// a dimension: ValueKey u64 and count u64, in the order of keys. So a failure touches one page of its group, however many dimensions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/cluster.h"
#include "store/group_store.h"
#include "store/lmdb/time_bucket_counts.h"

namespace runwarden::store {

constexpr int kFinestOfFailures = 10;
constexpr int kFinestOfRuns = 16;

// Series, by half digest. A subject's own half, and what is counted of it, are mixed into the half of a series.
Half subject_half(const Subject& subject);
Half failures_series(const Half& subject);  // of a detector or of all; a group's failures are in the tally
Half affected_series(const Half& subject);
Half runs_series(const Half& value);  // runs with a dimension's value; value_half() of dimensions.h

// What a row knows a dimension's value by: the beginning of its value_half(). A row has at most some 1,600 of them.
using ValueKey = std::uint64_t;
ValueKey value_key(const Half& value);

struct SeriesRow {
  std::uint64_t count = 0;
  std::vector<std::pair<ValueKey, std::uint64_t>> with;  // in the order of keys, none of them 0

  bool operator==(const SeriesRow&) const = default;
};
SeriesRow decode_series_row(std::string_view key, std::string_view value);  // throws BadValue

// Gathers what one transaction changes; flush() writes each row once.
class SeriesChanges {
 public:
  void add(model::TenantId tenant, const Half& series, int finest, std::int64_t time_ms, std::int64_t change);
  // An affected run with these values.
  void add(model::TenantId tenant, const Half& series, std::span<const ValueKey> values, std::int64_t time_ms, std::int64_t change);
  void flush(WriteTxn& txn, const Tables& tables);

 private:
  struct Change {
    std::int64_t count = 0;
    std::vector<std::pair<ValueKey, std::int64_t>> with;  // in any order, a key any number of times

    void operator+=(const Change& other);
    void settle();  // each key once, none without a change
    bool changes_nothing() const { return count == 0 && with.empty(); }
  };
  static void write(WriteTxn& txn, const Table& table, const std::string& key, const Change& change);

  std::unordered_map<std::string, Change> changes_;  // by key of the finest level
};

// A table of counts by time, the series in it, and which of its counts: all, or those with a value.
struct SeriesRef {
  const Table& table;
  model::TenantId tenant = 0;
  Half series{};
  int finest = kFinestOfRuns;
  std::optional<ValueKey> value = std::nullopt;
};

// The sum over the entries that overlap the span.
std::uint64_t sum_series(const Txn& txn, const SeriesRef& ref, const Span& span);

// For each of the series the sum of the coarsest entries that overlap the span: at least as much as the span's own, for a few reads. Of
// `ref` the table, the tenant and the value count.
std::vector<std::uint64_t> sums_of_coarsest(const Txn& txn, const SeriesRef& ref, std::span<const Half> series, const Span& span);

// From the beginning of the first of the finest entries within the span to the end of the last; nothing: there are none.
std::optional<Span> outermost_entries(const Txn& txn, const SeriesRef& ref, const Span& span);

// One sum a bucket, from the finest level that has at most kMostEntries buckets in the span: an entry belongs to the bucket it begins in.
constexpr std::int64_t kMostEntries = 25'000;
std::vector<std::uint64_t> bucket_sums(const Txn& txn, const SeriesRef& ref, const Span& span, std::int64_t width_ms);

}  // namespace runwarden::store
