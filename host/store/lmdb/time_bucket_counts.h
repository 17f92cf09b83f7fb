// Counts of runs, and of failures by fingerprint, by their time. A window of any length is counted from a few hundred entries. Internal to
// store/.
//
// A series keeps a count for every 2^10, 2^16, 2^22 and 2^28 milliseconds that have any, and one for all time. The ends of a window, each
// shorter than 2^10 ms, are walked. A TimeBucketCounts gathers the changes of one transaction; flush() writes each count once.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "model/record_key.h"
#include "store/cluster_change.h"
#include "store/lmdb/tables.h"
#include "store/lmdb/txn.h"

namespace runwarden::store {

using Half = std::array<char, 16>;  // half a SHA-256: distinguishes texts in keys
Half half_digest(std::string_view text);
inline std::string_view view(const Half& half) {
  return {half.data(), half.size()};
}

// Whether a row of the fingerprint index belongs to a false alarm, by its value. Counts of failures skip such rows.
inline bool is_false_alarm_row(std::string_view value) {
  return !value.empty();
}

constexpr Half kRunSeries{};  // all runs of a tenant; a fingerprint's half digest is the series of its failures

class TimeBucketCounts {
 public:
  void add(model::TenantId tenant, const Half& series, std::int64_t time_ms, std::int64_t change);
  void flush(WriteTxn& txn, const Tables& tables);

 private:
  std::map<std::string, std::int64_t> changes_;  // by key
};

std::uint64_t count_all(const Txn& txn, const Tables& tables, model::TenantId tenant, const Half& series);
// From inclusive, before exclusive.
struct CountWindow {
  model::TenantId tenant = 0;
  Half series{};
  std::int64_t from_ms = 0;
  std::int64_t before_ms = 0;
};
std::uint64_t count_window(const Txn& txn, const Tables& tables, const CountWindow& window);

// The key of the lowest-level count that includes a record of that time.
std::string lowest_count_key(model::TenantId tenant, const Half& series, std::int64_t time_ms);

// A count compared with what it counts: the counts of the level below it, or the records.
struct CountCheck {
  std::uint64_t says = 0;
  std::uint64_t is = 0;
  bool above = false;  // the count whose sum includes this one exists
};
// Throws BadValue or StoreError.
CountCheck check_count(const Txn& txn, const Tables& tables, std::string_view key, std::string_view value);

}  // namespace runwarden::store
