// OpenTelemetry's spans over real HTTP: both encodings, codings, ways of sending a key; durable, in any order, once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "support/otlp.h"
#include "support/service_process.h"
#include "support/wait_until.h"

namespace runwarden::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kTraces = "/v1/ingest/otlp/v1/traces";
constexpr const char* kProtobuf = "application/x-protobuf";
constexpr const char* kJson = "application/json";

std::string text(const char* value) {
  return value;
}

std::string trace_id(int number) {
  const std::string digits = std::to_string(number);
  return "a" + std::string(31 - digits.size(), '0') + digits;
}

// A refund whose tool failed and which the agent claims to be done: the root is the last.
std::vector<OtlpSpan> refund(int trace) {
  OtlpSpan agent;
  agent.trace_id = trace_id(trace);
  agent.span_id = "000000000000000a";
  agent.name = "invoke_agent refunds";
  agent.attributes = {{"gen_ai.operation.name", text("invoke_agent")},
                      {"gen_ai.input.messages", text(R"([{"role":"user","parts":[{"type":"text","content":"Refund order 8842"}]}])")},
                      {"gen_ai.output.messages", text(R"([{"role":"assistant","parts":[{"type":"text","content":"Your refund has been processed."}]}])")}};
  OtlpSpan tool = agent;
  tool.span_id = "000000000000000b";
  tool.parent_id = agent.span_id;
  tool.name = "execute_tool issue_refund";
  tool.start_ms += 10;
  tool.status = 2;
  tool.status_message = "502 Bad Gateway";
  tool.attributes = {{"gen_ai.operation.name", text("execute_tool")},
                     {"gen_ai.tool.name", text("issue_refund")},
                     {"gen_ai.tool.call.arguments", text(R"({"order":8842})")}};
  OtlpSpan model = tool;
  model.span_id = "000000000000000c";
  model.name = "chat gpt-4o";
  model.start_ms += 10;
  model.status = 0;
  model.status_message.clear();
  model.attributes = {{"gen_ai.operation.name", text("chat")},
                      {"gen_ai.request.model", text("gpt-4o")},
                      {"gen_ai.output.messages", text(R"([{"role":"assistant","parts":[{"type":"text","content":"Your refund has been processed."}]}])")}};
  return {tool, model, agent};
}

std::string compressed(const std::string& plain, int window_bits) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::string out(compressBound(plain.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}
std::string gzipped(const std::string& plain) {
  return compressed(plain, 16 + MAX_WBITS);
}

// The fields of a message, by number; texts and numbers as text.
std::map<int, std::string> fields_of(const std::string& message) {
  std::map<int, std::string> fields;
  for (protozero::pbf_reader in(message); in.next();) {
    const int number = static_cast<int>(in.tag());
    fields[number] = in.wire_type() == protozero::pbf_wire_type::varint ? std::to_string(in.get_int64()) : std::string(in.get_string());
  }
  return fields;
}

class OtlpServer : public testing::Test {
 protected:
  explicit OtlpServer(const std::string& yaml = "buffer: {otlp_root_grace: 0s, otlp_idle_timeout: 1h}\n",
                      const std::string& limits = "{otlp_max_body_bytes: 1MiB}")
      : service_({.yaml = yaml, .server = {}, .limits = limits, .store = {}, .binary = {}, .environment = {}}), key_(service_.make_key()) {}

  HttpAnswer send(const std::string& body, const std::string& type = kJson, const std::string& fields = {}, const std::string& path = kTraces,
                  const std::string& authorization = "\n") const {
    const std::string key = authorization == "\n" ? "Authorization: Bearer " + key_ + "\r\n" : authorization;
    return service_.request("POST " + path + " HTTP/1.1\r\nHost: test\r\n" + key + fields + (type.empty() ? "" : "Content-Type: " + type + "\r\n") +
                            "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }

  json get(const std::string& path) const {
    const HttpAnswer answer = service_.get(path, key_);
    return answer.status == 200 ? json::parse(answer.body) : json{{"status", answer.status}};
  }

  // The run once it is resolved in that revision, or as it is after some seconds.
  json resolved(const std::string& run_id, int revision = 1) const {
    json run;
    const auto is_resolved = [&] {
      run = get("/v1/runs/" + run_id);
      return run.value("state", "") == "resolved" && run.value("revision", 0) == revision;
    };
    if (!wait_until(is_resolved)) ADD_FAILURE() << run.dump();
    return run;
  }

  ServiceProcess service_;
  std::string key_;
};

TEST_F(OtlpServer, SpansInEitherEncoding_BecomeARunThatIsJudged) {
  const HttpAnswer in_json = send(otlp_json(refund(1)));
  EXPECT_EQ(in_json.status, 200);
  EXPECT_EQ(in_json.body, "{}");
  EXPECT_EQ(in_json.header("content-type"), kJson);
  const HttpAnswer in_protobuf = send(otlp_protobuf(refund(2)), kProtobuf);
  EXPECT_EQ(in_protobuf.status, 200);
  EXPECT_EQ(in_protobuf.body, "");
  EXPECT_EQ(in_protobuf.header("content-type"), kProtobuf);
  for (const int trace : {1, 2}) {
    const json run = resolved(trace_id(trace));
    EXPECT_EQ(run["resolution"], "final");
    EXPECT_EQ(run["userRequestText"], "Refund order 8842");
    EXPECT_EQ(run["outcomeSummary"], "Your refund has been processed.");
    EXPECT_FALSE(run.contains("success"));
    ASSERT_EQ(run["steps"].size(), 2u);
    EXPECT_EQ(run["steps"][0]["stepName"], "issue_refund");
    ASSERT_EQ(run["failures"].size(), 1u) << run.dump(1);
    EXPECT_EQ(run["failures"][0]["detectorKey"], "false_success");
  }
}

TEST_F(OtlpServer, PathsCodingsAndTypes_AreThoseOfExporters) {
  const std::string body = otlp_json(refund(1));
  for (const char* path : {"/v1/ingest/otlp", "/v1/ingest/otlp/", "/v1/ingest/otlp/v1/traces", "/v1/ingest/otlp/v1/traces/"}) {
    EXPECT_EQ(send(body, kJson, {}, path).status, 200) << path;
  }
  EXPECT_EQ(send(body, kJson, {}, "/v1/ingest/otlp//").status, 404);
  EXPECT_EQ(send(body, kJson, {}, "/v1/ingest/otlp/v1").status, 404);
  EXPECT_EQ(send(gzipped(body), "application/json; charset=utf-8", "Content-Encoding: gzip\r\n").status, 200);
  EXPECT_EQ(send(compressed(otlp_protobuf(refund(2)), MAX_WBITS), kProtobuf, "Content-Encoding: deflate\r\n").status, 200);
  EXPECT_EQ(send(gzipped(otlp_protobuf(refund(2))), kProtobuf, "Content-Encoding: gzip\r\n").status, 200) << "as a Collector's otlphttp exporter";
  EXPECT_EQ(send(body, kJson, "Content-Encoding: identity\r\n").status, 200);
  EXPECT_EQ(send("", kProtobuf).status, 200);
  EXPECT_EQ(send("{}", kJson).body, "{}");
  for (const char* path : {"/v1/ingest/otlp/v1/metrics", "/v1/ingest/otlp/v1/logs/"}) {
    EXPECT_EQ(send("\x01\x02", kProtobuf, {}, path).status, 200);
    EXPECT_EQ(send("{\"resourceLogs\":[]}", kJson, {}, path).body, "{}");
  }
  const std::string chunk = body.substr(0, 100);
  const HttpAnswer chunked = service_.request("POST " + text(kTraces) + " HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer " + key_ +
                                              "\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n" + chunk + "\r\n" +
                                              [&] {
                                                char size[16];
                                                std::snprintf(size, sizeof size, "%zx", body.size() - 100);
                                                return std::string(size);
                                              }() +
                                              "\r\n" + body.substr(100) + "\r\n0\r\n\r\n");
  EXPECT_EQ(chunked.status, 200);
}

TEST_F(OtlpServer, Refusals_AreInTheEncodingOfTheRequest) {
  const HttpAnswer as_json = send("{\"resourceSpans\":[{", kJson);
  EXPECT_EQ(as_json.status, 400);
  EXPECT_EQ(as_json.header("content-type"), kJson);
  EXPECT_EQ(json::parse(as_json.body)["code"], 3);
  const HttpAnswer as_protobuf = send("\x0a\xff", kProtobuf);
  EXPECT_EQ(as_protobuf.status, 400);
  EXPECT_EQ(as_protobuf.header("content-type"), kProtobuf);
  EXPECT_EQ(fields_of(as_protobuf.body)[1], "3");
  EXPECT_THAT(fields_of(as_protobuf.body)[2], HasSubstr("ExportTraceServiceRequest"));
  const HttpAnswer no_key = send("", kProtobuf, {}, kTraces, "");
  EXPECT_EQ(no_key.status, 401);
  EXPECT_EQ(fields_of(no_key.body)[1], "16");
  EXPECT_EQ(no_key.header("www-authenticate"), "Bearer");
  const HttpAnswer too_large = send(std::string(1'100'000, ' '), kProtobuf);
  EXPECT_EQ(too_large.status, 413);
  EXPECT_EQ(fields_of(too_large.body)[1], "8");
  EXPECT_THAT(fields_of(too_large.body)[2], HasSubstr("decoded); lower the exporter's batch size, or raise the limit"));
  const HttpAnswer bomb = send(gzipped(std::string(50'000'000, ' ')), kJson, "Content-Encoding: gzip\r\n");
  EXPECT_EQ(bomb.status, 413);
  EXPECT_EQ(json::parse(bomb.body)["code"], 8);
  const HttpAnswer no_gzip = send("{}", kJson, "Content-Encoding: gzip\r\n");
  EXPECT_EQ(no_gzip.status, 400);
  EXPECT_EQ(json::parse(no_gzip.body)["code"], 3);
  EXPECT_EQ(send("{}", "text/plain").status, 415);
  const HttpAnswer unknown_coding = send("{}", kJson, "Content-Encoding: br\r\n");
  EXPECT_EQ(unknown_coding.status, 415);
  EXPECT_THAT(unknown_coding.body, HasSubstr("send gzip, deflate, or none"));
  const HttpAnswer wrong_path = send("", kProtobuf, {}, "/v1/ingest/otlp/v1/spans");
  EXPECT_EQ(wrong_path.status, 404);
  EXPECT_EQ(wrong_path.header("content-type"), kProtobuf);
  EXPECT_EQ(send("{}", kJson, {}, "/v1/ingest/otlp/v1/spans").header("content-type"), kJson);
  EXPECT_EQ(send("{}", kJson, {}, "/v1/ingest/otlpv1").header("content-type"), "application/problem+json");
  const HttpAnswer with_get = service_.get(kTraces, key_);
  EXPECT_EQ(with_get.status, 405);
  EXPECT_EQ(with_get.header("allow"), "POST");
  // Elsewhere nothing has changed.
  EXPECT_EQ(send("x", kJson, "Content-Encoding: deflate\r\n", "/v1/ingest/runs").status, 415);
  EXPECT_EQ(send("", kProtobuf, {}, "/v1/ingest/runs").status, 415);
}

TEST_F(OtlpServer, JsonOfTheWrongShape_IsRefusedAndNotLost) {
  const auto refused = [&](const std::string& body) {
    const HttpAnswer answer = send(body);
    EXPECT_EQ(answer.status, 400) << body;
    return answer.body;
  };
  EXPECT_THAT(refused(R"({"resourceSpans":{"scopeSpans":[]}})"), HasSubstr("/resourceSpans must be a list"));
  const std::string good = otlp_json({refund(1)[0]});
  std::string bad = good;
  bad.replace(bad.find(R"("attributes":[{"key":"gen_ai)"), 13, R"("attributes":7,"x":)");
  EXPECT_THAT(refused(bad), HasSubstr("/resourceSpans/0/scopeSpans/0/spans/0/attributes must be a list"));
  EXPECT_EQ(get("/v1/runs/" + trace_id(1))["status"], 404);
  EXPECT_EQ(send(good).status, 200);
}

// A tool whose failure only an inner instrumentation tells, and a title that is made beside the agent.
TEST_F(OtlpServer, ATraceWithMoreThanTheAgent_IsReadAsTheAgents) {
  std::vector<OtlpSpan> spans = refund(1);
  OtlpSpan root = spans[2];
  root.span_id = "0000000000000001";
  root.name = "POST /chat";
  root.attributes.clear();
  OtlpSpan inner = spans[0];
  inner.parent_id = inner.span_id;
  inner.span_id = "000000000000000d";
  spans[0].attributes.pop_back();
  spans[0].status = 0;
  spans[0].status_message.clear();
  spans[1].attributes.back() = {"gen_ai.output.messages", text(R"([{"role":"assistant","content":"Sorry, the refund failed."}])")};
  spans[1].attributes.push_back({"gen_ai.input.messages", text(R"([{"role":"user","content":"Refund order 8842"}])")});
  spans[2].attributes.resize(1);
  spans[2].parent_id = root.span_id;
  OtlpSpan title = spans[1];
  title.parent_id = root.span_id;
  title.span_id = "000000000000000e";
  title.start_ms += 1000;
  title.attributes.pop_back();
  title.attributes.back() = {"gen_ai.output.messages", text(R"([{"role":"assistant","content":"Your refund has been processed."}])")};
  spans.insert(spans.end(), {inner, title, root});
  ASSERT_EQ(send(otlp_json(spans)).status, 200);
  json run = resolved(trace_id(1));
  EXPECT_EQ(run["userRequestText"], "Refund order 8842");
  EXPECT_EQ(run["outcomeSummary"], "Sorry, the refund failed.");
  ASSERT_EQ(run["steps"].size(), 3u) << run.dump(1);
  EXPECT_EQ(run["steps"][0]["status"], "failed");
  EXPECT_EQ(run["steps"][0]["errorMessage"], "502 Bad Gateway");
  EXPECT_EQ(run["steps"][0]["inputSummary"], R"({"order":8842})");
  for (const json& failure : run["failures"]) EXPECT_NE(failure["detectorKey"], "false_success") << failure.dump(1);
}

TEST_F(OtlpServer, AKey_MayComeAsOthersSendIt) {
  const std::string basic = "Authorization: Basic " + bytes_to_base64("runwarden:" + key_) + "\r\n";
  EXPECT_EQ(send("{}", kJson, {}, kTraces, basic).status, 200);
  EXPECT_EQ(send("{}", kJson, {}, kTraces, "x-api-key: " + key_ + "\r\n").status, 200);
  EXPECT_EQ(send("{}", kJson, {}, kTraces, "Authorization: Bearer%20" + key_ + "\r\n").status, 200);
  EXPECT_EQ(send("{}", kJson, {}, kTraces, "Authorization: Bearer%20\r\n").status, 401);
  EXPECT_EQ(send("{}", kJson, {}, "/v1/ingest/runs", "Authorization: Bearer%20" + key_ + "\r\n").status, 401);
  EXPECT_EQ(send("{}", kJson, {}, kTraces, "x-api-key: no-key\r\n").status, 401);
  EXPECT_EQ(send("{}", kJson, {}, kTraces, "Authorization: Basic " + bytes_to_base64("x:y") + "\r\n").status, 401);
  EXPECT_EQ(send("{}", kJson, {}, kTraces, "Authorization: Basic ???\r\n").status, 401);
  EXPECT_EQ(send("{}", kJson, {}, kTraces, "Authorization: Bearer no-key\r\nx-api-key: " + key_ + "\r\n").status, 401);
  EXPECT_EQ(send("{}", kJson, {}, "/v1/ingest/runs", basic).status, 401);
  const std::string reader = service_.make_key("acme", "read");
  EXPECT_EQ(send("{}", kJson, {}, kTraces, "Authorization: Bearer " + reader + "\r\n").status, 403);
}

TEST_F(OtlpServer, ABadSpan_IsTheOnlyOneRefused) {
  std::vector<OtlpSpan> spans = refund(1);
  OtlpSpan bad = spans[0];
  bad.span_id = "0000000000000000";
  spans.push_back(bad);
  const HttpAnswer answer = send(otlp_json(spans));
  EXPECT_EQ(answer.status, 200);
  const json partial = json::parse(answer.body)["partialSuccess"];
  EXPECT_EQ(partial["rejectedSpans"], "1");
  EXPECT_THAT(partial["errorMessage"].get<std::string>(), HasSubstr("spanId"));
  EXPECT_EQ(resolved(trace_id(1))["steps"].size(), 2u);
  bad.trace_id = "00";
  const HttpAnswer of_protobuf = send(otlp_protobuf({bad}), kProtobuf);
  EXPECT_EQ(of_protobuf.status, 200);
  const auto inner = fields_of(fields_of(of_protobuf.body)[1]);
  EXPECT_EQ(inner.at(1), "1");
  EXPECT_THAT(inner.at(2), HasSubstr("traceId"));
  EXPECT_THAT(service_.request("GET /metrics HTTP/1.1\r\nHost: t\r\n\r\n").body, HasSubstr("runwarden_otlp_spans_total{result=\"rejected\"} 2"));
}

TEST_F(OtlpServer, ASpanWithAVeryDeepAttribute_IsTheOnlyOneRefused) {
  std::string deep = R"({"intValue":"1"})";
  for (int i = 0; i < 500; ++i) deep = R"({"arrayValue":{"values":[)" + deep + "]}}";
  std::vector<OtlpSpan> spans = refund(1);
  OtlpSpan bad = spans[0];
  bad.span_id = "b7ad6b7169203399";
  bad.attributes = {{"deep", "here"}};
  spans.push_back(bad);
  std::string body = otlp_json(spans);
  const std::string place = R"({"stringValue":"here"})";
  ASSERT_NE(body.find(place), std::string::npos) << body;
  body.replace(body.find(place), place.size(), deep);
  const HttpAnswer answer = send(body);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json partial = json::parse(answer.body)["partialSuccess"];
  EXPECT_EQ(partial["rejectedSpans"], "1");
  EXPECT_THAT(partial["errorMessage"].get<std::string>(), HasSubstr("nested deeper"));
  EXPECT_EQ(resolved(trace_id(1))["steps"].size(), 2u);
}

TEST_F(OtlpServer, ASpanWithABadParentId_IsRefused_AndDoesNotEndItsRun) {
  OtlpSpan part = refund(1)[0];
  part.parent_id = "abc";
  const HttpAnswer answer = send(otlp_json({part, refund(1)[1]}));
  EXPECT_EQ(answer.status, 200);
  const json partial = json::parse(answer.body)["partialSuccess"];
  EXPECT_EQ(partial["rejectedSpans"], "1");
  EXPECT_THAT(partial["errorMessage"].get<std::string>(), HasSubstr("(000000000000000b) has a parentSpanId"));
  EXPECT_EQ(get("/v1/runs/" + trace_id(1))["state"], "open");
}

TEST_F(OtlpServer, ManyTracesInOneRequest_AreManyRuns) {
  std::vector<OtlpSpan> spans;
  for (int trace = 1; trace <= 20; ++trace) {
    for (OtlpSpan& span : refund(trace)) spans.push_back(std::move(span));
  }
  ASSERT_EQ(send(otlp_protobuf(spans), kProtobuf).status, 200);
  for (int trace = 1; trace <= 20; ++trace) EXPECT_EQ(resolved(trace_id(trace))["steps"].size(), 2u);
  EXPECT_EQ(get("/v1/runs?source=otlp&limit=1000")["items"].size(), 20u);
}

TEST_F(OtlpServer, SpansOfTheSameTraceOfTwoTenants_AreTwoRuns) {
  const std::string other = service_.make_key("globex");
  ASSERT_EQ(send(otlp_json({refund(1)[0]})).status, 200);
  ASSERT_EQ(send(otlp_json(refund(1)), kJson, {}, kTraces, "Authorization: Bearer " + other + "\r\n").status, 200);
  EXPECT_EQ(get("/v1/runs/" + trace_id(1))["state"], "open");
  EXPECT_EQ(get("/v1/runs/" + trace_id(1))["steps"].size(), 1u);
}

TEST_F(OtlpServer, RequestsAcrossKills_InAnyOrderAndTwice_MakeTheSameRun) {
  for (const OtlpSpan& span : refund(1)) {
    ASSERT_EQ(send(otlp_json({span})).status, 200);
    if (span.parent_id.empty()) break;
    service_.kill_hard();
    service_.start();
    ASSERT_EQ(send(otlp_protobuf({span}), kProtobuf).status, 200);  // a client that did not see the answer
  }
  const json run = resolved(trace_id(1));
  EXPECT_EQ(run["steps"].size(), 2u);
  EXPECT_EQ(run["failures"].size(), 1u);
  ASSERT_EQ(send(otlp_json(refund(1))).status, 200);
  EXPECT_EQ(get("/v1/runs/" + trace_id(1))["state"], "resolved");
  EXPECT_EQ(get("/v1/runs/" + trace_id(1))["revision"], 1);
}

TEST_F(OtlpServer, LateSpans_OpenTheNextRevision) {
  const auto spans = refund(1);
  ASSERT_EQ(send(otlp_json({spans[2]})).status, 200);
  EXPECT_TRUE(resolved(trace_id(1))["steps"].empty());
  ASSERT_EQ(send(otlp_json({spans[0], spans[1]})).status, 200);
  const json second = resolved(trace_id(1), 2);
  EXPECT_EQ(second["steps"].size(), 2u);
  EXPECT_EQ(second["failures"].size(), 1u);
  EXPECT_TRUE(get("/v1/runs/" + trace_id(1) + "?revision=1")["steps"].empty());
  OtlpSpan mended = spans[0];  // a later version of the tool's span
  mended.status = 0;
  mended.status_message.clear();
  mended.attributes.push_back({"gen_ai.tool.call.result", text(R"({"refunded":true})")});
  ASSERT_EQ(send(otlp_json({mended})).status, 200);
  const json third = resolved(trace_id(1), 3);
  EXPECT_EQ(third["steps"].size(), 2u);
  EXPECT_EQ(third["steps"][0]["status"], "succeeded");
  EXPECT_TRUE(third["failures"].empty());
}

TEST_F(OtlpServer, AnUnfinishedCopyOfASpan_TakesNothingBack) {
  const auto spans = refund(1);
  OtlpSpan running = spans[0];
  running.status = 0;
  running.status_message.clear();
  running.end_ms = 0;
  ASSERT_EQ(send(otlp_json(spans)).status, 200);
  EXPECT_EQ(resolved(trace_id(1))["failures"].size(), 1u);
  ASSERT_EQ(send(otlp_json({running})).status, 200);
  const json run = get("/v1/runs/" + trace_id(1));
  EXPECT_EQ(run["state"], "resolved") << "it does not open the run again";
  EXPECT_EQ(run["revision"], 1);
  EXPECT_EQ(run["failures"].size(), 1u);
  OtlpSpan later = spans[1];
  later.span_id = "000000000000000d";
  ASSERT_EQ(send(otlp_json({running, later})).status, 200);
  const json second = resolved(trace_id(1), 2);
  EXPECT_EQ(second["steps"][0]["status"], "failed");
  EXPECT_EQ(second["steps"].size(), 3u);
  EXPECT_EQ(second["failures"].size(), 1u);
}

TEST_F(OtlpServer, AnUnfinishedSpanWhoseEndHasNotCome_OpensItsRunAgain) {
  const auto spans = refund(1);
  OtlpSpan running = spans[0];
  running.status = 0;
  running.status_message.clear();
  running.end_ms = 0;
  ASSERT_EQ(send(otlp_json({spans[1], spans[2]})).status, 200);
  EXPECT_EQ(resolved(trace_id(1))["steps"].size(), 1u);
  ASSERT_EQ(send(otlp_json({running})).status, 200);
  EXPECT_EQ(resolved(trace_id(1), 2)["steps"].size(), 2u);
}

TEST_F(OtlpServer, AnIdThatAnotherKindOfRunHas_IsLeftToIt) {
  ASSERT_EQ(service_.post("/v1/ingest/runs", key_, R"({"runId":")" + trace_id(1) + R"(","steps":[]})").status, 201);
  std::vector<OtlpSpan> spans = refund(1);
  for (OtlpSpan& span : refund(2)) spans.push_back(span);
  const HttpAnswer answer = send(otlp_json(spans));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(json::parse(answer.body)["partialSuccess"]["rejectedSpans"], "3");
  EXPECT_EQ(resolved(trace_id(2))["steps"].size(), 2u);
  EXPECT_TRUE(get("/v1/runs/" + trace_id(1))["steps"].empty());
  const HttpAnswer events = service_.post("/v1/ingest/events", key_, R"({"runId":")" + trace_id(2) + R"(","events":[{"type":"tool_call"}]})");
  EXPECT_EQ(events.status, 409) << events.body;
  EXPECT_THAT(events.body, HasSubstr("came from OpenTelemetry"));
  ASSERT_EQ(send(otlp_json({refund(3)[0]})).status, 200);
  const HttpAnswer whole = service_.post("/v1/ingest/runs", key_, R"({"runId":")" + trace_id(3) + R"(","steps":[{},{}]})");
  EXPECT_EQ(whole.status, 409) << whole.body;
  EXPECT_THAT(whole.body, HasSubstr("came from OpenTelemetry"));
}

TEST_F(OtlpServer, Lists_TellRunsOfTracesFromOthers) {
  ASSERT_EQ(service_.post("/v1/ingest/runs", key_, R"({"runId":"plain","steps":[]})").status, 201);
  ASSERT_EQ(send(otlp_json(refund(1))).status, 200);
  ASSERT_EQ(send(otlp_json({refund(2)[0]})).status, 200);
  resolved(trace_id(1));
  const auto ids = [&](const std::string& query) {
    std::string found;
    const json list = get("/v1/runs?" + query);
    for (const json& run : list["items"]) found += run["runId"].get<std::string>() + " ";
    return found;
  };
  EXPECT_EQ(ids("source=otlp"), trace_id(2) + " " + trace_id(1) + " ");
  EXPECT_EQ(ids("source=otlp&state=open&view=head"), trace_id(2) + " ");
  EXPECT_EQ(ids("source=client"), "plain ");
  EXPECT_EQ(service_.get("/v1/runs?source=mars", key_).status, 400);
  const json head = get("/v1/runs/" + trace_id(2) + "?view=head");
  EXPECT_EQ(head["stepCount"], 1) << head.dump();
}

TEST_F(OtlpServer, AMapping_SaysWhereFieldsCameFrom) {
  ASSERT_EQ(send(otlp_json(refund(1))).status, 200);
  resolved(trace_id(1));
  const json mapping = get("/v1/runs/" + trace_id(1) + "/mapping");
  EXPECT_EQ(mapping["source"], "otlp");
  EXPECT_EQ(mapping["spans"], 3);
  EXPECT_THAT(mapping["fields"].dump(), HasSubstr("gen_ai.tool.name"));
  EXPECT_THAT(mapping["missing"].dump(), HasSubstr("gen_ai.usage.input_tokens"));
  ASSERT_EQ(service_.post("/v1/ingest/runs", key_, R"({"runId":"plain","steps":[]})").status, 201);
  EXPECT_EQ(service_.get("/v1/runs/plain/mapping", key_).status, 404);
  EXPECT_EQ(service_.get("/v1/runs/none/mapping", key_).status, 404);
  EXPECT_EQ(service_.get("/v1/runs/" + trace_id(1) + "/mapping?x=1", key_).status, 400);
}

TEST_F(OtlpServer, OneModelSpanAlone_IsNotEvaluableForMissingToolCall) {
  OtlpSpan model = refund(1)[1];
  model.parent_id.clear();
  model.attributes.push_back({"gen_ai.input.messages", text("Cancel my subscription")});
  model.attributes[2] = {"gen_ai.output.messages", text(R"([{"role":"assistant","parts":[{"type":"text","content":"Done, your subscription has been cancelled."}]}])")};
  ASSERT_EQ(send(otlp_json({model})).status, 200);
  const json run = resolved(trace_id(1));
  EXPECT_EQ(run["metadata"]["onlyModelSpan"], true);
  for (const json& detector : run["detectors"]) {
    if (detector["key"] == "missing_tool_call") {
      EXPECT_EQ(detector["status"], "not_evaluable");
      EXPECT_THAT(detector["reason"].get<std::string>(), HasSubstr("a single model span"));
    }
  }
}

TEST_F(OtlpServer, TheMarkOfOneModelSpan_IsNotAClientsToSet) {
  const std::string run = R"({"runId":"r","userRequestText":"Cancel my subscription","metadata":{"onlyModelSpan":true},)"
                          R"("steps":[{"stepKind":"model","outputSummary":"Done, your subscription has been cancelled."}]})";
  ASSERT_EQ(service_.post("/v1/ingest/runs", key_, run).status, 201);
  const json stored = get("/v1/runs/r");
  EXPECT_FALSE(stored["metadata"].contains("onlyModelSpan"));
  ASSERT_EQ(stored["failures"].size(), 1u) << stored.dump(1);
  EXPECT_EQ(stored["failures"][0]["detectorKey"], "missing_tool_call");
  const std::string events = R"({"runId":"e","final":true,"events":[{"type":"run_started","userRequestText":"Cancel my subscription","metadata":{"onlyModelSpan":true}},)"
                             R"({"type":"model_output","text":"Done, your subscription has been cancelled."}]})";
  ASSERT_EQ(service_.post("/v1/ingest/events", key_, events).status, 201);
  EXPECT_EQ(get("/v1/runs/e")["failures"].size(), 1u);
}

TEST_F(OtlpServer, AClaimInARunWhoseRootFailed_IsFound) {
  std::vector<OtlpSpan> spans = refund(1);
  spans[2].status = 2;
  spans[2].status_message = "tool issue_refund failed";
  ASSERT_EQ(send(otlp_json(spans)).status, 200);
  const json run = resolved(trace_id(1));
  EXPECT_EQ(run["success"], false);
  EXPECT_EQ(run["outcomeSummary"], "Your refund has been processed.");
  EXPECT_EQ(run["metadata"]["errorMessage"], "tool issue_refund failed");
  ASSERT_EQ(run["failures"].size(), 1u) << run.dump(1);
  EXPECT_EQ(run["failures"][0]["detectorKey"], "false_success");
}

class OtlpGrace : public OtlpServer {
 protected:
  OtlpGrace() : OtlpServer("buffer: {otlp_root_grace: 1h, otlp_idle_timeout: 300ms, max_events: 4}\n") {}
};

TEST_F(OtlpGrace, WithoutARoot_ARunResolvesWhenNothingCame) {
  ASSERT_EQ(send(otlp_json({refund(1)[0]})).status, 200);
  ASSERT_EQ(send(otlp_json(refund(2))).status, 200);
  const json run = resolved(trace_id(1));
  EXPECT_EQ(run["resolution"], "idle");
  EXPECT_EQ(run["metadata"]["rootArrived"], false);
  EXPECT_EQ(get("/v1/runs/" + trace_id(2))["state"], "open") << "its root has come: it has an hour for the rest";
}

TEST_F(OtlpGrace, AsManySpansAsARevisionMayHave_EndIt) {
  std::vector<OtlpSpan> spans;
  for (int i = 0; i < 6; ++i) {
    spans.push_back(refund(1)[0]);
    spans.back().span_id.back() = static_cast<char>('1' + i);
  }
  ASSERT_EQ(send(otlp_json(spans)).status, 200);
  const json run = resolved(trace_id(1), 2);
  EXPECT_EQ(run["steps"].size(), 6u);
  EXPECT_EQ(get("/v1/runs/" + trace_id(1) + "?revision=1")["resolution"], "max_events");
}

class OtlpRedaction : public OtlpServer {
 protected:
  OtlpRedaction()
      : OtlpServer("buffer: {otlp_root_grace: 1h}\nredact: {rules: [{kind: email}, {key: api_key}, {pointer: /steps/*/outputSummary}, {pointer: /metadata/sessionId}]}\n") {}
};

TEST_F(OtlpRedaction, Secrets_AreTakenOutBeforeSpansAreStored) {
  std::vector<OtlpSpan> spans = refund(1);
  spans[0].attributes[2] = {"gen_ai.tool.call.arguments", text(R"({"api_key":"tops3cret","to":"bob@example.com"})")};
  spans[0].attributes.push_back({"gen_ai.tool.call.result", text("internal note")});
  spans[2].attributes.push_back({"session.id", text("hidden-session")});
  ASSERT_EQ(send(otlp_json(spans)).status, 200);
  OtlpSpan aside = spans[2];
  aside.span_id = "000000000000000d";
  aside.parent_id = "000000000000000a";
  aside.attributes = {};
  ASSERT_EQ(send(otlp_json({aside}, "client of carol@example.com")).status, 200);
  const HttpAnswer mapping = service_.get("/v1/runs/" + trace_id(1) + "/mapping", key_);
  EXPECT_EQ(json::parse(mapping.body)["ignoredSpans"][0]["scope"], "client of [redacted:email]");
  const HttpAnswer open = service_.get("/v1/runs/" + trace_id(1), key_);
  EXPECT_EQ(open.status, 200);
  EXPECT_THAT(open.body, HasSubstr("[redacted:"));
  const CommandResult exported = service_.cli({"export", "--tenant", "acme"});
  EXPECT_THAT(exported.out, HasSubstr("otlp_span"));
  for (const char* secret : {"tops3cret", "bob@example.com", "carol@example.com", "internal note", "hidden-session"}) {
    EXPECT_EQ(open.body.find(secret), std::string::npos) << secret;
    EXPECT_EQ(exported.out.find(secret), std::string::npos) << secret;
  }
}

}  // namespace
}  // namespace runwarden::test
