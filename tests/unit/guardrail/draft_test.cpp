#include "guardrail/draft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace runwarden::guardrail {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json draft_with(const json& condition) {
  return {
      {"format", "guardrail/1"}, {"name", "n"}, {"point", "before_reply"}, {"if", condition}, {"then", {{"action", "warn"}, {"say", "s"}}}};
}

// The pointer and code of the only fault; "" where there is none.
std::string fault_of(const json& draft) {
  const auto read = read_draft(draft.dump());
  if (read.ok()) return "";
  EXPECT_EQ(read.error().code, Code::validation_failed) << read.error().detail;
  if (read.error().faults.size() != 1) return "faults: " + std::to_string(read.error().faults.size()) + " " + read.error().detail;
  return read.error().faults[0].pointer + " " + read.error().faults[0].code;
}

std::string fault_of_condition(const json& condition) {
  return fault_of(draft_with(condition));
}

TEST(GuardrailDraft, EachCondition_IsReadAndWrittenAlike) {
  const json condition = {{"all",
                           {{{"call", {{"tool", {"a", "b"}}, {"outcome", "failed"}, {"sameInput", true}, {"atLeast", 3}, {"last", true}}}},
                            {{"any", {{{"request", {{"anyWord", {"refund"}}}}}, {{"noCall", {{"nameHas", {"cancel"}}}}}}}},
                            {{"not", {{"reply", {{"anyWord", {"unable", "could not"}}, {"digits", 4}}}}}},
                            {{"model", {{"name", "gpt-4o"}, {"inputTokensOver", 128000}}}}}}};
  const auto read = read_draft(draft_with(condition).dump());
  ASSERT_TRUE(read.ok()) << read.error().detail;
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  write_draft(out, *read);
  out.end_object();
  EXPECT_EQ(json::parse(text)["if"], condition);
  EXPECT_EQ(json::parse(text)["then"], json({{"action", "warn"}, {"say", "s"}}));
  EXPECT_EQ(json::parse(text)["point"], "before_reply");
}

TEST(GuardrailDraft, ATestASourceAndOtherMembers_DoNotMatter) {
  json draft = draft_with({{"call", json::object()}});
  draft["source"] = {{"failureId", "fail_1"}};
  draft["test"] = "none";
  EXPECT_EQ(fault_of(draft), "");
}

TEST(GuardrailDraft, AWrongMember_IsToldByItsPointer) {
  EXPECT_EQ(fault_of_condition("always"), "/if wrong_type");
  EXPECT_EQ(fault_of_condition(json::object()), "/if invalid_value");
  EXPECT_EQ(fault_of_condition({{"call", json::object()}, {"reply", {{"digits", 1}}}}), "/if invalid_value");
  EXPECT_EQ(fault_of_condition({{"regex", ".*"}}), "/if/regex unknown_member");
  EXPECT_EQ(fault_of_condition({{"a/b~c", 1}}), "/if/a~1b~0c unknown_member");
  EXPECT_EQ(fault_of_condition({{"all", json::array()}}), "/if/all invalid_value");
  EXPECT_EQ(fault_of_condition({{"all", {{{"call", {{"tool", 7}}}}}}}), "/if/all/0/call/tool wrong_type");
  EXPECT_EQ(fault_of_condition({{"call", {{"tool", json::array()}}}}), "/if/call/tool invalid_value");
  EXPECT_EQ(fault_of_condition({{"call", {{"outcome", "late"}}}}), "/if/call/outcome invalid_value");
  EXPECT_EQ(fault_of_condition({{"call", {{"atLeast", 0}}}}), "/if/call/atLeast invalid_value");
  EXPECT_EQ(fault_of_condition({{"call", {{"atLeast", 1.5}}}}), "/if/call/atLeast invalid_value");
  EXPECT_EQ(fault_of_condition({{"call", {{"last", "yes"}}}}), "/if/call/last wrong_type");
  EXPECT_EQ(fault_of_condition({{"call", {{"tols", "a"}}}}), "/if/call/tols unknown_member");
  EXPECT_EQ(fault_of_condition({{"reply", json::object()}}), "/if/reply required");
  EXPECT_EQ(fault_of_condition({{"reply", {{"anyWord", "refund"}}}}), "/if/reply/anyWord wrong_type");
  EXPECT_EQ(fault_of_condition({{"reply", {{"anyWord", {"ok", "!?"}}}}}), "/if/reply/anyWord/1 invalid_value");
  EXPECT_EQ(fault_of_condition({{"request", {{"digits", 1}}}}), "/if/request/digits unknown_member");
  EXPECT_EQ(fault_of_condition({{"noCall", json::object()}}), "/if/noCall/nameHas required");
  EXPECT_EQ(fault_of_condition({{"model", {{"inputTokensOver", -1}}}}), "/if/model/inputTokensOver invalid_value");
  EXPECT_EQ(fault_of_condition({{"not", {{"not", 1}}}}), "/if/not/not wrong_type");
}

TEST(GuardrailDraft, AMissingOrWrongMemberOfTheDraft_IsTold) {
  json draft = draft_with({{"call", json::object()}});
  draft.erase("then");
  EXPECT_EQ(fault_of(draft), "/then required");
  draft = draft_with({{"call", json::object()}});
  draft["then"].erase("action");
  EXPECT_EQ(fault_of(draft), "/then/action required");
  draft = draft_with({{"call", json::object()}});
  draft["point"] = "whenever";
  EXPECT_EQ(fault_of(draft), "/point invalid_value");
  draft["point"] = "before_tool";
  draft["format"] = "guardrail/2";
  EXPECT_EQ(fault_of(draft), "/format invalid_value");
  EXPECT_EQ(fault_of(json::array()), " wrong_type");
}

TEST(GuardrailDraft, AConditionNestedTooDeep_IsRefusedWhereItIs) {
  json condition = {{"call", json::object()}};
  for (std::size_t i = 1; i < kDeepestCondition; ++i) condition = {{"not", condition}};
  EXPECT_EQ(fault_of_condition(condition), "");
  std::string pointer = "/if";
  for (std::size_t i = 0; i < kDeepestCondition; ++i) pointer += "/not";
  EXPECT_EQ(fault_of_condition({{"not", condition}}), pointer + " too_deep");
}

TEST(GuardrailDraft, HugeInput_IsRefused) {
  json words = json::array();
  for (std::size_t i = 0; i <= kMostNames; ++i) words.push_back("w" + std::to_string(i));
  EXPECT_EQ(fault_of_condition({{"reply", {{"anyWord", words}}}}), "/if/reply/anyWord invalid_value");
  EXPECT_EQ(fault_of_condition({{"reply", {{"anyWord", {std::string(kLongestName + 1, 'a')}}}}}), "/if/reply/anyWord/0 invalid_value");
  json many = json::array();
  for (std::size_t i = 0; i < 2 * kMostConditions; ++i) many.push_back({{"call", json::object()}});
  EXPECT_THAT(fault_of_condition({{"any", many}}), HasSubstr("too_many"));
  EXPECT_EQ(read_draft(std::string(kMostDraftBytes + 1, ' ')).error().code, Code::payload_too_large);
  EXPECT_EQ(read_draft(std::string(100'000, '[')).error().code, Code::malformed_json);
  EXPECT_EQ(read_draft("").error().code, Code::malformed_json);
  EXPECT_EQ(read_draft(R"({"format":"guardrail/1","format":"guardrail/1"})").error().faults[0].code, "duplicate");
}

}  // namespace
}  // namespace runwarden::guardrail
