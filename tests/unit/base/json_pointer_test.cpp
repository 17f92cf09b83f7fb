#include "base/json_pointer.h"

#include <gtest/gtest.h>

namespace runwarden {
namespace {

TEST(JsonPointer, TokenSpellsTheName) {
  EXPECT_EQ(pointer_token("a/b~c"), "a~1b~0c");
  EXPECT_EQ(pointer_name("a~1b~0c"), "a/b~c");
  EXPECT_EQ(pointer_name("~01"), "~1");
  EXPECT_EQ(pointer_token(""), "");
}

TEST(JsonPointer, TildeBeforeAnythingElse_StandsForItself) {
  EXPECT_EQ(pointer_name("~2~"), "~2~");
}

}  // namespace
}  // namespace runwarden
