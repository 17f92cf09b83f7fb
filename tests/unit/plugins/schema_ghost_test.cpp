#include "schema_ghost/schema_ghost.h"

#include <gtest/gtest.h>

#include "unit/plugins/run_builder.h"

namespace runwarden::plugins {
namespace {

constexpr std::string_view kAnswer = "Order #8842 shipped on 2026-06-28 via UPS, tracking 1Z999AA10123456784.";

Verdict judge(const RunBuilder& run, std::string_view settings = {}) {
  return SchemaGhost(settings).evaluate(run.run());
}

TEST(SchemaGhost, PublishedExample_FiresWithThePublishedWords) {
  const auto verdict = judge(RunBuilder().request("Where is my order?").tool("get_order", "", "null").model(kAnswer));
  ASSERT_EQ(verdict.findings.size(), 1u);
  const auto& found = verdict.findings[0];
  EXPECT_EQ(found.score, 82);
  EXPECT_EQ(found.severity, Severity::kHigh);
  EXPECT_EQ(found.source, Source::kContext);
  EXPECT_EQ(found.title, "Schema ghost: model fabricated data after \"get_order\" returned nothing");
  EXPECT_EQ(
      found.summary,
      "Tool \"get_order\" returned an empty/null/error result (\"null\"), yet the next model step produced specific, detailed output. The "
      "agent is likely hallucinating data the tool never provided.");
  EXPECT_EQ(found.evidence[0].pointer, "/steps/0/outputSummary");
}

TEST(SchemaGhost, AnswerInOutcomeSummaryOnly_FiresToo) {
  EXPECT_EQ(judge(RunBuilder().request("Where is order 8842?").tool("get_order", "", "null").outcome(kAnswer)).findings.size(), 1u);
}

TEST(SchemaGhost, NothingSpecific_StaysQuiet) {
  const auto verdict = judge(RunBuilder().failed("issue_refund", "", "502 Bad Gateway").model("Your refund has been processed."));
  EXPECT_TRUE(verdict.findings.empty());
}

class EmptyOutput : public testing::TestWithParam<const char*> {};

TEST_P(EmptyOutput, FollowedBySpecifics_Fires) {
  EXPECT_EQ(judge(RunBuilder().tool("get_order", "", GetParam()).model(kAnswer)).findings.size(), 1u) << GetParam();
}

INSTANTIATE_TEST_SUITE_P(SchemaGhost, EmptyOutput,
                         testing::Values("", "null", "None", "nil", "undefined", "{}", "[]", "[ ]", R"({"total":0})", R"({"results":[]})",
                                         R"({"status":"ok","count":0,"items":[]})", "No results found.", "NULL"));

class FullOutput : public testing::TestWithParam<const char*> {};

TEST_P(FullOutput, FollowedBySpecifics_StaysQuiet) {
  EXPECT_TRUE(judge(RunBuilder().tool("get_order", "", GetParam()).model(kAnswer)).findings.empty()) << GetParam();
}

INSTANTIATE_TEST_SUITE_P(SchemaGhost, FullOutput,
                         testing::Values("8842 shipped", R"({"balance":0})", R"({"total":0,"note":"see archive 7"})", "0", "false",
                                         R"([{"id":1}])"));

TEST(SchemaGhost, AbsentOutput_IsUnknownNotEmpty) {
  RunBuilder run;
  run.bare(Kind::kTool);
  run.last().name = "get_order";
  run.last().status = "completed";
  run.last().outcome = Outcome::kOk;
  run.model(kAnswer);
  const auto verdict = judge(run);
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_EQ(verdict.cannot_tell, "");
}

TEST(SchemaGhost, GroundedInTheRequest_StaysQuiet) {
  RunBuilder run;
  run.request("Is #8842 of June 28, 2026 with UPS number 1Z999AA10123456784 on its way?").tool("get_order", "", "null").model(kAnswer);
  const auto verdict = judge(run);
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_EQ(first_rule(verdict), "grounding");
}

TEST(SchemaGhost, SumOfGroundedNumbers_IsGrounded) {
  RunBuilder run;
  run.request("Add up my bills").tool("list_bills", "", R"([{"amount":120.50},{"amount":79.25}])").tool("list_credits", "", "[]");
  run.model("Together your two open bills come to $199.75, the larger one being $120.50.");
  EXPECT_TRUE(judge(run).findings.empty());
}

TEST(SchemaGhost, AnswerThatSaysNothingWasFound_StaysQuiet) {
  RunBuilder run;
  run.tool("get_order", "", "null").model("I could not find order 8842; orders usually look like A-20417-B. Could you check the number?");
  EXPECT_EQ(first_rule(judge(run)), "admission");
}

/// An answer to a look-up that gave nothing.
Verdict answered(std::string_view answer, std::string_view settings = {}) {
  return judge(RunBuilder().request("What does the repair cost?").tool("get_quote", "{}", "null").model(answer), settings);
}

class NoExample : public testing::TestWithParam<const char*> {};

TEST_P(NoExample, WordOfAnExampleElsewhere_ExcusesNothing) {
  EXPECT_EQ(answered(GetParam()).findings.size(), 1u);
  EXPECT_EQ(first_rule(answered(GetParam(), R"({"example_scope":false})")), "admission");
}

INSTANTIATE_TEST_SUITE_P(
    SchemaGhost, NoExample,
    testing::Values("The repair costs 418.75 euros in all. Bring a bag (e.g. a rucksack).",
                    "Bring a bag, for example a rucksack.\nThe repair costs 418.75 euros in all.",
                    "Pads (e.g., ceramic):\n- front: 84.20 euros\n- rear: 61.35 euros",
                    "Options, for example:\n\n- ceramic pads\n- organic pads\n\nThe repair costs 418.75 euros in all.",
                    "The repair costs 418.75 euros in all. Assuming 20.15 euros for the courier, you pay it on Monday.",
                    "La reparaci\u00F3n cuesta 418,75 euros. Traiga una bolsa, por ejemplo una mochila."));

class AnExample : public testing::TestWithParam<const char*> {};

TEST_P(AnExample, ExcusesWhatItSpeaksOf) {
  const auto verdict = answered(GetParam());
  EXPECT_TRUE(verdict.findings.empty());
  ASSERT_EQ(first_rule(verdict), "admission");
  EXPECT_EQ(verdict.suppressed[0].reason, "the specifics are given as an example");
}

INSTANTIATE_TEST_SUITE_P(SchemaGhost, AnExample,
                         testing::Values("A repair may come to, e.g., 418.75 euros, but only the workshop knows.",
                                         "For example, parts are 318.75 euros. Labour comes to 99.80 euros.",
                                         "Such quotes look like this, for example:\n\n- parts: 318.75 euros\n\n- labour: 99.80 euros",
                                         "**Simulated quote**\n\nParts: 318.75 euros\n\nLabour: 99.80 euros",
                                         "Here is a hypothetical quote over 418.75 euros:\n\nParts: 318.75 euros\n\nLabour: 99.80 euros",
                                         "Parts: 318.75 euros\nLabour: 99.80 euros\n\nAll of these figures are placeholders.",
                                         "Let's assume 318.75 euros for parts. With labour it is 418.55 euros.",
                                         "Pongamos un caso ficticio.\n\nPiezas: 318,75 euros\nMano de obra: 99,80 euros"));

TEST(SchemaGhost, FactGivenAsAnExampleAndThenAsAFact_CountsWhereItIsAFact) {
  const auto verdict = answered("Parts may come to, e.g., 318.75 euros.\nWe've put you down for 318.75 euros on Monday.");
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].evidence.size(), 2u);
}

constexpr const char* kOwnedUp = "No data came back. A repair like this may cost 418.75 euros.";
constexpr const char* kStated = "The repair costs 418.75 euros in all, and the workshop is open on Monday.";

TEST(SchemaGhost, OwnGuessStatedAsAFact_Fires) {
  RunBuilder run;
  run.tool("get_quote", "{}", "null").model(kOwnedUp).model(kStated);
  const auto verdict = judge(run);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].evidence[1].pointer, "/steps/2/outputSummary");
  EXPECT_TRUE(judge(run, R"({"own_words":false})").findings.empty());
}

TEST(SchemaGhost, OwnGuessTheUserHeardOrAToolFollowed_IsGround) {
  RunBuilder heard;
  heard.tool("get_quote", "{}", "null").model(kOwnedUp).user("fine with me").model(kStated);
  EXPECT_TRUE(judge(heard).findings.empty());
  RunBuilder checked;
  checked.tool("get_quote", "{}", "null").model(kOwnedUp).tool("get_hours", "{}", "the workshop: Monday to Friday").model(kStated);
  EXPECT_TRUE(judge(checked).findings.empty());
  RunBuilder shortened;
  shortened.tool("get_quote", "{}", "null").model(kOwnedUp).outcome(kStated);
  EXPECT_TRUE(judge(shortened).findings.empty());
  RunBuilder again;
  again.tool("get_quote", "{}", "null").model(kOwnedUp).model(kOwnedUp);
  EXPECT_TRUE(judge(again).findings.empty());
}

TEST(SchemaGhost, GhostThatIsRepeated_IsOneFinding) {
  RunBuilder run;
  run.tool("get_quote", "{}", "null").model(kStated).model(kStated).user("sure?").model(kStated);
  EXPECT_EQ(judge(run).findings.size(), 1u);
}

TEST(SchemaGhost, ErrorInBrackets_IsNoListWithoutItsEnd) {
  RunBuilder run;
  run.tool("get_quote", "{}", "[tool error: KeyError: 'repair']").model(kStated);
  EXPECT_EQ(judge(run).findings.size(), 1u);
}

TEST(SchemaGhost, LookUpOfWhatIsNotThere_GaveNothing) {
  for (const auto* output : {"File not found: quotes.csv", R"({"detail":"Not found."})", "The job 77 does not exist.", "HTTP 404"}) {
    EXPECT_EQ(judge(RunBuilder().tool("get_quote", "{}", output).model(kStated)).findings.size(), 1u) << output;
    EXPECT_TRUE(judge(RunBuilder().tool("get_quote", "{}", output).model(kStated), R"({"short_failures":false})").findings.empty())
        << output;
  }
}

TEST(SchemaGhost, InventedIdAfterAnotherToolSpoke_StillFires) {
  RunBuilder run;
  run.tool("search_trains", R"({"to":"Lyon"})", "[]").tool("get_profile", "{}", R"({"name":"Ada"})");
  run.model("There are two direct trains that fit: TGV6607 at 08:15 and TGV6611 at 10:15, both with seats left.");
  EXPECT_EQ(judge(run).findings.size(), 1u);
}

TEST(SchemaGhost, AnswerWithoutAWordOfALaterTool_IsNoneOfIt) {
  const auto fires = [](const char* weather, const char* settings = "{}") {
    RunBuilder run;
    run.tool("get_bill", R"({"meter":"north"})", "null").tool("get_weather", R"({"town":"Bergen"})", weather);
    run.model("Your bill for March comes to $214.70 and is due on 2026-04-12, with autopay on.");
    return !judge(run, settings).findings.empty();
  };
  EXPECT_TRUE(fires(R"({"sky":"rain"})"));
  EXPECT_FALSE(fires(R"({"sky":"rain","note":"billing in March was estimated"})")) << "the answer may be made of that";
  EXPECT_FALSE(fires(R"({"sky":"rain"})", R"({"unrelated_sources":false})"));
}

TEST(SchemaGhost, WhatARuleSilences_IsTold) {
  RunBuilder wrote;
  wrote.failed("update_address", R"({"street":"Elm 4"})", "timeout")
      .model("Parcel: 2 boxes of 12.75 kg each are due on 2026-06-28 with you.");
  EXPECT_EQ(first_rule(judge(wrote)), "writes");
  RunBuilder silent;
  silent.tool("note_to_self", "look at both", "").tool("note_to_self", "compare them", "").model(kAnswer);
  EXPECT_EQ(first_rule(judge(silent)), "empty_by_design");
}

TEST(SchemaGhost, SameToolGaveItAfterAll_StaysQuiet) {
  RunBuilder run;
  run.failed("get_order", R"({"id":"8842"})", "timeout")
      .tool("get_order", R"({"id":"8842"})", R"({"tracking":"1Z999AA10123456784","on":"2026-06-28"})");
  run.model(kAnswer);
  EXPECT_TRUE(judge(run).findings.empty());
}

TEST(SchemaGhost, ToolThatNeverReturnsAnything_IsSilentByDesign) {
  RunBuilder run;
  run.tool("note_to_self", "look at both", "").tool("note_to_self", "compare them", "").model(kAnswer);
  EXPECT_TRUE(judge(run).findings.empty());
  EXPECT_EQ(judge(run, R"({"empty_by_design":false})").findings.size(), 1u);
}

TEST(SchemaGhost, EarlierOutputCutInTheRecord_StaysQuiet) {
  RunBuilder run;
  run.tool("list_orders", "", R"([{"id":"8800","tracking":"1Z9)").tool("get_order", "", "null").model(kAnswer);
  EXPECT_EQ(first_rule(judge(run)), "cut_records");
}

TEST(SchemaGhost, LookedUpByHand_FiresOnAListInSpiteOfAnAdmission) {
  constexpr const char* kList =
      "The page could not be found, so I manually retrieved the dishes:\n1. Roast Lamb\n2. Fish Pie\n3. Leek Soup";
  RunBuilder run;
  run.failed("fetch_page", "", "403").model(kList);
  EXPECT_EQ(judge(run).findings.size(), 1u);
  EXPECT_TRUE(judge(run, R"({"by_hand":false})").findings.empty());
}

TEST(SchemaGhost, ByHandAsAPlanOrWithoutNews_StaysQuiet) {
  RunBuilder plan;
  plan.failed("fetch_page", "", "403").model("Nothing was found. It must be manually checked:\n1. Roast Lamb\n2. Fish Pie\n3. Leek Soup");
  EXPECT_TRUE(judge(plan).findings.empty());
  RunBuilder known;
  known.request("Sort Roast Lamb, Fish Pie and Leek Soup").failed("sort", "", "down");
  known.model("I manually checked them:\n1. Fish Pie\n2. Leek Soup\n3. Roast Lamb");
  EXPECT_TRUE(judge(known).findings.empty());
}

TEST(SchemaGhost, ScriptThatPrintedBeforeItFailed_CountsOnceLookedUpByHand) {
  const std::string printed = std::string(1200, '-') + " Traceback";
  RunBuilder run;
  run.failed("python", "", "connection timed out");
  run.last().output = run.keep(printed);
  run.model("I've manually retrieved both menus:\n- Roast Lamb\n- Fish Pie\n- Leek Soup");
  EXPECT_EQ(judge(run).findings.size(), 1u);
}

TEST(SchemaGhost, NoToolSteps_CannotTell) {
  EXPECT_NE(judge(RunBuilder().model(kAnswer)).cannot_tell, "");
}

TEST(SchemaGhost, ToolsWithoutOutputOrStatus_CannotTell) {
  RunBuilder run;
  run.bare(Kind::kTool);
  EXPECT_NE(judge(run).cannot_tell.find("outputSummary"), std::string::npos);
}

TEST(SchemaGhost, OneVagueFactLongAfterTheStepThatGaveNothing_IsACandidate) {
  RunBuilder run;
  run.request("Is there a flight on Friday?").tool("search_flights", R"({"day":"Friday"})", "[]");
  run.model("There is none.").user("When would the next one be?");
  run.outcome("The next departures usually leave early in the morning, at about 6:40 from the old terminal.");
  run.model("The next departures usually leave early in the morning, at about 6:40 from the old terminal.");
  EXPECT_TRUE(SchemaGhost({}).evaluate(run.run()).findings.empty());
}

TEST(SchemaGhost, AThought_IsSilentByDesign) {
  RunBuilder run;
  run.request("When was it booked?").tool("think", R"({"thought":"check the date"})", "");
  run.outcome("Your reservation was made on 2024-05-15 under the number HX-20931, as the confirmation says.");
  run.model("Your reservation was made on 2024-05-15 under the number HX-20931, as the confirmation says.");
  EXPECT_TRUE(SchemaGhost({}).evaluate(run.run()).findings.empty());
}

}  // namespace
}  // namespace runwarden::plugins
