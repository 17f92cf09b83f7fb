// Runs without their steps (view=head), over real HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "base/digest.h"
#include "support/get_json.h"
#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

// An export as a version wrote it that kept no outlines.
std::string without_outlines(const std::string& exported) {
  std::istringstream lines(exported);
  std::string text;
  std::size_t removed = 0;
  for (std::string line; std::getline(lines, line);) {
    auto record = nlohmann::ordered_json::parse(line);
    if (record["record"] == "end") record["sha256"] = to_hex(sha256(text));
    removed += record.erase("outline");
    text += record.dump() + "\n";
  }
  EXPECT_EQ(removed, 3u);
  return text;
}

class HeadView : public testing::Test {
 protected:
  static ServiceProcess::Options options() {
    ServiceProcess::Options options;
    options.yaml = "redact: {rules: [{kind: email}]}\n";
    return options;
  }

  ServiceProcess service_{options()};
  std::string key_ = service_.make_key();

  void post(const std::string& what, const json& body, int status) {
    const HttpAnswer answer = service_.post("/v1/ingest/" + what, key_, body.dump());
    ASSERT_EQ(answer.status, status) << answer.body;
  }
  void post_events(const std::string& run, const std::vector<json>& events, int status) {
    post("events", {{"runId", run}, {"events", events}}, status);
  }
  json get(const std::string& path) { return get_json(service_, path, key_); }
  // What the head shows, made from the whole run; its texts have to be short.
  json expected_head(const std::string& path) {
    json whole = get(path);
    whole["stepCount"] = whole["steps"].size();
    whole.erase("steps");
    return whole;
  }
  void post_failing_run(const std::string& id) {
    post("runs",
         {{"runId", id},
          {"userRequestText", "Refund order 8842"},
          {"success", true},
          {"outcomeSummary", "Your refund has been processed."},
          {"metadata", {{"cost_usd", 0.5}}},
          {"mine", {1, {{"a", nullptr}}}},
          {"steps", {{{"stepKind", "tool"}, {"stepName", "issue_refund"}, {"status", "failed"}, {"errorMessage", "502"}}}}},
         201);
  }
};

TEST_F(HeadView, OfAResolvedRun_IsAllOfItButTheSteps) {
  post_failing_run("a");
  const json head = get("/v1/runs/a?view=head");
  EXPECT_EQ(head, expected_head("/v1/runs/a"));
  EXPECT_EQ(head["stepCount"], 1);
  EXPECT_EQ(head["failures"][0]["detectorKey"], "false_success");
  EXPECT_EQ(head["mine"], json::parse(R"([1,{"a":null}])"));
  EXPECT_EQ(get("/v1/runs?view=head")["items"], json::array({head}));
}

TEST_F(HeadView, SentAgain_LeavesNothingOfTheViewInTheRun) {
  post("runs", {{"runId", "a"}, {"steps", {{{"stepKind", "tool"}, {"outputSummary", std::string(900, 'x')}}}}}, 201);
  for (const auto& [copy, view] : {std::pair{"b", "view=head"}, {"c", "maxText=100"}}) {
    json shown = get("/v1/runs/a?" + std::string(view));
    ASSERT_TRUE(shown.contains("stepCount") || shown.contains("cut")) << shown;
    shown["runId"] = copy;
    post("runs", shown, 201);
    const json whole = get("/v1/runs/" + std::string(copy));
    for (const char* member : {"stepCount", "leftOut", "cut"}) EXPECT_FALSE(whole.contains(member)) << member;
  }
}

TEST_F(HeadView, OfLongTexts_CutsThemAt200Characters) {
  post("runs", {{"runId", "a"}, {"userRequestText", std::string(900, 'u')}, {"steps", {{{"outputSummary", "x"}}}}}, 201);
  EXPECT_EQ(get("/v1/runs/a?view=head")["userRequestText"], std::string(200, 'u'));
  EXPECT_EQ(get("/v1/runs/a")["userRequestText"], std::string(900, 'u'));
}

TEST_F(HeadView, OfARunThatStreamsIn_FollowsItThroughItsRevisions) {
  post_events("chat",
              {{{"type", "run_started"}, {"userRequestText", "Refund"}, {"metadata", {{"model", "m"}}}, {"at", "2026-11-20T15:00:00Z"}}},
              202);
  EXPECT_EQ(get("/v1/runs/chat?view=head"), expected_head("/v1/runs/chat"));
  const json call = {{"type", "tool_call"}, {"eventId", "e1"}, {"name", "issue_refund"}, {"status", "failed"}, {"error", "502"}};
  post_events("chat", {call, {{"type", "model_output"}, {"eventId", "e2"}, {"text", "Done"}}}, 202);
  post_events("chat", {call}, 202);  // seen before: no step
  const json open = get("/v1/runs/chat?view=head");
  EXPECT_EQ(open, expected_head("/v1/runs/chat"));
  EXPECT_EQ(open["stepCount"], 2);
  EXPECT_EQ(open["state"], "open");
  EXPECT_EQ(open["outcomeSummary"], "Done");

  post("events", {{"runId", "chat"}, {"events", json::array()}, {"final", true}}, 201);
  const json first = get("/v1/runs/chat?view=head");
  EXPECT_EQ(first, expected_head("/v1/runs/chat"));
  EXPECT_EQ(first["resolution"], "final");

  post_events("chat", {{{"type", "model_output"}, {"text", "Done again"}}}, 202);
  const json again = get("/v1/runs/chat?view=head");
  EXPECT_EQ(again, expected_head("/v1/runs/chat"));
  EXPECT_EQ(again["stepCount"], 3);
  EXPECT_EQ(again["outcomeSummary"], "Done again");
  EXPECT_EQ(get("/v1/runs/chat?revision=1&view=head"), first);

  post_events("chat", {{{"type", "run_finished"}, {"success", true}, {"outcomeSummary", "Told"}}}, 201);
  EXPECT_EQ(get("/v1/runs/chat?view=head"), expected_head("/v1/runs/chat"));
  post_events("chat", {{{"type", "model_output"}, {"text", "Unheard"}}}, 202);
  EXPECT_EQ(get("/v1/runs/chat?view=head"), expected_head("/v1/runs/chat"));
}

TEST_F(HeadView, OfAWholeRunThatEventsContinue_IsWhatTheyMakeOfIt) {
  post_failing_run("a");
  post_events("a", {{{"type", "model_output"}, {"text", "Later"}}}, 202);
  EXPECT_EQ(get("/v1/runs/a?view=head"), expected_head("/v1/runs/a"));
  post_events("b", {{{"type", "model_output"}, {"text", "Said"}}}, 202);
  post("runs", {{"runId", "b"}, {"steps", {{{"stepKind", "model"}, {"outputSummary", "Said"}}}}}, 201);  // ends the open run
  EXPECT_EQ(get("/v1/runs/b?view=head"), expected_head("/v1/runs/b"));
  post_events("b", {{{"type", "model_output"}, {"text", "Later"}}}, 202);
  EXPECT_EQ(get("/v1/runs/b?view=head"), expected_head("/v1/runs/b"));
}

TEST_F(HeadView, HoldsNothingThatWasRedacted) {
  const std::string secret = "ann.bell@example.com";
  post("runs", {{"runId", "a"}, {"userRequestText", std::string(190, 'u') + " " + secret}, {"steps", {{{"outputSummary", secret}}}}}, 201);
  post_events("b", {{{"type", "user_request"}, {"text", "Write to " + secret}}, {{"type", "model_output"}, {"text", secret}}}, 202);
  const std::string page = service_.get("/v1/runs?view=head", key_).body;
  EXPECT_THAT(page, HasSubstr("redacted:email"));
  EXPECT_THAT(page, Not(HasSubstr("ann.bell")));
}

TEST_F(HeadView, AnyOtherView_IsABadRequest) {
  post_failing_run("a");
  for (const char* path :
       {"/v1/runs?view=whole", "/v1/runs?view=", "/v1/runs?view=HEAD", "/v1/runs/a?view=steps", "/v1/runs/a?view=&revision=1"}) {
    const HttpAnswer answer = service_.get(path, key_);
    EXPECT_EQ(answer.status, 400) << path;
    EXPECT_EQ(json::parse(answer.body)["code"], "bad_request") << path;
  }
  EXPECT_EQ(service_.get("/v1/failures?view=head", key_).status, 400);
  EXPECT_EQ(service_.get("/v1/runs/none?view=head", key_).status, 404);
  EXPECT_EQ(service_.get("/v1/runs/a?view=head&revision=2", key_).status, 404);
}

TEST_F(HeadView, CursorShowsEachOnce_AndBelongsToItsView) {
  for (int i = 0; i < 7; ++i) post_failing_run("r" + std::to_string(i));
  std::map<std::string, int> seen;
  std::string cursor;
  for (int pages = 0; pages < 7; ++pages) {
    const json page = get("/v1/runs?view=head&limit=3" + (cursor.empty() ? "" : "&cursor=" + cursor));
    for (const json& run : page["items"]) ++seen[run["runId"]];
    if (page["nextCursor"].is_null()) break;
    cursor = page["nextCursor"];
  }
  EXPECT_EQ(seen.size(), 7u);
  for (const auto& [id, times] : seen) EXPECT_EQ(times, 1) << id;
  EXPECT_EQ(service_.get("/v1/runs?limit=3&cursor=" + cursor, key_).status, 400);
}

TEST_F(HeadView, SurvivesExportAndImport_AndVerifyFindsNoFault) {
  post_failing_run("a");
  post_events("chat", {{{"type", "user_request"}, {"text", "Refund"}}, {{"type", "model_output"}, {"text", "Done"}}}, 202);
  post("events", {{"runId", "chat"}, {"events", json::array()}, {"final", true}}, 201);
  post_events("chat", {{{"type", "model_output"}, {"text", "Done again"}}}, 202);
  const json before = get("/v1/runs?view=head");
  const CommandResult exported = service_.cli({"export", "--tenant", "acme"});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(exported.out, Not(HasSubstr("\"bytes\":{"))) << "an export names what it holds";
  EXPECT_EQ(service_.cli({"verify"}).exit_code, 0);

  ServiceProcess other{options()};
  const std::string key = other.make_key();
  ASSERT_EQ(other.stop(), 0);
  const CommandResult imported = other.cli({"import"}, exported.out);
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(other.cli({"verify"}).exit_code, 0);
  other.start();
  EXPECT_EQ(json::parse(other.get("/v1/runs?view=head", key).body), before);
}

// An export of a version that kept no outline: the view reads such runs whole.
TEST_F(HeadView, OfRunsWithoutAnOutline_IsTheSame) {
  post_failing_run("a");
  post_events("chat", {{{"type", "user_request"}, {"text", "Refund"}}, {{"type", "model_output"}, {"text", "Done"}}}, 202);
  post("events", {{"runId", "chat"}, {"events", json::array()}, {"final", true}}, 201);
  post_events("chat", {{{"type", "model_output"}, {"text", "Done again"}}}, 202);
  const json before = get("/v1/runs?view=head");
  const json first = get("/v1/runs/chat?revision=1&view=head");
  const std::string exported = without_outlines(service_.cli({"export", "--tenant", "acme"}).out);
  ASSERT_EQ(service_.stop(), 0);
  std::filesystem::remove_all(service_.folder() / "data");
  key_ = service_.make_key();
  const CommandResult imported = service_.cli({"import"}, exported);
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  service_.start();
  EXPECT_EQ(get("/v1/runs?view=head"), before);
  EXPECT_EQ(get("/v1/runs/chat?revision=1&view=head"), first);
  post_events("chat", {{{"type", "tool_call"}, {"name", "look"}}}, 202);
  EXPECT_EQ(get("/v1/runs/chat?view=head"), expected_head("/v1/runs/chat"));
}

}  // namespace
}  // namespace runwarden::test
