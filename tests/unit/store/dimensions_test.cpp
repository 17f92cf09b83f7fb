// Runs by the values of their dimensions, against a count of the records themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "support/sample_values.h"
#include "unit/store/engines.h"
#include "unit/store/sample_records.h"

namespace runwarden::store {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Values = std::vector<model::Dimension>;

Values version(const std::string& value) {
  return {{"version", value}};
}

class Dimensions : public StoreContractTest {
 protected:
  model::FailureRecord failure(const std::string& fingerprint, const std::string& detector = "d1") {
    return sample_failure(new_key(), detector, 90, fingerprint);
  }
  model::RecordKey run(Values values, std::vector<model::FailureRecord> failures = {}, model::TenantId tenant = kTenant) {
    RunWrite write = sample_run(tenant, new_key());
    write.run.dimensions = std::move(values);
    write.failures = std::move(failures);
    const model::RecordKey key = write.run.key;
    EXPECT_EQ(commit(std::move(write)).outcome, WriteResult::Outcome::stored);
    return key;
  }
  GroupStore& groups() { return store_->groups(); }
  std::uint64_t runs_with(const std::string& value, const std::string& dimension = "version") {
    return groups().count_runs_with(kTenant, {dimension, value}, all());
  }
  std::uint64_t affected_with(const Subject& subject, const std::string& value) {
    return groups().count_affected_with(kTenant, subject, {"version", value}, all());
  }
  Span all() { return {clock_.wall_ms() - 300 * kDay, clock_.wall_ms() + 1}; }
  void expire_before(std::int64_t ms) {
    Retention retention;
    retention.runs_before_ms = ms;
    retention.failures_before_ms = ms;
    while (store_->expire(retention, 7).more) {
    }
  }
};

TEST_P(Dimensions, ValuesAreListedWithTheirRuns) {
  const std::int64_t first = clock_.wall_ms();
  run({{"model", "m"}, {"version", "1"}});
  clock_.advance_ms(kHour);
  run(version("2"));
  clock_.advance_ms(5 * kDay);
  run(version("2"));
  run({});
  const auto rows = groups().dimension_values(kTenant, std::nullopt, 200);
  ASSERT_THAT(rows, SizeIs(3));
  std::map<std::string, DimensionRow> by_value;
  for (const DimensionRow& row : rows) by_value[row.dimension + "=" + row.value] = row;
  EXPECT_EQ(by_value["model=m"].runs, 1U);
  EXPECT_EQ(by_value["version=2"].runs, 2U);
  EXPECT_EQ(by_value["version=2"].first_ms, first + kHour);
  EXPECT_EQ(by_value["version=2"].last_ms, first + kHour + 5 * kDay);
  EXPECT_EQ(runs_with("2"), 2U);
  EXPECT_EQ(runs_with("3"), 0U);
  EXPECT_EQ(groups().first_run_with(kTenant, {"version", "2"})->time_ms, first + kHour);
  EXPECT_FALSE(groups().first_run_with(kTenant, {"version", "3"}));
}

TEST_P(Dimensions, WhenTheFirstRunIsDeleted_TheNextOneIsTheFirst) {
  const std::int64_t first = clock_.wall_ms();
  run({{"model", "m"}, {"version", "1"}});
  clock_.advance_ms(1);
  run(version("2"));
  clock_.advance_ms(1);
  run(version("1"));
  expire_before(first + 1);
  std::map<std::string, std::int64_t> first_of;
  for (const DimensionRow& row : groups().dimension_values(kTenant, std::nullopt, 200)) first_of[row.value] = row.first_ms;
  EXPECT_EQ(first_of, (std::map<std::string, std::int64_t>{{"1", first + 2}, {"2", first + 1}}));
  EXPECT_EQ(groups().first_run_with(kTenant, {"version", "1"})->time_ms, first + 2);
}

TEST_P(Dimensions, OfAWindow_OnlyThoseAboutIt) {
  run(version("old"));
  clock_.advance_ms(30 * kDay);
  run(version("new"));
  const Span day{clock_.wall_ms() - kDay, clock_.wall_ms() + 1};
  EXPECT_THAT(groups().dimension_values(kTenant, day, 200), ElementsAre(Field(&DimensionRow::value, "new")));
  EXPECT_THAT(groups().dimension_values(kTenant, all(), 1), ElementsAre(Field(&DimensionRow::value, "new"))) << "the first of equals";
}

TEST_P(Dimensions, RunCountsOnceForAGroupWithAValue) {
  run(version("1"), {failure("a"), failure("a"), failure("b", "d2")});
  run(version("1"), {failure("a")});
  run(version("2"), {failure("a")});
  auto shadow = failure("a");
  shadow.shadow = true;
  run(version("2"), {shadow});
  EXPECT_EQ(affected_with(Subject::of_cluster(model::cluster_key("a")), "1"), 2U);
  EXPECT_EQ(affected_with(Subject::of_cluster(model::cluster_key("a")), "2"), 1U);
  EXPECT_EQ(affected_with(Subject::of_cluster(model::cluster_key("b")), "2"), 0U);
  EXPECT_EQ(affected_with(Subject::of_detector("d2"), "1"), 1U);
  EXPECT_EQ(affected_with(Subject::any(), "1"), 2U);
  const std::vector<model::ClusterKey> clusters{model::cluster_key("b"), model::cluster_key("none"), model::cluster_key("a")};
  EXPECT_THAT(groups().most_affected_with(kTenant, clusters, {"version", "1"}, all()), ElementsAre(1U, 0U, 2U));
  EXPECT_THAT(groups().most_affected_with(kTenant, clusters, {"version", "2"}, all()), ElementsAre(0U, 0U, 1U));
}

TEST_P(Dimensions, OtherTenantsAreNotSeen) {
  run(version("1"), {failure("a")});
  run(version("2"), {}, kTenant + 1);
  EXPECT_THAT(groups().dimension_values(kTenant, std::nullopt, 200), ElementsAre(Field(&DimensionRow::value, "1")));
  EXPECT_THAT(groups().dimension_values(kTenant + 1, std::nullopt, 200), ElementsAre(Field(&DimensionRow::value, "2")));
  EXPECT_EQ(groups().count_affected_with(kTenant + 1, Subject::any(), {"version", "1"}, all()), 0U);
  EXPECT_FALSE(groups().first_run_with(kTenant + 1, {"version", "1"}));
}

TEST_P(Dimensions, OneValueTooMany_CountsAsOther_AlsoWhenItGoes) {
  for (int i = 0; i < 202; ++i) run(version(std::to_string(i)), {failure("a")});
  EXPECT_EQ(runs_with("199"), 1U);
  EXPECT_EQ(runs_with("200"), 0U);
  EXPECT_EQ(runs_with("(other)"), 2U);
  EXPECT_EQ(affected_with(Subject::any(), "(other)"), 2U);
  const auto before = clock_.wall_ms();
  clock_.advance_ms(10 * kMinute);
  run(version("200"));
  EXPECT_EQ(runs_with("(other)"), 3U) << "it has no row in this stretch, and gets none";
  expire_before(before + 1);
  EXPECT_EQ(runs_with("(other)"), 1U);
  EXPECT_EQ(runs_with("199"), 0U);
  clock_.advance_ms(kMinute);
  run(version("201"));
  EXPECT_EQ(runs_with("(other)"), 2U) << "rows stay as long as the stretch";
  expire_before(clock_.wall_ms() + 1);
  EXPECT_THAT(groups().dimension_values(kTenant, std::nullopt, 500), IsEmpty());
  clock_.advance_ms(kMinute);
  run(version("201"));
  EXPECT_EQ(runs_with("201"), 1U);
}

TEST_P(Dimensions, NextRevision_TakesItsCountsBack) {
  EventsWrite events;
  events.tenant = kTenant;
  events.key = new_key();
  events.run_id = "streamed";
  events.events.push_back({"", R"({"type":"note"})"});
  events.final = true;
  const auto resolve = [&](const Values& values, std::vector<model::FailureRecord> failures) {
    const WriteResult opened = commit(events);
    ASSERT_TRUE(opened.buffered);
    auto claim = store_->claim_run(kTenant, opened.buffered->run, model::Resolution::final, 1000);
    ASSERT_TRUE(claim);
    RunWrite write = sample_run(kTenant, claim->run, claim->run_id);
    write.run.revision = claim->revision;
    write.run.dimensions = values;
    write.failures = std::move(failures);
    write.claim = claim;
    EXPECT_EQ(commit(std::move(write)).outcome, WriteResult::Outcome::stored);
  };
  resolve(version("1"), {failure("a")});
  EXPECT_EQ(runs_with("1"), 1U);
  EXPECT_EQ(affected_with(Subject::of_cluster(model::cluster_key("a")), "1"), 1U);
  events.key = new_key();
  events.events = {{"", R"({"type":"other"})"}};
  resolve(version("2"), {failure("b")});
  EXPECT_EQ(runs_with("1"), 0U);
  EXPECT_EQ(runs_with("2"), 1U);
  EXPECT_EQ(affected_with(Subject::any(), "1"), 0U);
  EXPECT_EQ(affected_with(Subject::of_cluster(model::cluster_key("b")), "2"), 1U);
}

TEST_P(Dimensions, RunsJustBefore_AreThoseOfTheSameEntry) {
  clock_.advance_ms(kShareEntryMs - clock_.wall_ms() % kShareEntryMs);
  run(version("1"), {failure("a")});
  clock_.advance_ms(kShareEntryMs);
  run(version("1"), {failure("a"), failure("b", "d2")});
  run(version("1"));
  const model::RecordKey first = run(version("2"), {failure("a")});
  run(version("1"), {failure("a")});
  EXPECT_EQ(groups().first_run_with(kTenant, {"version", "2"}), first);
  const auto before = groups().runs_just_before(kTenant, first, 2);
  ASSERT_TRUE(before);
  EXPECT_EQ(before->runs, 2U);
  EXPECT_EQ(before->by(Subject::any()), 1U);
  EXPECT_EQ(before->by(Subject::of_detector("d2")), 1U);
  EXPECT_EQ(before->by(Subject::of_cluster(model::cluster_key("a"))), 1U);
  EXPECT_EQ(before->by(Subject::of_cluster(model::cluster_key("c"))), 0U);
  EXPECT_FALSE(groups().runs_just_before(kTenant, first, 1));
}

// Random runs over twenty days, some deleted by age: every count is what a walk over the records gives.
TEST_P(Dimensions, CountsAreThoseOfTheRecordsAfterDeletion) {
  std::mt19937 random(11);
  const std::vector<std::string> fingerprints{"a", "b", "c"};
  for (int i = 0; i < 400; ++i) {
    clock_.advance_ms(static_cast<std::int64_t>(random() % (2 * kHour)));
    std::vector<model::FailureRecord> failures;
    for (unsigned n = random() % 3; n > 0; --n) failures.push_back(failure(fingerprints[random() % 3], random() % 2 == 0 ? "d1" : "d2"));
    Values values;
    if (random() % 4 > 0) values.push_back({"version", std::to_string(random() % 5)});
    if (random() % 2 > 0) values.push_back({"model", random() % 2 > 0 ? "x" : "y"});
    run(std::move(values), std::move(failures));
  }
  const std::int64_t now = clock_.wall_ms();
  Retention retention;
  retention.runs_before_ms = now - 8 * kDay;
  retention.failures_before_ms = now - 6 * kDay;
  while (store_->expire(retention, 7).more) {
  }
  FailureQuery failure_query;
  failure_query.range.limit = 100'000;
  std::map<model::RecordKey, std::set<std::string>> found;
  for (const auto& one : store_->failures(kTenant, failure_query).items) found[one.run].insert(one.fingerprint);
  RunQuery run_query;
  run_query.range.limit = 100'000;
  std::map<std::string, std::uint64_t> runs;
  std::map<std::string, std::map<std::string, std::uint64_t>> affected;
  std::map<std::string, std::int64_t> first;
  const auto heads = store_->runs(kTenant, run_query).items;
  for (const auto& head : heads) {
    for (const model::Dimension& one : head.dimensions) {
      const std::string value = one.name + "=" + one.value;
      ++runs[value];
      first[value] = head.key.time_ms;  // newest first
      for (const std::string& fingerprint : found[head.key]) ++affected[fingerprint][value];
    }
  }
  ASSERT_EQ(runs.size(), 7U);
  const auto rows = groups().dimension_values(kTenant, std::nullopt, 200);
  ASSERT_THAT(rows, SizeIs(7));
  for (const DimensionRow& row : rows) {
    const std::string value = row.dimension + "=" + row.value;
    EXPECT_EQ(row.runs, runs[value]) << value;
    EXPECT_EQ(runs_with(row.value, row.dimension), runs[value]) << value;
    EXPECT_EQ(row.first_ms, first[value]) << value;
    for (const std::string& fingerprint : fingerprints) {
      const Subject subject = Subject::of_cluster(model::cluster_key(fingerprint));
      EXPECT_EQ(groups().count_affected_with(kTenant, subject, {row.dimension, row.value}, all()), affected[fingerprint][value]) << value;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, Dimensions, kEngines, kEngineName);

}  // namespace
}  // namespace runwarden::store
