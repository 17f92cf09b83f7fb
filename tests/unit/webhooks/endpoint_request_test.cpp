#include "webhooks/endpoint_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace runwarden::webhooks {
namespace {

using model::MessageType;
using ::testing::ElementsAre;

Result<model::Endpoint> read(const std::string& body) {
  return read_endpoint_request(body, *http_client::AddressRules::make({}, false), {"false_success", "schema_ghost"});
}
std::vector<std::string> faults(const std::string& body) {
  std::vector<std::string> pointers;
  const auto result = read(body);
  if (result.ok()) return pointers;
  EXPECT_EQ(result.error().code, Code::validation_failed);
  for (const FieldFault& fault : result.error().faults) pointers.push_back(fault.pointer + " " + fault.code);
  return pointers;
}

TEST(EndpointRequest, TakesEveryMember) {
  const auto endpoint = read(R"({"url": "https://x.example/", "events": ["failure.created", "cluster.triaged", "failure.created"],
    "filter": {"detector": "false_success", "minScore": 80.0, "severity": "high"}, "template": "slack", "description": "ops"})");
  ASSERT_TRUE(endpoint.ok()) << endpoint.error().detail;
  EXPECT_THAT(endpoint->events, ElementsAre(MessageType::failure_created, MessageType::cluster_triaged));
  EXPECT_EQ(endpoint->filter.detector, "false_success");
  EXPECT_EQ(endpoint->filter.min_score, 80);
  EXPECT_EQ(endpoint->filter.severity, model::Severity::high);
  EXPECT_EQ(endpoint->form, model::MessageTemplate::slack);
  EXPECT_EQ(endpoint->description, "ops");
}

TEST(EndpointRequest, ADetectorThatIsNotConfigured_IsRefusedWithTheKnownOnes) {
  const auto misspelt = read(R"({"url": "https://x.example/", "filter": {"detector": "false_sucess"}})");
  ASSERT_FALSE(misspelt.ok());
  ASSERT_EQ(misspelt.error().faults.size(), 1u);
  EXPECT_EQ(misspelt.error().faults[0].pointer, "/filter/detector");
  EXPECT_EQ(misspelt.error().faults[0].code, "unknown_detector");
  EXPECT_EQ(misspelt.error().faults[0].detail, "no detector \"false_sucess\" is configured; the nearest known one is false_success");
  const auto other = read(R"({"url": "https://x.example/", "filter": {"detector": "pii"}})");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().faults.at(0).detail, "no detector \"pii\" is configured; the known ones are false_success, schema_ghost");
  EXPECT_TRUE(read(R"({"url": "https://x.example/", "filter": {"detector": ""}})").ok()) << "any";
}

TEST(EndpointRequest, AUrlIsEnough_NullIsAbsent) {
  const auto endpoint = read(R"({"url": "https://x.example/", "events": null, "filter": {"detector": null}, "template": null})");
  ASSERT_TRUE(endpoint.ok());
  EXPECT_THAT(endpoint->events, ElementsAre(MessageType::cluster_created, MessageType::cluster_regressed, MessageType::cluster_rising));
}

TEST(EndpointRequest, EveryFaultIsTold) {
  EXPECT_THAT(faults("{}"), ElementsAre("/url missing"));
  EXPECT_THAT(faults(R"({"url": 1, "events": "x", "filter": [], "template": "x", "description": 1, "own": 1})"),
              ElementsAre("/own unknown_member", "/url invalid", "/events wrong_type", "/filter wrong_type", "/template invalid",
                          "/description wrong_type"));
  EXPECT_THAT(faults(R"({"url": "https://x/", "filter": {"minScore": 101, "severity": "worst", "detector": 1}})"),
              ElementsAre("/filter/minScore invalid", "/filter/severity invalid", "/filter/detector wrong_type"));
  EXPECT_THAT(faults(R"({"url": "https://x/", "events": []})"), ElementsAre("/events invalid"));
  EXPECT_THAT(faults("[]"), ElementsAre(" wrong_type"));
  EXPECT_EQ(read("{\"url\":").error().code, Code::malformed_json);
}

TEST(EndpointRequest, KnownMemberThatIsThereTwice_IsMalformedJson) {
  for (const char* body : {R"({"url":"https://x/","url":"https://y/"})", R"({"url":"https://x/","filter":{"minScore":1,"minScore":2}})"}) {
    EXPECT_EQ(read(body).error().code, Code::malformed_json) << body;
  }
  EXPECT_EQ(read_rotation(R"({"overlap":"1h","overlap":"2h"})").error().code, Code::malformed_json);
}

// An event that is never sent, or always, cannot be asked for.
TEST(EndpointRequest, OnlyEventsThatAreSentAreTaken) {
  for (const char* event : {"webhook.test", "failures.skipped", "cluster.*", ""}) {
    EXPECT_THAT(faults(R"({"url": "https://x/", "events": [")" + std::string(event) + "\"]}"), ElementsAre("/events/0 invalid")) << event;
  }
}

TEST(Rotation, OverlapIsADuration) {
  EXPECT_EQ(*read_rotation(""), 86'400'000);
  EXPECT_EQ(*read_rotation("{}"), 86'400'000);
  EXPECT_EQ(*read_rotation(R"({"overlap": "90m"})"), 5'400'000);
  EXPECT_EQ(*read_rotation(R"({"overlap": "0"})"), 0);
  for (const char* overlap : {"\"-1h\"", "\"31d\"", "\"1\"", "\"h\"", "5", "\"1y\""}) {
    EXPECT_FALSE(read_rotation("{\"overlap\": " + std::string(overlap) + "}").ok()) << overlap;
  }
}

TEST(Rotation, PreviousSecretIsKeptForTheOverlap) {
  model::Endpoint endpoint;
  endpoint.secret = "first";
  ASSERT_TRUE(rotate(endpoint, 1000, 5000).ok());
  EXPECT_EQ(endpoint.previous_secret, "first");
  EXPECT_EQ(endpoint.previous_until_ms, 6000);
  EXPECT_EQ(endpoint.secret.size(), model::kSecretBytes);
  ASSERT_TRUE(rotate(endpoint, 0, 5000).ok());
  EXPECT_EQ(endpoint.previous_secret, "");
}

TEST(Rotation, DuringAnOverlap_IsRefused_UnlessItEndsTheOverlap) {
  model::Endpoint endpoint;
  endpoint.secret = "first";
  ASSERT_TRUE(rotate(endpoint, 1000, 5000).ok());
  const std::string second = endpoint.secret;
  const Status again = rotate(endpoint, 1000, 5999);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, Code::conflict);
  EXPECT_NE(again.error().detail.find("1970-01-01T00:00:06.000Z"), std::string::npos) << again.error().detail;
  EXPECT_EQ(endpoint.secret, second);
  EXPECT_EQ(endpoint.previous_secret, "first");
  ASSERT_TRUE(rotate(endpoint, 1000, 6000).ok()) << "the overlap is over";
  EXPECT_EQ(endpoint.previous_secret, second);
}

TEST(Replay, OneDeliveryOrTheDeadOnes) {
  EXPECT_EQ(read_replay(R"({"deliveryId": "wd_0199a3f47c1e70008000010000000001"})")->delivery_id, "wd_0199a3f47c1e70008000010000000001");
  EXPECT_EQ(read_replay(R"({"since": "1970-01-01T00:00:01Z", "state": "dead"})")->since_ms, 1000);
  for (const char* body : {"{}", R"({"state": "dead"})", R"({"since": "x"})", R"({"since": "1970-01-01T00:00:01Z", "state": "pending"})",
                           R"({"deliveryId": "none"})", R"({"deliveryId": "wd_0199a3f47c1e70008000010000000001", "state": "dead"})"}) {
    EXPECT_FALSE(read_replay(body).ok()) << body;
  }
}

}  // namespace
}  // namespace runwarden::webhooks
