// Runs that stream in: buffered, resolved once, reopened; over real HTTP with the real plugins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <nlohmann/json.hpp>

#include "support/otlp.h"
#include "support/service_process.h"
#include "support/wait_until.h"

namespace runwarden::test {
namespace {

using nlohmann::json;

class Events : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    service_ = new ServiceProcess(
        {.yaml = "buffer: {max_events: 40}\n", .server = {}, .limits = "{}", .store = {}, .binary = {}, .environment = {}});
    key_ = service_->make_key("acme");
    other_key_ = service_->make_key("globex");
  }
  static void TearDownTestSuite() { delete service_; }

  static HttpAnswer post(const json& body, const std::string& fields = {}) {
    return service_->post("/v1/ingest/events", key_, body.dump(), fields);
  }
  static json get(const std::string& path) {
    const HttpAnswer answer = service_->get(path, key_);
    return answer.status == 200 ? json::parse(answer.body) : json{{"status", answer.status}};
  }
  static std::vector<json> failures_of(const std::string& run_id) {
    std::vector<json> found;
    const json list = get("/v1/failures?limit=1000");
    for (const json& failure : list["items"]) {
      if (failure["runId"] == run_id) found.push_back(failure);
    }
    return found;
  }

  static inline ServiceProcess* service_ = nullptr;
  static inline std::string key_;
  static inline std::string other_key_;
};

const json kRefundFailed = {{"type", "tool_call"}, {"name", "issue_refund"}, {"status", "failed"}, {"error", "502 Bad Gateway"}};
const json kClaim = {{"type", "model_output"}, {"text", "Your refund has been processed."}};

TEST_F(Events, ARunIsBufferedShownAndResolvedAtItsEnd) {
  const HttpAnswer first =
      post({{"runId", "streamed"}, {"events", {{{"type", "run_started"}, {"userRequestText", "Refund order 8842"}}, kRefundFailed}}});
  ASSERT_EQ(first.status, 202) << first.body;
  const json buffered = json::parse(first.body);
  EXPECT_EQ(buffered["state"], "open");
  EXPECT_EQ(buffered["accepted"], 2);
  EXPECT_EQ(buffered["bufferedEvents"], 2);
  EXPECT_TRUE(buffered["resolvesAt"].is_string());
  const json open = get("/v1/runs/streamed");
  EXPECT_EQ(open["state"], "open");
  EXPECT_EQ(open["steps"][0]["stepName"], "issue_refund");
  EXPECT_TRUE(failures_of("streamed").empty());

  const HttpAnswer last = post({{"runId", "streamed"}, {"events", {kClaim, {{"type", "run_finished"}, {"success", true}}}}});
  ASSERT_EQ(last.status, 201) << last.body;
  EXPECT_EQ(last.header("location"), "/v1/runs/streamed");
  const json answer = json::parse(last.body);
  ASSERT_EQ(answer["failures"].size(), 1u);
  EXPECT_EQ(answer["failures"][0]["detectorKey"], "false_success");
  const json run = get("/v1/runs/streamed");
  EXPECT_EQ(run["state"], "resolved");
  EXPECT_EQ(run["resolution"], "final");
  EXPECT_EQ(run["outcomeSummary"], "Your refund has been processed.");
  EXPECT_EQ(run["failures"], answer["failures"]);
  EXPECT_EQ(failures_of("streamed").size(), 1u);
}

TEST_F(Events, TwoValuesForOneMemberOfAStep_AreRefused) {
  const HttpAnswer answer = post(
      {{"runId", "two-names"}, {"events", {{{"type", "tool_call"}, {"name", "refund"}, {"output", "full"}, {"outputSummary", "short"}}}}});
  ASSERT_EQ(answer.status, 422) << answer.body;
  const json fault = json::parse(answer.body)["errors"][0];
  EXPECT_EQ(fault["pointer"], "/events/0/outputSummary");
  EXPECT_EQ(fault["code"], "conflict");
  EXPECT_EQ(get("/v1/runs/two-names")["status"], 404);
}

TEST_F(Events, ARequestOfTheUsers_IsNotLostBesideOneOfTheStart) {
  const json asked = {{"type", "user_request"}, {"text", "Refund order 8842"}};
  const json started = {{"type", "run_started"}, {"userRequestText", "A task"}};
  ASSERT_EQ(post({{"runId", "asked-twice"}, {"events", {asked, started}}}).status, 202);
  const json head = get("/v1/runs/asked-twice?view=head");
  EXPECT_EQ(head["stepCount"], 1);
  const json run = get("/v1/runs/asked-twice");
  EXPECT_EQ(run["userRequestText"], "Refund order 8842");
  ASSERT_EQ(run["steps"].size(), 1u);
  EXPECT_EQ(run["steps"][0]["stepKind"], "user");
  EXPECT_EQ(run["steps"][0]["outputSummary"], "A task");
}

TEST_F(Events, ACallbackSequenceWithRetries_IsOneRunAndNoLoop) {
  // One event a request, each sent three times, as a callback handler behind a flaky network does.
  for (int i = 0; i < 30; ++i) {
    const json event =
        i % 3 == 2 ? json{{"type", "model_output"}, {"eventId", "e" + std::to_string(i)}, {"text", "thinking about " + std::to_string(i)}}
                   : json{{"type", "tool_call"},
                          {"eventId", "e" + std::to_string(i)},
                          {"name", "search"},
                          {"input", "query " + std::to_string(i)},
                          {"output", "result " + std::to_string(i)},
                          {"status", "completed"}};
    for (int retry = 0; retry < 3; ++retry) {
      const HttpAnswer answer = post({{"runId", "callbacks"}, {"events", {event}}});
      ASSERT_EQ(answer.status, 202) << answer.body;
      EXPECT_EQ(json::parse(answer.body)["accepted"], retry == 0 ? 1 : 0);
      EXPECT_EQ(json::parse(answer.body)["bufferedEvents"], i + 1);
    }
  }
  const HttpAnswer done = post({{"runId", "callbacks"}, {"events", json::array()}, {"final", true}});
  ASSERT_EQ(done.status, 201) << done.body;
  EXPECT_EQ(json::parse(done.body)["failures"], json::array());
  EXPECT_EQ(get("/v1/runs/callbacks")["steps"].size(), 30u);
}

TEST_F(Events, TheEndSentAgain_AddsNothing_AlsoWithoutAnEventId) {
  const json end = {{"type", "run_finished"}, {"success", true}, {"metadata", {{"costUsd", 0.5}}}};
  json failed = kRefundFailed;
  json claim = kClaim;
  failed["eventId"] = "e1";
  claim["eventId"] = "e2";
  const json request = {{"runId", "retried-end"}, {"events", {failed, claim, end}}};
  ASSERT_EQ(post(request).status, 201);
  const auto expect_unchanged = [&](const json& again) {
    const HttpAnswer answer = post(again);
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(get("/v1/runs/retried-end")["revision"], 1);
    EXPECT_EQ(failures_of("retried-end").size(), 1u);
  };
  expect_unchanged(request);
  expect_unchanged({{"runId", "retried-end"}, {"events", {end}}});
  service_->kill_hard();
  service_->start();
  expect_unchanged(request);
  const std::string other_order = R"({"runId":"retried-end","events":[{"success":true,"metadata":{"costUsd":0.5},"type":"run_finished"}]})";
  EXPECT_EQ(service_->post("/v1/ingest/events", key_, other_order).status, 200);
  json other_end = end;
  other_end["success"] = false;
  EXPECT_EQ(post({{"runId", "retried-end"}, {"events", {other_end}}}).status, 201);
  EXPECT_EQ(get("/v1/runs/retried-end")["revision"], 2);
}

TEST_F(Events, TheEndSentAgainUnderAnotherEventId_AddsNothing) {
  json end = {{"type", "run_finished"}, {"success", true}, {"eventId", "f1"}};
  ASSERT_EQ(post({{"runId", "ended-twice"}, {"events", {kRefundFailed, kClaim, end}}}).status, 201);
  end["eventId"] = "f2";
  EXPECT_EQ(post({{"runId", "ended-twice"}, {"events", {end}}}).status, 200);
  end.erase("eventId");
  EXPECT_EQ(post({{"runId", "ended-twice"}, {"events", {end}}}).status, 200);
  EXPECT_EQ(get("/v1/runs/ended-twice")["revision"], 1);
}

TEST_F(Events, WithoutAnEventId_AreToldOf) {
  json failed = kRefundFailed;
  failed["eventId"] = "e1";
  const json mixed = {{"runId", "without-ids"}, {"events", {failed, kClaim, {{"typ", "note"}}}}};
  const HttpAnswer answer = post(mixed);
  ASSERT_EQ(answer.status, 202) << answer.body;
  const json warnings = json::parse(answer.body)["warnings"];
  ASSERT_EQ(warnings.size(), 2u) << warnings;
  EXPECT_EQ(warnings[0]["pointer"], "/events/2/typ");
  EXPECT_NE(warnings[0]["detail"].get<std::string>().find("\"type\""), std::string::npos) << warnings;
  EXPECT_EQ(warnings[1]["pointer"], "/events/1/eventId");
  EXPECT_NE(warnings[1]["detail"].get<std::string>().find("2 of 3"), std::string::npos) << warnings;
  const json with_ids = {{"runId", "without-ids"}, {"events", {failed}}};
  EXPECT_FALSE(json::parse(post(with_ids).body).contains("warnings"));
  const json keyed = {{"runId", "without-ids"}, {"events", {kClaim}}};
  EXPECT_FALSE(json::parse(post(keyed, "Idempotency-Key: k-1\r\n").body).contains("warnings")) << "that request is safe to retry";
  const json slip = {{"runId", "without-ids"}, {"events", json::array()}, {"finl", true}};
  const HttpAnswer first = post(slip, "Idempotency-Key: k-2\r\n");
  EXPECT_EQ(json::parse(first.body)["warnings"][0]["pointer"], "/finl");
  EXPECT_EQ(json::parse(post(slip, "Idempotency-Key: k-2\r\n").body)["warnings"], json::parse(first.body)["warnings"]);
}

TEST_F(Events, AfterTheEnd_NewEventsOpenTheNextRevision) {
  ASSERT_EQ(post({{"runId", "again"}, {"events", {kRefundFailed, kClaim}}, {"final", true}}).status, 201);
  ASSERT_EQ(failures_of("again").size(), 1u);
  const std::string previous = failures_of("again")[0]["failureId"];

  const HttpAnswer same = post({{"runId", "again"}, {"events", json::array()}, {"final", true}});
  EXPECT_EQ(same.status, 200) << "a bare final again opens nothing";
  EXPECT_EQ(json::parse(same.body)["state"], "resolved");

  const HttpAnswer more = post(
      {{"runId", "again"}, {"events", {{{"type", "tool_call"}, {"name", "issue_refund"}, {"status", "completed"}, {"output", "ok"}}}}});
  ASSERT_EQ(more.status, 202) << more.body;
  EXPECT_EQ(json::parse(more.body)["state"], "reopened");
  EXPECT_EQ(failures_of("again").size(), 1u) << "until it is resolved anew, the former revision's failures stand";
  for (const char* view : {"/v1/runs/again", "/v1/runs/again?view=head"}) {
    json open = get(view);
    EXPECT_EQ(open["revision"], 2);
    ASSERT_EQ(open["failures"].size(), 1u) << view;
    EXPECT_EQ(open["failures"][0]["failureId"], previous);
    EXPECT_EQ(open["failures"][0]["revision"], 1);
  }

  ASSERT_EQ(post({{"runId", "again"}, {"events", {kClaim}}, {"final", true}}).status, 201);
  const json run = get("/v1/runs/again");
  EXPECT_EQ(run["revision"], 2);
  EXPECT_EQ(run["steps"].size(), 4u);
  for (const json& failure : failures_of("again")) EXPECT_NE(failure["failureId"], previous) << "never two sets of failures";
  const json first = get("/v1/runs/again?revision=1");
  EXPECT_EQ(first["revision"], 1);
  EXPECT_EQ(first["steps"].size(), 2u);
  EXPECT_EQ(first["failures"][0]["failureId"], previous);
  EXPECT_EQ(get("/v1/runs/again?revision=3")["status"], 404);
}

TEST_F(Events, TooManyEvents_EndTheRevision) {
  json events = json::array();
  for (int i = 0; i < 40; ++i) events.push_back({{"type", "model_output"}, {"text", std::to_string(i)}});
  ASSERT_EQ(post({{"runId", "many"}, {"events", events}}).status, 201);
  EXPECT_EQ(get("/v1/runs/many")["resolution"], "max_events");
}

TEST_F(Events, FinalEventsBeyondTheMost_AreAnsweredWithTheirLastRevision) {
  json events = json::array();
  for (int i = 0; i < 90; ++i) events.push_back({{"type", "retrieval"}, {"n", i}});
  events.push_back(kRefundFailed);
  events.push_back(kClaim);
  const json body = {{"runId", "beyond"}, {"events", events}, {"final", true}};
  const HttpAnswer answer = post(body, "Idempotency-Key: beyond\r\n");
  ASSERT_EQ(answer.status, 201) << answer.body;
  json told = json::parse(answer.body);
  EXPECT_EQ(told["state"], "resolved");
  EXPECT_EQ(told["revision"], 3);
  EXPECT_EQ(told["failures"].size(), 1u);
  const json run = get("/v1/runs/beyond");
  EXPECT_EQ(run["state"], "resolved");
  EXPECT_EQ(run["resolution"], "final");
  EXPECT_EQ(run["steps"].size(), 92u);
  const HttpAnswer again = post(body, "Idempotency-Key: beyond\r\n");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, answer.body);
}

TEST(OpenRuns, AsManyAsMayBe_DoNotKeepARunFromEndingAtOnce) {
  ServiceProcess service(
      {.yaml = "buffer: {max_open_runs: 1}\n", .server = {}, .limits = "{}", .store = {}, .binary = {}, .environment = {}});
  const std::string key = service.make_key();
  const auto post = [&](const std::string& run_id, bool final) {
    const json body = {{"runId", run_id}, {"events", {kRefundFailed}}, {"final", final}};
    return service.post("/v1/ingest/events", key, body.dump()).status;
  };
  EXPECT_EQ(post("open", false), 202);
  EXPECT_EQ(post("no-room", false), 503);
  EXPECT_EQ(post("ends-at-once", true), 201);
}

TEST(OpenRuns, AsManyAsMayBe_LetNoResolvedRunOpenAgain) {
  ServiceProcess service({.yaml = "buffer: {max_open_runs: 1, otlp_root_grace: 0s}\n",
                          .server = {},
                          .limits = "{}",
                          .store = {},
                          .binary = {},
                          .environment = {}});
  const std::string key = service.make_key();
  const auto post = [&](const std::string& run_id, const json& event, bool final) {
    const json body = {{"runId", run_id}, {"events", {event}}, {"final", final}};
    return service.post("/v1/ingest/events", key, body.dump()).status;
  };
  OtlpSpan span;
  span.attributes = {{"gen_ai.operation.name", std::string("invoke_agent")}};
  const auto send = [&] { return service.post("/v1/ingest/otlp/v1/traces", key, otlp_json({span})).status; };
  ASSERT_EQ(send(), 200);
  const auto is_resolved = [&] {
    const HttpAnswer run = service.get("/v1/runs/" + span.trace_id, key);
    return run.status == 200 && json::parse(run.body)["state"] == "resolved";
  };
  ASSERT_TRUE(wait_until(is_resolved));
  ASSERT_EQ(post("ended", kRefundFailed, true), 201);
  ASSERT_EQ(post("open", kRefundFailed, false), 202);
  EXPECT_EQ(post("ended", kClaim, false), 503);
  span.parent_id = span.span_id;
  span.span_id = "00000000000000ff";
  EXPECT_EQ(send(), 503);
  EXPECT_EQ(post("open", kClaim, false), 202);
  EXPECT_EQ(post("ended", kClaim, true), 201);
}

TEST(OpenRuns, OfAnotherTenant_AreNotLeftToTheSenderToEnd) {
  ServiceProcess service(
      {.yaml = "buffer: {max_open_runs: 1}\n", .server = {}, .limits = "{}", .store = {}, .binary = {}, .environment = {}});
  const std::string body = json({{"runId", "r"}, {"events", {kRefundFailed}}}).dump();
  ASSERT_EQ(service.post("/v1/ingest/events", service.make_key("acme"), body).status, 202);
  const std::string other = service.make_key("other");
  const HttpAnswer events = service.post("/v1/ingest/events", other, body);
  EXPECT_EQ(events.status, 503);
  const std::string why =
      "buffer.max_open_runs (1) runs are open, those of all tenants together; retry later, or ask the operator to raise the limit";
  EXPECT_EQ(json::parse(events.body)["detail"], why + "; a request with \"final\": true needs no room");
  const HttpAnswer spans = service.post("/v1/ingest/otlp/v1/traces", other, otlp_json({OtlpSpan{}}));
  EXPECT_EQ(spans.status, 503);
  EXPECT_THAT(spans.body, testing::HasSubstr(why));
}

TEST_F(Events, EventsThatFillTwoRevisions_AreAnsweredWithTheSecond) {
  json events = json::array();
  for (int i = 0; i < 90; ++i) events.push_back({{"type", "retrieval"}, {"n", i}});
  const HttpAnswer answer = post({{"runId", "twice-full"}, {"events", events}});
  ASSERT_EQ(answer.status, 201) << answer.body;
  EXPECT_EQ(json::parse(answer.body)["revision"], 2);
  const json run = get("/v1/runs/twice-full");
  EXPECT_EQ(run["state"], "open");
  EXPECT_EQ(run["revision"], 3);
  EXPECT_EQ(run["bufferedEvents"], 10);
}

TEST_F(Events, ARetryOfTheEnd_DoesNotEndTheRevisionThatFollowed) {
  const auto named = [](json event, const char* id) {
    event["eventId"] = id;
    return event;
  };
  const json first = {{"runId", "late-retry"}, {"events", {named(kRefundFailed, "1"), named({{"type", "run_finished"}}, "2")}}};
  ASSERT_EQ(post(first).status, 201);
  ASSERT_EQ(post({{"runId", "late-retry"}, {"events", {named(kRefundFailed, "3")}}}).status, 202);
  const HttpAnswer late = post(first);
  EXPECT_EQ(late.status, 202) << late.body;
  EXPECT_EQ(json::parse(late.body)["accepted"], 0);
  EXPECT_EQ(get("/v1/runs/late-retry")["state"], "open");
  ASSERT_EQ(post({{"runId", "late-retry"}, {"events", {named(kClaim, "4"), named({{"type", "run_finished"}}, "5")}}}).status, 201);
  EXPECT_EQ(get("/v1/runs/late-retry")["revision"], 2);
}

TEST_F(Events, ARetryWithFinal_DoesNotEndTheRevisionThatFollowed) {
  const auto request = [](const char* event_id, bool final) {
    json event = kRefundFailed;
    event["eventId"] = event_id;
    return json{{"runId", "late-final"}, {"events", {event}}, {"final", final}};
  };
  ASSERT_EQ(post(request("1", true)).status, 201);
  ASSERT_EQ(post(request("2", false)).status, 202);
  const HttpAnswer late = post(request("1", true));
  EXPECT_EQ(late.status, 202) << late.body;
  EXPECT_EQ(json::parse(late.body)["accepted"], 0);
  EXPECT_EQ(get("/v1/runs/late-final")["state"], "open");
  EXPECT_EQ(post(request("2", true)).status, 201);
  EXPECT_EQ(get("/v1/runs/late-final")["revision"], 2);
}

TEST_F(Events, AnOpenRun_CanBeReadAndSentAgain) {
  ASSERT_EQ(post({{"runId", "in-progress"}, {"events", {kRefundFailed}}}).status, 202);
  json copy = get("/v1/runs/in-progress");
  ASSERT_EQ(copy["bufferedEvents"], 1);
  copy["runId"] = "copied";
  ASSERT_EQ(service_->post("/v1/ingest/runs", key_, copy.dump()).status, 201);
  EXPECT_FALSE(get("/v1/runs/copied").contains("bufferedEvents"));

  ASSERT_EQ(post({{"runId", "copied"}, {"events", {kClaim, kClaim}}}).status, 202);
  for (const char* view : {"/v1/runs/copied", "/v1/runs/copied?view=head"}) {
    const std::string open = service_->get(view, key_).body;
    EXPECT_EQ(json::parse(open)["bufferedEvents"], 2) << view;
    EXPECT_EQ(open.find("bufferedEvents"), open.rfind("bufferedEvents")) << open;
  }
}

TEST_F(Events, AnIdempotencyKey_AppliesARequestOnce) {
  const json body = {{"runId", "keyed"}, {"events", {kRefundFailed}}};
  const HttpAnswer first = post(body, "Idempotency-Key: k1\r\n");
  const HttpAnswer same = post(body, "Idempotency-Key: k1\r\n");
  EXPECT_EQ(first.status, 202);
  EXPECT_EQ(same.status, 200);
  EXPECT_EQ(same.body, first.body);
  EXPECT_EQ(post({{"runId", "keyed"}, {"events", json::array()}}, "Idempotency-Key: k1\r\n").status, 409);
  EXPECT_EQ(get("/v1/runs/keyed")["steps"].size(), 1u);
}

TEST_F(Events, TwoTenantsUsingOneRunId_HaveTwoRuns) {
  ASSERT_EQ(post({{"runId", "shared"}, {"events", {kClaim}}}).status, 202);
  const HttpAnswer other = service_->post("/v1/ingest/events", other_key_, json{{"runId", "shared"}, {"events", {kRefundFailed}}}.dump());
  ASSERT_EQ(other.status, 202);
  EXPECT_EQ(json::parse(other.body)["bufferedEvents"], 1);
  EXPECT_EQ(get("/v1/runs/shared")["steps"][0]["stepKind"], "model");
}

TEST_F(Events, AWholeRunForAnOpenOne_WinsIfItHasAllTheSteps) {
  ASSERT_EQ(post({{"runId", "both"}, {"events", {kRefundFailed}}}).status, 202);
  const json short_run = {{"runId", "both"}, {"steps", {{{"stepKind", "model"}, {"outputSummary", "x"}}}}};
  const HttpAnswer refused = service_->post("/v1/ingest/runs", key_, short_run.dump());
  EXPECT_EQ(refused.status, 409);
  EXPECT_NE(json::parse(refused.body)["detail"].get<std::string>().find("1 of its steps"), std::string::npos) << refused.body;
  const json whole = {
      {"runId", "both"},
      {"success", true},
      {"outcomeSummary", "Your refund has been processed."},
      {"steps", {{{"stepKind", "tool"}, {"stepName", "issue_refund"}, {"status", "failed"}, {"errorMessage", "502 Bad Gateway"}}}}};
  const HttpAnswer taken = service_->post("/v1/ingest/runs", key_, whole.dump());
  ASSERT_EQ(taken.status, 201) << taken.body;
  EXPECT_EQ(json::parse(taken.body)["failures"].size(), 1u);
  EXPECT_EQ(service_->post("/v1/ingest/runs", key_, whole.dump()).status, 200) << "the same again is a replay";
  EXPECT_EQ(get("/v1/runs/both")["state"], "resolved");
}

TEST_F(Events, AnHttpStatusThatIsNoCount_IsStoredOnce_AndTheRunCanBeContinued) {
  const std::string step = R"("name":"issue_refund","metadata":{"httpStatus":null,"status_code":502})";
  ASSERT_EQ(service_->post("/v1/ingest/runs", key_, R"({"runId":"status-whole","steps":[{"stepKind":"tool",)" + step + "}]}").status, 201);
  ASSERT_EQ(
      service_->post("/v1/ingest/events", key_, R"({"runId":"status-events","events":[{"type":"tool_call",)" + step + R"(}],"final":true})")
          .status,
      201);
  for (const std::string id : {"status-whole", "status-events"}) {
    const std::string read = service_->get("/v1/runs/" + id, key_).body;
    EXPECT_THAT(read, testing::HasSubstr(R"("metadata":{"status_code":502,"httpStatus":502})")) << id;
    EXPECT_EQ(service_->post("/v1/analyze", key_, read).status, 200) << id;
    ASSERT_EQ(post({{"runId", id}, {"events", {kClaim}}, {"final", true}}).status, 201) << id;
    EXPECT_EQ(get("/v1/runs/" + id)["steps"].size(), 2u) << id;
  }
}

TEST_F(Events, EventsAfterAWholeRun_ContinueIt) {
  ASSERT_EQ(
      service_
          ->post("/v1/ingest/runs", key_, R"({"runId":"whole-first","userRequestText":"Hi","steps":[{"stepKind":"tool","stepName":"a"}]})")
          .status,
      201);
  ASSERT_EQ(post({{"runId", "whole-first"}, {"events", {kClaim}}}).status, 202);
  EXPECT_EQ(get("/v1/runs/whole-first")["steps"].size(), 2u);
  ASSERT_EQ(post({{"runId", "whole-first"}, {"events", json::array()}, {"final", true}}).status, 201);
  const json run = get("/v1/runs/whole-first");
  EXPECT_EQ(run["steps"].size(), 2u);
  EXPECT_EQ(run["userRequestText"], "Hi");
  EXPECT_EQ(run["revision"], 2);
}

TEST_F(Events, EventsAfterAWholeRunThatEndedTheStream_DoNotRepeatItsSteps) {
  const auto look_up = [](const char* id) {
    return json{{"type", "tool_call"}, {"name", "look_up"}, {"input", id}, {"output", id}, {"eventId", id}};
  };
  ASSERT_EQ(post({{"runId", "streamed-whole"}, {"events", {look_up("e1"), look_up("e2")}}}).status, 202);
  const auto step = [](const char* id) {
    return json{{"stepKind", "tool"}, {"stepName", "look_up"}, {"inputSummary", id}, {"outputSummary", id}};
  };
  const json whole = {{"runId", "streamed-whole"}, {"userRequestText", "Look it up"}, {"steps", {step("e1"), step("e2")}}};
  ASSERT_EQ(service_->post("/v1/ingest/runs", key_, whole.dump()).status, 201);
  json more = kClaim;
  more["eventId"] = "e3";
  ASSERT_EQ(post({{"runId", "streamed-whole"}, {"events", {more}}}).status, 202);
  EXPECT_EQ(get("/v1/runs/streamed-whole")["steps"].size(), 3u) << "while it is open";
  EXPECT_EQ(get("/v1/runs/streamed-whole?view=head")["stepCount"], 3);
  ASSERT_EQ(post({{"runId", "streamed-whole"}, {"events", json::array()}, {"final", true}}).status, 201);
  const json run = get("/v1/runs/streamed-whole");
  EXPECT_EQ(run["revision"], 2);
  EXPECT_EQ(run["userRequestText"], "Look it up");
  EXPECT_EQ(run["steps"].size(), 3u);
  EXPECT_EQ(get("/v1/runs/streamed-whole?view=head")["stepCount"], 3);
}

TEST_F(Events, AWholeRunSentAgain_AfterEventsOpenedItAgain_IsAnsweredAsAtFirst) {
  const std::string body = R"({"runId":"sent-twice","steps":[{"stepKind":"tool","stepName":"a"}]})";
  const std::string keyed = R"({"runId":"sent-twice-keyed"})";
  const HttpAnswer first = service_->post("/v1/ingest/runs", key_, body);
  const HttpAnswer first_keyed = service_->post("/v1/ingest/runs", key_, keyed, "Idempotency-Key: sent-twice\r\n");
  for (const json& final : {json(false), json(true)}) {
    post({{"runId", "sent-twice"}, {"events", {kClaim}}, {"final", final}});
    post({{"runId", "sent-twice-keyed"}, {"events", {kClaim}}, {"final", final}});
    const HttpAnswer again = service_->post("/v1/ingest/runs", key_, body);
    EXPECT_EQ(again.status, 200);
    EXPECT_EQ(again.body, first.body);
    const HttpAnswer again_keyed = service_->post("/v1/ingest/runs", key_, keyed, "Idempotency-Key: sent-twice\r\n");
    EXPECT_EQ(again_keyed.status, 200);
    EXPECT_EQ(again_keyed.body, first_keyed.body);
  }
  EXPECT_EQ(get("/v1/runs/sent-twice")["revision"], 2);
}

TEST_F(Events, AKeyOfAWholeRunThatEventsOpenedAgain_IsRememberedWithTheRevisionInTheAnswer) {
  const std::string body = R"({"runId":"bound-late"})";
  const std::string field = "Idempotency-Key: bound-late\r\n";
  const HttpAnswer first = service_->post("/v1/ingest/runs", key_, body);
  ASSERT_EQ(post({{"runId", "bound-late"}, {"events", {kClaim}}, {"final", true}}).status, 201);
  for (int i = 0; i < 2; ++i) {
    const HttpAnswer again = service_->post("/v1/ingest/runs", key_, body, field);
    EXPECT_EQ(again.status, 200);
    EXPECT_EQ(again.body, first.body);
  }
  EXPECT_EQ(service_->post("/v1/ingest/runs", key_, R"({"runId":"another"})", field).status, 409);
}

TEST_F(Events, AnAnswerThatNothingWasNew_IsGivenAgainUnderItsKey_AfterTheRunWentOn) {
  const auto call = [](const char* id) { return json{{"type", "tool_call"}, {"name", "a"}, {"eventId", id}}; };
  ASSERT_EQ(post({{"runId", "went-on"}, {"events", {call("1")}}, {"final", true}}).status, 201);
  const json seen = {{"runId", "went-on"}, {"events", {call("1")}}};
  const std::string field = "Idempotency-Key: went-on\r\n";
  const HttpAnswer first = post(seen, field);
  ASSERT_EQ(first.status, 200);
  EXPECT_EQ(json::parse(first.body)["steps"].size(), 1u);
  for (const bool final : {false, true}) {
    post({{"runId", "went-on"}, {"events", {call("2")}}, {"final", final}});
    const HttpAnswer again = post(seen, field);
    EXPECT_EQ(again.status, 200);
    EXPECT_EQ(again.body, first.body);
  }
}

TEST_F(Events, AFinalSentAgainUnderItsKey_IsAnsweredAsAtFirst_AndEndsNoLaterRevision) {
  const json body = {{"runId", "ended-once"}, {"events", {kRefundFailed}}, {"final", true}};
  const HttpAnswer first = post(body, "Idempotency-Key: ended-once\r\n");
  ASSERT_EQ(first.status, 201);
  EXPECT_EQ(post(body, "Idempotency-Key: ended-once\r\n").body, first.body);
  ASSERT_EQ(post({{"runId", "ended-once"}, {"events", {kClaim}}}).status, 202);
  const HttpAnswer again = post(body, "Idempotency-Key: ended-once\r\n");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(get("/v1/runs/ended-once")["state"], "open");
}

TEST_F(Events, AKeyThatMayOnlySend_IsNotShownTheRun) {
  const std::string sender = service_->make_key("acme", "ingest");
  post({{"runId", "secret"},
        {"events", {{{"type", "run_started"}, {"userRequestText", "Refund 8842"}}, kRefundFailed, kClaim}},
        {"final", true}});
  const std::string bare_end = R"({"runId":"secret","events":[],"final":true})";
  const HttpAnswer told = service_->post("/v1/ingest/events", sender, bare_end);
  ASSERT_EQ(told.status, 200) << told.body;
  EXPECT_EQ(json::parse(told.body)["state"], "resolved");
  EXPECT_EQ(json::parse(told.body)["failures"].size(), 1u);
  EXPECT_EQ(told.body.find("Refund 8842"), std::string::npos) << told.body;
  EXPECT_EQ(json::parse(service_->post("/v1/ingest/events", key_, bare_end).body)["userRequestText"], "Refund 8842");
}

TEST_F(Events, WrongShapes_AreRefusedAndOpenNothing) {
  EXPECT_EQ(post({{"events", json::array()}}).status, 422);
  EXPECT_EQ(post({{"runId", "bad"}}).status, 422);
  EXPECT_EQ(post({{"runId", "bad"}, {"events", {{{"type", 1}}}}}).status, 422);
  EXPECT_EQ(get("/v1/runs/bad")["status"], 404);
  EXPECT_EQ(post({{"runId", "empty"}, {"events", json::array()}}).status, 202);
}

TEST(EventsInTime, AnIdleRun_ResolvesByItself_AlsoAfterAKill) {
  ServiceProcess service(
      {.yaml = "buffer: {idle_timeout: 300ms}\n", .server = {}, .limits = "{}", .store = {}, .binary = {}, .environment = {}});
  const std::string key = service.make_key();
  const std::string body = json{{"runId", "idle"}, {"events", {kRefundFailed, kClaim}}}.dump();
  ASSERT_EQ(service.post("/v1/ingest/events", key, body).status, 202);
  service.kill_hard();
  service.start();
  json run;
  for (int i = 0; i < 500; ++i) {
    run = json::parse(service.get("/v1/runs/idle", key).body);
    if (run["state"] == "resolved") break;
    ::poll(nullptr, 0, 10);
  }
  EXPECT_EQ(run["state"], "resolved");
  EXPECT_EQ(run["resolution"], "idle");
  EXPECT_EQ(run["failures"].size(), 1u);
}

}  // namespace
}  // namespace runwarden::test
