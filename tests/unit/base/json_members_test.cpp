#include "base/json_members.h"

#include <gtest/gtest.h>

namespace runwarden {
namespace {

std::string members_of(std::string_view json) {
  std::string text;
  for (const JsonMember& one : json_members(json)) text += one.name + "=" + one.json + ";";
  return text;
}

TEST(JsonMembers, AnObject_IsCutIntoItsMembers) {
  EXPECT_EQ(members_of(R"({"a": 1.50, "b":{"a":[1,{"c":null}]}, "c":"x\"y", "d":[], "e":{}})"),
            R"(a=1.50;b={"a":[1,{"c":null}]};c="x\"y";d=[];e={};)");
  EXPECT_EQ(members_of("{}"), "");
  for (const char* other : {"[1]", "5", "\"a\"", "{", ""}) EXPECT_EQ(members_of(other), "") << other;
}

TEST(JsonMembers, AnArray_IsCutIntoItsElements) {
  EXPECT_EQ(json_elements(R"([1,"a",{"b":[2]},[],[[3]],null])"), (std::vector<std::string>{"1", "\"a\"", R"({"b":[2]})", "[]", "[[3]]", "null"}));
  EXPECT_TRUE(json_elements("{\"a\":[1]}").empty());
}

TEST(JsonMembers, AMember_IsFoundByItsName) {
  const std::string object = R"({"a":{"b":[1]},"c":"x\n","c":"second","d":5})";
  EXPECT_EQ(json_member(json_members(object), "a"), R"({"b":[1]})");
  EXPECT_EQ(json_member(json_members(object), "e"), "");
  EXPECT_EQ(json_member_text(object, "c"), "x\n") << "the first";
  EXPECT_EQ(json_member_text(object, "d"), "") << "no string";
  EXPECT_EQ(json_member_text(object, "e"), "");
  EXPECT_EQ(json_member_text("[1]", "a"), "");
}

TEST(JsonMembers, AString_HasItsCharacters) {
  EXPECT_EQ(json_string_value(R"("a\n\u00e9")"), "a\né");
  EXPECT_EQ(json_string_value("5"), "");
  EXPECT_EQ(json_string_value("[\"a\"]"), "");
}

TEST(JsonMembers, OfWrittenText_AreCutOutAsTheyStand) {
  const std::string text = R"({"a":[1,{"b":"\"}"}],"c\u0001":"x","a":null})";
  const auto cut = cut_json_members(text);
  const auto parsed = json_members(text);
  ASSERT_EQ(cut.size(), parsed.size());
  for (std::size_t i = 0; i < cut.size(); ++i) {
    EXPECT_EQ(cut[i].name, parsed[i].name);
    EXPECT_EQ(cut[i].json, parsed[i].json);
  }
  EXPECT_EQ(cut_json_elements(cut[0].json), json_elements(cut[0].json));
  EXPECT_TRUE(cut_json_members("[1]").empty());
  EXPECT_TRUE(cut_json_elements("{}").empty());
}

TEST(JsonMembers, ViewsOfParts_AreInTheTextItself) {
  const std::string text = R"( {"a" : [1, {"b":"\"}"}] ,"c\u0041":"x","a":null})";
  const auto members = json_member_views(text);
  ASSERT_EQ(members.size(), 3u);
  EXPECT_EQ(members[0].json, R"([1, {"b":"\"}"}])");
  EXPECT_EQ(members[0].json.data(), text.data() + text.find('['));
  EXPECT_EQ(members[1].name, "cA");
  EXPECT_EQ(members[1].json, R"("x")");
  EXPECT_EQ(members[2].name, "a");
  EXPECT_EQ(members[2].json, "null");
  const auto elements = json_element_views(members[0].json);
  EXPECT_EQ(elements, (std::vector<std::string_view>{"1", R"({"b":"\"}"})"}));
  EXPECT_EQ(elements[0].data(), members[0].json.data() + 1);
  for (const char* other : {"[1]", "5", ""}) EXPECT_TRUE(json_member_views(other).empty()) << other;
  for (const char* other : {"{}", "5", ""}) EXPECT_TRUE(json_element_views(other).empty()) << other;
  const std::string deep(5000, '[');
  EXPECT_EQ(json_element_views(deep + std::string(5000, ']')).size(), 1u) << "of any depth";
}

TEST(JsonMembers, FirstOfAName_IsFound) {
  constexpr std::string_view kObject = R"({"a":1,"a":2,"b/\u0063":"x"})";
  EXPECT_EQ(json_member_view(kObject, "a"), "1");
  EXPECT_EQ(json_member_view(kObject, "b/c"), R"("x")");
  EXPECT_EQ(json_member_view(kObject, "b"), std::nullopt);
  EXPECT_EQ(json_member_view("[1]", "a"), std::nullopt);
  const auto members = json_members(kObject);
  ASSERT_NE(find_json_member(members, "a"), nullptr);
  EXPECT_EQ(*find_json_member(members, "a"), "1");
  EXPECT_EQ(find_json_member(members, "b"), nullptr);
}

}  // namespace
}  // namespace runwarden
