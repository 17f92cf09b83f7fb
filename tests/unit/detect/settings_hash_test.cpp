#include "detect/settings_hash.h"

#include <gtest/gtest.h>

#include "base/digest.h"

namespace runwarden::detect {
namespace {

TEST(SettingsHash, SpellingsOfTheSameSettings_AreOne) {
  const char* canonical = R"({"a":[1,2.5,"x"],"b":{"c":null,"d":true}})";
  EXPECT_EQ(canonical_json(canonical), canonical);
  EXPECT_EQ(canonical_json(R"( { "b" : {"d":true, "c":null}, "a":[1.0, 25e-1, "\u0078"] } )"), canonical);
  EXPECT_EQ(canonical_json("{\"n\":-0.0}"), "{\"n\":0}");
}

TEST(SettingsHash, NoSettings_AreAnEmptyObject) {
  EXPECT_EQ(canonical_json(""), "{}");
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

TEST(SettingsHash, NumbersBeyondADouble_KeepTheirDigits) {
  EXPECT_EQ(canonical_json(R"({"n":9223372036854775807})"), R"({"n":9223372036854775807})");
  EXPECT_EQ(canonical_json(R"({"n":1e300})"), R"({"n":1e+300})");
}

}  // namespace
}  // namespace runwarden::detect
