// Second opinions: questions come with their run, are claimed by one at a time, and what is answered is kept with what follows from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "support/sample_values.h"
#include "unit/store/engines.h"
#include "unit/store/sample_opinions.h"
#include "unit/store/sample_reviews.h"

namespace runwarden::store {
namespace {

using model::OpinionState;
using model::ReviewVerdict;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Opinions : public StoreContractTest {
 protected:
  // A run now with a candidate of that detector.
  model::Opinion ask(const std::string& detector = "false_success", model::TenantId tenant = kTenant) {
    RunWrite write = sample_run(tenant, new_key());
    write.opinions = {candidate_of(write.run, new_key(), detector)};
    const model::Opinion asked = write.opinions.front();
    commit(std::move(write));
    return asked;
  }
  std::vector<TenantOpinion> claim(std::size_t most = 10) {
    return store_->opinions().claim_due(clock_.wall_ms(), clock_.wall_ms() + 30 * kSecond, most);
  }
  model::Opinion claimed(const model::Opinion& asked) {
    for (const TenantOpinion& one : claim()) {
      if (one.opinion.id == asked.id) return one.opinion;
    }
    ADD_FAILURE() << "it is not due";
    return asked;
  }
  OpinionWrite confirmed(const model::Opinion& opinion) { return confirming(kTenant, opinion, new_key(), new_key()); }
  model::Review of_run(const model::Opinion& opinion, ReviewVerdict verdict) {
    return review_of_run(new_key(), opinion.run, opinion.detector_key, verdict);
  }
  std::vector<std::string> ids(const CandidateQuery& query) {
    std::vector<std::string> found;
    for (const auto& one : store_->opinions().candidates(kTenant, query).items) found.push_back(one.id);
    return found;
  }
  model::Opinion kept(const model::Opinion& opinion) {
    for (auto& one : store_->opinions().opinions_of_run(kTenant, opinion.run)) {
      if (one.id == opinion.id) return std::move(one);
    }
    ADD_FAILURE() << "it does not exist";
    return {};
  }
  std::uint64_t affected(const Subject& subject) {
    return store_->groups().count_affected(kTenant, subject, {clock_.wall_ms() - 300 * kDay, clock_.wall_ms() + 1});
  }
};

TEST_P(Opinions, QuestionIsClaimedByOneUntilItsLeaseIsOver) {
  const auto asked = ask();
  const auto first = claim();
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_EQ(first[0].tenant, kTenant);
  EXPECT_EQ(first[0].opinion.id, asked.id);
  EXPECT_EQ(first[0].opinion.rule, asked.rule);
  EXPECT_EQ(first[0].opinion.confidence, asked.confidence);
  EXPECT_THAT(claim(), IsEmpty());
  clock_.advance_ms(30 * kSecond);
  const auto second = claim();
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_NE(second[0].opinion.token, first[0].opinion.token);
  EXPECT_TRUE(commit(settled(kTenant, first[0].opinion, OpinionState::denied)).not_there) << "another has claimed it meanwhile";
  EXPECT_EQ(kept(asked).state, OpinionState::waiting);
  EXPECT_FALSE(commit(settled(kTenant, second[0].opinion, OpinionState::denied)).not_there);
  EXPECT_EQ(kept(asked).state, OpinionState::denied);
  EXPECT_TRUE(commit(settled(kTenant, second[0].opinion, OpinionState::confirmed)).not_there) << "it has been answered";
}

TEST_P(Opinions, LongestDueComesFirst_OfEveryTenant) {
  const auto one = ask();
  clock_.advance_ms(1);
  const auto two = ask("false_success", kOther);
  clock_.advance_ms(1);
  const auto three = ask();
  const auto first = claim(2);
  ASSERT_THAT(first, SizeIs(2));
  EXPECT_EQ(first[0].opinion.id, one.id);
  EXPECT_EQ(first[1].opinion.id, two.id);
  EXPECT_EQ(first[1].tenant, kOther);
  reopen();
  const auto rest = claim();
  ASSERT_THAT(rest, SizeIs(1)) << "claims outlive a restart until their leases are over";
  EXPECT_EQ(rest[0].opinion.id, three.id);
}

TEST_P(Opinions, AttemptThatFailed_IsDueAgainAtItsTime) {
  const auto asked = ask();
  model::Opinion failed = claimed(asked);
  failed.attempts = 1;
  failed.due_ms = clock_.wall_ms() + kHour;
  failed.last_error = "timeout";
  EXPECT_FALSE(commit(OpinionWrite{kTenant, failed, std::nullopt, {}}).not_there);
  clock_.advance_ms(kHour - 1);
  EXPECT_THAT(claim(), IsEmpty());
  clock_.advance_ms(1);
  const auto again = claim();
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].opinion.attempts, 1U);
  EXPECT_EQ(again[0].opinion.last_error, "timeout");
}

TEST_P(Opinions, CandidateThatIsConfirmed_IsAFailureOfItsRunFromThenOn) {
  const auto asked = ask();
  clock_.advance_ms(kHour);
  OpinionWrite write = confirmed(claimed(asked));
  const model::FailureRecord failure = *write.failure;
  ASSERT_FALSE(commit(std::move(write)).not_there);
  const auto expect_all = [&] {
    const auto stored = store_->find_failure(kTenant, failure.id);
    ASSERT_TRUE(stored);
    EXPECT_EQ(stored->json, failure.json);
    EXPECT_EQ(stored->run, asked.run);
    EXPECT_EQ(stored->reviewed, ReviewVerdict::right);
    EXPECT_EQ(store_->failures(kTenant, {.detector = "false_success"}).items.size(), 1U);
    EXPECT_EQ(store_->failures(kTenant, {.run_id = asked.run_id}).items.size(), 1U);
    const auto run = store_->run_at(kTenant, asked.run);
    EXPECT_EQ(run->failures_json, "[]") << "what was answered for the run stays";
    EXPECT_THAT(run->confirmed, ElementsAre(failure.key));
    EXPECT_THAT(run->fired, ElementsAre("false_success"));
    EXPECT_EQ(run->max_score, failure.score);
    EXPECT_THAT(store_->runs(kTenant, {.detector = "false_success"}).items, SizeIs(1));
    const auto cluster = store_->groups().find_cluster(kTenant, model::cluster_id(model::cluster_key(failure.fingerprint)));
    ASSERT_TRUE(cluster);
    EXPECT_EQ(cluster->count, 1U);
    EXPECT_EQ(affected(Subject::of_cluster(model::cluster_key(failure.fingerprint))), 1U);
    EXPECT_EQ(affected(Subject::any()), 1U);
    EXPECT_THAT(store_->reviews().reviews_of_run(kTenant, asked.run), SizeIs(1));
    const auto opinion = kept(asked);
    EXPECT_EQ(opinion.state, OpinionState::confirmed);
    EXPECT_EQ(opinion.failure_id, failure.id);
    EXPECT_EQ(opinion.review, R"({"said":"so"})");
  };
  expect_all();
  reopen();
  expect_all();
}

TEST_P(Opinions, ConfirmedInTheSameCommitAsOthers_AllAreKept) {
  const auto one = ask();
  const auto two = ask("schema_ghost");
  const auto both = claim();
  ASSERT_THAT(both, SizeIs(2));
  const auto results = commit_together({confirmed(both[0].opinion), confirmed(both[1].opinion)});
  EXPECT_FALSE(results[0].not_there);
  EXPECT_FALSE(results[1].not_there);
  EXPECT_THAT(store_->failures(kTenant, {}).items, SizeIs(2));
  EXPECT_EQ(affected(Subject::any()), 2U);
}

TEST_P(Opinions, PersonsReview_OutweighsTheModels) {
  const auto asked = ask();
  const model::Opinion opinion = claimed(asked);
  commit(ReviewWrite{kTenant, {of_run(asked, ReviewVerdict::missed)}, std::nullopt});
  OpinionWrite write = settled(kTenant, opinion, OpinionState::denied);
  write.reviews = {of_run(asked, ReviewVerdict::clean)};
  EXPECT_FALSE(commit(std::move(write)).not_there);
  const auto reviews = store_->reviews().reviews_of_run(kTenant, asked.run);
  ASSERT_THAT(reviews, SizeIs(1));
  EXPECT_EQ(reviews[0].verdict, ReviewVerdict::missed);
  EXPECT_EQ(told_counts(*store_, kTenant)["false_success"].clean, 0U);
  EXPECT_EQ(kept(asked).state, OpinionState::denied);
}

TEST_P(Opinions, WhenAPersonSaidCleanMeanwhile_NoFailureIsMade) {
  const auto asked = ask();
  const model::Opinion opinion = claimed(asked);
  const auto clean = of_run(asked, ReviewVerdict::clean);
  commit(ReviewWrite{kTenant, {clean}, std::nullopt});
  const OpinionWrite write = confirmed(opinion);
  const WriteResult result = commit(write);
  EXPECT_FALSE(result.not_there);
  EXPECT_TRUE(result.overruled);
  const auto kept_now = kept(asked);
  EXPECT_EQ(kept_now.state, OpinionState::denied);
  EXPECT_EQ(kept_now.failure_id, "");
  EXPECT_EQ(kept_now.review, write.opinion.review) << "what the model said stays";
  EXPECT_FALSE(store_->find_failure(kTenant, write.failure->id));
  EXPECT_THAT(store_->failures(kTenant, {}).items, IsEmpty());
  EXPECT_EQ(affected(Subject::any()), 0U);
  const auto run = store_->run_at(kTenant, asked.run);
  EXPECT_THAT(run->confirmed, IsEmpty());
  EXPECT_THAT(run->fired, IsEmpty());
  const auto reviews = store_->reviews().reviews_of_run(kTenant, asked.run);
  ASSERT_THAT(reviews, SizeIs(1));
  EXPECT_EQ(reviews[0].key, clean.key);
  EXPECT_EQ(store_->opinions().opinion_queue().waiting, 0U);
}

TEST_P(Opinions, PersonsReviewInTheSameCommit_Outweighs) {
  const auto asked = ask();
  const OpinionWrite write = confirmed(claimed(asked));
  const auto results = commit_together({ReviewWrite{kTenant, {of_run(asked, ReviewVerdict::clean)}, std::nullopt}, write});
  EXPECT_TRUE(results[1].overruled);
  EXPECT_EQ(kept(asked).state, OpinionState::denied);
  EXPECT_THAT(store_->failures(kTenant, {}).items, IsEmpty());
}

TEST_P(Opinions, ReviewThatDoesNotSayCleanOfTheRevision_LeavesTheFailure) {
  const auto missed = ask();
  const auto taken_back = ask();
  const auto of_previous = ask();
  const auto of_another = ask();
  model::Review previous = of_run(of_previous, ReviewVerdict::clean);
  previous.revision = 7;
  commit(ReviewWrite{kTenant, {of_run(missed, ReviewVerdict::missed)}, std::nullopt});
  commit(ReviewWrite{kTenant, {of_run(taken_back, ReviewVerdict::clean)}, std::nullopt});
  commit(ReviewWrite{kTenant, {of_run(taken_back, ReviewVerdict::none)}, std::nullopt});
  commit(ReviewWrite{kTenant, {previous}, std::nullopt});
  commit(ReviewWrite{kTenant, {review_of_run(new_key(), of_another.run, "schema_ghost", ReviewVerdict::clean)}, std::nullopt});
  const auto all = claim();
  ASSERT_THAT(all, SizeIs(4));
  for (const TenantOpinion& one : all) EXPECT_FALSE(commit(confirmed(one.opinion)).overruled);
  EXPECT_THAT(store_->failures(kTenant, {}).items, SizeIs(4));
}

TEST_P(Opinions, AlarmThatIsSilenced_LeavesTheCounts) {
  RunWrite write = sample_run(kTenant, new_key());
  write.failures = {failure_with(new_key(), "a", "a summary")};
  const model::FailureRecord alarm = write.failures.front();
  write.opinions = {candidate_of(write.run, new_key(), alarm.detector_key)};
  write.opinions.front().of_alarm = true;
  write.opinions.front().failure_id = alarm.id;
  const auto asked = write.opinions.front();
  commit(std::move(write));
  EXPECT_THAT(ids({}), IsEmpty()) << "what is asked about an alarm is no candidate";
  OpinionWrite answer = settled(kTenant, claimed(asked), OpinionState::denied);
  answer.reviews = {review_of(new_key(), *store_->find_failure(kTenant, alarm.id), ReviewVerdict::false_alarm)};
  commit(std::move(answer));
  EXPECT_EQ(store_->find_failure(kTenant, alarm.id)->reviewed, ReviewVerdict::false_alarm);
  EXPECT_EQ(affected(Subject::any()), 0U);
}

TEST_P(Opinions, RunThatIsDeleted_TakesItsOpinionsAlong) {
  const auto asked = ask();
  const auto opinion = claimed(asked);
  clock_.advance_ms(2 * kDay);
  Retention retention;
  retention.runs_before_ms = clock_.wall_ms() - kDay;
  store_->expire(retention, 100);
  EXPECT_THAT(store_->opinions().opinions_of_run(kTenant, asked.run), IsEmpty());
  EXPECT_THAT(ids({}), IsEmpty());
  EXPECT_THAT(claim(), IsEmpty());
  EXPECT_EQ(store_->opinions().opinion_queue().waiting, 0U);
  EXPECT_TRUE(commit(confirmed(opinion)).not_there);
  EXPECT_THAT(store_->failures(kTenant, {}).items, IsEmpty());
}

TEST_P(Opinions, NextRevisionOfTheRun_HasItsOwn) {
  EventsWrite events;
  events.tenant = kTenant;
  events.key = new_key();
  events.run_id = "streamed";
  events.events = {{"1", "{}"}};
  events.final = true;
  const auto end = [&](std::uint32_t revision) {
    const auto claimed_run = store_->claim_run(kTenant, events.key, model::Resolution::final, kHour);
    EXPECT_TRUE(claimed_run);
    RunWrite write = sample_run(kTenant, events.key, events.run_id);
    write.run.revision = revision;
    write.claim = claimed_run;
    write.opinions = {candidate_of(write.run, new_key(), "false_success")};
    const auto asked = write.opinions.front();
    commit(std::move(write));
    return asked;
  };
  commit(events);
  const auto first = end(1);
  const auto of_first = claimed(first);
  events.events = {{"2", "{}"}};
  commit(events);
  EXPECT_TRUE(commit(confirmed(of_first)).not_there) << "the run goes on";
  const auto second = end(2);
  EXPECT_THAT(ids({}), ElementsAre(second.id));
  EXPECT_FALSE(commit(confirmed(claimed(second))).not_there);
  EXPECT_THAT(store_->failures(kTenant, {}).items, SizeIs(1));
}

TEST_P(Opinions, CandidatesAreListedNewestFirst_ByStateAndDetector) {
  const auto one = ask();
  clock_.advance_ms(1);
  const auto two = ask("schema_ghost");
  clock_.advance_ms(1);
  const auto three = ask();
  ask("false_success", kOther);
  commit(settled(kTenant, claimed(one), OpinionState::denied));
  EXPECT_THAT(ids({}), ElementsAre(three.id, two.id, one.id));
  EXPECT_THAT(ids({.state = OpinionState::waiting}), ElementsAre(three.id, two.id));
  EXPECT_THAT(ids({.state = OpinionState::denied}), ElementsAre(one.id));
  EXPECT_THAT(ids({.detector = "false_success"}), ElementsAre(three.id, one.id));
  EXPECT_THAT(ids({.detector = std::string("no\0text", 7)}), IsEmpty());
  CandidateQuery page;
  page.range.limit = 2;
  const auto first = store_->opinions().candidates(kTenant, page);
  ASSERT_TRUE(first.next);
  page.range.after = first.next;
  EXPECT_THAT(ids(page), ElementsAre(one.id));
}

TEST_P(Opinions, QueueTellsWhatWaitsAndWhatIsDead) {
  EXPECT_EQ(store_->opinions().opinion_queue().waiting, 0U);
  const std::int64_t first_ms = clock_.wall_ms();
  const auto one = ask();
  clock_.advance_ms(kHour);
  ask();
  auto queue = store_->opinions().opinion_queue();
  EXPECT_EQ(queue.waiting, 2U);
  EXPECT_EQ(queue.oldest_ms, first_ms);
  commit(settled(kTenant, claimed(one), OpinionState::dead));
  queue = store_->opinions().opinion_queue();
  EXPECT_EQ(queue.waiting, 1U);
  EXPECT_EQ(queue.dead, 1U);
  EXPECT_EQ(queue.oldest_ms, first_ms + kHour);
}

INSTANTIATE_TEST_SUITE_P(Engines, Opinions, kEngines, kEngineName);

}  // namespace
}  // namespace runwarden::store
