// Lists, changes, policies and the investigation, over real HTTP: the second half of the README.
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "base/time_text.h"
#include "support/get_json.h"
#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;

std::string failing_refund(const std::string& id) {
  return json{
      {"runId", id},
      {"userRequestText", "Refund order 8842"},
      {"success", true},
      {"outcomeSummary", "Your refund has been processed."},
      {"steps",
       {{{"stepKind", "tool"}, {"stepName", "issue_refund"}, {"status", "failed"}, {"errorMessage", "502 Bad Gateway on host 17"}}}}}
      .dump();
}

class Reading : public testing::Test {
 protected:
  ServiceProcess service_;
  std::string key_ = service_.make_key("acme");
  std::string other_key_ = service_.make_key("globex");

  HttpAnswer post(const std::string& what, const json& body, const std::string& fields = {}) {
    return service_.post("/v1/ingest/" + what, key_, body.dump(), fields);
  }
  json get(const std::string& path) { return get_json(service_, path, key_); }
  int status(const std::string& path) { return service_.get(path, key_).status; }
};

TEST_F(Reading, AList_IsWalkedByItsCursor_EachRecordOnce) {
  std::set<std::string> wanted;
  for (int i = 0; i < 25; ++i) {
    wanted.insert("r" + std::to_string(i));
    ASSERT_EQ(service_.post("/v1/ingest/runs", key_, failing_refund("r" + std::to_string(i))).status, 201);
  }
  std::multiset<std::string> seen;
  std::string cursor;
  for (int page = 0; page < 10; ++page) {
    const json list = get("/v1/runs?limit=10" + (cursor.empty() ? "" : "&cursor=" + cursor));
    for (const json& run : list["items"]) seen.insert(run["runId"]);
    ASSERT_EQ(service_.post("/v1/ingest/runs", key_, failing_refund("new" + std::to_string(page))).status, 201);  // arrives meanwhile
    if (list["nextCursor"].is_null()) break;
    cursor = list["nextCursor"];
  }
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()), wanted);
  EXPECT_EQ(seen.size(), wanted.size());
  EXPECT_EQ(status("/v1/failures?limit=10&cursor=" + cursor), 400) << "a cursor belongs to its list";
  EXPECT_EQ(status("/v1/runs?limit=10&detector=false_success&cursor=" + cursor), 400) << "and to its query";
  EXPECT_EQ(service_.get("/v1/runs?limit=10&cursor=" + cursor, other_key_).status, 400) << "and to its tenant";
  std::string forged = cursor;
  forged[3] = forged[3] == 'A' ? 'B' : 'A';
  EXPECT_EQ(status("/v1/runs?limit=10&cursor=" + forged), 400);
  EXPECT_EQ(status("/v1/runs?cursor=x"), 400);
  service_.kill_hard();
  service_.start();
  EXPECT_EQ(status("/v1/runs?limit=10&cursor=" + cursor), 200) << "a walk goes on after a restart";
}

TEST_F(Reading, Filters) {
  ASSERT_EQ(service_.post("/v1/ingest/runs", key_, failing_refund("bad")).status, 201);
  ASSERT_EQ(service_.post("/v1/ingest/runs", key_, R"({"runId":"good"})").status, 201);
  ASSERT_EQ(post("events", {{"runId", "open"}, {"events", json::array()}}).status, 202);
  const auto count = [this](const std::string& query) { return get(query)["items"].size(); };
  EXPECT_EQ(count("/v1/runs"), 3u);
  EXPECT_EQ(count("/v1/runs?detector=false_success"), 1u);
  EXPECT_EQ(count("/v1/runs?detector=schema_ghost"), 0u);
  EXPECT_EQ(count("/v1/runs?minScore=95"), 1u);
  EXPECT_EQ(count("/v1/runs?minScore=96"), 0u);
  EXPECT_EQ(count("/v1/runs?minScore=0"), 1u) << "the others have no failure";
  EXPECT_EQ(count("/v1/runs?detector=false_success&minScore=95"), 1u);
  EXPECT_EQ(count("/v1/runs?detector=false_success&minScore=96"), 0u);
  EXPECT_EQ(count("/v1/runs?state=open"), 1u);
  EXPECT_EQ(count("/v1/runs?state=resolved"), 2u);
  EXPECT_EQ(count("/v1/runs?since=2100-01-01T00:00:00Z"), 0u);
  EXPECT_EQ(count("/v1/runs?until=2100-01-01T00:00:00%2B02:00"), 3u);
  EXPECT_EQ(count("/v1/failures?severity=high&detector=false_success&minScore=95"), 1u);
  EXPECT_EQ(count("/v1/failures?severity=low"), 0u);
  EXPECT_EQ(service_.get("/v1/failures", other_key_).body, R"({"items":[],"nextCursor":null})");
  for (const char* bad : {"/v1/runs?limit=0", "/v1/runs?limit=1001", "/v1/runs?limit=x", "/v1/runs?state=closed", "/v1/runs?minScore=101",
                          "/v1/runs?since=today", "/v1/failures?severity=urgent", "/v1/runs?detectr=x", "/v1/runs?limit=1&limit=2",
                          "/v1/runs?detector=", "/v1/failures?fingerprint",
                          "/v1/changes?kind=", "/v1/policies?policy=", "/v1/clusters?detector=", "/v1/timeline?detector="}) {
    EXPECT_EQ(status(bad), 400) << bad;
  }
}

TEST_F(Reading, AnyTag_IsNotModifiedOnlyIfThereIsAnAnswer) {
  ASSERT_EQ(service_.post("/v1/ingest/runs", key_, R"({"runId":"here"})").status, 201);
  const auto status_of = [this](const std::string& path) {
    return service_.request("GET " + path + " HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer " + key_ + "\r\nIf-None-Match: *\r\n\r\n")
        .status;
  };
  EXPECT_EQ(status_of("/v1/runs/here"), 304);
  EXPECT_EQ(status_of("/v1/runs"), 304);
  EXPECT_EQ(status_of("/v1/runs/gone"), 404);
  EXPECT_EQ(status_of("/v1/runs?limit=0"), 400);
}

TEST_F(Reading, ATag_IsNoneOfAnotherRequest_SoThatItsFaultIsShown) {
  ASSERT_EQ(service_.post("/v1/ingest/runs", key_, R"({"runId":"here"})").status, 201);
  const auto status_of = [this](const std::string& path, const std::string& tag) {
    return service_
        .request("GET " + path + " HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer " + key_ + "\r\nIf-None-Match: " + tag + "\r\n\r\n")
        .status;
  };
  for (const char* known : {"/v1/clusters", "/v1/runs", "/v1/runs/here?view=head", "/v1/clusters?window=7d&limit=3"}) {
    int again = 0;
    std::string tag;
    for (int tries = 0; tries < 3 && again != 304; ++tries) {  // a minute may end in between
      tag = service_.get(known, key_).header("etag");
      again = status_of(known, tag);
    }
    EXPECT_EQ(again, 304) << known;
    for (const char* none : {"/v1/runs/no-such-run", "/v1/clusters/cl_00000000000000000000", "/v1/clusters/cl_00000000000000000000/history",
                             "/v1/clusters/cl_00000000000000000000/differences"}) {
      EXPECT_EQ(status_of(none, tag), 404) << none;
    }
    for (const char* wrong : {"/v1/clusters?window=2h", "/v1/runs?limit=0", "/v1/tail?after=forged", "/v1/timeline?buckets=0", "/v1/baseline",
                              "/v1/dimensions?window=1h", "/v1/runs/here?view=tail"}) {
      EXPECT_EQ(status_of(wrong, tag), 400) << wrong;
    }
  }
}

TEST_F(Reading, AWindowThatBeginsBehindTheLastFailure_CountsNone) {
  ASSERT_EQ(service_.post("/v1/ingest/runs", key_, failing_refund("bad")).status, 201);
  const auto at_ms = parse_time(get("/v1/failures")["items"][0]["detectedAt"].get<std::string>());
  ASSERT_TRUE(at_ms);
  const auto window = [&](std::int64_t from_ms) { return "?from=" + format_time(from_ms) + "&until=" + format_time(*at_ms + 1000); };
  EXPECT_EQ(get("/v1/clusters" + window(*at_ms))["totals"]["failures"], 1);
  const json totals = get("/v1/clusters" + window(*at_ms + 1))["totals"];
  EXPECT_EQ(totals["failures"], 0) << totals;
  EXPECT_EQ(totals["runs"], 0);
}

TEST_F(Reading, ATimeline_CountsNothingBesideItsSpan) {
  ASSERT_EQ(service_.post("/v1/ingest/runs", key_, failing_refund("bad")).status, 201);
  const auto at_ms = parse_time(get("/v1/failures")["items"][0]["detectedAt"].get<std::string>());
  ASSERT_TRUE(at_ms);
  const auto failures = [&](std::int64_t from_ms, std::int64_t until_ms) {
    int count = 0;
    const json line = get("/v1/timeline?buckets=1&from=" + format_time(from_ms) + "&until=" + format_time(until_ms));
    for (const json& bucket : line["buckets"]) count += bucket["failures"].get<int>();
    return count;
  };
  EXPECT_EQ(failures(*at_ms, *at_ms + 1), 1);
  EXPECT_EQ(failures(*at_ms - 2000, *at_ms), 0);
  EXPECT_EQ(failures(*at_ms + 1, *at_ms + 2000), 0);
}

TEST_F(Reading, TheFailuresOfOneRun) {
  for (const char* id : {"first", "a/b c", "last"}) ASSERT_EQ(service_.post("/v1/ingest/runs", key_, failing_refund(id)).status, 201);
  const json all = get("/v1/failures");
  const json of_one = get("/v1/failures?runId=a%2Fb%20c");
  ASSERT_EQ(of_one["items"].size(), 1u);
  EXPECT_EQ(of_one["items"][0], all["items"][1]);
  EXPECT_TRUE(of_one["nextCursor"].is_null());
  EXPECT_EQ(get("/v1/failures?runId=a%2Fb%20c&severity=low")["items"].size(), 0u);
  EXPECT_EQ(get("/v1/failures?runId=unknown")["items"].size(), 0u);
  EXPECT_EQ(json::parse(service_.get("/v1/failures?runId=first", other_key_).body)["items"].size(), 0u);
  EXPECT_EQ(status("/v1/failures?runId="), 400) << "an empty filter would list everything";
  EXPECT_EQ(status("/v1/failures?runId=" + std::string(257, 'x')), 400);
  const std::string cursor = get("/v1/failures?limit=1")["nextCursor"];
  EXPECT_EQ(status("/v1/failures?limit=1&cursor=" + cursor), 200);
  EXPECT_EQ(status("/v1/failures?limit=1&runId=first&cursor=" + cursor), 400) << "a cursor belongs to its query";
}

TEST_F(Reading, Changes) {
  const HttpAnswer made =
      post("changes", {{"kind", "code"}, {"ref", "abc123"}, {"summary", "new refund client"}, {"at", "2026-01-01T00:00:00Z"}, {"mine", 1}});
  ASSERT_EQ(made.status, 201) << made.body;
  const json change = json::parse(made.body);
  EXPECT_TRUE(change["changeId"].get<std::string>().starts_with("change_"));
  EXPECT_EQ(change["at"], "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(change["mine"], 1);
  EXPECT_EQ(post("changes", {{"kind", "Code"}}).status, 422);
  EXPECT_EQ(post("changes", json::object()).status, 422);
  const HttpAnswer keyed = post("changes", {{"kind", "runtime"}}, "Idempotency-Key: c\r\n");
  const HttpAnswer again = post("changes", {{"kind", "runtime"}}, "Idempotency-Key: c\r\n");
  EXPECT_EQ(keyed.status, 201);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, keyed.body);
  const json list = get("/v1/changes");
  ASSERT_EQ(list["items"].size(), 2u);
  EXPECT_EQ(list["items"][0]["kind"], "runtime") << "newest first by `at`";
  EXPECT_EQ(list["items"][1], change);
}

TEST_F(Reading, APolicyRevisionInAnotherSpelling_IsTheSame) {
  const auto spelled = [&](const std::string& content) {
    return service_.post("/v1/ingest/policies", other_key_, R"({"policy":"spelled","revision":"1","content":)" + content + "}").status;
  };
  EXPECT_EQ(spelled(R"({"max":1,"of":["a"]})"), 201);
  EXPECT_EQ(spelled(R"({"of":["\u0061"],"max":1.0})"), 200) << "equal JSON, written differently";
  EXPECT_EQ(spelled(R"({"max":1,"of":["b"]})"), 409);
}

TEST_F(Reading, APolicyWithAnEmptyAuthor_IsOfItsKey) {
  const json unnamed = json::parse(post("policies", {{"policy", "a"}}).body);
  const json empty = json::parse(post("policies", {{"policy", "b"}, {"author", ""}}).body);
  EXPECT_NE(unnamed["author"], "");
  EXPECT_EQ(empty["author"], unnamed["author"]);
}

TEST_F(Reading, Policies) {
  const HttpAnswer first = post("policies", {{"policy", "refunds"}, {"content", {{"max", 100}}}, {"at", "2026-01-01T00:00:00Z"}});
  ASSERT_EQ(first.status, 201) << first.body;
  const json one = json::parse(first.body);
  EXPECT_EQ(one["revision"], "1");
  EXPECT_EQ(one["contentSha256"].get<std::string>().size(), 64u);
  EXPECT_NE(one["author"], "") << "every revision is attributable";
  const json seven = {
      {"policy", "refunds"}, {"revision", "7"}, {"content", {{"max", 200}}}, {"author", "ann"}, {"at", "2026-03-01T00:00:00Z"}};
  ASSERT_EQ(post("policies", seven).status, 201);
  EXPECT_EQ(post("policies", seven).status, 200);
  json other = seven;
  other["content"] = 1;
  EXPECT_EQ(post("policies", other).status, 409);
  const json late = json::parse(post("policies", {{"policy", "refunds"}, {"content", 3}, {"at", "2026-02-01T00:00:00Z"}}).body);
  EXPECT_EQ(late["revision"], "8");

  EXPECT_EQ(get("/v1/policies/refunds?at=2026-02-15T00:00:00Z")["revision"], "8");
  EXPECT_EQ(get("/v1/policies/refunds?at=2026-01-15T00:00:00Z")["revision"], "1");
  EXPECT_EQ(get("/v1/policies/refunds?at=2026-06-01T00:00:00Z")["revision"], "7");
  EXPECT_EQ(get("/v1/policies/refunds?at=2026-06-01T00:00:00+02:00")["revision"], "7") << "though its plus arrives as a space";
  EXPECT_EQ(status("/v1/policies/refunds?at=2025-12-31T23:59:59Z"), 404);
  EXPECT_EQ(status("/v1/policies/unknown"), 404);
  EXPECT_EQ(get("/v1/policies/refunds")["items"].size(), 3u);
  EXPECT_EQ(get("/v1/policies")["items"][0]["revision"], "7");
  const json changes = get("/v1/changes");
  ASSERT_EQ(changes["items"].size(), 3u);
  EXPECT_EQ(changes["items"][0]["kind"], "policy");

  const HttpAnswer run = service_.post("/v1/ingest/runs", key_, R"({"runId":"stamped","startedAt":"2026-01-15T00:00:00Z"})");
  EXPECT_EQ(json::parse(run.body)["policies"], (json{{{"policy", "refunds"}, {"revision", "1"}}}));
}

TEST_F(Reading, TheInvestigation_PointsAtTheChangeBeforeTheRise) {
  for (int i = 0; i < 5; ++i) ASSERT_EQ(service_.post("/v1/ingest/runs", key_, R"({"x":)" + std::to_string(i) + "}").status, 201);
  ASSERT_EQ(post("policies", {{"policy", "refunds"}, {"content", 1}, {"author", "ann"}, {"at", "2026-01-01T00:00:00Z"}}).status, 201);
  ASSERT_EQ(post("changes", {{"kind", "code"}, {"ref", "old"}, {"at", "2026-01-02T00:00:00Z"}}).status, 201);
  const json deploy = json::parse(post("changes", {{"kind", "code"}, {"ref", "today"}, {"summary", "deploy"}}).body);
  json failure;
  for (int i = 0; i < 3; ++i) {
    ::poll(nullptr, 0, 2);  // later than the deploy by the clock's own milliseconds
    failure = json::parse(service_.post("/v1/ingest/runs", key_, failing_refund("f" + std::to_string(i))).body)["failures"][0];
  }
  ASSERT_EQ(post("policies", {{"policy", "late"}, {"content", 1}, {"author", "bob"}, {"at", "2026-01-03T00:00:00Z"}}).status, 201);

  const json found = get("/v1/failures/" + failure["failureId"].get<std::string>() + "/investigation");
  EXPECT_EQ(found["failure"], failure);
  EXPECT_EQ(found["failure"], get("/v1/failures/" + failure["failureId"].get<std::string>()));
  EXPECT_EQ(found["run"]["runId"], "f2");
  EXPECT_EQ(found["run"]["userRequestText"], "Refund order 8842");
  ASSERT_EQ(found["policiesInForce"].size(), 2u) << "a revision that arrived late counts from its `at`";
  EXPECT_EQ(found["policiesInForce"][1]["policy"], "refunds");
  EXPECT_EQ(found["policiesInForce"][1]["author"], "ann");
  EXPECT_EQ(found["changes"][0], deploy);
  EXPECT_EQ(found["fingerprint"]["value"], failure["fingerprint"]);
  EXPECT_EQ(found["fingerprint"]["count"], 3);
  EXPECT_EQ(found["fingerprint"]["runsSeen"], 8);
  ASSERT_TRUE(found["suspectChange"].is_object());
  EXPECT_EQ(found["suspectChange"]["changeId"], deploy["changeId"]);
  EXPECT_EQ(found["suspectChange"]["before"]["failures"], 0);
  EXPECT_EQ(found["suspectChange"]["after"], (json{{"failures", 3}, {"runs", 3}}));
  EXPECT_EQ(status("/v1/failures/fail_0/investigation"), 404);
  EXPECT_EQ(service_.get("/v1/failures/" + failure["failureId"].get<std::string>(), other_key_).status, 404);
}

TEST_F(Reading, TheInvestigation_SaysWhetherRunsCameBeforeTheSuspectChange) {
  const auto suspect_after = [this](const std::string& run_id) {
    const json run = json::parse(service_.post("/v1/ingest/runs", key_, failing_refund(run_id)).body);
    return get("/v1/failures/" + run["failures"][0]["failureId"].get<std::string>() + "/investigation")["suspectChange"];
  };
  ASSERT_EQ(post("changes", {{"kind", "code"}, {"ref", "first"}}).status, 201);
  ::poll(nullptr, 0, 2);  // later than the change by the clock's own milliseconds
  const json first = suspect_after("f1");
  EXPECT_EQ(first["ref"], "first");
  EXPECT_EQ(first["before"]["runs"], 0);
  EXPECT_EQ(first["baseline"], "none");

  const auto begin = std::chrono::system_clock::now();
  for (int i = 0; i < 3; ++i) ASSERT_EQ(service_.post("/v1/ingest/runs", key_, R"({"x":)" + std::to_string(i) + "}").status, 201);
  ::poll(nullptr, 0, 2);
  ASSERT_EQ(post("changes", {{"kind", "code"}, {"ref", "second"}}).status, 201);
  // The window before the change is as long as the one after it: long enough to hold those runs.
  const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now() - begin);
  ::poll(nullptr, 0, static_cast<int>(spent.count()) + 2);
  json second = suspect_after("f2");
  EXPECT_EQ(second["ref"], "second");
  EXPECT_GE(second["before"]["runs"], 3);
  EXPECT_EQ(second["baseline"], "runs");
}

TEST_F(Reading, DetectorsAndTheOpenApi) {
  const json detectors = get("/v1/detectors");
  ASSERT_EQ(detectors["items"].size(), 5u);
  for (const json& one : detectors["items"]) {
    EXPECT_EQ(one["abi"], "1.2");
    EXPECT_EQ(one["enabled"], true);
    EXPECT_TRUE(one["settings"].is_object());
    EXPECT_NE(one["source"], "");
  }
  EXPECT_EQ(get("/v1/openapi.json")["openapi"], "3.1.0");
}

}  // namespace
}  // namespace runwarden::test
