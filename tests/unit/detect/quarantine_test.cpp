#include "detect/quarantine.h"

#include <gtest/gtest.h>

namespace runwarden::detect {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(Quarantine, WhenFailuresComeWithinTheWindow_Shuts) {
  Quarantine quarantine(3, 60'000);
  EXPECT_FALSE(quarantine.note_failure(1 * kSecond, "a"));
  EXPECT_FALSE(quarantine.note_failure(2 * kSecond, "b"));
  EXPECT_FALSE(quarantine.active());
  EXPECT_TRUE(quarantine.note_failure(3 * kSecond, "out of luck"));
  EXPECT_TRUE(quarantine.active());
  EXPECT_EQ(quarantine.reason(), "failed 3 times within 60 s, last: out of luck; skipped until the detectors are reloaded");
  EXPECT_FALSE(quarantine.note_failure(4 * kSecond, "again"));
}

TEST(Quarantine, WhenFailuresAreFarApart_StaysOpen) {
  Quarantine quarantine(2, 60'000);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(quarantine.note_failure(i * 61 * kSecond, "x"));
  EXPECT_FALSE(quarantine.active());
}

}  // namespace
}  // namespace runwarden::detect
