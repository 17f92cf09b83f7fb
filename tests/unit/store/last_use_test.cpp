// What a store tells of its last use, and what a guarded clock makes of it.
#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>

#include "base/clock_guard.h"
#include "maintenance_store.h"

namespace runwarden::store {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;

class LastUseTest : public MaintenanceTest {
 protected:
  // Opens the store by a clock of its own; what it tells of its last use is kept.
  std::unique_ptr<Store> open_by(const Clock& clock, ClockGuard* guard = nullptr) {
    LmdbSettings settings;
    settings.path = path_;
    settings.map_size = kMapBytes;
    settings.listener.on_last_use = [this, guard](const ClockGuard::LastUse& last_use) {
      last_use_ = last_use;
      if (guard != nullptr) guard->start(last_use, 7 * kDayMs);
    };
    auto store = open_lmdb(settings, clock);
    if (!store.ok()) throw std::runtime_error(store.error().detail);
    return std::move(*store);
  }
  void commit(Store& store, Write write) { ASSERT_EQ(MaintenanceTest::commit(store, std::move(write)).outcome, WriteResult::Outcome::stored); }

  void open_a_run() {
    const auto store = open_by(clock_);
    EventsWrite events;
    events.tenant = 1;
    events.key = {clock_.wall_ms(), store->next_seq()};
    events.run_id = "chat";
    events.events.push_back({"", "{}"});
    commit(*store, events);
  }

  ClockGuard::LastUse last_use_;
};

TEST_F(LastUseTest, OfANewStore_NothingIsKnown) {
  open_by(clock_);
  EXPECT_FALSE(last_use_.noted_ms);
  EXPECT_FALSE(last_use_.newest_ms);
}

TEST_F(LastUseTest, IsOfTheNewestRunOrFailureOfAnyTenant_ButOfNoChange) {
  const std::int64_t now_ms = clock_.wall_ms();
  {
    const auto store = open_by(clock_);
    for (const model::TenantId tenant : {1u, 2u, 70'000u}) {
      RunWrite run = sample_run(tenant, {now_ms - 10 * kDayMs - tenant, store->next_seq()});
      if (tenant == 2u) run.failures.push_back(sample_failure({now_ms - 9 * kDayMs, store->next_seq()}));
      commit(*store, run);
    }
    ChangeWrite change;
    change.tenant = 1;
    change.change.key = {now_ms + 1000 * kDayMs, store->next_seq()};
    change.change.id = model::make_change_id(change.change.key);
    change.change.kind = "deploy";
    change.change.document = "{}";
    commit(*store, change);
  }
  open_by(clock_);
  EXPECT_EQ(last_use_.newest_ms, now_ms - 9 * kDayMs);
  EXPECT_FALSE(last_use_.noted_ms);
}

TEST_F(LastUseTest, WhatWasNoted_IsToldAtTheNextOpening) {
  open_by(clock_)->note_clock(12'345, 0);
  open_by(clock_);
  EXPECT_EQ(last_use_.noted_ms, 12'345);
}

TEST_F(LastUseTest, AnAccept_NotesTheTime_AndIsNotWrittenOverByANoteFromBefore) {
  std::uint64_t before = 0;
  {
    const auto store = open_by(clock_);
    before = store->clock_accepts();
    store->note_clock(12'345, before);
  }
  const auto accepted = accept_clock(maintenance());
  ASSERT_TRUE(accepted.ok()) << accepted.error().detail;
  EXPECT_EQ(accepted->last_use.noted_ms, 12'345);
  EXPECT_EQ(accepted->now_ms, clock_.wall_ms());
  const auto store = open_by(clock_);
  EXPECT_EQ(last_use_.noted_ms, clock_.wall_ms());
  EXPECT_EQ(store->clock_accepts(), before + 1);
  EXPECT_EQ(accept_clock({folder_.path() / "nowhere", clock_, {}, 0}).ok(), false);
}

TEST_F(LastUseTest, ANoteFromBeforeAnAccept_ChangesNothing) {
  open_by(clock_);
  ASSERT_TRUE(accept_clock(maintenance()).ok());
  open_by(clock_)->note_clock(777, 0);
  open_by(clock_);
  EXPECT_EQ(last_use_.noted_ms, clock_.wall_ms());
}

// An open run ends when it is idle or too old: by the expected time, not by one that is a hundred days ahead.
TEST_F(LastUseTest, OpenedAHundredDaysAhead_NoOpenRunIsTooOld) {
  open_a_run();
  test::FakeClock ahead(clock_.wall_ms() + 100 * kDayMs);
  {
    const auto trusting = open_by(ahead);
    EXPECT_EQ(trusting->claim({}, 10, 1000).size(), 1u) << "what happens without a guard";
  }
  ClockGuard guard(ahead);
  const auto store = open_by(guard, &guard);
  EXPECT_TRUE(guard.in_doubt());
  EXPECT_TRUE(store->claim({}, 10, 1000).empty());
  ahead.advance_ms(6 * 60'000);
  EXPECT_EQ(store->claim({}, 10, 1000).size(), 1u) << "idle for the usual time";
}

// Restarts, however many, do not keep a run open; a client that retries after one still finds it open.
TEST_F(LastUseTest, OpenedAgain_AnOpenRunIsDueByItsLastEvent) {
  open_a_run();
  clock_.advance_ms(4 * 60'000);
  {
    const auto store = open_by(clock_);
    EXPECT_TRUE(store->claim({}, 10, 1000).empty());
    clock_.advance_ms(60'000);
    EXPECT_EQ(store->claim({}, 10, 1000).size(), 1u) << "idle for the usual five minutes";
  }
  const auto store = open_by(clock_);
  EXPECT_TRUE(store->claim({}, 10, 1000).empty());
  clock_.advance_ms(30'000);
  EXPECT_EQ(store->claim({}, 10, 1000).size(), 1u);
}

// Answers to an Idempotency-Key go by day, in expire(), whatever retention is asked for.
TEST_F(LastUseTest, AnswersToIdempotencyKeys_OutliveAJump) {
  ClockGuard guard(clock_);
  const auto store = open_by(guard, &guard);
  RunWrite run = sample_run(1, {clock_.wall_ms(), store->next_seq()});
  run.idempotency = idempotency("key", "content");
  commit(*store, run);
  clock_.set_wall_ms(clock_.wall_ms() + 100 * kDayMs);
  EXPECT_EQ(store->expire({}, 100).idempotency_keys, 0u);
  EXPECT_TRUE(store->find_replay(1, run.idempotency->identity));
  guard.accept();
  EXPECT_FALSE(store->find_replay(1, run.idempotency->identity));
  EXPECT_EQ(store->expire({}, 100).idempotency_keys, 1u);
}

}  // namespace
}  // namespace runwarden::store
