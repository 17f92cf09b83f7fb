#include "ingest/run_resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ingest/ingest_answer.h"
#include "store/open_store.h"
#include "support/commit_together.h"
#include "support/fake_clock.h"
#include "support/forwarding_queue.h"
#include "support/temp_folder.h"

namespace runwarden::ingest {
namespace {

using Outcome = store::WriteResult::Outcome;

// Keeps the write of a run that is ended until the test lets it go on, or refuses it.
class HeldQueue final : public test::ForwardingQueue {
 public:
  using ForwardingQueue::ForwardingQueue;

  bool submit(store::Write write, Done done, Permit /*permit*/ = nullptr) override {
    write_ = std::move(write);
    done_ = std::move(done);
    came_.set_value();
    return true;
  }

  void wait() {
    came_.get_future().wait();
    came_ = {};
  }
  void let_through() { real_.submit(std::move(*write_), std::move(done_)); }
  void refuse(Outcome outcome, std::string why) {
    store::WriteResult result;
    result.outcome = outcome;
    result.detail = std::move(why);
    std::exchange(done_, nullptr)(std::move(result));
  }

 private:
  std::promise<void> came_;
  std::optional<store::Write> write_;
  Done done_;
};

// Of a database that is away until the test says otherwise.
class AwayBuffer final : public store::EventBuffer {
 public:
  explicit AwayBuffer(store::EventBuffer& real) : real_(real) {}

  std::vector<store::Claim> claim(const store::BufferRules& rules, std::size_t most, std::int64_t lease_ms) override {
    ++asked;
    if (away) throw store::StoreAway("the database cannot be reached");
    return real_.claim(rules, most, lease_ms);
  }
  std::optional<store::Claim> claim_run(model::TenantId tenant, const model::RecordKey& run, std::optional<model::Resolution> resolution,
                                        std::int64_t lease_ms) override {
    return real_.claim_run(tenant, run, resolution, lease_ms);
  }
  void release(const store::Claim& claim) override { real_.release(claim); }
  std::vector<bool> renew(std::span<const store::Claim> claims, std::int64_t lease_ms) override { return real_.renew(claims, lease_ms); }
  store::ClaimedRun fetch(const store::Claim& claim) override { return real_.fetch(claim); }
  std::uint64_t open_count() override { return real_.open_count(); }
  store::OpenRuns open_runs() override { return real_.open_runs(); }

  bool away = true;
  int asked = 0;

 private:
  store::EventBuffer& real_;
};

class RunResolverTest : public ::testing::Test {
 protected:
  static constexpr model::TenantId kAcme = 1;

  // As the service ends: whoever still holds what the resolver gave out lets go of it before the resolver goes.
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
  std::optional<store::Claim> claim_run() { return store_->claim_run(kAcme, run_, model::Resolution::final, kLeaseMs); }

  // Posts a run that is complete, and has it ended up to where it would be stored.
  void begin() {
    store::EventsWrite events;
    events.tenant = kAcme;
    events.key = {clock_.wall_ms(), store_->next_seq()};
    events.run_id = "r";
    events.events.push_back({"", R"({"type":"run_started","userRequestText":"Refund order 8842"})"});
    events.final = true;
    run_ = test::commit(*store_, std::move(events)).buffered->run;
    const auto claim = claim_run();
    if (!claim) throw std::runtime_error("there is nothing to claim");
    pool_.post([this, claim](std::size_t worker) {
      resolver_.resolve(worker, *claim, [this](Result<model::RunRecord> run) { ended_.set_value(std::move(run)); });
    });
    queue_.wait();
  }

  std::vector<std::string> faults_;
  test::FakeClock clock_;
  test::TempFolder folder_;
  const std::unique_ptr<store::Store> store_ = open();
  HeldQueue queue_{*store_};
  const std::shared_ptr<detect::DetectorSet> detectors_ = no_detectors();
  const Redaction redaction_{[] { return nullptr; }, {}};
  model::RecordKey run_;
  std::promise<Result<model::RunRecord>> ended_;
  WorkPool pool_{1, [](const std::string& why) { ADD_FAILURE() << why; }};
  Judge judge_{{.store = *store_, .pool = pool_, .detectors = [this] { return detectors_; }, .on_verdict = [](const model::Verdict&) {}}};
  RunResolver resolver_{{*store_,
                         queue_,
                         pool_,
                         clock_,
                         judge_,
                         redaction_,
                         {},
                         [](model::TenantId) { return std::string("acme"); },
                         [this](const std::string& why) { faults_.push_back(why); }},
                        {}};
};

TEST_F(RunResolverTest, ARunThatTakesLongerThanItsLease_IsKeptFromOthersAndStored) {
  begin();
  for (int i = 0; i < 6; ++i) {
    clock_.advance_ms(kLeaseMs / 2);
    resolver_.poke();
    EXPECT_FALSE(claim_run()) << i;
  }
  queue_.let_through();
  const auto ended = ended_.get_future().get();
  ASSERT_TRUE(ended.ok()) << ended.error().detail;
  EXPECT_EQ(store_->find_run(kAcme, "r")->state, model::RunState::resolved);
}

TEST_F(RunResolverTest, ARunThatCouldNotBeStored_IsFreeAtOnce) {
  begin();
  queue_.refuse(Outcome::denied, "its permit was withdrawn");
  EXPECT_FALSE(ended_.get_future().get().ok());
  EXPECT_TRUE(claim_run());
}

TEST_F(RunResolverTest, WhileTheStoreIsFull_ARunIsTriedOnceInALease_AndEachFaultNamesIt) {
  begin();
  queue_.refuse(Outcome::unavailable, "the disk is full");
  EXPECT_FALSE(ended_.get_future().get().ok());
  EXPECT_FALSE(claim_run());
  clock_.advance_ms(kLeaseMs + 1);
  resolver_.poke();
  queue_.wait();
  queue_.refuse(Outcome::unavailable, "the disk is full");
  resolver_.poke();
  EXPECT_FALSE(claim_run());
  EXPECT_THAT(faults_, testing::ElementsAre("run \"r\" could not be resolved: the disk is full"));
  clock_.advance_ms(kLeaseMs + 1);
  EXPECT_TRUE(claim_run());
}

TEST_F(RunResolverTest, APollWhileTheStoreIsAway_IsFollowedByOthers) {
  AwayBuffer buffer(*store_);
  RunResolver resolver({buffer, queue_, pool_, clock_, judge_, redaction_, {}, [](model::TenantId) { return std::string("acme"); },
                        [](const std::string& why) { ADD_FAILURE() << why; }},
                       {});
  resolver.poke();
  buffer.away = false;
  resolver.poke();
  EXPECT_EQ(buffer.asked, 2);
}

}  // namespace
}  // namespace runwarden::ingest
