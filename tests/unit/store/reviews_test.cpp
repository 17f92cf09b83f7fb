// Reviews: the last one of each subject counts; false alarms are kept and listed, and are in no count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <tuple>
#include <vector>

#include "model/record_ids.h"
#include "support/sample_values.h"
#include "unit/store/engines.h"
#include "unit/store/random_reviews.h"
#include "unit/store/sample_reviews.h"

namespace runwarden::store {
namespace {

using model::ReviewVerdict;
using Outcome = WriteResult::Outcome;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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
  // What ends another revision of the run, for which it is opened by a new event and claimed; without failures.
  RunWrite next_revision_of(const model::RecordKey& run) {
    EventsWrite more;
    more.tenant = kTenant;
    more.key = new_key();
    more.run_id = store_->run_at(kTenant, run)->run_id;
    more.events = {{model::make_run_id(more.key), "{}"}};
    more.final = true;
    commit(more);
    const auto claim = store_->claim_run(kTenant, run, model::Resolution::final, kHour);
    RunWrite write = sample_run(kTenant, run, more.run_id);
    write.run.revision = claim->revision;
    write.claim = claim;
    return write;
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

TEST_P(Reviews, FalseAlarmsSinceAnIgnore_DoNotCountForItsEnd_UntilTakenBack) {
  const auto before = failure("a");
  run({before});
  clock_.advance_ms(kMinute);
  TriageWrite ignore;
  ignore.tenant = kTenant;
  ignore.cluster = model::cluster_key("a");
  ignore.entry.key = new_key();
  ignore.entry.action = model::TriageAction::ignore;
  ignore.entry.until.failures = 2;
  commit(ignore);
  clock_.advance_ms(kMinute);
  const auto since = failure("a");
  run({since});
  review(before, ReviewVerdict::false_alarm);
  EXPECT_EQ(cluster("a")->triage.failures_since, 1U) << "it is from before the ignore";
  review(since, ReviewVerdict::false_alarm);
  EXPECT_EQ(cluster("a")->triage.failures_since, 0U);
  run({failure("a")});
  EXPECT_EQ(state("a"), "ignored");
  review(before, ReviewVerdict::none);
  EXPECT_EQ(state("a"), "ignored");
  review(since, ReviewVerdict::none);
  EXPECT_EQ(state("a"), "ongoing");
  EXPECT_THAT(history("a"), ElementsAre("ignore_ended/ongoing", "ignore/ignored"));
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

TEST_P(Reviews, GroupOfFalseAlarms_EndsWithWhatIsCountedAgain) {
  std::vector<model::FailureRecord> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(failure("a", "a summary of " + std::to_string(i)));
    run({all.back()});
    clock_.advance_ms(kHour);
  }
  const auto expect_only = [&](const model::FailureRecord& one) {
    const auto group = *cluster("a");
    EXPECT_EQ(std::pair(group.count, group.last_ms), std::pair(std::uint64_t{1}, one.key.time_ms)) << one.id;
    EXPECT_LE(group.first_ms, one.key.time_ms) << one.id;
  };
  for (const std::vector<int>& order : {std::vector{0, 1, 2}, {2, 1, 0}, {1, 2, 0}}) {
    for (const auto& one : all) {
      for (const int i : order) review(all[i], ReviewVerdict::false_alarm);
      review(one, ReviewVerdict::none);
      expect_only(one);
    }
  }
  for (const auto& one : all) review(one, ReviewVerdict::false_alarm);
  reopen();
  run({failure("a", "another one")});
  expect_only(store_->failures(kTenant, {}).items.front());
}

TEST_P(Reviews, GroupWhoseFirstFailureExpired_StaysAsOldWhenItsOthersAreFalseAlarms) {
  const std::int64_t first_ms = clock_.wall_ms();
  run({failure("a")});
  clock_.advance_ms(10 * kDay);
  const auto second = failure("a");
  run({second});
  Retention retention;
  retention.failures_before_ms = clock_.wall_ms();
  store_->expire(retention, 100);
  review(second, ReviewVerdict::false_alarm);
  EXPECT_EQ(cluster("a")->count, 0U);
  run({failure("a", "another one")});
  EXPECT_EQ(cluster("a")->first_ms, first_ms);
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
  RunWrite write = next_revision_of(key);
  write.failures = {failure("a")};
  commit(std::move(write));
  EXPECT_EQ(cluster("a")->count, 1U);
  EXPECT_EQ(affected(Subject::of_cluster(model::cluster_key("a"))), 1U);
  EXPECT_FALSE(cluster("b"));
  EXPECT_THAT(store_->reviews().reviews_of_run(kTenant, key), SizeIs(1)) << "what was said of the former revision's failure is kept";
}

TEST_P(Reviews, WhatTheNextRevisionHasAgain_KeepsItsReviews) {
  const auto one = failure("a");
  const auto other = failure("b");
  const model::RecordKey key = run({one, other});
  review(one, ReviewVerdict::false_alarm, "a test order");
  review(other, ReviewVerdict::right);
  const std::vector<std::string> before = history("a");
  for (const char* const summary : {"of the second revision", "of the third"}) {
    RunWrite write = next_revision_of(key);
    const auto earlier = store_->fetch(*write.claim).failures;
    ASSERT_THAT(earlier, SizeIs(2));
    EXPECT_EQ(earlier[0].key, one.key);
    EXPECT_EQ(earlier[0].detector_key, "false_success");
    EXPECT_EQ(earlier[0].cluster_id, model::cluster_id(model::cluster_key("a")));
    write.failures = {failure_with(one.key, "a", summary), failure_with(other.key, "b", summary)};
    commit(std::move(write));
    const auto found = store_->find_failure(kTenant, one.id);
    EXPECT_THAT(found->json, ::testing::HasSubstr(summary));
    EXPECT_EQ(found->reviewed, ReviewVerdict::false_alarm);
    EXPECT_THAT(found->review, ::testing::HasSubstr("a test order"));
    EXPECT_THAT(store_->reviews().review_history(kTenant, key, one.id, {}), SizeIs(1));
    EXPECT_THAT(listed(ReviewVerdict::none), IsEmpty());
    EXPECT_THAT(listed(ReviewVerdict::right), ElementsAre(other.id));
    EXPECT_EQ(cluster("a")->count, 0U);
    EXPECT_EQ(state("a"), "ignored");
    EXPECT_EQ(history("a"), before);
    EXPECT_EQ(cluster("b")->count, 1U);
    EXPECT_EQ(affected(Subject::of_cluster(model::cluster_key("a"))), 0U);
    EXPECT_EQ(affected(Subject::any()), 1U);
    EXPECT_EQ(store_->count_failures(kTenant, "a", kBeginningMs, kEndMs), 0U);
    reopen();
  }
  review(one, ReviewVerdict::none);
  EXPECT_EQ(cluster("a")->count, 1U);
  EXPECT_EQ(affected(Subject::any()), 1U);
}

TEST_P(Reviews, WhatALaterRevisionHasAgain_KeepsItsReview_ThoughOneBetweenLackedIt) {
  const auto one = failure("a");
  const model::RecordKey key = run({one});
  review(one, ReviewVerdict::right, "so it was");
  commit(next_revision_of(key));
  EXPECT_FALSE(store_->find_failure(kTenant, one.id));
  RunWrite write = next_revision_of(key);
  const auto earlier = store_->fetch(*write.claim).failures;
  ASSERT_THAT(earlier, SizeIs(1));
  EXPECT_EQ(earlier[0].key, one.key);
  write.failures = {failure_with(one.key, "a", "again")};
  commit(std::move(write));
  EXPECT_THAT(store_->find_failure(kTenant, one.id)->review, ::testing::HasSubstr("so it was"));
  EXPECT_EQ(cluster("a")->count, 1U);
}

TEST_P(Reviews, WhatTheNextRevisionHasAgain_IsNotNewToItsGroup) {
  model::Endpoint endpoint;
  endpoint.url = "https://receiver.example/hook";
  endpoint.events = {model::MessageType::cluster_created, model::MessageType::cluster_regressed, model::MessageType::failure_created};
  endpoint = *store_->webhooks().add_endpoint(kTenant, endpoint);
  const auto told = [&] { return store_->webhooks().due({kTenant, endpoint}, clock_.wall_ms(), 100).size(); };
  const auto one = failure("a");
  const model::RecordKey key = run({one});
  EXPECT_EQ(told(), 2U);
  TriageWrite triage;
  triage.tenant = kTenant;
  triage.cluster = model::cluster_key("a");
  triage.entry.key = new_key();
  triage.entry.author = "ann";
  commit(triage);
  clock_.advance_ms(kHour);
  const auto revise = [&](model::FailureRecord again) {
    RunWrite write = next_revision_of(key);
    again.executed_ms = clock_.wall_ms();
    write.failures = {std::move(again)};
    commit(std::move(write));
  };
  revise(failure_with(one.key, "a", "again"));
  EXPECT_EQ(state("a"), "resolved");
  triage.entry.key = new_key();
  triage.entry.action = model::TriageAction::ignore;
  triage.entry.until.failures = 1;
  commit(triage);
  revise(failure_with(one.key, "a", "and again"));
  EXPECT_EQ(state("a"), "ignored");
  EXPECT_EQ(cluster("a")->count, 1U);
  EXPECT_EQ(told(), 2U);
}

TEST_P(Reviews, ReviewedTogetherWithANewRevisionThatHasItAgain_EachSeesWhatCameBeforeIt) {
  const auto one = failure("a");
  const model::RecordKey key = run({one});
  run({failure("a")});
  const auto stored = *store_->find_failure(kTenant, one.id);
  RunWrite write = next_revision_of(key);
  write.failures = {failure_with(one.key, "a", "again")};
  const auto say = [&](ReviewVerdict verdict) { return ReviewWrite{kTenant, {review_of(new_key(), stored, verdict)}, std::nullopt}; };
  const auto results = commit_together({say(ReviewVerdict::false_alarm), write, say(ReviewVerdict::right)});
  EXPECT_FALSE(results[0].not_there || results[2].not_there);
  EXPECT_EQ(store_->find_failure(kTenant, one.id)->reviewed, ReviewVerdict::right);
  EXPECT_EQ(cluster("a")->count, 2U);
  EXPECT_EQ(cluster("a")->waste_micro_usd, 500'000);
  EXPECT_EQ(affected(Subject::any()), 2U);
}

// A model confirmed what the detector nearly reported: the detector itself was silent.
TEST_P(Reviews, OfAConfirmedCandidate_CountsAsWhatTheDetectorDid) {
  const std::vector<ReviewVerdict> verdicts{ReviewVerdict::right, ReviewVerdict::right, ReviewVerdict::false_alarm, ReviewVerdict::unsure};
  for (const ReviewVerdict verdict : verdicts) {
    const auto one = failure("a");
    run({one});
    model::Review review = review_of(new_key(), *store_->find_failure(kTenant, one.id), verdict);
    review.of_candidate = true;
    commit(ReviewWrite{kTenant, {review}, std::nullopt});
    EXPECT_EQ(store_->find_failure(kTenant, one.id)->reviewed, verdict);
  }
  reopen();
  EXPECT_EQ(told_counts(*store_, kTenant)["false_success"], (model::ReviewCounts{0, 0, 1, 2, 1}));
}

TEST_P(Reviews, ReviewedTogetherWithANewRevision_GoesAsAFalseAlarm) {
  const auto one = failure("a");
  const auto kept = failure("a");
  const model::RecordKey key = run({one});
  run({kept});
  const auto stored = *store_->find_failure(kTenant, one.id);
  RunWrite write = next_revision_of(key);
  const auto say = [&](ReviewVerdict verdict) { return ReviewWrite{kTenant, {review_of(new_key(), stored, verdict)}, std::nullopt}; };
  const auto results = commit_together({say(ReviewVerdict::false_alarm), write, say(ReviewVerdict::right)});
  EXPECT_FALSE(results[0].not_there);
  EXPECT_TRUE(results[2].not_there) << "it went with the former revision";
  EXPECT_EQ(cluster("a")->count, 1U);
  EXPECT_EQ(cluster("a")->waste_micro_usd, 250'000);
  EXPECT_FALSE(store_->find_failure(kTenant, one.id));
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
  const model::RecordKey without = run({});
  const auto of_both = store_->reviews().reviews_of_runs(kTenant, std::vector{without, key});
  ASSERT_THAT(of_both, SizeIs(2));
  EXPECT_THAT(of_both[0], IsEmpty());
  ASSERT_THAT(of_both[1], SizeIs(2));
  EXPECT_EQ(of_both[1][0].document, store_->reviews().reviews_of_run(kTenant, key)[0].document);
  EXPECT_THAT(store_->reviews().reviews_of_runs(kOther, std::vector{key}).at(0), IsEmpty());
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
    return commit(ReviewWrite{kTenant, {review_of(new_key(), stored, verdict)}, idempotency("key", content)});
  };
  EXPECT_EQ(say(ReviewVerdict::right, "one").outcome, Outcome::stored);
  EXPECT_FALSE(store_->find_replay(kTenant, digest_of("key"))) << "the write itself finds it";
  const auto history = store_->reviews().review_history(kTenant, stored.run, one.id, {});
  ASSERT_THAT(history, SizeIs(1));
  EXPECT_EQ(say(ReviewVerdict::right, "one").decided, history[0].key);
  EXPECT_EQ(say(ReviewVerdict::unsure, "two").outcome, Outcome::idempotency_conflict);
  reopen();
  review(one, ReviewVerdict::unsure);
  const auto replayed = say(ReviewVerdict::right, "one");
  EXPECT_EQ(replayed.outcome, Outcome::replayed);
  EXPECT_EQ(replayed.decided, history[0].key);
  EXPECT_THAT(store_->reviews().review_history(kTenant, stored.run, one.id, {}), SizeIs(2));
  EXPECT_EQ(store_->reviews().review_history(kTenant, stored.run, one.id, only(history[0].key)).at(0).document, history[0].document);
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

TEST_P(Reviews, WrittenTogether_EachSeesWhatCameBeforeIt) {
  const auto early = failure("a", "one");
  const auto late = failure("a", "two");
  RunWrite write = sample_run(kTenant, new_key());
  write.failures = {early, late};
  auto stored = write.failures;
  for (auto& one : stored) one.run = write.run.key;
  const auto say = [&](const model::FailureRecord& of, ReviewVerdict verdict) {
    return ReviewWrite{kTenant, {review_of(new_key(), of, verdict)}, std::nullopt};
  };
  const ReviewWrite of_run{kTenant, {review_of_run(new_key(), write.run.key, "d3", ReviewVerdict::missed)}, std::nullopt};
  const auto results = commit_together({say(stored[0], ReviewVerdict::right), write, of_run, say(stored[0], ReviewVerdict::false_alarm),
                                        say(stored[1], ReviewVerdict::false_alarm), say(stored[1], ReviewVerdict::none)});
  EXPECT_TRUE(results[0].not_there) << "its run comes after it";
  for (std::size_t i = 1; i < results.size(); ++i) EXPECT_FALSE(results[i].not_there) << i;
  EXPECT_EQ(cluster("a")->count, 1U);
  EXPECT_EQ(store_->find_failure(kTenant, early.id)->reviewed, ReviewVerdict::false_alarm);
  EXPECT_EQ(store_->find_failure(kTenant, late.id)->reviewed, ReviewVerdict::none);
  EXPECT_EQ(cluster("a")->title, "title of a");
  EXPECT_EQ(cluster("a")->first_ms, late.key.time_ms);
  EXPECT_THAT(store_->reviews().reviews_of_run(kTenant, write.run.key), SizeIs(2));
}

TEST_P(Reviews, WhatWasSaidEarlier_ButComesLater_IsHistoryOnly) {
  const auto one = failure("a");
  run({one});
  const auto stored = *store_->find_failure(kTenant, one.id);
  const model::RecordKey earlier = new_key();
  clock_.advance_ms(1000);
  review(one, ReviewVerdict::right);
  commit(ReviewWrite{kTenant, {review_of(earlier, stored, ReviewVerdict::false_alarm)}, std::nullopt});
  EXPECT_EQ(store_->find_failure(kTenant, one.id)->reviewed, ReviewVerdict::right);
  EXPECT_EQ(cluster("a")->count, 1U);
  EXPECT_EQ(store_->reviews().review_counts(kTenant, 0).at(0).counts.all(), 1U);
  EXPECT_THAT(store_->reviews().review_history(kTenant, stored.run, one.id, {}), SizeIs(2));
}

TEST_P(Reviews, FalseAlarmsAlone_AreIgnoredOnceTheOtherFailureExpires) {
  const auto gone = failure("a");
  run({gone});
  clock_.advance_ms(10 * kDay);
  const auto one = failure("a");
  run({one});
  review(one, ReviewVerdict::false_alarm);
  EXPECT_NE(state("a"), "ignored");
  Retention retention;
  retention.failures_before_ms = clock_.wall_ms() - 5 * kDay;
  store_->expire(retention, 10);
  EXPECT_EQ(cluster("a")->count, 0U);
  EXPECT_EQ(state("a"), "ignored");
  run({failure("a")});
  EXPECT_EQ(state("a"), "ignored") << "its summary is that of the false alarm";
}

TEST_P(Reviews, Webhooks_HearThatAGroupIsFalseAlarmsOnly_AndThatItIsNotAnyMore) {
  model::Endpoint endpoint;
  endpoint.url = "https://receiver.example/hook";
  endpoint.events = {model::MessageType::cluster_created, model::MessageType::cluster_triaged, model::MessageType::cluster_rising,
                     model::MessageType::failure_created};
  endpoint = *store_->webhooks().add_endpoint(kTenant, endpoint);
  const auto hear = [&] {
    const auto due = store_->webhooks().due({kTenant, endpoint}, clock_.wall_ms(), 100);
    std::vector<model::Message> messages;
    for (const model::Delivery& one : due) messages.push_back(one.message);
    std::vector<Attempt> attempts;
    for (const model::Delivery& one : due) attempts.push_back({kTenant, endpoint.key, one.key, clock_.wall_ms(), true, true, 200, "", {}, {}});
    store_->webhooks().settle(attempts);
    return messages;
  };
  const auto one = failure("a");
  const auto other = failure("a");
  run({one, other});
  EXPECT_THAT(hear(), SizeIs(3));
  review(one, ReviewVerdict::false_alarm);
  EXPECT_THAT(hear(), IsEmpty());
  review(other, ReviewVerdict::false_alarm);
  const auto ignored = hear();
  ASSERT_THAT(ignored, SizeIs(1));
  EXPECT_EQ(ignored[0].type, model::MessageType::cluster_triaged);
  EXPECT_EQ(ignored[0].cluster->state, model::ClusterState::ignored);
  EXPECT_FALSE(ignored[0].failure) << "there is none that is one";
  clock_.advance_ms(1000);
  const auto late = failure("a");
  run({late});
  EXPECT_THAT(hear(), IsEmpty()) << "it is like those";
  review(one, ReviewVerdict::right);
  const auto ended = hear();
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].type, model::MessageType::cluster_triaged);
  EXPECT_EQ(ended[0].failure, late.key) << "the newest that is no false alarm";
  review(late, ReviewVerdict::false_alarm);
  EXPECT_NE(state("a"), "ignored");
  EXPECT_TRUE(store_->webhooks().queue_rising(kTenant, model::cluster_key("a")));
  EXPECT_EQ(hear().at(0).failure, one.key);
  Retention retention;
  retention.failures_before_ms = late.key.time_ms;
  store_->expire(retention, 100);
  EXPECT_EQ(state("a"), "ignored");
  EXPECT_THAT(hear(), IsEmpty()) << "nobody is told of what expires";
}

TEST_P(Reviews, ReviewedRuns_AreListedInOrder_WithWhatWasSaidLast) {
  std::vector<model::RecordKey> keys;
  std::vector<model::FailureRecord> failures;
  for (int i = 0; i < 4; ++i) {
    failures.push_back(failure("a"));
    keys.push_back(run({failures.back()}));
    clock_.advance_ms(1000);
  }
  review(failures[2], ReviewVerdict::unsure);
  review(failures[2], ReviewVerdict::right);
  review(failures[0], ReviewVerdict::right);
  review(failures[0], ReviewVerdict::none);
  commit(ReviewWrite{kTenant, {review_of_run(new_key(), keys[0], "d3", ReviewVerdict::clean)}, std::nullopt});
  review(failures[3], ReviewVerdict::none);
  const auto runs = store_->reviews().reviewed_runs(kTenant, std::nullopt, 10);
  ASSERT_THAT(runs, SizeIs(3));
  EXPECT_THAT((std::vector{runs[0].run, runs[1].run, runs[2].run}), ElementsAre(keys[0], keys[2], keys[3]));
  ASSERT_THAT(runs[0].reviews, SizeIs(1));
  EXPECT_EQ(runs[0].reviews[0].detector_key, "d3");
  ASSERT_THAT(runs[1].reviews, SizeIs(1));
  EXPECT_EQ(runs[1].reviews[0].verdict, ReviewVerdict::right);
  EXPECT_THAT(runs[2].reviews, IsEmpty()) << "all of it was taken back";
  const auto next = store_->reviews().reviewed_runs(kTenant, keys[0], 1);
  ASSERT_THAT(next, SizeIs(1));
  EXPECT_EQ(next[0].run, keys[2]);
}

TEST_P(Reviews, Random_AgreeWithTheRecordsThemselves) {
  RandomReviews random{clock_, [this] { return engine_->open(clock_); }};
  for (unsigned part = 1; part <= 4; ++part) {
    SCOPED_TRACE("part " + std::to_string(part));
    random.run(store_, kTenant, part, 80);
    random.expect_as_counted(*store_, kTenant);
    std::map<std::string, model::ReviewCounts> last;
    for (const ReviewedRun& one : store_->reviews().reviewed_runs(kTenant, std::nullopt, 100'000)) {
      for (const model::Review& review : one.reviews) ++last[review.detector_key].of(model::counted_verdict(review));
    }
    EXPECT_FALSE(last.empty());
    EXPECT_EQ(told_counts(*store_, kTenant), last);
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, Reviews, kEngines, kEngineName);

}  // namespace
}  // namespace runwarden::store
