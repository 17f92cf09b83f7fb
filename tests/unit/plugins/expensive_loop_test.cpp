#include "expensive_loop/expensive_loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "unit/plugins/run_builder.h"
#include "vocabulary_file.h"

namespace runwarden::plugins {
namespace {

Verdict judge(const RunBuilder& run, std::string_view settings = {}) {
  return ExpensiveLoop(settings).evaluate(run.run());
}

RunBuilder searches(int count) {
  RunBuilder run;
  for (int i = 0; i < count; ++i) run.tool("search_orders", R"({"q":"late"})", "[]");
  return run;
}

TEST(ExpensiveLoop, WhyAndHowMuchALookUpAsks_MakesNoOtherCall) {
  RunBuilder named;
  named.failed("mooring_lookup", R"({"berth":"N-2"})", "connection reset")
      .failed("mooring_lookup", R"({"berth":"N-2","reason":"again"})", "connection reset");
  EXPECT_EQ(judge(named.failed("mooring_lookup", R"({"berth":"N-2","reason":"once more"})", "connection reset")).findings.size(), 1u);
  RunBuilder fetched;
  fetched.tool("fetch", R"({"url":"https://quay.test"})", "<div></div>")
      .tool("fetch", R"({"url":"https://quay.test","max_length":9000})", "<div></div>");
  EXPECT_EQ(judge(fetched.tool("fetch", R"({"url":"https://quay.test","max_length":50000})", "<div></div>")).findings.size(), 1u);
  RunBuilder changed;
  for (const auto* reason : {"", "again", "once more"})
    changed.tool("mark_mooring_lookup", std::string(R"({"berth":"N-2","reason":")") + reason + "\"}", "ok");
  EXPECT_TRUE(judge(changed).findings.empty());
}

TEST(ExpensiveLoop, PublishedExample_FiresWithThePublishedWords) {
  const auto verdict = judge(searches(3).cost(0.90));
  ASSERT_EQ(verdict.findings.size(), 1u);
  const auto& found = verdict.findings[0];
  EXPECT_EQ(found.score, 79);
  EXPECT_EQ(found.severity, Severity::kMedium);
  EXPECT_EQ(found.source, Source::kRuntime);
  EXPECT_EQ(found.title, "Runaway loop: \"search_orders\" repeated 3\xC3\x97 with no progress");
  EXPECT_EQ(
      found.summary,
      "The agent retried \"search_orders\" 3 times without changing inputs or making progress, with no escalation or backoff. Estimated "
      "wasted spend: $0.60.");
  EXPECT_DOUBLE_EQ(found.waste_usd.value(), 0.6);
}

// The host takes no larger waste, and five findings that it refuses would put the detector in quarantine for everybody.
TEST(ExpensiveLoop, OfACostBeyondAllMoney_FiresWithoutAWaste) {
  const auto verdict = judge(searches(3).cost(1e21));
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_FALSE(verdict.findings[0].waste_usd.has_value());
  EXPECT_EQ(verdict.findings[0].summary.find("spend"), std::string::npos);
}

struct Count {
  int calls;
  int score;
  Severity severity;
};

class Repeats : public testing::TestWithParam<Count> {};

TEST_P(Repeats, ScoreAndSeverity) {
  const auto verdict = judge(searches(GetParam().calls));
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].score, GetParam().score);
  EXPECT_EQ(verdict.findings[0].severity, GetParam().severity);
  EXPECT_FALSE(verdict.findings[0].waste_usd.has_value());
  EXPECT_EQ(verdict.findings[0].summary.find("spend"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(ExpensiveLoop, Repeats,
                         testing::Values(Count{3, 79, Severity::kMedium}, Count{4, 82, Severity::kMedium}, Count{5, 85, Severity::kMedium},
                                         Count{6, 88, Severity::kHigh}, Count{50, 88, Severity::kHigh}));

// "go east" with another crate in hand each time.
RunBuilder carries_crates(bool other_crates) {
  RunBuilder run;
  run.request("Stow all crates in the hold.");
  for (int i = 0; i < 4; ++i) {
    const std::string crate = "crate " + std::to_string(other_crates ? i : 0);
    run.tool("take", "take " + crate, "You take " + crate + ".").tool("go", "go aft", "The hold.");
    run.tool("stow", "stow " + crate, crate + " is stowed.").tool("go", "go forward", "The quay.");
  }
  return run;
}

TEST(ExpensiveLoop, SameStepsWithOtherThingsInHand_AreProgress) {
  EXPECT_TRUE(judge(carries_crates(true)).findings.empty());
  EXPECT_FALSE(judge(carries_crates(false)).findings.empty());
}

// Each edit differs when `edits` says so.
RunBuilder script_runs(bool edits, bool fresh) {
  RunBuilder run;
  for (int i = 0; i < 4; ++i) {
    run.tool("shell", R"({"cmd":"python3 bin/import.py --all"})", "KeyError: 'region'\n[exit code 1]");
    const std::string line = fresh ? std::to_string(i) : "1";
    if (edits) run.tool("write_file", R"({"path":"/srv/bin/import.py","text":"line )" + line + "\"}", "ok " + std::to_string(i));
  }
  return run;
}

TEST(ExpensiveLoop, AScriptRunAgainAfterEachEdit_IsNoLoop) {
  EXPECT_EQ(judge(script_runs(false, false)).findings.size(), 1u);
  const auto verdict = judge(script_runs(true, true));
  EXPECT_TRUE(verdict.findings.empty());
  ASSERT_FALSE(verdict.suppressed.empty());
  EXPECT_EQ(verdict.suppressed[0].rule, "progress");
  EXPECT_FALSE(judge(script_runs(true, false)).findings.empty()) << "the same edit again and again changes nothing";
  EXPECT_FALSE(judge(script_runs(true, true), R"({"rules":{"progress":false}})").findings.empty());
}

TEST(ExpensiveLoop, CallsWithoutArguments_AfterAnotherThatDidSomething_AreNoLoop) {
  RunBuilder alone;
  RunBuilder between;
  for (int i = 0; i < 3; ++i) {
    alone.tool("press_enter", "{}", "pressed");
    between.tool("press_enter", "{}", "pressed").tool("type_text", R"({"text":"line )" + std::to_string(i) + "\"}", "typed");
  }
  EXPECT_EQ(judge(alone).findings.size(), 1u);
  EXPECT_TRUE(judge(between).findings.empty());
}

TEST(ExpensiveLoop, CallsWithoutArguments_AreALoop_WhateverTheirToolDidWithThem) {
  RunBuilder empty;
  RunBuilder unrecorded;
  for (int i = 0; i < 3; ++i) {
    const auto board = R"({"name":"board )" + std::to_string(i) + "\"}";
    empty.tool("new_board", "{}", "board ready").tool("new_board", board, "made " + board).tool("pin", "{}", "Error: no board");
    unrecorded.tool("console", {}, "not a command").tool("console", board, "made " + board);
  }
  EXPECT_FALSE(judge(empty).findings.empty());
  EXPECT_TRUE(judge(unrecorded).findings.empty());
}

TEST(ExpensiveLoop, LookUpOfAnyName_BetweenEqualCalls_IsNoProgress) {
  const auto run = [](std::string_view tool, const std::string& member) {
    RunBuilder out;
    for (int i = 0; i < 3; ++i) {
      out.tool("start_sketch", R"({"width":80})", "sketch started");
      out.tool(tool, R"({"limit":5,")" + member + R"(":"how to draw )" + std::to_string(i) + "\"}", "pages " + std::to_string(i));
    }
    return out;
  };
  EXPECT_EQ(judge(run("wiki", "query")).findings.size(), 1u);
  EXPECT_TRUE(judge(run("wiki", "note")).findings.empty()) << "a note may be kept";
  RunBuilder writes;
  for (const auto* query : {"UPDATE sketch SET pen = 1", "update sketch set pen = 2", "Delete from pens"}) {
    writes.tool("start_sketch", R"({"width":80})", "sketch started").tool("db", R"({"query":")" + std::string(query) + "\"}", query);
  }
  EXPECT_TRUE(judge(writes).findings.empty());
}

TEST(ExpensiveLoop, LookUpsThatDifferInHowManyAnswersTheyWant_AreEqual) {
  const auto run = [](std::string_view tool, const std::string& member) {
    RunBuilder out;
    for (const auto* value : {"5", "10", "20"}) out.tool(tool, R"({"query":"heron","open":true,")" + member + "\":" + value + "}", "[]");
    return out;
  };
  EXPECT_EQ(judge(run("search_birds", "max_results")).findings.size(), 1u);
  EXPECT_EQ(judge(run("search_birds", "Max_Results")).findings.size(), 1u);
  EXPECT_TRUE(judge(run("search_birds", "page")).findings.empty());
  RunBuilder writes;
  for (const auto* limit : {"5", "10", "20"}) writes.tool("set_alarm", R"({"bird":"heron","limit":)" + std::string(limit) + "}", "set");
  EXPECT_TRUE(judge(writes).findings.empty()) << "what a call does may depend on it";
  EXPECT_TRUE(judge(run("search_birds", "max_results"), R"({"rules":{"json_inputs":false}})").findings.empty());
}

TEST(ExpensiveLoop, LookUpsWithOtherFlags_AreNotEqual) {
  RunBuilder run;
  for (const auto* open : {"true", "false", "null"}) {
    run.tool("search_birds", std::string(R"({"query":"heron","limit":5,"open":)") + open + "}", "[]");
  }
  EXPECT_TRUE(judge(run).findings.empty());
}

TEST(ExpensiveLoop, AnotherFailureAfterAChange_IsProgress) {
  RunBuilder repair;
  RunBuilder stuck;
  for (const char* fault : {"no module named yaml", "no file named plan", "the port is taken"}) {
    for (RunBuilder* run : {&repair, &stuck}) {
      run->tool("start_job", R"({"job":"nightly"})", run == &repair ? fault : "no module named yaml");
      run->last().outcome = Outcome::kFailed;
      run->tool("install", run == &repair ? "{\"what\":\"" + std::string(fault) + "\"}" : R"({"what":"yaml"})", "installed");
    }
  }
  EXPECT_TRUE(judge(repair).findings.empty());
  EXPECT_EQ(judge(stuck).findings.size(), 1u);
}

RunBuilder page_at(std::string_view rest) {
  RunBuilder run;
  for (const char* time : {"18:12:38", "18:12:45", "9:13:07.25"})
    run.tool("click", R"({"id":"L19"})",
             "clicked the link \"Latest\"; page title: releases of the tracker; now " + std::string(time) + std::string(rest));
  return run;
}

TEST(ExpensiveLoop, ATimeOfDayInALongOutput_IsNothingNew) {
  EXPECT_EQ(judge(page_at("; 1 tab is open; nothing else on the page has changed since it was loaded")).findings.size(), 1u);
  RunBuilder clock;
  for (const char* time : {"18:12:38", "18:12:45", "18:13:07"}) clock.tool("get_time", "{}", time);
  EXPECT_TRUE(judge(clock).findings.empty()) << "a clock tells nothing but the time";
}

TEST(ExpensiveLoop, RetryCount_IsTheNumberOfRepeats) {
  RunBuilder run;
  run.cost(1.0).bare(Kind::kTool);
  run.last().name = "charge_card";
  run.last().retry_count = 4;
  const auto verdict = judge(run);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].score, 82);
  EXPECT_DOUBLE_EQ(verdict.findings[0].waste_usd.value(), 0.75);
  EXPECT_EQ(verdict.findings[0].evidence[0].pointer, "/steps/0/retryCount");
}

TEST(ExpensiveLoop, TwoEqualCalls_AreNoLoop) {
  EXPECT_TRUE(judge(searches(2)).findings.empty());
}

TEST(ExpensiveLoop, KeyOrderAndBlanks_DoNotMatter) {
  RunBuilder run;
  run.tool("search", R"({"a":1,"b":"x"})", "[]")
      .tool("search", R"({ "b": "x", "a": 1.0 })", "[]")
      .tool("search", R"({"b":"x","a":1})", "[]");
  EXPECT_EQ(judge(run).findings.size(), 1u);
  EXPECT_TRUE(judge(run, R"({"rules":{"json_inputs":false}})").findings.empty());
}

TEST(ExpensiveLoop, Polling_IsProgress) {
  RunBuilder run;
  for (const auto* state : {"queued", "running", "running at 80%", "done"}) run.tool("get_job", R"({"id":7})", state);
  const auto verdict = judge(run);
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_EQ(first_rule(verdict), "progress");
  EXPECT_EQ(judge(run, R"({"rules":{"progress":false}})").findings.size(), 1u);
}

/// Calls with the same input and these outputs.
RunBuilder answers(const std::vector<std::string>& outputs) {
  RunBuilder run;
  for (const auto& output : outputs) run.tool("get_valve", R"({"id":7})", output);
  return run;
}

class SameRefusal : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(SameRefusal, ThatCountsOrTellsTheTime_IsALoop) {
  EXPECT_EQ(judge(answers(GetParam())).findings.size(), 1u);
  const auto verdict = judge(answers(GetParam()), R"({"rules":{"counters":false}})");
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_EQ(first_rule(verdict), "progress");
}

INSTANTIATE_TEST_SUITE_P(
    ExpensiveLoop, SameRefusal,
    testing::Values(std::vector<std::string>{"Error: no answer (try 1)", "Error: no answer (try 2)", "Error: no answer (try 10)"},
                    std::vector<std::string>{R"({"error":"locked","at":"2026-11-02T10:15:02Z"})",
                                             R"({"error":"locked","at":"2026-11-02T10:15:09Z"})",
                                             R"({"error":"locked","at":"2026-11-02T10:16:40Z"})"},
                    std::vector<std::string>{R"({"ok":false,"request":"rq-71ab"})", R"({"ok":false,"request":"rq-c0d4e"})",
                                             R"({"ok":false,"request":"rq-9"})"},
                    std::vector<std::string>{"Error after 0.5 s", "Error after 12 s", "Error after 1.25 s"}));

class NothingNew : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(NothingNew, BesideCountersTimesAndIds_IsALoop) {
  EXPECT_EQ(judge(answers(GetParam())).findings.size(), 1u);
  EXPECT_EQ(first_rule(judge(answers({GetParam()[0], GetParam()[1], "open"}))), "progress");
}

INSTANTIATE_TEST_SUITE_P(
    ExpensiveLoop, NothingNew,
    testing::Values(std::vector<std::string>{"no results (87 ms)", "no results (91 ms)", "no results (90 ms)"},
                    std::vector<std::string>{"Searched 310 bytes, no matching valve", "Searched 324 bytes, no matching valve",
                                             "Searched 338 bytes, no matching valve"},
                    std::vector<std::string>{R"({"valves":[],"requestId":"rq-7f"})", R"({"valves":[],"requestId":"rq-80"})",
                                             R"({"valves":[],"requestId":"rq-81"})"},
                    std::vector<std::string>{R"({"valve":"shut","generatedAt":"2026-05-03T10:01:11Z"})",
                                             R"({"valve":"shut","generatedAt":"2026-05-03T10:01:19Z"})",
                                             R"({"valve":"shut","generatedAt":"2026-05-03T10:01:25Z"})"},
                    std::vector<std::string>{R"({"took":3,"valve":"shut"})", R"({"took":5,"valve":"shut"})",
                                             R"({"took":4,"valve":"shut"})"},
                    std::vector<std::string>{"[2026-05-03 10:03:11] valve is shut", "[2026-05-03 10:03:19] valve is shut",
                                             "[2026-05-03 10:03:28] valve is shut"},
                    std::vector<std::string>{"HTTP/1.1 200 OK\nDate: Sun, 03 May 2026 10:00:00 GMT\n\nshut",
                                             "HTTP/1.1 200 OK\nDate: Sun, 03 May 2026 10:00:09 GMT\n\nshut",
                                             "HTTP/1.1 200 OK\nDate: Sun, 03 May 2026 10:00:17 GMT\n\nshut"}));

class OtherAnswers : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(OtherAnswers, AreProgress) {
  const auto verdict = judge(answers(GetParam()));
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_EQ(first_rule(verdict), "progress");
}

INSTANTIATE_TEST_SUITE_P(
    ExpensiveLoop, OtherAnswers,
    testing::Values(std::vector<std::string>{"12 of 40", "20 of 40", "31 of 40"},                                      // no failure
                    std::vector<std::string>{"Error: export at 10%", "Error: export at 40%", "Error: export at 80%"},  // under way
                    std::vector<std::string>{R"({"ok":false,"state":"pending","left":9})", R"({"ok":false,"state":"pending","left":5})",
                                             R"({"ok":false,"state":"pending","left":1})"},
                    std::vector<std::string>{"Error: no answer", "Error: access denied", "Error: no answer"},  // another reason
                    std::vector<std::string>{"Error: no answer (try 1)", "Error: no answer (try 2)", "opened after 3 tries"},  // worked
                    std::vector<std::string>{"Error rate is 2", "Error rate is 3", "Error rate is 4"},
                    std::vector<std::string>{R"({"timestamp":1777802431})", R"({"timestamp":1777802440})", R"({"timestamp":1777802449})"},
                    std::vector<std::string>{"Downloaded 2048 bytes", "Downloaded 4096 bytes", "Downloaded 8192 bytes"},
                    std::vector<std::string>{"next departure 10:03:11", "next departure 10:08:11", "next departure 10:13:11"},
                    std::vector<std::string>{R"({"log":[{"timestamp":1}]})", R"({"log":[{"timestamp":2}]})",
                                             R"({"log":[{"timestamp":3}]})"},
                    std::vector<std::string>{R"({"results":2})", R"({"results":3})", R"({"results":5})"}));

TEST(ExpensiveLoop, RefusalThatCounts_AfterAChangeOrAUserTurn_IsProgress) {
  RunBuilder changed;
  RunBuilder asked;
  RunBuilder looked;
  for (const auto* left : {"Error: 9 tests failed", "Error: 4 tests failed", "Error: 2 tests failed"}) {
    changed.tool("run_tests", "{}", left).tool("edit_file", left, "saved");
    asked.tool("run_tests", "{}", left).user("again, please");
    looked.tool("run_tests", "{}", left).tool("read_file", left, "text").tool("edit_file", left, "Error: read only");
  }
  EXPECT_TRUE(judge(changed).findings.empty());
  EXPECT_TRUE(judge(asked).findings.empty());
  EXPECT_EQ(judge(looked).findings.size(), 1u);
}

TEST(ExpensiveLoop, WordsOfWorkUnderWay_AreASetting) {
  const auto run = answers({"Error: step 1 koerer", "Error: step 2 koerer", "Error: step 3 koerer"});
  EXPECT_EQ(judge(run).findings.size(), 1u);
  const VocabularyFile file("language: da\nunder_way_words: [koerer]\n");
  EXPECT_TRUE(judge(run, file.settings()).findings.empty());
}

TEST(ExpensiveLoop, SoftFailuresOfALoop_AreItsEvidence) {
  const auto verdict = judge(answers({"Error: jammed 1", "Error: jammed 2", "Error: jammed 3"}));
  ASSERT_EQ(verdict.findings.size(), 1u);
  ASSERT_EQ(verdict.findings[0].evidence.size(), 3u);
  EXPECT_EQ(verdict.findings[0].evidence[1].pointer, "/steps/1/outputSummary");
  EXPECT_EQ(verdict.findings[0].evidence[1].value, "Error: jammed 2");
}

TEST(ExpensiveLoop, PercentOfAJobThatWrites_IsProgress) {
  RunBuilder run;
  for (const auto* state : {"10%", "40%", "90%"}) run.tool("wait_for_export", R"({"id":7})", state);
  EXPECT_TRUE(judge(run).findings.empty());
}

TEST(ExpensiveLoop, WritesWithFreshIds_AreALoop) {
  RunBuilder run;
  for (const auto* id : {"VCH-77120", "VCH-77121", "VCH-77122"}) {
    run.tool("issue_voucher", R"({"user":"u1","amount":50})", std::string("Voucher ") + id + " issued to u1");
  }
  EXPECT_EQ(judge(run).findings.size(), 1u);
  EXPECT_TRUE(judge(run, R"({"rules":{"fresh_ids":false}})").findings.empty());
}

TEST(ExpensiveLoop, WritesWithFreshTimes_AreALoop) {
  RunBuilder run;
  for (const auto* time : {"10:01:11", "10:01:19", "10:02:25"})
    run.tool("send_note", R"({"to":"quay","text":"hi"})", std::string(R"({"sent":true,"createdAt":"2026-05-03T)") + time + "Z\"}");
  EXPECT_EQ(judge(run).findings.size(), 1u);
}

RunBuilder checks_between(std::string_view other, const std::vector<std::string>& inputs, std::string_view answer) {
  RunBuilder run;
  for (const auto& input : inputs) run.tool(other, input, answer).tool("get_berth", R"({"berth":"B17"})", "depth 4.1 m");
  return run;
}

TEST(ExpensiveLoop, LookUpAfterEachChangeOfItsObject_IsNoLoop) {
  const std::vector<std::string> of_it{R"({"berth":"B17","dredge":1})", R"({"berth":"B17","dredge":2})", R"({"berth":"B17","dredge":3})"};
  const std::vector<std::string> of_another{R"({"berth":"C02","dredge":1})", R"({"berth":"C02","dredge":2})",
                                            R"({"berth":"C02","dredge":3})"};
  EXPECT_TRUE(judge(checks_between("set_depth", of_it, "ok")).findings.empty());
  EXPECT_TRUE(judge(checks_between("set_depth", of_it, "")).findings.empty());
  EXPECT_EQ(judge(checks_between("set_depth", of_another, "ok")).findings.size(), 1u);
  EXPECT_EQ(judge(checks_between("set_depth", of_it, "could not set the depth")).findings.size(), 1u);
}

TEST(ExpensiveLoop, CheckThatFailsAfterEachChange_IsNoLoop) {
  for (const auto* answer : {"ok", "The file has been updated.", ""}) {
    RunBuilder run;
    for (const auto* line : {"v0", "v1", "v2"})
      run.tool("edit_file", std::string(R"({"path":"hull.py","text":")") + line + "\"}", answer)
          .tool("run_tests", R"({"path":"tests"})", "Traceback (most recent call last):\nValueError: draught");
    EXPECT_TRUE(judge(run).findings.empty()) << answer;
  }
}

TEST(ExpensiveLoop, ArgumentsThatAskForNothingElse_MakeNoOtherCall) {
  const auto fires = [](std::string_view tool, const std::vector<std::string>& inputs) {
    RunBuilder run;
    for (const auto& input : inputs) run.tool(tool, input, "no entry");
    return !judge(run).findings.empty();
  };
  EXPECT_TRUE(fires("lookup", {R"({"q":"heron","request_id":"a1"})", R"({"q":"heron","request_id":"b2"})", R"({"q":"heron"})"}));
  EXPECT_TRUE(fires("lookup", {R"({"q":"heron","timeout":5})", R"({"q":"heron","timeout":30})", R"({"q":"heron","timeout":60})"}));
  EXPECT_TRUE(fires("lookup", {R"({"q":"heron"})", R"({"q":"heron ","filter":null})", R"({"q":"heron","filter":""})"}));
  EXPECT_TRUE(fires("bash", {R"({"command":"make -q"})", R"({"command":" make  -q"})", R"({"command":"make -q "})"}));
  EXPECT_FALSE(fires("bash", {R"({"command":"if x:\n y"})", R"({"command":"if x:\n  y"})", R"({"command":"if x:\n   y"})"}));
  EXPECT_FALSE(fires("lookup", {R"({"q":"heron"})", R"({"q":"heron","open":false})", R"({"q":"heron","open":true})"}));
  EXPECT_FALSE(fires("think", {R"({"thought":"north"})", R"({"thought":"south"})", R"({"thought":"east"})"}));
}

TEST(ExpensiveLoop, SeveralLoops_WasteNoMoreThanTheRunCost) {
  RunBuilder run;
  run.cost(0.90);
  for (int i = 0; i < 4; ++i) run.tool("find_berth", R"({"q":"deep"})", "[]");
  for (int i = 0; i < 3; ++i) run.tool("find_pilot", R"({"q":"free"})", "[]");
  const auto verdict = judge(run);
  ASSERT_EQ(verdict.findings.size(), 2u);
  EXPECT_DOUBLE_EQ(verdict.findings[0].waste_usd.value(), 0.38);
  EXPECT_DOUBLE_EQ(verdict.findings[1].waste_usd.value(), 0.25);
  EXPECT_NE(verdict.findings[1].summary.find("$0.25."), std::string::npos);
}

TEST(ExpensiveLoop, AnotherFailureAfterTheUserSpoke_IsProgress) {
  const auto judged = [](std::string_view third) {
    RunBuilder run;
    run.request("Where is the Heron?");
    const auto failing = [&](std::string_view output) {
      run.failed("get_place", "{}", "");
      run.last().output = output;
    };
    failing(R"({"error":"no feed"})");
    failing(R"({"error":"no feed"})");
    run.model("The receiver is silent. Can somebody look at it?").user("Plugged in again.");
    failing(third);
    return judge(run.model("It is starting.")).findings.size();
  };
  EXPECT_EQ(judged(R"({"error":"receiver is booting"})"), 0u);
  EXPECT_EQ(judged(R"({"error":"no feed"})"), 1u);
}

TEST(ExpensiveLoop, NewUserTurnAfterAChange_BreaksTheSeries) {
  RunBuilder run;
  run.tool("get_cart", "{}", "2 items").tool("add_item", R"({"sku":1})", "ok").user("and now?").tool("get_cart", "{}", "2 items");
  run.tool("add_item", R"({"sku":2})", "ok").user("and now?").tool("get_cart", "{}", "2 items");
  const auto verdict = judge(run);
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_EQ(first_rule(verdict), "user_turn");
}

TEST(ExpensiveLoop, PingPong_IsOneLoopOfBoth) {
  RunBuilder run;
  for (int i = 0; i < 3; ++i) run.tool("fetch_page", R"({"p":1})", "x").tool("parse_page", R"({"p":1})", "y");
  const auto verdict = judge(run);
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_EQ(verdict.findings[0].title, "Runaway loop: \"fetch_page \xE2\x86\x92 parse_page\" repeated 3\xC3\x97 with no progress");
  EXPECT_EQ(verdict.findings[0].score, 79);
}

TEST(ExpensiveLoop, AbsentInputs_CountOnlyWhileEachFailed) {
  RunBuilder failing;
  RunBuilder fine;
  for (int i = 0; i < 3; ++i) {
    failing.failed("sync", "", "timeout");
    failing.last().input = {};
    fine.tool("sync", "", "ok");
    fine.last().input = {};
  }
  EXPECT_EQ(judge(failing).findings.size(), 1u);
  EXPECT_TRUE(judge(fine).findings.empty());
  EXPECT_EQ(judge(fine).cannot_tell, "");
}

TEST(ExpensiveLoop, NothingRecordedOfTheCalls_CannotTell) {
  RunBuilder run;
  for (int i = 0; i < 3; ++i) {
    run.bare(Kind::kTool);
    run.last().name = "sync";
  }
  EXPECT_NE(judge(run).cannot_tell.find("inputSummary"), std::string::npos);
}

TEST(ExpensiveLoop, NoToolSteps_CannotTell) {
  EXPECT_NE(judge(RunBuilder().model("hi")).cannot_tell, "");
}

TEST(ExpensiveLoop, Threshold_IsASetting) {
  EXPECT_TRUE(judge(searches(3), R"({"repeats":5})").findings.empty());
  EXPECT_EQ(judge(searches(5), R"({"repeats":5})").findings.size(), 1u);
}

TEST(ExpensiveLoop, ToolThatActsUnderAnotherName_IsASetting) {
  const auto fires = [](const std::string& settings) {
    RunBuilder run;
    for (const auto* waited : {"1", "2", "3"}) run.tool("vaerktoej", "{}", std::string("Payment failed after ") + waited + " s");
    return !judge(run, settings).findings.empty();
  };
  EXPECT_TRUE(fires("{}"));
  const VocabularyFile file("language: da\nread_prefixes: [vaerktoej]\n");
  EXPECT_FALSE(fires(file.settings()));
}

TEST(ExpensiveLoop, TheSameAnswerThreeTimesInAll_IsALoopThoughAnotherCameBetween) {
  RunBuilder run;
  run.request("Find the part");
  for (const char* output : {"no such part", "no such part", "busy, ask again", "no such part"})
    run.tool("find_part", R"({"id":7})", output);
  const auto verdict = ExpensiveLoop({}).evaluate(run.run());
  ASSERT_EQ(verdict.findings.size(), 1u);
  EXPECT_NE(verdict.findings[0].title.find("repeated 3"), std::string::npos);
}

TEST(ExpensiveLoop, CommandThatWentWellAfterOtherWork_IsNoLoop) {
  const auto runs = [](std::string_view other, bool fresh, std::string_view output) {
    RunBuilder run;
    for (int i = 0; i < 4; ++i) {
      run.tool("shell", R"({"cmd":"make tide-table"})", output);
      run.tool(other, R"({"line":12,"text":"depth )" + std::string(fresh ? std::to_string(i) : "") + "\"}", "changed " + std::to_string(i));
    }
    return judge(run).findings.size();
  };
  EXPECT_EQ(runs("edit", true, "table written"), 0u);
  EXPECT_NE(runs("edit", false, "table written"), 0u) << "the same edit each time";
  EXPECT_EQ(runs("get_depth", true, "table written"), 1u) << "looking something up changes nothing";
  EXPECT_EQ(runs("edit", true, "error: no rule to make target 'tide-table'"), 0u) << "the edit may have helped";
  EXPECT_NE(runs("edit", false, "error: no rule to make target 'tide-table'"), 0u);
}

// Each command three times, round after round: between two of them lies all else, and nothing of it is new.
TEST(ExpensiveLoop, ManyCommandsAgain_CostLinearTime) {
  const auto time = [](int commands) {
    std::vector<std::string> inputs;
    for (int i = 0; i < commands; ++i) inputs.push_back(R"({"cmd":"make chart-)" + std::to_string(i) + "\"}");
    RunBuilder run;
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < commands; ++i) run.tool(i % 2 == 0 ? "shell" : "bash", inputs[static_cast<std::size_t>(i)], "ok");
    }
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
      const auto begun = std::chrono::steady_clock::now();
      EXPECT_FALSE(judge(run).findings.empty());
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
    }
    return best;
  };
  const double small = time(100);
  EXPECT_LT(time(800), small * 8 * 4 + 0.05);
}

TEST(ExpensiveLoop, PausesBetweenOtherCalls_AreNoLoop) {
  const auto judged = [](std::string_view tool, const std::vector<std::string>& answers) {
    RunBuilder run;
    for (const auto& answer : answers) run.tool("get_tide", R"({"gauge":4})", answer).tool(tool, R"({"seconds":60})", "");
    return judge(run).findings.size();
  };
  const std::vector<std::string> rising{"0.8 m", "1.1 m", "1.4 m", "1.6 m"};
  EXPECT_EQ(judged("sleep", rising), 0u);
  EXPECT_EQ(judged("wait_for_seconds", rising), 0u);
  EXPECT_EQ(judged("ring_bell", rising), 1u);
  EXPECT_EQ(judged("sleep", {"0.8 m", "0.8 m", "0.8 m", "0.8 m"}), 1u) << "what stands between decides";
  RunBuilder alone;
  for (int i = 0; i < 4; ++i) alone.tool("sleep", R"({"seconds":60})", "");
  EXPECT_EQ(judge(alone).findings.size(), 1u);
  RunBuilder failing;
  for (int i = 0; i < 4; ++i) failing.tool("get_tide", R"({"gauge":4})", std::to_string(i)).failed("sleep", R"({"seconds":60})", "denied");
  EXPECT_EQ(judge(failing).findings.size(), 1u);
}

TEST(ExpensiveLoop, CallAskedForAgain_IsNoLoop) {
  const auto judged = [](std::string_view tool, int calls, bool asked) {
    RunBuilder run;
    run.request("Keep my list.");
    for (int i = 0; i < calls; ++i) {
      if (asked) run.user("And how is it now?");
      run.tool(tool, R"({"kind":"list"})", "list of 4 things");
    }
    return ExpensiveLoop({}).evaluate(run.run());
  };
  EXPECT_TRUE(judged("update_memory", 4, true).findings.empty());
  EXPECT_EQ(judged("update_memory", 3, false).findings.size(), 1u);
  const auto looked = judged("get_memory", 3, true);
  EXPECT_TRUE(looked.findings.empty());
  EXPECT_EQ(first_rule(looked), "user_turn");
  EXPECT_EQ(judged("get_memory", 4, true).findings.size(), 1u) << "nothing has come of looking";
  EXPECT_EQ(judged("get_memory", 3, false).findings.size(), 1u);
}

TEST(ExpensiveLoop, ThreeFailuresThatTheNextCallPutsRight_AreNoLoop) {
  const auto judged = [](int failures, std::string_view next, std::string_view output) {
    RunBuilder run;
    for (int i = 0; i < failures; ++i) run.tool("mean_level", R"({"file":"2013.tif"})", "Error: no such file 2013.tif");
    run.tool("list_files", R"({"folder":"levels"})", R"(["level-2013.tif"])").tool("mean_level", next, output);
    return ExpensiveLoop("").evaluate(run.run());
  };
  constexpr std::string_view kRight = R"({"file":"level-2013.tif"})";
  const auto verdict = judged(3, kRight, "4.17");
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_EQ(verdict.suppressed.at(0).rule, "put_right");
  EXPECT_EQ(judged(4, kRight, "4.17").findings.size(), 1u);
  EXPECT_EQ(judged(3, kRight, "Error: no such file level-2013.tif").findings.size(), 1u);
  EXPECT_EQ(judged(3, R"({"file":"2013.tif"})", "Error: no such file 2013.tif").findings.size(), 1u);
}

TEST(ExpensiveLoop, ThreeFailuresThatAnotherToolPutsRightAtOnce_AreNoLoop) {
  const auto judged = [](int failures, std::string_view tool, std::string_view input) {
    RunBuilder run;
    for (int i = 0; i < failures; ++i) run.failed("release_berth", R"({"id":"C-4"})", "500 Internal Server Error");
    return ExpensiveLoop("").evaluate(run.tool(tool, input, R"({"berth":"C-4","state":"free"})").run()).findings.size();
  };
  EXPECT_EQ(judged(3, "release_berth_v2", R"({"berth_id":"C-4","force":true})"), 0u);
  EXPECT_EQ(judged(4, "release_berth_v2", R"({"berth_id":"C-4","force":true})"), 1u);
  EXPECT_EQ(judged(3, "release_berth_v2", R"({"berth_id":"C-5","force":true})"), 1u) << "another berth";
  EXPECT_EQ(judged(3, "get_berth", R"({"id":"C-4"})"), 1u) << "it only looks";
}

TEST(ExpensiveLoop, WaitingThatComesToAnEnd_IsNoLoop) {
  const auto judged = [](int waits, std::string_view last) {
    RunBuilder run;
    for (int i = 0; i < waits; ++i)
      run.tool("get_lock", R"({"lock":"L2"})", R"({"state":"FILLING","elapsed":)" + std::to_string(14 + 30 * i) + "}");
    return ExpensiveLoop("").evaluate(run.tool("get_lock", R"({"lock":"L2"})", last).run()).findings.size();
  };
  EXPECT_EQ(judged(3, R"({"state":"OPEN","gate":"upper","elapsed":96})"), 0u);
  EXPECT_EQ(judged(3, R"({"state":"FILLING","elapsed":104})"), 1u);
  EXPECT_EQ(judged(5, R"({"state":"OPEN","gate":"upper","elapsed":164})"), 1u);
}

TEST(ExpensiveLoop, HowManyAndWhy_MakeNoOtherCall_UnlessTheToolChangesSomething) {
  const auto judged = [](const std::string& tool, const std::string& member) {
    RunBuilder run;
    for (const auto* why : {"go on", "it did not move", "again"})
      run.tool(tool, R"({"element":"Continue",")" + member + R"(":")" + why + R"("})", "The page is the same as before.");
    return ExpensiveLoop("").evaluate(run.run()).findings.size();
  };
  EXPECT_EQ(judged("browser_click", "reason"), 1u);
  EXPECT_EQ(judged("browser_click", "target"), 0u);
  EXPECT_EQ(judged("add_remark", "reason"), 0u);
}

TEST(ExpensiveLoop, ThreeFailuresThatTheUserPutsRight_AreNoLoop) {
  const auto judged = [](bool asked) {
    RunBuilder run;
    for (int i = 0; i < 3; ++i) run.tool("start_pump", R"({"pump":4})", "Error: the lid is open");
    if (asked) run.model("Please close the lid.").user("Closed.");
    return ExpensiveLoop("").evaluate(run.tool("start_pump", R"({"pump":4})", "running").run()).findings.size();
  };
  EXPECT_EQ(judged(true), 0u);
  EXPECT_EQ(judged(false), 1u);
}

TEST(ExpensiveLoop, WaitingWhoseStateMovesOn_IsNoLoopThoughEachCallSaysFailed) {
  const auto fires = [](std::initializer_list<const char*> outputs) {
    RunBuilder run;
    for (const auto* output : outputs) {
      run.failed("bash", "gh pr checks 31", "exit code 8");
      run.last().output = run.copy(output);
    }
    return !judge(run).findings.empty();
  };
  EXPECT_FALSE(fires({"hull pending", "hull pass, keel pending", "hull pass, keel pass, rudder pending", "rudder pending (7/12)"}));
  EXPECT_TRUE(fires({"hull pending", "hull pending", "hull pending", "hull pending"}));
}

TEST(ExpensiveLoop, SameCallThatWorksAfterAnotherTool_PutsThreeFailuresRight) {
  const auto fires = [](bool waited) {
    RunBuilder run;
    for (int i = 0; i < 3; ++i) run.failed("db_query", R"({"sql":"select 1"})", "the database is starting up");
    if (waited) run.tool("wait_for_port", R"({"port":5432})", "open after 22 s");
    run.tool("db_query", R"({"sql":"select 1"})", "1");
    return !judge(run).findings.empty();
  };
  EXPECT_FALSE(fires(true));
  EXPECT_TRUE(fires(false));
}

TEST(ExpensiveLoop, MemberNamedAsACommand_RunsNone) {
  const auto judged = [](std::string_view edit) {
    RunBuilder run;
    run.request("Fix it");
    for (const auto* version : {"v0", "v1", "v2"}) {
      run.tool("edit", std::string(edit) + version + "\"}", "ok").tool("bash", R"({"command":"python tide.py"})", "AssertionError");
    }
    return judge(run.model("tide.py still fails with an AssertionError.")).findings.size();
  };
  EXPECT_EQ(judged(R"({"file":"tide.py","new":")"), 0u);
  EXPECT_EQ(judged(R"({"file":"quay.py","new":")"), 0u) << "the script may import it";
}

}  // namespace
}  // namespace runwarden::plugins
