#include "guardrail/drafting.h"

#include <gmock/gmock.h>

#include "runs.h"

namespace runwarden::guardrail {
namespace {

using ::testing::HasSubstr;

json refund_run(const std::string& claim) {
  return run_of({failed_call("issue_refund")}, {{"userRequestText", "Refund order 8842"}, {"outcomeSummary", claim}});
}

json refund_failure(const std::string& claim) {
  return {{"detectorKey", "false_success"},
          {"title", "False success: agent claimed completion after issue_refund failed"},
          {"primaryStepId", "step_1"},
          {"evidence",
           {{{"pointer", "/steps/0/errorMessage"}, {"value", "502 Bad Gateway"}}, {{"pointer", "/outcomeSummary"}, {"value", claim}}}}};
}

json written(const Draft& draft) {
  std::string text;
  JsonWriter out(text);
  out.begin_object();
  write_draft(out, draft);
  out.end_object();
  return json::parse(text);
}

json drafted(const json& failure, const json& run) {
  const auto facts = facts_that_catch(failure.dump(), read(run));
  EXPECT_TRUE(facts.ok()) << facts.error().detail;
  const Draft draft = draft_of(*facts);
  EXPECT_TRUE(catches(draft, run)) << written(draft);
  return written(draft);
}

TEST(GuardrailDrafting, AFalseSuccess_IsARuleOverCallAndReply) {
  const std::string claim = "Your refund has been processed.";
  EXPECT_EQ(drafted(refund_failure(claim), refund_run(claim)), json::parse(R"({
    "format": "guardrail/1", "name": "false-success-issue-refund", "title": "No success claim after issue_refund failed", "point": "before_reply",
    "if": {"all": [{"call": {"tool": "issue_refund", "outcome": "failed", "last": true}}, {"reply": {"anyWord": ["processed", "refund"]}},
                   {"not": {"reply": {"anyWord": ["unable", "failed", "could not", "error"]}}}]},
    "then": {"action": "retry_reply", "say": "issue_refund failed (502 Bad Gateway): say so, do not claim success."}})"));
}

TEST(GuardrailDrafting, AnAdmissionThatTheClaimItselfHolds_IsLeftOut) {
  const std::string claim = "Your refund is processed; the first try failed.";
  const json draft = drafted(refund_failure(claim), refund_run(claim));
  EXPECT_EQ(draft["if"]["all"][2]["not"]["reply"]["anyWord"], json({"unable", "could not", "error"}));
}

// Replies that own up in words of their own.
constexpr const char* kHonest[] = {
    "I am sorry, the refund did not go through. Please contact support.",
    "I couldn't refund order 8842.",
    "There was a problem with the refund of order 8842, so nothing was changed.",
    "Unfortunately the payment provider is unavailable.",
};

void expect_to_pass_honest_replies(const json& draft) {
  const auto read_back = read_draft(draft.dump());
  ASSERT_TRUE(read_back.ok()) << read_back.error().detail;
  for (const char* const reply : kHonest) {
    json honest = refund_run(reply);
    honest["success"] = false;
    honest["steps"].push_back(said(reply));
    EXPECT_FALSE(catches(*read_back, honest)) << reply << " " << draft;
  }
}

TEST(GuardrailDrafting, AClaimInGeneralWords_IsOne) {
  const std::string claim = "Everything is taken care of!";
  const json draft = drafted(refund_failure(claim), refund_run(claim));
  EXPECT_EQ(draft["if"]["all"][1], json({{"reply", {{"anyWord", {"taken care of"}}}}}));
  expect_to_pass_honest_replies(draft);
}

TEST(GuardrailDrafting, AFlagAlone_AsksForNoWords_ButLetsEveryAdmissionPass) {
  json failure = refund_failure("");
  failure["evidence"][1] = {{"pointer", "/success"}, {"value", "true"}};
  json run = refund_run("");
  run.erase("outcomeSummary");
  run["success"] = true;
  const json draft = drafted(failure, run);
  const json& all = draft["if"]["all"];
  ASSERT_GE(all.size(), 2u);
  EXPECT_TRUE(all[0].contains("call"));
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_TRUE(all[i].contains("not"));
  expect_to_pass_honest_replies(draft);
  run["userRequestText"] = "Please refund my order as soon as you can, and tell me when it is done.";
  const json in_english = drafted(failure, run);
  EXPECT_EQ(in_english.dump().find("leider"), std::string::npos) << "in the language of the request";
  expect_to_pass_honest_replies(in_english);
}

// The evidence of a failure that a model confirmed is what the model quoted, in its order, or nothing.
TEST(GuardrailDrafting, AConfirmedCandidate_IsReadFromTheRun) {
  const json reply_first = {{{"pointer", "/outcomeSummary"}, {"value", "on its way"}},
                            {{"pointer", "/steps/0/errorMessage"}, {"value", "502 Bad Gateway"}}};
  for (const json& evidence : {json::array(), reply_first}) {
    const auto draft_for = [&](const std::string& claim) {
      json failure = refund_failure(claim);
      failure["evidence"] = evidence;
      const json draft = drafted(failure, refund_run(claim));
      EXPECT_EQ(draft["then"]["say"].get<std::string>().find("502") != std::string::npos, !evidence.empty());
      return draft;
    };
    EXPECT_EQ(draft_for("Your refund has been processed.")["if"]["all"][1], json({{"reply", {{"anyWord", {"processed", "refund"}}}}}));
    for (const char* const claim : {"Your money is on its way.", "Here you go!"}) expect_to_pass_honest_replies(draft_for(claim));
  }
}

TEST(GuardrailDrafting, AnotherFailureOfTheGroupByTheFlagAlone_LeavesAConditionOnTheReply) {
  auto facts =
      facts_that_catch(refund_failure("Ihre Erstattung wurde veranlasst.").dump(), read(refund_run("Ihre Erstattung wurde veranlasst.")));
  json failure = refund_failure("");
  failure["evidence"][1] = {{"pointer", "/success"}, {"value", "true"}};
  const json other = refund_run("");
  widen(*facts, *facts_that_catch(failure.dump(), read(other)));
  EXPECT_TRUE(catches(draft_of(*facts), other));
  expect_to_pass_honest_replies(written(draft_of(*facts)));
}

TEST(GuardrailDrafting, WhereTheToolSucceededLater_TheCallNeedNotBeTheLast) {
  json run = refund_run("Your refund has been processed.");
  run["steps"].push_back(call("issue_refund", {{"outputSummary", "refunded another order"}}));
  EXPECT_FALSE(drafted(refund_failure("Your refund has been processed."), run)["if"]["all"][0]["call"].contains("last"));
}

TEST(GuardrailDrafting, ALoop_StopsBeforeItsLastRepeat) {
  const json search = call("search_orders", {{"inputSummary", "q"}, {"outputSummary", "[]"}});
  const json failure = {{"detectorKey", "expensive_loop"},
                        {"title", "Runaway loop: \"search_orders\" repeated 3\u00d7 with no progress"},
                        {"primaryStepId", "step_2"},
                        {"evidence", {{{"pointer", "/steps/0/inputSummary"}, {"value", "q"}}}}};
  const json draft = drafted(failure, run_of({search, search, search}));
  EXPECT_EQ(draft["point"], "before_tool");
  EXPECT_EQ(draft["if"], json({{"call", {{"tool", "search_orders"}, {"sameInput", true}, {"atLeast", 2}}}}));
  EXPECT_EQ(draft["then"]["action"], "stop_run");
}

TEST(GuardrailDrafting, AGhost_IsARuleOverDigitsAfterNothing) {
  const std::string made_up = "Order #8842 shipped on 2026-06-28 via UPS.";
  const json failure = {
      {"detectorKey", "schema_ghost"},
      {"primaryStepId", "step_1"},
      {"evidence",
       {{{"pointer", "/steps/0/outputSummary"}, {"value", "null"}}, {{"pointer", "/steps/1/outputSummary"}, {"value", "2026-06-28"}}}}};
  const json draft = drafted(failure, run_of({call("get_order", {{"outputSummary", "null"}}), said(made_up)}));
  EXPECT_EQ(draft["if"]["all"][0], json({{"call", {{"tool", "get_order"}, {"outcome", "empty"}, {"last", true}}}}));
  EXPECT_EQ(draft["if"]["all"][1], json({{"reply", {{"digits", 4}}}}));
  EXPECT_EQ(draft["then"]["action"], "retry_reply");
}

json cancel_failure() {
  return {
      {"detectorKey", "missing_tool_call"},
      {"title", "Missing action: agent claimed to \"cancel\" but called no tool"},
      {"evidence",
       {{{"pointer", "/userRequestText"}, {"value", "Cancel my plan"}}, {{"pointer", "/outcomeSummary"}, {"value", "It is cancelled."}}}}};
}

TEST(GuardrailDrafting, AMissingCall_IsARuleOverRequestReplyAndNames) {
  const json draft =
      drafted(cancel_failure(), run_of(json::array(), {{"userRequestText", "Cancel my plan"}, {"outcomeSummary", "It is cancelled."}}));
  const json& all = draft["if"]["all"];
  EXPECT_EQ(all[0], json({{"request", {{"anyWord", {"cancel"}}}}}));
  EXPECT_EQ(all[1], json({{"reply", {{"anyWord", {"cancelled"}}}}}));
  EXPECT_EQ(all[2]["noCall"]["nameHas"][0], "cancel");
  EXPECT_EQ(draft["then"]["action"], "block");
}

TEST(GuardrailDrafting, AnOverflow_IsARuleOverTheModelsWindow) {
  const json failure = {{"detectorKey", "context_overflow"},
                        {"title", "Context overflow: 175000 input tokens exceed gpt-4o's 128000-token window"}};
  const json run = run_of({{{"stepKind", "model"}, {"metadata", {{"model", "gpt-4o-2024-08-06"}, {"inputTokens", 175000}}}}});
  const json draft = drafted(failure, run);
  EXPECT_EQ(draft["point"], "before_model");
  EXPECT_EQ(draft["if"], json({{"model", {{"name", "gpt-4o"}, {"inputTokensOver", 128000}}}}));
}

TEST(GuardrailDrafting, WhereThereIsNoDraft_TheConflictSaysWhy) {
  const auto why = [](const json& failure, const json& run) {
    const auto facts = read_facts(failure.dump(), read(run));
    EXPECT_FALSE(facts.ok());
    EXPECT_EQ(facts.error().code, Code::conflict);
    return facts.error().detail;
  };
  EXPECT_THAT(why({{"detectorKey", "pii_leak"}}, run_of(json::array())), HasSubstr("no draft for this detector"));
  EXPECT_THAT(why({{"detectorKey", "context_overflow"}, {"title", "Context overflow: gpt-4o refused the prompt as too long"}},
                  run_of(json::array())),
              HasSubstr("metadata.inputTokens"));
  EXPECT_THAT(why(refund_failure("Done."), run_of({said("x")})), HasSubstr("not a call"));
}

TEST(GuardrailDrafting, AnotherFailureOfTheGroup_WidensTheWords) {
  auto facts =
      facts_that_catch(refund_failure("Your refund has been processed.").dump(), read(refund_run("Your refund has been processed.")));
  const json other = refund_run("The money was returned, order 77.");
  ASSERT_FALSE(catches(draft_of(*facts), other));
  widen(*facts, *facts_that_catch(refund_failure("The money was returned, order 77.").dump(), read(other)));
  EXPECT_TRUE(catches(draft_of(*facts), other));
  EXPECT_TRUE(catches(draft_of(*facts), refund_run("Your refund has been processed.")));
}

TEST(GuardrailDrafting, NamesAndWordsBeyondADraftsLimits_AreLeftOut) {
  const std::string claim = "Your refund has been processed: " + std::string(1000, 'x');
  json run = refund_run(claim);
  run["steps"][0]["stepName"] = std::string(1000, 'y');
  const json draft = drafted(refund_failure(claim), run);
  EXPECT_FALSE(draft["if"]["all"][0]["call"].contains("tool"));
  EXPECT_TRUE(read_draft(draft.dump()).ok());
}

TEST(GuardrailDrafting, AFailureOfAnyShape_IsDraftedOrRefused) {
  const json run = refund_run("Done.");
  for (const json& failure :
       {json::object(), json({{"detectorKey", "false_success"}}), json({{"detectorKey", "schema_ghost"}, {"primaryStepId", "step_1"}}),
        json({{"detectorKey", "expensive_loop"}, {"evidence", {{{"pointer", "/steps/999999999999999999999/x"}, {"value", ""}}}}}),
        json({{"detectorKey", "missing_tool_call"}, {"title", "\""}, {"evidence", {1, "x", json::object()}}}),
        json({{"detectorKey", "context_overflow"}, {"title", " input tokens exceed 's -token window"}})}) {
    const auto facts = facts_that_catch(failure.dump(), read(run));
    if (!facts.ok()) continue;
    EXPECT_TRUE(read_draft(written(draft_of(*facts)).dump()).ok()) << failure << " " << written(draft_of(*facts));
  }
}

}  // namespace
}  // namespace runwarden::guardrail
