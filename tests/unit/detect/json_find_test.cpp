#include "detect/json_find.h"

#include <gtest/gtest.h>

#include <string>

namespace runwarden::detect {
namespace {

constexpr std::string_view kText =
    R"({"a":{"b":[10,-2.5,true,null,"x\n\u00e9\ud83d\ude00",{"deep":"}]"}]},"":1,"a/b":2,"m~n":3,"esc\"q":4,"big":9223372036854775808,"e":1e3,"empty":"","o":{},"dup":1,"dup":2})";

class JsonFind : public testing::Test {
 protected:
  rw_value find(std::string_view pointer, std::string_view json = kText) { return json_find(json, pointer, arena_); }
  static std::string text(const rw_value& value) { return {value.as.str.ptr, value.as.str.len}; }
  TextArena arena_;
};

TEST_F(JsonFind, WhenThePointerLeadsToAValue_AnswersItByKind) {
  EXPECT_EQ(find("/a/b/0").type, std::uint32_t{RW_VALUE_INTEGER});
  EXPECT_EQ(find("/a/b/0").as.i64, 10);
  EXPECT_EQ(find("/a/b/1").type, std::uint32_t{RW_VALUE_NUMBER});
  EXPECT_EQ(find("/a/b/1").as.f64, -2.5);
  EXPECT_EQ(find("/a/b/2").type, std::uint32_t{RW_VALUE_BOOL});
  EXPECT_EQ(find("/a/b/2").as.boolean, 1U);
  EXPECT_EQ(find("/a/b/3").type, std::uint32_t{RW_VALUE_NULL});
  EXPECT_EQ(find("/o").type, std::uint32_t{RW_VALUE_OBJECT});
  EXPECT_EQ(text(find("/o")), "{}");
  EXPECT_EQ(find("/e").as.f64, 1000.0);
}

TEST_F(JsonFind, WhenAStringHasEscapes_ResolvesThem) {
  const rw_value value = find("/a/b/4");
  ASSERT_EQ(value.type, std::uint32_t{RW_VALUE_STRING});
  EXPECT_EQ(text(value), "x\n\xC3\xA9\xF0\x9F\x98\x80");
}

TEST_F(JsonFind, WhenAStringSpellsANul_ShowsAReplacement) {
  EXPECT_EQ(text(find("/a", R"({"a":"x\u0000y"})")), "x\uFFFDy");
}

TEST_F(JsonFind, WhenAStringIsEmpty_IsPresent) {
  const rw_value value = find("/empty");
  EXPECT_EQ(value.type, std::uint32_t{RW_VALUE_STRING});
  EXPECT_NE(value.as.str.ptr, nullptr);
  EXPECT_EQ(value.as.str.len, 0U);
}

TEST_F(JsonFind, WhenBracketsStandInsideAString_PassesThem) {
  EXPECT_EQ(text(find("/a/b/5/deep")), "}]");
  EXPECT_EQ(find("/dup").as.i64, 1);
}

TEST_F(JsonFind, WhenNamesNeedEscapes_FindsThem) {
  EXPECT_EQ(find("/").as.i64, 1);
  EXPECT_EQ(find("/a~1b").as.i64, 2);
  EXPECT_EQ(find("/m~0n").as.i64, 3);
  EXPECT_EQ(find("/esc\"q").as.i64, 4);
}

TEST_F(JsonFind, WhenThePointerIsEmpty_AnswersTheWhole) {
  EXPECT_EQ(text(find("")), kText);
  EXPECT_EQ(find("", "  7 ").as.i64, 7);
}

TEST_F(JsonFind, WhenAnIntegerDoesNotFit_AnswersANumber) {
  EXPECT_EQ(find("/big").type, std::uint32_t{RW_VALUE_NUMBER});
  EXPECT_EQ(find("/big").as.f64, 9223372036854775808.0);
}

TEST_F(JsonFind, WhenNothingIsThere_AnswersNone) {
  for (const char* pointer : {"/nope", "/a/b/6", "/a/b/-", "/a/b/00", "/a/b/x", "/e/x", "/a/b/0/1", "/a/b/18446744073709551616"}) {
    EXPECT_EQ(find(pointer).type, std::uint32_t{RW_VALUE_NONE}) << pointer;
  }
  EXPECT_EQ(find("/a", "").type, std::uint32_t{RW_VALUE_NONE});
  EXPECT_EQ(find("", "").type, std::uint32_t{RW_VALUE_NONE});
}

TEST_F(JsonFind, WhenBracketsNestDeep_DoesNotRecurse) {
  const std::string deep = "{\"x\":" + std::string(200'000, '[') + std::string(200'000, ']') + ",\"y\":5}";
  EXPECT_EQ(find("/y", deep).as.i64, 5);
}

TEST(JsonPointer, WhenTildesOrSlashesAreWrong_IsNone) {
  EXPECT_TRUE(is_json_pointer(""));
  EXPECT_TRUE(is_json_pointer("/a~0~1/"));
  EXPECT_FALSE(is_json_pointer("a"));
  EXPECT_FALSE(is_json_pointer("/a~"));
  EXPECT_FALSE(is_json_pointer("/a~2"));
}

}  // namespace
}  // namespace runwarden::detect
