#include "store/lmdb/upgrade.h"

#include <algorithm>
#include <array>
#include <string>

#include "store/lmdb/groups.h"
#include "store/lmdb/keys.h"
#include "store/lmdb/time_bucket_counts.h"

namespace runwarden::store {
namespace {

constexpr std::size_t kFlushEvery = 4096;
constexpr std::size_t kHalfBytes = sizeof(Half);

// Format 0 had no format mark and no counts: the records were walked.
// Format 1 had no groups of failures: they are counted in slices while the store is served.
constexpr std::array kSteps = {UpgradeStep{0, "counts its runs and failures", &recount},
                               UpgradeStep{1, "has its groups of failures counted while it is served", &begin_group_build}};

static_assert(kSteps.back().from + 1 == kFormat, "every format but the first has the step that leads to it");

bool is_new(WriteTxn& txn, const Tables& tables) {
  for (const Table* table : {&tables.tenants, &tables.keys, &tables.runs, &tables.changes, &tables.policies}) {
    if (txn.entries(table->handle) != 0) return false;
  }
  return true;
}

template <class Add>
void walk(WriteTxn& txn, const Tables& tables, const Table& table, Add add) {
  TimeBucketCounts counts;
  std::string last;
  for (bool more = true; more;) {
    {
      Cursor cursor(txn, table.handle);
      more = last.empty() ? cursor.first() : cursor.at_or_after(last);
      for (std::size_t seen = 0; more && seen < kFlushEvery; more = cursor.next(), ++seen) add(counts, cursor);
      if (more) last = cursor.key();
    }
    counts.flush(txn, tables);
  }
}

}  // namespace

std::span<const UpgradeStep> upgrade_steps() {
  return kSteps;
}

void begin_group_build(WriteTxn& txn, const Tables& tables) {
  write_group_build(txn, tables, group_build_start());
}

void recount(WriteTxn& txn, const Tables& tables) {
  {
    Cursor cursor(txn, tables.tally.handle);
    for (bool more = cursor.first(); more; more = cursor.next()) cursor.erase();
  }
  walk(txn, tables, tables.runs,
       [](TimeBucketCounts& counts, const Cursor& at) { counts.add(tenant_of(at.key()), kRunSeries, record_key_of(at.key()).time_ms, 1); });
  walk(txn, tables, tables.fingerprints, [](TimeBucketCounts& counts, const Cursor& at) {
    const std::string_view key = at.key();
    if (is_false_alarm_row(at.value())) return;
    Half series{};
    std::copy_n(key.data() + 4, kHalfBytes, series.data());
    counts.add(tenant_of(key), series, read_time(key, 4 + kHalfBytes), 1);
  });
}

namespace {

std::uint64_t format_of(const Txn& txn, const Tables& tables) {
  return read_meta(txn, tables, meta::kFormatVersion);
}

void check_format(const Txn& txn, const Tables& tables, bool is_older, LmdbSettings::IfOlder if_older) {
  const std::uint64_t found = format_of(txn, tables);
  const std::string program = std::to_string(kFormat);
  if (found > kFormat) {
    throw StoreError("the store has format " + std::to_string(found) + ", but this program supports up to " + program +
                     "; install the version of runwarden that wrote it, or a later one, or restore an earlier backup");
  }
  if (is_older && if_older == LmdbSettings::IfOlder::refuse) {
    throw StoreError("the store has format " + std::to_string(found) + ", but this program writes format " + program +
                     "; make a copy of its folder, then start the service once, or run `runwarden compact`: either upgrades it");
  }
}

}  // namespace

void settle_format(LmdbEnv& env, const Tables& tables, LmdbSettings::IfOlder if_older) {
  {
    const ReadTxn txn = env.read();
    const std::uint64_t found = format_of(txn, tables);
    if (found == kFormat) return;
    check_format(txn, tables, false, if_older);
    if (env.read_only()) {
      throw StoreError("the store has format " + std::to_string(found) + ", this program reads format " + std::to_string(kFormat) +
                       ", and the file system is read-only; copy the store to a writable one");
    }
  }
  WriteTxn txn = env.write();
  const std::uint64_t found = format_of(txn, tables);
  if (found == kFormat) return;
  const bool is_older = !is_new(txn, tables);
  check_format(txn, tables, is_older, if_older);
  for (const UpgradeStep& step : upgrade_steps()) {
    if (is_older && step.from >= found) step.run(txn, tables);
  }
  write_meta(txn, tables, meta::kFormatVersion, kFormat);
  txn.commit();
}

void refuse_newer_format(LmdbEnv& env, const Tables& tables) {
  check_format(env.read(), tables, false, LmdbSettings::IfOlder::upgrade);
}

}  // namespace runwarden::store
