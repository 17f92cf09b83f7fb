// Groups, triage and the counts of the page, against a count of the records themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>

#include "store/ignore_end.h"
#include "support/sample_values.h"
#include "unit/store/engines.h"
#include "unit/store/sample_records.h"

namespace runwarden::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Groups : public StoreContractTest {
 protected:
  model::FailureRecord failure(const std::string& fingerprint, int score = 90, const std::string& detector = "false_success") {
    model::FailureRecord record = sample_failure(new_key(), detector, score, fingerprint);
    record.json = R"({"failureId":")" + record.id + R"(","title":"title of )" + fingerprint + R"(","estimatedWasteUsd":0.25})";
    return record;
  }

  // A run now, with these failures.
  WriteResult run(std::vector<model::FailureRecord> failures = {}, std::int64_t executed_ms = model::kNotExecuted) {
    RunWrite write = sample_run(kTenant, new_key());
    for (model::FailureRecord& one : failures) one.executed_ms = executed_ms;
    write.failures = std::move(failures);
    return commit(std::move(write));
  }

  std::optional<model::Cluster> cluster(const std::string& fingerprint) {
    return store_->groups().find_cluster(kTenant, model::cluster_id(model::cluster_key(fingerprint)));
  }
  model::ClusterState state(const std::string& fingerprint) {
    const auto found = cluster(fingerprint);
    return model::state_of(found->triage, found->first_ms, clock_.wall_ms()).state;
  }
  std::optional<model::Cluster> triage(const std::string& fingerprint, model::TriageAction action, const model::IgnoreUntil& until = {}) {
    TriageWrite write;
    write.tenant = kTenant;
    write.cluster = model::cluster_key(fingerprint);
    write.entry.key = new_key();
    write.entry.action = action;
    write.entry.author = "ci";
    write.entry.until = until;
    return commit(write).cluster;
  }
  std::vector<std::string> history(const std::string& fingerprint) {
    std::vector<std::string> actions;
    for (const auto& entry : store_->groups().triage_history(kTenant, model::cluster_key(fingerprint), {})) {
      actions.push_back(std::string(name(entry.action)) + "/" + name(entry.state));
    }
    return actions;
  }
  Span all() { return {clock_.wall_ms() - 300 * kDay, clock_.wall_ms() + 1}; }
};

TEST_P(Groups, HeadSaysWhatItsFailuresSay) {
  const std::int64_t first = clock_.wall_ms();
  run({failure("a", 70), failure("a", 95), failure("b", 40)});
  clock_.advance_ms(kHour);
  run({failure("a", 80)});
  const auto a = cluster("a");
  ASSERT_TRUE(a);
  EXPECT_EQ(a->count, 3U);
  EXPECT_EQ(a->max_score, 95);
  EXPECT_EQ(a->title, "title of a");
  EXPECT_EQ(a->first_ms, first);
  EXPECT_EQ(a->last_ms, first + kHour);
  EXPECT_EQ(a->waste_micro_usd, 750'000);
  EXPECT_EQ(cluster("b")->max_score, 40);
  EXPECT_FALSE(cluster("c"));
  EXPECT_EQ(store_->groups().group_totals(kTenant).clusters, 2U);
}

TEST_P(Groups, RunCountsOnceForItsGroupAndItsDetector) {
  run({failure("a"), failure("a"), failure("b")});
  run({failure("a")});
  run();
  GroupStore& groups = store_->groups();
  EXPECT_EQ(groups.count_affected(kTenant, Subject::of_cluster(model::cluster_key("a")), all()), 2U);
  EXPECT_EQ(groups.count_affected(kTenant, Subject::of_cluster(model::cluster_key("b")), all()), 1U);
  EXPECT_EQ(groups.count_affected(kTenant, Subject::of_detector("false_success"), all()), 2U);
  EXPECT_EQ(groups.count_affected(kTenant, Subject::any(), all()), 2U);
  EXPECT_EQ(groups.count_all_runs(kTenant, all()), 3U);
  EXPECT_EQ(groups.count_failures_of(kTenant, Subject::any(), all()), 4U);
}

TEST_P(Groups, ShadowFailureIsInNoGroup) {
  auto shadow = failure("a");
  shadow.shadow = true;
  run({shadow});
  EXPECT_FALSE(cluster("a"));
  EXPECT_EQ(store_->groups().count_affected(kTenant, Subject::any(), all()), 0U);
}

TEST_P(Groups, OtherTenantsAreNotSeen) {
  run({failure("a")});
  EXPECT_FALSE(store_->groups().find_cluster(kTenant + 1, model::cluster_id(model::cluster_key("a"))));
  int seen = 0;
  store_->groups().visit_clusters(kTenant + 1, [&](const model::Cluster&) { ++seen; });
  EXPECT_EQ(seen, 0);
  EXPECT_EQ(store_->groups().last_commit(kTenant + 1), 0U);
}

// Random runs over forty days, some deleted by age: every count is what a walk over the records gives.
TEST_P(Groups, CountsAreThoseOfTheRecordsAfterDeletion) {
  std::mt19937 random(7);
  const std::vector<std::string> fingerprints{"a", "b", "c"};
  for (int i = 0; i < 300; ++i) {
    clock_.advance_ms(static_cast<std::int64_t>(random() % (4 * kHour)));
    std::vector<model::FailureRecord> failures;
    for (unsigned n = random() % 4; n > 0; --n) {
      failures.push_back(failure(fingerprints[random() % 3], static_cast<int>(random() % 101), random() % 2 == 0 ? "d1" : "d2"));
    }
    run(std::move(failures));
  }
  const std::int64_t now = clock_.wall_ms();
  Retention retention;
  retention.runs_before_ms = now - 10 * kDay;
  retention.failures_before_ms = now - 8 * kDay;
  while (store_->expire(retention, 7).more) {
  }
  FailureQuery query;
  query.range.limit = 100'000;
  const auto failures = store_->failures(kTenant, query).items;
  RunQuery run_query;
  run_query.range.limit = 100'000;
  std::set<model::RecordKey> runs;
  for (const auto& one : store_->runs(kTenant, run_query).items) runs.insert(one.key);
  std::map<std::string, std::uint64_t> count;
  std::map<std::string, int> score;
  std::map<std::string, std::set<model::RecordKey>> affected;
  std::set<model::RecordKey> any;
  for (const auto& one : failures) {
    ++count[one.fingerprint];
    score[one.fingerprint] = std::max(score[one.fingerprint], one.score);
    if (!runs.contains(one.run)) continue;
    affected[one.fingerprint].insert(one.run);
    any.insert(one.run);
  }
  ASSERT_GT(failures.size(), 10U);
  for (const std::string& fingerprint : fingerprints) {
    const auto found = cluster(fingerprint);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->count, count[fingerprint]);
    EXPECT_EQ(found->max_score, score[fingerprint]);
    EXPECT_EQ(store_->groups().count_affected(kTenant, Subject::of_cluster(found->key), all()), affected[fingerprint].size());
  }
  EXPECT_EQ(store_->groups().count_affected(kTenant, Subject::any(), all()), any.size());
  EXPECT_EQ(store_->groups().count_failures_of(kTenant, Subject::any(), all()), failures.size());
  const Span week = {now - now % kDay - 6 * kDay, now - now % kDay + kDay};
  std::uint64_t in_buckets = 0;
  const TimeBuckets buckets = time_buckets(week.from_ms, week.before_ms, 28);
  for (const std::uint64_t bucket : store_->groups().failure_buckets(kTenant, Subject::any(), week, buckets)) in_buckets += bucket;
  EXPECT_EQ(in_buckets, store_->groups().count_failures_of(kTenant, Subject::any(), week));
}

// Spans of seconds to weeks, whose ends are in the midst of a bucket and of an entry.
TEST_P(Groups, Buckets_HoldWhatTheSpanContains_AndNothingBesideIt) {
  std::mt19937 random(13);
  for (int i = 0; i < 150; ++i) {
    clock_.advance_ms(static_cast<std::int64_t>(random() % (i % 3 == 0 ? 8 * kHour : 2000)));
    run({failure("a", 90, random() % 2 == 0 ? "d1" : "d2")});
  }
  GroupStore& groups = store_->groups();
  const auto sum = [](const std::vector<std::uint64_t>& counts) { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); };
  const std::vector<Subject> subjects{Subject::any(), Subject::of_detector("d1"), Subject::of_cluster(model::cluster_key("a"))};
  for (const std::int64_t length : {std::int64_t{500}, std::int64_t{3'000}, std::int64_t{40'000}, 5 * kHour, 30 * kHour, 12 * kDay}) {
    for (int i = 0; i < 40; ++i) {
      const std::int64_t before_ms = clock_.wall_ms() + 1 - static_cast<std::int64_t>(random() % (2 * kDay));
      const Span span{before_ms - length, before_ms};
      const TimeBuckets buckets = time_buckets(span.from_ms, span.before_ms, 1 + random() % 40);
      const auto runs = groups.run_buckets(kTenant, span, buckets);
      EXPECT_EQ(runs.size(), buckets.count);
      EXPECT_EQ(sum(runs), groups.count_all_runs(kTenant, span)) << span.from_ms << " " << length;
      for (const Subject& subject : subjects) {
        EXPECT_EQ(sum(groups.failure_buckets(kTenant, subject, span, buckets)), groups.count_failures_of(kTenant, subject, span)) << length;
      }
    }
  }
}

// Spans that begin and end anywhere, a millisecond beside a failure, too.
TEST_P(Groups, FailuresOfASpan_AreCountedToTheMillisecond) {
  std::mt19937 random(11);
  std::vector<std::int64_t> edges;
  std::vector<std::pair<std::int64_t, std::string>> failures;  // time and detector
  for (int i = 0; i < 60; ++i) {
    clock_.advance_ms(static_cast<std::int64_t>(random() % (i % 10 == 0 ? kHour : 700)));
    const std::string detector = random() % 2 == 0 ? "d1" : "d2";
    run({failure("a", 90, detector)});
    failures.emplace_back(clock_.wall_ms(), detector);
    for (const std::int64_t beside : {-1, 0, 1}) edges.push_back(clock_.wall_ms() + beside);
  }
  const auto expected = [&](const Span& span, const std::string& detector) {
    return static_cast<std::uint64_t>(std::count_if(failures.begin(), failures.end(), [&](const auto& one) {
      return one.first >= span.from_ms && one.first < span.before_ms && (detector.empty() || one.second == detector);
    }));
  };
  GroupStore& groups = store_->groups();
  for (int i = 0; i < 300; ++i) {
    const Span span{edges[random() % edges.size()], edges[random() % edges.size()]};
    EXPECT_EQ(groups.count_failures_of(kTenant, Subject::any(), span), expected(span, "")) << span.from_ms << " " << span.before_ms;
    EXPECT_EQ(groups.count_failures_of(kTenant, Subject::of_detector("d1"), span), expected(span, "d1"));
    EXPECT_EQ(groups.count_failures_of(kTenant, Subject::of_cluster(model::cluster_key("a")), span), expected(span, ""));
  }
}

TEST_P(Groups, BeyondTheLimit_FailuresAreKeptWithoutAGroup_UntilThereIsRoom) {
  store_.reset();
  store_ = engine_->open(clock_, {.max_clusters = 2});
  run({failure("a"), failure("b")});
  run({failure("c")});
  run({failure("a"), failure("c")});
  EXPECT_EQ(store_->groups().group_totals(kTenant).clusters, 2U);
  EXPECT_EQ(store_->groups().group_totals(kTenant).left_out, 2U);
  EXPECT_FALSE(cluster("c"));
  EXPECT_EQ(cluster("a")->count, 2U);
  EXPECT_EQ(store_->groups().count_failures_of(kTenant, Subject::any(), all()), 5U);
  EXPECT_EQ(store_->groups().count_affected(kTenant, Subject::any(), all()), 3U);
  clock_.advance_ms(kDay);
  run({failure("a")});
  Retention retention;
  retention.failures_before_ms = clock_.wall_ms();
  while (store_->expire(retention, 100).more) {
  }
  EXPECT_EQ(store_->groups().group_totals(kTenant).left_out, 0U);
  run({failure("c")});
  EXPECT_EQ(cluster("c")->count, 1U);
  EXPECT_EQ(store_->groups().group_totals(kTenant).clusters, 2U);
}

TEST_P(Groups, GroupStaysAsOldAsItWas_WhenItsFirstFailureExpires) {
  const std::int64_t first_ms = clock_.wall_ms();
  run({failure("a")});
  clock_.advance_ms(10 * kDay);
  run({failure("a")});
  Retention retention;
  retention.failures_before_ms = clock_.wall_ms();
  store_->expire(retention, 100);
  EXPECT_EQ(cluster("a")->count, 1U);
  EXPECT_EQ(cluster("a")->first_ms, first_ms);
}

TEST_P(Groups, GroupGoesWithItsLastFailureUnlessItWasTriaged) {
  run({failure("a"), failure("b")});
  triage("b", model::TriageAction::ignore);
  clock_.advance_ms(10 * kDay);
  Retention retention;
  retention.failures_before_ms = clock_.wall_ms();
  retention.changes_before_ms = clock_.wall_ms() - 20 * kDay;
  while (store_->expire(retention, 100).more) {
  }
  EXPECT_FALSE(cluster("a"));
  ASSERT_TRUE(cluster("b")) << "what was decided about it is kept as long as changes";
  EXPECT_EQ(cluster("b")->count, 0U);
  EXPECT_EQ(cluster("b")->title, "title of b");
  retention.changes_before_ms = clock_.wall_ms();
  while (store_->expire(retention, 100).more) {
  }
  EXPECT_FALSE(cluster("b"));
  EXPECT_EQ(store_->groups().group_totals(kTenant).clusters, 0U);
}

TEST_P(Groups, ResolvedRegressesByARunThatRanAfterwards) {
  run({failure("a")});
  clock_.advance_ms(kHour);
  const std::int64_t resolved = clock_.wall_ms();
  EXPECT_EQ(triage("a", model::TriageAction::resolve)->triage.kind, model::Triage::Kind::resolved);
  clock_.advance_ms(kHour);
  run({failure("a")}, resolved - 1);
  EXPECT_EQ(state("a"), model::ClusterState::resolved) << "it ran before, and came in late";
  run({failure("a")}, resolved + 1);
  EXPECT_EQ(state("a"), model::ClusterState::regressed);
  EXPECT_THAT(history("a"), ElementsAre("regressed/regressed", "resolve/resolved"));
  reopen();
  EXPECT_EQ(state("a"), model::ClusterState::regressed);
  triage("a", model::TriageAction::reopen);
  EXPECT_EQ(state("a"), model::ClusterState::fresh);
}

TEST_P(Groups, IgnoreEndsAfterSoManyFailures) {
  run({failure("a")});
  triage("a", model::TriageAction::ignore, {.at_ms = {}, .failures = 3, .share = {}});
  run({failure("a")});
  run({failure("a")});
  EXPECT_EQ(state("a"), model::ClusterState::ignored);
  run({failure("a")});
  EXPECT_EQ(state("a"), model::ClusterState::ongoing);
  EXPECT_THAT(history("a"), ElementsAre("ignore_ended/ongoing", "ignore/ignored"));
}

TEST_P(Groups, IgnoreEndsAtAShareOfTheLastHour) {
  run({failure("a")});
  triage("a", model::TriageAction::ignore, {.at_ms = {}, .failures = {}, .share = 0.5});
  clock_.advance_ms(3 * kHour);
  for (int i = 0; i < 18; ++i) run();
  run({failure("a")});
  EXPECT_EQ(state("a"), model::ClusterState::ignored) << "nineteen runs";
  for (int i = 0; i < 16; ++i) run({failure("a")});
  EXPECT_EQ(state("a"), model::ClusterState::ignored) << "17 of 35";
  run({failure("a")});
  EXPECT_EQ(state("a"), model::ClusterState::ongoing) << "18 of 36";
}

TEST_P(Groups, IgnoreThatEndedByTimeIsWrittenDownWithWhatComesNext) {
  run({failure("a")});
  const std::int64_t until = clock_.wall_ms() + kHour;
  triage("a", model::TriageAction::ignore, {.at_ms = until, .failures = {}, .share = {}});
  clock_.advance_ms(2 * kHour);
  EXPECT_EQ(state("a"), model::ClusterState::ongoing);
  triage("a", model::TriageAction::resolve);
  EXPECT_THAT(history("a"), ElementsAre("resolve/resolved", "ignore_ended/ongoing", "ignore/ignored"));
}

TEST_P(Groups, IgnoreThatEndsByTime_IsEndedOnceByTheServiceItself) {
  run({failure("a")});
  const std::int64_t until = clock_.wall_ms() + kHour;
  triage("a", model::TriageAction::ignore, {.at_ms = until, .failures = {}, .share = {}});
  const auto no_share = []() -> model::LastHour { throw std::logic_error("the time decides"); };
  clock_.advance_ms(kHour - 1);
  EXPECT_FALSE(end_of_ignore(cluster("a")->key, cluster("a")->triage, clock_.wall_ms(), no_share));
  clock_.advance_ms(kMinute);
  auto end = end_of_ignore(cluster("a")->key, cluster("a")->triage, clock_.wall_ms(), no_share);
  ASSERT_TRUE(end);
  end->tenant = kTenant;
  EXPECT_EQ(commit(*end).cluster->triage.kind, model::Triage::Kind::ongoing);
  commit(*end);  // as another host that saw the same
  EXPECT_THAT(history("a"), ElementsAre("ignore_ended/ongoing", "ignore/ignored"));
  triage("a", model::TriageAction::ignore);
  commit(*end);
  EXPECT_EQ(state("a"), model::ClusterState::ignored) << "an ignore that came meanwhile stays";
}

TEST_P(Groups, IgnoreWhoseShareIsReachedAlready_CanBeEndedWithoutAFailure) {
  for (int i = 0; i < 20; ++i) run({failure("a")});
  triage("a", model::TriageAction::ignore, {.at_ms = {}, .failures = {}, .share = 0.5});
  clock_.advance_ms(kMinute);
  EXPECT_FALSE(end_of_ignore(cluster("a")->key, cluster("a")->triage, clock_.wall_ms(), [] { return model::LastHour{9, 20}; }));
  auto end = end_of_ignore(cluster("a")->key, cluster("a")->triage, clock_.wall_ms(), [] { return model::LastHour{10, 20}; });
  ASSERT_TRUE(end);
  end->tenant = kTenant;
  commit(*end);
  EXPECT_THAT(history("a"), ElementsAre("ignore_ended/ongoing", "ignore/ignored"));
}

TEST_P(Groups, RepeatedTriage_NamesTheEntryOfTheFirst) {
  run({failure("a")});
  const auto resolve = [&](const char* content) {
    TriageWrite write;
    write.tenant = kTenant;
    write.cluster = model::cluster_key("a");
    write.entry.key = new_key();
    write.entry.author = "ci";
    write.idempotency = idempotency("key", content);
    return commit(write);
  };
  EXPECT_FALSE(resolve("one").decided);
  const auto entries = store_->groups().triage_history(kTenant, model::cluster_key("a"), {});
  ASSERT_THAT(entries, ::testing::SizeIs(1));
  triage("a", model::TriageAction::reopen);
  reopen();
  const auto again = resolve("one");
  EXPECT_EQ(again.outcome, WriteResult::Outcome::replayed);
  EXPECT_EQ(again.decided, entries[0].key);
  EXPECT_EQ(again.cluster->triage.kind, model::Triage::Kind::none) << "the group is as it is now";
  const auto first = store_->groups().triage_history(kTenant, model::cluster_key("a"), only(*again.decided));
  ASSERT_THAT(first, ::testing::SizeIs(1));
  EXPECT_EQ(first[0].action, model::TriageAction::resolve);
  EXPECT_EQ(resolve("two").outcome, WriteResult::Outcome::idempotency_conflict);
}

TEST_P(Groups, TriageOfAGroupThatIsNotThereChangesNothing) {
  EXPECT_FALSE(triage("a", model::TriageAction::resolve));
  EXPECT_THAT(history("a"), IsEmpty());
}

TEST_P(Groups, TailTellsEachCommitOnceInOrder) {
  const std::uint64_t begin = store_->groups().last_commit(kTenant);
  const auto found = failure("a");
  run({found});
  run();
  TailPage page = store_->groups().tail(kTenant, begin, 2);
  ASSERT_THAT(page.items, SizeIs(2));
  EXPECT_EQ(page.items[0].kind, TailItem::Kind::run);
  EXPECT_EQ(page.items[1].kind, TailItem::Kind::failure);
  EXPECT_EQ(page.items[1].record, found.key);
  page = store_->groups().tail(kTenant, page.next, 100);
  ASSERT_THAT(page.items, SizeIs(1));
  EXPECT_EQ(page.next, store_->groups().last_commit(kTenant));
  EXPECT_THAT(store_->groups().tail(kTenant, page.next, 100).items, IsEmpty());
  triage("a", model::TriageAction::resolve);
  EXPECT_GT(store_->groups().last_commit(kTenant), page.next) << "answers change with it";
  EXPECT_THAT(store_->groups().tail(kTenant, page.next, 100).items, IsEmpty());
}

TEST_P(Groups, TailOfAnotherStoreIsToBeBegunAnew) {
  run();
  EXPECT_TRUE(store_->groups().tail(kTenant, store_->groups().last_commit(kTenant) + 1, 100).too_old);
}

TEST_P(Groups, RunsOfAGroupComeOnceEach) {
  run({failure("a"), failure("a")});
  clock_.advance_ms(1);
  run({failure("b")});
  clock_.advance_ms(1);
  run({failure("a")});
  RunQuery query;
  query.range.limit = 1;
  const auto first = store_->groups().cluster_runs(kTenant, model::cluster_key("a"), query);
  ASSERT_THAT(first.items, SizeIs(1));
  ASSERT_TRUE(first.next);
  query.range.after = first.next;
  const auto second = store_->groups().cluster_runs(kTenant, model::cluster_key("a"), query);
  ASSERT_THAT(second.items, SizeIs(1));
  EXPECT_LT(second.items[0].key, first.items[0].key);
  EXPECT_FALSE(second.next);
}

TEST_P(Groups, MarksAreTheNewestAndCountTheOthers) {
  for (int i = 0; i < 5; ++i) {
    ChangeWrite write;
    write.tenant = kTenant;
    write.change.key = new_key();
    write.change.id = model::make_change_id(write.change.key);
    write.change.kind = "code";
    write.change.document = "{}";
    commit(std::move(write));
    clock_.advance_ms(kMinute);
  }
  const ChangeMarks marks = store_->groups().change_marks(kTenant, all(), 3);
  ASSERT_THAT(marks.changes, SizeIs(3));
  EXPECT_EQ(marks.left_out, 2U);
  EXPECT_LT(marks.changes[0].key, marks.changes[2].key) << "oldest first";
}

INSTANTIATE_TEST_SUITE_P(Engines, Groups, kEngines, kEngineName);

}  // namespace
}  // namespace runwarden::store
