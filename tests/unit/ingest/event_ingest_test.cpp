#include "ingest/event_ingest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/time_text.h"
#include "ingest/run_ingest.h"
#include "store/open_store.h"
#include "support/commit_together.h"
#include "support/fake_clock.h"
#include "support/temp_folder.h"

namespace runwarden::ingest {
namespace {

using Kind = IngestAnswer::Kind;
using ::testing::HasSubstr;
using ::testing::Not;

// Does to the store what the test says before it asks it.
class WatchedBuffer final : public store::EventBuffer {
 public:
  explicit WatchedBuffer(store::EventBuffer& real) : real_(real) {}

  std::vector<store::Claim> claim(const store::BufferRules& rules, std::size_t most, std::int64_t lease_ms) override {
    return real_.claim(rules, most, lease_ms);
  }
  std::optional<store::Claim> claim_run(model::TenantId tenant, const model::RecordKey& run, std::optional<model::Resolution> resolution,
                                        std::int64_t lease_ms) override {
    if (before_claim) before_claim();
    return real_.claim_run(tenant, run, resolution, lease_ms);
  }
  void release(const store::Claim& claim) override { real_.release(claim); }
  std::vector<bool> renew(std::span<const store::Claim> claims, std::int64_t lease_ms) override { return real_.renew(claims, lease_ms); }
  store::ClaimedRun fetch(const store::Claim& claim) override {
    if (before_fetch) before_fetch();
    return real_.fetch(claim);
  }
  std::uint64_t open_count() override { return real_.open_count(); }
  store::OpenRuns open_runs() override { return real_.open_runs(); }

  std::function<void()> before_claim;
  std::function<void()> before_fetch;

 private:
  store::EventBuffer& real_;
};

void go_away() {
  throw store::StoreAway("the database cannot be reached");
}

class EventIngestTest : public ::testing::Test {
 protected:
  static constexpr model::TenantId kAcme = 1;

  void TearDown() override {
    pool_.finish(WorkPool::kNoTimeoutMs);
    store_->drain();
  }

  std::unique_ptr<store::Store> open() {
    store::StoreSettings settings;
    settings.state_dir = folder_.path() / "store";
    settings.max_bytes = std::uint64_t{64} << 20;
    auto opened = store::open_store(settings, clock_, store::Role::command);
    if (!opened.ok()) throw std::runtime_error(opened.error().detail);
    return std::move(*opened);
  }
  std::shared_ptr<detect::DetectorSet> no_detectors() {
    detect::LoadContext context;
    context.clock = &clock_;
    auto set = detect::DetectorSet::load({}, std::move(context));
    if (!set.ok()) throw std::runtime_error(set.error().detail);
    return std::move(*set);
  }

  static std::string event_of(const std::string& id) { return R"({"type":"tool_call","eventId":")" + id + R"(","name":"t"})"; }
  // What an event of the run "r" that ends it is answered with.
  IngestAnswer post_final(const std::string& id) { return post_events(event_of(id), std::nullopt); }
  IngestAnswer post_events(const std::string& events, std::optional<model::Digest> idempotency) {
    return begin_events(events, idempotency).get();
  }
  IngestAnswer post(const std::string& body, std::optional<model::Digest> idempotency) { return begin(body, idempotency).get(); }
  std::future<IngestAnswer> begin_events(const std::string& events, std::optional<model::Digest> idempotency = std::nullopt) {
    return begin(R"({"runId":"r","final":true,"events":[)" + events + "]}", idempotency);
  }
  std::future<IngestAnswer> begin(const std::string& body, std::optional<model::Digest> idempotency) {
    auto answered = std::make_shared<std::promise<IngestAnswer>>();
    pool_.post([this, answered, body, idempotency](std::size_t worker) {
      IngestRequest request;
      request.tenant = kAcme;
      request.tenant_name = "acme";
      request.may_read = true;
      request.idempotency = idempotency;
      request.body = body;
      events_.take(worker, std::move(request), [answered](IngestAnswer answer) { answered->set_value(std::move(answer)); });
    });
    return answered->get_future();
  }
  // Has the ingest look for other hosts' results until it has one.
  IngestAnswer poke_until_answered(std::future<IngestAnswer> answer) {
    while (answer.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) events_.poke();
    return answer.get();
  }
  // A whole run, step by step, as a line of a batch goes.
  IngestAnswer post_whole(const std::string& body) {
    std::promise<IngestAnswer> answered;
    pool_.post([&](std::size_t worker) {
      IngestRequest request;
      request.tenant = kAcme;
      request.tenant_name = "acme";
      request.body = body;
      const RunIngest::PendingRun run = runs_.read(std::move(request), [&](IngestAnswer answer) { answered.set_value(std::move(answer)); });
      if (runs_.enqueue(run)) runs_.resume(worker, run);
    });
    return answered.get_future().get();
  }
  // Another host takes an event that ends the run "r", and holds the claim of it.
  store::Claim claimed_by_another(const std::string& id) {
    store::EventsWrite write;
    write.tenant = kAcme;
    write.key = {clock_.wall_ms(), store_->next_seq()};
    write.run_id = "r";
    write.events.push_back({id, event_of(id)});
    write.final = true;
    const auto buffered = test::commit(*store_, std::move(write)).buffered;
    auto claim = store_->claim_run(kAcme, buffered->run, *buffered->ends, kLeaseMs);
    if (!claim) throw std::runtime_error("there is nothing to claim");
    return std::move(*claim);
  }
  // Another host takes an event that does not end the run "r".
  void append_by_another(const std::string& id) {
    store::EventsWrite write;
    write.tenant = kAcme;
    write.key = {clock_.wall_ms(), store_->next_seq()};
    write.run_id = "r";
    write.events.push_back({id, event_of(id)});
    test::commit(*store_, std::move(write));
  }
  void end(const store::Claim& claim) {
    std::promise<bool> ended;
    pool_.post([&](std::size_t worker) {
      resolver_.resolve(worker, claim, [&](const Result<model::RunRecord>& run) { ended.set_value(run.ok()); });
    });
    ASSERT_TRUE(ended.get_future().get());
  }

  test::FakeClock clock_;
  test::TempFolder folder_;
  const std::unique_ptr<store::Store> store_ = open();
  WatchedBuffer buffer_{*store_};
  const std::shared_ptr<detect::DetectorSet> detectors_ = no_detectors();
  const Redaction redaction_{[] { return nullptr; }, {}};
  FairBudget reads_{std::uint64_t{1} << 20};
  KeyedQueue keyed_queue_;
  WorkPool pool_{2, [](const std::string& why) { ADD_FAILURE() << why; }};
  Judge judge_{{.store = *store_, .pool = pool_, .detectors = [this] { return detectors_; }, .on_verdict = [](const model::Verdict&) {}}};
  RunResolver resolver_{{buffer_,
                         *store_,
                         pool_,
                         clock_,
                         judge_,
                         redaction_,
                         {},
                         [](model::TenantId) { return std::string("acme"); },
                         [](const std::string& why) { ADD_FAILURE() << why; }},
                        {}};
  RunIngest runs_{{*store_, buffer_, *store_, pool_, clock_, keyed_queue_, judge_, redaction_}};
  EventIngest events_{{*store_, buffer_, *store_, pool_, clock_, keyed_queue_, resolver_, redaction_, reads_, {}, 2, 1}};
};

TEST_F(EventIngestTest, FinalEvents_EndTheirRun) {
  const IngestAnswer answer = post_final("a");
  EXPECT_EQ(answer.kind, Kind::created) << answer.error.detail;
  EXPECT_EQ(store_->find_run(kAcme, "r")->state, model::RunState::resolved);
}

TEST_F(EventIngestTest, FinalEventsOfANewRun_NeedNoRoomAmongOpenRuns) {
  store::EventsWrite other;
  other.tenant = kAcme;
  other.key = {clock_.wall_ms(), store_->next_seq()};
  other.run_id = "other";
  other.events.push_back({"o", event_of("o")});
  test::commit(*store_, std::move(other));
  ASSERT_EQ(store_->open_count(), 1u);
  EXPECT_EQ(post_final("a").kind, Kind::created);
  EXPECT_EQ(store_->open_count(), 1u);
}

TEST_F(EventIngestTest, EventsThatWouldOpenAResolvedRunAgain_NeedRoomLikeThoseOfANewOne) {
  const auto go_on = [&](const std::string& run, const std::string& event) {
    return post(R"({"runId":")" + run + R"(","events":[)" + event_of(event) + "]}", std::nullopt);
  };
  ASSERT_EQ(post_final("a").kind, Kind::created);
  ASSERT_EQ(go_on("other", "o").kind, Kind::buffered);
  const IngestAnswer reopening = go_on("r", "b");
  EXPECT_EQ(reopening.kind, Kind::refused);
  EXPECT_EQ(reopening.error.code, Code::unavailable);
  EXPECT_EQ(post_final("b").kind, Kind::created) << "it leaves no run open";
  EXPECT_EQ(go_on("other", "p").kind, Kind::created) << "it is open already, and ends with its second event";
  EXPECT_EQ(store_->open_count(), 0u);
}

TEST_F(EventIngestTest, NothingNewSentAgainAfterTheRunWentOn_IsAnsweredAsAtFirst) {
  const model::Digest key{7};
  post_final("1");
  const IngestAnswer first = post_events(event_of("1"), key);
  ASSERT_EQ(first.kind, Kind::replayed);
  ASSERT_THAT(first.body, HasSubstr(R"("revision":1)"));
  post_final("2");
  const IngestAnswer again = post_events(event_of("1"), key);
  EXPECT_EQ(again.kind, Kind::replayed);
  EXPECT_EQ(again.body, first.body);
}

TEST_F(EventIngestTest, FinalEventsOfSeveralRevisions_AreAnsweredWithTheLast) {
  const std::string events = event_of("a") + "," + event_of("b") + "," + event_of("c") + "," + event_of("d") + "," + event_of("e");
  const IngestAnswer answer = post_events(events, std::nullopt);
  EXPECT_EQ(answer.kind, Kind::created) << answer.error.detail;
  EXPECT_THAT(answer.body, HasSubstr(R"("revision":3)"));
  const auto run = store_->find_run(kAcme, "r");
  EXPECT_EQ(run->state, model::RunState::resolved);
  EXPECT_EQ(run->resolution, model::Resolution::final);
}

TEST_F(EventIngestTest, FinalEventsSentAgainAfterTheFirstOfSeveralRevisions_EndTheOthers) {
  const std::string events = event_of("a") + "," + event_of("b") + "," + event_of("c");
  int claims = 0;
  buffer_.before_claim = [&] {
    if (++claims == 2) go_away();
  };
  EXPECT_EQ(post_events(events, model::Digest{1}).kind, Kind::buffered);
  ASSERT_EQ(store_->find_run(kAcme, "r")->revision, 2u);
  const IngestAnswer again = post_events(events, model::Digest{1});
  EXPECT_EQ(again.kind, Kind::replayed) << again.error.detail;
  EXPECT_THAT(again.body, HasSubstr(R"("state":"resolved")"));
  EXPECT_THAT(again.body, HasSubstr(R"("revision":2)"));
  EXPECT_EQ(post_events(events, model::Digest{1}).body, again.body);
}

TEST_F(EventIngestTest, StoreThatGoesAwayBeforeTheClaim_LeavesTheEventsStoredAndSaysSo) {
  buffer_.before_claim = go_away;
  const IngestAnswer answer = post_final("a");
  EXPECT_EQ(answer.kind, Kind::buffered) << answer.error.detail;
  EXPECT_THAT(answer.body, HasSubstr(R"("state":"open","accepted":1)"));
  EXPECT_EQ(store_->open_count(), 1u);
}

TEST_F(EventIngestTest, StoreThatGoesAwayBeforeTheEventsAreRead_LeavesThemStoredAndSaysSo) {
  buffer_.before_fetch = go_away;
  const IngestAnswer answer = post_final("a");
  EXPECT_EQ(answer.kind, Kind::buffered) << answer.error.detail;
  EXPECT_THAT(answer.body, HasSubstr(R"("state":"open","accepted":1)"));
}

TEST_F(EventIngestTest, StoreThatGoesAwayBeforeAWholeRunIsStored_RefusesItUntilLater) {
  store::EventsWrite open;
  open.tenant = kAcme;
  open.key = {clock_.wall_ms(), store_->next_seq()};
  open.run_id = "r";
  open.events.push_back({"o", R"({"type":"run_started","userRequestText":"Refund order 8842"})"});
  test::commit(*store_, std::move(open));
  buffer_.before_claim = go_away;
  const IngestAnswer answer = post_whole(R"({"runId":"r"})");
  EXPECT_EQ(answer.kind, Kind::refused);
  EXPECT_EQ(answer.error.code, Code::unavailable) << answer.error.detail;
  EXPECT_GT(answer.error.retry_after_s, 0);
  buffer_.before_claim = nullptr;
  EXPECT_EQ(post_whole(R"({"runId":"r"})").kind, Kind::created);
}

TEST_F(EventIngestTest, RunThatAnotherHostIsEnding_IsAnsweredWithItsResult) {
  std::optional<store::Claim> claim;
  int looks = 0;
  buffer_.before_claim = [&] {
    if (++looks == 1) claim = store_->claim_run(kAcme, store_->find_run(kAcme, "r")->key, model::Resolution::final, kLeaseMs);
    if (looks == 3) end(*claim);
  };
  const IngestAnswer answer = poke_until_answered(begin_events(event_of("a")));
  EXPECT_GE(looks, 3);
  EXPECT_EQ(answer.kind, Kind::replayed) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr(R"("state":"resolved")"));
}

TEST_F(EventIngestTest, RunWhoseOtherHostIsGone_IsEndedHereAfterTheLease) {
  claimed_by_another("a");
  int looks = 0;
  buffer_.before_claim = [&] {
    if (++looks == 3) clock_.advance_ms(kLeaseMs + 1);
  };
  const IngestAnswer answer = poke_until_answered(begin_events(event_of("b")));
  EXPECT_EQ(answer.kind, Kind::created) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr(R"("state":"resolved")"));
}

TEST_F(EventIngestTest, RunThatAnotherHostEndsForLong_IsAnsweredAsOpenUntilItsLeaseEnds) {
  const store::Claim claim = claimed_by_another("a");
  buffer_.before_claim = [&] {
    clock_.advance_ms(kLeaseMs / 2);
    store_->renew({&claim, 1}, kLeaseMs);
  };
  const IngestAnswer answer = poke_until_answered(begin_events(event_of("b")));
  EXPECT_EQ(answer.kind, Kind::buffered) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr(R"("state":"open","accepted":1)"));
  EXPECT_THAT(answer.body, HasSubstr(R"("resolvesAt":")" + format_time(clock_.wall_ms() + kLeaseMs)));
}

TEST_F(EventIngestTest, RunThatAnotherHostIsEndingAtTheStop_IsAnsweredAsOpen) {
  claimed_by_another("a");
  events_.stop();
  EXPECT_EQ(post_final("b").kind, Kind::buffered);
}

TEST_F(EventIngestTest, RevisionThatAnotherHostEndedWithoutTheseEvents_IsNoAnswerToThem) {
  const store::Claim claim = claimed_by_another("a");
  std::optional<store::Claim> next;
  buffer_.before_claim = [&] {
    if (next) return store_->release(*next);
    end(claim);
    next = store_->claim_run(kAcme, claim.run, model::Resolution::final, kLeaseMs);
    ASSERT_TRUE(next) << "the next revision, with what came meanwhile";
  };
  const IngestAnswer answer = poke_until_answered(begin_events(event_of("b")));
  EXPECT_EQ(answer.kind, Kind::created) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr(R"("revision":2)"));
}

TEST_F(EventIngestTest, RevisionThatAnotherHostEndedWithTheseEvents_IsTheAnswer) {
  buffer_.before_claim = [&] {
    const auto run = store_->find_run(kAcme, "r");
    const auto claim = store_->claim_run(kAcme, run->key, model::Resolution::final, kLeaseMs);
    ASSERT_TRUE(claim);
    end(*claim);
  };
  const IngestAnswer answer = post_final("a");
  EXPECT_EQ(answer.kind, Kind::replayed) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr(R"("state":"resolved")"));
}

TEST_F(EventIngestTest, LaterRevisionThatAnotherHostEndedWithTheseEvents_IsTheAnswer) {
  const store::Claim claim = claimed_by_another("a");
  buffer_.before_claim = [&] {
    end(claim);
    const auto next = store_->claim_run(kAcme, claim.run, model::Resolution::final, kLeaseMs);
    ASSERT_TRUE(next);
    end(*next);
  };
  const IngestAnswer answer = post_final("b");
  EXPECT_EQ(answer.kind, Kind::replayed) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr(R"("revision":2)"));
}

TEST_F(EventIngestTest, LaterRevisionThatAnotherHostEndedWithTheseEventsAndMore_IsTheAnswer) {
  const store::Claim claim = claimed_by_another("a");
  buffer_.before_claim = [&] {
    append_by_another("c");
    end(claim);
    end(*store_->claim_run(kAcme, claim.run, std::nullopt, kLeaseMs));
  };
  const IngestAnswer answer = post_events(event_of("b"), model::Digest{1});
  EXPECT_EQ(answer.kind, Kind::replayed) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr(R"("revision":2)"));
  EXPECT_EQ(store_->find_run(kAcme, "r")->events, 3u);
  buffer_.before_claim = nullptr;
  EXPECT_EQ(post_events(event_of("b"), model::Digest{1}).body, answer.body);
}

TEST_F(EventIngestTest, EventsThatDoNotEndTheRunWhileAnotherHostHasItToEnd_AreOpenInTheNextRevision) {
  store_->release(claimed_by_another("a"));  // the other host has not begun to end it
  const std::string body = R"({"runId":"r","events":[)" + event_of("b") + "]}";
  const IngestAnswer answer = post(body, model::Digest{1});
  EXPECT_EQ(answer.kind, Kind::buffered) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr(R"("state":"reopened","revision":2,"accepted":1,"bufferedEvents":1)"));
  EXPECT_EQ(store_->find_run(kAcme, "r")->state, model::RunState::open);
  const IngestAnswer again = post(body, model::Digest{1});
  EXPECT_EQ(again.kind, Kind::replayed);
  EXPECT_EQ(again.body, answer.body);
}

TEST_F(EventIngestTest, EventsThatDoNotEndTheRunWhichAnotherHostIsEnding_AreOpenInTheNextRevision) {
  const store::Claim claim = claimed_by_another("a");
  int looks = 0;
  buffer_.before_claim = [&] {
    if (++looks == 2) end(claim);
  };
  const IngestAnswer answer = poke_until_answered(begin(R"({"runId":"r","events":[)" + event_of("b") + "]}", std::nullopt));
  EXPECT_EQ(answer.kind, Kind::buffered) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr(R"("state":"reopened","revision":2)"));
  EXPECT_EQ(store_->find_run(kAcme, "r")->state, model::RunState::open) << "nobody said that it ends";
}

TEST_F(EventIngestTest, EventsThatDoNotEndTheRunWhichAnotherHostEnded_AreOpenEvenIfTheNextRevisionIsComplete) {
  store_->release(claimed_by_another("a"));
  buffer_.before_claim = [&] {
    const auto run = store_->find_run(kAcme, "r")->key;
    end(*store_->claim_run(kAcme, run, std::nullopt, kLeaseMs));
    store_->release(claimed_by_another("c"));
  };
  const std::string body = R"({"runId":"r","events":[)" + event_of("b") + "]}";
  const IngestAnswer answer = post(body, model::Digest{1});
  EXPECT_EQ(answer.kind, Kind::buffered) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr(R"("state":"reopened","revision":2)"));
  buffer_.before_claim = nullptr;
  EXPECT_EQ(post(body, model::Digest{1}).body, answer.body);
}

TEST_F(EventIngestTest, FinalEventsSentAgainWhileTheirRunIsEnded_DoNotEndTheNextRevision) {
  store_->release(claimed_by_another("a"));
  append_by_another("b");
  const IngestAnswer answer = post_final("a");
  EXPECT_THAT(answer.body, HasSubstr(R"("state":"resolved")"));
  EXPECT_THAT(answer.body, Not(HasSubstr("revision"))) << "the first";
  const auto run = store_->find_run(kAcme, "r");
  EXPECT_EQ(run->state, model::RunState::open);
  EXPECT_EQ(run->revision, 2u);
}

// Some of them are in it, so the run has resolved with this request.
TEST_F(EventIngestTest, EventsBeyondTheMost_AreAnsweredWithTheRevisionThatTheyFilled) {
  const IngestAnswer answer =
      post(R"({"runId":"r","events":[)" + event_of("a") + "," + event_of("b") + "," + event_of("c") + "]}", std::nullopt);
  EXPECT_EQ(answer.kind, Kind::created) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr(R"("state":"resolved")"));
  EXPECT_THAT(answer.body, Not(HasSubstr("revision"))) << "the first";
}

}  // namespace
}  // namespace runwarden::ingest
