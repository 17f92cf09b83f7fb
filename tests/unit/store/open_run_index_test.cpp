#include "store/lmdb/open_run_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace runwarden::store {
namespace {

constexpr std::int64_t kExactMs = 1100;  // about a second

RunKey place_of(std::uint64_t number) {
  return {1, {1'790'000'000'000, number}};
}

TEST(OpenRunIndex_Count, WithoutRuns_IsNothing) {
  const OpenRunIndex index;
  EXPECT_EQ(index.count(5000).count, 0u);
  EXPECT_EQ(index.count(5000).oldest_age_ms, 0);
}

// A run that a long-running service loads began before the machine did: its first event has a negative monotonic time.
TEST(OpenRunIndex_Count, OfALoadedRun_ItsAgeGoesOn) {
  OpenRunIndex index;
  index.load(place_of(1), {1, OpenRunIndex::Part::more_to_come}, {3'600'000, 0}, 5000);
  EXPECT_NEAR(static_cast<double>(index.count(15'000).oldest_age_ms), 3'610'000, kExactMs);
  index.ended(place_of(1));
  index.ended(place_of(1));
  EXPECT_EQ(index.count(15'000).count, 0u);
  EXPECT_EQ(index.count(15'000).oldest_age_ms, 0);
}

TEST(OpenRunIndex_Count, WhenANewRevisionBegins_CountsFromThere) {
  OpenRunIndex index;
  index.note_activity(place_of(1), {1, OpenRunIndex::Part::more_to_come}, 1000);
  index.note_activity(place_of(1), {1, OpenRunIndex::Part::more_to_come}, 50'000);
  EXPECT_NEAR(static_cast<double>(index.count(60'000).oldest_age_ms), 59'000, kExactMs);
  index.note_activity(place_of(1), {2, OpenRunIndex::Part::more_to_come}, 60'000);
  EXPECT_EQ(index.count(90'000).count, 1u);
  EXPECT_NEAR(static_cast<double>(index.count(90'000).oldest_age_ms), 30'000, kExactMs);
}

TEST(OpenRunIndex_Count, AfterAnyChanges_IsWhatAWalkOverAllFinds) {
  std::mt19937_64 random(20261122);
  OpenRunIndex index;
  struct Run {
    std::int64_t first_ms = 0;
    std::uint32_t revision = 1;
  };
  std::map<std::uint64_t, Run> runs;
  std::int64_t now_ms = 10'000;
  for (int step = 0; step < 20'000; ++step) {
    now_ms += static_cast<std::int64_t>(random() % 400);
    const std::uint64_t number = random() % 300;
    const auto known = runs.find(number);
    switch (random() % 5) {
      case 0:
        if (known != runs.end()) break;
        runs[number] = {now_ms - static_cast<std::int64_t>(number) * 1000, 1};
        index.load(place_of(number), {1, OpenRunIndex::Part::more_to_come}, {static_cast<std::int64_t>(number) * 1000, 0}, now_ms);
        break;
      case 1:
        runs.try_emplace(number, Run{now_ms, 1});
        index.note_activity(place_of(number), {runs[number].revision, OpenRunIndex::Part::more_to_come}, now_ms);
        break;
      case 2:
        if (known == runs.end()) break;
        known->second = {now_ms, known->second.revision + 1};
        index.note_activity(place_of(number), {known->second.revision, OpenRunIndex::Part::more_to_come}, now_ms);
        break;
      case 3:
        runs.erase(number);
        index.ended(place_of(number));
        break;
      default: index.claim({60'000, 600'000}, {3, 1000}, now_ms); break;
    }
    std::int64_t oldest_ms = 0;
    for (const auto& [of, run] : runs) oldest_ms = std::max(oldest_ms, now_ms - run.first_ms);
    const OpenRuns open = index.count(now_ms);
    ASSERT_EQ(open.count, runs.size()) << "step " << step;
    ASSERT_NEAR(static_cast<double>(open.oldest_age_ms), static_cast<double>(oldest_ms), kExactMs) << "step " << step;
  }
}

// idle_timeout 10 s, and a lease beside which only the times count.
std::size_t due_at(OpenRunIndex& index, std::int64_t now_ms) {
  return index.claim({.idle_ms = 10'000, .max_age_ms = 600'000}, {10, 1}, now_ms).size();
}

TEST(OpenRunIndex_Load, TheTimeoutGoesOnFromTheLastEvent) {
  OpenRunIndex index;
  index.load(place_of(1), {1, OpenRunIndex::Part::more_to_come}, {60'000, 4000}, 5000);
  EXPECT_EQ(due_at(index, 10'999), 0u);
  EXPECT_EQ(due_at(index, 11'000), 1u);
}

TEST(OpenRunIndex_Load, OverdueRunsWaitATenthOfTheTimeoutForClientsThatRetry) {
  OpenRunIndex index;
  index.load(place_of(1), {1, OpenRunIndex::Part::more_to_come}, {60'000, 59'000}, 5000);
  index.load(place_of(2), {1, OpenRunIndex::Part::more_to_come}, {60'000, 59'000}, 5000);
  EXPECT_EQ(due_at(index, 5999), 0u);
  index.note_activity(place_of(2), {1, OpenRunIndex::Part::more_to_come}, 5999);
  EXPECT_EQ(due_at(index, 6000), 1u);
  EXPECT_EQ(due_at(index, 15'998), 1u) << "the one that was due, claimed again after its lease";
  EXPECT_EQ(due_at(index, 15'999), 2u);
}

TEST(OpenRunIndex_Load, AClockThatWasSetBackKeepsARunOpenForOneTimeout) {
  OpenRunIndex index;
  index.load(place_of(1), {1, OpenRunIndex::Part::more_to_come}, {-50'000, -50'000}, 5000);
  EXPECT_EQ(due_at(index, 14'999), 0u);
  EXPECT_EQ(due_at(index, 15'000), 1u);
}

}  // namespace
}  // namespace runwarden::store
