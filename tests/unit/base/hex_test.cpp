#include "base/hex.h"

#include <gtest/gtest.h>

#include <string>

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

TEST(JsonCheck, TellsJsonFromWhatIsNone_AndHowDeep) {
  EXPECT_TRUE(check_json(R"({"a":[1,null,"x"]})", 2).ok());
  EXPECT_FALSE(check_json(R"({"a":[1,null,"x"]})", 1).ok());
  EXPECT_FALSE(check_json(R"({"a":[1,})", 4).ok());
}

}  // namespace
}  // namespace runwarden
