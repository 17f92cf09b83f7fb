// Reviews over real HTTP: what is answered, what they change, and that a corpus made of them gives the same figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "support/get_json.h"
#include "support/service_process.h"
#include "support/webhook_receiver.h"

namespace runwarden::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// False success, where it failed.
json refund_run(const std::string& id, bool failed = true, const std::string& tool = "issue_refund") {
  json step = {{"stepKind", "tool"}, {"stepName", tool}, {"inputSummary", R"({"order": "A-8842"})"}};
  if (failed)
    step.update({{"status", "failed"}, {"errorMessage", "502 Bad Gateway"}});
  else
    step.update({{"status", "completed"}, {"outputSummary", "refunded"}});
  return {{"runId", id},
          {"userRequestText", "Please refund order A-8842"},
          {"success", true},
          {"outcomeSummary", "Your refund has been processed."},
          {"steps", {step}}};
}

class Reviews : public testing::Test {
 protected:
  explicit Reviews(ServiceProcess::Options options = {})
      : service_(std::move(options)), key_(service_.make_key("acme", "ingest,read,manage")) {}

  HttpAnswer post(const std::string& path, const json& body, const std::string& fields = {}) {
    return service_.post(path, key_, body.dump(), fields);
  }
  HttpAnswer remove(const std::string& path) {
    return service_.request("DELETE " + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + key_ + "\r\n\r\n");
  }
  // Gives its first failure, or null.
  json ingest(const json& run) {
    const HttpAnswer answer = post("/v1/ingest/runs", run);
    EXPECT_EQ(answer.status, 201) << answer.body;
    const json failures = json::parse(answer.body)["failures"];
    return failures.empty() ? json() : failures[0];
  }
  json get(const std::string& path) { return get_json(service_, path, key_); }
  static std::string path_of(const json& failure) { return "/v1/failures/" + failure["failureId"].get<std::string>(); }
  json review(const json& failure, const std::string& verdict, const std::string& note = {}) {
    json body = {{"verdict", verdict}};
    if (!note.empty()) body["note"] = note;
    const HttpAnswer answer = post(path_of(failure) + "/review", body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return json::parse(answer.body);
  }
  json detector(const std::string& key) {
    const json all = get("/v1/detectors");
    for (const json& one : all["items"]) {
      if (one["key"] == key) return one;
    }
    return {};
  }
  json group() { return get("/v1/clusters?state=all")["items"].at(0); }
  // {pointer: code} of a 422.
  json faults(const HttpAnswer& answer) {
    EXPECT_EQ(answer.status, 422) << answer.body;
    json by_pointer = json::object();
    const json problem = json::parse(answer.body);
    for (const json& fault : problem["errors"]) by_pointer[fault["pointer"].get<std::string>()] = fault["code"];
    return by_pointer;
  }

  ServiceProcess service_;
  std::string key_;
};

TEST_F(Reviews, GroupOfFalseAlarms_IsThatOfTheOneThatIsCountedAgain) {
  const json failures[] = {ingest(refund_run("z0")), ingest(refund_run("z1"))};
  for (const json& one : failures) {
    for (const json& each : failures) review(each, "false_alarm");
    EXPECT_EQ(remove(path_of(one) + "/review").status, 204);
    const json group = this->group();
    EXPECT_EQ(group["count"], 1);
    EXPECT_EQ(group["firstSeen"], failures[0]["detectedAt"]) << "since when the group is known";
    EXPECT_EQ(group["lastSeen"], one["detectedAt"]);
    const CommandResult verified = service_.cli({"verify"});
    EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  }
}

TEST_F(Reviews, AReviewedFailure_BearsItsReviewWhereverItIsShown) {
  const json failure = ingest(refund_run("r1"));
  ASSERT_FALSE(failure.contains("review"));
  const json answered = review(failure, "right", "the customer wrote again");
  EXPECT_EQ(answered["failureId"], failure["failureId"]);
  const json& said = answered["review"];
  EXPECT_EQ(said["verdict"], "right");
  EXPECT_EQ(said["note"], "the customer wrote again");
  EXPECT_EQ(said["author"], "default") << "the name of the key";
  EXPECT_THAT(said["at"].get<std::string>(), ::testing::EndsWith("Z"));
  EXPECT_EQ(get(path_of(failure)), answered);
  EXPECT_EQ(get("/v1/failures")["items"].at(0), answered);
  EXPECT_EQ(get("/v1/runs/r1")["failures"].at(0)["review"], said);
  EXPECT_EQ(get("/v1/runs/r1?view=head")["failures"].at(0)["review"], said);
  EXPECT_EQ(get("/v1/runs")["items"].at(0)["failures"].at(0)["review"], said);
  EXPECT_EQ(get(path_of(failure) + "/investigation")["failure"]["review"], said);
  // The same run again is answered as it was the first time.
  const HttpAnswer again = post("/v1/ingest/runs", refund_run("r1"));
  EXPECT_EQ(again.status, 200);
  EXPECT_FALSE(json::parse(again.body)["failures"].at(0).contains("review"));

  review(failure, "unsure");
  EXPECT_FALSE(get(path_of(failure))["review"].contains("note"));
  EXPECT_EQ(remove(path_of(failure) + "/review").status, 204);
  EXPECT_FALSE(get(path_of(failure)).contains("review"));
  EXPECT_EQ(remove(path_of(failure) + "/review").status, 204) << "there is nothing to take back";
  const json history = get(path_of(failure) + "/review/history?limit=2");
  ASSERT_THAT(history["items"], SizeIs(2));
  EXPECT_TRUE(history["items"][0]["verdict"].is_null());
  EXPECT_EQ(history["items"][1]["verdict"], "unsure");
  const json rest = get(path_of(failure) + "/review/history?limit=2&cursor=" + history["nextCursor"].get<std::string>());
  ASSERT_THAT(rest["items"], SizeIs(1));
  EXPECT_EQ(rest["items"][0], said);
  EXPECT_TRUE(rest["nextCursor"].is_null());
}

TEST_F(Reviews, WhatIsFoundAgainInTheNextRevision_KeepsItsReview) {
  const json failure = ingest(refund_run("r1"));
  review(failure, "unsure");
  const json said = review(failure, "false_alarm", "a test order")["review"];
  const json missed = {{"detector", "schema_ghost"}, {"verdict", "missed"}};
  ASSERT_EQ(post("/v1/runs/r1/review", missed).status, 200);
  const json late = {{"type", "tool_call"}, {"eventId", "late"}, {"name", "log_visit"}, {"output", "ok"}};
  ASSERT_LT(post("/v1/ingest/events", {{"runId", "r1"}, {"events", {late}}, {"final", true}}).status, 300);
  json run = get("/v1/runs/r1");
  ASSERT_EQ(run["revision"], 2);
  ASSERT_THAT(run["failures"], SizeIs(1));
  EXPECT_EQ(run["failures"][0]["failureId"], failure["failureId"]);
  EXPECT_EQ(run["failures"][0]["revision"], 2);
  EXPECT_EQ(run["failures"][0]["review"], said);
  for (const json& detector : run["detectors"]) {
    EXPECT_EQ(detector.contains("review"), detector["key"] == "schema_ghost") << detector;
  }
  EXPECT_EQ(get("/v1/runs/r1?revision=1")["failures"][0]["review"], said);
  EXPECT_EQ(get(path_of(failure))["revision"], 2);
  EXPECT_THAT(get(path_of(failure) + "/review/history")["items"], SizeIs(2));
  EXPECT_THAT(get("/v1/failures?review=none")["items"], IsEmpty());
  EXPECT_THAT(get("/v1/failures?review=false_alarm")["items"], SizeIs(1));
  EXPECT_EQ(group()["state"], "ignored");
  EXPECT_EQ(group()["count"], 0);
  TempFolder folder;
  const std::string out = (folder.path() / "corpus").string();
  ASSERT_EQ(service_.cli({"corpus", "export", "--tenant", "acme", "--output", out}).exit_code, 0);
  std::ifstream labels(out + "/labels.jsonl");
  std::string line;
  ASSERT_TRUE(std::getline(labels, line));
  EXPECT_EQ(json::parse(line)["labels"]["false_success"], "absent");
  EXPECT_EQ(json::parse(line)["labels"]["schema_ghost"], "present");
}

TEST_F(Reviews, WhatIsWrongWithARequest_IsNamed) {
  const json failure = ingest(refund_run("r1"));
  const std::string path = path_of(failure) + "/review";
  EXPECT_EQ(faults(post(path, json::object())), json({{"/verdict", "missing"}}));
  EXPECT_EQ(faults(post(path, {{"verdict", "missed"}, {"detector", "x"}})),
            json({{"/verdict", "invalid"}, {"/detector", "unknown_member"}}));
  EXPECT_EQ(faults(post(path, {{"verdict", 7}, {"note", std::string(4097, 'x')}})), json({{"/verdict", "invalid"}, {"/note", "too_long"}}));
  EXPECT_EQ(faults(post(path, {{"verdict", "right"}, {"note", {1}}})), json({{"/note", "wrong_type"}}));
  EXPECT_EQ(faults(post(path, json::array())), json({{"", "wrong_type"}}));
  EXPECT_EQ(post("/v1/failures/fail_none/review", {{"verdict", "right"}}).status, 404);
  EXPECT_EQ(remove("/v1/failures/fail_none/review").status, 404);
  EXPECT_EQ(service_.get("/v1/failures/fail_none/review/history", key_).status, 404);
  EXPECT_EQ(service_.get(path, key_).status, 405);
  EXPECT_EQ(service_.get("/v1/failures?review=maybe", key_).status, 400);
  const std::string reads = service_.make_key("acme", "ingest,read");
  EXPECT_EQ(service_.post(path, reads, R"({"verdict":"right"})").status, 403);
  const std::string stranger = service_.make_key("other", "ingest,read,manage");
  EXPECT_EQ(service_.post(path, stranger, R"({"verdict":"right"})").status, 404);
  EXPECT_FALSE(get(path_of(failure)).contains("review"));

  ingest(refund_run("fine", false));
  EXPECT_EQ(faults(post("/v1/runs/fine/review", {{"verdict", "right"}})), json({{"/verdict", "invalid"}, {"/detector", "missing"}}));
  EXPECT_EQ(faults(post("/v1/runs/fine/review", {{"verdict", "missed"}, {"detector", "no_such"}})),
            json({{"/detector", "unknown_detector"}}));
  EXPECT_EQ(post("/v1/runs/r1/review", {{"verdict", "missed"}, {"detector", "false_success"}}).status, 409);
  EXPECT_EQ(post("/v1/runs/none/review", {{"verdict", "missed"}, {"detector", "false_success"}}).status, 404);
  EXPECT_EQ(remove("/v1/runs/none/review").status, 404);
  EXPECT_EQ(remove("/v1/runs/fine/review?revision=1").status, 400);
  EXPECT_EQ(remove("/v1/runs/fine/review?detector=no_such").status, 400);
  EXPECT_EQ(remove("/v1/runs/fine/review?detector=false_success").status, 204);
  ASSERT_EQ(post("/v1/ingest/events", {{"runId", "open"}, {"events", {{{"type", "tool_call"}, {"name", "a"}}}}}).status, 202);
  EXPECT_EQ(post("/v1/runs/open/review", {{"verdict", "clean"}, {"detector", "false_success"}}).status, 409);
}

TEST_F(Reviews, ARunIsReviewedForWhatWasNotFound) {
  ingest(refund_run("fine", false));
  const auto said_of = [](const json& run, const std::string& key) {
    for (const json& one : run["detectors"]) {
      if (one["key"] == key) return one.value("review", json());
    }
    return json("no such detector");
  };
  const HttpAnswer answer =
      post("/v1/runs/fine/review", {{"detector", "schema_ghost"}, {"verdict", "missed"}, {"note", "it made the total up"}});
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json run = json::parse(answer.body);
  EXPECT_EQ(run["runId"], "fine");
  EXPECT_EQ(said_of(run, "schema_ghost")["verdict"], "missed");
  EXPECT_EQ(said_of(run, "schema_ghost")["note"], "it made the total up");
  EXPECT_TRUE(said_of(run, "false_success").is_null());
  ASSERT_EQ(post("/v1/runs/fine/review", {{"detector", "false_success"}, {"verdict", "clean"}}).status, 200);
  EXPECT_EQ(said_of(get("/v1/runs/fine"), "false_success")["verdict"], "clean");
  EXPECT_EQ(detector("schema_ghost")["reviews"]["missed"], 1);
  EXPECT_EQ(remove("/v1/runs/fine/review?detector=").status, 400) << "a name that a script failed to set withdraws nothing";
  EXPECT_EQ(said_of(get("/v1/runs/fine"), "schema_ghost")["verdict"], "missed");
  EXPECT_EQ(remove("/v1/runs/fine/review?detector=schema_ghost").status, 204);
  EXPECT_TRUE(said_of(get("/v1/runs/fine"), "schema_ghost").is_null());
  EXPECT_EQ(detector("schema_ghost")["reviews"]["missed"], 0);
  EXPECT_EQ(remove("/v1/runs/fine/review").status, 204);
  EXPECT_TRUE(said_of(get("/v1/runs/fine"), "false_success").is_null());
  EXPECT_THAT(get("/v1/runs/fine/review/history")["items"], SizeIs(4));
}

TEST_F(Reviews, IdempotencyKey_IsTakenAsForTriage) {
  const json failure = ingest(refund_run("r1"));
  const std::string path = path_of(failure) + "/review";
  const std::string field = "Idempotency-Key: a\r\n";
  const HttpAnswer first = post(path, {{"verdict", "right"}}, field);
  EXPECT_EQ(first.status, 200);
  const HttpAnswer again = post(path, {{"verdict", "right"}}, field);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(post(path, {{"verdict", "unsure"}}, field).status, 409);
  EXPECT_THAT(get(path + "/history")["items"], SizeIs(1));
  const json other = ingest(refund_run("r2"));
  EXPECT_EQ(post(path_of(other) + "/review", {{"verdict", "unsure"}}, field).status, 200) << "the key is of that path";
}

TEST_F(Reviews, RequestThatIsRepeatedAfterAnother_GivesTheFirstAnswerAgain) {
  const json failure = ingest(refund_run("r1"));
  ingest(refund_run("fine", false));
  struct Case {
    std::string path;
    json first;
    json then;
  };
  for (const Case& one : {Case{path_of(failure) + "/review", {{"verdict", "right"}, {"note", "it was"}}, {{"verdict", "unsure"}}},
                          Case{"/v1/runs/fine/review",
                               {{"detector", "false_success"}, {"verdict", "missed"}},
                               {{"detector", "false_success"}, {"verdict", "clean"}}}}) {
    const HttpAnswer first = post(one.path, one.first, "Idempotency-Key: a\r\n");
    ASSERT_EQ(first.status, 200) << first.body;
    EXPECT_NE(post(one.path, one.then).body, first.body);
    const HttpAnswer again = post(one.path, one.first, "Idempotency-Key: a\r\n");
    EXPECT_EQ(again.status, 200);
    EXPECT_EQ(again.body, first.body);
    EXPECT_THAT(get(one.path + "/history")["items"], SizeIs(2)) << "nothing was stored";
    EXPECT_EQ(remove(one.path).status, 204);
    EXPECT_EQ(post(one.path, one.first, "Idempotency-Key: a\r\n").body, first.body);
  }
  const std::string path = "/v1/clusters/" + group()["clusterId"].get<std::string>() + "/triage";
  for (const std::string action : {"resolve", "reopen", "ignore"}) {
    const auto decide = [&] { return json::parse(post(path, {{"action", action}}, "Idempotency-Key: " + action + "\r\n").body); };
    const json first = decide();
    EXPECT_EQ(post(path, {{"action", action == "ignore" ? "resolve" : "ignore"}}).status, 200);
    const json again = decide();
    EXPECT_EQ(again["state"], first["state"]);
    EXPECT_EQ(again["stateSince"], first["stateSince"]);
    EXPECT_NE(group()["state"], first["state"]);
  }
}

TEST_F(Reviews, FalseAlarms_LeaveTheGroup_WhichIsIgnoredByItself_AndReturns) {
  const json one = ingest(refund_run("r1"));
  const json two = ingest(refund_run("r2"));
  ingest(refund_run("fine", false));
  EXPECT_EQ(group()["count"], 2);
  review(one, "false_alarm");
  EXPECT_EQ(group()["count"], 1);
  EXPECT_EQ(group()["window"]["failures"], 1);
  EXPECT_EQ(group()["window"]["affectedRuns"], 1);
  EXPECT_EQ(get("/v1/clusters")["totals"]["failures"], 1);
  EXPECT_EQ(get(path_of(two) + "/investigation")["fingerprint"]["count"], 1);
  EXPECT_THAT(get("/v1/failures")["items"], SizeIs(2)) << "it stays listed";
  EXPECT_THAT(get("/v1/failures?review=false_alarm")["items"], SizeIs(1));
  EXPECT_EQ(get("/v1/failures?review=none")["items"].at(0)["failureId"], two["failureId"]);
  EXPECT_FALSE(group().contains("reason"));
  review(two, "false_alarm");
  EXPECT_EQ(group()["state"], "ignored");
  EXPECT_EQ(group()["reason"], "false_alarms");
  EXPECT_THAT(get("/v1/clusters")["items"], IsEmpty());
  const std::string path = "/v1/clusters/" + group()["clusterId"].get<std::string>();
  const json entry = get(path + "/history")["items"].at(0);
  EXPECT_EQ(entry["action"], "ignore");
  EXPECT_EQ(entry["reason"], "false_alarms");
  EXPECT_EQ(entry["author"], "runwarden");
  ingest(refund_run("r3"));
  EXPECT_EQ(group()["state"], "ignored") << "its summary is one of theirs";
  EXPECT_EQ(remove(path_of(two) + "/review").status, 204);
  EXPECT_EQ(group()["state"], "ongoing");
  EXPECT_EQ(group()["count"], 2);
  EXPECT_FALSE(group().contains("reason"));
}

class ReviewsRestarted : public Reviews {
 protected:
  // Eight of nine that were looked at are right, and one run has one that was not found.
  void fill() {
    std::vector<json> failures;
    for (int i = 0; i < 11; ++i)
      failures.push_back(ingest(refund_run("r" + std::to_string(i), true, "issue_refund_" + std::to_string(i % 3))));
    for (int i = 0; i < 9; ++i)
      review(failures[static_cast<std::size_t>(i)], i == 4 ? "false_alarm" : "right", i == 4 ? "a test order" : "");
    review(failures[9], "unsure");
    ingest(refund_run("missed", false));
    ASSERT_EQ(post("/v1/runs/missed/review", {{"detector", "false_success"}, {"verdict", "missed"}}).status, 200);
    ingest(refund_run("clean", false));
    ASSERT_EQ(post("/v1/runs/clean/review", {{"detector", "false_success"}, {"verdict", "clean"}}).status, 200);
  }
  void expect_counted() {
    const json reviews = detector("false_success")["reviews"];
    EXPECT_EQ(reviews["window"], "90d");
    EXPECT_EQ(reviews["right"], 8);
    EXPECT_EQ(reviews["falseAlarm"], 1);
    EXPECT_EQ(reviews["missed"], 1);
    // Wilson's interval of 8 of 9 (Wilson 1927), by hand.
    const double n = 9, p = 8.0 / 9, z = 1.959963984540054;
    const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    EXPECT_NEAR(reviews["precision"]["value"].get<double>(), p, 1e-9);
    EXPECT_NEAR(reviews["precision"]["low"].get<double>(), middle - half, 1e-6);
    EXPECT_NEAR(reviews["precision"]["high"].get<double>(), middle + half, 1e-6);
    ASSERT_THAT(reviews["byVersion"], SizeIs(1));
    const json provenance = detector("false_success")["provenance"];
    EXPECT_EQ(reviews["byVersion"][0]["detectorVersion"], provenance["detectorVersion"]);
    EXPECT_EQ(reviews["byVersion"][0]["settingsHash"], provenance["settingsHash"]);
    EXPECT_EQ(reviews["byVersion"][0]["right"], 8);
    EXPECT_TRUE(detector("schema_ghost")["reviews"]["precision"].is_null());
  }
};

TEST_F(ReviewsRestarted, DetectorsAreScored_TheSameAfterKill9) {
  fill();
  expect_counted();
  service_.kill_hard();
  service_.start();
  expect_counted();
}

TEST_F(ReviewsRestarted, ExportedCorpus_ScoresToTheSameFigures) {
  fill();
  TempFolder folder;
  const std::string out = (folder.path() / "corpus").string();
  const CommandResult exported = service_.cli({"corpus", "export", "--tenant", "acme", "--output", out});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(exported.out, HasSubstr("exported 12 reviewed runs"));
  std::ifstream labels(out + "/labels.jsonl");
  std::map<std::string, json> by_id;
  for (std::string line; std::getline(labels, line);) by_id[json::parse(line)["id"]] = json::parse(line);
  ASSERT_EQ(by_id.size(), 12U);
  EXPECT_EQ(by_id["r0"]["labels"]["false_success"], "present");
  EXPECT_EQ(by_id["r4"]["labels"]["false_success"], "absent");
  EXPECT_EQ(by_id["r4"]["why"]["false_success"], "a test order");
  EXPECT_EQ(by_id["r9"]["labels"]["false_success"], "unclear");
  EXPECT_EQ(by_id["missed"]["labels"]["false_success"], "present");
  EXPECT_EQ(by_id["clean"]["labels"]["false_success"], "absent");
  EXPECT_EQ(by_id["r0"]["labels"]["schema_ghost"], "unclear");
  EXPECT_EQ(by_id.count("r10"), 0U) << "nobody looked at it";
  const CommandResult scored = service_.cli({"score", "--runs", out + "/runs.jsonl", "--labels", out + "/labels.jsonl", "--json"});
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  const json reviews = detector("false_success")["reviews"];
  json score;
  const json scores = json::parse(scored.out);
  for (const json& one : scores["detectors"]) {
    if (one["key"] == "false_success") score = one;
  }
  EXPECT_EQ(score["right"], reviews["right"]) << scored.out;
  EXPECT_EQ(score["falseAlarm"], reviews["falseAlarm"]) << scored.out;
  EXPECT_EQ(score["missed"], reviews["missed"]) << scored.out;
  EXPECT_NEAR(score["precision"]["value"].get<double>(), reviews["precision"]["value"].get<double>(), 1e-12);
  EXPECT_NEAR(score["precision"]["low"].get<double>(), reviews["precision"]["low"].get<double>(), 1e-12);
  EXPECT_NEAR(score["precision"]["high"].get<double>(), reviews["precision"]["high"].get<double>(), 1e-12);
}

TEST_F(ReviewsRestarted, ReviewsGoThroughExportAndImport_AndAreCountedInMetrics) {
  fill();
  // The gauges are sampled at intervals, so a sample may have been taken while the reviews were still being posted.
  const auto all_are_drawn = AllOf(HasSubstr("runwarden_reviews_total{detector=\"false_success\",verdict=\"right\"} 8\n"),
                                   HasSubstr("runwarden_detector_reviews{detector=\"false_success\",verdict=\"missed\"} 1\n"),
                                   HasSubstr("runwarden_detector_precision{detector=\"false_success\"} 0.88"),
                                   HasSubstr("runwarden_detector_precision_low{detector=\"false_success\"} 0.56"));
  std::string metrics;
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20); std::chrono::steady_clock::now() < end;) {
    metrics = service_.get("/metrics", {}).body;
    if (::testing::Value(metrics, all_are_drawn)) break;
  }
  EXPECT_THAT(metrics, all_are_drawn);
  TempFolder folder;
  const std::string file = (folder.path() / "acme.ndjson").string();
  ASSERT_EQ(service_.cli({"export", "--tenant", "acme", "--output", file}).exit_code, 0);
  const json before = get("/v1/failures?limit=100");
  ServiceProcess other;
  other.stop();
  const CommandResult imported = other.cli({"import", file});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_THAT(imported.out, HasSubstr("review"));
  EXPECT_EQ(other.cli({"verify"}).exit_code, 0);
  other.start();
  const std::string key = other.make_key("acme", "read");
  EXPECT_EQ(json::parse(other.get("/v1/failures?limit=100", key).body)["items"], before["items"]);
  const json there = json::parse(other.get("/v1/detectors", key).body);
  for (const json& one : there["items"]) {
    EXPECT_EQ(one["reviews"], detector(one["key"])["reviews"]);
  }
}

class ReviewsRedacted : public Reviews {
 protected:
  static ServiceProcess::Options options() {
    ServiceProcess::Options options;
    options.yaml = "redact: {rules: [{kind: email}]}\n";
    return options;
  }
  ReviewsRedacted() : Reviews(options()) {}
};

TEST_F(ReviewsRedacted, NotesAreRedactedBeforeTheyAreKept) {
  const json failure = ingest(refund_run("r1"));
  const std::string note = review(failure, "right", "ask zoe@example.org")["review"]["note"];
  EXPECT_EQ(note, "ask [redacted:email]");
  EXPECT_THAT(get(path_of(failure) + "/review/history").dump(), ::testing::Not(HasSubstr("zoe@example.org")));
}

class ReviewsTold : public Reviews {
 protected:
  static ServiceProcess::Options options() {
    ServiceProcess::Options options;
    options.yaml = "webhooks: {allow: [127.0.0.1], allow_http: true, retry: [1s, 1s, 1s, 1s], timeout: 2s}\n";
    return options;
  }
  ReviewsTold() : Reviews(options()) {}
};

TEST_F(ReviewsTold, AFalseAlarm_IsNotToldAfterwards) {
  std::atomic<bool> takes{false};
  WebhookReceiver receiver(
      [&](const ReceivedMessage&, std::size_t) { return WebhookReceiver::Answer{.status = takes ? 204 : 503, .fields = {}, .body = {}}; });
  const json added = json::parse(post("/v1/webhooks", {{"url", receiver.url("/hook")}, {"events", {"failure.created"}}}).body);
  const json alarm = ingest(refund_run("r1"));
  ASSERT_EQ(receiver.wait_for("/hook", 1).size(), 1U) << "it was told before anybody looked at it";
  review(alarm, "false_alarm");
  const std::string path = "/v1/webhooks/" + added["endpointId"].get<std::string>() + "/deliveries";
  json left;
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20); std::chrono::steady_clock::now() < end;) {
    left = get(path)["items"];
    if (left.empty()) break;
  }
  EXPECT_THAT(left, IsEmpty()) << "its retry was dropped";
  const std::size_t before = receiver.wait_for("/hook", 1).size();
  takes = true;
  const json other = ingest(refund_run("r2", true, "another_tool"));
  const auto came = receiver.wait_for("/hook", before + 1);
  const bool told = std::any_of(came.begin(), came.end(), [&](const ReceivedMessage& one) {
    return json::parse(one.body)["data"]["failure"]["failureId"] == other["failureId"];
  });
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace runwarden::test
