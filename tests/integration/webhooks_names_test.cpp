// Webhooks whose receiver's name comes to mean another address: between the check and the connection, and between two attempts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "integration/faulty_service.h"
#include "support/wait_until.h"
#include "support/webhook_receiver.h"

namespace runwarden::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Answer = WebhookReceiver::Answer;

constexpr const char* kAllowed = "127.0.0.1";
constexpr const char* kAllowedToo = "127.0.0.2";
constexpr const char* kForbidden = "127.0.0.3";

// The name is changing.test; receivers of one port are at an allowed and at a forbidden address.
class WebhooksName : public ::testing::Test {
 protected:
  explicit WebhooksName(int retries = 50) : service_(RUNWARDEN_TEST_CHANGING_NAME, "CHANGING_NAME", settings(retries)) {}
  void TearDown() override { service_.process().kill_hard(); }

  static std::string settings(int retries) {
    std::string delays;
    for (int i = 0; i < retries; ++i) delays += (i == 0 ? "" : ", ") + std::string("100ms");
    return "allow: [127.0.0.1, 127.0.0.2], retry: [" + delays + "]";
  }
  static Answer closing() { return {204, "Connection: close\r\n", {}}; }
  // Where it refuses, the name leads to the forbidden address from then on.
  Answer answer() const {
    if (!refuses_) return closing();
    service_.command(kForbidden);
    return {503, {}, {}};
  }
  std::string url() const { return "http://changing.test:" + std::to_string(allowed_.port()) + "/hook"; }
  HttpAnswer post_webhook() { return service_.post("/v1/webhooks", {{"url", url()}, {"events", {"failure.created"}}}); }
  void add_webhook() {
    service_.command(kAllowed);
    const HttpAnswer added = post_webhook();
    ASSERT_EQ(added.status, 201) << added.body;
    path_ = "/v1/webhooks/" + json::parse(added.body)["endpointId"].get<std::string>();
  }
  void fail(const std::string& run_id) { ASSERT_EQ(service_.post("/v1/ingest/runs", false_success(run_id)).status, 201); }
  json newest() { return service_.get(path_ + "/deliveries?limit=1")["items"][0]; }
  bool wait_for_newest(const std::string& state) {
    return wait_until([&] { return newest()["state"] == state; });
  }
  std::size_t came() { return allowed_.wait_for("/hook", 0, 0).size(); }

  FaultyService service_;
  std::atomic<bool> refuses_{false};
  WebhookReceiver allowed_{[this](const ReceivedMessage&, std::size_t) { return answer(); }};
  WebhookReceiver forbidden_{[](const ReceivedMessage&, std::size_t) { return closing(); }, {kForbidden, allowed_.port()}};
  std::string path_;
};

class WebhooksNameWithoutRetries : public WebhooksName {
 protected:
  WebhooksNameWithoutRetries() : WebhooksName(0) {}
};

// The name was good when the webhook was made. The address that it has when a message goes out is what counts.
TEST_F(WebhooksNameWithoutRetries, ThatComesToMeanAForbiddenAddress_IsNotConnectedTo_UntilItIsGoodAgain) {
  ASSERT_NO_FATAL_FAILURE(add_webhook());
  ASSERT_NO_FATAL_FAILURE(fail("first"));
  ASSERT_TRUE(wait_for_newest("delivered"));
  for (const std::string forbidden : {kForbidden, "169.254.169.254", "::1", "::ffff:10.0.0.1"}) {
    service_.command(forbidden);
    ASSERT_NO_FATAL_FAILURE(fail("to " + forbidden));
    ASSERT_TRUE(wait_for_newest("dead")) << forbidden << " " << newest();
    EXPECT_EQ(newest()["lastError"], "address_not_allowed") << forbidden;
    const HttpAnswer again = post_webhook();
    EXPECT_EQ(again.status, 422) << forbidden;
    EXPECT_THAT(again.body, HasSubstr("address_not_allowed")) << forbidden;
  }
  EXPECT_EQ(came(), 1U);
  service_.command(kAllowed);
  ASSERT_NO_FATAL_FAILURE(fail("last"));
  EXPECT_TRUE(wait_for_newest("delivered"));
  EXPECT_EQ(came(), 2U);
  EXPECT_EQ(forbidden_.connections(), 0U);
}

TEST_F(WebhooksNameWithoutRetries, ThatMovesToAnotherAllowedAddress_IsFollowed) {
  WebhookReceiver moved([](const ReceivedMessage&, std::size_t) { return closing(); }, {kAllowedToo, allowed_.port()});
  ASSERT_NO_FATAL_FAILURE(add_webhook());
  ASSERT_NO_FATAL_FAILURE(fail("first"));
  ASSERT_TRUE(wait_for_newest("delivered"));
  service_.command(kAllowedToo);
  ASSERT_NO_FATAL_FAILURE(fail("second"));
  EXPECT_TRUE(wait_for_newest("delivered"));
  EXPECT_EQ(came(), 1U);
  EXPECT_EQ(moved.wait_for("/hook", 1).size(), 1U);
}

// The name leads to either address by turns, so the check and the connection, or two attempts, see different ones.
TEST_F(WebhooksName, ThatChangesAtEachLookup_IsConnectedToWhereItIsAllowedOnly) {
  ASSERT_NO_FATAL_FAILURE(add_webhook());
  service_.command(std::string(kAllowed) + " " + kForbidden);
  constexpr int kFailures = 20;
  for (int i = 0; i < kFailures; ++i) ASSERT_NO_FATAL_FAILURE(fail("run_" + std::to_string(i)));
  ASSERT_TRUE(wait_until([&] { return service_.get("/v1/webhooks")["items"][0]["pending"] == 0; }));
  std::set<std::string> delivered;
  for (const ReceivedMessage& one : allowed_.wait_for("/hook", kFailures)) delivered.insert(one.header("webhook-id"));
  EXPECT_EQ(delivered.size(), kFailures);
  int attempts = 0;
  for (const json& one : service_.all(path_ + "/deliveries")) {
    EXPECT_EQ(one["state"], "delivered");
    attempts += one["attempts"].get<int>();
  }
  EXPECT_GT(attempts, kFailures) << "what was refused was tried again";
  EXPECT_EQ(came(), static_cast<std::size_t>(kFailures));
  EXPECT_EQ(forbidden_.connections(), 0U);
}

// The receiver keeps the connection, over which it refused the message.
TEST_F(WebhooksName, ThatChangesBetweenTwoAttempts_IsLookedUpForTheSecond) {
  WebhookReceiver moved([](const ReceivedMessage&, std::size_t) { return closing(); }, {kAllowedToo, allowed_.port()});
  ASSERT_NO_FATAL_FAILURE(add_webhook());
  refuses_ = true;
  ASSERT_NO_FATAL_FAILURE(fail("run"));
  ASSERT_TRUE(wait_until([&] { return newest()["lastError"] == "address_not_allowed"; })) << newest();
  service_.command(kAllowedToo);
  EXPECT_TRUE(wait_for_newest("delivered"));
  const auto refused = allowed_.wait_for("/hook", 1);
  const auto taken = moved.wait_for("/hook", 1);
  ASSERT_EQ(refused.size(), 1U);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].header("webhook-id"), refused[0].header("webhook-id"));
  EXPECT_EQ(taken[0].body, refused[0].body);
  EXPECT_EQ(forbidden_.connections(), 0U);
}

}  // namespace
}  // namespace runwarden::test
