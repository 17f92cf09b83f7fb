#include "base/hex.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/json_check.h"

namespace runwarden {
namespace {

TEST(Hex, EveryByte_ComesBack) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  EXPECT_EQ(bytes_to_hex(bytes).substr(0, 6), "000102");
  EXPECT_EQ(bytes_to_hex(bytes).substr(506), "fdfeff");
  EXPECT_EQ(bytes_from_hex(bytes_to_hex(bytes)), bytes);
  EXPECT_EQ(bytes_from_hex("0aFF"), std::string("\n\xff"));
}

TEST(Hex, WhatIsNone_IsNotRead) {
  for (const char* text : {"0", "abc", "0g", "g0", "+1", " 1", "0x"}) EXPECT_EQ(bytes_from_hex(text), std::nullopt) << text;
}

TEST(Hex, ADigit_HasItsValueInEitherCase) {
  constexpr std::string_view kLower = "0123456789abcdef", kUpper = "0123456789ABCDEF";
  for (int value = 0; value < 16; ++value) {
    EXPECT_EQ(hex_digit(kLower[static_cast<std::size_t>(value)]), value);
    EXPECT_EQ(hex_digit(kUpper[static_cast<std::size_t>(value)]), value);
  }
  for (const char c : std::string_view("/:@G`g \0\xff", 9)) EXPECT_EQ(hex_digit(c), -1) << c;
}

TEST(JsonCheck, TellsJsonFromWhatIsNone_AndHowDeep) {
  EXPECT_TRUE(check_json(R"({"a":[1,null,"x"]})", 2).ok());
  EXPECT_FALSE(check_json(R"({"a":[1,null,"x"]})", 1).ok());
  EXPECT_FALSE(check_json(R"({"a":[1,})", 4).ok());
}

}  // namespace
}  // namespace runwarden
