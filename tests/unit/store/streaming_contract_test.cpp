// What every store has to do with events: buffer them, end runs, open them again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engines.h"
#include "sample_records.h"
#include "support/sample_values.h"

namespace runwarden::store {
namespace {

using Outcome = WriteResult::Outcome;
using model::Resolution;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class StreamingContract : public StoreContractTest {
 protected:
  // Events "id=json", or "json" for one without an id.
  EventsWrite events(const std::string& run_id, const std::vector<std::string>& texts, model::TenantId tenant = kTenant) {
    EventsWrite write;
    write.tenant = tenant;
    write.key = new_key();
    write.run_id = run_id;
    for (const std::string& text : texts) {
      const std::size_t sign = text.find('=');
      write.events.push_back(sign == std::string::npos ? EventsWrite::Event{"", text}
                                                       : EventsWrite::Event{text.substr(0, sign), text.substr(sign + 1)});
    }
    return write;
  }
  EventsWrite final_events(const std::string& run_id, const std::vector<std::string>& texts) {
    EventsWrite write = events(run_id, texts);
    write.final = true;
    return write;
  }
  RunWrite ending(const Claim& claim, const std::string& document = "{}") {
    RunWrite write = sample_run(claim.tenant, claim.run, claim.run_id);
    write.run.revision = claim.revision;
    write.run.resolution = claim.resolution;
    write.run.document = document;
    write.run.end_mark = claim.end_mark;
    write.claim = claim;
    return write;
  }
  RunWrite ending_with_failure(const Claim& claim, const std::string& fingerprint = "f") {
    RunWrite write = ending(claim);
    write.failures.push_back(sample_failure(new_key(), "false_success", 95, fingerprint));
    return write;
  }
  Claim claimed(const Buffered& buffered, model::TenantId tenant = kTenant) {
    auto claim = store_->claim_run(tenant, buffered.run, Resolution::idle, kLeaseMs);
    if (!claim) throw std::runtime_error("there is nothing to claim");
    return *claim;
  }
  // Posts events that end the run, and ends it.
  void post_whole(const std::string& run_id, const std::vector<std::string>& texts) {
    const WriteResult posted = commit(final_events(run_id, texts));
    ASSERT_EQ(commit(ending_with_failure(claimed(*posted.buffered))).outcome, Outcome::stored);
  }
  std::vector<std::string> fingerprints() {
    std::vector<std::string> found;
    for (const auto& failure : store_->failures(kTenant, {}).items) found.push_back(failure.fingerprint);
    return found;
  }
};

TEST_P(StreamingContract, Events_AreBufferedInOrderAndSurviveARestart) {
  const WriteResult first = commit(events("r", {"a", "b"}));
  ASSERT_EQ(first.outcome, Outcome::stored);
  EXPECT_EQ(first.buffered->accepted, 2u);
  EXPECT_EQ(first.buffered->revision, 1u);
  EXPECT_FALSE(first.buffered->ends);
  clock_.advance_ms(1000);
  const WriteResult second = commit(events("r", {"c"}));
  EXPECT_EQ(second.buffered->run, first.buffered->run);
  EXPECT_EQ(second.buffered->buffer.events, 3u);
  EXPECT_EQ(second.buffered->buffer.last_ms - second.buffered->buffer.first_ms, 1000);
  reopen();
  EXPECT_THAT(store_->events(kTenant, first.buffered->run), ElementsAre("a", "b", "c"));
  const auto run = store_->find_run(kTenant, "r");
  ASSERT_TRUE(run);
  EXPECT_EQ(run->state, model::RunState::open);
  EXPECT_EQ(run->buffer->events, 3u);
  EXPECT_EQ(store_->open_runs().count, 1u);
  EXPECT_EQ(store_->open_count(), 1u);
}

TEST_P(StreamingContract, EventIdSeenBefore_AddsNothing) {
  commit(events("r", {"1=a", "2=b", "1=again"}));
  const WriteResult again = commit(events("r", {"2=b", "3=c", "plain"}));
  EXPECT_EQ(again.buffered->accepted, 2u);
  EXPECT_EQ(again.buffered->buffer.events, 4u);
  EXPECT_THAT(store_->events(kTenant, again.buffered->run), ElementsAre("a", "b", "c", "plain"));
  const WriteResult nothing = commit(events("r", {"1=a"}));
  EXPECT_EQ(nothing.outcome, Outcome::stored);
  EXPECT_EQ(nothing.buffered->accepted, 0u);
  EXPECT_EQ(nothing.buffered->buffer.events, 4u);
}

TEST_P(StreamingContract, EventIdOfAnotherRun_IsNew) {
  commit(events("r", {"1=a"}));
  EXPECT_EQ(commit(events("s", {"1=a"})).buffered->accepted, 1u);
  EXPECT_EQ(commit(events("r", {"1=a"}, kOther)).buffered->accepted, 1u);
}

TEST_P(StreamingContract, RetryThatDoesNotMoveTheRun_DoesNotKeepItOpen) {
  commit(events("r", {"1=a"}));
  clock_.advance_ms(200'000);
  commit(events("r", {"1=a"}));
  clock_.advance_ms(100'000);
  EXPECT_THAT(store_->claim(kRules, 10, kLeaseMs), SizeIs(1));
}

TEST_P(StreamingContract, SameIdempotencyKey_IsAnsweredAsTheFirstTime) {
  EventsWrite write = events("r", {"a"});
  write.idempotency = idempotency("k", "body");
  commit(write);
  commit(events("r", {"b"}));
  const WriteResult again = commit(write);
  EXPECT_EQ(again.outcome, Outcome::replayed);
  EXPECT_EQ(again.buffered->accepted, 1u);
  EXPECT_EQ(again.buffered->buffer.events, 1u);
  EXPECT_THAT(store_->events(kTenant, again.buffered->run), ElementsAre("a", "b"));
  const auto replay = store_->find_replay(kTenant, digest_of("k"));
  ASSERT_TRUE(replay && replay->buffered);
  EXPECT_EQ(replay->buffered->buffer.events, 1u);
  EXPECT_EQ(replay->run.run_id, "r");
  write.idempotency = idempotency("k", "other body");
  EXPECT_EQ(commit(write).outcome, Outcome::idempotency_conflict);
}

TEST_P(StreamingContract, TwoRequestsInOneBatch_KeepTheirOrder) {
  const std::vector<Write> batch{events("r", {"a", "1=x"}), events("r", {"1=x", "b"})};
  const auto results = commit_together(batch);
  EXPECT_EQ(results[1].buffered->accepted, 1u);
  EXPECT_EQ(results[0].buffered->run, results[1].buffered->run);
  EXPECT_THAT(store_->events(kTenant, results[0].buffered->run), ElementsAre("a", "x", "b"));
}

TEST_P(StreamingContract, FinalEvents_EndTheRunWithItsFailuresAndNoBuffer) {
  const WriteResult posted = commit(final_events("r", {"a", "b"}));
  EXPECT_EQ(posted.buffered->ends, Resolution::final);
  const Claim claim = claimed(*posted.buffered);
  EXPECT_EQ(claim.resolution, Resolution::final);
  EXPECT_EQ(claim.run_id, "r");
  EXPECT_THAT(store_->fetch(claim).events, ElementsAre("a", "b"));
  EXPECT_FALSE(store_->claim_run(kTenant, posted.buffered->run, Resolution::idle, kLeaseMs));
  EXPECT_EQ(commit(ending_with_failure(claim)).outcome, Outcome::stored);
  const auto run = store_->find_run(kTenant, "r");
  EXPECT_EQ(run->state, model::RunState::resolved);
  EXPECT_EQ(run->resolution, Resolution::final);
  EXPECT_EQ(run->document, "{}");
  EXPECT_THAT(store_->failures(kTenant, {}).items, SizeIs(1));
  EXPECT_EQ(store_->open_runs().count, 0u);
  EXPECT_EQ(store_->count_runs(kTenant, kBeginningMs, kEndMs), 1u);
  reopen();
  EXPECT_EQ(store_->open_runs().count, 0u);
}

TEST_P(StreamingContract, ClaimThatWasUsed_EndsNothingASecondTime) {
  const Claim claim = claimed(*commit(final_events("r", {"a"})).buffered);
  commit(ending_with_failure(claim, "first"));
  const WriteResult second = commit(ending_with_failure(claim, "second"));
  EXPECT_EQ(second.outcome, Outcome::run_conflict);
  ASSERT_TRUE(second.first);
  EXPECT_EQ(second.first->state, model::RunState::resolved);
  EXPECT_THAT(fingerprints(), ElementsAre("first"));
}

TEST_P(StreamingContract, ClaimThatAnotherFollowed_EndsNothingAndFreesNothing) {
  const auto run = commit(events("r", {"a"})).buffered->run;
  const Claim first = *store_->claim_run(kTenant, run, Resolution::idle, kLeaseMs);
  clock_.advance_ms(kLeaseMs);
  const Claim second = *store_->claim_run(kTenant, run, Resolution::idle, kLeaseMs);
  EXPECT_NE(first.token, second.token);
  store_->release(first);
  EXPECT_FALSE(store_->claim_run(kTenant, run, Resolution::idle, kLeaseMs)) << "the second holds it";
  EXPECT_EQ(commit(ending_with_failure(first, "first")).outcome, Outcome::run_conflict);
  EXPECT_EQ(commit(ending_with_failure(second, "second")).outcome, Outcome::stored);
  EXPECT_THAT(fingerprints(), ElementsAre("second"));
}

TEST_P(StreamingContract, ClaimWhoseLeaseIsOver_IsGoodUntilAnotherFollows) {
  const Claim claim = claimed(*commit(events("r", {"a"})).buffered);
  clock_.advance_ms(10 * kLeaseMs);
  EXPECT_EQ(commit(ending(claim)).outcome, Outcome::stored);
}

TEST_P(StreamingContract, ReleasedClaim_EndsNothing) {
  const auto run = commit(events("r", {"a"})).buffered->run;
  const Claim claim = *store_->claim_run(kTenant, run, Resolution::idle, kLeaseMs);
  store_->release(claim);
  EXPECT_EQ(commit(ending(claim)).outcome, Outcome::run_conflict);
  EXPECT_EQ(store_->find_run(kTenant, "r")->state, model::RunState::open);
  EXPECT_TRUE(store_->claim_run(kTenant, run, Resolution::idle, kLeaseMs));
}

TEST_P(StreamingContract, ClaimWithoutAReason_IsOfCompleteRunsOnly) {
  const auto run = commit(events("r", {"a"})).buffered->run;
  EXPECT_FALSE(store_->claim_run(kTenant, run, std::nullopt, kLeaseMs));
  EXPECT_TRUE(store_->claim_run(kTenant, run, Resolution::idle, kLeaseMs)) << "nobody holds it";
  const auto complete = store_->claim_run(kTenant, commit(final_events("s", {"b"})).buffered->run, std::nullopt, kLeaseMs);
  ASSERT_TRUE(complete);
  EXPECT_EQ(complete->resolution, Resolution::final);
}

TEST_P(StreamingContract, ClaimOfALaterRevision_KnowsWhereItBegan) {
  const Claim first = claimed(*commit(final_events("r", {"a"})).buffered);
  EXPECT_EQ(first.previous, 0u);
  EXPECT_TRUE(store_->run_head(kTenant, "r", std::nullopt)->buffer->complete);
  commit(events("r", {"b"}));
  ASSERT_EQ(commit(ending(first)).outcome, Outcome::stored);
  EXPECT_FALSE(store_->run_head(kTenant, "r", std::nullopt)->buffer->complete);
  const auto second = store_->claim_run(kTenant, first.run, Resolution::idle, kLeaseMs);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->previous, 1u);
  EXPECT_EQ(second->upto, 2u);
}

TEST_P(StreamingContract, RenewedClaim_KeepsOthersAwayForAnotherLease) {
  const auto run = commit(events("r", {"a"})).buffered->run;
  const std::vector<Claim> lost{claimed(*commit(final_events("s", {"b"})).buffered),
                                *store_->claim_run(kTenant, run, Resolution::idle, kLeaseMs)};
  ASSERT_EQ(commit(ending(lost[0])).outcome, Outcome::stored);
  clock_.advance_ms(kLeaseMs - 1);
  EXPECT_THAT(store_->renew(lost, kLeaseMs), ElementsAre(false, true));
  clock_.advance_ms(kLeaseMs - 1);
  EXPECT_FALSE(store_->claim_run(kTenant, run, Resolution::idle, kLeaseMs));
  EXPECT_THAT(store_->claim(BufferRules{1, 1}, 10, kLeaseMs), IsEmpty());
  clock_.advance_ms(1);
  EXPECT_THAT(store_->claim(BufferRules{1, 1}, 10, kLeaseMs), SizeIs(1));
  EXPECT_THAT(store_->renew(lost, kLeaseMs), ElementsAre(false, false));
}

TEST_P(StreamingContract, ClaimOfBeforeARestart_EndsNothing) {
  const Claim before = claimed(*commit(final_events("r", {"a"})).buffered);
  reopen();
  EXPECT_EQ(commit(ending(before)).outcome, Outcome::run_conflict);
  EXPECT_THAT(store_->renew({&before, 1}, kLeaseMs), ElementsAre(false));
}

TEST_P(StreamingContract, EndedRunAndItsEventsInOneBatch_AreOneAfterTheOther) {
  const Claim claim = claimed(*commit(final_events("r", {"1=a"})).buffered);
  const std::vector<Write> batch{ending(claim), events("r", {"1=a"}), events("r", {"2=b"})};
  const auto results = commit_together(batch);
  EXPECT_EQ(results[0].outcome, Outcome::stored);
  EXPECT_TRUE(results[1].buffered->unchanged);
  EXPECT_TRUE(results[2].buffered->reopened);
  EXPECT_EQ(store_->find_run(kTenant, "r")->revision, 2u);
}

TEST_P(StreamingContract, IdleRun_IsDueAndGivenToOneOnly) {
  const auto run = commit(events("r", {"a"})).buffered->run;
  clock_.advance_ms(299'999);
  EXPECT_THAT(store_->claim(kRules, 10, kLeaseMs), IsEmpty());
  clock_.advance_ms(1);
  const auto due = store_->claim(kRules, 10, kLeaseMs);
  ASSERT_THAT(due, SizeIs(1));
  EXPECT_EQ(due[0].resolution, Resolution::idle);
  EXPECT_EQ(due[0].run, run);
  EXPECT_EQ(due[0].upto, 1u);
  EXPECT_THAT(store_->claim(kRules, 10, kLeaseMs), IsEmpty());
  clock_.advance_ms(kLeaseMs);
  const auto again = store_->claim(kRules, 10, kLeaseMs);
  ASSERT_THAT(again, SizeIs(1));
  store_->release(due[0]);
  EXPECT_THAT(store_->claim(kRules, 10, kLeaseMs), IsEmpty()) << "whose lease is over gives nothing back";
  store_->release(again[0]);
  EXPECT_THAT(store_->claim(kRules, 10, kLeaseMs), SizeIs(1));
}

TEST_P(StreamingContract, RunThatIsHeardOfAgainAndAgain_EndsByItsAge) {
  commit(events("r", {"first"}));
  for (int i = 0; i < 6; ++i) {
    clock_.advance_ms(200'000);
    commit(events("r", {"more"}));
    const auto due = store_->claim({300'000, 1'100'000}, 10, kLeaseMs);
    if (i < 5) {
      EXPECT_THAT(due, IsEmpty()) << i;
    } else {
      ASSERT_THAT(due, SizeIs(1));
      EXPECT_EQ(due[0].resolution, Resolution::max_age);
      EXPECT_EQ(due[0].upto, 7u);
    }
  }
}

TEST_P(StreamingContract, NewRules_HoldForRunsThatAreOpen) {
  commit(events("r", {"a"}));
  clock_.advance_ms(10'000);
  EXPECT_THAT(store_->claim(kRules, 10, kLeaseMs), IsEmpty());
  EXPECT_THAT(store_->claim({5'000, 86'400'000}, 10, kLeaseMs), SizeIs(1));
}

TEST_P(StreamingContract, WallClockThatJumps_NeitherEndsRunsNorKeepsThem) {
  commit(events("r", {"a"}));
  clock_.set_wall_ms(clock_.wall_ms() + 10 * 86'400'000ll);
  EXPECT_THAT(store_->claim(kRules, 10, kLeaseMs), IsEmpty());
  clock_.set_wall_ms(clock_.wall_ms() - 20 * 86'400'000ll);
  clock_.advance_ms(300'000);
  EXPECT_THAT(store_->claim(kRules, 10, kLeaseMs), SizeIs(1));
}

TEST_P(StreamingContract, AfterARestart_AgeGoesOn) {
  constexpr BufferRules kOld{.idle_ms = 900'000, .max_age_ms = 400'000};
  commit(events("idle", {"a"}));
  clock_.advance_ms(200'000);
  reopen();
  EXPECT_THAT(store_->claim(kOld, 10, kLeaseMs), IsEmpty());
  clock_.advance_ms(200'000);
  const auto due = store_->claim(kOld, 10, kLeaseMs);
  ASSERT_THAT(due, SizeIs(1));
  EXPECT_EQ(due[0].resolution, Resolution::max_age);
}

TEST_P(StreamingContract, CompleteRunThatNobodyEnded_IsDueSoonAndAtOnceAfterARestart) {
  commit(final_events("r", {"a"}));
  EXPECT_THAT(store_->claim(kRules, 10, kLeaseMs), IsEmpty());
  clock_.advance_ms(10'000);
  const auto due = store_->claim(kRules, 10, kLeaseMs);
  ASSERT_THAT(due, SizeIs(1));
  EXPECT_EQ(due[0].resolution, Resolution::final);
  reopen();
  EXPECT_THAT(store_->claim(kRules, 10, kLeaseMs), SizeIs(1));
}

TEST_P(StreamingContract, DueRuns_ComeAtMostSoManyAndTheOldestFirst) {
  for (const char* id : {"a", "b", "c"}) {
    commit(events(id, {"x"}));
    clock_.advance_ms(10);
  }
  clock_.advance_ms(400'000);
  const auto first = store_->claim(kRules, 2, kLeaseMs);
  ASSERT_THAT(first, SizeIs(2));
  EXPECT_EQ(first[0].run_id, "a");
  EXPECT_EQ(first[1].run_id, "b");
  EXPECT_THAT(store_->claim(kRules, 2, kLeaseMs), SizeIs(1));
}

TEST_P(StreamingContract, NewEventsAfterTheEnd_OpenTheNextRevisionWithAllEvents) {
  post_whole("r", {"1=a", "2=b"});
  const WriteResult posted = commit(events("r", {"2=b", "3=c"}));
  EXPECT_EQ(posted.outcome, Outcome::stored);
  EXPECT_TRUE(posted.buffered->reopened);
  EXPECT_EQ(posted.buffered->revision, 2u);
  EXPECT_EQ(posted.buffered->accepted, 1u);
  EXPECT_EQ(posted.buffered->buffer.events, 1u);
  EXPECT_EQ(posted.buffered->buffer.previous, 2u);
  EXPECT_FALSE(commit(events("r", {"d"})).buffered->reopened);
  EXPECT_THAT(store_->events(kTenant, posted.buffered->run), ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(store_->find_run(kTenant, "r")->state, model::RunState::open);
  EXPECT_EQ(store_->find_revision(kTenant, "r", 1)->state, model::RunState::resolved);
  EXPECT_FALSE(store_->find_revision(kTenant, "r", 2));
  EXPECT_EQ(store_->count_runs(kTenant, kBeginningMs, kEndMs), 1u);
}

TEST_P(StreamingContract, FormersFailures_StayUntilTheNextRevisionsTakeTheirPlace) {
  const auto run = commit(final_events("r", {"a"})).buffered;
  commit(ending_with_failure(claimed(*run), "former"));
  const auto reopened = commit(final_events("r", {"b"})).buffered;
  EXPECT_THAT(fingerprints(), ElementsAre("former"));
  RunWrite second = ending_with_failure(claimed(*reopened), "next");
  const std::string new_id = second.failures[0].id;
  EXPECT_EQ(commit(second).outcome, Outcome::stored);
  EXPECT_THAT(fingerprints(), ElementsAre("next"));
  EXPECT_TRUE(store_->find_failure(kTenant, new_id));
  EXPECT_EQ(store_->fingerprint_stats(kTenant, "former").failures, 0u);
  EXPECT_EQ(store_->fingerprint_stats(kTenant, "next").failures, 1u);
  FailureQuery by_print;
  by_print.fingerprint = "former";
  EXPECT_THAT(store_->failures(kTenant, by_print).items, IsEmpty());
  EXPECT_EQ(store_->find_revision(kTenant, "r", 1)->revision, 1u);
  EXPECT_EQ(store_->find_revision(kTenant, "r", 2)->revision, 2u);
  EXPECT_FALSE(store_->find_revision(kTenant, "r", 3));
  EXPECT_THAT(store_->runs(kTenant, {}).items, SizeIs(1));
}

TEST_P(StreamingContract, FormersFailuresOnTrial_GoWithTheNextRevision) {
  FailureQuery on_trial;
  on_trial.shadow = true;
  const auto run = commit(final_events("r", {"a"})).buffered;
  RunWrite first = ending_with_failure(claimed(*run), "former");
  first.failures[0].shadow = true;
  commit(first);
  EXPECT_THAT(store_->failures(kTenant, on_trial).items, SizeIs(1));
  const auto reopened = commit(final_events("r", {"b"})).buffered;
  commit(ending_with_failure(claimed(*reopened), "next"));
  EXPECT_THAT(store_->failures(kTenant, on_trial).items, IsEmpty());
  EXPECT_THAT(fingerprints(), ElementsAre("next"));
}

TEST_P(StreamingContract, NothingNewAfterTheEnd_LeavesTheRunAsItStands) {
  post_whole("r", {"1=a"});
  const WriteResult again = commit(events("r", {"1=a"}));
  EXPECT_EQ(again.outcome, Outcome::replayed);
  EXPECT_TRUE(again.buffered->unchanged);
  ASSERT_TRUE(again.first);
  EXPECT_EQ(again.first->state, model::RunState::resolved);
  const WriteResult bare = commit(final_events("r", {}));
  EXPECT_TRUE(bare.buffered->unchanged);
  EXPECT_EQ(store_->open_runs().count, 0u);
}

// A run_finished without an eventId, as ingest writes it.
EventsWrite with_end(EventsWrite write, const std::string& content) {
  write.events.push_back({"run_finished by content: " + content, content, true, {}, std::hash<std::string>()(content) | 1});
  return write;
}

EventsWrite with_named_end(EventsWrite write, const std::string& id, const std::string& content) {
  write.events.push_back({id, content, false, {}, std::hash<std::string>()(content) | 1});
  return write;
}

TEST_P(StreamingContract, TheEndSaidAgain_LeavesTheRunAsItStands) {
  const WriteResult first = commit(with_end(events("r", {"1=a"}), "end"));
  // The process dies before the run is resolved: the retry finds it complete.
  reopen();
  const WriteResult before = commit(with_end(events("r", {"1=a"}), "end"));
  EXPECT_EQ(before.buffered->accepted, 0u);
  EXPECT_EQ(before.buffered->ends, Resolution::final);
  ASSERT_EQ(commit(ending_with_failure(claimed(*first.buffered))).outcome, Outcome::stored);
  for (int round = 0; round < 2; ++round) {
    const WriteResult again = commit(with_end(events("r", {}), "end"));
    EXPECT_EQ(again.outcome, Outcome::replayed);
    EXPECT_TRUE(again.buffered->unchanged);
    EXPECT_EQ(store_->find_run(kTenant, "r")->revision, 1u);
    EXPECT_EQ(store_->find_run(kTenant, "r")->state, model::RunState::resolved);
    EXPECT_THAT(fingerprints(), SizeIs(1));
    reopen();
  }
}

TEST_P(StreamingContract, TheSameEndAfterOtherEvents_EndsTheNextRevision) {
  const WriteResult first = commit(with_end(events("r", {"1=a"}), "end"));
  ASSERT_EQ(commit(ending(claimed(*first.buffered))).outcome, Outcome::stored);
  const WriteResult second = commit(with_end(events("r", {"2=b"}), "end"));
  EXPECT_EQ(second.buffered->accepted, 2u);
  EXPECT_EQ(second.buffered->revision, 2u);
  ASSERT_EQ(commit(ending(claimed(*second.buffered))).outcome, Outcome::stored);
  const WriteResult third = commit(events("r", {"3=c"}));
  EXPECT_TRUE(third.buffered->reopened);
  const WriteResult end = commit(with_end(events("r", {}), "end"));
  EXPECT_EQ(end.buffered->accepted, 1u);
  EXPECT_EQ(end.buffered->ends, Resolution::final);
  EXPECT_THAT(store_->events(kTenant, end.buffered->run), ElementsAre("a", "end", "b", "end", "c", "end"));
}

TEST_P(StreamingContract, TheEndSaidAgainUnderAnotherId_LeavesTheRunAsItStands) {
  const WriteResult first = commit(with_named_end(events("r", {"1=a"}), "f1", "end"));
  EXPECT_EQ(commit(with_named_end(events("r", {}), "f2", "end")).buffered->accepted, 0u) << "before it is resolved";
  ASSERT_EQ(commit(ending(claimed(*first.buffered))).outcome, Outcome::stored);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(commit(with_named_end(events("r", {}), "f3", "end")).outcome, Outcome::replayed);
    EXPECT_EQ(commit(with_end(events("r", {}), "end")).outcome, Outcome::replayed);
    EXPECT_EQ(store_->find_run(kTenant, "r")->revision, 1u);
    reopen();
  }
  const WriteResult second = commit(with_named_end(events("r", {"2=b"}), "f4", "end"));
  EXPECT_EQ(second.buffered->accepted, 2u) << "after other events it ends the next revision";
  ASSERT_EQ(commit(ending(claimed(*second.buffered))).outcome, Outcome::stored);
  EXPECT_EQ(commit(with_named_end(events("r", {}), "f5", "end")).outcome, Outcome::replayed);
  for (const char* content : {"other end", "end"}) {  // what was said before it counts no more
    const WriteResult next = commit(with_named_end(events("r", {}), std::string("of ") + content, content));
    EXPECT_EQ(next.buffered->accepted, 1u) << content;
    ASSERT_EQ(commit(ending(claimed(*next.buffered))).outcome, Outcome::stored);
  }
  EXPECT_EQ(store_->find_run(kTenant, "r")->revision, 4u);
}

TEST_P(StreamingContract, AnEndThatWasSeen_DoesNotEndTheNextRevision) {
  const WriteResult first = commit(with_named_end(events("r", {"1=a"}), "f1", "end"));
  ASSERT_EQ(commit(ending(claimed(*first.buffered))).outcome, Outcome::stored);
  ASSERT_TRUE(commit(events("r", {"2=b"})).buffered->reopened);
  const WriteResult late = commit(with_named_end(events("r", {"1=a"}), "f1", "end"));
  EXPECT_EQ(late.buffered->accepted, 0u);
  EXPECT_EQ(late.buffered->revision, 2u);
  EXPECT_FALSE(late.buffered->ends) << "it is a retry of what ended the revision before";
  EXPECT_EQ(commit(final_events("r", {})).buffered->ends, Resolution::final);
}

TEST_P(StreamingContract, FinalSaidAgainAfterTheSameEvent_DoesNotEndTheNextRevision) {
  post_whole("r", {"1=a", "2=b"});
  ASSERT_TRUE(commit(events("r", {"3=c"})).buffered->reopened);
  for (const std::vector<std::string>& retry : {std::vector<std::string>{"1=a", "2=b"}, {"2=b"}}) {
    const WriteResult again = commit(final_events("r", retry));
    EXPECT_EQ(again.buffered->accepted, 0u);
    EXPECT_EQ(again.buffered->revision, 2u);
    EXPECT_FALSE(again.buffered->ends);
    reopen();
  }
  EXPECT_EQ(commit(final_events("r", {"3=c"})).buffered->ends, Resolution::final) << "after this event it is said for the first time";
}

TEST_P(StreamingContract, FinalOfEventsThatCameBefore_EndsTheRunOnce) {
  commit(events("r", {"1=a"}));
  const WriteResult ended = commit(final_events("r", {"1=a"}));
  EXPECT_EQ(ended.buffered->accepted, 0u);
  ASSERT_EQ(ended.buffered->ends, Resolution::final);
  ASSERT_EQ(commit(ending(claimed(*ended.buffered))).outcome, Outcome::stored);
  ASSERT_TRUE(commit(events("r", {"2=b"})).buffered->reopened);
  EXPECT_FALSE(commit(final_events("r", {"1=a"})).buffered->ends);
  EXPECT_EQ(commit(final_events("r", {"1=a", "3=c"})).buffered->ends, Resolution::final) << "with a new event";
}

TEST_P(StreamingContract, AnotherEnd_OpensTheNextRevision) {
  const WriteResult first = commit(with_end(events("r", {"1=a"}), "end"));
  ASSERT_EQ(commit(ending(claimed(*first.buffered))).outcome, Outcome::stored);
  const WriteResult other = commit(with_end(events("r", {}), "other end"));
  EXPECT_EQ(other.buffered->accepted, 1u);
  EXPECT_EQ(other.buffered->revision, 2u);
}

TEST_P(StreamingContract, EventsAfterAClaim_BeginTheNextRevision) {
  const auto buffered = commit(events("r", {"a"})).buffered;
  clock_.advance_ms(300'000);
  const auto due = store_->claim(kRules, 1, kLeaseMs);
  ASSERT_THAT(due, SizeIs(1));
  commit(events("r", {"late"}));
  EXPECT_THAT(store_->fetch(due[0]).events, ElementsAre("a"));
  EXPECT_EQ(commit(ending_with_failure(due[0])).outcome, Outcome::stored);
  const auto run = store_->find_run(kTenant, "r");
  EXPECT_EQ(run->state, model::RunState::open);
  EXPECT_EQ(run->revision, 2u);
  EXPECT_EQ(run->buffer->events, 1u);
  EXPECT_EQ(store_->find_revision(kTenant, "r", 1)->document, "{}");
  EXPECT_THAT(store_->events(kTenant, buffered->run), ElementsAre("a", "late"));
  EXPECT_EQ(store_->open_runs().count, 1u);
  clock_.advance_ms(300'000);
  const auto next = store_->claim(kRules, 1, kLeaseMs);
  ASSERT_THAT(next, SizeIs(1));
  EXPECT_EQ(next[0].revision, 2u);
  EXPECT_THAT(store_->fetch(next[0]).events, ElementsAre("a", "late"));
}

TEST_P(StreamingContract, MostEvents_EndTheRevisionAndTheRestBeginsTheNext) {
  EventsWrite write = events("r", {"a", "b", "c", "d", "e"});
  write.max_events = 2;
  const WriteResult posted = commit(write);
  EXPECT_EQ(posted.buffered->ends, Resolution::max_events);
  for (const std::uint32_t revision : {1u, 2u}) {
    const Claim claim = claimed(*posted.buffered);
    EXPECT_EQ(claim.revision, revision);
    EXPECT_EQ(claim.resolution, Resolution::max_events);
    EXPECT_EQ(claim.upto, revision * 2);
    EXPECT_EQ(commit(ending(claim)).outcome, Outcome::stored);
  }
  const auto run = store_->find_run(kTenant, "r");
  EXPECT_EQ(run->revision, 3u);
  EXPECT_EQ(run->buffer->events, 1u);
  EXPECT_THAT(store_->events(kTenant, run->key), ElementsAre("a", "b", "c", "d", "e"));
}

TEST_P(StreamingContract, ExactlyMostEvents_EndTheRunWithNothingLeft) {
  EventsWrite write = events("r", {"a", "b"});
  write.max_events = 2;
  const WriteResult posted = commit(write);
  EXPECT_EQ(posted.buffered->ends, Resolution::max_events);
  commit(ending(claimed(*posted.buffered)));
  EXPECT_EQ(store_->find_run(kTenant, "r")->state, model::RunState::resolved);
}

TEST_P(StreamingContract, FinalBeyondMostEvents_EndsTheRevisionThatHoldsTheRest) {
  EventsWrite write = final_events("r", {"a", "b", "c"});
  write.max_events = 2;
  const WriteResult posted = commit(write);
  EXPECT_EQ(posted.buffered->ends, Resolution::max_events);
  commit(ending(claimed(*posted.buffered)));
  const Claim rest = claimed(*posted.buffered);
  EXPECT_EQ(rest.resolution, Resolution::final);
  EXPECT_EQ(rest.upto, 3u);
}

TEST_P(StreamingContract, MostBytes_EndTheRevision) {
  EventsWrite write = events("r", {std::string(600, 'x')});
  write.max_bytes = 1000;
  EXPECT_FALSE(commit(write).buffered->ends);
  write.key = new_key();
  EXPECT_EQ(commit(write).buffered->ends, Resolution::max_events);
}

TEST_P(StreamingContract, WholeRunForAnOpenOne_IsAConflictUnlessItHoldsTheClaim) {
  const auto buffered = commit(events("r", {"a"})).buffered;
  const WriteResult refused = commit(sample_run(kTenant, new_key(), "r"));
  EXPECT_EQ(refused.outcome, Outcome::run_conflict);
  ASSERT_TRUE(refused.first);
  EXPECT_EQ(refused.first->state, model::RunState::open);
  RunWrite whole = ending(claimed(*buffered), "{\"whole\":true}");
  whole.run.resolution = Resolution::whole;
  EXPECT_EQ(commit(whole).outcome, Outcome::stored);
  EXPECT_EQ(store_->find_run(kTenant, "r")->document, "{\"whole\":true}");
}

TEST_P(StreamingContract, EventsForARunThatCameWhole_ContinueIt) {
  RunWrite whole = sample_run(kTenant, new_key(), "r");
  commit(whole);
  const WriteResult posted = commit(final_events("r", {"more"}));
  EXPECT_TRUE(posted.buffered->reopened);
  const Claim claim = claimed(*posted.buffered);
  EXPECT_EQ(claim.revision, 2u);
  const ClaimedRun fetched = store_->fetch(claim);
  EXPECT_THAT(fetched.events, ElementsAre("more"));
  ASSERT_TRUE(fetched.whole);
  EXPECT_EQ(fetched.whole->document, whole.run.document);
}

TEST_P(StreamingContract, EventsAfterAWholeRunThatEndedTheStream_ContinueItWithoutThoseBeforeIt) {
  const auto buffered = commit(events("r", {"a", "b"})).buffered;
  RunWrite whole = ending(claimed(*buffered), "{\"whole\":true}");
  whole.run.resolution = Resolution::whole;
  ASSERT_EQ(commit(whole).outcome, Outcome::stored);
  for (const std::vector<std::string>& after : {std::vector<std::string>{"c"}, {"c", "d"}}) {
    const WriteResult posted = commit(final_events("r", {after.back()}));
    const Claim claim = claimed(*posted.buffered);
    const ClaimedRun fetched = store_->fetch(claim);
    ASSERT_TRUE(fetched.whole);
    EXPECT_EQ(fetched.whole->document, whole.run.document);
    EXPECT_EQ(fetched.whole->events, 2u);
    EXPECT_EQ(fetched.events, after);
    EXPECT_EQ(store_->events(kTenant, claim.run, 2), after);
    ASSERT_EQ(commit(ending(claim)).outcome, Outcome::stored);
  }
}

TEST_P(StreamingContract, RunWithoutEvents_CanBeEnded) {
  const WriteResult posted = commit(final_events("r", {}));
  EXPECT_EQ(posted.buffered->ends, Resolution::final);
  const Claim claim = claimed(*posted.buffered);
  EXPECT_THAT(store_->fetch(claim).events, IsEmpty());
  EXPECT_EQ(commit(ending(claim)).outcome, Outcome::stored);
  EXPECT_EQ(store_->find_run(kTenant, "r")->state, model::RunState::resolved);
}

TEST_P(StreamingContract, OpenRuns_AreListedByTheirState) {
  commit(events("open", {"a"}));
  commit(sample_run(kTenant, new_key(), "whole"));
  RunQuery open;
  open.state = model::RunState::open;
  ASSERT_THAT(store_->runs(kTenant, open).items, SizeIs(1));
  EXPECT_EQ(store_->runs(kTenant, open).items[0].run_id, "open");
  RunQuery resolved;
  resolved.state = model::RunState::resolved;
  ASSERT_THAT(store_->runs(kTenant, resolved).items, SizeIs(1));
  EXPECT_EQ(store_->runs(kTenant, resolved).items[0].run_id, "whole");
}

TEST_P(StreamingContract, ManyRevisions_KeepEveryEventOnce) {
  std::vector<std::string> all;
  for (std::uint32_t revision = 1; revision <= 5; ++revision) {
    const std::string text = "event " + std::to_string(revision);
    all.push_back(text);
    const WriteResult posted = commit(final_events("r", {text + "=" + text}));
    const Claim claim = claimed(*posted.buffered);
    EXPECT_EQ(claim.revision, revision);
    EXPECT_EQ(store_->fetch(claim).events, all);
    commit(ending_with_failure(claim));
    reopen();
  }
  EXPECT_THAT(store_->failures(kTenant, {}).items, SizeIs(1));
  EXPECT_EQ(store_->fingerprint_stats(kTenant, "f").failures, 1u);
}

// The spans of a trace: a run that waits for its root, and then for the rest.
class TracesContract : public StreamingContract {
 protected:
  EventsWrite spans(const std::string& trace, const std::vector<std::string>& texts) {
    EventsWrite write = events(trace, texts);
    write.source = model::RunSource::otlp;
    return write;
  }
  EventsWrite with_root(const std::string& trace, const std::vector<std::string>& texts) {
    EventsWrite write = spans(trace, texts);
    write.has_root = true;
    return write;
  }
  WriteResult commit_all(std::vector<EventsWrite> traces) {
    TracesWrite write;
    write.tenant = kTenant;
    write.traces = std::move(traces);
    return commit(std::move(write));
  }
  static constexpr BufferRules kTraceRules{.idle_ms = 1'000, .max_age_ms = 86'400'000, .otlp_root_grace_ms = 10'000, .otlp_idle_ms = 900'000};
  std::vector<Claim> due_after(std::int64_t ms) {
    clock_.advance_ms(ms);
    return store_->claim(kTraceRules, 10, kLeaseMs);
  }
};

TEST_P(TracesContract, ATraceWithItsRoot_IsDueAfterTheGrace_HoweverManySpansFollow) {
  commit_all({spans("t", {"1=a"})});
  EXPECT_THAT(due_after(600'000), IsEmpty());
  commit_all({with_root("t", {"2=root"})});
  EXPECT_THAT(due_after(9'000), IsEmpty());
  commit_all({spans("t", {"3=b"})});
  const auto due = due_after(1'000);
  ASSERT_THAT(due, SizeIs(1));
  EXPECT_EQ(due[0].resolution, Resolution::final);
  EXPECT_EQ(due[0].source, model::RunSource::otlp);
  EXPECT_TRUE(due[0].root_arrived);
  EXPECT_THAT(store_->fetch(due[0]).events, ElementsAre("a", "root", "b"));
}

TEST_P(TracesContract, ATraceWithoutItsRoot_IsDueWhenNothingCame) {
  commit_all({spans("t", {"1=a"})});
  EXPECT_THAT(due_after(800'000), IsEmpty());
  commit_all({spans("t", {"2=b"})});
  EXPECT_THAT(due_after(800'000), IsEmpty());
  const auto due = due_after(100'000);
  ASSERT_THAT(due, SizeIs(1));
  EXPECT_EQ(due[0].resolution, Resolution::idle);
}

TEST_P(TracesContract, WhatATraceWaitsFor_SurvivesARestart) {
  commit_all({with_root("rooted", {"1=a"}), spans("rootless", {"1=a"})});
  reopen();
  EXPECT_THAT(due_after(9'000), IsEmpty());
  const auto due = due_after(1'000);
  ASSERT_THAT(due, SizeIs(1));
  EXPECT_EQ(due[0].run_id, "rooted");
  ASSERT_EQ(commit(ending(due[0])).outcome, Outcome::stored);
  EXPECT_THAT(due_after(899'000), SizeIs(1));
}

TEST_P(TracesContract, LateSpans_OpenTheNextRevision_WhichStillHasItsRoot) {
  commit_all({with_root("t", {"1=a"})});
  auto due = due_after(10'000);
  ASSERT_THAT(due, SizeIs(1));
  RunWrite first = ending(due[0]);
  first.run.source = model::RunSource::otlp;
  first.run.root_arrived = true;
  ASSERT_EQ(commit(first).outcome, Outcome::stored);
  ASSERT_EQ(commit_all({with_root("t", {"1=a"})}).traces[0].outcome, Outcome::replayed);
  EXPECT_EQ(store_->open_runs().count, 0u);
  const WriteResult late = commit_all({spans("t", {"2=late"})});
  EXPECT_TRUE(late.traces[0].buffered->reopened);
  EXPECT_THAT(due_after(9'000), IsEmpty());
  due = due_after(1'000);
  ASSERT_THAT(due, SizeIs(1));
  EXPECT_EQ(due[0].revision, 2u);
  EXPECT_THAT(store_->fetch(due[0]).events, ElementsAre("a", "late"));
}

TEST_P(TracesContract, TracesOfOneRequest_KnowTheirOwnSpansAgain) {
  commit_all({spans("t", {"1=a"}), spans("u", {"2=b"})});
  const WriteResult again = commit_all({spans("u", {"2=b"}), spans("t", {"2=c"})});
  EXPECT_EQ(again.traces[0].buffered->accepted, 0u);
  EXPECT_EQ(again.traces[1].buffered->accepted, 1u);
}

TEST_P(TracesContract, ARunOfAnotherSource_IsLeftAlone) {
  commit(events("r", {"1=a"}));
  const WriteResult result = commit_all({spans("r", {"1=b"}), spans("t", {"1=c"})});
  EXPECT_EQ(result.outcome, Outcome::stored);
  EXPECT_EQ(result.traces[0].outcome, Outcome::run_conflict);
  EXPECT_EQ(result.traces[1].outcome, Outcome::stored);
  EXPECT_EQ(commit(events("t", {"2=d"})).outcome, Outcome::run_conflict);
  EXPECT_THAT(store_->events(kTenant, result.traces[1].buffered->run), ElementsAre("c"));
}

TEST_P(TracesContract, Lists_TellSourcesApart) {
  commit(events("r", {"1=a"}));
  commit_all({spans("t", {"1=a"})});
  RunQuery query;
  query.source = model::RunSource::otlp;
  auto page = store_->runs(kTenant, query);
  ASSERT_THAT(page.items, SizeIs(1));
  EXPECT_EQ(page.items[0].run_id, "t");
  query.source = model::RunSource::client;
  page = store_->runs(kTenant, query);
  ASSERT_THAT(page.items, SizeIs(1));
  EXPECT_EQ(page.items[0].run_id, "r");
}

TEST_P(TracesContract, WithoutRoomForAll_NothingIsStored) {
  if (!store_->space().limit_bytes) GTEST_SKIP() << "this engine knows no limit of its own";
  std::vector<EventsWrite> traces;
  for (int i = 0; i < 100; ++i) traces.push_back(spans("t" + std::to_string(i), {"1=" + std::string(1'000'000, 'x')}));
  const WriteResult refused = commit_all(std::move(traces));
  EXPECT_EQ(refused.outcome, Outcome::unavailable);
  EXPECT_FALSE(store_->find_run(kTenant, "t0"));
  EXPECT_EQ(store_->open_runs().count, 0u);
}

INSTANTIATE_TEST_SUITE_P(Engines, TracesContract, kEngines, kEngineName);
INSTANTIATE_TEST_SUITE_P(Engines, StreamingContract, kEngines, kEngineName);

}  // namespace
}  // namespace runwarden::store
