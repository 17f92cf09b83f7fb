#include "detect/settings_hash.h"

#include <gtest/gtest.h>

#include "base/digest.h"

namespace runwarden::detect {
namespace {

TEST(SettingsHash, SpellingsOfTheSameSettings_AreOne) {
  EXPECT_EQ(settings_hash(R"( { "b" : null, "a":[1.0] } )"), settings_hash(R"({"a":[1],"b":null})"));
}

TEST(SettingsHash, NoSettings_AreAnEmptyObject) {
  EXPECT_EQ(settings_hash(""), to_hex(sha256("{}")));
  EXPECT_EQ(settings_hash("{}"), settings_hash(""));
}

TEST(SettingsHash, OtherSettings_HaveAnother) {
  const std::string one = settings_hash(R"({"repeats":3})");
  for (const char* other : {R"({"repeats":4})", R"({"repeats":"3"})", R"({"repeats":[3]})", R"({"repeat":3})", R"({"repeats":3.5})"}) {
    EXPECT_NE(settings_hash(other), one) << other;
  }
  EXPECT_NE(settings_hash(R"({"a":[1,2]})"), settings_hash(R"({"a":[2,1]})")) << "the order of a list counts";
}

}  // namespace
}  // namespace runwarden::detect
