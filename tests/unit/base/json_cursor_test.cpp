#include "base/json_cursor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
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

TEST(JsonCursor, InTextThatIsNotJson_Ends) {
  for (const std::string_view text :
       {"", "{", "{\"", "{\"a", "{\"a\"", "{\"a\":", "{a:1}", "{:}", "{,,}", "{\"a\":]", "{\"a\\\"", "{\"", "}"})
    members(text);
  for (const std::string_view text : {"", "[", "[\"", "[\"\\", "[,", "[:", "[}", "[[", "[1 2", "]"}) elements(text);
}

}  // namespace
}  // namespace runwarden
