// Counts of the page by time: a detector's failures, runs that a subject's failures affect, runs with a dimension's value. For the
// files of store/ only.
//
// Keys are those of the tally: tenant, half digest of the series, level u8, bucket. A level is a shift: buckets of 2^level ms. Series
// of failures begin at level 10, those of runs at 16.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
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
Half affected_series(const Half& subject, const Half& value);

// Gathers what one transaction changes; flush() writes each count once.
class SeriesChanges {
 public:
  void add(model::TenantId tenant, const Half& series, int finest, std::int64_t time_ms, std::int64_t change);
  void flush(WriteTxn& txn, const Tables& tables);
  bool empty() const { return changes_.empty(); }

 private:
  std::unordered_map<std::string, std::int64_t> changes_;  // by key of the finest level
};

// A table of counts by time, and the series in it.
struct SeriesRef {
  const Table& table;
  model::TenantId tenant = 0;
  Half series{};
  int finest = kFinestOfRuns;
};

// The sum over the entries that overlap the span.
std::uint64_t sum_series(const Txn& txn, const SeriesRef& ref, const Span& span);

// For each of the series the sum of the coarsest entries that overlap the span: at least as much as the span's own, for a few reads. Of
// `ref` the table and the tenant count.
std::vector<std::uint64_t> sums_of_coarsest(const Txn& txn, const SeriesRef& ref, std::span<const Half> series, const Span& span);

// From the beginning of the first of the finest entries within the span to the end of the last; nothing: there are none.
std::optional<Span> outermost_entries(const Txn& txn, const SeriesRef& ref, const Span& span);

// One sum a bucket, from the finest level that has at most kMostEntries buckets in the span: an entry belongs to the bucket it begins in.
constexpr std::int64_t kMostEntries = 25'000;
std::vector<std::uint64_t> bucket_sums(const Txn& txn, const SeriesRef& ref, const Span& span, std::int64_t width_ms);

}  // namespace runwarden::store
