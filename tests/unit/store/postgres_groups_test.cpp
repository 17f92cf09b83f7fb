// Groups, dimensions, the tail and webhooks of two hosts that write to one database at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sample_reviews.h"
#include "store/postgres/engine.h"
#include "support/commit_together.h"
#include "support/fake_clock.h"
#include "support/postgres.h"
#include "support/sample_values.h"

namespace runwarden::store::postgres {
namespace {

using test::PostgresServer;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Outcome = WriteResult::Outcome;

constexpr int kRuns = 60;  // of a host

class PostgresGroupsTest : public ::testing::Test {
 protected:
  PostgresGroupsTest() {
    settings_.connect.dsn = PostgresServer::shared().dsn(database_);
    settings_.time = DatabaseClock::Source::host;
    settings_.write_connections = 2;
  }
  ~PostgresGroupsTest() override {
    one_.reset();
    other_.reset();
    PostgresServer::shared().drop_database(database_);
  }
  void open() {
    one_ = open_host();
    other_ = open_host();
  }
  std::unique_ptr<Store> open_host() {
    auto store = open_postgres(settings_, clock_, Role::service);
    if (!store.ok()) throw std::runtime_error(store.error().detail);
    return std::move(*store);
  }

  RunWrite run(Store& store, const std::vector<std::string>& fingerprints, const std::string& version = {}) {
    RunWrite write = sample_run(kTenant, {clock_.wall_ms(), store.next_seq()});
    if (!version.empty()) write.run.dimensions = {{"version", version}};
    for (const std::string& fingerprint : fingerprints) {
      write.failures.push_back(sample_failure({clock_.wall_ms(), store.next_seq()}, "d1", 90, fingerprint));
    }
    return write;
  }
  void commit(Store& store, Write write) {
    const WriteResult result = test::commit(store, std::move(write));
    ASSERT_EQ(result.outcome, Outcome::stored) << result.detail;
  }
  // Both hosts at once; each is given its number.
  template <class Work>
  void at_once(Work work) {
    std::thread beside([&] { work(*other_, 1); });
    work(*one_, 0);
    beside.join();
  }
  std::optional<model::Cluster> cluster(Store& store, const std::string& fingerprint) {
    return store.groups().find_cluster(kTenant, model::cluster_id(model::cluster_key(fingerprint)));
  }
  model::Endpoint add(std::vector<model::MessageType> events) {
    model::Endpoint endpoint;
    endpoint.url = "https://receiver.example/hook";
    endpoint.events = std::move(events);
    return *one_->webhooks().add_endpoint(kTenant, endpoint);
  }
  std::vector<model::Delivery> due(Store& store, const model::Endpoint& endpoint, std::size_t most = 1000) {
    return store.webhooks().due({kTenant, endpoint}, clock_.wall_ms(), most);
  }
  Attempt delivered(const model::Endpoint& endpoint, const model::Delivery& delivery) {
    return {kTenant, endpoint.key, delivery.key, clock_.wall_ms(), true, true, 200, "", {}, {}};
  }
  Span all() { return {clock_.wall_ms() - kDay, clock_.wall_ms() + 1}; }

  test::FakeClock clock_;
  const std::string database_ = PostgresServer::shared().make_database();
  PostgresSettings settings_;
  std::unique_ptr<Store> one_;
  std::unique_ptr<Store> other_;
};

TEST_F(PostgresGroupsTest, GroupThatBothBegin_IsOne_AndCountsTheFailuresOfBoth) {
  open();
  const auto endpoint = add({model::MessageType::cluster_created});
  at_once([&](Store& store, int) {
    for (int i = 0; i < kRuns; ++i) commit(store, run(store, {"a", "b" + std::to_string(i)}));
  });
  EXPECT_EQ(cluster(*one_, "a")->count, 2U * kRuns);
  EXPECT_EQ(one_->groups().count_affected(kTenant, Subject::of_cluster(model::cluster_key("a")), all()), 2U * kRuns);
  EXPECT_EQ(other_->groups().group_totals(kTenant).clusters, 1U + kRuns);
  EXPECT_THAT(due(*one_, endpoint), SizeIs(1 + kRuns)) << "each group is told once";
}

TEST_F(PostgresGroupsTest, GroupsOfBoth_StayBelowTheLimit) {
  settings_.store.max_clusters = 10;
  open();
  at_once([&](Store& store, int host) {
    for (int i = 0; i < 20; ++i) commit(store, run(store, {std::to_string(host * 100 + i)}));
  });
  std::size_t seen = 0;
  one_->groups().visit_clusters(kTenant, [&](const model::Cluster&) { ++seen; });
  EXPECT_EQ(seen, 10U);
  EXPECT_EQ(one_->groups().group_totals(kTenant).clusters, 10U);
  EXPECT_EQ(one_->groups().group_totals(kTenant).left_out, 30U);
}

TEST_F(PostgresGroupsTest, Tail_HasTheCommitsOfBoth_OnceEachAndWithoutGaps) {
  open();
  std::map<model::RecordKey, int> runs;
  std::uint64_t after = 0;
  const auto follow = [&] {
    while (true) {
      const TailPage page = one_->groups().tail(kTenant, after, 7);
      ASSERT_FALSE(page.too_old);
      for (const TailItem& item : page.items) ++runs[item.record];
      if (page.next == after) return;
      after = page.next;
    }
  };
  std::atomic<int> left{2};
  std::thread follower([&] {
    while (left > 0) follow();
  });
  at_once([&](Store& store, int) {
    for (int i = 0; i < kRuns; ++i) commit(store, run(store, {}));
    --left;
  });
  follower.join();
  follow();
  EXPECT_THAT(runs, SizeIs(2 * kRuns));
  for (const auto& [key, times] : runs) EXPECT_EQ(times, 1);
  EXPECT_EQ(after, other_->groups().last_commit(kTenant));
}

TEST_F(PostgresGroupsTest, ValuesOfBoth_HaveOneNumberEach_AndNoMoreThanTheMost) {
  open();
  at_once([&](Store& store, int) {
    for (int i = 0; i < 120; ++i) {
      const std::vector<Write> two{run(store, {}, "v" + std::to_string(i)), run(store, {}, "v" + std::to_string(239 - i))};
      for (const WriteResult& result : test::commit_together(store, two)) ASSERT_EQ(result.outcome, Outcome::stored) << result.detail;
    }
  });
  const auto rows = one_->groups().dimension_values(kTenant, std::nullopt, 1000);
  EXPECT_THAT(rows, SizeIs(kMostValues + 1));
  std::uint64_t runs = 0;
  for (const DimensionRow& row : rows) runs += row.runs;
  EXPECT_EQ(runs, 480U);
  for (const DimensionRow& row : rows) EXPECT_EQ(row.runs, row.value == model::kOtherValue ? 80U : 2U) << row.value;
}

// A database takes no text with a zero in it; a client's metadata may have one.
TEST_F(PostgresGroupsTest, ValueWithAZero_IsCounted) {
  open();
  const std::string value("1\0002", 3);
  commit(*one_, run(*one_, {"a"}, value));
  EXPECT_EQ(one_->groups().count_runs_with(kTenant, {"version", value}, all()), 1U);
  EXPECT_EQ(one_->groups().count_affected_with(kTenant, Subject::any(), {"version", value}, all()), 1U);
  EXPECT_EQ(one_->groups().count_affected(kTenant, Subject::of_detector(value), all()), 0U);
}

TEST_F(PostgresGroupsTest, WhatIsDue_IsOneHostsAtATime) {
  open();
  const auto endpoint = add({model::MessageType::failure_created});
  for (int i = 0; i < 10; ++i) commit(*one_, run(*one_, {"a"}));
  const auto first = due(*one_, endpoint, 4);
  const auto others = due(*other_, endpoint);
  ASSERT_THAT(first, SizeIs(4));
  ASSERT_THAT(others, SizeIs(6));
  std::set<std::string> ids;
  for (const auto& list : {first, others}) {
    for (const model::Delivery& one : list) ids.insert(one.id);
  }
  EXPECT_THAT(ids, SizeIs(10));
  EXPECT_THAT(due(*one_, endpoint), SizeIs(4)) << "what it has been given stays its own";
  other_->webhooks().settle(std::vector<Attempt>{delivered(endpoint, others[0])});
  clock_.advance_ms(PostgresWebhookStore::kLeaseMs - 1);
  EXPECT_THAT(due(*one_, endpoint), SizeIs(4));
  clock_.advance_ms(1);
  EXPECT_THAT(due(*one_, endpoint), SizeIs(9)) << "the other host has not been heard of for too long";
  EXPECT_THAT(due(*other_, endpoint), IsEmpty());
}

TEST_F(PostgresGroupsTest, FailedAttempt_IsAnyHostsNext) {
  open();
  const auto endpoint = add({model::MessageType::failure_created});
  commit(*one_, run(*one_, {"a"}));
  Attempt failed = delivered(endpoint, due(*one_, endpoint).at(0));
  failed.delivered = false;
  failed.status = 500;
  failed.next_ms = clock_.wall_ms() + 1000;
  one_->webhooks().settle(std::vector<Attempt>{failed});
  EXPECT_THAT(due(*other_, endpoint), IsEmpty());
  clock_.advance_ms(1000);
  EXPECT_THAT(due(*other_, endpoint), SizeIs(1));
  EXPECT_THAT(due(*one_, endpoint), IsEmpty());
}

TEST_F(PostgresGroupsTest, BothTakeAndSettle_WhileMoreComes_AndEachIsSentOnce) {
  open();
  const auto endpoint = add({model::MessageType::failure_created});
  std::mutex mutex;
  std::map<std::string, int> sent;
  at_once([&](Store& store, int) {
    for (int i = 0; i < kRuns; ++i) {
      commit(store, run(store, {"a"}));
      std::vector<Attempt> attempts;
      for (const model::Delivery& one : due(store, endpoint, 3)) {
        attempts.push_back(delivered(endpoint, one));
        const std::lock_guard lock(mutex);
        ++sent[one.id];
      }
      store.webhooks().settle(attempts);
    }
  });
  for (const model::Delivery& one : due(*one_, endpoint)) ++sent[one.id];
  EXPECT_THAT(sent, SizeIs(2 * kRuns));
  for (const auto& [id, times] : sent) EXPECT_EQ(times, 1) << id;
  DeliveryQuery waiting;
  waiting.range.limit = 1000;
  waiting.state = model::DeliveryState::pending;
  EXPECT_EQ(one_->webhooks().find_endpoint(kTenant, endpoint.id)->pending, one_->webhooks().deliveries(kTenant, endpoint.key, waiting).items.size());
}

// Failures come and go, groups are decided about, all at once: nobody waits for ever, and the heads say what there is.
TEST_F(PostgresGroupsTest, HeadsAgreeWithTheFailures_WhateverComesAtOnce) {
  open();
  add({model::MessageType::failure_created, model::MessageType::cluster_triaged, model::MessageType::cluster_rising});
  const std::vector<std::string> fingerprints{"a", "b", "c", "d"};
  std::thread deleting([&] {
    Retention retention;
    for (int i = 0; i < kRuns; ++i) {
      retention.failures_before_ms = retention.runs_before_ms = retention.changes_before_ms = retention.deliveries_before_ms = clock_.wall_ms() - 500;
      one_->expire(retention, 20);
      one_->webhooks().queue_rising(kTenant, model::cluster_key(fingerprints[static_cast<std::size_t>(i) % 4]));
    }
  });
  at_once([&](Store& store, int host) {
    for (int i = 0; i < kRuns; ++i) {
      if (host == 0) clock_.advance_ms(40);
      TriageWrite decision;
      decision.tenant = kTenant;
      decision.cluster = model::cluster_key(fingerprints[static_cast<std::size_t>(i) % 4]);
      decision.entry.key = {clock_.wall_ms(), store.next_seq()};
      decision.entry.action = i % 2 == 0 ? model::TriageAction::resolve : model::TriageAction::ignore;
      decision.entry.author = "ci";
      const std::vector<Write> writes{run(store, {fingerprints[static_cast<std::size_t>(i + host) % 4], fingerprints[static_cast<std::size_t>(i * 3) % 4]}, "1"), decision,
                                      run(store, {fingerprints[static_cast<std::size_t>(i + 2) % 4]}, "2")};
      for (const WriteResult& result : test::commit_together(store, writes)) ASSERT_EQ(result.outcome, Outcome::stored) << result.detail;
    }
  });
  deleting.join();
  std::size_t clusters = 0;
  one_->groups().visit_clusters(kTenant, [&](const model::Cluster& one) {
    ++clusters;
    EXPECT_EQ(one.count, one_->count_failures(kTenant, one.fingerprint, kBeginningMs, kEndMs)) << one.fingerprint;
  });
  EXPECT_EQ(one_->groups().group_totals(kTenant).clusters, clusters);
  std::uint64_t runs = 0;
  for (const DimensionRow& row : one_->groups().dimension_values(kTenant, std::nullopt, 10)) runs += row.runs;
  EXPECT_EQ(runs, one_->count_runs(kTenant, kBeginningMs, kEndMs));
}

// One host resolves runs again and again, so that their failures go and others come; both say what they think of the failures; the old ones expire.
TEST_F(PostgresGroupsTest, FalseAlarmsAreInNoCount_WhateverComesAtOnce) {
  open();
  add({model::MessageType::cluster_created, model::MessageType::cluster_triaged});
  std::mutex mutex;
  std::vector<model::FailureRecord> made;
  const auto resolve_again = [&](Store& store, const std::string& run_id, int i) {
    EventsWrite more;
    more.tenant = kTenant;
    more.key = {clock_.wall_ms(), store.next_seq()};
    more.run_id = run_id;
    more.events = {{"e" + std::to_string(i), "{}"}};
    more.final = true;
    const WriteResult buffered = test::commit(store, std::move(more));
    const auto claim = store.claim_run(kTenant, buffered.buffered->run, model::Resolution::final, kDay);
    if (!claim) return;
    RunWrite write = sample_run(kTenant, claim->run, run_id, std::to_string(i));
    write.run.revision = claim->revision;
    write.claim = claim;
    for (const char* fingerprint : {"a", "b"}) {
      write.failures.push_back(sample_failure({clock_.wall_ms(), store.next_seq()}, "d1", 90, fingerprint));
      write.failures.back().run = claim->run;
    }
    const std::vector<model::FailureRecord> failures = write.failures;
    test::commit(store, std::move(write));
    const std::lock_guard lock(mutex);
    made.insert(made.end(), failures.begin(), failures.end());
  };
  const auto say = [&](Store& store, std::size_t newer, model::ReviewVerdict verdict) {  // of the failure than which so many are newer
    const std::lock_guard lock(mutex);
    const model::FailureRecord& failure = made[made.size() - 1 - newer % made.size()];
    return ReviewWrite{kTenant, {review_of({clock_.wall_ms(), store.next_seq()}, failure, verdict)}, std::nullopt};
  };
  for (int i = 0; i < 3; ++i) resolve_again(*one_, "run" + std::to_string(i), 1000 + i);
  std::atomic<int> not_there{0};
  at_once([&](Store& store, int host) {
    constexpr std::array kVerdicts{model::ReviewVerdict::false_alarm, model::ReviewVerdict::right, model::ReviewVerdict::false_alarm,
                                   model::ReviewVerdict::none};
    for (int i = 0; i < kRuns; ++i) {
      const auto number = static_cast<std::size_t>(i);
      if (host == 0) {
        clock_.advance_ms(40);
        resolve_again(store, "run" + std::to_string(i % 3), i);
        Retention retention;
        retention.failures_before_ms = retention.changes_before_ms = clock_.wall_ms() - 1500;
        store.expire(retention, 20);
      }
      const std::vector<Write> writes{say(store, number * 7, kVerdicts[number % 4]), say(store, number % 6, kVerdicts[(number + 1) % 4]),
                                      say(store, number % 6, kVerdicts[(number / 4) % 4])};
      for (const WriteResult& result : test::commit_together(store, writes)) {
        ASSERT_EQ(result.outcome, Outcome::stored) << result.detail;
        not_there += result.not_there ? 1 : 0;
      }
    }
  });
  EXPECT_LT(not_there, 6 * kRuns);
  FailureQuery query;
  query.range.limit = 100'000;
  std::map<std::string, std::uint64_t> count;
  std::size_t false_alarms = 0;
  for (const model::FailureRecord& one : other_->failures(kTenant, query).items) {
    false_alarms += one.is_false_alarm() ? 1 : 0;
    count[one.fingerprint] += one.is_false_alarm() ? 0 : 1;
    auto said = model::ReviewVerdict::none;
    for (const model::Review& review : one_->reviews().reviews_of_run(kTenant, one.run)) {
      if (review.failure_id == one.id) said = review.verdict;
    }
    EXPECT_EQ(one.reviewed, said) << one.id;
  }
  EXPECT_GT(false_alarms, 0U);
  for (const std::string fingerprint : {"a", "b"}) {
    const auto found = cluster(*one_, fingerprint);
    EXPECT_EQ(found ? found->count : 0, count[fingerprint]) << fingerprint;
    EXPECT_EQ(one_->count_failures(kTenant, fingerprint, kBeginningMs, kEndMs), count[fingerprint]) << fingerprint;
  }
}

}  // namespace
}  // namespace runwarden::store::postgres
