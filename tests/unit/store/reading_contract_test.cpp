// What every store has to do with lists, counts, changes, policies and what is too old.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engines.h"
#include "sample_records.h"
#include "support/sample_values.h"

namespace runwarden::store {
namespace {

using Outcome = WriteResult::Outcome;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ReadingContract : public StoreContractTest {
 protected:
  RunWrite run_at_time(std::int64_t time_ms, const std::string& id, model::TenantId tenant = kTenant) {
    return sample_run(tenant, {time_ms, store_->next_seq()}, id, id);
  }
  RunWrite failing_run(std::int64_t time_ms, const std::string& id, const std::string& detector, int score,
                       const std::string& fingerprint) {
    RunWrite write = run_at_time(time_ms, id);
    write.failures.push_back(sample_failure({time_ms, store_->next_seq()}, detector, score, fingerprint));
    write.run.max_score = score;
    write.run.fired = {detector};
    return write;
  }
  PolicyWrite policy(const std::string& name, const std::string& revision, std::int64_t at_ms, const std::string& content = "c") {
    PolicyWrite write;
    write.tenant = kTenant;
    write.policy.key = {at_ms, store_->next_seq()};
    write.policy.id = model::make_policy_revision_id(write.policy.key);
    write.policy.policy = name;
    write.policy.revision = revision;
    write.policy.author = "ci";
    write.policy.content = digest_of(content);
    write.policy.received_ms = clock_.wall_ms();
    write.policy.document = "{\"content\":\"" + content + "\"}";
    return write;
  }
  ChangeWrite change(const std::string& kind, std::int64_t at_ms, model::TenantId tenant = kTenant) {
    ChangeWrite write;
    write.tenant = tenant;
    write.change.key = {at_ms, store_->next_seq()};
    write.change.id = model::make_change_id(write.change.key);
    write.change.kind = kind;
    write.change.document = "{\"kind\":\"" + kind + "\"}";
    return write;
  }
  std::vector<std::string> run_ids(const RunQuery& query) {
    std::vector<std::string> ids;
    for (const auto& run : store_->runs(kTenant, query).items) ids.push_back(run.run_id);
    return ids;
  }
  std::vector<std::string> revisions(const PolicyQuery& query) {
    std::vector<std::string> found;
    for (const auto& one : store_->policies(kTenant, query).items) found.push_back(one.policy + "@" + one.revision);
    return found;
  }
};

TEST_P(ReadingContract, AuthorWithANul_ComesBackAsItWas) {
  PolicyWrite write = policy("refunds", "", 1'000);
  write.policy.author = std::string("a\0b", 3);
  ASSERT_EQ(commit(write).outcome, Outcome::stored);
  EXPECT_EQ(store_->policy_at(kTenant, "refunds", 2'000)->author, write.policy.author);
}

TEST_P(ReadingContract, Runs_ComeNewestFirstAndOfTheirTenantOnly) {
  for (const auto& [time_ms, id] : {std::pair{2000, "b"}, {1000, "a"}, {3000, "c"}}) commit(run_at_time(time_ms, id));
  commit(run_at_time(2500, "foreign", kOther));
  EXPECT_THAT(run_ids({}), ElementsAre("c", "b", "a"));
  EXPECT_FALSE(store_->runs(kTenant, {}).next);
  EXPECT_THAT(store_->runs(3, {}).items, IsEmpty());
}

TEST_P(ReadingContract, Range_HoldsItsBeginningAndNotItsEnd) {
  for (const auto& [time_ms, id] : {std::pair{1000, "a"}, {2000, "b"}, {3000, "c"}}) commit(run_at_time(time_ms, id));
  RunQuery query;
  query.range.since_ms = 1000;
  query.range.before_ms = 3000;
  EXPECT_THAT(run_ids(query), ElementsAre("b", "a"));
}

TEST_P(ReadingContract, Pages_ShowEachRunOnceWhileNewOnesArrive) {
  for (int i = 0; i < 25; ++i) commit(run_at_time(1000 + i / 2, std::to_string(i)));
  RunQuery query;
  query.range.limit = 4;
  std::multiset<std::string> seen;
  for (int pages = 0; pages < 20; ++pages) {
    const auto page = store_->runs(kTenant, query);
    for (const auto& run : page.items) seen.insert(run.run_id);
    commit(run_at_time(5000 + pages, "new " + std::to_string(pages)));
    if (!page.next) break;
    EXPECT_THAT(page.items, SizeIs(4));
    query.range.after = page.next;
  }
  EXPECT_THAT(seen, SizeIs(25));
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 25u);
}

TEST_P(ReadingContract, LastPageThatIsFull_SaysThatItIsTheLast) {
  for (int i = 0; i < 4; ++i) commit(run_at_time(1000 + i, std::to_string(i)));
  RunQuery query;
  query.range.limit = 4;
  EXPECT_FALSE(store_->runs(kTenant, query).next);
}

TEST_P(ReadingContract, LargeRuns_EndAPageBeforeItPassesItsBytes) {
  for (int i = 0; i < 4; ++i) {
    RunWrite write = run_at_time(1000 + i, std::to_string(i));
    write.run.document.assign(5000, 'x');
    commit(write);
  }
  RunQuery query;
  query.range.max_bytes = 14'000;
  const auto page = store_->runs(kTenant, query);
  ASSERT_THAT(page.items, SizeIs(2));
  EXPECT_TRUE(page.next);
  EXPECT_THAT(page.items[0].document, IsEmpty()) << "a list gives heads";
  EXPECT_GE(page.items[0].json_bytes, 5000u);
  query.range.max_bytes = 1;
  EXPECT_THAT(store_->runs(kTenant, query).items, SizeIs(1)) << "one there always is";
}

TEST_P(ReadingContract, OpenRuns_CountWithTheirEvents) {
  for (int i = 0; i < 4; ++i) {
    EventsWrite write;
    write.tenant = kTenant;
    write.key = {1000 + i, store_->next_seq()};
    write.run_id = std::to_string(i);
    write.events.push_back({{}, std::string(3000, 'e'), {}});
    write.events.push_back({{}, std::string(2000, 'e'), {}});
    commit(write);
  }
  RunQuery query;
  query.range.max_bytes = 14'000;
  const auto page = store_->runs(kTenant, query);
  ASSERT_THAT(page.items, SizeIs(2));
  EXPECT_TRUE(page.next);
  EXPECT_GE(page.items[0].json_bytes, 5000u);
  EXPECT_LE(page.items[0].json_bytes, 7000u);
  query.state = model::RunState::open;
  EXPECT_THAT(store_->runs(kTenant, query).items, SizeIs(2));
}

TEST_P(ReadingContract, Outlines_AreReadAndCountedInsteadOfTheWholeRuns) {
  for (int i = 0; i < 4; ++i) {
    RunWrite write = run_at_time(1000 + i, std::to_string(i));
    write.run.document.assign(50'000, 'x');
    write.run.outline.emplace();
    write.run.outline->members = "{\"runId\":\"" + std::to_string(i) + "\"}";
    write.run.outline->failures = write.run.outline->detectors = write.run.outline->policies = "[]";
    write.run.outline->steps = 7;
    commit(write);
  }
  RunQuery query;
  query.outlines = OutlineToo::yes;
  query.range.max_bytes = 40'000;
  const auto page = store_->runs(kTenant, query);
  ASSERT_THAT(page.items, SizeIs(4));
  ASSERT_TRUE(page.items[0].outline);
  EXPECT_EQ(page.items[0].outline->members, R"({"runId":"3"})");
  EXPECT_EQ(page.items[0].outline->steps, 7u);
  EXPECT_LT(page.items[0].json_bytes, 5000u);
  query.outlines = OutlineToo::no;
  query.range.max_bytes = 200'000;
  EXPECT_FALSE(store_->runs(kTenant, query).items.at(0).outline);
  EXPECT_EQ(store_->run_head(kTenant, "2", std::nullopt)->outline->members, R"({"runId":"2"})");
  EXPECT_EQ(store_->find_run(kTenant, "2")->outline->steps, 7u);
}

TEST_P(ReadingContract, RunFilters_KeepWhatFits) {
  commit(failing_run(1000, "a", "false_success", 95, "f"));
  commit(failing_run(2000, "b", "schema_ghost", 40, "g"));
  commit(run_at_time(3000, "c"));
  RunQuery query;
  query.detector = "schema_ghost";
  EXPECT_THAT(run_ids(query), ElementsAre("b"));
  query = {};
  query.min_score = 50;
  EXPECT_THAT(run_ids(query), ElementsAre("a"));
  query.state = model::RunState::open;
  EXPECT_THAT(run_ids(query), IsEmpty());
  query = {};
  query.min_score = 0;
  EXPECT_THAT(run_ids(query), ElementsAre("b", "a")) << "only runs with a failure have a score";
}

TEST_P(ReadingContract, RunFiltersByDetectorAndScore_MeanOneFailure) {
  RunWrite two = failing_run(1000, "two", "false_success", 95, "f");
  two.failures.push_back(sample_failure({1001, store_->next_seq()}, "schema_ghost", 40, "g"));
  two.run.fired.push_back("schema_ghost");
  commit(two);
  RunQuery query;
  query.detector = "schema_ghost";
  query.min_score = 40;
  EXPECT_THAT(run_ids(query), ElementsAre("two"));
  query.min_score = 41;
  EXPECT_THAT(run_ids(query), IsEmpty());
  query.detector = "false_success";
  EXPECT_THAT(run_ids(query), ElementsAre("two"));
}

TEST_P(ReadingContract, FailureFilters_KeepWhatFits) {
  commit(failing_run(1000, "a", "false_success", 95, "f"));
  commit(failing_run(2000, "b", "schema_ghost", 40, "g"));
  commit(failing_run(3000, "c", "false_success", 70, "f"));
  const auto scores = [&](const FailureQuery& query) {
    std::vector<int> found;
    for (const auto& failure : store_->failures(kTenant, query).items) found.push_back(failure.score);
    return found;
  };
  EXPECT_THAT(scores({}), ElementsAre(70, 40, 95));
  FailureQuery query;
  query.fingerprint = "f";
  EXPECT_THAT(scores(query), ElementsAre(70, 95));
  query.range.limit = 1;
  EXPECT_THAT(scores(query), ElementsAre(70));
  query.range.after = store_->failures(kTenant, query).next;
  EXPECT_THAT(scores(query), ElementsAre(95));
  query = {};
  query.detector = "schema_ghost";
  EXPECT_THAT(scores(query), ElementsAre(40));
  query = {};
  query.min_score = 70;
  EXPECT_THAT(scores(query), ElementsAre(70, 95));
  query = {};
  query.severity = model::Severity::low;
  EXPECT_THAT(scores(query), IsEmpty());
}

TEST_P(ReadingContract, FailuresOfARun_AreFoundByItsIdAndPaged) {
  commit(failing_run(1000, "a", "false_success", 95, "f"));
  RunWrite several = failing_run(2000, "b", "schema_ghost", 40, "g");
  for (int i = 0; i < 4; ++i)
    several.failures.push_back(sample_failure({2001 + i, store_->next_seq()}, i % 2 == 0 ? "false_success" : "mine", 50 + i, "f"));
  several.failures.back().shadow = true;
  commit(several);
  commit(failing_run(3000, "c", "false_success", 70, "f"));
  const auto scores = [&](const FailureQuery& query) {
    std::vector<int> found;
    for (const auto& failure : store_->failures(kTenant, query).items) found.push_back(failure.score);
    return found;
  };
  FailureQuery query;
  query.run_id = "b";
  EXPECT_THAT(scores(query), ElementsAre(52, 51, 50, 40));
  query.detector = "false_success";
  query.fingerprint = "f";
  query.min_score = 51;
  EXPECT_THAT(scores(query), ElementsAre(52));
  query = {};
  query.run_id = "b";
  query.shadow = true;
  EXPECT_THAT(scores(query), ElementsAre(53));
  query.shadow = false;
  query.range.since_ms = 2001;
  query.range.before_ms = 2003;
  EXPECT_THAT(scores(query), ElementsAre(51, 50));
  query.range = {};
  query.range.limit = 3;
  const auto first = store_->failures(kTenant, query);
  EXPECT_THAT(first.items, SizeIs(3));
  ASSERT_TRUE(first.next);
  query.range.after = first.next;
  EXPECT_THAT(scores(query), ElementsAre(40));
  EXPECT_FALSE(store_->failures(kTenant, query).next);
}

TEST_P(ReadingContract, FailuresOfARunThatIsNotThere_AreNone) {
  commit(failing_run(1000, "a", "false_success", 95, "f"));
  FailureQuery query;
  query.run_id = "b";
  EXPECT_THAT(store_->failures(kTenant, query).items, IsEmpty());
  query.run_id = std::string(1000, 'a');
  EXPECT_THAT(store_->failures(kTenant, query).items, IsEmpty());
  query.run_id = "a";
  EXPECT_THAT(store_->failures(kOther, query).items, IsEmpty());
  EXPECT_THAT(store_->failures(kTenant, query).items, SizeIs(1));
  Retention retention;
  retention.failures_before_ms = 2000;
  store_->expire(retention, 10);
  EXPECT_THAT(store_->failures(kTenant, query).items, IsEmpty());
}

TEST_P(ReadingContract, FailuresOnTrial_AreInTheirOwnListAndNoCount) {
  RunWrite write = failing_run(1000, "a", "false_success", 95, "f");
  write.failures[0].shadow = true;
  commit(write);
  commit(failing_run(2000, "b", "false_success", 70, "f"));
  FailureQuery on_trial;
  on_trial.shadow = true;
  EXPECT_THAT(store_->failures(kTenant, {}).items, SizeIs(1));
  ASSERT_THAT(store_->failures(kTenant, on_trial).items, SizeIs(1));
  EXPECT_TRUE(store_->failures(kTenant, on_trial).items[0].shadow);
  EXPECT_THAT(store_->failures(kOther, on_trial).items, IsEmpty());
  on_trial.fingerprint = "f";
  EXPECT_THAT(store_->failures(kTenant, on_trial).items, SizeIs(1));
  on_trial.fingerprint = "g";
  EXPECT_THAT(store_->failures(kTenant, on_trial).items, IsEmpty());
  const auto found = store_->find_failure(kTenant, write.failures[0].id);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->shadow);
  EXPECT_EQ(store_->fingerprint_stats(kTenant, "f").failures, 1u);
  EXPECT_EQ(store_->count_failures(kTenant, "f", kBeginningMs, kEndMs), 1u);
}

TEST_P(ReadingContract, FailuresOnTrial_GoWithAgeAndWithTheirTenant) {
  for (int i = 0; i < 6; ++i) {
    RunWrite write = failing_run(1000 + i, std::to_string(i), "false_success", 95, "f");
    write.failures[0].shadow = i % 2 == 0;
    commit(write);
  }
  FailureQuery on_trial;
  on_trial.shadow = true;
  Retention retention;
  retention.failures_before_ms = 1004;
  const Expired first = store_->expire(retention, 3);
  EXPECT_EQ(first.failures, 3u);
  EXPECT_TRUE(first.more);
  EXPECT_EQ(store_->expire(retention, 3).failures, 1u);
  EXPECT_THAT(store_->failures(kTenant, on_trial).items, SizeIs(1));
  retention.tenant = kOther;
  retention.failures_before_ms = kEndMs;
  EXPECT_EQ(store_->expire(retention, 100).failures, 0u);
  retention.tenant = kTenant;
  EXPECT_EQ(store_->expire(retention, 100).failures, 2u);
  EXPECT_THAT(store_->failures(kTenant, on_trial).items, IsEmpty());
  EXPECT_EQ(store_->fingerprint_stats(kTenant, "f").failures, 0u);
}

TEST_P(ReadingContract, Failure_IsFoundByItsIdAndLeadsToItsRun) {
  const RunWrite write = failing_run(1000, "a", "false_success", 95, "f");
  commit(write);
  const auto failure = store_->find_failure(kTenant, write.failures[0].id);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->json, write.failures[0].json);
  EXPECT_EQ(failure->fingerprint, "f");
  EXPECT_EQ(store_->run_at(kTenant, failure->run)->run_id, "a");
  EXPECT_FALSE(store_->find_failure(kOther, write.failures[0].id));
  EXPECT_FALSE(store_->find_failure(kTenant, "fail_nonsense"));
}

TEST_P(ReadingContract, RecordsAtKeys_ComeInTheOrderOfTheKeysWithGapsForWhatIsNotThere) {
  const RunWrite first = failing_run(1000, "a", "false_success", 95, "f");
  RunWrite second = failing_run(90'000'000'000, "b", "schema_ghost", 60, "g");  // of another day
  second.failures[0].shadow = true;
  const RunWrite foreign = run_at_time(3000, "foreign", kOther);
  EventsWrite open;
  open.tenant = kTenant;
  open.key = {4000, store_->next_seq()};
  open.run_id = "open";
  open.events.push_back({{}, "{}", {}});
  for (const RunWrite& write : {first, second, foreign}) ASSERT_EQ(commit(write).outcome, Outcome::stored);
  ASSERT_EQ(commit(open).outcome, Outcome::stored);

  const std::vector<model::RecordKey> keys{second.run.key, foreign.run.key, {1000, 77}, first.run.key, open.key, second.run.key};
  const auto runs = store_->runs_at(kTenant, keys);
  ASSERT_THAT(runs, SizeIs(keys.size()));
  EXPECT_EQ(runs[0]->run_id, "b");
  EXPECT_EQ(runs[0]->document, store_->run_at(kTenant, second.run.key)->document);
  EXPECT_FALSE(runs[1]) << "another tenant's";
  EXPECT_FALSE(runs[2]);
  EXPECT_EQ(runs[3]->run_id, "a");
  EXPECT_EQ(runs[4]->state, model::RunState::open);
  EXPECT_EQ(runs[5]->run_id, "b");
  EXPECT_THAT(store_->runs_at(kTenant, {}), IsEmpty());

  const std::vector<model::RecordKey> places{second.failures[0].key, first.run.key, first.failures[0].key};
  const auto failures = store_->failures_at(kTenant, places);
  ASSERT_THAT(failures, SizeIs(places.size()));
  EXPECT_EQ(failures[0]->id, second.failures[0].id);
  EXPECT_TRUE(failures[0]->shadow);
  EXPECT_FALSE(failures[1]);
  EXPECT_EQ(failures[2]->json, first.failures[0].json);
  EXPECT_FALSE(failures[2]->shadow);
  EXPECT_FALSE(store_->failures_at(kOther, places)[2]);
}

TEST_P(ReadingContract, FingerprintStats_TellCountFirstAndLast) {
  EXPECT_EQ(store_->fingerprint_stats(kTenant, "f").failures, 0u);
  for (const int time_ms : {3000, 1000, 2000}) commit(failing_run(time_ms, std::to_string(time_ms), "false_success", 95, "f"));
  commit(failing_run(500, "other", "false_success", 95, "g"));
  const FingerprintStats stats = store_->fingerprint_stats(kTenant, "f");
  EXPECT_EQ(stats.failures, 3u);
  EXPECT_EQ(stats.first_ms, 1000);
  EXPECT_EQ(stats.last_ms, 3000);
  EXPECT_EQ(store_->fingerprint_stats(kOther, "f").failures, 0u);
}

TEST_P(ReadingContract, Counts_AgreeWithTheRecordsForAnyWindow) {
  std::mt19937_64 random(7);
  std::vector<std::int64_t> times;
  std::vector<Write> batch;
  constexpr std::int64_t kBegin = 1'700'000'000'000;
  for (int i = 0; i < 600; ++i) {
    const std::int64_t spread = std::int64_t{1} << (8 + i % 24);  // from 256 ms to 12 days
    const std::int64_t time_ms = kBegin + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(spread));
    times.push_back(time_ms);
    batch.push_back(failing_run(time_ms, std::to_string(i), "false_success", 95, "f"));
  }
  commit_together(batch);
  for (int i = 0; i < 400; ++i) {
    std::int64_t from = times[random() % times.size()];
    std::int64_t before = times[random() % times.size()] + static_cast<std::int64_t>(random() % 3) - 1;
    if (i == 0) {
      from = kBeginningMs;
      before = kEndMs;
    }
    const auto expected = static_cast<std::uint64_t>(
        std::count_if(times.begin(), times.end(), [&](std::int64_t time_ms) { return time_ms >= from && time_ms < before; }));
    EXPECT_EQ(store_->count_runs(kTenant, from, before), expected);
    EXPECT_EQ(store_->count_failures(kTenant, "f", from, before), expected);
  }
  EXPECT_EQ(store_->count_runs(kOther, kBeginningMs, kEndMs), 0u);
}

TEST_P(ReadingContract, Changes_AreListedByTheirTimeAlsoBefore1970) {
  commit(change("code", 5000));
  commit(change("runtime", -7'000'000));
  commit(change("code", 9000));
  commit(change("code", 6000, kOther));
  std::vector<std::int64_t> times;
  for (const auto& one : store_->changes(kTenant, {}).items) times.push_back(one.key.time_ms);
  EXPECT_THAT(times, ElementsAre(9000, 5000, -7'000'000));
  ChangeQuery query;
  query.kind = "runtime";
  ASSERT_THAT(store_->changes(kTenant, query).items, SizeIs(1));
  EXPECT_EQ(store_->changes(kTenant, query).items[0].document, "{\"kind\":\"runtime\"}");
}

TEST_P(ReadingContract, ChangeUnderTheSameIdempotencyKey_IsReplayed) {
  ChangeWrite write = change("code", 5000);
  write.idempotency = idempotency("k", "body");
  commit(write);
  ChangeWrite again = change("code", 6000);
  again.idempotency = idempotency("k", "body");
  const WriteResult result = commit(again);
  EXPECT_EQ(result.outcome, Outcome::replayed);
  EXPECT_EQ(result.change->id, write.change.id);
  EXPECT_EQ(store_->find_replay(kTenant, digest_of("k"))->change->id, write.change.id);
  again.idempotency = idempotency("k", "other");
  EXPECT_EQ(commit(again).outcome, Outcome::idempotency_conflict);
  EXPECT_THAT(store_->changes(kTenant, {}).items, SizeIs(1));
}

TEST_P(ReadingContract, PolicyRevision_IsListedAmongTheChangesToo) {
  const WriteResult stored = commit(policy("refunds", "7", 5000));
  EXPECT_EQ(stored.outcome, Outcome::stored);
  EXPECT_EQ(stored.policy->revision, "7");
  EXPECT_EQ(stored.change->kind, "policy");
  commit(change("code", 4000));
  const auto changes = store_->changes(kTenant, {}).items;
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_EQ(changes[0].kind, "policy");
  EXPECT_EQ(changes[0].id, stored.change->id);
  ASSERT_TRUE(changes[0].policy);
  EXPECT_EQ(changes[0].policy->policy, "refunds");
  EXPECT_EQ(changes[0].policy->author, "ci");
  EXPECT_EQ(changes[0].policy->document, "{\"content\":\"c\"}");
}

TEST_P(ReadingContract, PolicyWithoutARevision_GetsTheNextWholeNumber) {
  EXPECT_EQ(commit(policy("refunds", "", 1000)).policy->revision, "1");
  EXPECT_EQ(commit(policy("refunds", "", 1000)).policy->revision, "2");
  commit(policy("refunds", "v3", 1000));
  EXPECT_EQ(commit(policy("refunds", "", 1000)).policy->revision, "3");
  commit(policy("refunds", "0099", 1000));
  commit(policy("refunds", "50", 1000));
  EXPECT_EQ(commit(policy("refunds", "", 1000)).policy->revision, "100");
  commit(policy("refunds", "99999999999999999999999999", 1000));
  EXPECT_EQ(commit(policy("refunds", "", 1000)).policy->revision, "100000000000000000000000000");
  EXPECT_EQ(commit(policy("returns", "", 1000)).policy->revision, "1");
  const std::vector<Write> batch{policy("batch", "", 1000), policy("batch", "", 1000)};
  EXPECT_EQ(commit_together(batch)[1].policy->revision, "2");
}

TEST_P(ReadingContract, SamePolicyRevision_IsReplayedOrAConflict) {
  const WriteResult first = commit(policy("refunds", "7", 1000, "a"));
  const WriteResult same = commit(policy("refunds", "7", 2000, "a"));
  EXPECT_EQ(same.outcome, Outcome::replayed);
  EXPECT_EQ(same.policy->id, first.policy->id);
  const WriteResult other = commit(policy("refunds", "7", 3000, "b"));
  EXPECT_EQ(other.outcome, Outcome::run_conflict);
  EXPECT_EQ(other.policy->id, first.policy->id);
  EXPECT_THAT(store_->changes(kTenant, {}).items, SizeIs(1));
}

TEST_P(ReadingContract, PolicyUnderTheSameIdempotencyKey_IsReplayed) {
  PolicyWrite write = policy("refunds", "", 1000);
  write.idempotency = idempotency("k", "body");
  commit(write);
  PolicyWrite again = policy("refunds", "", 2000);
  again.idempotency = idempotency("k", "body");
  const WriteResult result = commit(again);
  EXPECT_EQ(result.outcome, Outcome::replayed);
  EXPECT_EQ(result.policy->revision, "1");
  EXPECT_EQ(store_->find_replay(kTenant, digest_of("k"))->policy->revision, "1");
}

TEST_P(ReadingContract, PolicyInForce_IsTheLatestToTakeEffect) {
  commit(policy("refunds", "2", 2000));
  commit(policy("refunds", "1", 1000));  // arrives late
  commit(policy("refunds", "2b", 2000));
  commit(policy("returns", "9", 1500));
  EXPECT_FALSE(store_->policy_at(kTenant, "refunds", 999));
  EXPECT_EQ(store_->policy_at(kTenant, "refunds", 1000)->revision, "1");
  EXPECT_EQ(store_->policy_at(kTenant, "refunds", 1999)->revision, "1");
  EXPECT_EQ(store_->policy_at(kTenant, "refunds", 2000)->revision, "2b");
  EXPECT_FALSE(store_->policy_at(kOther, "refunds", 5000));
  const auto in_force = store_->policies_at(kTenant, 1600);
  ASSERT_THAT(in_force, SizeIs(2));
  EXPECT_EQ(in_force[0].policy + in_force[0].revision, "refunds1");
  EXPECT_EQ(in_force[1].policy + in_force[1].revision, "returns9");
  EXPECT_THAT(store_->policies_at(kTenant, 1200), SizeIs(1));
}

TEST_P(ReadingContract, Policies_AreListedNewestFirstAllOrOne) {
  commit(policy("refunds", "1", 1000));
  commit(policy("returns", "1", 1500));
  commit(policy("refunds", "2", 2000));
  EXPECT_THAT(revisions({}), ElementsAre("refunds@2", "returns@1", "refunds@1"));
  PolicyQuery query;
  query.policy = "refunds";
  EXPECT_THAT(revisions(query), ElementsAre("refunds@2", "refunds@1"));
  query.range.limit = 1;
  query.range.after = store_->policies(kTenant, query).next;
  EXPECT_THAT(revisions(query), ElementsAre("refunds@1"));
}

TEST_P(ReadingContract, OldRecords_GoOldestFirstAFewAtATimeForEveryTenant) {
  for (int i = 0; i < 10; ++i) commit(failing_run(1000 + i, std::to_string(i), "false_success", 95, "f"));
  for (int i = 0; i < 5; ++i) commit(run_at_time(1000 + i, std::to_string(i), kOther));
  Retention retention;
  retention.runs_before_ms = 1008;
  Expired gone = store_->expire(retention, 3);
  EXPECT_EQ(gone.runs, 3u);
  EXPECT_TRUE(gone.more);
  EXPECT_FALSE(store_->find_run(kTenant, "2"));
  EXPECT_TRUE(store_->find_run(kTenant, "3"));
  while (gone.more) gone = store_->expire(retention, 3);
  EXPECT_THAT(run_ids({}), ElementsAre("9", "8"));
  EXPECT_THAT(store_->runs(kOther, {}).items, IsEmpty());
  EXPECT_EQ(store_->count_runs(kTenant, kBeginningMs, kEndMs), 2u);
  EXPECT_THAT(store_->failures(kTenant, {}).items, SizeIs(10));
  retention.failures_before_ms = 1005;
  store_->expire(retention, 100);
  EXPECT_THAT(store_->failures(kTenant, {}).items, SizeIs(5));
  EXPECT_EQ(store_->fingerprint_stats(kTenant, "f").failures, 5u);
  EXPECT_EQ(store_->fingerprint_stats(kTenant, "f").first_ms, 1005);
  EXPECT_EQ(store_->expire(retention, 100).total(), 0u);
}

TEST_P(ReadingContract, NewRunWithTheIdOfAnExpiredOne_IsNew) {
  commit(run_at_time(1000, "r"));
  Retention retention;
  retention.runs_before_ms = 2000;
  store_->expire(retention, 10);
  EXPECT_EQ(commit(sample_run(kTenant, {3000, store_->next_seq()}, "r", "other")).outcome, Outcome::stored);
}

TEST_P(ReadingContract, OpenRuns_StayUntilTheyAreResolved) {
  EventsWrite events;
  events.tenant = kTenant;
  events.key = {1000, store_->next_seq()};
  events.run_id = "open";
  events.events = {{"1", "a"}};
  commit(events);
  commit(run_at_time(1001, "whole"));
  Retention retention;
  retention.runs_before_ms = 2000;
  EXPECT_EQ(store_->expire(retention, 10).runs, 1u);
  EXPECT_TRUE(store_->find_run(kTenant, "open"));
  retention.open_runs_too = true;
  EXPECT_EQ(store_->expire(retention, 10).runs, 1u);
  EXPECT_FALSE(store_->find_run(kTenant, "open"));
  EXPECT_EQ(store_->open_runs().count, 0u);
  EXPECT_THAT(store_->events(kTenant, events.key), IsEmpty());
}

TEST_P(ReadingContract, PolicyInForce_StaysHoweverOldItIs) {
  for (const auto& [revision, at_ms] : {std::pair{"1", 1000}, {"2", 2000}}) {
    PolicyWrite write = policy("refunds", revision, at_ms);
    write.policy.received_ms = at_ms;
    commit(write);
  }
  Retention retention;
  retention.policies_before_ms = 5000;
  EXPECT_EQ(store_->expire(retention, 10).policies, 1u);
  EXPECT_THAT(revisions({}), ElementsAre("refunds@2"));
  EXPECT_EQ(store_->expire(retention, 10).policies, 0u);
  EXPECT_EQ(commit(policy("refunds", "", 6000)).policy->revision, "3");
}

TEST_P(ReadingContract, BackdatedChangesAndPolicies_StayAsLongAsTheirReceiptIsRecent) {
  ChangeWrite late = change("code", 1000);
  late.change.received_ms = 9000;
  commit(late);
  ChangeWrite timely = change("runtime", 2000);
  timely.change.received_ms = 2000;
  commit(timely);
  for (const auto& [revision, at_ms] : {std::pair{"1", 1000}, {"2", 2000}}) {
    PolicyWrite write = policy("refunds", revision, at_ms);
    write.policy.received_ms = 9000;
    commit(write);
  }
  Retention retention;
  retention.changes_before_ms = retention.policies_before_ms = 5000;
  Expired gone = store_->expire(retention, 10);
  EXPECT_EQ(gone.changes, 1u);
  EXPECT_EQ(gone.policies, 0u);
  const auto kept = store_->changes(kTenant, {}).items;
  EXPECT_THAT(kept, SizeIs(3)) << "the revisions are changes, too";
  EXPECT_EQ(kept.back().kind, "code");
  retention.changes_before_ms = retention.policies_before_ms = 9001;
  gone = store_->expire(retention, 10);
  EXPECT_EQ(gone.changes, 3u);
  EXPECT_EQ(gone.policies, 1u) << "the other one is in force";
}

TEST_P(ReadingContract, OldAnswers_Go) {
  RunWrite write = run_at_time(clock_.wall_ms(), "r");
  write.idempotency = idempotency("k", "body");
  commit(write);
  EXPECT_EQ(store_->expire({}, 10).idempotency_keys, 0u);
  clock_.advance_ms(4 * 86'400'000ll);
  EXPECT_EQ(store_->expire({}, 10).idempotency_keys, 1u);
}

TEST_P(ReadingContract, OneTenantsRecords_GoAndNobodyElses) {
  commit(failing_run(1000, "mine", "false_success", 95, "f"));
  RunWrite keyed = run_at_time(1000, "keyed");
  keyed.idempotency = idempotency("k", "body");
  commit(keyed);
  commit(policy("refunds", "1", 1000));
  commit(change("code", 1000));
  commit(run_at_time(1000, "foreign", kOther));
  commit(change("code", 1000, kOther));
  Retention retention;
  retention.tenant = kTenant;
  retention.open_runs_too = true;
  retention.runs_before_ms = retention.failures_before_ms = retention.changes_before_ms = retention.policies_before_ms = kEndMs;
  const Expired gone = store_->expire(retention, 1000);
  EXPECT_EQ(gone.runs, 2u);
  EXPECT_EQ(gone.failures, 1u);
  EXPECT_EQ(gone.idempotency_keys, 1u);
  EXPECT_THAT(store_->runs(kTenant, {}).items, IsEmpty());
  EXPECT_THAT(store_->changes(kTenant, {}).items, IsEmpty());
  EXPECT_THAT(store_->policies(kTenant, {}).items, IsEmpty());
  EXPECT_THAT(store_->runs(kOther, {}).items, SizeIs(1));
  EXPECT_THAT(store_->changes(kOther, {}).items, SizeIs(1));
}

TEST_P(ReadingContract, Tenants_AreListedByName) {
  model::KeyRecord key;
  key.id = "key_1";
  key.tenant_name = "acme";
  const auto number = store_->put_key(key).tenant;
  ASSERT_THAT(store_->tenants(), SizeIs(1));
  EXPECT_EQ(store_->tenants()[0].name, "acme");
  EXPECT_EQ(store_->tenants()[0].id, number);
}

INSTANTIATE_TEST_SUITE_P(Engines, ReadingContract, kEngines, kEngineName);

}  // namespace
}  // namespace runwarden::store
