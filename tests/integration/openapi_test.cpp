// Holds config/openapi.json to the service, and the service to it: every path and status that can be provoked is provoked, and each
// answer is checked against the schema of its path and status by openapi_check.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "api/router.h"
#include "support/otlp.h"
#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;

constexpr int kPatienceMs = 15'000;
const std::string kJson = "application/json";

json read_document() {
  std::ifstream in(RUNWARDEN_TEST_OPENAPI);
  return json::parse(in);
}

// `openapi_check.py MODE DOCUMENT [RECORD]`.
CommandResult check(const std::string& mode, const json& document, const json& record = nullptr) {
  const TempFolder folder;
  const std::string document_path = folder.path() / "openapi.json";
  const std::string record_path = folder.path() / "record.json";
  std::ofstream(document_path) << document;
  std::ofstream(record_path) << record.dump(-1, ' ', true, json::error_handler_t::replace);
  return run_command({RUNWARDEN_TEST_PYTHON, RUNWARDEN_TEST_OPENAPI_CHECK, mode, document_path, record_path});
}

struct Request {
  std::string method = "GET";
  std::string target;
  std::string fields;  // but for Host, Content-Type, Content-Length
  std::string type;    // Content-Type; empty: none
  std::string body;
};

// Sends requests and keeps what was asked and answered.
class Recorder {
 public:
  HttpAnswer send(const ServiceProcess& service, const Request& request) { return record(request, service.request(text_of(request))); }
  HttpAnswer record(const Request& request, const HttpAnswer& answer) {
    exchanges_.push_back({{"method", request.method},
                          {"target", request.target},
                          {"requestType", request.type},
                          {"requestBody", request.body},
                          {"status", answer.status},
                          {"headers", answer.headers},
                          {"body", answer.body}});
    return answer;
  }
  static std::string text_of(const Request& request) {
    std::string text = request.method + " " + request.target + " HTTP/1.1\r\nHost: test\r\n" + request.fields;
    if (!request.type.empty()) text += "Content-Type: " + request.type + "\r\n";
    if (!request.body.empty()) text += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
    return text + "\r\n" + request.body;
  }
  const json& exchanges() const { return exchanges_; }

 private:
  json exchanges_ = json::array();
};

std::string bearer(const std::string& key) {
  return "Authorization: Bearer " + key + "\r\n";
}

struct Operation {
  std::string path;    // with {...}
  std::string target;  // with ids of which there are none
  std::string method;  // upper case
  std::string scope;   // empty: no key is needed
  bool post() const { return method == "POST"; }
  bool of_session() const { return path == "/v1/session"; }
};

std::vector<Operation> operations_of(const json& document) {
  std::vector<Operation> operations;
  for (const auto& [path, item] : document["paths"].items()) {
    for (const auto& [method, operation] : item.items()) {
      Operation one{path, path, method, {}};
      std::transform(one.method.begin(), one.method.end(), one.method.begin(),
                     [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
      for (std::size_t at = 0; (at = one.target.find('{')) != std::string::npos;) {
        one.target.replace(at, one.target.find('}') - at + 1, "none");
      }
      // A scheme a scope: ingestKey, readKey, manageKey.
      if (!operation["security"].empty() && !one.of_session()) {
        const std::string scheme = operation["security"][0].items().begin().key();
        one.scope = scheme.substr(0, scheme.find("Key"));
      }
      operations.push_back(one);
    }
  }
  return operations;
}

// A run that has everything: unknown members, nulls, aliases, values of the other type that is taken.
json rich_run() {
  return json::parse(R"({
    "userRequestText": "Refund order 8842", "success": true, "outcomeSummary": "Your refund has been processed.", "error": {"any": [1, null]},
    "metadata": {"model": "gpt-4o", "cost_usd": 0.62, "usage": {"prompt_tokens": 1200}, "team": "payments", "costUsd": null},
    "startedAt": "2026-01-20T15:00:00+02:00", "endedAt": null, "at": "2026-01-20T13:00:01Z",
    "steps": [
      {"stepKind": "user", "inputSummary": "hello"},
      {"stepKind": "tool", "stepName": "issue_refund", "status": "FAILED", "errorCode": 502, "errorMessage": "502 Bad Gateway",
       "inputSummary": {"order": 8842}, "outputSummary": null, "retryCount": 2.0, "metadata": {"httpStatus": 502, "costUsd": 0.2}},
      {"stepKind": "tool", "stepName": "issue_refund", "status": "FAILED", "errorCode": "502", "errorMessage": "502 Bad Gateway",
       "inputSummary": {"order": 8842}, "outputSummary": 7, "retryCount": null, "metadata": {"httpStatus": "x"}},
      {"stepKind": "tool", "stepName": "issue_refund", "status": "FAILED", "errorMessage": "502 Bad Gateway", "inputSummary": {"order": 8842}},
      {"stepKind": "tool", "stepName": "issue_refund", "status": "FAILED", "errorMessage": "502 Bad Gateway", "inputSummary": {"order": 8842}},
      {"stepKind": "model", "outputSummary": "Your refund has been processed.", "own": {"deep": [[{}]]}},
      {}]})");
}

class Openapi : public testing::Test {
 protected:
  // One request of each kind of refusal for every operation; the order of refusals decides what is needed to get there.
  void provoke_refusals() {
    ServiceProcess service({.yaml = {},
                            .server = {},
                            .limits = "{max_body_bytes: 64KiB, max_batch_bytes: 128KiB, otlp_max_body_bytes: 64KiB}",
                            .store = {},
                            .binary = {},
                            .environment = {}});
    const std::string every = service.make_key("acme", "ingest,read,manage");
    const std::string ingest = service.make_key("acme", "ingest");
    const std::string read = service.make_key("acme", "read");
    for (const Operation& one : operations_) {
      if (one.of_session()) continue;  // provoke_session()
      const std::string key = one.scope.empty() ? "" : bearer(every);
      const auto send = [&](int status, const Request& request) { EXPECT_EQ(recorder_.send(service, request).status, status) << one.path; };
      send(405, {"PUT", one.target, {}, {}, {}});
      send(400, {one.method, one.target + "?a=%zz", key, one.post() ? kJson : "", one.post() ? "{}" : ""});
      send(431, {one.method, one.target, key + "X-Long: " + std::string(20'000, 'x') + "\r\n", {}, {}});
      if (!one.scope.empty()) {
        send(401, {one.method, one.target, {}, {}, {}});
        send(403, {one.method, one.target, bearer(one.scope == "read" ? ingest : read), {}, {}});
      }
      if (!one.post()) {
        send(413, {one.method, one.target, key, {}, std::string(70'000, 'x')});
        continue;
      }
      send(415, {one.method, one.target, key, "text/plain", "{}"});
      send(415, {one.method, one.target, key + "Content-Encoding: br\r\n", kJson, "{}"});
      send(413, {one.method, one.target, key, kJson, "{\"x\":\"" + std::string(70'000, 'x') + "\"}"});
      if (one.target.find("/otlp/v1/metrics") != std::string::npos || one.target.find("/otlp/v1/logs") != std::string::npos) continue;
      send(400, {one.method, one.target, key, kJson, "{\"a\":"});
      send(one.target.find("/otlp") == std::string::npos ? 422 : 400, {one.method, one.target, key, kJson, "[]"});
    }
  }

  // All wait at once, in a service of their own: where the machine stands still, other requests would be late as well.
  void provoke_timeouts() {
    ServiceProcess service(
        {.yaml = {}, .server = {}, .limits = "{header_timeout: 300ms, body_timeout: 300ms}", .store = {}, .binary = {}, .environment = {}});
    const std::string key = service.make_key("acme", "ingest,read,manage");
    std::vector<std::pair<Request, HttpClient>> waiting;
    for (const Operation& one : operations_) {
      if (one.of_session()) continue;
      const Request request{one.method, one.target, one.post() ? bearer(key) + "Content-Length: 9\r\n" : "", one.post() ? kJson : "", {}};
      std::string text = Recorder::text_of(request);
      if (!one.post()) text.resize(text.size() - 2);
      waiting.emplace_back(request, HttpClient::to(service.port(), kPatienceMs));
      ASSERT_TRUE(waiting.back().second.send(text));
    }
    for (auto& [request, client] : waiting) {
      EXPECT_EQ(recorder_.record(request, client.answer().value_or(HttpAnswer{})).status, 408) << request.target;
    }
  }

  void provoke_rate_limit() {
    ServiceProcess service(
        {.yaml = {}, .server = {}, .limits = "{requests_per_second: 0.001, burst: 1}", .store = {}, .binary = {}, .environment = {}});
    const std::string key = service.make_key("acme", "ingest,read,manage");
    EXPECT_EQ(service.get("/v1/detectors", key).status, 200);
    for (const Operation& one : operations_) {
      if (one.scope.empty()) continue;
      EXPECT_EQ(recorder_.send(service, {one.method, one.target, bearer(key), one.post() ? kJson : "", one.post() ? "{}" : ""}).status,
                429);
    }
  }

  // A browser's way in and out. Its methods share a path, and a cookie takes the place of the key.
  void provoke_session() {
    ServiceProcess service({.yaml = {},
                            .server = {},
                            .limits = "{max_body_bytes: 64KiB, header_timeout: 300ms, body_timeout: 300ms}",
                            .store = {},
                            .binary = {},
                            .environment = {}});
    const std::string key = service.make_key("acme", "ingest,read,manage");
    const auto send = [&](int status, const Request& request) {
      const HttpAnswer answer = recorder_.send(service, request);
      EXPECT_EQ(answer.status, status) << request.method << " " << request.fields.substr(0, 100) << " " << answer.body;
      return answer;
    };
    const std::string target = "/v1/session";
    const HttpAnswer begun = send(200, {"POST", target, {}, kJson, json{{"key", key}}.dump()});
    const std::string cookie = "Cookie: " + begun.header("set-cookie").substr(0, begun.header("set-cookie").find(';')) + "\r\n";
    const std::string csrf = "X-CSRF-Token: " + json::parse(begun.body)["csrf"].get<std::string>() + "\r\n";
    send(405, {"PUT", target, {}, {}, {}});
    send(403, {"POST", target, "Sec-Fetch-Site: cross-site\r\n", kJson, "{}"});
    send(415, {"POST", target, {}, "text/plain", "{}"});
    send(413, {"POST", target, {}, kJson, json{{"key", std::string(70'000, 'x')}}.dump()});
    send(400, {"POST", target, {}, kJson, "{\"key\":"});
    send(422, {"POST", target, {}, kJson, "[]"});
    send(200, {"GET", target, cookie, {}, {}});
    send(200, {"HEAD", target, cookie, {}, {}});
    for (const std::string method : {"GET", "DELETE", "POST"}) {
      const std::string type = method == "POST" ? kJson : "";
      send(400, {method, target + "?a=%zz", cookie + csrf, type, method == "POST" ? "{}" : ""});
      send(431, {method, target, "X-Long: " + std::string(20'000, 'x') + "\r\n", {}, {}});
      if (method != "POST") send(413, {method, target, cookie + csrf, {}, std::string(70'000, 'x')});
      const Request late{method, target, method == "POST" ? "Content-Length: 9\r\n" : "", type, {}};
      std::string text = Recorder::text_of(late);
      if (method != "POST") text.resize(text.size() - 2);
      HttpClient client = HttpClient::to(service.port(), kPatienceMs);
      ASSERT_TRUE(client.send(text));
      EXPECT_EQ(recorder_.record(late, client.answer().value_or(HttpAnswer{})).status, 408) << method;
    }
    send(401, {"GET", target, {}, {}, {}});
    send(403, {"DELETE", target, cookie, {}, {}});
    send(204, {"DELETE", target, cookie + csrf, {}, {}});
    send(401, {"DELETE", target, cookie + csrf, {}, {}});
    for (int i = 0; i < 10; ++i) send(401, {"POST", target, {}, kJson, R"({"key":"rw_wrong"})"});
    send(429, {"POST", target, {}, kJson, json{{"key", key}}.dump()});
  }

  // What an ops_address of its own, or the setting that turns off the page, takes away from the main address.
  void provoke_not_served() {
    ServiceProcess::Options options;
    options.server = "ops_address: \"127.0.0.1:0\", page: false";
    ServiceProcess service(std::move(options));
    for (const std::string path : {"/healthz", "/readyz", "/metrics", "/v1/session"})
      EXPECT_EQ(recorder_.send(service, {"GET", path, {}, {}, {}}).status, 404) << path;
    EXPECT_EQ(recorder_.send(service, {"POST", "/v1/session", {}, kJson, "{}"}).status, 404);
    EXPECT_EQ(recorder_.send(service, {"DELETE", "/v1/session", {}, {}, {}}).status, 404);
  }

  // Fills a small store until it refuses.
  void provoke_no_room() {
    ServiceProcess service({.yaml = {}, .server = {}, .limits = "{}", .store = "map_size: 4MiB", .binary = {}, .environment = {}});
    const std::string key = service.make_key();
    std::uint64_t state = 88172645463325252ull;
    const auto noise = [&state](std::size_t bytes) {
      std::string text;
      while (text.size() < bytes) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text += static_cast<char>('A' + state % 25);
      }
      return text;
    };
    // Smaller and smaller, so that in the end there is no room for the least.
    for (std::size_t bytes = 200'000; bytes > 1000; bytes /= 2) {
      while (service.post("/v1/ingest/runs", key, json{{"x", noise(bytes)}}.dump()).status == 201) {
      }
    }
    const std::string fields = bearer(key);
    const std::string text = noise(200'000);
    const auto refused = [&](const std::string& path, json body) {
      body["summary"] = text;
      EXPECT_EQ(recorder_.send(service, {"POST", path, fields, kJson, body.dump()}).status, 503) << path;
    };
    refused("/v1/ingest/runs", json::object());
    refused("/v1/ingest/events", {{"runId", "r"}, {"events", {{{"type", "note"}, {"text", text}}}}});
    refused("/v1/ingest/changes", {{"kind", "code"}});
    refused("/v1/ingest/policies", {{"policy", "p"}});
    OtlpSpan span;
    span.attributes = {{"gen_ai.operation.name", std::string("execute_tool")}, {"gen_ai.tool.call.result", text}};
    for (const std::string path : {"/v1/ingest/otlp", "/v1/ingest/otlp/v1/traces"}) {
      const HttpAnswer answer = recorder_.send(service, {"POST", path, fields, kJson, otlp_json({span})});
      EXPECT_EQ(answer.status, 503) << path;
      EXPECT_LE(std::stoi(answer.header("retry-after")), 3);
    }
    EXPECT_EQ(recorder_.send(service, {"GET", "/readyz", {}, {}, {}}).status, 503);
    EXPECT_EQ(recorder_.send(service, {"GET", "/healthz", {}, {}, {}}).status, 200);
    const std::string line = json{{"x", text}}.dump();
    EXPECT_EQ(recorder_.send(service, {"POST", "/v1/ingest/runs", fields, "application/x-ndjson", line + "\n"}).status, 200);
  }

  // A batch that breaks off after its first part, which is read before a line is judged, was stored.
  void provoke_break_off() {
    ServiceProcess::Options options;
    options.limits = "{max_body_bytes: 64KiB}";
    ServiceProcess service(std::move(options));
    const std::string line = json{{"x", std::string(60'000, 'x')}}.dump() + "\n";
    std::string body;
    while (body.size() < (9u << 20)) body += line;
    Request request{"POST", "/v1/ingest/runs", bearer(service.make_key()), "application/x-ndjson", body + std::string(70'000, 'x')};
    const HttpAnswer answer = service.request(Recorder::text_of(request));
    request.body = line;  // the check needs to see a part of it only
    EXPECT_TRUE(json::parse(recorder_.record(request, answer).body).contains("brokenOff")) << answer.body.substr(0, 300);
  }

  // The life of some runs, from changes and policies over events to the investigation.
  void live() {
    ServiceProcess service;
    service_ = &service;
    key_ = service.make_key("acme", "ingest,read,manage");
    post_changes_and_policies();
    post_runs();
    stream_events();
    send_spans();
    read_everything();
    decide_about_groups();
    draft_guardrails();
    prove();
    tell_webhooks();
    review();
    service_ = nullptr;
  }

  HttpAnswer post(int status, const std::string& path, const std::string& body, const std::string& fields = {},
                  const std::string& type = kJson) {
    const HttpAnswer answer = recorder_.send(*service_, {"POST", path, bearer(key_) + fields, type, body});
    EXPECT_EQ(answer.status, status) << path << " " << body.substr(0, 200) << " " << answer.body.substr(0, 300);
    return answer;
  }
  HttpAnswer post(int status, const std::string& path, const json& body, const std::string& fields = {}) {
    return post(status, path, body.dump(), fields);
  }
  HttpAnswer get(int status, const std::string& target) {
    const HttpAnswer answer = recorder_.send(*service_, {"GET", target, bearer(key_), {}, {}});
    EXPECT_EQ(answer.status, status) << target << " " << answer.body.substr(0, 300);
    return answer;
  }
  json example(const std::string& name) const { return document_["components"]["examples"][name]["value"]; }

  void post_changes_and_policies() {
    const std::string changes = "/v1/ingest/changes";
    json change = example("gatewayChange");
    change["at"] = "2026-01-01T00:00:00Z";
    change["own"] = {{"kept", true}};
    post(201, changes, change, "Idempotency-Key: c-1\r\n");
    post(200, changes, change, "Idempotency-Key: c-1\r\n");
    post(409, changes, {{"kind", "code"}}, "Idempotency-Key: c-1\r\n");
    post(201, changes, {{"kind", "runtime"}, {"ref", nullptr}, {"policy", 7}, {"revision", 7}, {"author", 7}, {"policyRevisionId", 7}});
    post(422, changes, {{"kind", "Not A Kind"}});
    post(422, changes, json::object());
    const std::string policies = "/v1/ingest/policies";
    json policy = example("refundPolicy");
    policy["at"] = "2026-01-01T00:00:00Z";
    post(201, policies, policy);
    post(200, policies, policy);
    policy["content"] = "other";
    post(409, policies, policy);
    post(201, policies, {{"policy", "refunds"}, {"own", 1}});
    post(201, policies, {{"policy", "speech"}, {"revision", 3}, {"content", nullptr}, {"author", nullptr}});
    post(422, policies, {{"policy", ""}, {"revision", true}});
  }

  void post_runs() {
    const std::string runs = "/v1/ingest/runs";
    json run = example("refundRun");
    post(201, runs, run);
    post(200, runs, run);
    run["success"] = false;
    post(409, runs, run);
    post(201, runs, json::object(), "Idempotency-Key: r-1\r\n");
    post(200, runs, json::object(), "Idempotency-Key: r-1\r\n");
    post(409, runs, json{{"x", 1}}, "Idempotency-Key: r-1\r\n");
    post(201, runs, rich_run());
    post(422, runs, {{"runId", ""}, {"success", "yes"}, {"steps", {1, {{"retryCount", -1}}}}, {"metadata", {{"costUsd", "x"}}}});
    post(400, runs, std::string("{\"success\":true,\"success\":true}"));
    const std::string lines =
        example("refundBatch").get<std::string>() + "\n{\"a\":\n" + run.dump() + "\n{\"runId\":\"line\"}\n{\"runId\":\"line\"}\n";
    post(200, runs, lines, {}, "application/x-ndjson");
    post(200, runs, std::string("{\"user_request\":1}\n"), {}, "application/x-ndjson");
    post(201, runs, json{{"user_request", "x"}, {"runId", "slip"}});
    post(200, runs, json{{"user_request", "x"}, {"runId", "slip"}});
    post(200, "/v1/analyze", json{{"user_request", "x"}});
    post(201, "/v1/ingest/changes", json{{"kind", "code"}, {"sumary", "x"}});
    post(201, "/v1/ingest/policies", json{{"policy", "slip"}, {"contnet", "x"}});
    post(200, "/v1/analyze", example("refundRun"));
    post(200, "/v1/analyze", rich_run());
    post(200, "/v1/analyze", json::object());
    post(422, "/v1/analyze", {{"steps", {{{"errorCode", json::array()}}}}});
  }

  void stream_events() {
    const std::string events = "/v1/ingest/events";
    const auto of = [](json request, const std::string& run_id) {
      request["runId"] = run_id;
      return request;
    };
    const json end = {{"runId", "streamed"}, {"events", json::array()}, {"final", true}};
    post(202, events, of(example("refundEvents"), "streamed"), "Idempotency-Key: e-1\r\n");
    post(200, events, of(example("refundEvents"), "streamed"), "Idempotency-Key: e-1\r\n");
    post(409, events, end, "Idempotency-Key: e-1\r\n");
    get(200, "/v1/runs/streamed");
    const json seen = {{"runId", "streamed"}, {"events", {{{"type", "model_output"}, {"eventId", "e-3"}}}}};
    post(202, events, seen);
    post(201, events, of(example("refundFinished"), "streamed"), "Idempotency-Key: e-2\r\n");
    post(200, events, of(example("refundFinished"), "streamed"), "Idempotency-Key: e-2\r\n");
    post(200, events, end);
    post(200, events, seen);
    const json later = {{"runId", "streamed"},
                        {"events",
                         {{{"type", "tool_call"}, {"name", "email"}, {"output", {{"sent", true}}}, {"errorCode", 0}, {"own", 1}},
                          {{"type", "note"}, {"at", "2026-01-20T15:00:00Z"}, {"metadata", {{"input_tokens", 3}}}}}}};
    post(202, events, later);
    get(200, "/v1/runs/streamed");
    get(200, "/v1/runs/streamed?revision=1");
    post(201, events, end);
    get(200, "/v1/runs/streamed");
    get(404, "/v1/runs/streamed?revision=3");
    get(200, "/v1/runs/streamed/explain");
    get(200, "/v1/runs/streamed/bundle?revision=1");
    get(200, "/v1/runs/streamed/explain?revision=1");
    get(404, "/v1/runs/streamed/explain?revision=3");
    post(422, events, {{"runId", "x"}});
    post(422, events, {{"runId", "x"}, {"events", {{{"type", 1}, {"eventId", ""}}}}});
    post(202, events, {{"runId", "open"}, {"events", {{{"type", "tool_call"}, {"name", "look_up"}}}}});
    get(200, "/v1/runs/open/explain");
    get(409, "/v1/runs/open/bundle");
    post(200, events, {{"runId", "streamed"}, {"events", json::array()}, {"finl", true}});
    post(409, "/v1/ingest/runs", {{"runId", "open"}, {"steps", json::array()}});
    // A run that came whole under an Idempotency-Key, was opened again, and is sent again under that key.
    post(201, "/v1/ingest/runs", {{"runId", "again"}}, "Idempotency-Key: r-2\r\n");
    post(202, events, {{"runId", "again"}, {"events", {{{"type", "note"}}}}});
    post(200, "/v1/ingest/runs", {{"runId", "again"}}, "Idempotency-Key: r-2\r\n");
    get(200, "/v1/runs/again");
    const json untold = {{"runId", "candidate"},
                         {"outcomeSummary", "Tuesday suits us well."},
                         {"steps", {{{"stepKind", "tool"}, {"stepName", "send_mail"}, {"status", "failed"}, {"errorMessage", "502"}}}}};
    EXPECT_NE(post(201, "/v1/ingest/runs", untold).body.find("\"confidence\":"), std::string::npos) << "of a candidate";
    get(200, "/v1/runs/candidate");
    get(200, "/v1/runs/candidate/explain");
  }

  void send_spans() {
    OtlpSpan span;
    span.attributes = {{"gen_ai.operation.name", std::string("execute_tool")}, {"gen_ai.tool.name", std::string("look_up")}};
    for (const std::string path : {"/v1/ingest/otlp", "/v1/ingest/otlp/v1/traces"}) {
      post(200, path, otlp_json({span}));
      post(200, path, otlp_protobuf({span}), {}, "application/x-protobuf");
      post(400, path, std::string("\x0a\xff"), {}, "application/x-protobuf");
      span.span_id = "none";
      post(200, path, otlp_json({span}));
      span.span_id = "b7ad6b7169203331";
    }
    for (const std::string path : {"/v1/ingest/otlp/v1/metrics", "/v1/ingest/otlp/v1/logs"}) post(200, path, json::object());
    get(200, "/v1/runs/" + span.trace_id);
    get(200, "/v1/runs/" + span.trace_id + "/mapping");
    get(404, "/v1/runs/streamed/mapping");
    get(400, "/v1/runs/" + span.trace_id + "/mapping?x=1");
    get(200, "/v1/runs?source=otlp");
    get(400, "/v1/runs?source=mars");
  }

  void read_everything() {
    for (const std::string list : {"/v1/runs", "/v1/failures", "/v1/changes", "/v1/policies", "/v1/policies/refunds"}) {
      std::string cursor;
      int pages = 0;
      do {
        const json page = json::parse(get(200, list + "?limit=1" + cursor).body);
        ASSERT_LE(page["items"].size(), 1U);
        cursor = page["nextCursor"].is_null() ? "" : "&cursor=" + page["nextCursor"].get<std::string>();
      } while (!cursor.empty() && ++pages < 50);
      EXPECT_GT(pages, 0) << list;
      get(200, list + "?since=2020-01-01T00:00:00Z&until=2120-01-01T00:00:00Z&limit=1000");
      get(200, list + "?until=2020-01-01T00:00:00Z");
      for (const std::string wrong : {"limit=0", "limit=1001", "limit=x", "cursor=forged", "since=yesterday", "nothing=1"}) {
        get(400, list + "?" + wrong);
      }
    }
    for (const std::string target :
         {"/v1/runs?state=open", "/v1/runs?state=resolved&detector=false_success&minScore=95", "/v1/failures?detector=false_success",
          "/v1/failures?severity=high&minScore=1", "/v1/failures?runId=none", "/v1/failures?fingerprint=none", "/v1/changes?kind=policy",
          "/v1/candidates", "/v1/candidates?state=dead&detector=false_success", "/v1/policies?policy=speech", "/v1/policies/refunds?at=2026-01-02T00:00:00Z", "/v1/detectors", "/v1/openapi.json"}) {
      get(200, target);
    }
    for (const std::string target : {"/v1/candidates?state=gone", "/v1/runs?state=gone", "/v1/failures?severity=bad", "/v1/runs?minScore=101",
                                     "/v1/runs/again?revision=0", "/v1/runs/again/explain?view=head", "/v1/runs/again/bundle?maxText=500", "/v1/policies/refunds?at=then"}) {
      get(400, target);
    }
    const json runs = json::parse(get(200, "/v1/runs").body);
    for (const json& run : runs["items"]) {
      get(200, "/v1/runs/" + run["runId"].get<std::string>() + "/explain");
      if (run["state"] == "resolved") get(200, "/v1/runs/" + run["runId"].get<std::string>() + "/bundle");
    }
    for (const std::string target : {"/v1/runs/none", "/v1/runs/none/explain", "/v1/runs/none/bundle", "/v1/failures/none", "/v1/failures/none/investigation",
                                     "/v1/policies/none", "/v1/policies/refunds?at=2020-01-01T00:00:00Z"}) {
      get(404, target);
    }
    const json failures = json::parse(get(200, "/v1/failures").body)["items"];
    ASSERT_FALSE(failures.empty());
    for (const json& failure : failures) {
      const std::string target = "/v1/failures/" + failure["failureId"].get<std::string>();
      get(200, target);
      const json investigation = json::parse(get(200, target + "/investigation").body);
      EXPECT_FALSE(investigation["suspectChange"].is_null());
    }
    for (const Operation& one : operations_) {
      if (one.method != "GET" || one.of_session()) continue;
      recorder_.send(*service_, {"HEAD", one.target, one.scope.empty() ? "" : bearer(key_), {}, {}});
      if (one.scope.empty()) get(200, one.target);
    }
  }

  void draft_guardrails() {
    // A refusal for length without a count: there is no line to draw.
    post(201, "/v1/ingest/runs", {{"metadata", {{"model", "gpt-4o"}}}, {"steps", {{{"stepKind", "model"}, {"errorCode", "context_length_exceeded"}}}}});
    const json refused = json::parse(get(200, "/v1/failures?detector=context_overflow&minScore=90").body)["items"].at(0);
    get(409, "/v1/failures/" + refused["failureId"].get<std::string>() + "/guardrail");
    const json drafted = json::parse(get(200, "/v1/failures?detector=false_success").body)["items"].at(0);
    const std::string of_failure = "/v1/failures/" + drafted["failureId"].get<std::string>() + "/guardrail";
    const std::string group = json::parse(get(200, of_failure).body)["source"]["clusterId"];
    for (const std::string& target : {of_failure, "/v1/clusters/" + group + "/guardrail"}) {
      for (const std::string as : {"json", "yaml", "python"}) get(200, target + "?as=" + as);
      get(400, target + "?as=rego");
    }
    const json clusters = json::parse(get(200, "/v1/clusters?state=all&detector=context_overflow").body)["items"];
    for (const json& cluster : clusters) {
      if (cluster["maxScore"] == 90) get(409, "/v1/clusters/" + cluster["clusterId"].get<std::string>() + "/guardrail");
    }
    get(404, "/v1/failures/none/guardrail");
    get(404, "/v1/clusters/none/guardrail");
  }

  // The request again, with the tag that its answer bears.
  void get_again(const std::string& target) {
    // A minute that ends in between makes another tag: once more, then.
    HttpAnswer again;
    for (int tries = 0; tries < 3 && again.status != 304; ++tries) {
      const std::string tag = get(200, target).header("etag");
      again = recorder_.send(*service_, {"GET", target, bearer(key_) + "If-None-Match: " + tag + "\r\n", {}, {}});
    }
    EXPECT_EQ(again.status, 304) << target;
  }

  void compare_versions(const std::string& group) {
    for (int i = 0; i < 24; ++i) {
      json run = i % 2 == 0 ? rich_run() : json::object();
      run["metadata"]["version"] = i % 2 == 0 ? "2" : "1";
      post(201, "/v1/ingest/runs", run);
    }
    const std::string differences = "/v1/clusters/" + group + "/differences";
    EXPECT_FALSE(json::parse(get(200, differences).body)["items"].empty());
    const std::string baseline = "/v1/baseline?dimension=version&value=2";
    EXPECT_FALSE(json::parse(get(200, baseline).body)["groups"].empty());
    get(200, baseline + "&against=1&window=7d&cluster=" + group);
    get(200, baseline + "&detector=none");
    get(200, "/v1/baseline?dimension=none&value=none");
    for (const std::string& target : {differences, baseline, std::string("/v1/dimensions")}) get_again(target);
    for (const std::string target : {"/v1/baseline", "/v1/baseline?dimension=version", "/v1/dimensions?window=1h", "/v1/runs/again?maxText=1"}) {
      get(400, target);
    }
    get(400, differences + "?window=2h");
    get(404, "/v1/clusters/none/differences");
    get(404, baseline + "&cluster=none");
    const json runs = json::parse(get(200, "/v1/runs").body);
    for (const json& run : runs["items"]) get(200, "/v1/runs/" + run["runId"].get<std::string>() + "?maxText=100");
  }

  void decide_about_groups() {
    const json groups = json::parse(get(200, "/v1/clusters").body);
    ASSERT_FALSE(groups["items"].empty());
    const std::string id = groups["items"][0]["clusterId"];
    const std::string group = "/v1/clusters/" + id;
    for (const std::string& target : {std::string("/v1/clusters"), group, group + "/history", "/v1/timeline?cluster=" + id,
                                     std::string("/v1/tail"), std::string("/v1/runs?cluster=" + id), std::string("/v1/runs/again")}) {
      get_again(target);
    }
    for (const std::string sort : {"recent", "count", "share", "first"}) get(200, "/v1/clusters?limit=1&state=all&sort=" + sort);
    const json page = json::parse(get(200, "/v1/clusters?limit=1&window=7d").body);
    if (!page["nextCursor"].is_null()) get(200, "/v1/clusters?limit=1&window=7d&cursor=" + page["nextCursor"].get<std::string>());
    for (const std::string wrong : {"state=gone", "sort=x", "window=2h", "window=1h&from=2026-01-01T00:00:00Z", "severity=x", "cursor=forged",
                                    "from=2020-01-01T00:00:00Z&until=2026-01-01T00:00:00Z"}) {
      get(400, "/v1/clusters?" + wrong);
    }
    const std::string after = json::parse(get(200, "/v1/tail").body)["after"];
    post(201, "/v1/ingest/runs", rich_run());
    EXPECT_GE(json::parse(get(200, "/v1/tail?after=" + after).body)["items"].size(), 2U);
    get(200, "/v1/tail?topics=failures&after=" + after);
    get(400, "/v1/tail?topics=x");
    get(400, "/v1/tail?after=forged");
    get(200, "/v1/timeline?window=1h&buckets=90");
    get(200, "/v1/timeline?from=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00%2B02:00");
    get(200, "/v1/timeline?detector=false_success");
    get(400, "/v1/timeline?buckets=91");
    compare_versions(id);
    for (const std::string target : {"/v1/clusters/none", "/v1/clusters/none/history", "/v1/timeline?cluster=none", "/v1/runs?cluster=none"}) {
      get(404, target);
    }
    const std::string triage = group + "/triage";
    post(200, triage, json{{"action", "ignore"}, {"until", {{"failures", 3}}}, {"note", "known"}}, "Idempotency-Key: t-1\r\n");
    post(200, triage, json{{"action", "ignore"}, {"until", {{"failures", 3}}}, {"note", "known"}}, "Idempotency-Key: t-1\r\n");
    post(409, triage, json{{"action", "reopen"}}, "Idempotency-Key: t-1\r\n");
    post(404, "/v1/clusters/none/triage", json{{"action", "reopen"}});
    const json change = json::parse(get(200, "/v1/changes?kind=code").body)["items"][0];
    const json resolved = json::parse(post(200, triage, json{{"action", "resolve"}, {"fixedBy", change["changeId"]}}).body);
    EXPECT_EQ(resolved["state"], "resolved");
    post(422, triage, json{{"action", "resolve"}, {"until", {{"failures", 3}}}});
    post(422, triage, json{{"action", "resolve"}, {"fixedBy", "change_0"}});
    get(200, group + "/history?limit=1");
    EXPECT_EQ(json::parse(get(200, group + "/history").body)["items"].size(), 2U) << "the second answer to one Idempotency-Key decides nothing";
    post(200, triage, json{{"action", "ignore"}, {"until", {{"at", "2120-01-01T00:00:00Z"}}}, {"note", nullptr}});
    post(200, triage, json{{"action", "ignore"}, {"until", nullptr}});
    post(200, triage, json{{"action", "resolve"}, {"fixedBy", nullptr}, {"note", nullptr}});
    get(200, group + "?window=90d");
  }

  void review() {
    const json failure = json::parse(get(200, "/v1/failures?review=none&limit=1").body)["items"].at(0);
    const std::string path = "/v1/failures/" + failure["failureId"].get<std::string>() + "/review";
    const auto remove = [&](int status, const std::string& target) {
      EXPECT_EQ(recorder_.send(*service_, {"DELETE", target, bearer(key_), {}, {}}).status, status) << target;
    };
    post(200, path, json{{"verdict", "right"}, {"note", "seen"}}, "Idempotency-Key: v-1\r\n");
    post(409, path, json{{"verdict", "unsure"}}, "Idempotency-Key: v-1\r\n");
    get(200, "/v1/failures?review=right");
    get(400, "/v1/failures?review=perhaps");
    get(200, "/v1/runs/" + failure["runId"].get<std::string>());
    post(200, path, json{{"verdict", "false_alarm"}, {"note", nullptr}});
    get(200, "/v1/clusters?state=ignored");
    post(422, path, json{{"verdict", "missed"}});
    remove(204, path);
    remove(400, path + "?detector=x");
    get(200, path + "/history?limit=1&since=2020-01-01T00:00:00Z");
    get(400, path + "/history?cursor=forged");
    const std::string none = "/v1/failures/none/review";
    post(404, none, json{{"verdict", "right"}});
    remove(404, none);
    get(404, none + "/history");

    json run = rich_run();
    run["runId"] = "nothing-found";
    run["steps"] = json::array();
    run.erase("outcomeSummary");
    post(201, "/v1/ingest/runs", run);
    const std::string of_run = "/v1/runs/nothing-found/review";
    post(200, of_run, json{{"detector", "false_success"}, {"verdict", "missed"}, {"note", "seen"}});
    get(200, "/v1/runs/nothing-found");
    get(200, "/v1/detectors");
    post(409, "/v1/runs/" + failure["runId"].get<std::string>() + "/review", json{{"detector", failure["detectorKey"]}, {"verdict", "missed"}});
    post(422, of_run, json{{"verdict", "clean"}});
    remove(204, of_run + "?detector=false_success");
    remove(400, of_run + "?revision=1");
    get(200, of_run + "/history");
    get(400, of_run + "/history?limit=0");
    const std::string no_run = "/v1/runs/none/review";
    post(404, no_run, json{{"detector", "false_success"}, {"verdict", "clean"}});
    remove(404, no_run);
    get(404, no_run + "/history");
  }

  void prove() {
    const std::uint64_t size = json::parse(get(200, "/v1/ledger").body)["size"];
    get(400, "/v1/ledger?limit=1");
    const json run = json::parse(get(200, "/v1/runs?limit=1&state=resolved").body)["items"][0];
    get(200, "/v1/ledger/proof?record=" + run["runId"].get<std::string>());
    get(200, "/v1/ledger/proof?record=" + run["runId"].get<std::string>() + "&revision=1");
    get(400, "/v1/ledger/proof?record=");
    get(404, "/v1/ledger/proof?record=none");
    get(200, "/v1/ledger/consistency?from=1&to=" + std::to_string(size));
    get(400, "/v1/ledger/consistency?from=1&to=0");
  }

  // Names under .invalid lead nowhere: nothing is sent.
  void tell_webhooks() {
    const std::string webhooks = "/v1/webhooks";
    const json asked = {{"url", "https://receiver.invalid/hook"},
                        {"events", {"failure.created", "cluster.triaged"}},
                        {"filter", {{"detector", "false_success"}, {"minScore", 1}, {"severity", nullptr}}},
                        {"template", "standard"},
                        {"description", "a test"}};
    const HttpAnswer created = post(201, webhooks, asked);
    const json added = json::parse(created.body);
    const std::string one = webhooks + "/" + added["endpointId"].get<std::string>();
    EXPECT_EQ(created.header("location"), one);
    const json shown = json::parse(get(200, one).body);
    EXPECT_EQ(shown, json::parse(get(200, webhooks).body)["items"].at(0));
    EXPECT_FALSE(shown.contains("secret"));
    get(404, webhooks + "/none");
    post(422, webhooks, json{{"url", "http://receiver.invalid/"}, {"events", {"webhook.test"}}});
    post(202, one + "/test", json::object());
    post(202, one + "/test", std::string(), "Content-Length: 0\r\n", "");
    get(200, webhooks + "?limit=1");
    get(400, webhooks + "?cursor=abc");
    const json deliveries = json::parse(get(200, one + "/deliveries?limit=1&state=pending&since=2020-01-01T00:00:00Z").body);
    ASSERT_FALSE(deliveries["nextCursor"].is_null());
    get(200, one + "/deliveries?limit=1&state=pending&since=2020-01-01T00:00:00Z&cursor=" + deliveries["nextCursor"].get<std::string>());
    for (const std::string wrong : {"state=gone", "cursor=forged", "limit=0", "since=x", "until=x"}) get(400, one + "/deliveries?" + wrong);
    post(202, one + "/replay", json{{"deliveryId", deliveries["items"][0]["deliveryId"]}});
    post(202, one + "/replay", json{{"since", "2020-01-01T00:00:00Z"}, {"state", "dead"}});
    post(404, one + "/replay", json{{"deliveryId", "wd_0199a3f47c1e70008000010000000001"}});
    post(422, one + "/replay", json::object());
    EXPECT_NE(json::parse(post(200, one + "/rotate", json{{"overlap", "1h"}}).body)["secret"], added["secret"]);
    post(409, one + "/rotate", json::object());
    post(422, one + "/rotate", json{{"overlap", "forever"}});
    EXPECT_EQ(json::parse(post(200, one + "/disable", json::object()).body)["state"], "disabled");
    EXPECT_EQ(json::parse(post(200, one + "/enable", json::object()).body)["state"], "active");
    post(422, one + "/enable", json{{"own", 1}});
    for (int i = 1; i < 20; ++i) post(201, webhooks, asked);
    post(409, webhooks, asked);
    for (const std::string target : {"/rotate", "/test", "/enable", "/disable"}) post(404, webhooks + "/none" + target, json::object());
    get(404, webhooks + "/none/deliveries");
    const auto remove = [&](int status) { EXPECT_EQ(recorder_.send(*service_, {"DELETE", one, bearer(key_), {}, {}}).status, status); };
    remove(204);
    remove(404);
    get(404, one);
  }

  json record() const { return {{"exchanges", recorder_.exchanges()}, {"unprovoked", kUnprovoked}}; }

  // 500: a fault of the service. 503 of what stores nothing: only when thousands of requests are in flight at once.
  static inline const json kUnprovoked = {"* 500", "get 503", "get /v1/ledger 404", "get /v1/ledger/consistency 404", "post /v1/analyze 503", "post /v1/clusters/{clusterId}/triage 503", "post /v1/session 503",
                                          "post /v1/failures/{failureId}/review 503", "delete /v1/failures/{failureId}/review 503",
                                          "post /v1/runs/{runId}/review 503", "delete /v1/runs/{runId}/review 503",
                                          "post /v1/webhooks 503", "delete /v1/webhooks/{endpointId} 503",
                                          "post /v1/webhooks/{endpointId}/rotate 503", "post /v1/webhooks/{endpointId}/test 503",
                                          "post /v1/webhooks/{endpointId}/enable 503", "post /v1/webhooks/{endpointId}/disable 503",
                                          "post /v1/webhooks/{endpointId}/replay 503",
                                          "delete /v1/session 503", "post /v1/ingest/otlp/v1/metrics 503", "post /v1/ingest/otlp/v1/logs 503"};

  const json document_ = read_document();
  const std::vector<Operation> operations_ = operations_of(document_);
  Recorder recorder_;
  const ServiceProcess* service_ = nullptr;  // the one that lives
  std::string key_;
};

TEST_F(Openapi, TheDocumentIsWellFormed) {
  const CommandResult checked = check("document", document_);
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  EXPECT_EQ(document_["info"]["version"], RUNWARDEN_TEST_VERSION);
}

TEST_F(Openapi, ADocumentThatIsNotWellFormed_IsSeen) {
  json broken = document_;
  broken["components"]["schemas"]["Failure"]["properties"]["severity"]["$ref"] = "#/components/schemas/Nothing";
  EXPECT_NE(check("document", broken).out.find("leads nowhere"), std::string::npos);
  broken = document_;
  broken["paths"]["/v1/runs/{runId}"]["get"]["parameters"] = json::array();
  EXPECT_NE(check("document", broken).out.find("its path parameters are not those of the path"), std::string::npos);
  broken = document_;
  broken["components"]["examples"]["refundAnswer"]["value"]["state"] = "done";
  EXPECT_NE(check("document", broken).out.find("example refundAnswer"), std::string::npos);
}

// What `detectors test --explain --json` prints, by the schema of what the service answers.
TEST_F(Openapi, AnExplanationOfTheCommandLine_IsAsDocumented) {
  const TempFolder folder;
  const std::string file = folder.path() / "run.json";
  std::ofstream(file) << rich_run();
  json values = json::array();
  for (const char* key : {"false_success", "expensive_loop", "schema_ghost", "missing_tool_call", "context_overflow"}) {
    const CommandResult ran =
        run_command({runwarden_binary(), "detectors", "test", "--explain", "--json", plugin_folder() + "/" + key + ".so", file});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const json answer = json::parse(ran.out);
    EXPECT_EQ(answer["explanation"]["detectors"][0]["explained"], true) << key;
    values.push_back({{"schema", "Explanation"}, {"value", answer["explanation"]}});
  }
  EXPECT_FALSE(values[0]["value"]["actions"].empty());
  const CommandResult checked = check("values", document_, values);
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  values[0]["value"]["actions"][0]["effect"] = "Two words";
  EXPECT_NE(check("values", document_, values).out.find("Two words"), std::string::npos) << "the control: what must not pass";
}

TEST_F(Openapi, EveryRouteIsDocumented_AndNoOther) {
  std::set<std::string> served;
  for (const api::Route& route : api::routes()) {
    const std::map<api::Access, std::string> scopes = {
        {api::Access::ingest, "ingest"}, {api::Access::read, "read"}, {api::Access::manage, "manage"}};
    const auto found = scopes.find(route.access);
    const std::string scope = found == scopes.end() ? "" : found->second;
    served.insert(std::string(route.method) + " " + std::string(route.pattern) + " " + scope);
  }
  std::set<std::string> documented;
  for (const Operation& one : operations_) documented.insert(one.method + " " + one.path + " " + one.scope);
  EXPECT_EQ(served, documented);
}

TEST_F(Openapi, TheServiceGivesTheDocumentItWasBuiltWith) {
  ServiceProcess service;
  const std::string key = service.make_key();
  EXPECT_EQ(json::parse(service.get("/v1/openapi.json", key).body), document_);
  EXPECT_EQ(service.get("/v1/openapi.yaml", key).status, 404);
  for (const Operation& one : operations_) {
    if (one.of_session()) continue;
    const int status = service.request(one.method + " " + one.target + " HTTP/1.1\r\nHost: test\r\n\r\n").status;
    EXPECT_EQ(status, one.scope.empty() ? 200 : 401) << one.path;
  }
}

TEST_F(Openapi, EveryAnswerIsAsDocumented_AndEveryDocumentedStatusIsGiven) {
  provoke_refusals();
  provoke_timeouts();
  provoke_rate_limit();
  provoke_session();
  provoke_not_served();
  provoke_no_room();
  provoke_break_off();
  live();
  const json all = record();
  const CommandResult checked = check("answers", document_, all);
  ASSERT_EQ(checked.exit_code, 0) << checked.out << checked.err;

  // The control: what the check must not let pass.
  json wrong = all;
  for (json& one : wrong["exchanges"]) {
    if (one["target"] == "/v1/failures" && one["status"] == 200 && one["method"] == "GET") {
      json body = json::parse(one["body"].get<std::string>());
      body["items"][0]["suspicionSkore"] = body["items"][0]["suspicionScore"];
      body["items"][0].erase("suspicionScore");
      one["body"] = body.dump();
    }
    if (one["status"] == 409) one["status"] = 410;
    if (one["status"] == 429) one["headers"].erase("retry-after");
  }
  const std::string said = check("answers", document_, wrong).out;
  EXPECT_NE(said.find("'suspicionSkore' was unexpected"), std::string::npos) << said;
  EXPECT_NE(said.find("'suspicionScore' is a required property"), std::string::npos) << said;
  EXPECT_NE(said.find("410: the status is not documented"), std::string::npos) << said;
  EXPECT_NE(said.find("the field retry-after is missing"), std::string::npos) << said;
  EXPECT_NE(said.find("409: is documented, and was never seen"), std::string::npos) << said;
}

}  // namespace
}  // namespace runwarden::test
