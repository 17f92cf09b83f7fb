// What is asked before runs are judged: many share a round trip, and each gets what is its own.
#include "store/postgres/look_ups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/record_ids.h"
#include "sample_records.h"
#include "store/postgres/engine.h"
#include "support/commit_together.h"
#include "support/fake_clock.h"
#include "support/postgres.h"
#include "support/sample_values.h"
#include "support/wait_until.h"

namespace runwarden::store::postgres {
namespace {

using test::PostgresServer;

class PostgresLookUpsTest : public ::testing::Test {
 protected:
  PostgresLookUpsTest() { settings_.connect.dsn = PostgresServer::shared().dsn(database_); }
  ~PostgresLookUpsTest() override { PostgresServer::shared().drop_database(database_); }

  std::unique_ptr<Store> open() {
    settings_.time = DatabaseClock::Source::host;
    auto store = open_postgres(settings_, clock_, Role::service);
    if (!store.ok()) throw std::runtime_error(store.error().detail);
    return std::move(*store);
  }
  static std::future<LookedUp> ask(Store& store, const LookUp& asked) {
    const auto answer = std::make_shared<std::promise<LookedUp>>();
    if (auto known = store.look_up(asked, [answer](LookedUp later) { answer->set_value(std::move(later)); })) answer->set_value(std::move(*known));
    return answer->get_future();
  }
  PolicyWrite policy(Store& store, const std::string& name, std::int64_t at_ms) {
    PolicyWrite write;
    write.tenant = kTenant;
    write.policy.key = {at_ms, store.next_seq()};
    write.policy.id = model::make_policy_revision_id(write.policy.key);
    write.policy.policy = name;
    write.policy.document = "{}";
    return write;
  }
  static std::vector<std::string> names(const std::vector<model::PolicyInForce>& policies) {
    std::vector<std::string> all;
    for (const auto& one : policies) all.push_back(one.policy + "@" + one.revision);
    return all;
  }

  test::FakeClock clock_;
  const std::string database_ = PostgresServer::shared().make_database();
  PostgresSettings settings_;
};

TEST_F(PostgresLookUpsTest, EachGetsWhatIsItsOwn) {
  const auto store = open();
  RunWrite run = sample_run(kTenant, {clock_.wall_ms(), store->next_seq()}, "known");
  run.idempotency = Idempotency{digest_of("key"), digest_of("content")};
  test::commit(*store, run);
  test::commit(*store, policy(*store, "b", 1000));
  test::commit(*store, policy(*store, "a", 2000));
  test::commit(*store, policy(*store, "b", 3000));
  struct Case {
    LookUp asked;
    bool has_run, has_identity;
    std::vector<std::string> policies;
  };
  const std::vector<Case> cases{
      {{kTenant, "known", digest_of("key"), 2500}, true, true, {"a@1", "b@1"}},
      {{kTenant, "unknown", digest_of("other"), 3000}, false, false, {"a@1", "b@2"}},
      {{kOther, "known", digest_of("key"), 3000}, false, false, {}},
      {{kTenant, "unknown", digest_of("key"), 999}, false, true, {}},
      {{kTenant, "known", std::nullopt, 1000}, true, true, {"b@1"}},
      {{kTenant, std::nullopt, digest_of("other"), 1000}, true, false, {"b@1"}},
      {{kTenant, std::string("no\0text", 7), std::nullopt, 1000}, true, true, {"b@1"}},
  };
  std::vector<std::future<LookedUp>> answers;
  for (int round = 0; round < 100; ++round) {
    for (const Case& one : cases) answers.push_back(ask(*store, one.asked));
  }
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Case& one = cases[i % cases.size()];
    const LookedUp known = answers[i].get();
    ASSERT_FALSE(known.fault);
    EXPECT_EQ(known.has_run, one.has_run) << i % cases.size();
    EXPECT_EQ(known.has_identity, one.has_identity) << i % cases.size();
    EXPECT_EQ(names(known.policies), one.policies) << i % cases.size();
  }
}

// A run that got its id from the service has no entry under its name.
TEST_F(PostgresLookUpsTest, IdThatSpellsAPlace_MayBeThere) {
  const auto store = open();
  const model::RecordKey key{clock_.wall_ms(), store->next_seq()};
  test::commit(*store, sample_run(kTenant, key, model::make_run_id(key)));
  EXPECT_TRUE(ask(*store, {kTenant, model::make_run_id(key), std::nullopt, 0}).get().has_run);
}

TEST_F(PostgresLookUpsTest, PolicyThatCannotBeRead_IsTheFaultOfThoseItConcerns) {
  const auto store = open();
  test::commit(*store, policy(*store, "a", 1000));
  Connection(settings_.connect).script("UPDATE runwarden.policy SET content = 'x'");
  auto concerned = ask(*store, {kTenant, std::nullopt, std::nullopt, 2000});
  auto other = ask(*store, {kOther, std::nullopt, std::nullopt, 2000});
  EXPECT_THROW(std::rethrow_exception(concerned.get().fault), StoreError);
  EXPECT_FALSE(other.get().fault);
}

// What comes during a round trip does not begin another one unless it fills it.
TEST_F(PostgresLookUpsTest, ThoseThatComeDuringARoundTrip_ShareTheNext) {
  constexpr int kMany = 40;
  const auto store = open();
  Pool pool(settings_.connect, 2);
  const DatabaseClock time(clock_, DatabaseClock::Source::host);
  Reads reads(pool, time, {});
  LookUps look_ups(reads, 2);
  std::vector<std::future<LookedUp>> answers;
  const auto ask_one = [&] {
    const auto answer = std::make_shared<std::promise<LookedUp>>();
    answers.push_back(answer->get_future());
    look_ups.ask({kTenant, "r", std::nullopt, 0}, [answer](LookedUp known) { answer->set_value(std::move(known)); });
  };
  Connection holding(settings_.connect);
  holding.script("BEGIN; LOCK TABLE runwarden.policy IN ACCESS EXCLUSIVE MODE");
  ask_one();
  ASSERT_TRUE(test::wait_until([&] { return look_ups.counts().round_trips == 1; }));
  for (int i = 0; i < kMany; ++i) ask_one();
  holding.script("COMMIT");
  for (auto& answer : answers) EXPECT_FALSE(answer.get().fault);
  EXPECT_EQ(look_ups.counts().asked, kMany + 1u);
  EXPECT_EQ(look_ups.counts().round_trips, 2u);
}

TEST_F(PostgresLookUpsTest, WithoutTheDatabase_EachIsToldWhy) {
  PostgresServer server;
  settings_.connect.dsn = server.dsn(server.make_database());
  Pool pool(settings_.connect, 2);
  const DatabaseClock time(clock_, DatabaseClock::Source::host);
  Reads reads(pool, time, {});
  LookUps look_ups(reads, 2);
  server.stop("immediate");
  std::vector<std::future<LookedUp>> answers;
  for (int i = 0; i < 10; ++i) {
    const auto answer = std::make_shared<std::promise<LookedUp>>();
    answers.push_back(answer->get_future());
    look_ups.ask({kTenant, "r", std::nullopt, 0}, [answer](LookedUp known) { answer->set_value(std::move(known)); });
  }
  look_ups.stop();
  for (auto& answer : answers) EXPECT_THROW(std::rethrow_exception(answer.get().fault), StoreAway);
  bool told = false;
  look_ups.ask({kTenant, "r", std::nullopt, 0}, [&](const LookedUp& known) { told = known.fault != nullptr; });
  EXPECT_TRUE(told) << "after the end";
}

}  // namespace
}  // namespace runwarden::store::postgres
