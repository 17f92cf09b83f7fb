// Where a text may be cut.
#include <gtest/gtest.h>

#include "base/utf8.h"

namespace runwarden {
namespace {

TEST(Utf8Prefix, EndsWhereACharacterDoes) {
  EXPECT_EQ(utf8_prefix("abc", 3), "abc");
  EXPECT_EQ(utf8_prefix("abc", 2), "ab");
  EXPECT_EQ(utf8_prefix("a\u00e9c", 2), "a");
  EXPECT_EQ(utf8_prefix("a\u00e9c", 3), "a\u00e9");
  EXPECT_EQ(utf8_prefix("\U0001F600", 3), "");
  EXPECT_EQ(utf8_prefix("", 0), "");
}

}  // namespace
}  // namespace runwarden
