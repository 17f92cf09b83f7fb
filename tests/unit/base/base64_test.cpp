#include "base/base64.h"

#include <gtest/gtest.h>

#include <string>

namespace runwarden {
namespace {

// RFC 4648, section 10.
TEST(Base64, TextsOfTheStandard_GoThereAndBack) {
  const std::pair<const char*, const char*> table[] = {
      {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : table) {
    EXPECT_EQ(bytes_to_base64(bytes), text);
    EXPECT_EQ(bytes_from_base64(text).bytes, bytes);
    EXPECT_EQ(bytes_from_base64(bytes_to_base64url(bytes)).bytes, bytes);
  }
}

TEST(Base64, ForUrls_HasOtherDigitsAndNoPadding) {
  const std::string bytes = "\xfb\xef\xff\xfe";
  EXPECT_EQ(bytes_to_base64(bytes), "++///g==");
  EXPECT_EQ(bytes_to_base64url(bytes), "--___g");
  EXPECT_EQ(bytes_from_base64("++//_g").bytes, bytes);
}

TEST(Base64, ReadsUpToWhatIsNoDigit) {
  const FromBase64 from = bytes_from_base64("Zm9v!Zm9v");
  EXPECT_EQ(from.bytes, "foo");
  EXPECT_EQ(from.read, 4u);
  EXPECT_EQ(bytes_from_base64("Zg==").read, 2u);
}

}  // namespace
}  // namespace runwarden
