// A good store is called good, and every kind of damage is found, with the place and the remedy.
#include <functional>

#include "store/lmdb/policies.h"
#include "store/record_codec.h"
#include "store/lmdb/tally.h"
#include "upkeep_store.h"

namespace runwarden::store {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StrEq;

class VerifyStore : public UpkeepTest {
 protected:
  Verified verified() {
    auto result = verify(upkeep());
    if (!result.ok()) throw std::runtime_error(result.error().detail);
    return *result;
  }
  void expect_fault(const std::string& table, const std::string& detail) {
    const Verified found = verified();
    EXPECT_GT(found.faults, 0u);
    EXPECT_THAT(found.first_ones,
                Contains(::testing::AllOf(Field(&StoreFault::table, StrEq(table)), Field(&StoreFault::detail, HasSubstr(detail)),
                                          Field(&StoreFault::remedy, Not(StrEq(""))))))
        << table << ": " << detail;
  }
  // Drops the first row of a table whose key or value is as asked for.
  using Is = std::function<bool(std::string_view key, std::string_view value)>;
  void drop(
      const std::string& table, const Is& is = [](auto, auto) { return true; }) {
    bool dropped = false;
    tamper(path_, table, [&](WriteTxn& txn, const Table& in) {
      Cursor cursor(txn, in.handle);
      for (bool more = cursor.first(); more && !dropped; more = cursor.next()) {
        if (!is(cursor.key(), cursor.value())) continue;
        cursor.erase();
        dropped = true;
      }
    });
    ASSERT_TRUE(dropped) << table;
  }
  void put(const std::string& table, const std::string& key, const std::string& value) {
    tamper(path_, table, [&](WriteTxn& txn, const Table& in) { txn.put(in.handle, key, value); });
  }
};

TEST_F(VerifyStore, GoodStore_HasNoFault) {
  fill();
  const Verified found = verified();
  EXPECT_EQ(found.faults, 0u);
  EXPECT_EQ(found.entries.size(), 23u) << "every table is looked at";
  EXPECT_EQ(found.entries.at("runs"), 26u);
  EXPECT_EQ(found.entries.at("shadow_failures"), 6u);
  expect_good(path_);
}

TEST_F(VerifyStore, AfterRetention_HasNoFault) {
  fill();
  {
    const auto store = open(path_);
    Retention retention;
    retention.failures_before_ms = clock_.wall_ms() - 100;
    retention.policies_before_ms = kEndMs;
    retention.runs_before_ms = clock_.wall_ms() - 200;
    while (store->expire(retention, 7).more) continue;
    retention.runs_before_ms = clock_.wall_ms() - 50;
    while (store->expire(retention, 7).more) continue;
  }
  expect_good(path_);
}

TEST_F(VerifyStore, ChangedByteInAnyValue_IsFound) {
  fill();
  const Rows good = rows(path_);
  int checked = 0;
  for (const auto& [table, entries] : good) {
    for (const auto& [key, value] : entries) {
      if (value.empty()) continue;
      std::string bad = value;
      bad.back() = static_cast<char>(bad.back() ^ 4);
      put(table, key, bad);
      expect_fault(table, "checksum");
      put(table, key, value);
      ++checked;
      break;
    }
  }
  EXPECT_EQ(checked, 16);
  expect_good(path_);
}

TEST_F(VerifyStore, ValueUnderAnotherKey_IsFound) {
  fill();
  const Rows good = rows(path_);
  const auto& runs = good.at("runs");
  put("runs", runs.begin()->first, std::next(runs.begin())->second);
  expect_fault("runs", "checksum of the head is wrong");
}

struct Missing {
  const char* from;
  int part;  // of a policy's index or of a run's events; -1: any
  const char* found_in;
  const char* detail;
};

class VerifyMissing : public VerifyStore, public ::testing::WithParamInterface<Missing> {};

TEST_P(VerifyMissing, Entry_IsMissed) {
  fill();
  const Missing& missing = GetParam();
  drop(missing.from, [&](std::string_view key, std::string_view value) {
    if (missing.part < 0) return true;
    if (std::string_view(missing.from) == "policy_index") return key[4] == missing.part;
    if (std::string_view(missing.from) == "events") return key[kPlaceBytes] == missing.part;
    if (std::string_view(missing.from) == "tally") return key[20] == missing.part;
    return value.size() == static_cast<std::size_t>(missing.part);
  });
  expect_fault(missing.found_in, missing.detail);
}

INSTANTIATE_TEST_SUITE_P(
    All, VerifyMissing,
    ::testing::Values(Missing{"run_ids", -1, "runs", "its runId is not in the index"},
                      Missing{"open_runs", -1, "runs", "not among the open runs"},
                      Missing{"fingerprints", -1, "failures", "its fingerprint is not in the index"},
                      Missing{"tally", 10, "runs", "it is not counted"}, Missing{"tally", 10, "tally", "where there are"},
                      Missing{"tally", 16, "tally", "the count above it does not have it"},
                      Missing{"tally", 22, "tally", "the count above it does not have it"},
                      Missing{"tally", 28, "tally", "the count above it does not have it"},
                      Missing{"tally", 63, "tally", "the count above it does not have it"},
                      Missing{"policy_index", 0, "policies", "its name is not in the index"},
                      Missing{"policy_index", 1, "policies", "its time is not in the index"},
                      Missing{"policy_index", 2, "policies", "its revision is not in the index"},
                      Missing{"runs", -1, "run_ids", "leads to a run that is not there"}, Missing{"runs", -1, "tally", "where there are"},
                      Missing{"failures", -1, "fingerprints", "leads to a failure that is not there"},
                      Missing{"policies", -1, "policy_index", "leads to a policy revision that is not there"},
                      Missing{"policies", -1, "changes", "the policy revision it speaks of is not there"},
                      Missing{"events", 0, "runs", "it says that it has"}, Missing{"events", 1, "runs", "it says that it has"},
                      Missing{"tenants", -1, "runs", "there is no tenant of that number"},
                      Missing{"tenants", -1, "keys", "it is of a tenant that there is not"}));

TEST_F(VerifyStore, CountThatIsWrong_IsFoundAtEveryLevel) {
  fill();
  for (const int shift : {10, 16, 22, 28, 63}) {
    std::string key;
    std::string good;
    const Rows before = rows(path_);
    for (const auto& [at, value] : before.at("tally")) {
      if (at[20] != shift) continue;
      key = at;
      good = value;
    }
    put("tally", key, seal(key, KeyBytes().u64(99)));
    expect_fault("tally", "it counts 99 where there are");
    put("tally", key, good);
  }
}

TEST_F(VerifyStore, RunWithoutItsCount_IsFoundAlsoWhereTheCountIsGoneAltogether) {
  fill();
  tamper(path_, "tally", [](WriteTxn& txn, const Table& table) {
    Cursor cursor(txn, table.handle);
    for (bool more = cursor.first(); more; more = cursor.next()) cursor.erase();
  });
  expect_fault("runs", "it is not counted");
  expect_fault("failures", "it is not counted");
}

TEST_F(VerifyStore, EntriesThatLeadElsewhere_AreFound) {
  fill();
  const Rows good = rows(path_);
  const std::string first = good.at("run_ids").begin()->first;
  put("run_ids", first, encode_place(first, {1, 1}));
  expect_fault("run_ids", "leads to a run that is not there");
  const auto runs = good.at("runs");
  put("run_ids", first, encode_place(first, record_key_of(std::next(runs.begin())->first)));
  expect_fault("run_ids", "a run of another runId");
  const std::string failure = good.at("failures").begin()->first;
  put("fingerprints", failure.substr(0, 4) + std::string(16, 'x') + failure.substr(4), "");
  expect_fault("fingerprints", "a failure of another fingerprint");
}

TEST_F(VerifyStore, NumberThatTheStoreNeverGave_IsFound) {
  fill();
  {
    const auto store = open(path_);
    commit(*store, sample_run(1, {clock_.wall_ms(), std::uint64_t{900} << 40}));
  }
  expect_fault("runs", "its number is of a start of the service that the store does not know of");
}

TEST_F(VerifyStore, WhenStopped_SaysSo) {
  fill();
  Upkeep stopping = upkeep();
  stopping.on_progress = [](const Progress&) { return false; };
  const auto result = verify(stopping);
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().detail, HasSubstr("interrupted"));
}

}  // namespace
}  // namespace runwarden::store
