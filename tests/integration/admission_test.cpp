#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "support/service_process.h"
#include "support/wait_until.h"

namespace runwarden::test {
namespace {

using nlohmann::json;

class Admission : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    service_ = new ServiceProcess;
    key_ = service_->make_key("acme");
    ingest_only_ = service_->make_key("acme", "ingest");
    read_only_ = service_->make_key("acme", "read");
  }
  static void TearDownTestSuite() { delete service_; }

  static HttpAnswer send(const std::string& line, const std::string& fields, const std::string& body = {}) {
    return service_->request(line + " HTTP/1.1\r\nHost: test\r\n" + fields +
                             (body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n") + "\r\n" + body);
  }
  static std::string bearer(const std::string& key) { return "Authorization: Bearer " + key + "\r\n"; }

  static inline ServiceProcess* service_ = nullptr;
  static inline std::string key_, ingest_only_, read_only_;
};

const std::string kJson = "Content-Type: application/json\r\n";

TEST_F(Admission, RefusalsComeInTheirOrder) {
  const std::string broken = "{";
  EXPECT_EQ(send("POST /v1/nothing", "", broken).status, 404);
  EXPECT_EQ(send("PUT /v1/ingest/runs", "", broken).status, 405);
  EXPECT_EQ(send("POST /v1/ingest/runs", "", broken).status, 401);
  EXPECT_EQ(send("POST /v1/ingest/runs", bearer(read_only_) + "Content-Type: text/plain\r\n", broken).status, 403);
  EXPECT_EQ(send("POST /v1/ingest/runs", bearer(key_) + "Content-Type: text/plain\r\n", std::string(9 << 20, 'x')).status, 415);
  const auto large = send("POST /v1/ingest/runs", bearer(key_) + kJson, std::string(9 << 20, 'x'));
  EXPECT_EQ(large.status, 413);
  EXPECT_NE(large.body.find("the body exceeds limits.max_body_bytes (8388608 bytes, decoded); send less in one request (a long run can be "
                            "streamed as events), or raise"),
            std::string::npos)
      << large.body;
  const std::string bad_key = "Idempotency-Key: a b\r\n";
  EXPECT_EQ(send("POST /v1/ingest/runs", bearer(key_) + kJson + bad_key, std::string(9 << 20, 'x')).status, 413);
  EXPECT_EQ(send("POST /v1/ingest/runs?a=%zz", bearer(key_) + kJson, std::string(9 << 20, 'x')).status, 413);
  EXPECT_EQ(send("POST /v1/ingest/runs", bearer(key_) + "Content-Type: text/plain\r\n" + bad_key, broken).status, 415);
  EXPECT_EQ(send("POST /v1/ingest/runs", bearer(key_) + kJson + bad_key, "[]").status, 400);
  EXPECT_EQ(send("POST /v1/ingest/runs", bearer(key_) + kJson, broken).status, 400);
  EXPECT_EQ(send("POST /v1/ingest/runs", bearer(key_) + kJson, "[]").status, 422);
}

TEST_F(Admission, AnUnknownMemberOfTheQueryIsRefusedEverywhere) {
  for (const char* route : {"/v1/runs",
                            "/v1/runs/none",
                            "/v1/runs/none/mapping",
                            "/v1/runs/none/explain",
                            "/v1/runs/none/bundle",
                            "/v1/failures",
                            "/v1/failures/none",
                            "/v1/failures/none/investigation",
                            "/v1/changes",
                            "/v1/policies",
                            "/v1/policies/none",
                            "/v1/detectors",
                            "/v1/clusters",
                            "/v1/clusters/none",
                            "/v1/timeline",
                            "/v1/baseline",
                            "/v1/dimensions",
                            "/v1/tail",
                            "/v1/ledger",
                            "/v1/webhooks",
                            "/v1/openapi.json"}) {
    const auto answer = send("GET " + std::string(route) + "?nope=1", bearer(key_));
    EXPECT_EQ(answer.status, 400) << route << answer.body;
    EXPECT_NE(answer.body.find("nope"), std::string::npos) << answer.body;
  }
  for (const char* route : {"/v1/ingest/runs", "/v1/ingest/events", "/v1/ingest/changes", "/v1/ingest/policies", "/v1/analyze"}) {
    EXPECT_EQ(send("POST " + std::string(route) + "?nope=1", bearer(key_) + kJson, "{}").status, 400) << route;
  }
  EXPECT_EQ(send("GET /healthz?nope=1", "").status, 200);
}

TEST_F(Admission, TheListOfDetectorsHasPages) {
  std::vector<std::string> keys;
  std::string cursor;
  do {
    const auto answer = send("GET /v1/detectors?limit=2" + cursor, bearer(key_));
    ASSERT_EQ(answer.status, 200) << answer.body;
    const json page = json::parse(answer.body);
    for (const json& item : page["items"]) keys.push_back(item["key"]);
    cursor = page["nextCursor"].is_null() ? "" : "&cursor=" + page["nextCursor"].get<std::string>();
  } while (!cursor.empty());
  EXPECT_EQ(keys, (std::vector<std::string>{"context_overflow", "expensive_loop", "false_success", "missing_tool_call", "schema_ghost"}));
  EXPECT_EQ(send("GET /v1/detectors?limit=0", bearer(key_)).status, 400);
  EXPECT_EQ(send("GET /v1/detectors?cursor=forged", bearer(key_)).status, 400);
}

TEST_F(Admission, RefusalsNameTheFieldThatIsWrong) {
  EXPECT_NE(send("POST /v1/ingest/runs", bearer(key_) + kJson + kJson, "{}").body.find("several Content-Type fields"), std::string::npos);
  const std::string codings = "Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n";
  EXPECT_NE(send("POST /v1/ingest/runs", bearer(key_) + kJson + codings, "{}").body.find("several Content-Encoding fields"),
            std::string::npos);
  const auto ended = send("GET /v1/runs", "Cookie: rw_session=ended\r\n");
  EXPECT_EQ(ended.status, 401);
  EXPECT_NE(ended.body.find("no session, or it has expired"), std::string::npos) << ended.body;
  EXPECT_NE(send("GET /v1/runs", "Cookie: other=1\r\n").body.find("no Authorization header"), std::string::npos);
}

TEST_F(Admission, AllowSaysWhichMethods) {
  EXPECT_EQ(send("GET /v1/ingest/runs", "").header("allow"), "POST");
  EXPECT_EQ(send("DELETE /v1/runs/a", "").header("allow"), "GET, HEAD");
}

TEST_F(Admission, WithoutOneGoodKey_401AndAChallenge) {
  const std::string unknown = "rw_0000000000000000_" + std::string(64, '0');
  for (const std::string& fields :
       {std::string(), std::string("Authorization: Basic abc\r\n"), std::string("Authorization: Bearer\r\n"), bearer(unknown),
        bearer(key_) + bearer(key_), bearer(key_ + " x"), std::string("Authorization: ") + key_ + "\r\n"}) {
    const HttpAnswer answer = send("POST /v1/ingest/runs", fields + kJson, "{}");
    EXPECT_EQ(answer.status, 401) << fields;
    EXPECT_EQ(answer.header("www-authenticate").substr(0, 6), "Bearer") << fields;
    EXPECT_EQ(json::parse(answer.body)["code"], "unauthorized");
  }
  EXPECT_EQ(send("POST /v1/ingest/runs", "aUTHORIZATION: bEARER " + key_ + "\r\n" + kJson, "{}").status, 201);
}

TEST_F(Admission, Scopes) {
  EXPECT_EQ(service_->post("/v1/ingest/runs", ingest_only_, "{}").status, 201);
  EXPECT_EQ(service_->post("/v1/analyze", ingest_only_, "{}").status, 403);
  const HttpAnswer refused = service_->get("/v1/runs/none", ingest_only_);
  EXPECT_EQ(refused.status, 403);
  EXPECT_NE(json::parse(refused.body)["detail"].get<std::string>().find("the key lacks scope \"read\""), std::string::npos) << refused.body;
  EXPECT_EQ(service_->post("/v1/ingest/runs", read_only_, "{}").status, 403);
  EXPECT_EQ(service_->post("/v1/analyze", read_only_, "{}").status, 200);
}

// On a database that hosts share a revocation is heard of, within a second.
bool ends_at_once(ServiceProcess& service, const std::string& key) {
  const auto ended = [&] { return service.post("/v1/ingest/runs", key, "{}").status == 401; };
  return std::getenv("ON_POSTGRES_SERVER") != nullptr ? wait_until(ended) : ended();
}

TEST_F(Admission, KeysTakeEffectAtOnce) {
  const std::string fresh = service_->make_key("acme");
  EXPECT_EQ(service_->post("/v1/ingest/runs", fresh, "{}").status, 201);
  const json keys = json::parse(service_->cli({"keys", "list", "--json"}).out);
  std::string id;
  for (const json& one : keys) {
    EXPECT_FALSE(one.dump().find(fresh) != std::string::npos) << "a key is never shown again";
    id = one["id"];
  }
  for (const json& one : keys) ASSERT_EQ(service_->cli({"keys", "revoke", one["id"]}).exit_code, 0);
  EXPECT_TRUE(ends_at_once(*service_, fresh));
  key_ = service_->make_key("acme");
  ingest_only_ = service_->make_key("acme", "ingest");
  read_only_ = service_->make_key("acme", "read");
}

TEST_F(Admission, MediaTypesAndCodings) {
  const auto status = [](const std::string& path, const std::string& fields) {
    return send("POST " + path, bearer(key_) + fields, "{}").status;
  };
  EXPECT_EQ(status("/v1/ingest/runs", "Content-Type: Application/JSON; charset=utf-8\r\n"), 201);
  EXPECT_EQ(status("/v1/ingest/runs", ""), 415);
  EXPECT_EQ(status("/v1/ingest/runs", kJson + kJson), 415);
  EXPECT_EQ(status("/v1/analyze", "Content-Type: application/x-ndjson\r\n"), 415);
  EXPECT_EQ(status("/v1/ingest/runs", kJson + "Content-Encoding: identity\r\n"), 201);
  EXPECT_EQ(status("/v1/ingest/runs", kJson + "Content-Encoding: br\r\n"), 415);
  EXPECT_EQ(status("/v1/ingest/runs", kJson + "Content-Encoding: gzip\r\n"), 400) << "these bytes are not gzip";
}

TEST_F(Admission, AnUnknownCoding_IsToldWhichAreTaken) {
  const HttpAnswer refused = send("POST /v1/ingest/runs", bearer(key_) + kJson + "Content-Encoding: br\r\n", "{}");
  EXPECT_EQ(refused.status, 415);
  EXPECT_EQ(refused.header("accept-encoding"), "gzip, identity");
  EXPECT_EQ(send("POST /v1/ingest/runs", bearer(key_), "{}").header("accept-encoding"), "") << "here the media type is at fault";
}

TEST_F(Admission, RequestIds) {
  const HttpAnswer own = send("GET /healthz", "X-Request-Id: my-id.1\r\n");
  EXPECT_EQ(own.header("x-request-id"), "my-id.1");
  const HttpAnswer bad = send("GET /healthz", "X-Request-Id: " + std::string(129, 'a') + "\r\n");
  EXPECT_NE(bad.header("x-request-id"), std::string(129, 'a'));
  EXPECT_FALSE(bad.header("x-request-id").empty());
}

TEST_F(Admission, EveryAnswer_TellsBrowsersNotToGuessItsType) {
  const HttpAnswer answers[] = {send("POST /v1/ingest/runs", bearer(key_) + kJson, "{}"),
                                send("GET /v1/runs", bearer(key_)),
                                send("GET /v1/runs", ""),
                                send("GET /nowhere", ""),
                                send("GET /healthz", ""),
                                send("GET /metrics", ""),
                                send("GET /ui/", ""),
                                send("no request", "")};
  for (const HttpAnswer& answer : answers) EXPECT_EQ(answer.header("x-content-type-options"), "nosniff") << answer.status << answer.body;
}

TEST_F(Admission, OneRatePerTenant) {
  ServiceProcess service(
      {.yaml = {}, .server = {}, .limits = "{requests_per_second: 0.01, burst: 2}", .store = {}, .binary = {}, .environment = {}});
  const std::string acme = service.make_key("acme");
  const std::string globex = service.make_key("globex");
  EXPECT_EQ(service.post("/v1/ingest/runs", acme, "{}").status, 201);
  EXPECT_EQ(service.post("/v1/ingest/runs", acme, "{}").status, 201);
  const HttpAnswer third = service.post("/v1/ingest/runs", acme, "{}");
  EXPECT_EQ(third.status, 429);
  EXPECT_GT(std::atoi(third.header("retry-after").c_str()), 0);
  EXPECT_EQ(service.post("/v1/ingest/runs", globex, "{}").status, 201);
}

}  // namespace
}  // namespace runwarden::test
