#include "base/json_cursor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runwarden {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::vector<std::pair<std::string, std::string>> members(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> found;
  JsonCursor cursor(text);
  if (!cursor.enter('{')) return found;
  while (cursor.more()) {
    std::string name(cursor.name());
    found.emplace_back(std::move(name), std::string(cursor.value()));
  }
  return found;
}

std::vector<std::string> elements(std::string_view text) {
  std::vector<std::string> found;
  JsonCursor cursor(text);
  if (!cursor.enter('[')) return found;
  while (cursor.more()) found.emplace_back(cursor.value());
  return found;
}

TEST(JsonCursor, CutsOutMembersAsTheyStand) {
  EXPECT_THAT(members(R"( { "a" : 1 , "b":[ 2,{"c":"}"} ], "d\"\\":"x\\", "e":null } )"),
              ElementsAre(Pair("a", "1"), Pair("b", R"([ 2,{"c":"}"} ])"), Pair(R"(d\"\\)", R"("x\\")"), Pair("e", "null")));
  EXPECT_THAT(members("{}"), IsEmpty());
}

TEST(JsonCursor, CutsOutElementsAsTheyStand) {
  EXPECT_THAT(elements(R"([[],{}, "" ,"],", -1.5e3 ,true])"), ElementsAre("[]", "{}", R"("")", R"("],")", "-1.5e3", "true"));
  EXPECT_THAT(elements(" [ ] "), IsEmpty());
}

TEST(JsonCursor, EntersWhatBeginsWithTheBracketOnly) {
  JsonCursor cursor(R"([1])");
  EXPECT_FALSE(cursor.enter('{'));
  EXPECT_EQ(cursor.value(), "[1]");
}

// A view that the cursor gave; an empty one may be of no text.
bool is_within(std::string_view text, std::string_view view) {
  return view.empty() || (view.data() >= text.data() && view.data() + view.size() <= text.data() + text.size());
}

TEST(JsonCursor, InTextThatIsNotJson_EndsAndStaysWithinIt) {
  for (const std::string_view text : {"", "{", "{\"", "{\"a", "{\"a\"", "{\"a\":", "{a:1}", "{:}", "{,,}", "{\"a\":]", "{\"a\\\"", "}"}) {
    JsonCursor cursor(text);
    cursor.enter('{');
    for (std::size_t items = 1; cursor.more(); ++items) {
      ASSERT_LE(items, text.size() + 1) << text;
      EXPECT_TRUE(is_within(text, cursor.name())) << text;
      EXPECT_TRUE(is_within(text, cursor.value())) << text;
    }
  }
  for (const std::string_view text : {"", "[", "[\"", "[\"\\", "[,", "[,,1", "[:", "[}", "[[", "[1 2", "]"}) {
    JsonCursor cursor(text);
    cursor.enter('[');
    for (std::size_t items = 1; cursor.more(); ++items) {
      ASSERT_LE(items, text.size() + 1) << text;
      EXPECT_TRUE(is_within(text, cursor.value())) << text;
    }
  }
}

}  // namespace
}  // namespace runwarden
