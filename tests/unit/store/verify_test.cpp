// A good store is called good, and every kind of damage is found, with the place and the remedy.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/hex.h"
#include "store/lmdb/groups.h"
#include "store/lmdb/policies.h"
#include "store/record_codec.h"
#include "store/lmdb/series.h"
#include "store/lmdb/time_bucket_counts.h"
#include "store/webhook_codec.h"
#include "maintenance_store.h"

namespace runwarden::store {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StrEq;

class VerifyStore : public MaintenanceTest {
 protected:
  Verified verified() {
    auto result = verify(maintenance());
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
  EXPECT_EQ(found.entries.size(), 37u) << "every table is looked at";
  EXPECT_EQ(found.entries.at("runs"), 27u);
  EXPECT_EQ(found.entries.at("shadow_failures"), 6u);
  expect_good(path_);
}

TEST_F(VerifyStore, FileBesideItThatTheServiceCouldNotRead_IsFoundAndLeftAsItIs) {
  fill();
  for (const char* name : {"ledger.key", "ledger.key.next", "ledger.key.former"}) {
    for (const char* bytes : {"", "\xf3garble"}) {
      std::ofstream(path_ / name) << bytes;
      expect_fault("ledger", name);
      EXPECT_TRUE(std::filesystem::remove(path_ / name));
    }
  }
  for (const std::string name : {"cursor.secret", "session.secret", "ledger.key"}) {
    std::filesystem::remove(path_ / name);
    std::filesystem::create_directory(path_ / name);
    expect_fault(name == "ledger.key" ? "ledger" : name, name);
    std::filesystem::remove(path_ / name);
  }
  EXPECT_EQ(verified().faults, 0u);
  EXPECT_FALSE(std::filesystem::exists(path_ / "ledger.key"));
  std::ofstream(path_ / "cursor.secret") << "short";
  EXPECT_EQ(verified().faults, 0u) << "the service makes another";
}

TEST_F(VerifyStore, MessageThatIsNotInTheOutbox_IsFound) {
  fill();
  drop("outbox");
  expect_fault("deliveries", "it is pending, but not in the outbox");
  expect_fault("endpoints", "its count of pending deliveries does not match");
}

TEST_F(VerifyStore, OutboxThatLeadsNowhere_IsFound) {
  fill();
  drop("deliveries", [](std::string_view key, std::string_view value) {
    return decode_delivery_head(key, value).state == model::DeliveryState::pending;
  });
  expect_fault("outbox", "it points to a delivery that does not exist");
}

TEST_F(VerifyStore, DeadMessageThatIsGone_IsMissed) {
  fill();
  drop("deliveries", [](std::string_view key, std::string_view value) {
    return decode_delivery_head(key, value).state == model::DeliveryState::dead;
  });
  expect_fault("endpoints", "its count of dead deliveries does not match");
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
  EXPECT_EQ(checked, 25);
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

INSTANTIATE_TEST_SUITE_P(All, VerifyMissing,
                         ::testing::Values(Missing{"run_ids", -1, "runs", "its runId is not in the index"},
                                           Missing{"open_runs", -1, "runs", "not among the open runs"},
                                           Missing{"fingerprints", -1, "failures", "its fingerprint is not in the index"},
                                           Missing{"tally", 10, "runs", "it is not counted"},
                                           Missing{"tally", 10, "tally", ", but there are"},
                                           Missing{"tally", 16, "tally", "the count above it does not include it"},
                                           Missing{"tally", 22, "tally", "the count above it does not include it"},
                                           Missing{"tally", 28, "tally", "the count above it does not include it"},
                                           Missing{"tally", 63, "tally", "the count above it does not include it"},
                                           Missing{"policy_index", 0, "policies", "its name is not in the index"},
                                           Missing{"policy_index", 1, "policies", "its time is not in the index"},
                                           Missing{"policy_index", 2, "policies", "its revision is not in the index"},
                                           Missing{"runs", -1, "run_ids", "points to a run that does not exist"},
                                           Missing{"runs", -1, "tally", ", but there are"},
                                           Missing{"failures", -1, "fingerprints", "points to a failure that does not exist"},
                                           Missing{"policies", -1, "policy_index", "points to a policy revision that does not exist"},
                                           Missing{"policies", -1, "changes", "its policy revision does not exist"},
                                           Missing{"dimensions", -1, "dimensions", "the head of its dimension's values is missing"},
                                           Missing{"dimensions", 40, "dimensions", "its counts of values and runs do not match"},
                                           Missing{"events", 0, "runs", "it claims "}, Missing{"events", 1, "runs", "it claims "},
                                           Missing{"tenants", -1, "runs", "no tenant has that number"},
                                           Missing{"tenants", -1, "keys", "its tenant does not exist"}));

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
    expect_fault("tally", "it counts 99, but there are");
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

// A head of tenant "acme", of the group f0, broken by hand in one place after the other.
TEST_F(VerifyStore, GroupHeadThatSaysSomethingElse_IsFound) {
  fill();
  const std::string key(cluster_row_key(2, model::cluster_key("f0")).view());
  const std::string good = rows(path_).at("clusters").at(key);
  using Break = std::function<void(ClusterHead&)>;
  const std::vector<std::pair<const char*, Break>> breaks = {
      {"failures, but there are", [](ClusterHead& head) { head.cluster.count += 1; }},
      {"its scores do not match", [](ClusterHead& head) { head.scores[99] = 1; }},
      {"its severities do not match", [](ClusterHead& head) { head.severities[0] += 1; }},
      {"its waste does not match", [](ClusterHead& head) { head.cluster.waste_micro_usd += 1; }},
      {"its last time differs from", [](ClusterHead& head) { head.cluster.last_ms += 1; }},
      {"a failure older than its first time", [](ClusterHead& head) { head.cluster.first_ms = head.cluster.last_ms; }},
      {"another title", [](ClusterHead& head) { head.cluster.title = "made up"; }},
      {"its fingerprint does not match", [](ClusterHead& head) { head.cluster.fingerprint = "f9"; }},
      {"nothing in its history explains", [](ClusterHead& head) { head.cluster.triage.kind = model::Triage::Kind::resolved; }},
  };
  for (const auto& [detail, spoil] : breaks) {
    ClusterHead head = decode_cluster(key, good);
    spoil(head);
    put("clusters", key, encode_cluster(key, head));
    const Verified found = verified();
    const std::string said = detail;
    EXPECT_THAT(found.first_ones, Contains(::testing::AllOf(Field(&StoreFault::table, StrEq("clusters")), Field(&StoreFault::key, StrEq(bytes_to_hex(key))),
                                                            Field(&StoreFault::detail, HasSubstr(said)))))
        << detail;
  }
  put("clusters", key, good);
  expect_good(path_);
}

TEST_F(VerifyStore, NumberOfGroupsAndOfFailuresWithoutOne_AreCounted) {
  fill();
  const std::string key(KeyBytes().u32(2).view());
  put("clusters", key, seal(key, KeyBytes().u64(9).u64(0)));
  expect_fault("clusters", "it counts 9 groups, but there are 5");
  put("clusters", key, seal(key, KeyBytes().u64(4).u64(3)));
  expect_fault("clusters", "it counts 3 failures outside of groups");
}

TEST_F(VerifyStore, HistoryOfNoGroup_IsFound) {
  fill();
  drop("clusters", [](std::string_view key, std::string_view) { return key == cluster_row_key(2, model::cluster_key("f1")).view(); });
  expect_fault("triage", "its group does not exist");
}

TEST_F(VerifyStore, SeriesThatIsWrong_IsFoundAtEveryLevel) {
  fill();
  const Rows before = rows(path_);
  for (const int level : {10, 16, 22, 28}) {
    const auto found = std::find_if(before.at("series").begin(), before.at("series").end(), [&](const auto& row) { return row.first[20] == level; });
    ASSERT_NE(found, before.at("series").end()) << level;
    const auto& [key, good] = *found;
    put("series", key, seal(key, KeyBytes().u64(99)));
    expect_fault("series", "it counts 99, but there are");
    drop("series", [&key = key](std::string_view at, std::string_view) { return at == key; });
    expect_fault("series", level > 16 ? "the count above it does not include it" : "");
    put("series", key, good);
  }
  expect_good(path_);
}

TEST_F(VerifyStore, AffectedRunsOfOneValue_ThatAreWrong_AreFoundAtEveryLevel) {
  fill();
  const Rows before = rows(path_);
  for (const int level : {16, 22, 28}) {
    const auto found = std::find_if(before.at("series").begin(), before.at("series").end(), [&](const auto& row) {
      return row.first[20] == level && !decode_series_row(row.first, row.second).with.empty();
    });
    ASSERT_NE(found, before.at("series").end()) << level;
    const auto& [key, good] = *found;
    const SeriesRow row = decode_series_row(key, good);
    put("series", key, seal(key, KeyBytes().u64(row.count).u64(row.with.front().first).u64(row.with.front().second + 1)));
    expect_fault("series", "its counts of runs by dimension do not match its runs");
    put("series", key, seal(key, KeyBytes().u64(row.count).u64(row.with.front().first)));
    expect_fault("series", "the count has 16 bytes");
    put("series", key, good);
  }
  expect_good(path_);
}

TEST_F(VerifyStore, SeriesEntry_ThatIsMissingOrOfNoRecord_IsFound) {
  fill();
  const Rows before = rows(path_);
  // All of one series, of which nothing else speaks.
  const std::string series = before.at("series").begin()->first.substr(0, 20);
  tamper(path_, "series", [&](WriteTxn& txn, const Table& table) {
    for (const auto& [key, value] : before.at("series")) {
      if (key.starts_with(series)) txn.erase(table.handle, key);
    }
  });
  expect_fault("series", "it is missing, but there are");
  for (const auto& [key, value] : before.at("series")) put("series", key, value);
  expect_good(path_);
  for (const int level : {16, 22, 28}) {
    const std::string key(KeyBytes().u32(2).bytes(std::string(16, 'x')).u8(static_cast<std::uint8_t>(level)).time(5 >> (level - 16)).view());
    put("series", key, seal(key, KeyBytes().u64(3)));
  }
  expect_fault("series", "it counts 3, but there are 0");
}

TEST_F(VerifyStore, EntriesThatLeadElsewhere_AreFound) {
  fill();
  const Rows good = rows(path_);
  const std::string first = good.at("run_ids").begin()->first;
  put("run_ids", first, encode_place(first, {1, 1}));
  expect_fault("run_ids", "points to a run that does not exist");
  const auto runs = good.at("runs");
  put("run_ids", first, encode_place(first, record_key_of(std::next(runs.begin())->first)));
  expect_fault("run_ids", "a run with a different runId");
  const std::string failure = good.at("failures").begin()->first;
  put("fingerprints", failure.substr(0, 4) + std::string(16, 'x') + failure.substr(4), "");
  expect_fault("fingerprints", "a failure with a different fingerprint");
}

TEST_F(VerifyStore, NumberThatTheStoreNeverGave_IsFound) {
  fill();
  {
    const auto store = open(path_);
    commit(*store, sample_run(1, {clock_.wall_ms(), std::uint64_t{900} << 40}));
  }
  expect_fault("runs", "its number belongs to a service start that the store has no record of");
}

TEST_F(VerifyStore, WhenStopped_SaysSo) {
  fill();
  MaintenanceContext stopping = maintenance();
  stopping.on_progress = [](const Progress&) { return false; };
  const auto result = verify(stopping);
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().detail, HasSubstr("interrupted"));
}

}  // namespace
}  // namespace runwarden::store
