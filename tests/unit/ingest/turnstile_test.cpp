#include "ingest/turnstile.h"

#include <gtest/gtest.h>

namespace runwarden::ingest {
namespace {

TEST(Turnstile, OneNameIsTakenOnce_AndTheNextHasItWhenTheFirstLeaves) {
  Turnstile turnstile;
  std::string called;
  ASSERT_TRUE(turnstile.enter({"a"}, [] {}));
  EXPECT_FALSE(turnstile.enter({"a"}, [&] { called += "1"; }));
  EXPECT_FALSE(turnstile.enter({"a"}, [&] { called += "2"; }));
  EXPECT_TRUE(turnstile.enter({"b"}, [] {}));
  EXPECT_EQ(called, "");
  turnstile.leave({"a"});
  EXPECT_EQ(called, "1");
  turnstile.leave({"a"});
  EXPECT_EQ(called, "12");
  turnstile.leave({"a"});
  EXPECT_TRUE(turnstile.enter({"a"}, [] {}));
}

TEST(Turnstile, WhoWaitsForSeveralNames_HasItsTurnWhenAllAreFree) {
  Turnstile turnstile;
  std::string called;
  ASSERT_TRUE(turnstile.enter({"a"}, [] {}));
  ASSERT_TRUE(turnstile.enter({"b"}, [] {}));
  EXPECT_FALSE(turnstile.enter({"a", "b"}, [&] { called += "1"; }));
  EXPECT_FALSE(turnstile.enter({"b"}, [&] { called += "2"; })) << "it came later";
  turnstile.leave({"b"});
  EXPECT_EQ(called, "");
  turnstile.leave({"a"});
  EXPECT_EQ(called, "1");
  turnstile.leave({"a", "b"});
  EXPECT_EQ(called, "12");
}

TEST(Turnstile, ATurnMayLeaveAndEnterAtOnce) {
  Turnstile turnstile;
  bool inside = false;
  ASSERT_TRUE(turnstile.enter({"a"}, [] {}));
  ASSERT_FALSE(turnstile.enter({"a"}, [&] {
    turnstile.leave({"a"});
    inside = turnstile.enter({"a"}, [] {});
  }));
  turnstile.leave({"a"});
  EXPECT_TRUE(inside);
}

}  // namespace
}  // namespace runwarden::ingest
