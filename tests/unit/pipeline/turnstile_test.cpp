#include "pipeline/turnstile.h"

#include <gtest/gtest.h>

namespace runwarden::pipeline {
namespace {

TEST(Turnstile, OneNameIsTakenOnce_AndWhoWaitsIsCalledInOrder) {
  Turnstile turnstile;
  std::string called;
  ASSERT_TRUE(turnstile.enter({"a"}, [] {}));
  EXPECT_FALSE(turnstile.enter({"a"}, [&] { called += "1"; }));
  EXPECT_FALSE(turnstile.enter({"b", "a"}, [&] { called += "2"; }));
  EXPECT_TRUE(turnstile.enter({"b"}, [] {})) << "a request that waits holds nothing";
  EXPECT_EQ(called, "");
  turnstile.leave({"a"});
  EXPECT_EQ(called, "12");
  EXPECT_TRUE(turnstile.enter({"a"}, [] {}));
}

TEST(Turnstile, ACallerMayEnterAgainAtOnce) {
  Turnstile turnstile;
  bool inside = false;
  ASSERT_TRUE(turnstile.enter({"a"}, [] {}));
  ASSERT_FALSE(turnstile.enter({"a"}, [&] { inside = turnstile.enter({"a"}, [] {}); }));
  turnstile.leave({"a"});
  EXPECT_TRUE(inside);
  EXPECT_FALSE(turnstile.enter({"a"}, [] {}));
}

}  // namespace
}  // namespace runwarden::pipeline
