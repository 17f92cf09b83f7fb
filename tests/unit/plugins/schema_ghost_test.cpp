#include "schema_ghost/schema_ghost.h"

#include <gtest/gtest.h>

#include "unit/plugins/candidates.h"
#include "unit/plugins/run_builder.h"
#include "vocabulary_file.h"

namespace runwarden::plugins {
namespace {

constexpr std::string_view kAnswer = "Order #8842 shipped on 2026-06-28 via UPS, tracking 1Z999AA10123456784.";

/// For what a rule by itself says of a run.
constexpr std::string_view kRulesAlone = R"({"rules":{"weighed":false}})";

constexpr std::string_view kWide = R"({"sensitivity":"wide"})";

Verdict judge(const RunBuilder& run, std::string_view settings = {}) {
  return SchemaGhost(settings).evaluate(run.run());
}

TEST(SchemaGhost, PlainAnswerForALookUpThatAloneRanAndFailed_IsMadeUp) {
  const auto judged = [](std::string_view answer, bool failed) {
    RunBuilder run;
    run.request("What is the capital of Denmark?");
    failed ? run.failed("geography_lookup", R"({"query":"capital of Denmark"})", "ERROR 503: try again later")
           : run.tool("geography_lookup", R"({"query":"capital of Denmark"})", "[]");
    return judge(run.model(answer)).findings.size();
  };
  EXPECT_EQ(judged("The capital of Denmark is Copenhagen.", true), 1u);
  EXPECT_EQ(judged("The capital of Denmark is Copenhagen.", false), 0u) << "the look-up found nothing, and the agent may know";
  EXPECT_EQ(judged("There was an error; the capital of Denmark may be Copenhagen.", true), 0u);
  EXPECT_EQ(judged("I assume that the capital of Denmark is Copenhagen.", true), 0u);
  EXPECT_EQ(judged("From what I know, the capital of Denmark is Copenhagen.", true), 0u);
}

TEST(SchemaGhost, InventedIdAsAToolsInput_UnderAnyNameOfAThing) {
  for (const char* input :
       {R"({"flight_id":"HAT902"})", R"({"flight":"HAT902"})", R"({"reference":"HAT902"})", R"({"ticket":"HAT902"})", "HAT902"}) {
    const auto judged = [&](std::string_view found) {
      RunBuilder run;
      run.request("Book me the first flight to Lisbon").tool("search_flights", R"({"to":"Lisbon"})", found);
      return judge(run.tool("book_flight", input, R"({"status":"booked"})").model("You are on the first flight to Lisbon."))
          .findings.size();
    };
    EXPECT_EQ(judged("[]"), 1u) << input;
    EXPECT_EQ(judged(R"([{"flight":"HAT902"}])"), 0u) << input;
  }
}

TEST(SchemaGhost, ThingThatNoOutputShows_WasNotFound) {
  const auto judged = [](std::string_view seen, std::string_view said, std::string_view next, std::string_view first = "You see nothing.") {
    RunBuilder run;
    run.request("Bring some oilcan to workbench 2.").tool("look", R"({"at":"shelf 1"})", first).tool("look", R"({"at":"shelf 3"})", seen);
    run.model(said).tool("pick_up", next, "Nothing happens.");
    return judge(run.model("I give up.")).findings.size();
  };
  constexpr auto kOthers = "You see a hammer 1, a funnel 2 and a rag 1.";
  constexpr auto kSaid = "I have found an oilcan (1) here. Next I need to take it.";
  constexpr auto kNext = R"({"thing":"oilcan 1","from":"shelf 3"})";
  EXPECT_EQ(judged(kOthers, kSaid, kNext), 1u);
  EXPECT_EQ(judged("You see a hammer 1 and an oilcan 1.", kSaid, kNext), 0u) << "it is there";
  EXPECT_EQ(judged(kOthers, kSaid, R"({"thing":"funnel 2","from":"shelf 3"})"), 0u) << "what it takes is there";
  EXPECT_EQ(judged(kOthers, "I have found a workbench 2 here.", R"({"thing":"workbench 2"})"), 0u) << "the user named it";
  EXPECT_EQ(judged(kOthers, "I need to find an oilcan (1) first.", kNext), 0u) << "a plan";
  EXPECT_EQ(judged(kOthers, "I have not found an oilcan (1) here.", kNext), 0u);
  EXPECT_EQ(judged(kOthers, kSaid, kNext, "You see a rag 2."), 0u) << "no place was empty";
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
}

INSTANTIATE_TEST_SUITE_P(
    SchemaGhost, NoExample,
    testing::Values("The repair costs 418.75 euros in all. Bring a bag (e.g. a rucksack).",
                    "Bring a bag, for example a rucksack.\nThe repair costs 418.75 euros in all.",
                    "Pads (e.g., ceramic):\n- front: 84.20 euros\n- rear: 61.35 euros",
                    "Options, for example:\n\n- ceramic pads\n- organic pads\n\nThe repair costs 418.75 euros in all.",
                    "The repair costs 418.75 euros in all. Assuming 20.15 euros for the courier, you pay it on Monday.",
                    "Let's assume that an hour costs 418.75 euros; then the repair takes one.",
                    "Let's assume 318.75 euros for parts. With labour it is 418.55 euros.",
                    "Assuming a rate of 418.75 euros an hour, the repair takes one hour.",
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
                                         "A quote may read something like \"418.75 euros\".",
                                         "Un presupuesto dir\u00EDa algo como \"418,75 euros\".",
                                         "For example, parts are 318.75 euros. Labour comes to 99.80 euros.",
                                         "Such quotes look like this, for example:\n\n- parts: 318.75 euros\n\n- labour: 99.80 euros",
                                         "**Simulated quote**\n\nParts: 318.75 euros\n\nLabour: 99.80 euros",
                                         "Here is a hypothetical quote over 418.75 euros:\n\nParts: 318.75 euros\n\nLabour: 99.80 euros",
                                         "Parts: 318.75 euros\nLabour: 99.80 euros\n\nAll of these figures are placeholders.",
                                         "Pongamos un caso ficticio.\n\nPiezas: 318,75 euros\nMano de obra: 99,80 euros"));

/// A program that printed nothing gave no figure; the model may know it all the same, unless it announces it as what was found.
TEST(SchemaGhost, FigureAnnouncedAfterAProgramPrintedNothing_Fires) {
  const auto after = [](std::string_view answer) {
    RunBuilder run;
    run.request("How many tides are there from 14 March to 9 November?");
    run.tool("run_python", R"({"code":"from datetime import date; (date(2026, 11, 9) - date(2026, 3, 14)).days"})", R"({"stdout": ""})");
    return judge(run.model(answer).outcome(answer));
  };
  EXPECT_EQ(after("FINAL ANSWER: 466").findings.size(), 1u);
  EXPECT_TRUE(after("466").findings.empty());
  EXPECT_TRUE(after("FINAL ANSWER: unknown").findings.empty());
}

TEST(SchemaGhost, CodeThatTheUserReadsOut_IsTold) {
  const auto fires = [](std::string_view told) {
    RunBuilder run;
    run.request("My booking has gone. It may be M three N four P five, for Marsh.").tool("get_booking", R"({"code":"M3N4P5"})", "null");
    run.model("That one did not come up.").user(told).tool("get_booking", R"({"code":"X7Y8Z9"})", "null");
    return !judge(run.model("That one did not come up, either.")).findings.empty();
  };
  EXPECT_FALSE(fires("Then try X seven Y eight Z nine."));
  EXPECT_FALSE(fires("Then try Xray 7 Yankee 8 Zulu niner, no: X-ray, sorry. X seven Y eight Z nine."));
  EXPECT_TRUE(fires("Then try another one."));
}

TEST(SchemaGhost, HowSignsAreReadOut_IsAWordAndOneSign) {
  const VocabularyFile file("language: en\nspoken_signs: [gip=x]\n");
  RunBuilder run;
  run.request("My booking is gip seven gip nine.").tool("get_booking", R"({"code":"M3N4P5"})", "null");
  run.tool("get_booking", R"({"code":"X7X9"})", "null").model("Neither came up.");
  EXPECT_TRUE(judge(run, file.settings()).findings.empty());
  const VocabularyFile broken("language: en\nspoken_signs: [gip=xy]\n");
  try {
    (void)SchemaGhost(broken.settings());
    FAIL() << "was taken";
  } catch (const std::invalid_argument& fault) {
    EXPECT_STREQ(fault.what(), "/vocabulary: spoken_signs: \"gip=xy\" is not a word, \"=\" and one letter or digit");
  }
}

TEST(SchemaGhost, SignsBeforeDigitsThatWereTold_MakeNoOtherCode) {
  const auto fires = [](std::string_view passed) {
    RunBuilder run;
    run.request("Please cancel my order 789012.").tool("get_order", R"({"order_id":"789012"})", "null");
    run.failed("cancel_order", R"({"order_id":")" + std::string(passed) + "\"}", "order not found");
    return !judge(run.model("I could not cancel it.")).findings.empty();
  };
  EXPECT_FALSE(fires("#W789012"));
  EXPECT_TRUE(fires("#W733155"));
}

TEST(SchemaGhost, WhatTheAgentNeedsToBeTold_IsNotMadeUp) {
  const auto fires = [](std::string_view opening) {
    RunBuilder run;
    run.request("Open a profile for Marsh.").tool("get_customer", R"({"name":"Marsh"})", "null");
    return !judge(run.model(std::string(opening) + ":\n- the Harbour Pass\n- the Tide Ledger\n- the Quay Signature")).findings.empty();
  };
  EXPECT_FALSE(fires("To open it, I will need the following for this customer"));
  EXPECT_TRUE(fires("Of this customer there is the following"));
}

TEST(SchemaGhost, LettersThatAreReadOut_AreNoNames) {
  const auto fires = [](std::string_view answer) {
    RunBuilder run;
    run.request("Which flight do I take from LAX to MIA on 14 May?").tool("get_delays", R"({"day":"14 May"})", "null");
    return !judge(run.model(answer)).findings.empty();
  };
  EXPECT_FALSE(fires("You take Sierra Kilo, which some call Papa Zulu, and lately Mike Tango."));
  EXPECT_TRUE(fires("You take Falcon Breeze, which some call Harbour Wind, and lately Marsh Heron."));
}

TEST(SchemaGhost, FigureThatTheAgentWorksOutAndCallsApproximate_IsNotMadeUp) {
  const auto fires = [](std::string_view working) {
    RunBuilder run;
    run.request("What is 0 degrees Fahrenheit in Reaumur?").tool("convert", "0 F", "").model(working);
    return !judge(run.model("It is approximately **-14.22** degrees.").outcome("It is approximately **-14.22** degrees.")).findings.empty();
  };
  EXPECT_FALSE(fires("R = (F - 32) * 4/9 = -128/9 \u2248 -14.22."));
  EXPECT_TRUE(fires("R is -14.22."));
  EXPECT_TRUE(fires("R \u2248 -14.22."));
  EXPECT_TRUE(fires("R = (F - 32) * 4/9 = -128/9 \u2248 -14.9."));
}

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
}

TEST(SchemaGhost, OwnGuessTheUserHeardOrAToolFollowed_IsGround) {
  RunBuilder heard;
  heard.tool("get_quote", "{}", "null").model(kOwnedUp).user("fine with me").model(kStated);
  EXPECT_TRUE(judge(heard, kRulesAlone).findings.empty());
  RunBuilder checked;
  checked.tool("get_quote", "{}", "null").model(kOwnedUp).tool("get_hours", "{}", "the workshop: Monday to Friday").model(kStated);
  EXPECT_TRUE(judge(checked).findings.empty());
  RunBuilder shortened;
  shortened.tool("get_quote", "{}", "null").model(kOwnedUp).outcome(kStated);
  EXPECT_TRUE(judge(shortened, kRulesAlone).findings.empty());
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
    EXPECT_TRUE(
        judge(RunBuilder().tool("get_quote", "{}", output).model(kStated), R"({"rules":{"short_failures":false}})").findings.empty())
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
  const auto fires = [](const char* weather, std::string_view settings = kRulesAlone) {
    RunBuilder run;
    run.tool("get_bill", R"({"meter":"north"})", "null").tool("get_weather", R"({"town":"Bergen"})", weather);
    run.model("Your bill for March comes to $214.70 and is due on 2026-04-12, with autopay on.");
    return !judge(run, settings).findings.empty();
  };
  EXPECT_TRUE(fires(R"({"sky":"rain"})"));
  EXPECT_FALSE(fires(R"({"sky":"rain","note":"billing in March was estimated"})")) << "the answer may be made of that";
  EXPECT_FALSE(fires(R"({"sky":"rain"})", R"({"rules":{"later_answers":false,"weighed":false}})"));
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
  EXPECT_EQ(judge(run, R"({"rules":{"empty_by_design":false}})").findings.size(), 1u);
}

TEST(SchemaGhost, EarlierOutputCutInTheRecord_StaysQuiet) {
  for (const auto* cut : {R"([{"id":"8800","tracking":"1Z9)", "8800: 1Z9...", "8800: 1Z9 [truncated]", "8800: 1Z9 [gek\u00FCrzt]"}) {
    RunBuilder run;
    run.tool("list_orders", "", cut).tool("get_order", "", "null").model(kAnswer);
    EXPECT_EQ(first_rule(judge(run)), "cut_records") << cut;
  }
}

TEST(SchemaGhost, LookedUpByHand_FiresOnAListInSpiteOfAnAdmission) {
  constexpr const char* kList =
      "The page could not be found, so I manually retrieved the dishes:\n1. Roast Lamb\n2. Fish Pie\n3. Leek Soup";
  RunBuilder run;
  run.failed("fetch_page", "", "403").model(kList);
  EXPECT_EQ(judge(run).findings.size(), 1u);
  EXPECT_TRUE(judge(run, R"({"rules":{"names":false}})").findings.empty());
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
  run.last().output = run.copy(printed);
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

TEST(SchemaGhost, AnswerThatIsOneFigure_FiresAfterAFailedSource) {
  for (const auto* answer : {"ANSWER: 71.30", "Result: 418", "A berth there costs \u20ac64.50 a night."}) {
    RunBuilder run;
    run.request("What does berth B7 cost for two nights?").failed("find_berths", R"({"name": "B7"})", "invalid argument").model(answer);
    const auto verdict = judge(run);
    ASSERT_EQ(verdict.findings.size(), 1u) << answer;
    EXPECT_EQ(verdict.findings[0].primary_step, 0u);
    EXPECT_EQ(verdict.findings[0].evidence[1].pointer, "/steps/1/outputSummary");
  }
}

TEST(SchemaGhost, FigureThatFollowsOrAnotherToolGave_StaysQuiet) {
  const auto after_failure = [](std::string_view answer) {
    RunBuilder run;
    run.request("What do two nights cost?").tool("find_berths", R"({"name": "B7"})", R"([{"berth": "B7", "night": 64.50}])");
    run.failed("calculator", R"({"expr": "2 nights"})", "syntax error");
    return judge(run.model(answer), kWide).findings.size();
  };
  EXPECT_EQ(after_failure("ANSWER: 129.00"), 0u);
  EXPECT_EQ(after_failure("ANSWER: 64.50"), 0u);
  EXPECT_EQ(after_failure("ANSWER: 131.40"), 1u);
  RunBuilder given;
  given.failed("find_berths", "{}", "invalid argument").tool("list_prices", "{}", "see the board").model("ANSWER: 131.40");
  EXPECT_TRUE(judge(given).findings.empty());
}

TEST(SchemaGhost, WholeFigureBesideAnAnswer_MayBeCounted) {
  RunBuilder run;
  run.tool("list_berths", "{}", "B1 B2 B3 B4 (all of them free)").failed("calculator", "{}", "syntax error").model("ANSWER: 59");
  const auto verdict = judge(run);
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_EQ(first_rule(verdict), "plain_answer");
}

TEST(SchemaGhost, QuestionPlanOrAdmissionWithAFigure_StaysQuiet) {
  for (const auto* answer : {"Shall I try 418?", "I will try again with 418 rows.", "The search failed with code 418."}) {
    EXPECT_TRUE(judge(RunBuilder().failed("find_berths", "{}", "invalid argument").model(answer)).findings.empty()) << answer;
  }
}

TEST(SchemaGhost, AddressInventedForACall_Fires) {
  RunBuilder run;
  run.request("Remind the skipper of the Alba about her fee.").tool("search_skippers", R"({"ship": "Alba"})", "[]");
  run.failed("send_mail", R"({"to": "captain.reed@example.org", "text": "Your fee is due."})", "unknown recipient");
  run.model("I have a problem with the mail.");
  const auto verdict = judge(run);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].evidence[1].pointer, "/steps/1/inputSummary");
  EXPECT_EQ(verdict.findings[0].evidence[1].value, "captain.reed@example.org");
}

TEST(SchemaGhost, AddressSomebodyTold_StaysQuiet) {
  RunBuilder told;
  told.request("Remind mara@alba-sailing.net about her fee.").tool("search_skippers", R"({"ship": "Alba"})", "[]");
  told.tool("send_mail", R"({"to": "mara@alba-sailing.net"})", "sent");
  EXPECT_TRUE(judge(told).findings.empty());
  // The record has the user's words after the call that they were for.
  RunBuilder late;
  late.request("Remind the skipper.").tool("search_skippers", R"({"ship": "Alba"})", "[]");
  late.failed("send_mail", R"({"to": "mara@alba-sailing.net"})", "unknown recipient").user("It is mara@alba-sailing.net");
  EXPECT_TRUE(judge(late).findings.empty());
  // A look-up that knows the value confirms it.
  RunBuilder known;
  known.request("Who is on the Alba?").tool("search_skippers", R"({"ship": "Alba"})", "[]");
  known.tool("get_skipper", R"({"skipper_id": "SK-4471"})", R"({"name": "Mara"})");
  EXPECT_TRUE(judge(known).findings.empty());
}

TEST(SchemaGhost, IdMadeOfWhatTheUserTold_IsNotInvented) {
  const auto fires = [](std::string_view account) {
    RunBuilder run;
    run.request("My berth is dark. I am member 5550142A.").failed("find_member", R"({"member":"5550142A"})", "member not found");
    run.failed("report_fault", R"({"account_id":")" + std::string(account) + R"(","what":"dark"})", "unknown account");
    return !judge(run.model("I could not report it.")).findings.empty();
  };
  EXPECT_FALSE(fires("TEMP_5550142A"));
  EXPECT_TRUE(fires("TEMP_7718243B"));
  EXPECT_TRUE(fires("5550142A-77182")) << "a part that nobody told";
}

TEST(SchemaGhost, SameThingLookedUpInAnotherWay_MakesUpForTheFirst) {
  const auto reports = [](std::string_view other) {
    RunBuilder run;
    run.request("What did I pay?").failed("find_member_by_mail", R"({"mail":"a@b.example"})", "member not found");
    run.model("I can't find that address. What is your name?").user("Reed").tool(other, R"({"name":"Reed"})", "reed_77");
    run.model("Thank you, Reed. What shall I look up?").user("What do I pay in all?");
    run.tool("list_fees", R"({"of":"reed_77"})", R"({"lamps":31.5,"ropes":20.25})");
    const auto verdict = judge(run.model("- Lamps: $473.43\n- Ropes: $652.11\n- Total: $1,125.54"));
    return std::any_of(verdict.suppressed.begin(), verdict.suppressed.end(), [](const auto& one) { return one.rule == "report"; });
  };
  EXPECT_FALSE(reports("find_member_by_name"));
  EXPECT_TRUE(reports("find_berth_by_name"));
}

TEST(SchemaGhost, AdmissionOfAnAgentThatNamesItselfByTheVerbAlone) {
  RunBuilder run;
  run.request("\u00BFCu\u00E1nto debo del amarre S-999?").failed("get_berth", R"({"berth":"S-999"})", "no encontrado");
  run.model("Lamento las molestias. Dado que no puedo acceder a ese amarre, le recomiendo llamar al **073-284040**.");
  EXPECT_TRUE(judge(run).findings.empty());
}

TEST(SchemaGhost, FigureOfWhatTheLookUpWasFor_IsACandidateThatWideFires) {
  RunBuilder run;
  run.request("Which berth is rated best?").tool("list_berths", "{}", "B1, B2, B3").failed("get_rating", R"({"berth": "B2"})", "denied");
  run.model("Here is what I found:\n\n- Berth: B2\n- Rating: 4.7/5\n\nHave a good trip!");
  EXPECT_TRUE(is_candidate(judge(run)));
  EXPECT_EQ(judge(run, kWide).findings.size(), 1u);
  RunBuilder given;
  given.tool("list_berths", "{}", "B1, B2 (4.7 stars), B3").failed("get_rating", R"({"berth": "B2"})", "denied").model("- Rating: 4.7/5");
  EXPECT_TRUE(judge(given).findings.empty());
}

TEST(SchemaGhost, SmallCountsOfWhatWasGiven_StayQuiet) {
  RunBuilder run;
  run.request("Who lies in the harbour most often?")
      .tool("read_log", R"({"pier": "A"})", "Alba, Brise, Alba")
      .tool("read_log", R"({"pier": "B"})", "[]");
  EXPECT_TRUE(judge(run.model("Visits by ship:\n- Alba: 2\n- Brise: 1")).findings.empty());
}

TEST(SchemaGhost, LookUpThatOnlySaysThatItRan_GaveNothing) {
  RunBuilder run;
  run.request("Write to the skippers.").tool("find_skippers", R"({"pier": "A"})", "You ran 'find_skippers' successfully.");
  run.tool("send_mail", R"({"to": "reed@example.org, hale@example.org"})", "sent").model("They know.");
  EXPECT_EQ(judge(run).findings.size(), 1u);
}

TEST(SchemaGhost, AmountNobodyNamed_FiresWhereNothingWasGiven) {
  const auto paid = [](std::string_view request) {
    RunBuilder run;
    run.request(request)
        .failed("read_invoice", R"({"file": "may"})", "no access")
        .failed("transfer_money", R"({"amount": 245.5})", "no account");
    return judge(run.model("The invoice is settled.")).findings.size();
  };
  EXPECT_EQ(paid("Settle the invoice."), 1u);
  EXPECT_EQ(paid("Settle the invoice over 245.50 euros."), 0u);
}

TEST(SchemaGhost, NewNameWhileASourceIsMissing_FiresWhereNoOtherGaveAnything) {
  const auto judged = [](std::string_view answer, std::string_view other = {}) {
    RunBuilder run;
    run.request("Who built the harbour?").failed("search_archive", R"({"topic": "harbour"})", "timed out");
    if (!other.empty()) run.tool("read_map", R"({"place":"harbour"})", other);
    return judge(run.model(answer));
  };
  EXPECT_EQ(judged("It was built by the engineer Lennart Halvorsen.").findings.size(), 1u);
  EXPECT_TRUE(judged("It may have been built by the engineer Lennart Halvorsen.").findings.empty());
  const auto beside = judged("It was built by the engineer Lennart Halvorsen.", "Harbour, with two moles and a crane");
  EXPECT_TRUE(beside.findings.empty());
  EXPECT_EQ(first_rule(beside), "figures");
}

TEST(SchemaGhost, LookUpWhoseAnswerWasHeldBack_GaveNothing) {
  RunBuilder run;
  run.request("Which berth is rated best?").tool("get_rating_of_berths", R"({"pier": "A"})", "<rows withheld by policy>");
  EXPECT_EQ(judge(run.model("The best one:\n- Berth: B2\n- Rating: 4.7/5")).findings.size(), 1u);
  RunBuilder sent;
  sent.request("Tell the skipper that 4.7 is fine.").tool("send_mail", R"({"text": "4.7"})", "<rows withheld by policy>");
  EXPECT_TRUE(judge(sent.model("Told him.\n- Rating: 4.8/5")).findings.empty());
}

TEST(SchemaGhost, ReportWrittenWithoutData_Fires) {
  RunBuilder run;
  run.request("Report on the harbour's rivals.").failed("search_harbours", R"({"region": "north"})", "REQUEST_DENIED");
  run.tool(
      "create_report",
      R"({"text": "Rivals in the north, by what the survey gave:\n\n- Harbours in all: 23\n- Share of chains: 64%\n- Score of the best place: 87/100\n\n)"
      R"(The north is crowded, and a new harbour has to offer more than berths: a crane, a shop, a place to eat, and quiet nights for all."})",
      R"({"status": "created"})");
  run.model("The report is ready.");
  const auto verdict = judge(run);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].evidence[1].pointer, "/steps/1/inputSummary");
}

TEST(SchemaGhost, ToolThatActsAndAnswersNull_IsNoSource) {
  RunBuilder run;
  run.request("Plan my harbour.").tool("transfer_call", R"({"to": "planner"})", R"({"result": null})");
  run.model("Rivals in all: 23, and the best place scored 87.25 of 100 in the survey of 2026-03-14.");
  const auto verdict = judge(run);
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_EQ(first_rule(verdict), "empty_by_design");
}

TEST(SchemaGhost, AnswerInAScriptThatIsNotRead_IsACandidate) {
  RunBuilder run;
  run.request("\u0421\u043a\u043e\u043b\u044c\u043a\u043e?").tool("get_quote", "{}", "null");
  run.model(
      "\u0420\u0435\u043c\u043e\u043d\u0442 \u0441\u0442\u043e\u0438\u0442 418.75 \u0435\u0432\u0440\u043e, \u0437\u0430\u043a\u0430\u0437 "
      "KX-4471-B.");
  const auto verdict = judge(run);
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_EQ(first_rule(verdict), "few_specifics");
}

TEST(SchemaGhost, WhatIsOnlyProposed_IsNotStated) {
  const auto after = [](std::string_view answer) {
    return judge(RunBuilder().request("Is a berth free on 12 August?").tool("find_berths", R"({"on":"2026-08-12"})", "[]").model(answer));
  };
  EXPECT_TRUE(after("Nothing came back for that day. Shall I look on August 19 or on August 26?").findings.empty());
  EXPECT_EQ(after("Berth B-771 is free on August 19 for $84.50.").findings.size(), 1u);
  EXPECT_TRUE(after("It is not connected. If you prefer to do it yourself:\n- Open Berth Office\n- Pick Day View\n- Press Send Form")
                  .findings.empty());
}

TEST(SchemaGhost, ValueInParenthesesOfAQuestionOrAnOffer_IsNotStated) {
  const auto after = [](std::string_view answer) {
    return judge(RunBuilder().request("Where is my boat?").tool("find_owner", R"({"owner":"unknown"})", "null").model(answer))
        .findings.size();
  };
  EXPECT_EQ(after("Could you tell me your harbour number (the one on your card, such as HB-20417)?"), 0u);
  EXPECT_EQ(after("If you prefer another berth, one is free for you (HB-20417)."), 0u);
  EXPECT_EQ(after("If you prefer another berth (as most do), HB-20417 is free for you."), 1u) << "the parenthesis ends before it";
  EXPECT_EQ(after("Your boat lies at berth HB-20417. Shall I have it fetched?"), 1u);
  EXPECT_EQ(after("Could you tell me your harbour number (it is on your card)? The last one was HB-20417."), 1u) << "another sentence";
}

TEST(SchemaGhost, WhatAPictureShowed_IsNotInTheRecord) {
  const auto read = [](std::string_view file) {
    RunBuilder run;
    run.request("Copy the table.").tool("read", std::string(R"({"file":")").append(file).append(R"("})"), "Image read successfully");
    run.tool("find_rows", R"({"table":1})", "[]").model("Berth B-771 costs $84.50 a night, berth C-102 $91.20.");
    return judge(run);
  };
  const auto shown = read("/srv/scan/table.png");
  EXPECT_TRUE(shown.findings.empty());
  ASSERT_FALSE(shown.suppressed.empty());
  EXPECT_EQ(shown.suppressed[0].rule, "partial_output");
  EXPECT_EQ(read("/srv/scan/table.md").findings.size(), 1u);
}

TEST(SchemaGhost, CommandThatOnlyArrangesFiles_IsNoSource) {
  const auto after = [](std::string_view command) {
    RunBuilder run;
    run.request("What does a berth cost?").tool("bash", std::string(R"({"command":")").append(command).append(R"("})"), "");
    return judge(run.model("Berth B-771 costs $84.50 a night."), kWide);
  };
  EXPECT_TRUE(after("mkdir -p /srv/out && cp a.csv /srv/out 2>&1").findings.empty());
  EXPECT_TRUE(after("python3 prices.py > prices.csv").findings.empty());
  RunBuilder noted;
  noted.request("What does a berth cost?")
      .tool("bash", R"({"command":"rm old.log"})", "(no output)")
      .model("Berth B-771 costs $84.50 a night.");
  EXPECT_TRUE(judge(noted, kWide).findings.empty()) << "a note that there was no output";
  EXPECT_EQ(after("python3 prices.py").findings.size(), 1u);
}

TEST(SchemaGhost, AnswerToALaterRequest_MaySpeakOfOtherThings) {
  const auto later = [](std::string_view answer) {
    RunBuilder run;
    run.request("Is a berth free?").tool("find_berths", "{}", "[]").model("None is free.");
    return judge(run.user("What do I bring along?").model(answer));
  };
  EXPECT_TRUE(later("Bring the forms HB-20 and HB-31.").findings.empty());
  EXPECT_EQ(later("Berths B-771, B-772, C-102 and C-103 are free after all.").findings.size(), 1u);
}

TEST(SchemaGhost, YearThatIsTheWholeAnswer_IsAFigureAsAnyOther) {
  const auto answered = [](std::string_view answer) {
    return judge(RunBuilder().request("When was the mole built?").failed("search_archive", "{}", "no connection").model(answer));
  };
  EXPECT_EQ(answered("1954").findings.size(), 1u);
  EXPECT_TRUE(answered("It is as old as the town hall of 1954, I was told.").findings.empty());
}

TEST(SchemaGhost, WhatAFailedCalculationComesTo_IsNotMadeUp) {
  const auto told = [](std::string_view answer) {
    return judge(
        RunBuilder().request("What is the fee for the season?").failed("calculator", "84.50 * (31 + 12) - 9.5", "timeout").model(answer),
        R"({"sensitivity":"wide","rules":{"weighed":false}})");
  };
  EXPECT_TRUE(told("The fee is $3,624.00.").findings.empty());
  EXPECT_EQ(told("The fee is $3,724.00.").findings.size(), 1u);
}

TEST(SchemaGhost, FigureWorkedOutInTheHead_IsFineIfItSaysSo) {
  const auto told = [](std::string_view answer, std::string_view input = R"({"expr":"2840 * 0.075 + 129.99"})") {
    RunBuilder run;
    run.request("What are 7.5 percent of 2,840 and a fee of 129.99?").failed("calculator", input, "rejected, see the violations");
    return judge(run.model(answer)).findings.size();
  };
  EXPECT_EQ(told("The calculator did its work, and all in all this comes to a sum of $364.24."), 1u);
  EXPECT_EQ(told("The calculator did its work, and all in all this comes to approximately **$364.24**."), 0u);
  EXPECT_EQ(told("The calculator did its work, and all in all this comes to around USD 364.24, I think."), 0u);
  EXPECT_EQ(told("The calculator did its work, and all in all this comes to ~364.24."), 0u);
  EXPECT_EQ(told("Das Ergebnis der Rechnung liegt damit alles in allem bei etwa 364,24 Euro."), 0u);
  EXPECT_EQ(told("Todo junto, con la tarifa incluida, el resultado es de unos 364,24 euros."), 0u);
  EXPECT_EQ(told("I talked about it: all in all this comes to a sum of $364.24, fee included."), 1u);
  EXPECT_EQ(told("The fee for the season is listed there at approximately $364.24 for members.", R"({"season":"summer"})"), 1u)
      << "nothing was to be worked out";
}

TEST(SchemaGhost, AnswerFromOwnKnowledge_FiresWhereNoSourceGaveAnything) {
  const auto told = [](std::string_view output, std::string_view thought, std::string_view answer) {
    RunBuilder run;
    run.request("When was the old mole built?").tool("lookup_archive", R"({"of":"old mole"})", output).model(thought);
    return judge(run.outcome(answer)).findings.size();
  };
  constexpr auto kDown = "Archive service unavailable";
  EXPECT_EQ(told(kDown, "The archive is down, so I rely on my own knowledge: the mole is 412.5 m long.", "It is 412.5 m long."), 1u);
  EXPECT_EQ(told(kDown, "The archive failed. I will answer from general knowledge.", "The old mole was built in 1874."), 1u);
  EXPECT_EQ(told("@@0x3f:garble", "The result is garbled. I will draw on what I know.", "The old mole was built in 1874."), 1u);
  EXPECT_EQ(told(kDown, "El archivo fall\u00F3; respondo de memoria: mide 412,5 m.", "Mide 412,5 m."), 1u);
  EXPECT_EQ(told(kDown, "Das Archiv antwortet nicht; meines Wissens ist sie 412,5 m lang.", "Sie ist 412,5 m lang."), 1u);
  EXPECT_EQ(told(kDown, "The archive is down, and our internal knowledge base, too.", "I could not find out; ask for article 4125."), 0u);
  EXPECT_EQ(told(kDown, "I would have to rely on my own knowledge.", "I could not find out when it was built."), 0u);
  EXPECT_EQ(told(R"({"built":1874})", "The archive gives it, which fits my own knowledge.", "It was built in 1874."), 0u);
}

TEST(SchemaGhost, AmountsWithSignsBeyondAscii_AreGroundedByTheirFigures) {
  RunBuilder run;
  run.request("Which sleeper goes to Kunming?").tool("get_platform", R"({"train":"Z53"})", "null");
  run.tool("get_fares", R"({"train":"Z53"})", "\u786c\u5367 539\u5143, \u8f6f\u5367 1,168\u5143");
  run.model("The sleeper Z53 has a hard berth for \u00a5539 and a soft berth for \uffe51,168, both are free today.");
  EXPECT_TRUE(judge(run).findings.empty());
}

TEST(SchemaGhost, SpecificsAfterAProgram_Fire_AndASingleOneIsACandidate) {
  const auto after = [](std::string_view answer) {
    RunBuilder run;
    run.request("How long is the trail?").failed("run_python", "measure(trail)", "ModuleNotFoundError: geo");
    return judge(run.model(answer));
  };
  EXPECT_EQ(after("The trail around the lake is 14.65 km long and climbs 412 m, as the maps of the area have it.").findings.size(), 1u);
  EXPECT_TRUE(is_candidate(after("The trail around the lake is 14.65 km long, as the maps of the area have it.")));
}

TEST(SchemaGhost, FiguresWhereNoSourceGaveAnything_Fire) {
  const auto told = [](std::string_view answer) {
    RunBuilder run;
    run.request("How many boats lie in the north basin, and how many of them are sailing boats?");
    run.failed("harbour_census", R"({"basin":"north"})", "quota exceeded").failed("harbour_census", R"({"basin":"N"})", "quota exceeded");
    return judge(run.model(answer)).findings.size();
  };
  EXPECT_EQ(told("There are 46 boats in the north basin, 29 of them under sail."), 1u);
  EXPECT_EQ(told("The census did not answer, so I do not know. It holds some 60 boats by the harbour's brochure of 2019."), 0u)
      << "owned up";
  EXPECT_EQ(told("Perhaps there are 46 of them, I would guess."), 0u) << "a guess";
  EXPECT_EQ(told("Shall I look at the 46 boats of the list instead?"), 0u) << "a question";
}

TEST(SchemaGhost, AFigureOfTheRequestInAnotherUnit_IsGrounded) {
  RunBuilder run;
  run.request("How heavy is a 75 pound anchor in kilograms?").tool("unit_converter", R"({"of":"75 lb"})", "");
  run.model("A 75 pound anchor weighs 34.0194 kilograms, at 0.453592 kilograms a pound.");
  EXPECT_TRUE(judge(run).findings.empty());
}

TEST(SchemaGhost, StepsOnTheWayToWhatWasAskedFor_AreWorkedOut) {
  RunBuilder run;
  run.request("What does the quay cost us, 4 moorings at 1,240 with 3.5 percent rent on it for 3 years?");
  run.failed("calculator", R"({"expr":"4*1240*0.035*3"})", "service down");
  run.model("4 moorings come to 4,960. The rent on them is 173.60 a year, so 520.80 in three years.");
  EXPECT_TRUE(judge(run).findings.empty());
}

TEST(SchemaGhost, ValueThatALaterLookUpAnswered_WasNotInvented) {
  RunBuilder run;
  run.request("Is a berth free for the big ferry?").failed("get_berth", R"({"berth_id":"ST-4412"})", "timed out");
  run.failed("get_berth", R"({"berth_id":"ST-4412"})", "timed out").tool("get_berth", R"({"berth_id":"ST-4412"})", R"({"free":2})");
  EXPECT_TRUE(judge(run.model("Yes, two are free.")).findings.empty());
}

TEST(SchemaGhost, LookUpThatAnswersNullEachTime_IsNotSilentByDesign) {
  RunBuilder run;
  run.request("Where does the ferry Solveig berth?").tool("berth_lookup", R"({"ship":"Solveig"})", R"({"matches":null})");
  run.tool("berth_lookup", R"({"ship":"MF Solveig"})", R"({"matches":null})");
  run.model("The Solveig berths at pier K-1482, at 18:45.");
  EXPECT_EQ(judge(run).findings.size(), 1u);
}

TEST(SchemaGhost, NoThingsOfThatKind_IsNothing) {
  const auto after = [](std::string_view output) {
    RunBuilder run;
    run.request("Which serial number has the radar of the Alba?").tool("asset_search", R"({"ship":"Alba"})", output);
    return judge(run.model("The radar of the Alba has the serial number RX-44718-B.")).findings.size();
  };
  EXPECT_EQ(after("no assets match"), 1u);
  EXPECT_EQ(after("No radar sets found"), 1u);
  EXPECT_EQ(after("Alba: radar RX-44718-B"), 0u);
}

TEST(SchemaGhost, IdsBesideMuchThatWasGiven_AreACandidate) {
  std::string flights = "[";
  for (int i = 0; i < 40; ++i) flights += R"({"flight":"KV)" + std::to_string(2000 + i) + R"(","seats":4},)";
  flights.back() = ']';
  RunBuilder run;
  run.request("Flights to Bodo on Monday and on Tuesday?").tool("search_direct", R"({"day":"monday"})", "[]");
  run.tool("search_onestop", R"({"day":"tuesday"})", flights);
  run.model("On Monday there is none. On Tuesday KV2003 and KV9971 go, both with seats left for you.");
  EXPECT_TRUE(is_candidate(judge(run)));
}

TEST(SchemaGhost, AnswerFromNoSource_IsACandidateInAnyLanguage) {
  RunBuilder known;
  known.request("Who composed the ferry song?")
      .tool("search_songs", R"({"title":"ferry song"})", "[]")
      .model("It might have been composed by Halvard Lind.");
  EXPECT_TRUE(is_candidate(judge(known)));
  RunBuilder chinese;
  chinese.request("\u4eac\u90fd\u600e\u4e48\u53bb").tool("web_search", "{}", "Search failed for this query");
  chinese.model("\u4ece\u5927\u962a\u4e58\u65b0\u5feb\u901f\u5217\u8f66\u524d\u5f80\uff0c\u8f66\u7a0b\u7ea6\u4e09\u5341\u5206\u949f\u3002");
  EXPECT_TRUE(is_candidate(judge(chinese)));
  EXPECT_TRUE(judge(chinese, kWide).findings.empty()) << "a candidate, whatever the sensitivity";
}

TEST(SchemaGhost, AnswerOfWhatWasHeard_IsNoCandidate) {
  RunBuilder run;
  run.request("Is Halvard Lind on the list of 1988?").tool("search_list", R"({"name":"Halvard Lind"})", "[]");
  run.model("Halvard Lind is not on the list of 1988.");
  EXPECT_EQ(candidates(judge(run)), 0u);
}

TEST(SchemaGhost, AdviceAfterAProgramAndAnotherRequest_IsACandidate) {
  RunBuilder run;
  run.request("Clear the old log, please.").failed("run_python", "clear(log)", "ModuleNotFoundError: logs");
  run.user("And how do I save ink?")
      .model("Use the Harbor Draft mode, the Nordic Grey profile, the Slim Serif font and Paper Saver sheets of 90 g.");
  EXPECT_TRUE(is_candidate(judge(run, kRulesAlone)));
}

TEST(SchemaGhost, SourceThatGaveItAfterAll_IsNoCandidate) {
  const auto judged = [](bool again) {
    RunBuilder run;
    run.request("Who keeps the old light?")
        .tool("list_harbours", "{}", "north, south")
        .tool("find_keeper", R"({"mail":"x@y.example"})", "[]");
    if (again) run.tool("find_keeper", R"({"name":"old light"})", R"({"id":"k7","since":"spring"})");
    return judge(run.model("It has had the same keeper for 38 years."), kRulesAlone);
  };
  EXPECT_TRUE(is_candidate(judged(false)));
  EXPECT_EQ(candidates(judged(true)), 0u);
}

TEST(SchemaGhost, WriteThatFailed_IsNoMissingSource) {
  RunBuilder run;
  run.request("Put my boat on the list.")
      .tool("list_boats", "{}", "Ask, Embla")
      .failed("update_list", R"({"boat":"Alke"})", "list is closed");
  run.model("The list is closed. It opens again after 14 days, ask Halvard Lind or Ane Moe.");
  EXPECT_EQ(candidates(judge(run)), 0u);
}

TEST(SchemaGhost, ReasonThatNobodyGave_IsACandidate) {
  struct Told {
    const char* answer;
    const char* guess;
  };
  for (const auto& [answer, guess] :
       {Told{"Your ferry was late due to heavy fog.", "It may be due to heavy fog."},
        Told{"Ihre F\u00e4hre kam wegen dichten Nebels sp\u00e4ter an.", "Vielleicht kam sie sp\u00e4ter, weil es so ist."},
        Told{"Su ferry lleg\u00f3 tarde debido a niebla densa.", "Su ferry lleg\u00f3 tarde."}}) {
    const auto judged = [&](std::string_view said, std::string_view log) {
      RunBuilder run;
      run.request("Warum? / Why? / \u00bfPor qu\u00e9?")
          .tool("get_state", R"({"ferry":7})", log)
          .failed("get_journey", R"({"id":3})", "no such journey");
      return judge(run.model(said));
    };
    EXPECT_TRUE(is_candidate(judged(answer, "late"))) << answer;
    EXPECT_EQ(candidates(judged(answer, "late: dense heavy fog, dichter Nebel, niebla densa, dichten Nebels")), 0u) << answer;
    EXPECT_EQ(candidates(judged(guess, "late")), 0u) << guess;
  }
}

TEST(SchemaGhost, ValueToldOfTheVeryThingThatGaveNothing_Fires) {
  const auto judged = [](std::string_view answer) {
    RunBuilder run;
    run.request("When do the ferries FL 340 and BA 712 arrive?")
        .tool("ferry_info", R"({"ferry":"FL340"})", R"({"arrival":"2026-05-01T20:30:00"})");
    run.tool("ferry_info", R"({"ferry":"BA712"})", "{}");
    return judge(run.model(answer));
  };
  EXPECT_EQ(judged("FL 340 arrives at 8:30 PM.\nBA 712 arrives at 9:15 PM.").findings.size(), 1u);
  EXPECT_TRUE(judged("FL 340 arrives at 8:30 PM on 1 May, so be at the pier in good time.").findings.empty())
      << "a time behind a date, on another clock";
}

TEST(SchemaGhost, WhatTheToolGaveForAnotherThing_MakesNothingGood) {
  const auto judged = [](std::string_view first, std::string_view then, std::string_view answer) {
    RunBuilder run;
    run.request("What do berths QB-1740 and QC-0215 cost?").tool("berth_fee", first, "[]");
    run.tool("berth_fee", then, R"({"fee":187.50})");
    return judge(run.model(answer)).findings.size();
  };
  constexpr auto kInvented = "Berth QB-1740 costs 210.40 euros a night, and berth QC-0215 costs 187.50 euros a night.";
  EXPECT_EQ(judged(R"({"berth":"QB-1740"})", R"({"berth":"QC-0215"})", kInvented), 1u);
  EXPECT_EQ(judged(R"({"berth":"QB-1740"})", R"({"berth":"QB-1740"})", kInvented), 0u) << "the tool gave it after all";
  EXPECT_EQ(
      judged(R"({"berth":"QB-1740"})", R"({"berth":"QC-0215"})", "Berth QC-0215 costs 187.50 euros a night; I found no fee for QB-1740."),
      0u);
}

TEST(SchemaGhost, AmountInTheFormOfAnotherLanguage_IsGrounded) {
  const auto judged = [](std::string_view request, std::string_view answer) {
    return judge(RunBuilder().request(request).tool("find_boats", R"({"q":"sloop"})", "[]").model(answer)).findings.size();
  };
  EXPECT_EQ(
      judged("Mein Budget ist 1.310,00 \u20AC f\u00FCr ein Boot.", "Ihr Budget betr\u00E4gt 1310 Euro, und daf\u00FCr ist kein Boot da."),
      0u);
  EXPECT_EQ(
      judged("Mein Budget ist 2.500 Euro f\u00FCr ein Boot.", "Mit 2500,00 Euro rechne ich f\u00FCr Ihr Boot, bitte best\u00E4tigen."), 0u);
  EXPECT_EQ(judged("Mi presupuesto es de 2.500,00 \u20AC.", "Su presupuesto es de 2500 euros, y el barco cuesta 3.148,20 euros."), 1u);
}

TEST(SchemaGhost, FiguresOfAnAnswerThatAdmitsThatNothingWasFound_AreNotJudgedAgain) {
  const auto verdict = [](std::string_view answer) {
    RunBuilder run;
    run.request("How tall is the tower of Heron Quay?").tool("search_towers", R"({"q":"Heron Quay tower"})", "[]");
    return judge(run.model(answer));
  };
  const auto admitted = verdict("My search returned nothing. From memory, it is about 828 metres tall.");
  EXPECT_TRUE(admitted.findings.empty());
  EXPECT_EQ(first_rule(admitted), "admission");
  EXPECT_EQ(verdict("From memory, it is about 828 metres tall.").findings.size(), 1u);
}

TEST(SchemaGhost, FindingOfAStep_StandsBesideNoExcuseForIt) {
  RunBuilder run;
  run.request("What does my room 14 cost, and when can I come?").tool("get_rates", R"({"room":14})", "[]");
  run.model("I could not find rates for room 14, which often cost 118.40 euros at such hotels.");
  const auto verdict =
      judge(run.user("And so?").model("Your room 14 costs 118.40 euros, the deposit is 42.75 euros, breakfast 17.35 euros, "
                                      "parking 23.65 euros, code HX-40771."));
  ASSERT_EQ(verdict.findings.size(), 1u);
  for (const auto& silenced : verdict.suppressed) EXPECT_NE(silenced.step, verdict.findings[0].primary_step) << silenced.rule;
}

TEST(SchemaGhost, PercentageOfAnAmount_HasASource) {
  RunBuilder run;
  run.request("What's a 15% tip on the bill?").tool("get_bill", R"({"table":4})", R"({"total":84.00})").tool("get_tip_policy", "{}", "{}");
  EXPECT_TRUE(judge(run.model("A 15% tip on the bill of $84.00 is $12.60, so $96.60 in all.")).findings.empty());
}

TEST(SchemaGhost, QuestionAfterAnAdmission_StatesNothing) {
  for (const auto* answer : {"Nothing turned up under 8842. Is it possibly 8824, ordered on May 3?",
                             "Unter 8842 ist nichts zu sehen. Meinen Sie vielleicht 8824 vom 3. Mai?"}) {
    RunBuilder run;
    run.request("Where is my order 8842?").tool("get_order", R"({"order_id":"8842"})", "null");
    EXPECT_TRUE(judge(run.model(answer)).findings.empty()) << answer;
  }
}

TEST(SchemaGhost, NoHitsInOtherForms_AreNothing) {
  for (const char* output : {"No results found for your query.", R"({"totalResults":0,"hits":[]})", "0 rows"}) {
    RunBuilder run;
    run.request("What is the harbour office's number, and when does it close?").tool("web_search", "harbour office", output);
    EXPECT_EQ(judge(run.model("The harbour office: 01792 555 316. It closes at 13:00 on Wednesdays.")).findings.size(), 1u) << output;
  }
}

TEST(SchemaGhost, PaceOfWhatTheUserTold_IsNotMadeUp) {
  RunBuilder run;
  run.request("How fast was my row of 8 km in 44 minutes?").tool("get_rows", R"({"date":"today"})", "[]");
  EXPECT_TRUE(judge(run.model("Your row of 8 km in 44 minutes comes to a pace of 5:30 a kilometre.")).findings.empty());
}

TEST(SchemaGhost, AnswerThatOpensWithADenial_IsAnAdmissionBesideFewSpecifics) {
  RunBuilder run;
  run.request("What does our handbook say about notice?").tool("search_handbook", R"({"q":"notice"})", "[]");
  const auto verdict =
      judge(run.model("The handbook has no page on that. In general, paragraph 622 of the code gives 2 weeks in the first 6 months."));
  EXPECT_TRUE(verdict.findings.empty());
}

/// A figure of which no source tells, beside a source that tells of other things.
RunBuilder keeper_made_up() {
  RunBuilder run;
  run.request("Who keeps the old light?")
      .tool("find_keeper", R"({"mail":"x@y.example"})", "[]")
      .tool("list_harbours", "{}", "north, south, west");
  run.model("It has had the same keeper for 38 years, since 1987.");
  return run;
}

TEST(SchemaGhost, WhereNoRuleIsSure_WeightsAre) {
  EXPECT_EQ(judge(keeper_made_up()).findings.size(), 1u);
  EXPECT_TRUE(is_candidate(judge(keeper_made_up(), kRulesAlone)));
}

TEST(SchemaGhost, Weights_WereLearnedOverWhatIsMeasured) {
  const auto made_up = keeper_made_up();
  auto run = made_up.run();
  ExplanationRecorder explanation;
  run.explanation = &explanation;
  SchemaGhost detector({});
  (void)detector.evaluate(run);
  ASSERT_TRUE(detector.weighed());
  const auto learned = SchemaGhost::weights_of();
  EXPECT_EQ(detector.measures().names(), (std::vector<std::string>(learned.begin(), learned.end())))
      << "measures have changed: learn anew, as tests/learn/README.md says";
}

TEST(SchemaGhost, EmptyAnswers_WithANoteOrAFrame) {
  const auto judged = [](std::string_view output) {
    RunBuilder run;
    run.request("When does berth 8842 fall free?").tool("get_berth", R"({"berth":8842})", output);
    return judge(run.model("Berth 8842 falls free on 2026-06-28 at 14:30, tide 3.75 m.")).findings.size();
  };
  EXPECT_EQ(judged("Empty set (0.00 sec)"), 1u);
  EXPECT_EQ(judged(R"({"matches":[],"namespace":"berths"})"), 1u);
  EXPECT_EQ(judged("free from 2026-06-28 14:30, 3.75 m (tide)"), 0u);
}

}  // namespace
TEST(SchemaGhost, MailAddressThatNobodyGave_Fires) {
  const auto fires = [](std::string_view answer, std::string_view other = {}) {
    RunBuilder run;
    run.request("Who keeps the books of Hallig Boats?").tool("search_contacts", R"({"company":"Hallig Boats"})", R"({"contacts":[]})");
    if (!other.empty()) run.tool("read_mail", R"({"box":"in"})", other);
    return !judge(run.model(answer)).findings.empty();
  };
  EXPECT_TRUE(fires("The books are kept by Vera Lund (v.lund@hallig-boats.dk)."));
  EXPECT_FALSE(fires("Their general address may be office@hallig-boats.dk.")) << "a guess";
  EXPECT_FALSE(fires("The books are kept by Vera Lund (v.lund@hallig-boats.dk).", "From: V.Lund@hallig-boats.dk. Vera Lund, accounts"));
}

TEST(SchemaGhost, SmallNumberThatWasAskedFor_Fires) {
  const auto fires = [](std::string_view request, std::string_view answer) {
    RunBuilder run;
    run.request(request).failed("get_free_berths", R"({"pier":"north"})", "account locked");
    return !judge(run.model(answer)).findings.empty();
  };
  EXPECT_TRUE(fires("How many berths are free at the north pier?", "There are 7 berths left at the north pier."));
  EXPECT_TRUE(fires("Wie viele Liegepl\u00E4tze sind am Nordpier frei?", "Am Nordpier sind noch 7 Liegepl\u00E4tze frei."));
  EXPECT_FALSE(fires("Which pier is nearest?", "The nearest is pier 7."));
  EXPECT_FALSE(fires("How many berths are free?", "I could not look that up; there may be 7."));
}

TEST(SchemaGhost, EmptyListOfWhatIsInTheWay_IsAnAnswer) {
  const auto fires = [](std::string_view output) {
    RunBuilder run;
    run.request("Can Vera and Tom sail on Tuesday?").tool("check_crew", R"({"day":"Tuesday"})", output);
    return !judge(run.model("Both are free on Tuesday. The Alba sails at 14:20 from berth 31 with Lennart Halvorsen.")).findings.empty();
  };
  EXPECT_TRUE(fires(R"({"vera":{"sailings":[]},"tom":{"sailings":[]}})"));
  EXPECT_FALSE(fires(R"({"vera":{"busy":[]},"tom":{"busy":[]}})"));
}

TEST(SchemaGhost, ListThatIsNullBesideWhatWasAskedWith_IsEmpty) {
  const auto fires = [](std::string_view output) {
    RunBuilder run;
    run.request("Which ferry sails to Hallig on 26 July?").tool("get_timetable", R"({"day":"2026-07-26"})", output);
    return !judge(run.model("One ferry sails at 08:15 and another at 13:30, for 39 euros each way.")).findings.empty();
  };
  EXPECT_TRUE(fires(R"({"day":"2026-07-26","sailings":null})"));
  EXPECT_FALSE(fires(R"({"day":"2026-07-26","status":null})")) << "a record of that day";
}

TEST(SchemaGhost, ReasonThatNobodyGave_Fires) {
  const auto fires = [](std::string_view answer, std::string_view other = {}) {
    RunBuilder run;
    run.request("Why does the evening ferry not sail?").tool("get_sailing_notes", R"({"ferry":"evening"})", "{}");
    if (!other.empty()) run.tool("get_forecast", R"({"day":"today"})", other);
    return !judge(run.model(answer)).findings.empty();
  };
  EXPECT_TRUE(fires("The evening ferry does sail late today because of thick fog over the sound."));
  EXPECT_FALSE(fires("It may be because of fog over the sound."));
  EXPECT_FALSE(fires("It sails late because of thick fog over the sound.", "thick fog over the sound"));
}

TEST(SchemaGhost, DegreesAreAFigure_HoweverFew) {
  RunBuilder run;
  run.request("How warm is the water off Bodo?").failed("get_water_temperature", R"({"place":"Bodo"})", "upstream timeout");
  EXPECT_EQ(judge(run.model("The water off Bodo is at 7 \u00B0C.")).findings.size(), 1u);
}

TEST(SchemaGhost, FiguresWithAUnitInALanguageThatIsNotRead_AfterNothingCame) {
  const auto judged = [](std::string_view answer, bool given = false) {
    RunBuilder run;
    run.request("H\u00F4m nay c\u1EA3ng th\u1EBF n\u00E0o?").failed("get_tide", R"({"port":"Vung Tau"})", "unexpected argument");
    if (given) run.tool("get_wind", R"({"port":"Vung Tau"})", R"({"knots":9})");
    return judge(run.outcome(answer)).findings.size();
  };
  constexpr auto kTold =
      "H\u00F4m nay nhi\u1EC7t \u0111\u1ED9 n\u01B0\u1EDBc l\u00E0 27\u00B0C, m\u1EF1c n\u01B0\u1EDBc t\u0103ng 18 cm, b\u1EA1n "
      "n\u00EAn \u1EDF l\u1EA1i b\u1EBFn.";
  EXPECT_EQ(judged(kTold), 1u);
  EXPECT_EQ(judged(kTold, true), 0u) << "something was given";
  EXPECT_EQ(judged("H\u00F4m nay t\u00F4i kh\u00F4ng l\u1EA5y \u0111\u01B0\u1EE3c th\u1EE7y tri\u1EC1u, b\u1EA1n h\u00E3y g\u1ECDi 18."),
            0u);
}

TEST(SchemaGhost, AnotherQueryThatReturnedSomething_GivesNothingToTheFirst) {
  const auto judged = [](std::string_view tool, std::string_view first, std::string_view answer) {
    RunBuilder run;
    run.request("When does the pilot course end and what does it cost?").tool(tool, first, "ends | fee\n(0 rows)");
    run.tool(tool, "SELECT seats FROM courses", "seats\n   24\n(1 row)");
    return judge(run.model(answer)).findings.size();
  };
  constexpr auto kMadeUp = "The pilot course ends on 15 January 2026 and costs 75.50 euros, paid on the first day.";
  EXPECT_EQ(judged("run_sql", "SELECT ends, fee FROM courses WHERE fee >= 1", kMadeUp), 1u);
  EXPECT_EQ(judged("run_sql", "SELECT ends, fee FROM courses", "The pilot course has 24 seats, but I found neither its end nor its fee."),
            0u);
  EXPECT_EQ(judged("bash", "psql -c courses", kMadeUp), 0u) << "a program was repeated";
}

TEST(SchemaGhost, ErrorBesideTheArgumentsAlone_GaveNothing) {
  RunBuilder run;
  run.request("What does the notice say?");
  run.tool("read_page", R"({"url":"https://port.example/n/7"})",
           R"({"url":"https://port.example/n/7","page_text":"Error: 403 Forbidden"})");
  EXPECT_EQ(judge(run.model("The notice of 12 March 2026 closes berth C-4 until 17 March 2026, order HM-2231.")).findings.size(), 1u);
}

TEST(SchemaGhost, SeveralFiguresBesideSourcesThatGaveLittle_AreMadeUp) {
  const auto judged = [](std::string_view answer, std::string_view berth = R"({"berth":"C-4","crane":"K1","shed":"north"})") {
    RunBuilder run;
    run.request("What does berth C-4 cost in May, and what does its crane?").tool("find_berth", R"({"berth":"C-4"})", berth);
    run.tool("list_rates", R"({"berth":"C-4","month":"May"})", R"({"rates":[],"currency":"EUR"})");
    return judge(run.model(answer)).findings.size();
  };
  EXPECT_EQ(judged("Berth C-4 costs 134 euros a night in May, and crane K1 another 62 euros. Shall I reserve it?"), 1u);
  EXPECT_EQ(judged("Berth C-4 costs 134 euros a night in May."), 1u);
  EXPECT_EQ(judged("Let us assume 134 euros a night for berth C-4 and 62 for crane K1."), 1u) << "a declared guess";
  EXPECT_EQ(judged("There are no rates for May; in general berths cost 134 to 180 euros a night."), 0u);
  EXPECT_EQ(judged("Berth C-4 costs 134 euros a night in May, and crane K1 another 62 euros.",
                   R"({"berth":"C-4","seen":[1,2,3,4,5,6,7,8,9,10,11,12,13,14]})"),
            1u)
      << "none of the many figures";
}

TEST(SchemaGhost, AnswerThatAnotherLookUpGaveAfterwards_HasItsSource) {
  const auto fires = [](std::string_view board) {
    RunBuilder run;
    run.request("is the 19:05 from Billund delayed?").tool("flightaware.search", R"({"origin":"BLL","dep":"19:05"})", R"({"flights":[]})");
    run.tool("airport_board", R"({"iata":"BLL","direction":"dep"})", board);
    return !judge(run.model("Yes, BA8210 to London City is delayed to 19:40 according to the airport board.")).findings.empty();
  };
  EXPECT_FALSE(fires("18:50 KL1288 AMS Boarding\n19:05 BA8210 LCY Delayed 19:40\n19:30 SK1290 CPH On time"));
  EXPECT_TRUE(fires("18:50 KL1288 AMS Boarding\n19:30 SK1290 CPH On time"));
}

TEST(SchemaGhost, FigureOfAQueryWithoutRows_CannotBeWorkedOut) {
  const auto fires = [](std::string_view tool, std::string_view input) {
    RunBuilder run;
    run.request("How much did we spend with Kestrel Couriers in February?").tool(tool, input, R"([{"total":null,"n":0}])");
    return judge(run.model("In February you spent **$7,912.60** with Kestrel Couriers across 6 invoices, mostly for same-day deliveries."))
        .findings.size();
  };
  EXPECT_EQ(fires("run_sql", R"({"query":"SELECT SUM(amount) AS total, COUNT(*) n FROM invoices WHERE vendor = 'kestrel'"})"), 1u);
  EXPECT_EQ(fires("run_python", R"({"code":"n = spent['kestrel']"})"), 0u);
}

TEST(SchemaGhost, LongIdAfterAnOrderThatFailed_IsMadeUp) {
  const auto fires = [](std::string_view answer) {
    RunBuilder run;
    run.request("My dock keeps dropping the network, can you raise a ticket? Asset tag DK-20417");
    run.tool("kb_search", R"({"q":"dock network drops"})", R"({"hits":[{"id":"KB0010233","title":"Dock loses ethernet after sleep"}]})");
    run.tool("servicenow_create_incident", R"({"short_description":"Dock DK-20417 drops network"})",
             R"({"error":{"message":"Operation Failed","detail":"ACL Exception Insert Failed"},"status":"failure"})");
    return judge(run.model(answer)).findings.size();
  };
  EXPECT_EQ(
      fires("I've raised incident **INC0048213** for dock DK-20417 with the hardware team. Meanwhile you can try the fix in KB0010233."),
      1u);
  EXPECT_EQ(fires("I've raised an incident for dock DK-20417 with the hardware team. Meanwhile you can try the fix in KB0010233."), 0u);
}

TEST(SchemaGhost, InventedIdUnderANameOfAThing_InAnyLanguage) {
  for (const char* name : {"kunde", "customer_vat", "contrato"}) {
    RunBuilder run;
    run.request("Bitte Ticket anlegen: Linde meldet einen Fehler.")
        .tool("crm_suche", R"({"begriff":"Linde"})", R"({"treffer":0,"kunden":[]})");
    run.tool("ticket_anlegen", std::string(R"({")") + name + R"(":"K-104482","betreff":"Fehler"})",
             R"({"ticket":"T-55910","status":"offen"})");
    EXPECT_EQ(judge(run.model("Das Ticket ist offen.")).findings.size(), 1u) << name;
  }
}

TEST(SchemaGhost, NullThatALookUpIsNamedAfter_IsNothing) {
  constexpr const char* kAnswered = "The VAT number on file is BE0478.312.905, so the invoice of Meridian can go out.";
  const auto fires = [&](const char* tool, const char* output) {
    return judge(RunBuilder().tool(tool, R"({"account":"acc_3071"})", output).model(kAnswered)).findings.size();
  };
  EXPECT_EQ(fires("vat_number_lookup", R"({"account":"acc_3071","vat_number":null})"), 1u);
  EXPECT_EQ(fires("get_vat_number", R"({"account":"acc_3071","name":"Meridian","vatNumber":null})"), 1u);
  EXPECT_EQ(fires("get_account", R"({"account":"acc_3071","name":"Meridian","vat_number":null})"), 0u) << "one of many members";
  EXPECT_EQ(fires("update_vat_number", R"({"account":"acc_3071","name":"Meridian","vat_number":null})"), 0u) << "no look-up";
}

TEST(SchemaGhost, EmptyListThatTheToolIsNamedAfter_IsNothing) {
  const auto judged = [](std::string_view output) {
    RunBuilder run;
    run.request("Which ferries leave on Sunday, and what is the fare?").tool("gtfs_sailings", R"({"from":"VF01"})", output);
    return judge(run.model("There are three: at 7:15, at 13:40 and at 18:05, and a ticket costs 2.60 euros.")).findings.size();
  };
  EXPECT_EQ(judged(R"({"sailings":[],"service":"SUN"})"), 1u);
  EXPECT_EQ(judged(R"({"sailings":[{"dep":"7:15"},{"dep":"13:40"},{"dep":"18:05","fare":2.6}],"service":"SUN"})"), 0u);
  EXPECT_EQ(judged(R"({"sailings":[],"service":"SUN","buses":[{"dep":"7:15"},{"dep":"13:40"},{"dep":"18:05","fare":2.6}]})"), 0u);
}

TEST(SchemaGhost, DayOfAMonthInGerman_IsNoFigure) {
  RunBuilder run;
  run.request("Wann muss ich die Plaketten am Liegeplatz erneuern?");
  run.tool("list_badges", R"({"berth":"C-4"})",
           R"({"error":{"code":299,"message":"v1 ist veraltet"},"data":[{"due":"2025-09-18"},{"due":"2025-09-19"}]})");
  run.tool("get_fees", R"({"berth":"C-4"})", R"({"open":true})");
  EXPECT_TRUE(judge(run.model("Die erste am 18.09. und die zweite am 19.09. des Jahres.")).findings.empty());
}

TEST(SchemaGhost, FigureOfACondition_IsNotTold) {
  const auto judged = [](std::string_view answer) {
    RunBuilder run;
    run.request("How high does the water get?").tool("get_tide", R"({"port":"Bodo"})", "No tides found.");
    return judge(run.outcome(answer)).findings.size();
  };
  EXPECT_EQ(judged("If the water gets above 350 centimeters, leave the berth and call the harbour."), 0u);
  EXPECT_EQ(judged("The water gets to 350 centimeters, so leave the berth and call the harbour."), 1u);
}

TEST(SchemaGhost, TimesThatFollowFromOthers_HaveASource) {
  const auto judged = [](std::string_view answer) {
    RunBuilder run;
    run.request("I leave at 9:30. When am I in, and is there a charger?")
        .tool("get_route", R"({"to":"Bodo"})", R"({"minutes":101,"km":166})");
    run.tool("find_chargers", R"({"near":"Bodo"})", R"({"chargers":[]})");
    return judge(run.model(answer)).findings.size();
  };
  EXPECT_EQ(judged("You are there at 11:11, and the charger at the quay opens when you come."), 0u);
  EXPECT_EQ(judged("You are there at 11:11, and the charger at the quay is free from 11:45 to 12:50 at 0.49 EUR."), 1u);
  EXPECT_EQ(judged("No fast charger shows up there. You are in at 11:11 and back at 12:50 for 0.49 EUR."), 0u) << "owns up to it";
}

TEST(SchemaGhost, WhatTheAnswerWorksOutBeforeItsReader_HasASource) {
  const auto judged = [](std::string_view answer) {
    RunBuilder run;
    run.request("What did the two markets bring in per guest?");
    run.tool("query_takings", R"({"event":"soup"})", R"({"rows":[{"event":"soup","guests":80,"gross":2480.0,"costs":560.0}]})");
    run.tool("query_takings", R"({"event":"plants"})", R"({"rows":[]})");
    return judge(run.model(answer)).findings.size();
  };
  EXPECT_EQ(judged("Soup: (2,480 \u2212 560) / 80 = **24.00 a head**. For the plants nothing has been entered. Net: 1,920."), 0u);
  EXPECT_EQ(judged("Soup: (2,480 - 560) / 80 = 24.00. Plants: (3,150 - 437) / 125 = 21.70 from 125 guests, 2,713 in all."), 1u);
}

TEST(SchemaGhost, ToolThatMayOnlyLook_IsASource) {
  RunBuilder run;
  run.request("How many words are new?").tool("words.analyze", R"({"file":"quay.txt"})", R"({"analysis":null,"log":[]})");
  EXPECT_EQ(judge(run.model("1,870 words are new, 940 are close to known ones and 590 are repeated: 410.90 EUR.")).findings.size(), 1u);
}

TEST(SchemaGhost, MarksAroundANumber_AreNoCalculation) {
  RunBuilder run;
  run.request("Compare the two.").tool("get_quote", R"({"symbol":"HRN"})", R"({"symbol":"HRN","price":18.44,"cap":1120000000})");
  run.tool("get_quote", R"({"symbol":"AUK"})", R"({"symbol":"AUK","price":null,"cap":null,"currency":null})");
  EXPECT_EQ(judge(run.model("- **HRN** - $18.44, worth \u2248 $1.12B\n- **AUK** - $41.87 (+0.6%), worth \u2248 $2.6B")).findings.size(),
            1u);
}

TEST(SchemaGhost, InventedIdInACall_IsNoGuessAtASpokenWord) {
  const auto booked = [](std::string_view berth, std::string_view list) {
    RunBuilder run;
    run.request("I like what that quay offers; find me a berth there.")
        .failed("get_quay", R"({"quay_id":"Q7"})", "quay Q7 not found")
        .tool("list_quays", "{}", list)
        .tool("book_berth", R"({"berth_number":")" + std::string(berth) + R"("})", R"({"booked":true})");
    return judge(run.model("Your berth is booked."));
  };
  constexpr std::string_view kQuays = R"([{"name":"West","berths":["HAT204"]},{"name":"North","berths":[]}])";
  EXPECT_EQ(booked("HAT001", kQuays).findings.size(), 1u);
  EXPECT_TRUE(booked("HAT204", kQuays).findings.empty()) << "the list has it";
  EXPECT_TRUE(is_candidate(booked("HAT001", R"([{"name":"West","berths":["HAT204"]},{"name":"Nor...)"))) << "the list may have had it";
}

TEST(SchemaGhost, AnswerFromASourceThatNoCallOpened_IsMadeUp) {
  const auto told = [](std::string_view request, std::string_view answer, std::string_view printed = "[]") {
    RunBuilder run;
    run.request(request).tool("terminal", R"({"code":"scrape harbour-log"})", printed);
    return judge(run.model(answer)).findings.size();
  };
  constexpr std::string_view kAsked = "Who kept the harbour log of the ferry that sank in May?";
  EXPECT_EQ(told(kAsked, "Upon reviewing the log page, the keeper was \"Signe Aasland\" of Tveit."), 1u);
  EXPECT_EQ(told(kAsked, "The keeper was \"Signe Aasland\" of Tveit."), 0u);
  EXPECT_EQ(told(kAsked, "I could review the log page by hand for you, or ask the keeper Signe Aasland."), 0u);
  EXPECT_EQ(told(kAsked, "Upon reviewing the log page, the keeper was \"Signe Aasland\" of Tveit.", "Signe Aasland, Tveit, kept it"), 0u);
  EXPECT_EQ(
      told("Wer hat das Logbuch der F\u00E4hre gef\u00FChrt?", "Nach Durchsicht der Seite war es die Wachfrau Signe Aasland aus Tveit."),
      1u);
  EXPECT_EQ(
      told("\u00BFQui\u00E9n llevaba el diario del ferry?", "Tras revisar la p\u00E1gina, lo llevaba la guarda Signe Aasland de Tveit."),
      1u);
}

TEST(SchemaGhost, DatesThatFollowFromTheRequest_HaveASource) {
  const auto told = [](std::string_view answer) {
    RunBuilder run;
    run.request("Net 10 business days from Monday 6 October 2025, bank holidays count as closed. When is it due?")
        .tool("holidays_between", R"({"from":"2025-10-06","to":"2025-10-24"})", "[]");
    return judge(run.model(answer)).findings.size();
  };
  EXPECT_EQ(told("It is due on Monday 20 October 2025: the 7th is day one, the 10th day four, the 17th day nine."), 0u);
  EXPECT_EQ(told("It is due on Thursday 16 October 2025."), 0u) << "days of any kind";
  EXPECT_EQ(told("It is due on Wednesday 29 October 2025, under reference INV-88213."), 1u);
}

TEST(SchemaGhost, FailedCalculationDoneInTheHead_HasASourceWhereItIsRight) {
  const auto told = [](std::string_view answer) {
    RunBuilder run;
    run.request("What do I pay for 18 fenders at 46.50 each if I get the 10% trade discount?")
        .tool("lookup_discount", R"({"group":"trade"})", R"({"percent":10})")
        .failed("calculator", "{\"expression\":\"18 * 46.50 * (1 - 10%)\"}", "SyntaxError: unexpected bracket");
    return judge(run.model(answer)).findings.size();
  };
  EXPECT_EQ(told("18 fenders at 46.50 make 837.00. Less the 10% discount (83.70) you pay 753.30."), 0u);
  EXPECT_EQ(told("18 fenders at 46.50 make 837.00. Less the 10% discount (91.20) you pay 745.80."), 1u);
}

TEST(SchemaGhost, DeclaredGuessAfterAFailedSource_IsMadeUpAllTheSame) {
  const auto told = [](std::string_view answer, std::string_view request = "What are 2,400 crowns in shillings?") {
    RunBuilder run;
    run.request(request).failed("get_rate", R"({"from":"CRO","to":"SHI"})", "quota exhausted");
    return judge(run.model(answer)).findings.size();
  };
  EXPECT_EQ(told("I can't get the rate. Assuming 1.09, 2,400 crowns are 2,616 shillings."), 1u);
  EXPECT_EQ(told("I can't get the rate. Let's go with 1.09: that makes 2,616 shillings."), 1u);
  EXPECT_EQ(told("Der Kurs kam nicht. Nehmen wir an, er liegt bei 1,09: das sind 2.616 Schilling."), 1u);
  EXPECT_EQ(told("No tengo el cambio. Suponiendo 1,09, son 2.616 chelines."), 1u);
  EXPECT_EQ(told("I can't get the rate. Do you want me to try again in an hour?"), 0u);
  EXPECT_EQ(told("I can't get the rate. Assuming your 1.09, it is 2,616.", "What are 2,400 crowns at a rate of 1.09?"), 0u) << "the user's";
}

TEST(SchemaGhost, ValueOfAnotherThing_IsNoValueOfThisOne) {
  const auto told = [](std::string_view answer, std::string_view second = "{}", std::string_view third = {}) {
    RunBuilder run;
    run.request("What do the brackets BRK-10 and BRK-12 cost?").tool("find_price", R"({"sku":"BRK-10"})", R"({"sku":"BRK-10","net":3.45})");
    run.tool("find_price", R"({"sku":"BRK-12"})", second);
    if (!third.empty()) run.tool("read_catalog", R"({"sku":"BRK-12"})", third);
    return judge(run.model(answer)).findings.size();
  };
  EXPECT_EQ(told("BRK-10 is EUR 3.45 net and BRK-12 is EUR 3.45 net as well."), 1u);
  EXPECT_EQ(told("| SKU | net |\n| --- | --- |\n| BRK-10 | 3.45 |\n| BRK-12 | 3.45 |"), 1u);
  EXPECT_EQ(told("BRK-10 is EUR 3.45 net. For BRK-12 I found no price."), 0u);
  EXPECT_EQ(told("BRK-12 is listed without a price; its sister BRK-10 is EUR 3.45 net."), 0u) << "said of the other";
  EXPECT_EQ(told("BRK-10 is EUR 3.45 net and BRK-12 is EUR 3.45 net as well.", R"({"sku":"BRK-12","net":3.45})"), 0u);
  EXPECT_EQ(told("BRK-10 is EUR 3.45 net and BRK-12 is EUR 3.45 net as well.", "{}", "BRK-12: 3.45 net"), 0u) << "found elsewhere";
}

TEST(SchemaGhost, ObjectOfThreeSigns_TiesAValueToTheCallThatGaveNothing) {
  RunBuilder run;
  run.request("Who tested the controls C-1A and C-2B last, and when?");
  run.tool("get_tests", R"({"control":"C-1A"})", R"([{"tester":"M. Adeyemi","date":"2025-03-14"}])");
  run.tool("get_tests", R"({"control":"C-2B"})", "[]");
  run.tool("get_owner", R"({"of":"all"})", R"({"owner":"IT"})");
  EXPECT_EQ(
      judge(run.model(
                "| Control | Tester | Date |\n|---|---|---|\n| C-1A | M. Adeyemi | 14 Mar 2025 |\n| C-2B | P. Lindqvist | 27 Jun 2025 |"))
          .findings.size(),
      1u);
}

TEST(SchemaGhost, PageOfAnEmptyListInThreeLanguages_IsNoContent) {
  for (const auto* output : {R"({"results":[],"page":1})", R"({"resultados":[],"pagina":1})", R"({"treffer":[],"seite":1})"}) {
    RunBuilder run;
    run.request("When does the registry open?").tool("find_office", R"({"kind":"registry"})", output);
    EXPECT_EQ(judge(run.model("The registry opens at 9:15 and closes at 14:30; its number is 922 80 11 47.")).findings.size(), 1u)
        << output;
  }
}

TEST(SchemaGhost, CodeOfWhatWasNotFound_IsInventedWhereACallIsGivenIt) {
  const auto told = [](std::string_view found, std::string_view request = "Raise an order for 6 monitors at 189 each.") {
    RunBuilder run;
    run.request(request).tool("find_cost_centre", R"({"q":"IT hardware"})", found);
    run.tool("create_order", R"({"qty":6,"unit":189,"costCentre":"CC-4410"})", R"({"order":"PO-70318","costCentre":"CC-4410"})");
    return judge(run.model("Order PO-70318 is open for 6 monitors, charged to CC-4410.")).findings.size();
  };
  EXPECT_EQ(told(R"({"matches":[]})"), 1u);
  EXPECT_EQ(told(R"({"matches":["CC-4410"]})"), 0u);
  EXPECT_EQ(told(R"({"matches":[]})", "Raise an order for 6 monitors at 189 each on CC-4410."), 0u);
}

}  // namespace runwarden::plugins
