#include "ledger/erased_ranges.h"

#include <gmock/gmock.h>

#include <random>
#include <set>

namespace runwarden::ledger {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(Ranges, ThoseThatTouch_AreOne) {
  Ranges ranges;
  for (const auto& [first, last] : {std::pair{5, 6}, std::pair{1, 2}, std::pair{9, 9}, std::pair{3, 3}, std::pair{6, 8}}) {
    ranges.add(static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(last));
  }
  EXPECT_THAT(ranges.ends(), ElementsAre(Pair(1, 3), Pair(5, 9)));
  ranges.add(0, 20);
  EXPECT_THAT(ranges.ends(), ElementsAre(Pair(0, 20)));
}

TEST(Ranges, AgainstSetsOfNumbers) {
  std::mt19937 random(7);
  const auto number = [&](unsigned most) { return random() % (most + 1); };
  for (int round = 0; round < 2000; ++round) {
    Ranges ranges[2];
    std::set<std::uint64_t> sets[2];
    for (int which = 0; which < 2; ++which) {
      for (unsigned count = number(8); count > 0; --count) {
        const std::uint64_t first = number(30);
        const std::uint64_t last = first + number(6);
        ranges[which].add(first, last);
        for (std::uint64_t i = first; i <= last; ++i) sets[which].insert(i);
      }
    }
    std::optional<std::uint64_t> missing;
    for (const std::uint64_t one : sets[0]) {
      if (!missing && !sets[1].contains(one)) missing = one;
    }
    ASSERT_EQ(ranges[0].first_not_in(ranges[1]), missing) << "round " << round;
  }
}

TEST(ErasedRanges, AReceipt_TellsOfEarlierEntriesOnly) {
  ErasedRanges erased;
  for (const std::uint64_t index : {1, 2, 6}) erased.note_erased(index);
  EXPECT_EQ(erased.first_without_receipt(), 1U);
  ASSERT_TRUE(erased.take_receipt(5, R"({"v":1,"entries":[[1,2],[4,9]]})"));
  EXPECT_EQ(erased.first_without_receipt(), 6U) << "the receipt itself was entry 5";
  ASSERT_TRUE(erased.take_receipt(8, R"({"v":1,"entries":[[6,6]]})"));
  EXPECT_FALSE(erased.first_without_receipt());
}

TEST(ErasedRanges, WhatIsNoReceipt_IsRefused) {
  ErasedRanges erased;
  for (const char* body : {"", "{}", R"({"entries":[[1]]})", R"({"entries":[[1,-2]]})", R"({"entries":[["1",2]]})", R"({"entries":[1]})"}) {
    EXPECT_FALSE(erased.take_receipt(9, body)) << body;
  }
}

}  // namespace
}  // namespace runwarden::ledger
