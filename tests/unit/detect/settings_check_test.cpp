#include "detect/settings_check.h"

#include <gtest/gtest.h>

#include <string>

namespace runwarden::detect {
namespace {

constexpr std::string_view kSchema = R"({"type":"object","additionalProperties":false,"required":["name"],"properties":{
  "name":{"type":"string","minLength":1,"maxLength":3},
  "repeats":{"type":"integer","minimum":2,"maximum":1000},
  "share":{"type":"number","exclusiveMinimum":0,"maximum":1},
  "words":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":2},
  "windows":{"type":"object","additionalProperties":{"type":"integer","minimum":1}},
  "mode":{"enum":["on","off"]},
  "maybe":{"type":["boolean","null"]},
  "always":{"const":7}}})";

// The pointer and text of the one fault.
std::string fault(const std::string& settings) {
  const auto found = settings_faults(kSchema, settings);
  if (found.empty()) return "none";
  EXPECT_EQ(found.size(), 1U) << settings;
  return found[0].pointer + ": " + found[0].detail;
}

TEST(SettingsCheck, WhenSettingsAreGood_FindsNothing) {
  EXPECT_EQ(fault(R"({"name":"a"})"), "none");
  EXPECT_EQ(fault(R"({"name":"äöü","repeats":2,"share":1,"words":["x"],"windows":{"gpt":1},"mode":"on","maybe":null,"always":7})"), "none");
  EXPECT_EQ(fault(R"({"name":"a","repeats":3.0})"), "none");
}

TEST(SettingsCheck, WhenAValueIsWrong_NamesPlaceLimitAndValue) {
  EXPECT_EQ(fault(R"({"name":"a","repeats":"ten"})"), "/repeats: expected an integer from 2 to 1000, got \"ten\"");
  EXPECT_EQ(fault(R"({"name":"a","repeats":1})"), "/repeats: expected an integer from 2 to 1000, got 1");
  EXPECT_EQ(fault(R"({"name":"a","repeats":2.5})"), "/repeats: expected an integer from 2 to 1000, got 2.5");
  EXPECT_EQ(fault(R"({"name":"a","share":0})"), "/share: expected a number above 0 and of at most 1, got 0");
  EXPECT_EQ(fault(R"({"name":"a","words":["x",5]})"), "/words/1: expected a string, got 5");
  EXPECT_EQ(fault(R"({"name":"a","words":[]})"), "/words: expected at least 1 items, got 0");
  EXPECT_EQ(fault(R"({"name":"abcd"})"), "/name: expected at most 3 characters, got 4");
  EXPECT_EQ(fault(R"({"name":"a","windows":{"a/b":0}})"), "/windows/a~1b: expected an integer of at least 1, got 0");
  EXPECT_EQ(fault(R"({"name":"a","mode":"of"})"), "/mode: expected one of [\"on\",\"off\"], got \"of\"");
  EXPECT_EQ(fault(R"({"name":"a","maybe":1})"), "/maybe: expected a boolean or null, got 1");
  EXPECT_EQ(fault(R"({"name":"a","always":8})"), "/always: expected 7, got 8");
}

TEST(SettingsCheck, WhenBoundsAreOfBothKinds_NamesThemAll) {
  const auto told = [](const std::string& bounds, const std::string& value) {
    return settings_faults(R"({"properties":{"x":{)" + bounds + "}}}", R"({"x":)" + value + "}").at(0).detail;
  };
  EXPECT_EQ(told(R"("minimum":0,"maximum":5,"exclusiveMinimum":0)", "0"), "expected a number from 0 to 5 and above 0, got 0");
  EXPECT_EQ(told(R"("minimum":0,"exclusiveMaximum":5)", "5"), "expected a number of at least 0 and below 5, got 5");
}

TEST(SettingsCheck, WhenANameIsUnknown_SuggestsTheNearest) {
  EXPECT_EQ(fault(R"({"name":"a","repeat":3})"), "/repeat: unknown setting \"repeat\"; the nearest known one is repeats");
  EXPECT_EQ(fault(R"({"name":"a","completely":3})"),
            "/completely: unknown setting \"completely\"; the nearest known ones are maybe, mode, name");
}

TEST(SettingsCheck, WhenSeveralAreWrong_TellsAll) {
  EXPECT_EQ(settings_faults(kSchema, R"({"repeats":1,"mode":2})").size(), 3U);
}

TEST(SettingsCheck, WhenSettingsAreNoObject_SaysSo) {
  EXPECT_EQ(fault("[]"), ": expected an object, got []");
  EXPECT_EQ(settings_faults("", "7").size(), 1U);
  EXPECT_TRUE(settings_faults("", R"({"anything":1})").empty());
  EXPECT_EQ(settings_faults(kSchema, std::string(100'000, '[')).size(), 1U);
}

TEST(SchemaFault, WhenAKeywordIsNotChecked_SaysSo) {
  EXPECT_EQ(schema_fault(kSchema), "");
  EXPECT_EQ(schema_fault(R"({"properties":{"a":{"pattern":"x"}}})"),
            "/properties/a/pattern: the keyword \"pattern\" is not supported: remove it");
  EXPECT_EQ(schema_fault(R"({"items":{"$ref":"#"}})"), "/items/$ref: the keyword \"$ref\" is not supported: remove it");
  EXPECT_EQ(schema_fault(R"({"type":"object","type":"array"})"), "/type: the member appears twice: write it once");
  EXPECT_EQ(schema_fault(R"({"properties":{"a":{"enum":[1,{"b":1,"\u0062":2}]}}})"),
            "/properties/a/enum/1/b: the member appears twice: write it once");
  EXPECT_NE(schema_fault(R"({"type":"integre"})"), "");
  EXPECT_NE(schema_fault(R"({"minimum":"1"})"), "");
  EXPECT_NE(schema_fault("[]"), "");
  EXPECT_NE(schema_fault("{"), "");
}

TEST(Declares, IsFalseOfAMemberThatItsMappingDoesNotHave) {
  const std::string schema =
      R"({"properties":{"rules":{"properties":{"a/b":{}}},"tables":{"items":{"properties":{"name":{}}}},"any":{"type":"object"},)"
      R"("by_name":{"additionalProperties":{"properties":{"x":{}}}}}})";
  for (const char* declared :
       {"", "/rules", "/rules/a~1b", "/rules/a~1b/deeper", "/tables/0", "/tables/0/name", "/any/thing", "/by_name/k/x"})
    EXPECT_TRUE(declares(schema, declared)) << declared;
  for (const char* unknown : {"/rule", "/rules/c", "/tables/0/nam", "/by_name/k/y"}) EXPECT_FALSE(declares(schema, unknown)) << unknown;
  EXPECT_TRUE(declares("", "/anything"));
}

}  // namespace
}  // namespace runwarden::detect
