// Writes through lanes of one and of several hosts, on a real server that fails in between.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "sample_records.h"
#include "store/postgres/lane.h"
#include "store/postgres/schema.h"
#include "support/postgres.h"
#include "support/postgres_proxy.h"
#include "support/sample_values.h"
#include "support/wait_until.h"

namespace runwarden::store::postgres {
namespace {

using Outcome = WriteResult::Outcome;
using model::Resolution;
using test::PostgresProxy;
using test::PostgresServer;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kCommit("COMMIT\0", 7);  // not the isolation level

// One process's part of the store.
class Host {
 public:
  Host(const ConnectSettings& connect, const ConnectSettings& direct, std::chrono::milliseconds patience = std::chrono::seconds(20))
      : time_(clock_), pool_(direct, 4) {
    Connection connection(direct);
    time_.look(connection);
    start_ = connection.query("UPDATE runwarden.counter SET value = value + 1 WHERE name = 'start' RETURNING value").number(0, 0);
    seq_ = static_cast<std::uint64_t>(start_) << 40;
    claims_.emplace(pool_, time_, nullptr);
    LaneSetup setup;
    setup.settings.connect = connect;
    setup.settings.write_connections = 1;
    setup.settings.patience = patience;
    setup.start = start_;
    setup.host = "host";
    setup.is_away = [this] { return away_.load(); };
    setup.next_seq = [this] { return next_seq(); };
    setup.settings.store.listener.on_unreadable = [](const std::string& text) { ADD_FAILURE() << text; };
    setup.settings.store.listener.on_rejected = [this](const std::string& text) { rejected_.push_back(text); };
    lane_.emplace(std::move(setup), clock_, time_, claims_->rules());
  }

  std::uint64_t next_seq() { return seq_++; }
  model::RecordKey new_key() { return {time_.now_ms(), next_seq()}; }
  Lane& lane() { return *lane_; }
  OpenRunClaims& claims() { return *claims_; }
  // Whether the watch has not heard from the database for too long.
  void set_away(bool away) { away_ = away; }
  std::int64_t start() const { return start_; }
  // The reports of rejected writes; for use between commits.
  const std::vector<std::string>& rejected() const { return rejected_; }

  std::future<WriteResult> submit(Write write) {
    const auto told = std::make_shared<std::promise<WriteResult>>();
    auto result = told->get_future();
    if (!lane_->submit(std::move(write), [told](WriteResult what) { told->set_value(std::move(what)); })) {
      WriteResult refused;
      refused.outcome = Outcome::away;
      told->set_value(std::move(refused));
    }
    return result;
  }
  WriteResult commit(Write write) { return submit(std::move(write)).get(); }
  // In one batch.
  std::vector<WriteResult> commit_together(std::vector<Write> writes) {
    std::promise<void> all_wait, writer_waits;
    lane_->run_between([&writer_waits, all = all_wait.get_future().share()] {
      writer_waits.set_value();
      all.wait();
    });
    writer_waits.get_future().wait();  // else the first may be taken beside this job
    std::vector<std::future<WriteResult>> told;
    for (Write& write : writes) told.push_back(submit(std::move(write)));
    all_wait.set_value();
    std::vector<WriteResult> results;
    for (auto& one : told) results.push_back(one.get());
    return results;
  }

 private:
  SystemClock clock_;
  DatabaseClock time_;
  Pool pool_;
  std::int64_t start_ = 0;
  std::atomic<std::uint64_t> seq_{0};
  std::atomic<bool> away_{false};
  std::vector<std::string> rejected_;
  std::optional<OpenRunClaims> claims_;
  std::optional<Lane> lane_;
};

class PostgresLaneTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::installed()) GTEST_SKIP() << "no PostgreSQL server is installed: apt-get install postgresql-15";
    database_ = PostgresServer::shared().make_database();
    direct_.dsn = PostgresServer::shared().dsn(database_);
    Connection connection(direct_);
    ASSERT_TRUE(raise_schema(connection, 0).ok());
  }
  std::unique_ptr<Host> host() { return std::make_unique<Host>(direct_, direct_); }
  std::int64_t number(const std::string& sql) {
    Connection connection(direct_);
    const Rows rows = connection.query(sql);
    if (rows.empty() || rows.is_null(0, 0)) throw std::runtime_error("nothing is answered to " + sql);
    return rows.number(0, 0);
  }
  // From then on each new run is refused with that SQLSTATE.
  void refuse_runs(const std::string& state) {
    Connection connection(direct_);
    connection.script(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'on the socket /there'"
        " USING ERRCODE = '" +
        state +
        "'; END $$; CREATE TRIGGER refuse BEFORE INSERT ON runwarden.run FOR EACH ROW"
        " EXECUTE FUNCTION refuse()");
  }
  std::int64_t runs() { return number("SELECT count(*) FROM runwarden.run"); }

  static EventsWrite events(Host& host, const std::string& run_id, const std::vector<std::string>& texts, bool final = false) {
    EventsWrite write;
    write.tenant = kTenant;
    write.key = host.new_key();
    write.run_id = run_id;
    write.final = final;
    for (const std::string& text : texts) {
      EventsWrite::Event event;
      event.id = text;
      event.json = text;
      write.events.push_back(event);
    }
    return write;
  }
  static RunWrite ending(const Claim& claim, Host& host, const std::string& fingerprint) {
    RunWrite write = sample_run(claim.tenant, claim.run, claim.run_id);
    write.run.revision = claim.revision;
    write.run.resolution = claim.resolution;
    write.failures.push_back(sample_failure(host.new_key(), "false_success", 95, fingerprint));
    write.claim = claim;
    return write;
  }

  ConnectSettings direct_;
  std::string database_;
};

TEST_F(PostgresLaneTest, Run_IsStoredOnceAndReplayedOrRefusedAfterwards) {
  const auto one = host();
  EXPECT_EQ(one->commit(sample_run(kTenant, one->new_key(), "r")).outcome, Outcome::stored);
  const WriteResult again = one->commit(sample_run(kTenant, one->new_key(), "r"));
  EXPECT_EQ(again.outcome, Outcome::replayed);
  ASSERT_TRUE(again.first);
  EXPECT_EQ(again.first->document, sample_run(kTenant, again.first->key, "r").run.document);
  EXPECT_EQ(one->commit(sample_run(kTenant, one->new_key(), "r", "other")).outcome, Outcome::run_conflict);
  EXPECT_EQ(one->commit(sample_run(2, one->new_key(), "r", "other")).outcome, Outcome::stored);
  EXPECT_EQ(runs(), 2);
}

TEST_F(PostgresLaneTest, RunWhoseIdSpellsItsPlace_IsKnownAgain) {
  const auto one = host();
  const RunWrite first = sample_run(kTenant, one->new_key());
  EXPECT_EQ(one->commit(first).outcome, Outcome::stored);
  EXPECT_EQ(number("SELECT count(*) FROM runwarden.head"), 0);
  EXPECT_EQ(one->commit(sample_run(kTenant, one->new_key(), first.run.run_id)).outcome, Outcome::replayed);
  EXPECT_EQ(one->commit(sample_run(kTenant, one->new_key(), first.run.run_id, "other")).outcome, Outcome::run_conflict);
  EXPECT_EQ(one->commit(events(*one, first.run.run_id, {"a"})).buffered->run, first.run.key);
  EXPECT_EQ(runs(), 1);
}

TEST_F(PostgresLaneTest, WritesOfOneBatch_AreDecidedInOrder) {
  const auto one = host();
  RunWrite keyed = sample_run(kTenant, one->new_key());
  keyed.idempotency = idempotency("k", "body");
  RunWrite keyed_again = sample_run(kTenant, one->new_key());
  keyed_again.idempotency = keyed.idempotency;
  RunWrite keyed_other = sample_run(kTenant, one->new_key());
  keyed_other.idempotency = idempotency("k", "other body");
  const auto results = one->commit_together({sample_run(kTenant, one->new_key(), "r"), sample_run(kTenant, one->new_key(), "r"),
                                             sample_run(kTenant, one->new_key(), "r", "other"), keyed, keyed_again, keyed_other,
                                             events(*one, "s", {"a", "b"}), events(*one, "s", {"b", "c"})});
  EXPECT_EQ(results[0].outcome, Outcome::stored);
  EXPECT_EQ(results[1].outcome, Outcome::replayed);
  EXPECT_EQ(results[2].outcome, Outcome::run_conflict);
  EXPECT_EQ(results[3].outcome, Outcome::stored);
  EXPECT_EQ(results[4].outcome, Outcome::replayed);
  EXPECT_EQ(results[4].first->key, keyed.run.key);
  EXPECT_EQ(results[5].outcome, Outcome::idempotency_conflict);
  EXPECT_EQ(results[6].buffered->accepted, 2u);
  EXPECT_EQ(results[7].buffered->accepted, 1u);
  EXPECT_EQ(one->lane().counts().batches, 1u);
  EXPECT_EQ(runs(), 3);
}

// The database is asked what it knows of a batch's runs unless all of them are new.
TEST_F(PostgresLaneTest, RunsThatAreKnown_AreKnownBesideNewOnes) {
  const auto one = host();
  const RunWrite spelled = sample_run(kTenant, one->new_key());
  one->commit_together({sample_run(kTenant, one->new_key(), "resolved"), spelled, events(*one, "open", {"a"})});
  const auto beside_new = [&](Write known) {
    return one->commit_together({sample_run(kTenant, one->new_key(), "new " + std::to_string(one->next_seq())), std::move(known)});
  };
  EXPECT_EQ(beside_new(sample_run(kTenant, one->new_key(), "resolved"))[1].outcome, Outcome::replayed);
  EXPECT_EQ(beside_new(sample_run(kTenant, one->new_key(), spelled.run.run_id))[1].outcome, Outcome::replayed);
  const auto open = beside_new(events(*one, "open", {"a", "b"}, true))[1].buffered;
  EXPECT_EQ(open->accepted, 1u);
  const std::vector<WriteResult> all_new = beside_new(events(*one, "opened", {"c", "d"}));
  EXPECT_EQ(all_new[0].outcome, Outcome::stored);
  EXPECT_EQ(all_new[1].buffered->accepted, 2u);

  const auto claim = one->claims().claim_run(kTenant, open->run, Resolution::final, kLeaseMs);
  ASSERT_TRUE(claim);
  EXPECT_EQ(beside_new(ending(*claim, *one, "f"))[1].outcome, Outcome::stored);
  EXPECT_EQ(runs(), 4 + 5);
}

TEST_F(PostgresLaneTest, PolicyRevisions_AreNumberedAcrossHosts) {
  const auto one = host();
  const auto other = host();
  const auto policy = [](Host& host, const std::string& revision, const std::string& content) {
    PolicyWrite write;
    write.tenant = kTenant;
    write.policy.key = host.new_key();
    write.policy.policy = "p";
    write.policy.revision = revision;
    write.policy.content = digest_of(content);
    return write;
  };
  EXPECT_EQ(one->commit(policy(*one, "", "a")).policy->revision, "1");
  EXPECT_EQ(other->commit(policy(*other, "99999999999999999999", "b")).outcome, Outcome::stored);
  EXPECT_EQ(one->commit(policy(*one, "", "c")).policy->revision, "100000000000000000000");
  EXPECT_EQ(other->commit(policy(*other, "1", "a")).outcome, Outcome::replayed);
  EXPECT_EQ(other->commit(policy(*other, "1", "z")).outcome, Outcome::run_conflict);
  EXPECT_EQ(number("SELECT version FROM runwarden.note WHERE what = 2"), 3);
}

TEST_F(PostgresLaneTest, EventsAndTheirEnd_GoFromHostToHost) {
  const auto one = host();
  const auto other = host();
  const auto run = one->commit(events(*one, "r", {"a", "b"})).buffered->run;
  EXPECT_EQ(other->commit(events(*other, "r", {"b", "c"}, true)).buffered->ends, Resolution::final);
  const auto claim = one->claims().claim_run(kTenant, run, Resolution::idle, kLeaseMs);
  ASSERT_TRUE(claim);
  EXPECT_FALSE(other->claims().claim_run(kTenant, run, Resolution::idle, kLeaseMs));
  EXPECT_THAT(one->claims().fetch(*claim).events, ElementsAre("a", "b", "c"));
  other->commit(events(*other, "r", {"late"}));
  const WriteResult ended = one->commit(ending(*claim, *one, "f"));
  EXPECT_EQ(ended.outcome, Outcome::stored) << ended.detail;
  EXPECT_EQ(number("SELECT revision FROM runwarden.open_run"), 2);
  const auto next = other->claims().claim_run(kTenant, run, Resolution::idle, kLeaseMs);
  ASSERT_TRUE(next);
  EXPECT_THAT(other->claims().fetch(*next).events, ElementsAre("a", "b", "c", "late"));
  EXPECT_EQ(other->commit(ending(*next, *other, "g")).outcome, Outcome::stored);
  EXPECT_EQ(number("SELECT count(*) FROM runwarden.failure"), 1);
  EXPECT_EQ(number("SELECT count(*) FROM runwarden.open_run"), 0);
  EXPECT_EQ(number("SELECT sum(open_runs)::bigint FROM runwarden.lane"), 0);
}

// A lock leaves its transaction in xmax.
TEST_F(PostgresLaneTest, RunThatTheLaneLeftOpen_IsKnownWithoutItsHead) {
  const auto one = host();
  const auto other = host();
  const auto run = one->commit(events(*one, "r", {"a", "b"})).buffered->run;
  const auto results = one->commit_together({events(*one, "r", {"b", "c"}), events(*one, "new", {"a"}), events(*one, "r", {"c", "d"})});
  EXPECT_EQ(results[0].buffered->accepted, 1u);
  EXPECT_EQ(results[0].buffered->run, run);
  EXPECT_EQ(results[1].buffered->accepted, 1u);
  EXPECT_EQ(results[2].buffered->accepted, 1u);
  EXPECT_EQ(number("SELECT xmax::text::bigint FROM runwarden.head WHERE run_id = 'r'"), 0);
  EXPECT_EQ(number("SELECT count(*) FROM runwarden.event_id"), 5);
  EXPECT_EQ(other->commit(events(*other, "r", {"d", "e"})).buffered->accepted, 1u);
  EXPECT_NE(number("SELECT xmax::text::bigint FROM runwarden.head WHERE run_id = 'r'"), 0) << "another host has to look for it";
}

TEST_F(PostgresLaneTest, RunThatIsNoLongerOpen_IsLookedForAgain) {
  const auto one = host();
  const auto other = host();
  const auto run = one->commit_together({events(*one, "r", {"a"}), events(*one, "s", {"a"})})[0].buffered->run;
  const auto claim = other->claims().claim_run(kTenant, run, Resolution::idle, kLeaseMs);
  ASSERT_TRUE(claim);
  ASSERT_EQ(other->commit(ending(*claim, *other, "f")).outcome, Outcome::stored);
  const auto retries_before = one->lane().counts().retries;
  const auto results = one->commit_together({events(*one, "s", {"a", "b"}), events(*one, "r", {"a", "late"}), events(*one, "new", {"a"})});
  EXPECT_EQ(results[0].buffered->accepted, 1u);
  EXPECT_EQ(results[1].buffered->accepted, 1u);
  EXPECT_TRUE(results[1].buffered->reopened);
  EXPECT_EQ(results[1].buffered->run, run);
  EXPECT_EQ(results[2].buffered->accepted, 1u);
  EXPECT_EQ(number("SELECT count(*) FROM runwarden.event_id"), 5);
  EXPECT_EQ(number("SELECT sum(open_runs)::bigint FROM runwarden.lane"), 3);
  EXPECT_EQ(one->commit(events(*one, "r", {"late", "later"})).buffered->accepted, 1u);
  EXPECT_EQ(one->lane().counts().retries, retries_before);
}

TEST_F(PostgresLaneTest, RunThatBeganAnewElsewhere_IsNotTakenForTheOldOne) {
  const auto one = host();
  const auto other = host();
  const auto old = one->commit(events(*one, "r", {"a", "b"})).buffered->run;
  {
    Connection connection(direct_);
    connection.script(
        "DELETE FROM runwarden.open_run; DELETE FROM runwarden.head; DELETE FROM runwarden.run; DELETE FROM runwarden.event; DELETE FROM "
        "runwarden.event_id");
  }
  const auto begun = other->commit(events(*other, "r", {"a"})).buffered->run;
  const auto buffered = one->commit(events(*one, "r", {"a", "b"})).buffered;
  EXPECT_NE(begun, old);
  EXPECT_EQ(buffered->run, begun);
  EXPECT_EQ(buffered->accepted, 1u);
  EXPECT_EQ(number("SELECT count(*) FROM runwarden.event_id"), 2);
}

TEST_F(PostgresLaneTest, RunWhoseDayIsGone_BeginsAnew) {
  const auto one = host();
  const auto old = one->commit(events(*one, "r", {"a"})).buffered->run;
  {
    Connection connection(direct_);
    connection.script("DELETE FROM runwarden.open_run; DELETE FROM runwarden.head");
    const std::string day = std::to_string(old.time_ms / 86'400'000);
    for (const std::string table : {"run", "event", "event_id"}) connection.script("DROP TABLE runwarden." + table + "_d" + day);
  }
  const auto buffered = one->commit_together({events(*one, "s", {"a"}), events(*one, "r", {"a"})})[1].buffered;
  ASSERT_TRUE(buffered);
  EXPECT_NE(buffered->run, old);
  EXPECT_EQ(buffered->accepted, 1u);
}

TEST_F(PostgresLaneTest, EventsThatAreRefused_LeaveTheirIdsToOthers) {
  const auto one = host();
  EventsWrite first = events(*one, "r", {"a"});
  first.idempotency = idempotency("k", "body");
  one->commit(first);
  EventsWrite other_body = events(*one, "r", {"b"});
  other_body.idempotency = idempotency("k", "other body");
  EventsWrite other_source = events(*one, "r", {"c"});
  other_source.source = model::RunSource::otlp;
  const auto results = one->commit_together({other_body, other_source, events(*one, "r", {"d"}), sample_run(kTenant, one->new_key(), "s")});
  EXPECT_EQ(results[0].outcome, Outcome::idempotency_conflict);
  EXPECT_EQ(results[1].outcome, Outcome::run_conflict);
  EXPECT_EQ(results[2].buffered->accepted, 1u);
  EXPECT_EQ(number("SELECT count(*) FROM runwarden.event_id"), 2);
  EXPECT_EQ(one->commit(events(*one, "r", {"a", "b", "c", "d"})).buffered->accepted, 2u);
}

TEST_F(PostgresLaneTest, WholeRunBesideEventsOfTheSameRun_IsAConflict) {
  const auto one = host();
  one->commit(events(*one, "r", {"a"}));
  const auto results =
      one->commit_together({events(*one, "r", {"a", "b"}), sample_run(kTenant, one->new_key(), "r"), events(*one, "r", {"b", "c"})});
  EXPECT_EQ(results[0].buffered->accepted, 1u);
  EXPECT_EQ(results[1].outcome, Outcome::run_conflict);
  EXPECT_EQ(results[2].buffered->accepted, 1u);
  EXPECT_EQ(number("SELECT count(*) FROM runwarden.event_id"), 3);
}

TEST_F(PostgresLaneTest, HostFrozenPastItsLease_EndsNothingAndNothingOfItsJudgementStays) {
  const auto frozen = host();
  const auto other = host();
  const auto run = frozen->commit(events(*frozen, "r", {"a"})).buffered->run;
  const Claim lost = *frozen->claims().claim_run(kTenant, run, Resolution::idle, 0);
  // Each host follows the database's clock for itself, so the lease may end later for this one.
  std::optional<Claim> taken;
  ASSERT_TRUE(test::wait_until([&] { return (taken = other->claims().claim_run(kTenant, run, Resolution::idle, kLeaseMs)).has_value(); }));
  const Claim& held = *taken;
  EXPECT_THAT(frozen->claims().renew({&lost, 1}, kLeaseMs), ElementsAre(false));
  frozen->claims().release(lost);
  const WriteResult refused = frozen->commit(ending(lost, *frozen, "lost"));
  EXPECT_EQ(refused.outcome, Outcome::run_conflict);
  EXPECT_EQ(number("SELECT count(*) FROM runwarden.failure"), 0);
  EXPECT_EQ(other->commit(ending(held, *other, "held")).outcome, Outcome::stored);
  EXPECT_EQ(frozen->commit(ending(lost, *frozen, "lost")).outcome, Outcome::run_conflict);
  EXPECT_EQ(number("SELECT count(*) FROM runwarden.failure"), 1);
}

TEST_F(PostgresLaneTest, RecordsOfADayWithoutPartitions_AreStored) {
  const auto one = host();
  EXPECT_EQ(one->commit(sample_run(kTenant, {0, one->next_seq()}, "old")).outcome, Outcome::stored);
  EXPECT_EQ(one->commit(events(*one, "r", {"a"})).outcome, Outcome::stored);
  EXPECT_EQ(runs(), 2);
}

TEST_F(PostgresLaneTest, WriteThatTheDatabaseCannotHold_IsLeftOutAlone) {
  const auto one = host();
  const auto results =
      one->commit_together({sample_run(kTenant, one->new_key(), "a"), sample_run(kTenant, one->new_key(), std::string("b\0c", 3)),
                            sample_run(kTenant, one->new_key(), "d")});
  EXPECT_EQ(results[0].outcome, Outcome::stored);
  EXPECT_EQ(results[1].outcome, Outcome::unavailable);
  EXPECT_EQ(results[2].outcome, Outcome::stored);
  EXPECT_EQ(runs(), 2);
}

TEST_F(PostgresLaneTest, WritesThatTheDatabaseRejects_AreReportedAsSuchEach) {
  const auto one = host();
  refuse_runs("42501");
  const auto results = one->commit_together({sample_run(kTenant, one->new_key(), "a"), sample_run(kTenant, one->new_key(), "b")});
  for (const WriteResult& result : results) {
    EXPECT_EQ(result.outcome, Outcome::unavailable);
    EXPECT_THAT(result.detail, AllOf(HasSubstr("42501"), Not(HasSubstr("/there"))));
  }
  EXPECT_THAT(one->rejected(), ElementsAre(HasSubstr("/there"), HasSubstr("/there")));
}

TEST_F(PostgresLaneTest, CanceledWrites_AreRefusedUntilLater_AndReportedOnce) {
  const auto one = host();
  refuse_runs("57014");
  for (int i = 0; i < 3; ++i) {
    const WriteResult refused = one->commit(sample_run(kTenant, one->new_key(), "a"));
    EXPECT_EQ(refused.outcome, Outcome::away);
    EXPECT_THAT(refused.detail, AllOf(HasSubstr("canceled"), HasSubstr("retry"), Not(HasSubstr("/there"))));
  }
  EXPECT_THAT(one->rejected(), ElementsAre(HasSubstr("/there")));
}

TEST_F(PostgresLaneTest, HostsThatRace_StoreEachRunAndEachIdentityOnce) {
  std::vector<std::unique_ptr<Host>> hosts;
  for (int i = 0; i < 3; ++i) hosts.push_back(host());
  constexpr int kRounds = 60;
  std::vector<std::vector<std::future<WriteResult>>> by_id(kRounds), by_key(kRounds);
  for (int round = 0; round < kRounds; ++round) {
    for (const auto& one : hosts) {
      by_id[round].push_back(one->submit(sample_run(kTenant, one->new_key(), "run " + std::to_string(round))));
      RunWrite keyed = sample_run(kTenant, one->new_key());
      keyed.idempotency = idempotency("key " + std::to_string(round), "body");
      by_key[round].push_back(one->submit(keyed));
    }
  }
  for (auto* const raced : {&by_id, &by_key}) {
    for (auto& round : *raced) {
      std::vector<model::RecordKey> first;
      int stored = 0;
      for (auto& one : round) {
        const WriteResult result = one.get();
        stored += result.outcome == Outcome::stored ? 1 : 0;
        if (result.outcome != Outcome::stored) {
          ASSERT_EQ(result.outcome, Outcome::replayed) << result.detail;
          first.push_back(result.first->key);
        }
      }
      EXPECT_EQ(stored, 1);
      EXPECT_THAT(first, ::testing::Each(first.front()));
    }
  }
  EXPECT_EQ(runs(), 2 * kRounds);
}

TEST_F(PostgresLaneTest, ConnectionsThatAreEndedAgainAndAgain_LoseNothingAndDoubleNothing) {
  const auto one = host();
  const auto other = host();
  std::vector<std::pair<std::string, WriteResult>> told;
  for (int round = 0; round < 20; ++round) {
    std::vector<std::pair<std::string, std::future<WriteResult>>> sent;
    for (int i = 0; i < 20; ++i) {
      Host& host = i % 2 == 0 ? *one : *other;
      const std::string id = "run " + std::to_string(round) + " " + std::to_string(i);
      RunWrite write = sample_run(kTenant, host.new_key(), id);
      write.failures.push_back(sample_failure(host.new_key()));
      sent.emplace_back(id, host.submit(write));
      if (i == round) PostgresServer::shared().cut_connections(database_);
    }
    for (auto& [id, result] : sent) told.emplace_back(id, result.get());
  }
  std::multiset<std::string> there;
  Connection connection(direct_);
  const Rows rows = connection.query("SELECT run_id FROM runwarden.run");
  for (std::size_t row = 0; row < rows.size(); ++row) there.emplace(rows.bytes(row, 0));
  int stored = 0;
  for (const auto& [id, result] : told) {
    const Outcome outcome = result.outcome;
    ASSERT_TRUE(outcome == Outcome::stored || outcome == Outcome::away) << static_cast<int>(outcome) << result.detail;
    EXPECT_EQ(there.count(id), outcome == Outcome::stored ? 1u : 0u) << id;
    stored += outcome == Outcome::stored ? 1 : 0;
  }
  EXPECT_GT(stored, 0);
  EXPECT_EQ(number("SELECT count(*) FROM runwarden.failure"), stored);
  EXPECT_EQ(number("SELECT count(*) FROM runwarden.head"), stored);
}

// What the server does to a statement of a batch, once: each ends the statement, its transaction or its connection.
struct StatementFault {
  const char* name;
  const char* sql;  // of PL/pgSQL
  Outcome outcome;
};
class PostgresStatementTest : public PostgresLaneTest, public ::testing::WithParamInterface<StatementFault> {
 protected:
  // A sequence counts what a transaction that is rolled back did, too.
  void break_once(const std::string& table, const char* timing, const char* calls) {
    Connection(direct_).script(std::string("DROP SEQUENCE IF EXISTS public.once; CREATE SEQUENCE public.once;"
                                           " CREATE OR REPLACE FUNCTION break_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                                           " IF nextval('public.once') = 1 THEN ") +
                               GetParam().sql + "; END IF; RETURN NULL; END $$; CREATE " + timing + " ON runwarden." + table + calls);
  }
  void mend(const std::string& table) { Connection(direct_).script("DROP TRIGGER broken ON runwarden." + table); }
};

TEST_P(PostgresStatementTest, BatchThatIsBrokenAtAStatement_IsStoredOnceOrNotAtAll) {
  const auto first = host();
  const auto opened = first->commit(events(*first, "r", {"a"}, true)).buffered->run;
  std::int64_t stored = 1;
  const auto try_it = [&](const std::string& table, const char* timing, const char* calls) {
    SCOPED_TRACE(table + " " + timing);
    const auto one = host();  // which has not met a database that is away
    ASSERT_EQ(one->commit(CanaryWrite{sample_run(kTenant, one->new_key()).run}).outcome, Outcome::stored);
    const std::string id = "run " + table + timing;
    const auto claim = one->claims().claim_run(kTenant, opened, Resolution::idle, 0);
    ASSERT_TRUE(claim);
    break_once(table, timing, calls);
    RunWrite run = sample_run(kTenant, one->new_key(), id);
    run.failures.push_back(sample_failure(one->new_key()));
    run.idempotency = idempotency(id, "body");
    PolicyWrite policy;
    policy.tenant = kTenant;
    policy.policy.key = one->new_key();
    policy.policy.policy = id;
    const std::vector<WriteResult> results = one->commit_together({run, policy, ending(*claim, *one, "f"), events(*one, "r", {id}, true)});
    EXPECT_GE(number("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM public.once"), GetParam().outcome == Outcome::away ? 1 : 2) << "the fault was not met";
    for (const WriteResult& result : results) EXPECT_EQ(result.outcome, GetParam().outcome) << result.detail;
    mend(table);
    if (GetParam().outcome == Outcome::stored) ++stored;
    EXPECT_EQ(runs(), stored);
    EXPECT_EQ(number("SELECT count(*) FROM runwarden.policy"), stored - 1);
    EXPECT_EQ(number("SELECT count(*) FROM runwarden.idempotency"), stored - 1);
    EXPECT_EQ(number("SELECT count(*) FROM runwarden.event"), stored);
    EXPECT_EQ(number("SELECT revision FROM runwarden.open_run"), stored);
    EXPECT_EQ(number("SELECT sum(open_runs)::bigint FROM runwarden.lane"), 1);
  };
  for (const char* table : {"lane", "head", "policy_head", "run", "open_run", "former", "event", "event_id", "failure", "change", "policy", "idempotency", "note"}) {
    try_it(table, "TRIGGER broken AFTER INSERT OR UPDATE OR DELETE", " FOR EACH STATEMENT EXECUTE FUNCTION break_once()");
  }
  try_it("policy", "CONSTRAINT TRIGGER broken AFTER INSERT", " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION break_once()");
}

INSTANTIATE_TEST_SUITE_P(Faults, PostgresStatementTest,
                         ::testing::Values(StatementFault{"terminated", "PERFORM pg_terminate_backend(pg_backend_pid())", Outcome::stored},
                                           StatementFault{"serialization", "RAISE EXCEPTION USING ERRCODE = '40001'", Outcome::stored},
                                           StatementFault{"deadlock", "RAISE EXCEPTION USING ERRCODE = '40P01'", Outcome::stored},
                                           StatementFault{"canceled", "RAISE EXCEPTION USING ERRCODE = '57014'", Outcome::away},
                                           StatementFault{"full", "RAISE EXCEPTION USING ERRCODE = '53100'", Outcome::away}),
                         [](const auto& fault) { return std::string(fault.param.name); });

// A lane whose connection goes through a proxy that keeps a COMMIT back.
class PostgresDoubtTest : public PostgresLaneTest {
 protected:
  void SetUp() override {
    PostgresLaneTest::SetUp();
    if (IsSkipped()) return;
    proxy_.emplace(PostgresServer::shared().socket());
    ConnectSettings through = direct_;
    through.dsn = proxy_->dsn(database_);
    through.prepared = false;  // so that each COMMIT is there to be read
    host_.emplace(through, direct_);
    ASSERT_EQ(host_->commit(sample_run(kTenant, host_->new_key(), "before")).outcome, Outcome::stored);
  }
  // What one who does not fence would take for the last batch that was committed.
  std::int64_t batch_as_it_stands() { return number("SELECT batch FROM runwarden.lane WHERE start = " + std::to_string(host_->start())); }

  std::optional<PostgresProxy> proxy_;
  std::optional<Host> host_;
};

TEST_F(PostgresDoubtTest, CommitThatArrivesLate_IsFoundByTheFenceAndNotWithoutIt) {
  const std::int64_t before = batch_as_it_stands();
  std::int64_t unfenced = -1;
  proxy_->keep_back(kCommit, [&] {
    unfenced = batch_as_it_stands();
    proxy_->when_sent("INSERT INTO runwarden.lane", [&] { proxy_->send_kept(); });
  });
  EXPECT_EQ(host_->commit(sample_run(kTenant, host_->new_key(), "late")).outcome, Outcome::stored);
  EXPECT_EQ(host_->lane().counts().doubts_committed, 1u);
  EXPECT_EQ(host_->lane().counts().doubts_refused, 0u);
  EXPECT_EQ(unfenced, before) << "the control: without the fence the batch counts as refused";
  EXPECT_GT(batch_as_it_stands(), before) << "and yet it is there";
  EXPECT_EQ(runs(), 2);
}

TEST_F(PostgresDoubtTest, CommitThatNeverArrives_IsRefusedAndTheBatchIsTriedAgain) {
  proxy_->keep_back(kCommit, [&] { proxy_->drop_kept(); });
  EXPECT_EQ(host_->commit(sample_run(kTenant, host_->new_key(), "lost")).outcome, Outcome::stored);
  EXPECT_EQ(host_->lane().counts().doubts_refused, 1u);
  EXPECT_EQ(runs(), 2);
}

TEST_F(PostgresDoubtTest, BatchThatBeginsAfterItWasRefused_CannotCommit) {
  // Its one round trip brings BEGIN and COMMIT.
  proxy_->keep_back(kCommit, nullptr);
  EventsWrite write = events(*host_, "", {"a"});
  write.run_id = model::make_run_id(write.key);
  EXPECT_EQ(host_->commit(write).outcome, Outcome::stored);
  EXPECT_EQ(host_->lane().counts().doubts_refused, 1u);
  const std::int64_t after = batch_as_it_stands();
  proxy_->send_kept();
  while (proxy_->answer().find("23502") == std::string::npos) {
    std::this_thread::yield();
  }
  EXPECT_EQ(batch_as_it_stands(), after);
  EXPECT_EQ(number("SELECT count(*) FROM runwarden.event"), 1);
}

// Each COMMIT of a run is sent, and then waits for as long as the test holds a lock.
class PostgresSilenceTest : public PostgresLaneTest {
 protected:
  void SetUp() override {
    PostgresLaneTest::SetUp();
    if (IsSkipped()) return;
    Connection(direct_).script(
        "CREATE FUNCTION wait_for_lock() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN "
        "NULL; END $$;"
        " CREATE CONSTRAINT TRIGGER wait_for_lock AFTER INSERT ON runwarden.head DEFERRABLE INITIALLY DEFERRED FOR EACH ROW"
        " EXECUTE FUNCTION wait_for_lock()");
    lock_.emplace(direct_);
    lock_->query("SELECT pg_advisory_lock(7)");
  }
  bool commit_waits() {
    return test::wait_until([&] { return number("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") == 1; });
  }
  void answer() { lock_->query("SELECT pg_advisory_unlock(7)"); }
  static constexpr std::chrono::seconds kSoon{5};

  std::optional<Connection> lock_;
};

TEST_F(PostgresSilenceTest, WritesBehindACommitThatTheDatabaseDoesNotAnswer_AreRefusedAtOnceAndTheCommitIsSettled) {
  const auto one = host();
  auto committing = one->submit(sample_run(kTenant, one->new_key(), "first"));
  ASSERT_TRUE(commit_waits());
  auto waiting = one->submit(sample_run(kTenant, one->new_key(), "second"));
  one->set_away(true);
  ASSERT_EQ(waiting.wait_for(kSoon), std::future_status::ready);
  EXPECT_EQ(waiting.get().outcome, Outcome::away);
  EXPECT_EQ(one->commit(sample_run(kTenant, one->new_key(), "third")).outcome, Outcome::away);
  EXPECT_THAT(one->lane().refuses_for(), HasSubstr("the database")) << "what does not take the next write is no full queue";
  EXPECT_NE(committing.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  answer();
  EXPECT_EQ(committing.get().outcome, Outcome::stored);
  EXPECT_EQ(one->lane().refuses_for(), "");
  EXPECT_EQ(one->lane().counts().doubts_committed, 1u);
  one->set_away(false);
  EXPECT_EQ(one->commit(sample_run(kTenant, one->new_key(), "fourth")).outcome, Outcome::stored);
  EXPECT_EQ(runs(), 2);
}

TEST_F(PostgresSilenceTest, CommitThatStaysInDoubt_IsGivenUpWhenThePatienceSinceItIsOver) {
  Host one(direct_, direct_, std::chrono::milliseconds(500));
  auto committing = one.submit(sample_run(kTenant, one.new_key(), "first"));
  ASSERT_TRUE(commit_waits());
  one.set_away(true);
  ASSERT_EQ(committing.wait_for(kSoon), std::future_status::ready);
  EXPECT_EQ(committing.get().outcome, Outcome::in_doubt);
  EXPECT_EQ(one.lane().counts().doubts_left, 1u);
  answer();
  one.set_away(false);
  ASSERT_TRUE(test::wait_until([&] { return one.commit(sample_run(kTenant, one.new_key(), "second")).outcome == Outcome::stored; }));
}

// A server of its own, which is stopped.
TEST(PostgresOutageTest, ServerThatStopsAtOnceAndStartsAgain_IsAwayAndThenWritten) {
  if (!PostgresServer::installed()) GTEST_SKIP() << "no PostgreSQL server is installed: apt-get install postgresql-15";
  PostgresServer server;
  ConnectSettings direct;
  direct.dsn = server.dsn(server.make_database());
  {
    Connection connection(direct);
    ASSERT_TRUE(raise_schema(connection, 0).ok());
  }
  Host host(direct, direct);
  ASSERT_EQ(host.commit(sample_run(kTenant, host.new_key(), "before")).outcome, Outcome::stored);
  server.stop("immediate");
  for (int i = 0; i < 20; ++i) {
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_EQ(host.commit(sample_run(kTenant, host.new_key(), "r")).outcome, Outcome::away);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(1));
  }
  server.start();
  const auto up = std::chrono::steady_clock::now();
  while (host.commit(sample_run(kTenant, host.new_key(), "r")).outcome == Outcome::away) {
    ASSERT_LT(std::chrono::steady_clock::now() - up, std::chrono::seconds(5));
  }
  EXPECT_EQ(host.commit(sample_run(kTenant, host.new_key(), "r")).outcome, Outcome::replayed);
  EXPECT_EQ(host.commit(sample_run(kTenant, host.new_key(), "before")).outcome, Outcome::replayed);
}

}  // namespace
}  // namespace runwarden::store::postgres
