// A model's second opinion from outside: the real binary with the shipped detectors, and a scripted endpoint on loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/files.h"
#include "support/get_json.h"
#include "support/service_process.h"
#include "support/wait_until.h"
#include "support/webhook_receiver.h"

namespace runwarden::test {
namespace {

using nlohmann::json;
using Answer = WebhookReceiver::Answer;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kPath = "/v1/chat/completions";

// false_success has its doubts of this one, and does not fire.
json candidate_run(const std::string& run_id) {
  return {{"runId", run_id},
          {"outcomeSummary", "Tuesday suits us well."},
          {"steps", {{{"stepKind", "tool"}, {"stepName", "send_mail"}, {"status", "failed"}, {"errorMessage", "502 Bad Gateway"}}}}};
}
json alarming_run(const std::string& run_id) {
  return {{"runId", run_id},
          {"userRequestText", "Refund order 8842"},
          {"success", true},
          {"outcomeSummary", "Your refund has been processed."},
          {"steps", {{{"stepKind", "tool"}, {"stepName", "issue_refund"}, {"status", "failed"}, {"errorMessage", "502 Bad Gateway"}}}}};
}

Answer says(const std::string& verdict, const json& evidence = json::array(), const std::string& reason = "as I read it") {
  const json content = {{"verdict", verdict}, {"reason", reason}, {"evidence", evidence}};
  const json body = {{"choices", {{{"message", {{"role", "assistant"}, {"content", content.dump()}}}}}},
                     {"usage", {{"prompt_tokens", 700}, {"completion_tokens", 50}, {"total_tokens", 750}}}};
  return {200, "Content-Type: application/json\r\n", body.dump()};
}
Answer confirms() {
  return says("present", {{{"pointer", "/steps/0/errorMessage"}, {"quote", "502 Bad Gateway"}}});
}

class SecondOpinionService : public ::testing::Test {
 protected:
  void serve(WebhookReceiver::Answering answering, const std::string& more) {
    endpoint_ = std::make_unique<WebhookReceiver>(std::move(answering));
    start(endpoint_->url(kPath), more);
  }
  void start(const std::string& url, const std::string& more) {
    ServiceProcess::Options options;
    options.yaml = "webhooks: {allow: [127.0.0.1], allow_http: true}\nsecond_opinion: {enabled: true, model: judge-1, url: \"" + url + "\", " +
                   more + "}\n";
    service_ = std::make_unique<ServiceProcess>(std::move(options));
    key_ = service_->make_key("acme", "ingest,read,manage");
  }
  json ingest(const json& run) {
    const HttpAnswer answer = service_->post("/v1/ingest/runs", key_, run.dump());
    EXPECT_EQ(answer.status, 201) << answer.body;
    return json::parse(answer.body);
  }
  json get(const std::string& path) { return get_json(*service_, path, key_); }
  json candidates(const std::string& query = {}) { return get("/v1/candidates" + query)["items"]; }
  std::string metrics() { return service_->request(get_request("/metrics")).body; }

  std::unique_ptr<WebhookReceiver> endpoint_;
  std::unique_ptr<ServiceProcess> service_;
  std::string key_;
};

TEST_F(SecondOpinionService, CandidateThatIsConfirmed_IsAFailureThatIsListedAndTold) {
  serve([](const ReceivedMessage& message, std::size_t) { return message.path == kPath ? confirms() : Answer{}; }, "ask: all");
  const json webhook = {{"url", endpoint_->url("/hook")}, {"events", {"failure.created"}}};
  ASSERT_EQ(service_->post("/v1/webhooks", key_, webhook.dump()).status, 201);
  EXPECT_TRUE(ingest(candidate_run("mail"))["failures"].empty()) << "the detector is not sure";
  ASSERT_TRUE(wait_until([&] { return candidates("?state=confirmed").size() == 1; }));
  const json candidate = candidates().at(0);
  EXPECT_EQ(candidate["runId"], "mail");
  EXPECT_EQ(candidate["detectorKey"], "false_success");
  EXPECT_LT(candidate["confidence"], 0.6);
  EXPECT_EQ(candidate["review"]["author"], "model:judge-1");
  EXPECT_EQ(candidate["review"]["opinion"], "present");
  EXPECT_EQ(candidate["review"]["tokens"], 750);
  const json failure = get("/v1/failures")["items"].at(0);
  EXPECT_EQ(failure["failureId"], candidate["failureId"]);
  EXPECT_EQ(failure["confirmedBy"], "model:judge-1");
  EXPECT_EQ(failure["review"]["verdict"], "right");
  EXPECT_EQ(get("/v1/runs/mail")["failures"].size(), 1U);
  EXPECT_EQ(get("/v1/clusters")["items"].size(), 1U);
  const auto told = endpoint_->wait_for("/hook", 1);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(json::parse(told[0].body)["data"]["failure"]["failureId"], failure["failureId"]);
  const auto asked = endpoint_->wait_for(kPath, 1);
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].header("x-runwarden-run"), "mail");
  EXPECT_EQ(asked[0].header("x-runwarden-detector"), "false_success");
  EXPECT_TRUE(candidates("?state=denied").empty());
  EXPECT_TRUE(candidates("?detector=schema_ghost").empty());
  EXPECT_EQ(candidates("?detector=false_success").size(), 1U);
  EXPECT_EQ(service_->get("/v1/candidates?state=gone", key_).status, 400);
  ASSERT_TRUE(wait_until([&] { return metrics().find("runwarden_second_opinion_answers_total{verdict=\"present\"} 1") != std::string::npos; }));
  EXPECT_THAT(metrics(), HasSubstr("runwarden_second_opinion_asked_total 1"));
  EXPECT_THAT(metrics(), HasSubstr("runwarden_second_opinion_tokens_total{kind=\"prompt\"} 700"));
}

TEST_F(SecondOpinionService, ReviewsOfWhatItConfirmed_SayWhatTheDetectorMissed_AsACorpusDoes) {
  serve([](const ReceivedMessage&, std::size_t) { return confirms(); }, "ask: candidates");
  for (const char* const id : {"mail", "letter"}) ingest(candidate_run(id));
  ASSERT_TRUE(wait_until([&] { return candidates("?state=confirmed").size() == 2; }));
  const std::string failure = get("/v1/runs/mail")["failures"][0]["failureId"];
  ASSERT_EQ(service_->post("/v1/failures/" + failure + "/review", key_, R"({"verdict": "right"})").status, 200);
  json reviews;
  const json detectors = get("/v1/detectors");
  for (const json& detector : detectors["items"]) {
    if (detector["key"] == "false_success") reviews = detector["reviews"];
  }
  EXPECT_EQ(reviews["right"], 0);
  EXPECT_EQ(reviews["missed"], 2);
  const std::string folder = (service_->folder() / "corpus").string();
  ASSERT_EQ(service_->cli({"corpus", "export", "--tenant", "acme", "--output", folder}).exit_code, 0);
  const CommandResult scored = service_->cli({"score", "--runs", folder + "/runs.jsonl", "--labels", folder + "/labels.jsonl", "--json"});
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  const json scores = json::parse(scored.out);
  for (const json& score : scores["detectors"]) {
    if (score["key"] != "false_success") continue;
    EXPECT_EQ(score["right"], reviews["right"]);
    EXPECT_EQ(score["falseAlarm"], reviews["falseAlarm"]);
    EXPECT_EQ(score["missed"], reviews["missed"]);
  }
}

TEST_F(SecondOpinionService, WhatAPersonSaidOfAConfirmedFailure_StaysInTheNextRevision) {
  serve([](const ReceivedMessage& message, std::size_t) { return message.path == kPath ? confirms() : Answer{}; }, "ask: candidates");
  ingest(candidate_run("mail"));
  ASSERT_TRUE(wait_until([&] { return candidates("?state=confirmed").size() == 1; }));
  const std::string failure = get("/v1/runs/mail")["failures"][0]["failureId"];
  ASSERT_EQ(service_->post("/v1/failures/" + failure + "/review", key_, R"({"verdict": "false_alarm", "note": "it was sent"})").status,
            200);
  const json late = {{"type", "tool_call"}, {"eventId", "late"}, {"name", "log_visit"}, {"output", "ok"}};
  ASSERT_LT(service_->post("/v1/ingest/events", key_, json{{"runId", "mail"}, {"events", {late}}, {"final", true}}.dump()).status, 300);
  ASSERT_TRUE(wait_until([&] {
    const json run = get("/v1/runs/mail");
    return run["revision"] == 2 && run["failures"].size() == 1;
  }));
  json again = get("/v1/runs/mail")["failures"][0];
  EXPECT_EQ(again["failureId"], failure);
  EXPECT_EQ(again["revision"], 2);
  EXPECT_EQ(again["review"]["note"], "it was sent");
  EXPECT_EQ(get("/v1/failures?review=none")["items"].size(), 0U);
  EXPECT_EQ(get("/v1/clusters?state=all")["items"][0]["count"], 0);
}

TEST_F(SecondOpinionService, AlarmThatIsDenied_IsNotSilencedUnlessThatIsAllowed) {
  serve([](const ReceivedMessage&, std::size_t) { return says("absent"); }, "ask: alarms");
  const std::string id = ingest(alarming_run("refund"))["failures"].at(0)["failureId"];
  const auto review = [&] { return get("/v1/failures/" + id).value("review", json::object()); };
  ASSERT_TRUE(wait_until([&] { return review().contains("opinion"); }));
  EXPECT_EQ(review()["verdict"], "unsure");
  EXPECT_EQ(review()["opinion"], "absent");
  EXPECT_EQ(get("/v1/clusters")["items"].at(0)["count"], 1) << "it counts";
  EXPECT_TRUE(candidates().empty()) << "an alarm is no candidate";
}

TEST_F(SecondOpinionService, DeadEndpoint_CostsOnlyTheSecondOpinion) {
  std::string url;
  {
    const WebhookReceiver gone;
    url = gone.url(kPath);
  }
  start(url, "ask: candidates");
  ingest(candidate_run("mail"));
  const auto warnings = [&] {
    const HttpAnswer ready = service_->request(get_request("/readyz"));
    EXPECT_EQ(ready.status, 200) << ready.body;
    return ready.body;
  };
  ASSERT_TRUE(wait_until([&] { return warnings().find("second_opinion_failing") != std::string::npos; }));
  EXPECT_THAT(metrics(), HasSubstr("runwarden_second_opinion_failures_total{reason=\"connection_failed\"}"));
  ASSERT_TRUE(wait_until([&] { return metrics().find("runwarden_second_opinion_waiting 1") != std::string::npos; }));
  EXPECT_EQ(candidates().at(0)["state"], "waiting");
  EXPECT_EQ(candidates().at(0)["lastError"], "connection_failed");
  ingest(alarming_run("refund"));
  EXPECT_TRUE(service_->wait_for_log("second_opinion_failing"));
}

TEST_F(SecondOpinionService, ReasonOfTheModel_IsRedacted) {
  const auto mentions = [](const ReceivedMessage&, std::size_t) { return says("present", json::array(), "told bob@example.com"); };
  serve(mentions, "ask: alarms}\nredact: {rules: [{kind: email}]");
  ingest(alarming_run("refund"));
  ASSERT_TRUE(wait_until([&] { return get("/v1/failures")["items"].at(0).contains("review"); }));
  EXPECT_EQ(get("/v1/failures")["items"].at(0)["review"]["reason"], "told [redacted:email]");
}

TEST_F(SecondOpinionService, ReviewOfAPerson_Withdrawn_LeavesThatOfTheModel) {
  serve([](const ReceivedMessage&, std::size_t) { return says("present"); }, "ask: alarms");
  ingest(alarming_run("refund"));
  const auto failure = [&] { return get("/v1/failures")["items"].at(0); };
  ASSERT_TRUE(wait_until([&] { return failure().contains("review"); }));
  const json by_model = failure()["review"];
  EXPECT_EQ(by_model["author"], "model:judge-1");
  const std::string path = "/v1/failures/" + failure()["failureId"].get<std::string>() + "/review";
  const auto withdraw = [&] {
    return service_->request("DELETE " + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + key_ + "\r\n\r\n").status;
  };
  ASSERT_EQ(service_->post(path, key_, R"({"verdict": "false_alarm"})").status, 200);
  EXPECT_EQ(failure()["review"]["verdict"], "false_alarm");
  EXPECT_EQ(withdraw(), 204);
  EXPECT_EQ(failure()["review"], by_model);
  EXPECT_EQ(get(path + "/history")["items"].size(), 4U);
  EXPECT_EQ(withdraw(), 204);
  EXPECT_FALSE(failure().contains("review")) << "now the model's is withdrawn";
  EXPECT_EQ(service_->cli({"verify"}).exit_code, 0);
}

TEST_F(SecondOpinionService, KilledWithAQuestionOnItsWay_AsksItOnceMoreAndLosesNothing) {
  std::atomic<bool> answers{false};
  serve([&](const ReceivedMessage&, std::size_t) { return answers ? std::optional(says("absent")) : std::nullopt; }, "ask: candidates, timeout: 1s");
  ingest(candidate_run("mail"));
  ASSERT_EQ(endpoint_->wait_for(kPath, 1).size(), 1U);
  service_->kill_hard();
  answers = true;
  service_->start();
  ASSERT_TRUE(wait_until([&] { return candidates("?state=denied").size() == 1; }));
  EXPECT_EQ(endpoint_->wait_for(kPath, 3, 0).size(), 2U);
  const json history = get("/v1/runs/mail/review/history")["items"];
  ASSERT_EQ(history.size(), 1U);
  EXPECT_EQ(history[0]["verdict"], "clean");
}

TEST_F(SecondOpinionService, SwitchedOff_ThereAreNoCandidates) {
  service_ = std::make_unique<ServiceProcess>();
  key_ = service_->make_key("acme", "ingest,read,manage");
  ingest(candidate_run("mail"));
  const json list = get("/v1/candidates");
  EXPECT_EQ(list, (json{{"items", json::array()}, {"nextCursor", nullptr}}));
}

TEST_F(SecondOpinionService, KeyThatOthersCanRead_IsFoundByCheckAndKeepsTheServiceFromStarting) {
  const TempFolder folder;
  const std::string file = folder.write("key", "sk-1\n");
  std::filesystem::permissions(file, std::filesystem::perms(0644));
  const std::string config =
      folder.write("runwarden.yaml", "store: {path: \"" + (folder.path() / "store").string() + "\"}\ndetectors: {search_path: [\"" + plugin_folder() +
                                         "\"], enabled: [{key: false_success}]}\n" +
                                         "second_opinion: {enabled: true, url: \"http://127.0.0.1:9/\", model: m, api_key_file: key}\n");
  const CommandResult checked = run_command({runwarden_binary(), "check", "--config", config});
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.err, HasSubstr("config: second_opinion.api_key_file (" + config + ":3:85): \"" + file + "\" is readable by other users; run chmod 0600 on it"));
  EXPECT_EQ(run_command({runwarden_binary(), "serve", "--config", config}).exit_code, 1);
  std::filesystem::permissions(file, std::filesystem::perms(0600));
  EXPECT_EQ(run_command({runwarden_binary(), "check", "--config", config}).exit_code, 0);
}

TEST_F(SecondOpinionService, Reload_TakesAnotherKey_AndRefusesOneThatOthersCanRead) {
  const TempFolder folder;
  const std::string file = folder.write("key", "sk-1\n");
  std::filesystem::permissions(file, std::filesystem::perms(0600));
  serve([](const ReceivedMessage&, std::size_t) { return says("absent"); }, "api_key_file: \"" + file + "\"");
  ingest(candidate_run("first"));
  ASSERT_EQ(endpoint_->wait_for(kPath, 1).size(), 1U);
  folder.write("key", "sk-2\n");
  service_->signal(SIGHUP);
  ASSERT_TRUE(service_->wait_for_log("\"reloaded\""));
  ingest(candidate_run("second"));
  const auto asked = endpoint_->wait_for(kPath, 2);
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked[0].header("authorization"), "Bearer sk-1");
  EXPECT_EQ(asked[1].header("authorization"), "Bearer sk-2");
  std::filesystem::permissions(file, std::filesystem::perms(0644));
  service_->signal(SIGHUP);
  EXPECT_TRUE(service_->wait_for_log("reload_refused"));
  EXPECT_EQ(service_->log_text().find("sk-2"), std::string::npos);
}

TEST_F(SecondOpinionService, Reload_TakesTheKeyOfAnotherFile_WithoutARestart) {
  const TempFolder folder;
  const std::string first = folder.write("first", "sk-1\n");
  const std::string other = folder.write("other", "sk-2\n");
  for (const std::string& file : {first, other}) std::filesystem::permissions(file, std::filesystem::perms(0600));
  serve([](const ReceivedMessage&, std::size_t) { return says("absent"); }, "api_key_file: \"" + first + "\"");
  std::string config = read_file(service_->config_path());
  std::ofstream(service_->config_path()) << config.replace(config.find(first), first.size(), other);
  service_->signal(SIGHUP);
  ASSERT_TRUE(service_->wait_for_log("\"reloaded\""));
  ingest(candidate_run("second"));
  const auto asked = endpoint_->wait_for(kPath, 1);
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].header("authorization"), "Bearer sk-2");
  EXPECT_EQ(service_->log_text().find("restart_needed"), std::string::npos);
}

TEST_F(SecondOpinionService, Try_PrintsPromptAndAnswer_OfAFileAndOfAStoredRun) {
  serve([](const ReceivedMessage&, std::size_t) { return confirms(); }, "ask: alarms");
  ingest(candidate_run("mail"));
  const TempFolder folder;
  const std::string file = folder.write("run.json", candidate_run("mail").dump());
  const CommandResult dry = service_->cli({"second-opinion", "try", file, "--detector", "false_success", "--dry-run"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("== false_success (false_success/1"));
  EXPECT_THAT(dry.out, HasSubstr("502 Bad Gateway"));
  EXPECT_THAT(dry.out, Not(HasSubstr("would be recorded")));
  EXPECT_TRUE(endpoint_->wait_for(kPath, 1, 0).empty()) << "nobody was asked";
  for (const std::vector<std::string>& run : {std::vector<std::string>{file}, std::vector<std::string>{"mail", "--tenant", "acme"}}) {
    std::vector<std::string> arguments{"second-opinion", "try", "--detector", "false_success"};
    arguments.insert(arguments.end(), run.begin(), run.end());
    const CommandResult asked = service_->cli(arguments);
    EXPECT_EQ(asked.exit_code, 0) << asked.err;
    EXPECT_THAT(asked.out, HasSubstr("a candidate ("));
    EXPECT_THAT(asked.out, HasSubstr("\"state\":\"confirmed\""));
    EXPECT_THAT(asked.out, HasSubstr("\"confirmedBy\":\"model:judge-1\""));
  }
  const std::string alarm = folder.write("alarm.json", alarming_run("refund").dump());
  const CommandResult alarmed = service_->cli({"second-opinion", "try", alarm, "--detector", "false_success"});
  EXPECT_EQ(alarmed.exit_code, 0) << alarmed.err;
  EXPECT_THAT(alarmed.out, HasSubstr("an alarm: "));
  EXPECT_THAT(alarmed.out, HasSubstr("with a review of the failure: right"));
  json fine = alarming_run("fine");
  fine["steps"] = json::array();
  const std::string clean = folder.write("fine.json", fine.dump());
  const CommandResult unasked = service_->cli({"second-opinion", "try", clean, "--detector", "expensive_loop"});
  EXPECT_EQ(unasked.exit_code, 0) << unasked.err;
  EXPECT_THAT(unasked.out, HasSubstr("no candidate: "));
  EXPECT_THAT(unasked.out, HasSubstr("-- answer\n"));
  EXPECT_THAT(unasked.out,
              HasSubstr("-- nothing would be recorded: the service does not ask about a run in which the detector found nothing"));
  EXPECT_THAT(unasked.out, Not(HasSubstr("-- would be recorded")));
  EXPECT_THAT(unasked.out, Not(HasSubstr("-- with ")));
  EXPECT_EQ(endpoint_->wait_for(kPath, 4).size(), 4U);
  EXPECT_TRUE(get("/v1/failures")["items"].empty()) << "nothing is stored";
  EXPECT_EQ(service_->cli({"second-opinion", "try", file, "--detector", "no_such"}).exit_code, 1);
  EXPECT_EQ(service_->cli({"second-opinion", "try"}).exit_code, 2);
  EXPECT_EQ(service_->cli({"second-opinion", "try", "gone", "--tenant", "acme"}).exit_code, 1);
}

}  // namespace
}  // namespace runwarden::test
