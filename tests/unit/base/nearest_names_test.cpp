#include "base/nearest_names.h"

#include <gtest/gtest.h>

namespace runwarden {
namespace {

const std::vector<std::string> kMany = {
    "max_body_bytes", "max_batch_bytes", "max_json_depth", "burst", "header_timeout", "body_timeout", "x"};
const std::vector<std::string> kFew = {"level", "format"};

TEST(NearestNames, WhenOneIsSpelledAlike_ItIsTheLikelyOne) {
  EXPECT_EQ(likely_name("brust", kMany), "burst");
  EXPECT_EQ(likely_name("max_body_byte", kMany), "max_body_bytes");
  EXPECT_EQ(likely_name("body_timeouts", kMany), "body_timeout");
  EXPECT_EQ(likely_name("entirely", kMany), "");
  EXPECT_EQ(likely_name("a", {}), "");
}

TEST(NearestNames, WhenOfTwoOneIsNearer_ItIsTheLikelyOne) {
  EXPECT_EQ(likely_name("max_bodch_bytes", {"max_body_bytes", "max_batch_bytes"}), "max_body_bytes") << "equally near: the first known";
  EXPECT_EQ(likely_name("max_batc_bytes", {"max_body_bytes", "max_batch_bytes"}), "max_batch_bytes");
}

TEST(NearestNames, AreInOrderOfTheirDistance) {
  EXPECT_EQ(nearest_names("timeout", kMany, 3), (std::vector<std::string>{"body_timeout", "burst", "header_timeout"}));
  EXPECT_EQ(nearest_names("timeout", kFew, 3).size(), 2u);
}

TEST(NearestNames, Hint_IsShort) {
  EXPECT_EQ(name_hint("brust", kMany), "the nearest known one is burst");
  EXPECT_EQ(name_hint("zzz", kFew), "the known ones are level, format");
  EXPECT_EQ(name_hint("timeout", kMany), "the nearest known ones are body_timeout, burst, header_timeout");
  EXPECT_EQ(name_hint("zzz", {}), "");
}

// Its cost is the product of both lengths, and a client chooses one.
TEST(NearestNames, WhenTheNameIsLong_OnlyItsBeginningCounts) {
  EXPECT_EQ(likely_name(std::string(50'000'000, 'x'), kMany), "");
}

}  // namespace
}  // namespace runwarden
