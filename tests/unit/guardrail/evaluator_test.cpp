#include "guardrail/evaluator.h"

#include "runs.h"

namespace runwarden::guardrail {
namespace {

bool caught(const char* point, const json& condition, const json& run) {
  return catches(draft_at(point, condition), run);
}

TEST(GuardrailEvaluator, Words_CompareWholeAndWithoutCase) {
  const auto says = [](const std::string& word, const std::string& text) {
    return caught("before_reply", {{"reply", {{"anyWord", {word}}}}}, run_of(json::array(), {{"outcomeSummary", text}}));
  };
  EXPECT_TRUE(says("refund", "Your REFUND is done"));
  EXPECT_TRUE(says("Refund", "refund."));
  EXPECT_FALSE(says("refund", "It was refunded"));
  EXPECT_FALSE(says("refund", "prerefund"));
  EXPECT_TRUE(says("could not", "I could\nnot do it"));
  EXPECT_FALSE(says("could not", "I could perhaps not"));
  EXPECT_TRUE(says("couldn't", "I couldn\u2019t do it"));
  EXPECT_TRUE(says("m\u00f6glich", "Nicht M\u00d6GLICH!"));
}

TEST(GuardrailEvaluator, AReply_IsLookedAtWithTheCallsBeforeIt) {
  const json rule = {
      {"all", {{{"call", {{"tool", "refund"}, {"outcome", "failed"}, {"last", true}}}}, {{"reply", {{"anyWord", {"processed"}}}}}}}};
  EXPECT_TRUE(caught("before_reply", rule, run_of({failed_call("refund")}, {{"outcomeSummary", "It is processed."}})));
  EXPECT_TRUE(caught("before_reply", rule, run_of({failed_call("refund"), said("It is processed."), asked("Thanks"), said("Bye")})));
  EXPECT_TRUE(caught("before_reply", rule, run_of({failed_call("refund"), call("get_policy"), said("It is processed.")})))
      << "another tool makes nothing good";
  EXPECT_FALSE(caught("before_reply", rule, run_of({failed_call("refund"), call("refund"), said("It is processed.")}))) << "recovered";
  EXPECT_FALSE(caught("before_reply", rule, run_of({said("It is processed."), failed_call("refund")}))) << "said before the call";
  EXPECT_FALSE(caught("before_reply", rule, run_of({failed_call("refund"), said("It failed.")})));
  EXPECT_FALSE(caught("before_reply", rule, run_of({failed_call("cancel"), said("It is processed.")})));
}

TEST(GuardrailEvaluator, ARunWithNothingButAFlag_HasAnEmptyReplyAtItsEnd) {
  const json rule = {{"call", {{"outcome", "failed"}}}};
  EXPECT_TRUE(caught("before_reply", rule, run_of({said("I look."), failed_call("refund")}, {{"success", true}})));
  const json words = {{"all", {rule, {{"reply", {{"anyWord", {"look"}}}}}}}};
  EXPECT_FALSE(caught("before_reply", words, run_of({said("I look."), failed_call("refund")}))) << "said before the call";
}

TEST(GuardrailEvaluator, FailedAndEmpty_AreAsTheDetectorsTellThem) {
  const auto came_out = [](const char* outcome, const json& step) {
    return caught("after_tool", {{"call", {{"outcome", outcome}}}}, run_of({step}));
  };
  for (const json& failed : {failed_call("a"), call("a", {{"status", "TIMED_OUT"}}), call("a", {{"errorCode", 500}}),
                             call("a", {{"metadata", {{"httpStatus", 404}}}}), call("a", {{"outputSummary", {{"error", "no such order"}}}}),
                             call("a", {{"outputSummary", R"({"ok": false})"}}), call("a", {{"outputSummary", "Error: denied"}}),
                             call("pay", {{"outputSummary", "connection refused"}})}) {
    EXPECT_TRUE(came_out("failed", failed)) << failed;
    EXPECT_FALSE(came_out("ok", failed)) << failed;
  }
  for (const json& empty :
       {call("a", {{"outputSummary", nullptr}}), call("a", {{"outputSummary", ""}}), call("a", {{"outputSummary", "[]"}}),
        call("a", {{"outputSummary", {{"total", 0}}}}), call("a", {{"outputSummary", "No results found"}})}) {
    EXPECT_TRUE(came_out("empty", empty)) << empty;
    EXPECT_FALSE(came_out("ok", empty)) << empty;
    EXPECT_FALSE(came_out("failed", empty)) << empty;
  }
  for (const json& fine :
       {call("a"), call("a", {{"outputSummary", "3 errors were fixed"}}), call("a", {{"errorCode", "0"}, {"outputSummary", "x"}})}) {
    EXPECT_TRUE(came_out("ok", fine)) << fine;
    EXPECT_TRUE(came_out("any", fine)) << fine;
    EXPECT_FALSE(came_out("failed", fine)) << fine;
    EXPECT_FALSE(came_out("empty", fine)) << fine;
  }
}

TEST(GuardrailEvaluator, SameInput_CountsTheCallsBeforeTheOneToBeMade) {
  const json rule = {{"call", {{"tool", "search"}, {"sameInput", true}, {"atLeast", 2}}}};
  const json a = call("search", {{"inputSummary", R"({"q": "x", "n": 1})"}});
  const json equal = call("search", {{"inputSummary", {{"n", 1.0}, {"q", "x"}}}});
  const json b = call("search", {{"inputSummary", R"({"q": "y"})"}});
  EXPECT_FALSE(caught("before_tool", rule, run_of({a, a})));
  EXPECT_TRUE(caught("before_tool", rule, run_of({a, a, a})));
  EXPECT_TRUE(caught("before_tool", rule, run_of({a, b, equal, a}))) << "compared as JSON";
  EXPECT_FALSE(caught("before_tool", rule, run_of({a, a, b})));
  EXPECT_FALSE(caught("before_tool", rule, run_of({a, a, call("other", {{"inputSummary", R"({"q": "x", "n": 1})"}})})));
  EXPECT_TRUE(caught("after_tool", rule, run_of({a, a}))) << "the call that was made counts";
  json last = rule;
  last["call"]["last"] = true;
  EXPECT_FALSE(caught("before_tool", last, run_of({a, b, a, b, a})));
  EXPECT_TRUE(caught("before_tool", last, run_of({b, a, a, a})));
}

TEST(GuardrailEvaluator, RetriesOfAStep_AreCalls) {
  const json rule = {{"call", {{"sameInput", true}, {"atLeast", 2}}}};
  EXPECT_TRUE(caught("before_tool", rule, run_of({call("search", {{"inputSummary", "x"}, {"retryCount", 3}})})));
  EXPECT_FALSE(caught("before_tool", rule, run_of({call("search", {{"inputSummary", "x"}, {"retryCount", 2}})})));
}

TEST(GuardrailEvaluator, AnInputThatIsNotRecorded_IsTheSameOnlyWhileTheCallsFail) {
  const json rule = {{"call", {{"sameInput", true}, {"atLeast", 2}}}};
  EXPECT_FALSE(caught("before_tool", rule, run_of({call("search"), call("search"), call("search")})));
  EXPECT_TRUE(caught("before_tool", rule, run_of({failed_call("search"), failed_call("search"), call("search")})));
}

TEST(GuardrailEvaluator, NoCall_ReadsTheWordsOfNames) {
  const json rule = {{"noCall", {{"nameHas", {"cancel", "look up"}}}}};
  const auto no_call = [&](const char* tool) { return caught("before_reply", rule, run_of({call(tool)})); };
  EXPECT_FALSE(no_call("cancel_order"));
  EXPECT_FALSE(no_call("orderCancel"));
  EXPECT_FALSE(no_call("crm.lookUp"));
  EXPECT_TRUE(no_call("cancelled_orders"));
  EXPECT_TRUE(no_call("lookup"));
}

TEST(GuardrailEvaluator, ARequest_IsAnyTurnOfTheUserSoFar) {
  const json rule = {{"all", {{{"request", {{"anyWord", {"cancel"}}}}}, {{"reply", {{"anyWord", {"done"}}}}}}}};
  EXPECT_TRUE(caught("before_reply", rule, run_of({said("Done.")}, {{"userRequestText", "Cancel it"}})));
  EXPECT_TRUE(caught("before_reply", rule, run_of({said("Hello"), asked("Please cancel"), said("Done.")})));
  EXPECT_FALSE(caught("before_reply", rule, run_of({said("Done."), asked("Please cancel"), said("How?")})));
}

TEST(GuardrailEvaluator, APrompt_IsComparedByModelAndCount) {
  const json rule = {{"model", {{"name", "gpt-4o"}, {"inputTokensOver", 100}}}};
  const auto prompt = [](const char* model, int tokens) {
    return run_of({{{"stepKind", "model"}, {"metadata", {{"model", model}, {"inputTokens", tokens}}}}});
  };
  EXPECT_TRUE(caught("before_model", rule, prompt("openai/GPT-4o-2024-08-06", 101)));
  EXPECT_FALSE(caught("before_model", rule, prompt("gpt-4o", 100)));
  EXPECT_FALSE(caught("before_model", rule, prompt("gpt-4", 101)));
  const json about = {{"metadata", {{"model", "gpt-4o"}, {"inputTokens", 101}}}};
  EXPECT_TRUE(caught("before_model", rule, run_of({said("x")}, about)));
  EXPECT_FALSE(caught("before_model", rule, run_of({said("x"), said("y")}, about))) << "it may be a sum";
}

TEST(GuardrailEvaluator, WhenTimeIsOver_SaysThatItDoesNotKnow) {
  json steps = json::array();
  for (int i = 0; i < 1000; ++i) steps.push_back(call("search", {{"inputSummary", i}}));
  const model::Run run = read(run_of(steps));
  int asked = 0;
  Evaluator evaluator(draft_at("before_tool", {{"call", {{"sameInput", true}}}}));
  EXPECT_EQ(evaluator.catches(run, [&] { return ++asked == 3; }), std::nullopt);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(evaluator.catches(run), false) << "and knows nothing of it the next time";
}

}  // namespace
}  // namespace runwarden::guardrail
