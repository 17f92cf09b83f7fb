// Two hosts on one database: what one of them did, the other one shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "model/record_ids.h"
#include "sample_opinions.h"
#include "store/postgres/engine.h"
#include "support/commit_together.h"
#include "support/fake_clock.h"
#include "support/postgres.h"
#include "support/sample_values.h"

namespace runwarden::store::postgres {
namespace {

using test::PostgresServer;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Outcome = WriteResult::Outcome;

template <class Ready>
bool comes_true(std::chrono::milliseconds within, Ready ready) {
  for (const auto until = std::chrono::steady_clock::now() + within; std::chrono::steady_clock::now() < until;) {
    if (ready()) return true;
    std::this_thread::yield();
  }
  return ready();
}

model::KeyRecord key_of(const std::string& id) {
  model::KeyRecord key;
  key.id = id;
  key.tenant_name = "acme";
  key.name = "ci";
  key.may_ingest = key.may_manage = true;
  key.digest = digest_of(id);
  key.created_ms = 5;
  return key;
}

class PostgresHostsTest : public ::testing::Test {
 protected:
  PostgresHostsTest() { settings_.connect.dsn = PostgresServer::shared().dsn(database_); }
  ~PostgresHostsTest() override { PostgresServer::shared().drop_database(database_); }

  std::unique_ptr<Store> open(Role role = Role::service) {
    settings_.time = DatabaseClock::Source::host;
    settings_.write_connections = 2;
    auto store = open_postgres(settings_, clock_, role);
    if (!store.ok()) throw std::runtime_error(store.error().detail);
    return std::move(*store);
  }
  // Waits until the store knows every change of keys up to now.
  bool hear(Store& store) {
    clock_.advance_ms(10);
    try {
      return store.look_for_keys();
    } catch (const StoreAway&) {
      return false;
    }
  }
  model::RecordKey new_key(Store& store) { return {clock_.wall_ms(), store.next_seq()}; }

  test::FakeClock clock_;
  const std::string database_ = PostgresServer::shared().make_database();
  PostgresSettings settings_;
};

TEST_F(PostgresHostsTest, WebhooksOfSeveralHosts_AreListedOldestFirst) {
  const auto one = open();
  const auto other = open();
  const model::TenantId tenant = one->put_key(key_of("a key")).tenant;
  std::vector<std::string> added;
  for (Store* const host : {other.get(), one.get(), other.get(), one.get()}) {
    model::Endpoint endpoint;
    endpoint.url = "https://receiver.example/hook";
    clock_.advance_ms(1);
    added.push_back(host->webhooks().add_endpoint(tenant, endpoint)->id);
  }
  std::vector<std::string> listed;
  for (const model::Endpoint& endpoint : one->webhooks().endpoints(tenant)) listed.push_back(endpoint.id);
  EXPECT_EQ(listed, added);
}

TEST_F(PostgresHostsTest, RevisionsOfOneTime_AreInForceInTheOrderInWhichTheyWereAccepted) {
  const auto one = open();
  const auto other = open();
  const model::TenantId tenant = one->put_key(key_of("a key")).tenant;
  const auto post = [&](Store& host) {
    PolicyWrite write;
    write.tenant = tenant;
    write.policy.key = {1'000, host.next_seq()};
    write.policy.id = model::make_policy_revision_id(write.policy.key);
    write.policy.policy = "refunds";
    write.idempotency = idempotency(write.policy.id, "content");
    const WriteResult result = test::commit(host, write);
    EXPECT_EQ(result.outcome, Outcome::stored);
    EXPECT_EQ(test::commit(host, write).policy->id, result.policy->id) << "as it was stored";
    return *result.policy;
  };
  std::set<std::uint64_t> numbers;
  for (Store* const host : {one.get(), other.get(), one.get(), one.get(), other.get(), one.get()}) {
    const model::PolicyRecord policy = post(*host);
    EXPECT_EQ(policy.id, model::make_policy_revision_id(policy.key));
    EXPECT_TRUE(numbers.insert(policy.key.seq).second);
    for (Store* const at : {one.get(), other.get()}) {
      EXPECT_EQ(at->policy_at(tenant, "refunds", 2'000)->revision, policy.revision);
      ASSERT_THAT(at->policies_at(tenant, 2'000), SizeIs(1));
      EXPECT_EQ(at->policies_at(tenant, 2'000)[0].revision, policy.revision);
    }
  }
  const auto third = open();
  EXPECT_TRUE(numbers.insert(third->next_seq()).second);
  EXPECT_GT(third->next_seq(), *numbers.rbegin());
}

TEST_F(PostgresHostsTest, ChangesOfOneTime_AreListedInTheOrderInWhichTheyWereAccepted) {
  const auto one = open();
  const auto other = open();
  const model::TenantId tenant = one->put_key(key_of("a key")).tenant;
  const auto change_at = [&](Store& host, const std::string& key) {
    ChangeWrite write{tenant, {}, idempotency(key, "content")};
    write.change.key = {1'000, host.next_seq()};
    write.change.id = model::make_change_id(write.change.key);
    write.change.kind = "code";
    write.change.document = "{}";
    const WriteResult result = test::commit(host, write);
    EXPECT_EQ(result.outcome, Outcome::stored);
    const std::string id = result.change ? result.change->id : write.change.id;
    EXPECT_EQ(test::commit(host, write).change->id, id) << "as it was stored";
    return id;
  };
  const auto policy_at = [&](Store& host, const std::string& name) {
    PolicyWrite write;
    write.tenant = tenant;
    write.policy.key = {1'000, host.next_seq()};
    write.policy.id = model::make_policy_revision_id(write.policy.key);
    write.policy.policy = name;
    return test::commit(host, write).change->id;
  };
  const std::vector<std::string> accepted{change_at(*other, "1"), change_at(*one, "2"),         policy_at(*one, "refunds"),
                                          change_at(*other, "3"), policy_at(*other, "returns"), change_at(*one, "4")};
  for (Store* const at : {one.get(), other.get()}) {
    std::vector<std::string> listed;
    for (const model::ChangeRecord& change : at->changes(tenant, {}).items) {
      EXPECT_EQ(change.id, model::make_change_id(change.key));
      listed.insert(listed.begin(), change.id);
    }
    EXPECT_EQ(listed, accepted);
  }
}

TEST_F(PostgresHostsTest, KeyThatOneMakes_TheOtherKnowsAtOnce) {
  const auto one = open();
  const auto other = open();
  const std::uint64_t before = other->keys_version();
  const model::KeyRecord made = one->put_key(key_of("key_1"));
  ASSERT_TRUE(hear(*other));
  EXPECT_NE(other->keys_version(), before);
  ASSERT_THAT(other->keys(), SizeIs(1));
  EXPECT_EQ(other->keys().front().tenant, made.tenant);
  EXPECT_EQ(other->keys().front().digest, made.digest);
  EXPECT_EQ(other->put_key(key_of("key_2")).tenant, made.tenant) << "a tenant has one number on all hosts";
}

TEST_F(PostgresHostsTest, KeyThatIsRevoked_TheOtherHearsOfWithinASecond) {
  const auto one = open();
  const auto other = open();
  model::KeyRecord key = one->put_key(key_of("key_1"));
  ASSERT_TRUE(hear(*other));
  const std::uint64_t before = other->keys_version();
  key.revoked_ms = 7;
  one->put_key(key);
  EXPECT_TRUE(comes_true(std::chrono::seconds(1), [&] { return other->keys_version() != before; }));
  EXPECT_EQ(other->keys().front().revoked_ms, 7);
}

TEST_F(PostgresHostsTest, QuestionsToAModel_AreClaimedByOneOfThemEach) {
  constexpr std::size_t kQuestions = 60;
  const auto one = open();
  const auto other = open();
  for (std::size_t i = 0; i < kQuestions; ++i) {
    RunWrite write = sample_run(kTenant, new_key(*one));
    write.opinions = {candidate_of(write.run, new_key(*one), "false_success")};
    test::commit(*one, std::move(write));
  }
  const auto claim_all = [&](Store& store) {
    std::vector<TenantOpinion> claimed;
    for (;;) {
      auto some = store.opinions().claim_due(clock_.wall_ms(), clock_.wall_ms() + 60'000, 4);
      if (some.empty()) return claimed;
      std::move(some.begin(), some.end(), std::back_inserter(claimed));
    }
  };
  auto by_other = std::async(std::launch::async, [&] { return claim_all(*other); });
  std::vector<TenantOpinion> claimed = claim_all(*one);
  for (auto& theirs : by_other.get()) claimed.push_back(std::move(theirs));
  std::set<std::string> ids;
  std::set<std::uint64_t> tokens;
  for (const TenantOpinion& claim : claimed) {
    ids.insert(claim.opinion.id);
    tokens.insert(claim.opinion.token);
  }
  EXPECT_EQ(claimed.size(), kQuestions);
  EXPECT_THAT(ids, SizeIs(kQuestions));
  EXPECT_THAT(tokens, SizeIs(kQuestions));
  EXPECT_FALSE(test::commit(*other, confirming(kTenant, claimed.front().opinion, new_key(*other), new_key(*other))).not_there)
      << "any host may tell what became of it";
  EXPECT_THAT(one->failures(kTenant, {}).items, SizeIs(1));
}

TEST_F(PostgresHostsTest, TenantsMadeAtOnce_HaveOneNumberEach) {
  const auto one = open();
  const auto other = open();
  const auto make = [](Store& store, const std::string& prefix) {
    for (int i = 0; i < 20; ++i) {
      model::KeyRecord key = key_of(prefix + std::to_string(i));
      key.tenant_name = "tenant " + std::to_string(i);
      store.put_key(key);
    }
  };
  std::thread beside([&] { make(*other, "b"); });
  make(*one, "a");
  beside.join();
  EXPECT_THAT(one->tenants(), SizeIs(20));
  std::set<model::TenantId> numbers;
  for (const model::Tenant& tenant : other->tenants()) numbers.insert(tenant.id);
  EXPECT_THAT(numbers, SizeIs(20));
}

TEST_F(PostgresHostsTest, Secret_IsTheSameOnBoth) {
  const auto one = open();
  const auto other = open();
  std::string there;
  std::thread beside([&] { there = *other->secret("cursor"); });
  const std::string here = *one->secret("cursor");
  beside.join();
  EXPECT_EQ(here, there);
}

TEST_F(PostgresHostsTest, Numbers_AreOfOneHostOnly) {
  const auto one = open();
  const auto other = open();
  EXPECT_NE(one->next_seq() >> 40, other->next_seq() >> 40);
}

TEST_F(PostgresHostsTest, HostsAreCounted_AlsoWhenOneGoes) {
  const auto one = open();
  auto other = open();
  EXPECT_EQ(other->hosts(), 2u);
  EXPECT_TRUE(comes_true(std::chrono::seconds(5), [&] { return one->hosts() == 2; }));
  EXPECT_EQ(open(Role::command)->hosts(), 2u) << "a command is none";
  other.reset();
  EXPECT_TRUE(comes_true(std::chrono::seconds(5), [&] { return one->hosts() == 1; }));
}

TEST_F(PostgresHostsTest, HostThatWasKilled_IsOneOnceItServesAgain) {
  settings_.store.state_dir = "/the/folder/of/one/host";
  open();
  Connection connection(settings_.connect);
  connection.query("UPDATE runwarden.host SET seen_ms = $1", std::move(Params().i64(clock_.wall_ms())));  // as though nobody had told that it goes
  EXPECT_EQ(open()->hosts(), 1u);
}

TEST_F(PostgresHostsTest, CrashMarkOfOne_TheOtherShows) {
  const auto one = open();
  const auto other = open();
  model::CrashMark mark;
  mark.tenant = kTenant;
  mark.key.time_ms = clock_.wall_ms();
  mark.detector_key = "loop";
  one->put_crash_mark(mark);
  ASSERT_THAT(other->crash_marks(), SizeIs(1));
  EXPECT_EQ(other->crash_marks().front().detector_key, "loop");
}

TEST_F(PostgresHostsTest, RetentionIsTheDutyOfOne_UntilItIsGone) {
  const auto one = open();
  auto other = open();
  model::CrashMark mark;
  mark.tenant = kTenant;
  for (int i = 0; i < 4; ++i) {
    mark.key.time_ms = 1000 + i;
    one->put_crash_mark(mark);
  }
  Retention retention;
  retention.runs_before_ms = 1001;
  EXPECT_EQ(one->expire(retention, 10).crash_marks, 1u);
  retention.runs_before_ms = 1002;
  EXPECT_EQ(other->expire(retention, 10).total(), 0u) << "the other one has the duty";
  EXPECT_FALSE(other->expire(retention, 10).more);
  clock_.advance_ms(16'000);
  EXPECT_EQ(other->expire(retention, 10).crash_marks, 1u);
  retention.runs_before_ms = 1003;
  EXPECT_EQ(one->expire(retention, 10).total(), 0u);
  other.reset();
  EXPECT_EQ(one->expire(retention, 10).crash_marks, 1u) << "who stops leaves its duty";
}

TEST_F(PostgresHostsTest, RunThatOneAcknowledged_TheOtherShows) {
  const auto one = open();
  const auto other = open();
  RunWrite write = sample_run(kTenant, new_key(*one), "r");
  write.failures.push_back(sample_failure({clock_.wall_ms(), one->next_seq()}));
  const WriteResult stored = test::commit(*one, write);
  ASSERT_EQ(stored.outcome, Outcome::stored) << stored.detail;
  ASSERT_TRUE(other->find_run(kTenant, "r"));
  EXPECT_EQ(other->find_run(kTenant, "r")->document, write.run.document);
  EXPECT_THAT(other->runs(kTenant, {}).items, SizeIs(1));
  EXPECT_THAT(other->failures(kTenant, {}).items, SizeIs(1));
  EXPECT_EQ(other->count_runs(kTenant, kBeginningMs, kEndMs), 1u);
  EXPECT_EQ(test::commit(*other, sample_run(kTenant, new_key(*other), "r")).outcome, Outcome::replayed);
  EXPECT_EQ(test::commit(*other, sample_run(kTenant, new_key(*other), "r", "else")).outcome, Outcome::run_conflict);
}

TEST_F(PostgresHostsTest, PagesOfOne_GoOnOnTheOther) {
  const std::vector<std::unique_ptr<Store>> hosts = [&] {
    std::vector<std::unique_ptr<Store>> opened;
    opened.push_back(open());
    opened.push_back(open());
    return opened;
  }();
  for (int i = 0; i < 25; ++i) {
    Store& host = *hosts[static_cast<std::size_t>(i) % 2];
    ASSERT_EQ(test::commit(host, sample_run(kTenant, {1000 + i / 2, host.next_seq()}, std::to_string(i), std::to_string(i))).outcome,
              Outcome::stored);
  }
  RunQuery query;
  query.range.limit = 4;
  std::vector<std::string> seen;
  for (std::size_t pages = 0; pages < 20; ++pages) {
    const auto page = hosts[pages % 2]->runs(kTenant, query);
    for (const auto& run : page.items) seen.push_back(run.run_id);
    if (!page.next) break;
    query.range.after = page.next;
  }
  EXPECT_THAT(seen, SizeIs(25));
  EXPECT_THAT(std::set<std::string>(seen.begin(), seen.end()), SizeIs(25));
}

TEST_F(PostgresHostsTest, OpenRunsOfBoth_AreCountedByBoth) {
  const auto one = open();
  const auto other = open();
  for (Store* host : {one.get(), other.get()}) {
    EventsWrite events;
    events.tenant = kTenant;
    events.key = new_key(*host);
    events.run_id = host == one.get() ? "a" : "b";
    events.events = {{"1", "{}"}};
    ASSERT_EQ(test::commit(*host, events).outcome, Outcome::stored);
  }
  for (Store* host : {one.get(), other.get()}) {
    EXPECT_TRUE(comes_true(std::chrono::seconds(5), [&] { return host->open_count() == 2; })) << host->open_count();
  }
}

TEST_F(PostgresHostsTest, PolicyOfOne_IsInForceOnTheOther) {
  const auto one = open();
  const auto other = open();
  PolicyWrite write;
  write.tenant = kTenant;
  write.policy.key = {1000, one->next_seq()};
  write.policy.id = model::make_policy_revision_id(write.policy.key);
  write.policy.policy = "refunds";
  write.policy.document = "{}";
  ASSERT_EQ(test::commit(*one, write).policy->revision, "1");
  EXPECT_EQ(other->policy_at(kTenant, "refunds", 2000)->revision, "1");
  write.policy.key = {1000, other->next_seq()};
  EXPECT_EQ(test::commit(*other, write).policy->revision, "2");
}

TEST_F(PostgresHostsTest, WhenTheDatabaseGoesAway_NothingIsWritable_UntilItIsBack) {
  PostgresServer server;
  settings_.connect.dsn = server.dsn(server.make_database());
  const auto store = open();
  store->put_key(key_of("key_1"));
  EXPECT_TRUE(store->writable().ok());
  server.stop("immediate");
  EXPECT_TRUE(comes_true(std::chrono::seconds(5), [&] { return !store->writable().ok(); }));
  EXPECT_THROW(store->keys(), StoreAway);
  EXPECT_FALSE(hear(*store));
  EXPECT_NO_THROW(store->release({})) << "its lease ends";
  EXPECT_EQ(test::commit(*store, sample_run(kTenant, new_key(*store), "r")).outcome, Outcome::away);
  server.start();
  EXPECT_TRUE(comes_true(std::chrono::seconds(10), [&] { return store->writable().ok(); }));
  EXPECT_THAT(store->keys(), SizeIs(1));
  EXPECT_TRUE(hear(*store));
  EXPECT_TRUE(comes_true(std::chrono::seconds(10),
                         [&] { return test::commit(*store, sample_run(kTenant, new_key(*store), "r")).outcome != Outcome::away; }));
  EXPECT_TRUE(store->find_run(kTenant, "r"));
}

TEST_F(PostgresHostsTest, WhenTheDatabaseBeginsToHang_NobodyWaitsForItsAnswerForLong) {
  const auto store = open();
  const model::TenantId tenant = store->put_key(key_of("key_1")).tenant;
  auto locking = PostgresServer::shared().admin(database_);
  locking.script("BEGIN; LOCK TABLE runwarden.note, runwarden.run, runwarden.lane IN ACCESS EXCLUSIVE MODE");
  const auto begun = std::chrono::steady_clock::now();
  auto read = std::async(std::launch::async, [&] { return store->find_run(tenant, "r"); });
  EXPECT_EQ(test::commit(*store, sample_run(tenant, new_key(*store), "r")).outcome, Outcome::away);
  EXPECT_THROW(read.get(), StoreAway);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(8));
  locking.script("COMMIT");
  EXPECT_TRUE(comes_true(std::chrono::seconds(10),
                         [&] { return test::commit(*store, sample_run(tenant, new_key(*store), "r")).outcome == Outcome::stored; }));
}

TEST_F(PostgresHostsTest, WhenTheDatabaseGoesAway_WithItsConnectionsOpen_NoWriteWaitsForItLong) {
  PostgresServer server;
  settings_.connect.dsn = server.dsn(server.make_database());
  const auto store = open();
  const model::TenantId tenant = store->put_key(key_of("key_1")).tenant;
  const auto submit = [&](const std::string& id) {
    const auto told = std::make_shared<std::promise<Outcome>>();
    const auto tell = [told](const WriteResult& result) { told->set_value(result.outcome); };
    if (!store->submit(sample_run(tenant, new_key(*store), id), tell)) told->set_value(Outcome::away);
    return told->get_future();
  };
  std::vector<std::pair<std::string, std::future<Outcome>>> told;
  const auto submit_some = [&] {
    for (int i = 0; i < 50; ++i) {
      const std::string id = "run " + std::to_string(told.size());
      told.emplace_back(id, submit(id));
    }
  };
  submit_some();
  ASSERT_EQ(told.front().second.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  submit_some();  // some of these are being committed
  server.freeze();
  const std::size_t frozen = told.size();
  submit_some();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  for (std::size_t i = frozen; i < told.size(); ++i) EXPECT_EQ(told[i].second.wait_until(until), std::future_status::ready) << i;
  server.thaw();
  for (auto& [id, outcome] : told) {
    ASSERT_EQ(outcome.wait_for(std::chrono::seconds(20)), std::future_status::ready) << id;
    const Outcome was = outcome.get();
    ASSERT_TRUE(was == Outcome::stored || was == Outcome::away) << id;
    std::optional<model::RunRecord> run;
    ASSERT_TRUE(comes_true(std::chrono::seconds(10), [&] {
      try {
        run = store->find_run(tenant, id);
        return true;
      } catch (const StoreAway&) {
        return false;
      }
    }));
    EXPECT_EQ(run.has_value(), was == Outcome::stored) << id;
  }
}

// Asked again and again meanwhile, as a service does whose connects fail at once.
TEST_F(PostgresHostsTest, RunThatFellDueWhileTheDatabaseWasAway_HasAGrace) {
  constexpr std::int64_t kLeaseMs = 10'000;
  PostgresServer server;
  settings_.connect.dsn = server.dsn(server.make_database());
  const auto store = open();
  BufferRules rules;
  rules.idle_ms = 1'000;
  EXPECT_THAT(store->claim(rules, 10, kLeaseMs), SizeIs(0));
  EventsWrite write;
  write.tenant = store->put_key(key_of("key_1")).tenant;
  write.key = new_key(*store);
  write.run_id = "r";
  write.events.push_back({"a", R"({"type":"tool_call","name":"t"})"});
  ASSERT_EQ(test::commit(*store, std::move(write)).outcome, Outcome::stored);
  server.stop("immediate");
  for (int i = 0; i < 15; ++i) {
    EXPECT_THROW(store->claim(rules, 10, kLeaseMs), StoreAway);
    clock_.advance_ms(200);
  }
  server.start();
  ASSERT_TRUE(comes_true(std::chrono::seconds(10), [&] { return store->writable().ok(); }));
  // Of the connections one may be back before another.
  const auto claimed = [&] {
    std::size_t runs = 0;
    EXPECT_TRUE(comes_true(std::chrono::seconds(10), [&] {
      try {
        runs = store->claim(rules, 10, kLeaseMs).size();
        return true;
      } catch (const StoreAway&) {
        return false;
      }
    }));
    return runs;
  };
  EXPECT_EQ(claimed(), 0u);
  clock_.advance_ms(29'000);
  EXPECT_EQ(claimed(), 0u);
  clock_.advance_ms(1'500);
  EXPECT_EQ(claimed(), 1u);
}

// As after a failover to a standby that was late: what was acknowledged is lost, but no host goes by what nobody else knows.
TEST_F(PostgresHostsTest, WhenTheDatabaseKnowsLessThanBefore_ChangesAreHeardOfAndNumbersStayUnique) {
  const auto one = open();
  for (const char* id : {"key_1", "key_2", "key_3"}) one->put_key(key_of(id));
  const std::uint64_t number = one->next_seq();
  const std::uint64_t before = one->keys_version();
  {
    Connection connection(settings_.connect);
    connection.script("BEGIN; UPDATE runwarden.counter SET value = 0 WHERE name IN ('note', 'start'); DELETE FROM runwarden.note; DELETE FROM runwarden.host;"
                      " DELETE FROM runwarden.api_key WHERE id = 'key_3'; COMMIT");
  }
  PostgresServer::shared().cut_connections(database_);
  const auto version = [&]() -> std::uint64_t {
    try {
      return one->keys_version();
    } catch (const StoreAway&) {
      return before;
    }
  };
  EXPECT_TRUE(comes_true(std::chrono::seconds(5), [&] { return version() != before; })) << "its keys may be others now";
  const std::uint64_t after = version();
  const auto other = open();
  EXPECT_NE(other->next_seq() >> 40, number >> 40);
  other->put_key(key_of("key_4"));
  ASSERT_TRUE(comes_true(std::chrono::seconds(5), [&] { return hear(*one); }));
  EXPECT_GT(one->keys_version(), after) << "though the note's number had been seen before";
}

TEST_F(PostgresHostsTest, SchemaOfAnotherVersion_IsRefusedWithTheRemedy) {
  open();
  Connection connection(settings_.connect);
  connection.query("UPDATE runwarden.migration SET version = version + 100, compatible = compatible + 100");
  auto newer = open_postgres(settings_, clock_, Role::service);
  ASSERT_FALSE(newer.ok());
  EXPECT_THAT(newer.error().detail, HasSubstr("upgrade this host"));
  connection.query("DELETE FROM runwarden.migration");
  connection.query("INSERT INTO runwarden.migration VALUES (1, 1, 'records', '', 0, '')");
  auto older = open_postgres(settings_, clock_, Role::service);
  ASSERT_FALSE(older.ok());
  EXPECT_THAT(older.error().detail, HasSubstr("runwarden migrate"));
}

TEST_F(PostgresHostsTest, EmptyPartitionsThatAreTooOld_AreDropped) {
  const auto store = open();
  ASSERT_EQ(test::commit(*store, sample_run(kTenant, {1000, store->next_seq()}, "old")).outcome, Outcome::stored);
  Connection connection(settings_.connect);
  const auto is_there = [&] { return connection.query("SELECT to_regclass('runwarden.run_d0') IS NOT NULL").boolean(0, 0); };
  EXPECT_TRUE(is_there());
  Retention retention;
  retention.runs_before_ms = retention.failures_before_ms = clock_.wall_ms() - 86'400'000;
  EXPECT_EQ(store->expire(retention, 10).runs, 1u);
  EXPECT_FALSE(is_there());
  EXPECT_EQ(test::commit(*store, sample_run(kTenant, {1000, store->next_seq()}, "old")).outcome, Outcome::stored) << "it is made again";
  EXPECT_THAT(store->runs(kTenant, {}).items, SizeIs(1));
}

}  // namespace
}  // namespace runwarden::store::postgres
