#include "base/canonical_json.h"

#include <gtest/gtest.h>

namespace runwarden {
namespace {

TEST(CanonicalJson, SpellingsOfTheSameValue_AreOne) {
  const char* canonical = R"({"a":[1,2.5,"x"],"b":{"c":null,"d":true}})";
  EXPECT_EQ(canonical_json(canonical), canonical);
  EXPECT_EQ(canonical_json(R"( { "b" : {"d":true, "c":null}, "a":[1.0, 25e-1, "\u0078"] } )"), canonical);
  EXPECT_EQ(canonical_json("{\"n\":-0.0}"), "{\"n\":0}");
  EXPECT_EQ(canonical_json(""), "{}");
}

TEST(CanonicalJson, NumbersBeyondADouble_KeepTheirDigits) {
  EXPECT_EQ(canonical_json(R"({"n":9223372036854775807})"), R"({"n":9223372036854775807})");
  EXPECT_EQ(canonical_json(R"({"n":1e300})"), R"({"n":1e+300})");
}

}  // namespace
}  // namespace runwarden
