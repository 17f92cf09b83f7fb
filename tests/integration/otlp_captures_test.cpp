// What real exporters and agent frameworks sent (tests/data/otlp), byte for byte: a tool that threw and a claim that the refund is done
// are a false_success, whichever convention tells of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/files.h"
#include "support/service_process.h"
#include "support/wait_until.h"

namespace runwarden::test {
namespace {

using nlohmann::json;
using testing::StartsWith;

struct Capture {
  const char* file;
  const char* tool = "issue_refund";
};
void PrintTo(const Capture& capture, std::ostream* out) {
  *out << capture.file;
}

class OtlpCaptures : public testing::TestWithParam<Capture> {
 protected:
  OtlpCaptures()
      : service_({.yaml = "buffer: {otlp_root_grace: 0s, otlp_idle_timeout: 1h}\n", .server = {}, .limits = {}, .store = {}, .binary = {}, .environment = {}}),
        key_(service_.make_key()) {}

  HttpAnswer send(const std::string& body, const std::string& type) const {
    return service_.request("POST /v1/ingest/otlp/v1/traces HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer " + key_ + "\r\nContent-Type: " + type +
                            "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  json get(const std::string& path) const { return json::parse(service_.get(path, key_).body); }
  // The only run of the tenant, once it is resolved.
  json resolved() const {
    json items;
    const auto is_resolved = [&] {
      items = get("/v1/runs?source=otlp")["items"];
      return items.size() == 1 && items[0]["state"] == "resolved";
    };
    if (!wait_until(is_resolved)) throw std::runtime_error("no run was resolved");
    return items[0];
  }

  ServiceProcess service_;
  const std::string key_;
};

TEST_P(OtlpCaptures, ARefundThatFailedAndIsClaimed_IsAFalseSuccess) {
  const std::filesystem::path file = std::filesystem::path(RUNWARDEN_TEST_CAPTURES) / GetParam().file;
  const std::string body = read_file(file);
  ASSERT_FALSE(body.empty()) << file;
  const bool is_json = file.extension() == ".json";
  const HttpAnswer answer = send(body, is_json ? "application/json" : "application/x-protobuf");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.body, is_json ? "{}" : "") << "all spans were accepted";

  const json run = resolved();
  EXPECT_EQ(run["userRequestText"], "Refund order 1234");
  EXPECT_EQ(run["outcomeSummary"], "Your refund has been processed.");
  EXPECT_EQ(run["metadata"]["inputTokens"], 311) << "the sum of the two calls of the model, once";
  EXPECT_THAT(run["metadata"]["model"].get<std::string>(), StartsWith("gpt-4o-mini"));
  ASSERT_EQ(run["steps"].size(), 3u) << run["steps"].dump(1);
  EXPECT_EQ(run["steps"][1]["stepKind"], "tool");
  EXPECT_EQ(run["steps"][1]["stepName"], GetParam().tool);
  EXPECT_EQ(run["steps"][1]["status"], "failed");
  ASSERT_EQ(run["failures"].size(), 1u) << run["failures"].dump(1);
  EXPECT_EQ(run["failures"][0]["detectorKey"], "false_success");

  // The exporter sends it again after a lost answer.
  EXPECT_EQ(send(body, is_json ? "application/json" : "application/x-protobuf").status, 200);
  EXPECT_EQ(resolved()["revision"], 1);
}

INSTANTIATE_TEST_SUITE_P(Clients, OtlpCaptures,
                         testing::Values(Capture{"opentelemetry.pb"}, Capture{"opentelemetry.json"}, Capture{"ai-sdk.pb"}, Capture{"ai-sdk-legacy.pb"},
                                         Capture{"openai-agents-openinference.pb"}, Capture{"langchain-openinference.pb"}, Capture{"langsmith.pb"},
                                         Capture{"openllmetry.pb", "DynamicStructuredTool"}, Capture{"langfuse.pb"}),
                         [](const auto& test) {
                           std::string name = test.param.file;
                           for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace runwarden::test
