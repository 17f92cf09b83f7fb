// Reviews: the last one of each subject counts; false alarms are kept and listed, and are in no count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "store/record_codec.h"
#include "store/review_codec.h"
#include "unit/store/engines.h"
#include "unit/store/maintenance_store.h"
#include "unit/store/sample_records.h"

namespace runwarden::store {
namespace {

using model::ReviewVerdict;
using Outcome = WriteResult::Outcome;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr model::TenantId kTenant = 1;
constexpr std::int64_t kHour = 3'600'000;
constexpr std::int64_t kDay = 24 * kHour;

model::FailureRecord failure_with(const model::RecordKey& key, const std::string& fingerprint, const std::string& summary,
                                  const std::string& detector = "false_success") {
  model::FailureRecord record = sample_failure(key, detector, 90, fingerprint);
  record.json = R"({"failureId":")" + record.id + R"(","title":"title of )" + fingerprint + R"(","summary":")" + summary +
                R"(","estimatedWasteUsd":0.25})";
  return record;
}

model::Review review_of(const model::RecordKey& key, const model::FailureRecord& failure, ReviewVerdict verdict,
                        const std::string& note = "") {
  model::Review review;
  review.key = key;
  review.run = failure.run;
  review.run_id = "a run";
  review.failure_id = failure.id;
  review.cluster_id = model::cluster_id(model::cluster_key(failure.fingerprint));
  review.detector_key = failure.detector_key;
  review.detector_version = "1.0";
  review.settings_hash = "abc";
  review.verdict = verdict;
  review.author = "ann";
  review.document = model::write_document(review, note);
  return review;
}

model::Review review_of_run(const model::RecordKey& key, const model::RecordKey& run, const std::string& detector, ReviewVerdict verdict) {
  model::Review review;
  review.key = key;
  review.run = run;
  review.run_id = "a run";
  review.detector_key = detector;
  review.detector_version = "1.0";
  review.settings_hash = "abc";
  review.verdict = verdict;
  review.author = "ann";
  review.document = model::write_document(review, {});
  return review;
}

class Reviews : public StoreContractTest {
 protected:
  model::FailureRecord failure(const std::string& fingerprint, const std::string& summary = "a summary",
                               const std::string& detector = "false_success") {
    return failure_with(new_key(), fingerprint, summary, detector);
  }
  // A run now, with these failures; gives its key.
  model::RecordKey run(std::vector<model::FailureRecord> failures) {
    RunWrite write = sample_run(kTenant, new_key());
    write.failures = std::move(failures);
    const model::RecordKey key = write.run.key;
    commit(std::move(write));
    return key;
  }
  WriteResult review(const model::FailureRecord& failure, ReviewVerdict verdict, const std::string& note = "") {
    const auto stored = store_->find_failure(kTenant, failure.id);
    return commit(ReviewWrite{kTenant, {review_of(new_key(), stored ? *stored : failure, verdict, note)}, std::nullopt});
  }
  std::optional<model::Cluster> cluster(const std::string& fingerprint) {
    return store_->groups().find_cluster(kTenant, model::cluster_id(model::cluster_key(fingerprint)));
  }
  std::string state(const std::string& fingerprint) {
    const auto found = cluster(fingerprint);
    return found ? name(model::state_of(found->triage, found->first_ms, clock_.wall_ms()).state) : "there is no such group";
  }
  std::vector<std::string> history(const std::string& fingerprint) {
    std::vector<std::string> actions;
    for (const auto& entry : store_->groups().triage_history(kTenant, model::cluster_key(fingerprint), {})) {
      actions.push_back(std::string(name(entry.action)) + "/" + name(entry.state) + (entry.for_false_alarms ? "/false_alarms" : ""));
    }
    return actions;
  }
  std::vector<std::string> listed(std::optional<ReviewVerdict> reviewed) {
    FailureQuery query;
    query.reviewed = reviewed;
    std::vector<std::string> ids;
    for (const auto& one : store_->failures(kTenant, query).items) ids.push_back(one.id);
    return ids;
  }
  std::uint64_t affected(const Subject& subject) { return store_->groups().count_affected(kTenant, subject, all()); }
  Span all() { return {clock_.wall_ms() - 300 * kDay, clock_.wall_ms() + 1}; }
};

TEST_P(Reviews, FailureHasItsLastReview_AndItsHistory) {
  const auto one = failure("a");
  run({one});
  EXPECT_EQ(store_->find_failure(kTenant, one.id)->review, "");
  review(one, ReviewVerdict::unsure, "look again");
  clock_.advance_ms(kHour);
  review(one, ReviewVerdict::right);
  const auto found = store_->find_failure(kTenant, one.id);
  EXPECT_EQ(found->reviewed, ReviewVerdict::right);
  EXPECT_THAT(found->review, ::testing::HasSubstr(R"({"verdict":"right","author":"ann","at":")"));
  EXPECT_EQ(store_->failures(kTenant, {}).items.front().review, found->review);
  const auto history = store_->reviews().review_history(kTenant, found->run, one.id, {});
  ASSERT_THAT(history, SizeIs(2));
  EXPECT_EQ(history[0].document, found->review);
  EXPECT_THAT(history[1].document, ::testing::HasSubstr(R"("note":"look again")"));
  Range older;
  older.after = history[0].key;
  EXPECT_THAT(store_->reviews().review_history(kTenant, found->run, one.id, older), SizeIs(1));
  Range since;
  since.since_ms = history[0].key.time_ms;
  EXPECT_THAT(store_->reviews().review_history(kTenant, found->run, one.id, since), SizeIs(1));
  review(one, ReviewVerdict::none);
  EXPECT_EQ(store_->find_failure(kTenant, one.id)->review, "");
  EXPECT_THAT(store_->reviews().reviews_of_run(kTenant, found->run), IsEmpty());
  EXPECT_THAT(store_->reviews().review_history(kTenant, found->run, one.id, {}), SizeIs(3));
}

TEST_P(Reviews, FalseAlarm_IsListedAndInNoCount_UntilItIsTakenBack) {
  const std::int64_t first_ms = clock_.wall_ms();
  const auto early = failure("a");
  run({early});
  clock_.advance_ms(kHour);
  const auto late = failure("a");
  const auto other = failure("b");
  run({late, other});
  const Subject a = Subject::of_cluster(model::cluster_key("a"));
  const std::int64_t last_ms = clock_.wall_ms();
  const auto expect_all = [&] {
    EXPECT_EQ(cluster("a")->count, 2U);
    EXPECT_EQ(cluster("a")->waste_micro_usd, 500'000);
    EXPECT_EQ(cluster("a")->first_ms, first_ms);
    EXPECT_EQ(cluster("a")->last_ms, last_ms);
    EXPECT_EQ(affected(a), 2U);
    EXPECT_EQ(affected(Subject::any()), 2U);
    EXPECT_EQ(store_->groups().count_failures_of(kTenant, Subject::any(), all()), 3U);
    EXPECT_EQ(store_->count_failures(kTenant, "a", kBeginningMs, kEndMs), 2U);
  };
  expect_all();
  review(early, ReviewVerdict::false_alarm);
  EXPECT_EQ(cluster("a")->count, 1U);
  EXPECT_EQ(cluster("a")->waste_micro_usd, 250'000);
  EXPECT_EQ(cluster("a")->first_ms, last_ms) << "it is as old as the first that was none";
  EXPECT_EQ(affected(a), 1U);
  EXPECT_EQ(affected(Subject::of_detector("false_success")), 1U);
  EXPECT_EQ(affected(Subject::any()), 1U);
  EXPECT_EQ(store_->groups().count_failures_of(kTenant, Subject::any(), all()), 2U);
  EXPECT_EQ(store_->groups().count_failures_of(kTenant, a, all()), 1U);
  EXPECT_EQ(store_->count_failures(kTenant, "a", kBeginningMs, kEndMs), 1U);
  EXPECT_EQ(store_->count_failures(kTenant, "a", first_ms, first_ms + 1), 0U) << "walked record by record";
  const auto stats = store_->fingerprint_stats(kTenant, "a");
  EXPECT_EQ(std::tuple(stats.failures, stats.first_ms, stats.last_ms), std::tuple(1U, last_ms, last_ms));
  FailureQuery by_fingerprint;
  by_fingerprint.fingerprint = "a";
  EXPECT_THAT(store_->failures(kTenant, by_fingerprint).items, SizeIs(2));
  EXPECT_THAT(listed(ReviewVerdict::false_alarm), ElementsAre(early.id));
  EXPECT_THAT(listed(ReviewVerdict::none), ElementsAre(other.id, late.id));
  review(late, ReviewVerdict::false_alarm);
  EXPECT_EQ(affected(Subject::any()), 1U) << "the other failure of that run is none";
  review(late, ReviewVerdict::none);
  review(early, ReviewVerdict::right);
  expect_all();
}

TEST_P(Reviews, ShadowFailure_IsReviewedWithoutAnyCount) {
  auto shadow = failure("a");
  shadow.shadow = true;
  run({shadow});
  review(shadow, ReviewVerdict::false_alarm);
  EXPECT_EQ(store_->find_failure(kTenant, shadow.id)->reviewed, ReviewVerdict::false_alarm);
  EXPECT_FALSE(cluster("a"));
  review(shadow, ReviewVerdict::none);
  EXPECT_FALSE(cluster("a"));
}

TEST_P(Reviews, GroupOfFalseAlarmsOnly_IsIgnored_UntilOneDiffers) {
  const auto first = failure("a", "ten items");
  const auto second = failure("a", "twelve items");
  run({first});
  run({second});
  review(first, ReviewVerdict::false_alarm);
  EXPECT_EQ(state("a"), "new");
  review(second, ReviewVerdict::false_alarm);
  EXPECT_EQ(state("a"), "ignored");
  EXPECT_TRUE(cluster("a")->triage.for_false_alarms);
  EXPECT_THAT(history("a"), ElementsAre("ignore/ignored/false_alarms"));
  run({failure("a", "ten items")});
  run({failure("a", "twelve items")});
  EXPECT_EQ(state("a"), "ignored");
  EXPECT_EQ(cluster("a")->count, 2U) << "counted all the same";
  reopen();
  run({failure("a", "three items")});
  EXPECT_EQ(state("a"), "ongoing");
  EXPECT_FALSE(cluster("a")->triage.for_false_alarms);
  EXPECT_THAT(history("a"), ElementsAre("ignore_ended/ongoing", "ignore/ignored/false_alarms"));
}

TEST_P(Reviews, GroupOfFalseAlarms_ReturnsWhenOneIsNoneAfterAll) {
  const auto one = failure("a");
  run({one});
  for (const ReviewVerdict verdict : {ReviewVerdict::none, ReviewVerdict::right, ReviewVerdict::unsure}) {
    review(one, ReviewVerdict::false_alarm);
    EXPECT_EQ(state("a"), "ignored");
    EXPECT_EQ(cluster("a")->count, 0U);
    clock_.advance_ms(1000);
    review(one, verdict);
    EXPECT_EQ(state("a"), "ongoing") << name(verdict);
    EXPECT_EQ(cluster("a")->count, 1U);
    clock_.advance_ms(1000);
  }
  // One with an equal summary came meanwhile, and somebody says that it is a failure.
  review(one, ReviewVerdict::false_alarm);
  const auto again = failure("a");
  run({again});
  EXPECT_EQ(state("a"), "ignored");
  review(again, ReviewVerdict::unsure);
  EXPECT_EQ(state("a"), "ignored");
  review(again, ReviewVerdict::right);
  EXPECT_EQ(state("a"), "ongoing");
}

TEST_P(Reviews, WhatPeopleIgnored_StaysTheirs) {
  const auto one = failure("a");
  run({one});
  TriageWrite ignore;
  ignore.tenant = kTenant;
  ignore.cluster = model::cluster_key("a");
  ignore.entry.key = new_key();
  ignore.entry.action = model::TriageAction::ignore;
  ignore.entry.author = "ann";
  commit(ignore);
  review(one, ReviewVerdict::false_alarm);
  EXPECT_THAT(history("a"), ElementsAre("ignore/ignored"));
  run({failure("a", "another one")});
  EXPECT_EQ(state("a"), "ignored");
}

TEST_P(Reviews, FalseAlarmThatIsTakenBack_DoesNotRegressAResolvedGroup) {
  const auto one = failure("a");
  run({one, failure("a")});
  review(one, ReviewVerdict::false_alarm);
  TriageWrite resolve;
  resolve.tenant = kTenant;
  resolve.cluster = model::cluster_key("a");
  resolve.entry.key = new_key();
  resolve.entry.author = "ann";
  commit(resolve);
  clock_.advance_ms(kHour);
  review(one, ReviewVerdict::none);
  EXPECT_EQ(state("a"), "resolved");
  EXPECT_EQ(cluster("a")->count, 2U);
}

TEST_P(Reviews, NewRevisionOfTheRun_TakesItsFalseAlarmsWithIt) {
  const auto one = failure("a");
  const model::RecordKey key = run({one, failure("b")});
  review(one, ReviewVerdict::false_alarm);
  const std::string run_id = store_->run_at(kTenant, key)->run_id;
  EventsWrite more;
  more.tenant = kTenant;
  more.key = new_key();
  more.run_id = run_id;
  more.events = {{"e", "{}"}};
  more.final = true;
  commit(more);
  const auto claim = store_->claim_run(kTenant, key, model::Resolution::final, kHour);
  RunWrite write = sample_run(kTenant, key, run_id);
  write.run.revision = claim->revision;
  write.claim = claim;
  write.failures = {failure("a")};
  commit(std::move(write));
  EXPECT_EQ(cluster("a")->count, 1U);
  EXPECT_EQ(affected(Subject::of_cluster(model::cluster_key("a"))), 1U);
  EXPECT_FALSE(cluster("b"));
  EXPECT_THAT(store_->reviews().reviews_of_run(kTenant, key), SizeIs(1)) << "what was said of the former revision's failure is kept";
}

TEST_P(Reviews, RunIsReviewedByDetector) {
  const model::RecordKey key = run({});
  const auto say = [&](const std::string& detector, ReviewVerdict verdict) {
    return commit(ReviewWrite{kTenant, {review_of_run(new_key(), key, detector, verdict)}, std::nullopt});
  };
  say("false_success", ReviewVerdict::missed);
  clock_.advance_ms(1000);
  say("schema_ghost", ReviewVerdict::clean);
  clock_.advance_ms(1000);
  say("false_success", ReviewVerdict::clean);
  EXPECT_THAT(store_->reviews().reviews_of_run(kTenant, key), SizeIs(2));
  const auto history = store_->reviews().review_history(kTenant, key, {}, {});
  ASSERT_THAT(history, SizeIs(3));
  EXPECT_EQ(history[0].detector_key, "false_success");
  EXPECT_EQ(history[1].detector_key, "schema_ghost");
  Range range;
  range.limit = 1;
  range.after = history[0].key;
  EXPECT_EQ(store_->reviews().review_history(kTenant, key, {}, range).at(0).key, history[1].key);
}

TEST_P(Reviews, WhatHasGone_IsNotReviewed) {
  const auto one = failure("a");
  const auto result = review(one, ReviewVerdict::right);
  EXPECT_TRUE(result.not_there);
  EXPECT_THAT(store_->reviews().review_counts(kTenant, 0), IsEmpty());
  EXPECT_TRUE(commit(ReviewWrite{kTenant, {review_of_run(new_key(), {5, 5}, "d", ReviewVerdict::clean)}, std::nullopt}).not_there);
}

TEST_P(Reviews, IdempotencyKey_StoresOnceAndRefusesOtherContent) {
  const auto one = failure("a");
  run({one});
  const auto stored = *store_->find_failure(kTenant, one.id);
  const auto say = [&](ReviewVerdict verdict, const char* content) {
    return commit(ReviewWrite{kTenant, {review_of(new_key(), stored, verdict)}, idempotency("key", content)}).outcome;
  };
  EXPECT_EQ(say(ReviewVerdict::right, "one"), Outcome::stored);
  EXPECT_EQ(say(ReviewVerdict::right, "one"), Outcome::replayed);
  EXPECT_EQ(say(ReviewVerdict::unsure, "two"), Outcome::idempotency_conflict);
  reopen();
  EXPECT_EQ(say(ReviewVerdict::right, "one"), Outcome::replayed);
  EXPECT_THAT(store_->reviews().review_history(kTenant, stored.run, one.id, {}), SizeIs(1));
}

TEST_P(Reviews, Retention_TakesThemAfterTheirFailures) {
  const auto gone = failure("a");
  const model::RecordKey run_key = run({gone});
  review(gone, ReviewVerdict::right);
  review(gone, ReviewVerdict::false_alarm);
  clock_.advance_ms(40 * kDay);
  const auto kept = failure("b");
  run({kept});
  review(kept, ReviewVerdict::unsure);
  review(kept, ReviewVerdict::false_alarm);
  clock_.advance_ms(40 * kDay);
  Retention retention;
  retention.failures_before_ms = clock_.wall_ms() - 60 * kDay;
  retention.runs_before_ms = retention.failures_before_ms;
  while (store_->expire(retention, 3).more) {
  }
  EXPECT_FALSE(store_->find_failure(kTenant, gone.id));
  EXPECT_THAT(store_->reviews().reviews_of_run(kTenant, run_key), SizeIs(1)) << "it outlives the failure";
  EXPECT_EQ(store_->reviews().review_counts(kTenant, 0).at(0).counts.false_alarm, 2U);
  retention.changes_before_ms = clock_.wall_ms() - kDay;
  std::uint64_t reviews = 0;
  for (bool more = true; more;) {
    const Expired expired = store_->expire(retention, 1);
    reviews += expired.reviews;
    more = expired.more;
  }
  EXPECT_EQ(reviews, 3U) << "two of the failure that is gone, and one that another followed";
  EXPECT_EQ(store_->reviews().review_counts(kTenant, 0).at(0).counts.false_alarm, 1U);
  EXPECT_EQ(store_->find_failure(kTenant, kept.id)->reviewed, ReviewVerdict::false_alarm) << "the last one stays with its failure";
  EXPECT_NE(store_->find_failure(kTenant, kept.id)->review, "");
}

TEST_P(Reviews, Counts_AreOfTheLastReviews_ByVersionAndSettings_OfTheDaysAskedFor) {
  const auto old = failure("a");
  const auto one = failure("a");
  const auto two = failure("b");
  const model::RecordKey key = run({old, one, two});
  review(old, ReviewVerdict::right);
  clock_.advance_ms(10 * kDay);
  review(one, ReviewVerdict::false_alarm);
  review(one, ReviewVerdict::right);
  model::Review other = review_of(new_key(), *store_->find_failure(kTenant, two.id), ReviewVerdict::false_alarm);
  other.detector_version = "2.0";
  commit(ReviewWrite{kTenant, {other}, std::nullopt});
  commit(ReviewWrite{kTenant, {review_of_run(new_key(), key, "schema_ghost", ReviewVerdict::missed)}, std::nullopt});
  const auto counts = [&](std::int64_t since_ms) {
    std::map<std::string, model::ReviewCounts> by;
    for (const ReviewedVersion& version : store_->reviews().review_counts(kTenant, since_ms)) {
      by[version.detector_key + "/" + version.detector_version] = version.counts;
    }
    return by;
  };
  auto all = counts(0);
  EXPECT_EQ(all["false_success/1.0"].right, 2U);
  EXPECT_EQ(all["false_success/1.0"].false_alarm, 0U);
  EXPECT_EQ(all["false_success/2.0"].false_alarm, 1U);
  EXPECT_EQ(all["schema_ghost/1.0"].missed, 1U);
  EXPECT_EQ(counts(clock_.wall_ms() - 5 * kDay)["false_success/1.0"].right, 1U);
  EXPECT_THAT(store_->reviews().review_counts(kTenant + 1, 0), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Engines, Reviews, kEngines, kEngineName);

// Random runs, reviews, deletions and restarts against a count of the records themselves.
class ReviewCounts : public MaintenanceTest {
 protected:
  void random_steps(std::unique_ptr<Store>& store, model::TenantId tenant, unsigned seed, int steps) {
    std::mt19937 random(seed);
    std::vector<model::FailureRecord> made;
    std::vector<model::RecordKey> runs;
    for (int i = 0; i < steps; ++i) {
      clock_.advance_ms(static_cast<std::int64_t>(random() % (6 * kHour)));
      const unsigned what = random() % 20;
      if (what < 8 || made.empty()) {
        RunWrite write = sample_run(tenant, new_key(*store));
        write.run.dimensions = {{"version", random() % 2 == 0 ? "1" : "2"}};
        for (unsigned n = random() % 4; n > 0; --n) {
          write.failures.push_back(failure_with(new_key(*store), std::string(1, static_cast<char>('a' + random() % 3)),
                                                "summary " + std::to_string(random() % 4), random() % 2 == 0 ? "d1" : "d2"));
          write.failures.back().shadow = random() % 10 == 0;
          made.push_back(write.failures.back());
        }
        runs.push_back(write.run.key);
        commit(*store, std::move(write));
      } else if (what < 17) {
        const auto found = store->find_failure(tenant, made[random() % made.size()].id);
        if (!found) continue;
        const ReviewVerdict verdict = std::array{ReviewVerdict::none, ReviewVerdict::right, ReviewVerdict::false_alarm,
                                                 ReviewVerdict::false_alarm, ReviewVerdict::unsure}[random() % 5];
        commit(*store, ReviewWrite{tenant, {review_of(new_key(*store), *found, verdict)}, std::nullopt});
      } else if (what < 18) {
        const auto verdict = random() % 2 == 0 ? ReviewVerdict::missed : ReviewVerdict::clean;
        commit(*store, ReviewWrite{tenant, {review_of_run(new_key(*store), runs[random() % runs.size()], "d3", verdict)}, std::nullopt});
      } else if (what < 19) {
        Retention retention;
        retention.failures_before_ms = clock_.wall_ms() - 20 * kDay;
        retention.runs_before_ms = clock_.wall_ms() - 25 * kDay;
        retention.changes_before_ms = clock_.wall_ms() - 30 * kDay;
        while (store->expire(retention, 5).more) {
        }
      } else {
        store.reset();
        store = open(path_);
      }
    }
  }

  void expect_as_counted(Store& store, model::TenantId tenant) {
    FailureQuery query;
    query.range.limit = 100'000;
    RunQuery run_query;
    run_query.range.limit = 100'000;
    std::set<model::RecordKey> runs;
    for (const auto& one : store.runs(tenant, run_query).items) runs.insert(one.key);
    std::map<std::string, std::uint64_t> count;
    std::map<std::string, std::uint64_t> of_detector;
    std::map<std::string, std::set<model::RecordKey>> affected;
    std::set<model::RecordKey> any;
    for (const auto& one : store.failures(tenant, query).items) {
      if (one.reviewed == ReviewVerdict::false_alarm) continue;
      ++count[one.fingerprint];
      ++of_detector[one.detector_key];
      if (!runs.contains(one.run)) continue;
      affected[one.fingerprint].insert(one.run);
      any.insert(one.run);
    }
    const Span all{clock_.wall_ms() - 300 * kDay, clock_.wall_ms() + 1};
    GroupStore& groups = store.groups();
    for (const std::string fingerprint : {"a", "b", "c"}) {
      const auto found = groups.find_cluster(tenant, model::cluster_id(model::cluster_key(fingerprint)));
      EXPECT_EQ(found ? found->count : 0, count[fingerprint]) << fingerprint;
      EXPECT_EQ(groups.count_affected(tenant, Subject::of_cluster(model::cluster_key(fingerprint)), all), affected[fingerprint].size())
          << fingerprint;
      EXPECT_EQ(store.count_failures(tenant, fingerprint, kBeginningMs, kEndMs), count[fingerprint]) << fingerprint;
    }
    for (const std::string detector : {"d1", "d2"}) {
      EXPECT_EQ(groups.count_failures_of(tenant, Subject::of_detector(detector), all), of_detector[detector]) << detector;
    }
    EXPECT_EQ(groups.count_affected(tenant, Subject::any(), all), any.size());
  }

  // By a walk over the rows themselves.
  std::map<std::string, model::ReviewCounts> naive_counts(model::TenantId tenant) {
    const Rows all = rows(path_);
    std::map<std::string, model::Review> last;
    if (const auto table = all.find("reviews"); table != all.end()) {
      for (const auto& [key, value] : table->second) {
        if (tenant_of(key) != tenant) continue;
        const model::Review review = decode_review(key, value);
        model::Review& known =
            last[std::to_string(review.run.time_ms) + "/" + std::to_string(review.run.seq) + "/" + review_subject(review)];
        if (known.key <= review.key) known = review;
      }
    }
    std::map<std::string, model::ReviewCounts> counts;
    for (const auto& [subject, review] : last) {
      if (review.verdict != ReviewVerdict::none) ++counts[review.detector_key].of(review.verdict);
    }
    return counts;
  }
  static std::map<std::string, model::ReviewCounts> told_counts(Store& store, model::TenantId tenant) {
    std::map<std::string, model::ReviewCounts> counts;
    for (const ReviewedVersion& one : store.reviews().review_counts(tenant, 0)) counts[one.detector_key] += one.counts;
    return counts;
  }
};

TEST_F(ReviewCounts, AgreeWithTheRecords_AfterReviewsDeletionsRestarts_ExportAndImport) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    path_ = folder_.path() / ("store" + std::to_string(seed));
    auto store = open(path_);
    model::KeyRecord key;
    key.id = "key";
    key.tenant_name = "acme";
    const model::TenantId tenant = store->put_key(key).tenant;
    for (int part = 0; part < 4; ++part) {
      random_steps(store, tenant, seed * 10 + static_cast<unsigned>(part), 60);
      expect_as_counted(*store, tenant);
    }
    const auto told = told_counts(*store, tenant);
    EXPECT_FALSE(told.empty());
    store.reset();
    EXPECT_EQ(told, naive_counts(tenant));
    expect_good(path_);
    const std::filesystem::path target = folder_.path() / ("target" + std::to_string(seed));
    open(target);
    const auto imported = import_lines(maintenance(target), lines_of(exported()));
    ASSERT_TRUE(imported.ok()) << imported.error().detail;
    EXPECT_EQ(imported->conflicts, 0U);
    expect_good(target);
    const auto there = open(target);
    expect_as_counted(*there, 1);
    EXPECT_EQ(told_counts(*there, 1), told);
  }
}

TEST_F(ReviewCounts, ImportBesideOtherReviews_TheLastOneCounts) {
  std::string text;
  const std::filesystem::path target = folder_.path() / "target";
  std::string id;
  {
    auto store = open(path_);
    model::KeyRecord key;
    key.id = "key";
    key.tenant_name = "acme";
    const model::TenantId tenant = store->put_key(key).tenant;
    RunWrite write = sample_run(tenant, new_key(*store));
    write.failures = {failure_with(new_key(*store), "a", "s")};
    id = write.failures.front().id;
    commit(*store, std::move(write));
    store.reset();
    open(target);
    ASSERT_TRUE(import_lines(maintenance(target), lines_of(exported())).ok());
    store = open(path_);
    commit(*store,
           ReviewWrite{tenant, {review_of(new_key(*store), *store->find_failure(tenant, id), ReviewVerdict::false_alarm)}, std::nullopt});
    store.reset();
    auto there = open(target);
    commit(*there, ReviewWrite{1, {review_of(new_key(*there), *there->find_failure(1, id), ReviewVerdict::right)}, std::nullopt});
  }
  text = exported();
  auto imported = import_lines(maintenance(target), lines_of(text));
  ASSERT_TRUE(imported.ok()) << imported.error().detail;
  EXPECT_EQ(imported->conflicts, 0U);
  EXPECT_EQ(imported->stored["review"], 1U);
  EXPECT_EQ(open(target)->find_failure(1, id)->reviewed, ReviewVerdict::right) << "said later than what was imported";
  imported = import_lines(maintenance(target), lines_of(text));
  EXPECT_EQ(imported->conflicts, 0U) << "the failure that stands there has a review, and is the same";
  EXPECT_EQ(imported->stored.count("review"), 0U);
  expect_good(target);
}

TEST_F(ReviewCounts, Verify_FindsACountThatIsWrong_AndAFailureThatSaysOtherwise) {
  fill();
  expect_good(path_);
  tamper(path_, "review_index", [](WriteTxn& txn, const Table& in) {
    Cursor cursor(txn, in.handle);
    cursor.last();
    ReviewedVersion version = decode_review_counts(cursor.key(), cursor.value());
    ++version.counts.right;
    const std::string key(cursor.key());
    txn.put(in.handle, key, encode_review_counts(key, version));
  });
  tamper(path_, "failures", [](WriteTxn& txn, const Table& in) {
    Cursor cursor(txn, in.handle);
    for (bool more = cursor.first(); more; more = cursor.next()) {
      const std::string key(cursor.key());
      model::FailureRecord failure = decode_failure(key, cursor.value());
      if (failure.reviewed != ReviewVerdict::false_alarm) continue;
      failure.reviewed = ReviewVerdict::right;
      return txn.put(in.handle, key, encode_failure(key, failure));
    }
  });
  const auto verified = verify(maintenance(path_));
  ASSERT_TRUE(verified.ok());
  std::set<std::string> tables;
  for (const StoreFault& fault : verified->first_ones) tables.insert(fault.table);
  EXPECT_TRUE(tables.contains("review_index"));
  EXPECT_TRUE(tables.contains("failures"));
}

TEST_F(ReviewCounts, Purge_TakesAllOfIt) {
  fill();
  PurgeQuery query;
  query.tenant = "acme";
  const auto counted = count_purge(maintenance(), query);
  const auto purged = purge(maintenance(), query);
  ASSERT_TRUE(counted.ok() && purged.ok());
  EXPECT_GT(purged->gone.reviews, 0U);
  EXPECT_EQ(counted->reviews, purged->gone.reviews);
  const Rows left = rows(path_);
  for (const char* table : {"reviews", "review_index"}) EXPECT_EQ(left.count(table), 0U) << table;
  expect_good(path_);
}

}  // namespace
}  // namespace runwarden::store
