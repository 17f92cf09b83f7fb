#include "base/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace runwarden {
namespace {

TEST(ArenaList, KeepsOrder_AndElementsStayWhereTheyAre) {
  LocalArena<64> arena;
  ArenaList<int> list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.begin(), list.end());
  const int* const first = &list.append(arena.get(), 0);
  for (int i = 1; i < 1000; ++i) list.append(arena.get()) = i;
  EXPECT_EQ(list.size(), 1000u);
  EXPECT_EQ(&list.front(), first);
  EXPECT_EQ(list.back(), 999);
  int wanted = 0;
  EXPECT_TRUE(std::all_of(list.begin(), list.end(), [&](int one) { return one == wanted++; }));
}

TEST(LocalArena, KeptTextsAreCopies_AndReleaseStartsAnew) {
  LocalArena<64> arena;
  std::string source(1000, 'x');
  const auto large = keep_text(arena.get(), source);
  source.assign("short");
  EXPECT_EQ(large, std::string(1000, 'x'));
  EXPECT_EQ(keep_text(arena.get(), {}), "");
  arena.release();
  const auto before = keep_text(arena.get(), source);
  arena.release();
  EXPECT_EQ(keep_text(arena.get(), source).data(), before.data());
}

}  // namespace
}  // namespace runwarden
