#include "base/json_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace runwarden {
namespace {

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonText, AString_IsEscapedAndBadUtf8Replaced) {
  EXPECT_EQ(quoted("a\"b\\c\n\t\r\b\f\x01/é😀"), "\"a\\\"b\\\\c\\n\\t\\r\\b\\f\\u0001/é😀\"");
  EXPECT_EQ(quoted("x\xff\xc3"), "\"x\xEF\xBF\xBD\xEF\xBF\xBD\"");
  EXPECT_EQ(quoted(""), "\"\"");
}

TEST(JsonText, ANumber_IsItsShortestText) {
  const auto text = [](double value) {
    std::string out;
    append_json_number(out, value);
    return out;
  };
  EXPECT_EQ(text(0.6), "0.6");
  EXPECT_EQ(text(95), "95");
  EXPECT_EQ(text(std::numeric_limits<double>::infinity()), "null");
}

TEST(JsonWriter, Strings_AreAnArrayOfEscapedTexts) {
  std::string out;
  JsonWriter(out)
      .begin_object()
      .key("a")
      .strings(std::vector<std::string>{"x", "\"y\""})
      .key("b")
      .strings(std::vector<std::string>())
      .end_object();
  EXPECT_EQ(out, R"({"a":["x","\"y\""],"b":[]})");
}

TEST(JsonWriter, WritesCommasWhereTheyBelong) {
  std::string out;
  JsonWriter(out)
      .begin_object()
      .key("a")
      .begin_array()
      .integer(1)
      .integer(2)
      .begin_object()
      .end_object()
      .end_array()
      .key("b")
      .string("x")
      .key("c")
      .null()
      .key("d")
      .raw("[]")
      .end_object();
  EXPECT_EQ(out, R"({"a":[1,2,{}],"b":"x","c":null,"d":[]})");
}

}  // namespace
}  // namespace runwarden
