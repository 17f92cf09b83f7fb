// What every store has to do with whole runs and with keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engines.h"
#include "model/record_ids.h"
#include "sample_records.h"
#include "support/sample_values.h"

namespace runwarden::store {
namespace {

using Outcome = WriteResult::Outcome;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class StoreContract : public StoreContractTest {};

TEST_P(StoreContract, RunWithAnIdOfTheClient_IsFoundByIt) {
  RunWrite write = sample_run(kTenant, new_key(), "order 17/\xC3\xA9");
  write.run.max_score = 95;
  write.run.fired = {"false_success", "schema_ghost"};
  EXPECT_EQ(commit(write).outcome, Outcome::stored);
  const auto found = store_->find_run(kTenant, "order 17/\xC3\xA9");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->key, write.run.key);
  EXPECT_EQ(found->document, write.run.document);
  EXPECT_EQ(found->detectors_json, write.run.detectors_json);
  EXPECT_EQ(found->content, write.run.content);
  EXPECT_EQ(found->max_score, 95);
  EXPECT_EQ(found->state, model::RunState::resolved);
  EXPECT_THAT(found->fired, ElementsAre("false_success", "schema_ghost"));
}

TEST_P(StoreContract, RunWithAGivenId_IsFoundByItAfterReopening) {
  const RunWrite write = sample_run(kTenant, new_key());
  EXPECT_EQ(commit(write).outcome, Outcome::stored);
  reopen();
  const auto found = store_->find_run(kTenant, write.run.run_id);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->document, write.run.document);
}

TEST_P(StoreContract, TheCanary_TakesThePlaceOfTheOneBeforeAndIsSeenByNobody) {
  EXPECT_FALSE(store_->canary());
  for (int i = 0; i < 3; ++i) {
    CanaryWrite write{sample_run(kTenant, new_key(), {}, "canary").run};
    ASSERT_EQ(commit(write).outcome, Outcome::stored);
    const auto found = store_->canary();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->key, write.run.key);
    EXPECT_EQ(found->document, write.run.document);
    for (const model::TenantId tenant : {model::TenantId{0}, kTenant}) {
      EXPECT_FALSE(store_->find_run(tenant, write.run.run_id));
      EXPECT_FALSE(store_->run_at(tenant, write.run.key));
      EXPECT_THAT(store_->runs(tenant, {}).items, IsEmpty());
      EXPECT_EQ(store_->count_runs(tenant, kBeginningMs, kEndMs), 0u);
    }
  }
  EXPECT_THAT(store_->tenants(), IsEmpty());
  const auto used = store_->space().used_bytes;
  for (int i = 0; i < 50; ++i) commit(CanaryWrite{sample_run(kTenant, new_key(), {}, "canary").run});
  EXPECT_LE(store_->space().used_bytes, used + 8 * 4096);
  Retention all;
  all.runs_before_ms = all.failures_before_ms = all.changes_before_ms = all.policies_before_ms = kEndMs;
  EXPECT_EQ(store_->expire(all, 1000).total(), 0u);
  EXPECT_TRUE(store_->canary());
}

TEST_P(StoreContract, RunOfAnotherTenant_IsNotFound) {
  const RunWrite given = sample_run(kTenant, new_key());
  commit(given);
  commit(sample_run(kTenant, new_key(), "mine"));
  EXPECT_FALSE(store_->find_run(kOther, "mine"));
  EXPECT_FALSE(store_->find_run(kOther, given.run.run_id));
}

TEST_P(StoreContract, TwoTenantsWithOneRunId_HaveTwoRuns) {
  EXPECT_EQ(commit(sample_run(kTenant, new_key(), "same", "a")).outcome, Outcome::stored);
  EXPECT_EQ(commit(sample_run(kOther, new_key(), "same", "b")).outcome, Outcome::stored);
  EXPECT_EQ(store_->find_run(kTenant, "same")->content, digest_of("a"));
  EXPECT_EQ(store_->find_run(kOther, "same")->content, digest_of("b"));
}

TEST_P(StoreContract, RunIdThatOnlyLooksGiven_IsTheClientsOwn) {
  const RunWrite given = sample_run(kTenant, new_key());
  commit(given);
  // The text spells a place where no run stands, and then one where another run stands.
  const std::string made_up = model::make_run_id({given.run.key.time_ms, given.run.key.seq + 1000});
  EXPECT_FALSE(store_->find_run(kTenant, made_up));
  EXPECT_EQ(commit(sample_run(kTenant, new_key(), made_up, "own")).outcome, Outcome::stored);
  EXPECT_EQ(store_->find_run(kTenant, made_up)->content, digest_of("own"));
  const RunWrite named = sample_run(kTenant, new_key(), "named");
  commit(named);
  EXPECT_FALSE(store_->find_run(kTenant, model::make_run_id(named.run.key)));
}

TEST_P(StoreContract, SameRunIdAndContent_IsReplayedWithWhatWasFirst) {
  const RunWrite first = sample_run(kTenant, new_key(), "r");
  commit(first);
  const WriteResult again = commit(sample_run(kTenant, new_key(), "r"));
  EXPECT_EQ(again.outcome, Outcome::replayed);
  ASSERT_TRUE(again.first);
  EXPECT_EQ(again.first->key, first.run.key);
  EXPECT_EQ(again.first->document, first.run.document);
}

TEST_P(StoreContract, SameRunIdOtherContent_IsAConflict) {
  commit(sample_run(kTenant, new_key(), "r", "a"));
  EXPECT_EQ(commit(sample_run(kTenant, new_key(), "r", "b")).outcome, Outcome::run_conflict);
  EXPECT_EQ(store_->find_run(kTenant, "r")->content, digest_of("a"));
}

TEST_P(StoreContract, TwiceInOneBatch_IsStoredOnceAndReplayed) {
  RunWrite keyed = sample_run(kTenant, new_key());
  keyed.idempotency = idempotency("k", "content");
  RunWrite keyed_again = sample_run(kTenant, new_key());
  keyed_again.idempotency = idempotency("k", "content");
  RunWrite keyed_other = sample_run(kTenant, new_key());
  keyed_other.idempotency = idempotency("k", "else");
  const std::vector<Write> batch{sample_run(kTenant, new_key(), "r"),
                                 sample_run(kTenant, new_key(), "r"),
                                 sample_run(kTenant, new_key(), "r", "else"),
                                 keyed,
                                 keyed_again,
                                 keyed_other};
  const auto results = commit_together(batch);
  ASSERT_THAT(results, SizeIs(6));
  EXPECT_EQ(results[0].outcome, Outcome::stored);
  EXPECT_EQ(results[1].outcome, Outcome::replayed);
  EXPECT_EQ(results[1].first->key, std::get<RunWrite>(batch[0]).run.key);
  EXPECT_EQ(results[2].outcome, Outcome::run_conflict);
  EXPECT_EQ(results[3].outcome, Outcome::stored);
  EXPECT_EQ(results[4].outcome, Outcome::replayed);
  EXPECT_EQ(results[4].first->key, keyed.run.key);
  EXPECT_EQ(results[5].outcome, Outcome::idempotency_conflict);
}

TEST_P(StoreContract, IdempotencyIdentity_IsOfItsTenantAndEndsAfterItsTime) {
  RunWrite write = sample_run(kTenant, new_key());
  write.idempotency = idempotency("k", "content");
  commit(write);
  const auto replay = store_->find_replay(kTenant, digest_of("k"));
  ASSERT_TRUE(replay);
  EXPECT_EQ(replay->content, digest_of("content"));
  EXPECT_EQ(replay->run.run_id, write.run.run_id);
  EXPECT_FALSE(store_->find_replay(kOther, digest_of("k")));
  EXPECT_FALSE(store_->find_replay(kTenant, digest_of("l")));
  clock_.advance_ms(48 * 3600 * 1000 - 1);
  EXPECT_TRUE(store_->find_replay(kTenant, digest_of("k")));
  clock_.advance_ms(1);
  EXPECT_FALSE(store_->find_replay(kTenant, digest_of("k")));
  RunWrite later = sample_run(kTenant, new_key());
  later.idempotency = idempotency("k", "something else");
  EXPECT_EQ(commit(later).outcome, Outcome::stored);
}

TEST_P(StoreContract, IdempotencyIdentity_IsFoundAfterTheClockWasSetBackOverMidnight) {
  clock_.set_wall_ms(1'790'035'200'000 + 1000);  // a second into a day, UTC
  RunWrite write = sample_run(kTenant, new_key());
  write.idempotency = idempotency("k", "content");
  commit(write);
  clock_.set_wall_ms(1'790'035'200'000 - 1000);
  EXPECT_TRUE(store_->find_replay(kTenant, digest_of("k")));
}

TEST_P(StoreContract, SameRunUnderANewIdempotencyKey_BindsTheKeyToIt) {
  commit(sample_run(kTenant, new_key(), "r"));
  RunWrite again = sample_run(kTenant, new_key(), "r");
  again.idempotency = idempotency("k", "content");
  EXPECT_EQ(commit(again).outcome, Outcome::replayed);
  RunWrite other = sample_run(kTenant, new_key(), "s", "else");
  other.idempotency = idempotency("k", "else");
  EXPECT_EQ(commit(other).outcome, Outcome::idempotency_conflict);
}

TEST_P(StoreContract, AnswerOfAStoredRun_IsRememberedUnderItsIdempotencyKey) {
  const RunWrite first = sample_run(kTenant, new_key(), "r");
  commit(first);
  const AnswerWrite answer{kTenant, idempotency("k", "content"), first.run.key, 1};
  EXPECT_EQ(commit(answer).outcome, Outcome::stored);
  const auto replay = store_->find_replay(kTenant, digest_of("k"));
  ASSERT_TRUE(replay);
  EXPECT_EQ(replay->content, digest_of("content"));
  EXPECT_EQ(replay->run.run_id, "r");
  EXPECT_FALSE(store_->find_replay(kOther, digest_of("k")));
  RunWrite other = sample_run(kTenant, new_key(), "s", "else");
  other.idempotency = idempotency("k", "else");
  EXPECT_EQ(commit(other).outcome, Outcome::idempotency_conflict);
  EXPECT_FALSE(store_->find_run(kTenant, "s"));
}

TEST_P(StoreContract, AnswerUnderAnIdempotencyKeyThatIsKnown_LeavesTheFirst) {
  RunWrite first = sample_run(kTenant, new_key(), "first");
  first.idempotency = idempotency("k", "content");
  const RunWrite second = sample_run(kTenant, new_key(), "second");
  commit(first);
  commit(second);
  const WriteResult same = commit(AnswerWrite{kTenant, idempotency("k", "content"), second.run.key, 1});
  EXPECT_EQ(same.outcome, Outcome::replayed);
  ASSERT_TRUE(same.first);
  EXPECT_EQ(same.first->run_id, "first");
  EXPECT_EQ(commit(AnswerWrite{kTenant, idempotency("k", "else"), second.run.key, 1}).outcome, Outcome::idempotency_conflict);
  EXPECT_EQ(store_->find_replay(kTenant, digest_of("k"))->run.run_id, "first");
}

TEST_P(StoreContract, LargeRun_ComesBackAsItWas) {
  RunWrite write = sample_run(kTenant, new_key(), "large");
  write.run.document.clear();
  for (int i = 0; write.run.document.size() < 3'000'000; ++i)
    write.run.document += std::to_string(i * 7919) + (i % 3 == 0 ? "x" : " same words again ");
  write.run.document += std::string("\0\xFF", 2);
  commit(write);
  EXPECT_EQ(store_->find_run(kTenant, "large")->document, write.run.document);
}

TEST_P(StoreContract, Numbers_GrowAlsoOverARestart) {
  const std::uint64_t first = store_->next_seq();
  const std::uint64_t second = store_->next_seq();
  EXPECT_GT(second, first);
  commit(sample_run(kTenant, {clock_.wall_ms(), second}));
  reopen();
  EXPECT_GT(store_->next_seq(), second);
}

model::KeyRecord sample_key(const std::string& id, const std::string& tenant) {
  model::KeyRecord key;
  key.id = id;
  key.tenant_name = tenant;
  key.name = "ci";
  key.may_ingest = true;
  key.digest = digest_of(id);
  key.created_ms = 5;
  key.expires_ms = 77;
  return key;
}

TEST_P(StoreContract, Keys_GetTheirTenantsNumberAndComeBackWhole) {
  const model::KeyRecord first = store_->put_key(sample_key("key_1", "acme"));
  const model::KeyRecord second = store_->put_key(sample_key("key_2", "globex"));
  const model::KeyRecord third = store_->put_key(sample_key("key_3", "acme"));
  EXPECT_NE(first.tenant, second.tenant);
  EXPECT_EQ(first.tenant, third.tenant);
  EXPECT_NE(first.tenant, 0u);
  reopen();
  const auto keys = store_->keys();
  ASSERT_THAT(keys, SizeIs(3));
  EXPECT_EQ(keys[0].id, "key_1");
  EXPECT_EQ(keys[0].tenant, first.tenant);
  EXPECT_EQ(keys[0].tenant_name, "acme");
  EXPECT_EQ(keys[0].name, "ci");
  EXPECT_TRUE(keys[0].may_ingest);
  EXPECT_FALSE(keys[0].may_read);
  EXPECT_EQ(keys[0].digest, digest_of("key_1"));
  EXPECT_EQ(keys[0].created_ms, 5);
  EXPECT_EQ(keys[0].expires_ms, 77);
  EXPECT_EQ(keys[0].revoked_ms, model::kNever);
  EXPECT_EQ(keys[0].last_used_ms, model::kNever);
}

TEST_P(StoreContract, KeysVersion_ChangesWithKeysAndNotWithTheirUse) {
  const std::uint64_t none = store_->keys_version();
  model::KeyRecord key = store_->put_key(sample_key("key_1", "acme"));
  const std::uint64_t added = store_->keys_version();
  EXPECT_NE(added, none);
  key.revoked_ms = 9;
  store_->put_key(key);
  const std::uint64_t revoked = store_->keys_version();
  EXPECT_NE(revoked, added);
  const std::vector<std::pair<std::string, std::int64_t>> used{{"key_1", 1234}, {"key_unknown", 5}};
  store_->touch_keys(used);
  EXPECT_EQ(store_->keys_version(), revoked);
  ASSERT_THAT(store_->keys(), SizeIs(1));
  EXPECT_EQ(store_->keys().front().last_used_ms, 1234);
  EXPECT_EQ(store_->keys().front().revoked_ms, 9);
}

TEST_P(StoreContract, TheSecret_IsOf32BytesAndTheSameAfterReopening) {
  const auto secret = store_->secret("cursor");
  ASSERT_TRUE(secret.ok());
  EXPECT_EQ(secret->size(), 32u);
  EXPECT_EQ(*store_->secret("cursor"), *secret);
  EXPECT_NE(*store_->secret("session"), *secret);
  reopen();
  EXPECT_EQ(*store_->secret("cursor"), *secret);
  EXPECT_NE(*std::unique_ptr<Engine>(GetParam().make())->open(clock_)->secret("cursor"), *secret) << "another store has another";
}

TEST_P(StoreContract, KeyWithoutATenant_IsRefused) {
  EXPECT_THROW(store_->put_key(sample_key("key_1", "")), StoreError);
}

TEST_P(StoreContract, CrashMarks_ComeBackWholeUntilTheyAreTooOldOrTheirTenantIsPurged) {
  EXPECT_THAT(store_->crash_marks(), IsEmpty());
  model::CrashMark mark;
  mark.key.time_ms = clock_.wall_ms();
  mark.tenant = kTenant;
  mark.tenant_name = "acme";
  mark.run_id = "killer";
  mark.content[3] = 5;
  mark.detector_key = "loop";
  mark.library_sha256 = "abc";
  mark.library = "/usr/lib/loop.so";
  mark.signal = 11;
  store_->put_crash_mark(mark);
  store_->put_crash_mark(mark);
  mark.tenant = kOther;
  mark.key.time_ms += 1000;
  store_->put_crash_mark(mark);
  reopen();
  ASSERT_THAT(store_->crash_marks(), SizeIs(3));
  const model::CrashMark back = store_->crash_marks().front();
  EXPECT_EQ(back.key.time_ms, clock_.wall_ms());
  EXPECT_EQ(back.tenant, kTenant);
  EXPECT_EQ(back.tenant_name, "acme");
  EXPECT_EQ(back.run_id, "killer");
  EXPECT_EQ(back.content, mark.content);
  EXPECT_EQ(back.detector_key, "loop");
  EXPECT_EQ(back.library_sha256, "abc");
  EXPECT_EQ(back.library, "/usr/lib/loop.so");
  EXPECT_EQ(back.signal, 11);

  Retention retention;
  retention.runs_before_ms = clock_.wall_ms() + 1;
  EXPECT_EQ(store_->expire(retention, 10).crash_marks, 2u);
  retention.runs_before_ms = clock_.wall_ms() + 5000;
  retention.tenant = kTenant;
  EXPECT_EQ(store_->expire(retention, 10).crash_marks, 0u);
  retention.tenant = kOther;
  EXPECT_EQ(store_->expire(retention, 10).crash_marks, 1u);
  EXPECT_THAT(store_->crash_marks(), IsEmpty());
}

TEST_P(StoreContract, FreshStore_IsWritableAndTellsItsRoom) {
  EXPECT_TRUE(store_->writable().ok());
  const SpaceStatus room = store_->space();
  EXPECT_FALSE(room.refusing);
  EXPECT_GT(room.used_bytes, 0u);
  EXPECT_GT(room.limit_bytes.value_or(~std::uint64_t{0}), room.used_bytes);
}

INSTANTIATE_TEST_SUITE_P(Engines, StoreContract, kEngines, kEngineName);

}  // namespace
}  // namespace runwarden::store
