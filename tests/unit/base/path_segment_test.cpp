#include "base/path_segment.h"

#include <gtest/gtest.h>

namespace runwarden {
namespace {

TEST(PathSegment, WhatIsUnreserved_StaysAsItIs) {
  EXPECT_EQ(path_segment("run-1_a.b~Z9"), "run-1_a.b~Z9");
  EXPECT_EQ(path_segment(""), "");
}

TEST(PathSegment, WhatIsNot_IsEncodedByteByByte) {
  EXPECT_EQ(path_segment("a/b?c#d%e f"), "a%2Fb%3Fc%23d%25e%20f");
  EXPECT_EQ(path_segment("\xC3\xA9"), "%C3%A9");
}

TEST(PathSegment, Steps_AreNoStepsAnyMore) {
  EXPECT_EQ(path_segment("."), "%2E");
  EXPECT_EQ(path_segment(".."), "%2E%2E");
  EXPECT_EQ(path_segment("..."), "...");
}

}  // namespace
}  // namespace runwarden
