#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;

std::string lines_request(const std::string& key, const std::string& body, const std::string& fields = {}) {
  return "POST /v1/ingest/runs HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-ndjson\r\nAuthorization: Bearer " + key + "\r\n" +
         fields + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

class BatchOfRuns : public testing::Test {
 protected:
  BatchOfRuns()
      : service_({.yaml = {},
                  .server = {},
                  .limits = "{max_batch_runs: 50, max_body_bytes: 100KiB}",
                  .store = {},
                  .binary = {},
                  .environment = {}}) {}

  json results(const std::string& body, const std::string& fields = {}) {
    const HttpAnswer answer = service_.request(lines_request(key_, body, fields));
    EXPECT_EQ(answer.status, 200) << answer.body;
    return json::parse(answer.body);
  }

  ServiceProcess service_;
  std::string key_ = service_.make_key();
};

TEST_F(BatchOfRuns, EachLineHasItsWarnings) {
  const std::string lines =
      "{\"runId\":\"a\",\"user_request\":1}\n{\"runId\":\"b\"}\n{\"sucess\":1,\"success\":2}\n{\"runId\":\"c\",\"sucess\":true}\n";
  const json answer = results(lines);
  EXPECT_EQ(answer["warned"], 2);
  EXPECT_EQ(answer["results"][0]["warnings"][0]["pointer"], "/user_request");
  EXPECT_FALSE(answer["results"][1].contains("warnings"));
  EXPECT_FALSE(answer["results"][2].contains("warnings")) << "it was refused";
  EXPECT_EQ(answer["results"][3]["warnings"][0]["pointer"], "/sucess");
  EXPECT_EQ(results(lines)["results"][0]["warnings"], answer["results"][0]["warnings"]);
  EXPECT_FALSE(results("{\"runId\":\"b\"}\n").contains("warned"));
}

TEST_F(BatchOfRuns, OneIdempotencyKey_DoesNotStandForALineAndAnotherRun) {
  const auto post = [&](const std::string& run, const std::string& key) {
    return service_.post("/v1/ingest/runs", key_, run, "Idempotency-Key: " + key + "\r\n").status;
  };
  const auto line = [&](const std::string& run, const std::string& key) {
    return results(run + "\n", "Idempotency-Key: " + key + "\r\n")["results"][0]["status"].get<int>();
  };
  EXPECT_EQ(post(R"({"mine":1})", "run-first"), 201);
  EXPECT_EQ(line(R"({"mine":2})", "run-first"), 409);
  EXPECT_EQ(line(R"({"mine":1})", "run-first"), 200);
  EXPECT_EQ(line(R"({"mine":1})", "line-first"), 201);
  EXPECT_EQ(post(R"({"mine":2})", "line-first"), 409);
  EXPECT_EQ(post(R"({"mine":1})", "line-first"), 200);
}

TEST_F(BatchOfRuns, AnIdempotencyKeyOfRunsThatAreKnownByTheirRunIds_IsRememberedForEachLine) {
  const auto statuses = [&](const std::string& lines) {
    std::vector<int> found;
    const json answer = results(lines, "Idempotency-Key: known-lines\r\n");
    for (const json& one : answer["results"]) found.push_back(one["status"]);
    return found;
  };
  const std::string known = "{\"runId\":\"a\"}\n{\"runId\":\"b\"}\n";
  EXPECT_EQ(results(known)["accepted"], 2);
  EXPECT_EQ(statuses(known), (std::vector{200, 200}));
  EXPECT_EQ(statuses("{\"runId\":\"a\"}\n{\"runId\":\"c\"}\n"), (std::vector{200, 409}));
}

TEST(BatchWarnings, OfManyLines_TheFirstHundredTellTheirs) {
  ServiceProcess service;
  const std::string key = service.make_key();
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "{\"runId\":\"w" + std::to_string(i) + "\",\"user_request\":1}\n";
  for (int round = 0; round < 2; ++round) {
    const json answer = json::parse(service.request(lines_request(key, lines)).body);
    EXPECT_EQ(answer["accepted"], 1000);
    EXPECT_EQ(answer["warned"], 1000);
    for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(answer["results"][i].contains("warnings"), i < 100) << i;
  }
}

TEST_F(BatchOfRuns, GoodLinesAreStoredThoughOthersAreBad) {
  const json answer = results(
      "{\"runId\":\"a\"}\n\r\n{\"success\":1}\n{oops\n{\"runId\":\"a\"}\r\n{\"runId\":\"a\",\"x\":1}\n"
      "{\"runId\":\"z\",\"success\":true,\"outcomeSummary\":\"The refund is "
      "done.\",\"steps\":[{\"stepKind\":\"tool\",\"status\":\"failed\",\"stepName\":\"issue_refund\"}]}");
  EXPECT_EQ(answer["accepted"], 3);
  EXPECT_EQ(answer["rejected"], 3);
  std::vector<std::pair<int, int>> lines;
  for (const json& result : answer["results"]) lines.emplace_back(result["line"], result["status"]);
  EXPECT_EQ(lines, (std::vector<std::pair<int, int>>{{1, 201}, {3, 422}, {4, 400}, {5, 200}, {6, 409}, {7, 201}})) << answer.dump(1);
  EXPECT_EQ(answer["results"][1]["errors"][0]["pointer"], "/success");
  EXPECT_EQ(answer["results"][5]["failures"][0]["detectorKey"], "false_success");
  EXPECT_EQ(service_.get("/v1/runs/z", key_).status, 200);
}

TEST_F(BatchOfRuns, AnEmptyBody_IsAnEmptyBatch) {
  EXPECT_EQ(results("")["results"], json::array());
  EXPECT_EQ(results("\n \n")["accepted"], 0);
}

TEST_F(BatchOfRuns, TooManyRuns_AreRefusedAndNothingIsStored) {
  std::string body;
  for (int i = 0; i < 51; ++i) body += "{\"runId\":\"n" + std::to_string(i) + "\"}\n";
  const HttpAnswer answer = service_.request(lines_request(key_, body));
  EXPECT_EQ(answer.status, 413);
  EXPECT_NE(answer.body.find("limits.max_batch_runs (50)"), std::string::npos) << answer.body;
  EXPECT_EQ(service_.get("/v1/runs/n0", key_).status, 404);
}

TEST(LargeBatch, IsToldToSendFewerLines) {
  ServiceProcess service({.yaml = {},
                          .server = {},
                          .limits = "{max_body_bytes: 1KiB, max_batch_bytes: 4KiB}",
                          .store = {},
                          .binary = {},
                          .environment = {}});
  std::string body;
  for (int i = 0; i < 500; ++i) body += "{\"runId\":\"n" + std::to_string(i) + "\"}\n";
  const HttpAnswer answer = service.request(lines_request(service.make_key(), body));
  EXPECT_EQ(answer.status, 413);
  EXPECT_NE(answer.body.find("limits.max_batch_bytes (4096 bytes, decoded); send fewer lines in one request, or raise the limit"), std::string::npos)
      << answer.body;
}

TEST_F(BatchOfRuns, AnOverLongLine_IsNamed_AndNothingIsStored) {
  const std::string body = "{\"runId\":\"before\"}\n\n{\"x\":\"" + std::string(110 << 10, 'x') + "\"}\n{\"runId\":\"after\"}\n";
  const HttpAnswer answer = service_.request(lines_request(key_, body));
  EXPECT_EQ(answer.status, 413);
  EXPECT_NE(answer.body.find("line 3 is larger than limits.max_body_bytes (102400)"), std::string::npos) << answer.body;
  EXPECT_EQ(service_.get("/v1/runs/before", key_).status, 404);
  EXPECT_EQ(service_.get("/v1/runs/after", key_).status, 404);
}

TEST_F(BatchOfRuns, ABatchBrokenOff_CanBeSentAgainUnderItsKey) {
  const std::string field = "Idempotency-Key: batch-1\r\n";
  const json half = results("{\"a\":1}\n{\"a\":2}\n", field);
  const json whole = results("{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n", field);
  EXPECT_EQ(whole["accepted"], 3);
  EXPECT_EQ(whole["results"][0]["status"], 200);
  EXPECT_EQ(whole["results"][0]["runId"], half["results"][0]["runId"]);
  EXPECT_EQ(whole["results"][2]["status"], 201);
  EXPECT_EQ(results("{\"a\":9}\n", field)["results"][0]["status"], 409);
}

// As ServiceProcess::request, but with time for a large batch under a sanitizer on a busy machine.
HttpAnswer patient_request(const ServiceProcess& service, const std::string& bytes) {
  HttpClient client = HttpClient::to(service.port(), 120'000);
  return client.send(bytes) ? client.answer().value_or(HttpAnswer{}) : HttpAnswer{};
}

TEST(LargeBatch, MoreLinesThanTheQueueToTheStoreHolds_AreAllStored) {
  ServiceProcess service;
  const std::string key = service.make_key();
  std::string body;
  for (int i = 0; i < 12'000; ++i) body += "{}\n";
  const json answer = json::parse(patient_request(service, lines_request(key, body)).body);
  EXPECT_EQ(answer["accepted"], 12'000);
  EXPECT_EQ(answer["rejected"], 0);
}

TEST(LargeBatch, OneRunMoreThanTheDefaultLimit_IsRefusedWhole) {
  ServiceProcess service;
  const std::string key = service.make_key();
  std::string body = "{\"runId\":\"first\"}\n";
  for (int i = 0; i < 100'000; ++i) body += "{\"metadata\":{}}\n";
  EXPECT_EQ(patient_request(service, lines_request(key, body)).status, 413);
  EXPECT_EQ(service.get("/v1/runs/first", key).status, 404);
}

TEST(LargeBatch, OfTwoLinesWithOneRunId_TheFirstIsTheFirst) {
  ServiceProcess service;
  const std::string key = service.make_key();
  for (int round = 0; round < 10; ++round) {
    std::string body = "{}\n";
    for (int i = 0; i < 500; ++i) {
      const std::string id = std::to_string(round) + "-" + std::to_string(i);
      body += "{\"runId\":\"" + id + "\"}\n{\"runId\":\"" + id + "\",\"success\":true}\n";
    }
    const json answer = json::parse(patient_request(service, lines_request(key, body)).body);
    ASSERT_EQ(answer["accepted"], 501);
    for (int line = 1; line < 1001; ++line) ASSERT_EQ(answer["results"][line]["status"], line % 2 == 1 ? 201 : 409) << line;
  }
}

TEST(LargeBatch, OfNothingButOneRunId_IsStoredOnce) {
  ServiceProcess service;
  const std::string key = service.make_key();
  std::string body;
  for (int i = 0; i < 10'000; ++i) body += "{\"runId\":\"always-the-same\"}\n";
  const json answer = json::parse(patient_request(service, lines_request(key, body)).body);
  EXPECT_EQ(answer["accepted"], 10'000);
  EXPECT_EQ(answer["results"][0]["status"], 201);
  EXPECT_EQ(answer["results"][9'999]["status"], 200);
}

TEST(LargeBatch, ManyAtOnce_AreAllStored) {
  ServiceProcess service;
  const std::string key = service.make_key();
  std::string body;
  for (int i = 0; i < 900; ++i) {
    body += R"({"success":true,"outcomeSummary":"It is done.","steps":[{"stepKind":"tool","stepName":"t","status":"failed"}]})";
    body += '\n';
  }
  const std::string request = lines_request(key, body);
  std::vector<int> accepted(12, -1);
  std::vector<std::thread> clients;
  for (int& one : accepted) clients.emplace_back([&] { one = json::parse(patient_request(service, request).body)["accepted"]; });
  for (auto& client : clients) client.join();
  for (const int one : accepted) EXPECT_EQ(one, 900);
}

}  // namespace
}  // namespace runwarden::test
