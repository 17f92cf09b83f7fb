// Webhooks from outside: what a receiver gets, what it may answer, and that nothing is lost over kill -9.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "base/time_text.h"
#include "support/get_json.h"
#include "support/service_process.h"
#include "support/wait_until.h"
#include "support/webhook_receiver.h"

namespace runwarden::test {
namespace {

using nlohmann::json;
using Answer = WebhookReceiver::Answer;

json false_success_of(const std::string& tool) {
  return {{"userRequestText", "Do it with " + tool},
          {"success", true},
          {"outcomeSummary", "Your refund has been processed."},
          {"steps", {{{"stepKind", "tool"}, {"stepName", tool}, {"status", "failed"}, {"errorMessage", "502 Bad Gateway"}}}}};
}

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string base64_decoded(const std::string& text) {
  std::string bytes(text.size(), '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  bytes.resize(static_cast<std::size_t>(size) - static_cast<std::size_t>(std::count(text.begin(), text.end(), '=')));
  return bytes;
}

// As a receiver's library does it, beside the service's own code.
bool is_signed_by(const ReceivedMessage& message, const std::string& secret) {
  const std::string key = base64_decoded(secret.substr(std::string("whsec_").size()));
  const std::string text = message.header("webhook-id") + "." + message.header("webhook-timestamp") + "." + message.body;
  unsigned char mac[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac, &size);
  const std::string signatures = message.header("webhook-signature") + " ";
  for (std::size_t at = 0; at < signatures.size(); at = signatures.find(' ', at) + 1) {
    const std::string one = signatures.substr(at, signatures.find(' ', at) - at);
    if (one.starts_with("v1,") && base64_decoded(one.substr(3)) == std::string(reinterpret_cast<char*>(mac), size)) return true;
  }
  return false;
}

class WebhooksService : public ::testing::Test {
 protected:
  static ServiceProcess::Options options(const std::string& webhooks) {
    ServiceProcess::Options options;
    options.yaml = "webhooks: {allow: [127.0.0.1], allow_http: true, " + webhooks + "}\n";
    return options;
  }
  explicit WebhooksService(const std::string& webhooks = "retry: [100ms, 100ms, 100ms], timeout: 2s")
      : service_(options(webhooks)), key_(service_.make_key("acme", "ingest,read,manage")) {}

  struct Added {
    std::string id;
    std::string secret;
    std::string path() const { return "/v1/webhooks/" + id; }
  };
  Added add(const std::string& url, const json& more = json::object()) {
    json body = more;
    body["url"] = url;
    const HttpAnswer answer = service_.post("/v1/webhooks", key_, body.dump());
    EXPECT_EQ(answer.status, 201) << answer.body;
    const json added = json::parse(answer.body);
    return {added["endpointId"], added["secret"]};
  }
  void fail_with(const std::string& tool) { EXPECT_EQ(service_.post("/v1/ingest/runs", key_, false_success_of(tool).dump()).status, 201); }
  json get(const std::string& path) { return get_json(service_, path, key_); }
  json webhook(const Added& added) {
    const json all = get("/v1/webhooks")["items"];
    for (const json& one : all) {
      if (one["endpointId"] == added.id) return one;
    }
    return nullptr;
  }
  json deliveries(const Added& added, const std::string& query = {}) { return get(added.path() + "/deliveries" + query)["items"]; }
  HttpAnswer post(const std::string& path, const std::string& body = "{}") { return service_.post(path, key_, body); }

  ServiceProcess service_;
  std::string key_;
};

TEST_F(WebhooksService, NewGroup_ArrivesSignedAndWhole) {
  WebhookReceiver receiver;
  const Added added = add(receiver.url("/hook"));
  fail_with("issue_refund");
  const auto came = receiver.wait_for("/hook", 1);
  ASSERT_EQ(came.size(), 1U);
  EXPECT_TRUE(std::regex_match(came[0].header("webhook-id"), std::regex("msg_[0-9a-f]{32}")));
  EXPECT_EQ(came[0].header("content-type"), "application/json");
  EXPECT_TRUE(came[0].header("user-agent").starts_with("runwarden/"));
  EXPECT_TRUE(is_signed_by(came[0], added.secret));
  ReceivedMessage forged = came[0];
  forged.body += " ";
  EXPECT_FALSE(is_signed_by(forged, added.secret)) << "the verifier has to be able to say no";
  const json body = json::parse(came[0].body);
  EXPECT_EQ(body["type"], "cluster.created");
  EXPECT_EQ(body["data"]["tenant"], "acme");
  EXPECT_EQ(body["data"]["failure"], get("/v1/failures")["items"][0]);
  EXPECT_EQ(body["data"]["cluster"]["state"], "new");
  EXPECT_EQ(body["data"]["cluster"]["count"], 1);
  EXPECT_EQ(body["data"]["cluster"]["clusterId"], get("/v1/clusters")["items"][0]["clusterId"]);
  EXPECT_TRUE(wait_until([&] { return webhook(added)["pending"] == 0; }));
  EXPECT_TRUE(webhook(added)["lastSuccessAt"].is_string());
  EXPECT_FALSE(webhook(added).contains("secret")) << "it is shown once";
  const json delivery = deliveries(added).at(0);
  EXPECT_EQ(delivery["state"], "delivered");
  EXPECT_EQ(delivery["messageId"], came[0].header("webhook-id"));
  EXPECT_EQ(delivery["lastStatus"], 204);
  EXPECT_NE(service_.get("/metrics", "").body.find("runwarden_webhook_attempts_total{outcome=\"delivered\"} 1"), std::string::npos);
}

TEST_F(WebhooksService, EachFailure_ByTheDigitsOfItsId) {
  WebhookReceiver receiver;
  add(receiver.url("/hook"), {{"events", {"failure.created"}}});
  fail_with("issue_refund");
  const auto came = receiver.wait_for("/hook", 1);
  ASSERT_EQ(came.size(), 1U);
  const std::string failure = get("/v1/failures")["items"][0]["failureId"];
  EXPECT_EQ(came[0].header("webhook-id"), "msg_" + failure.substr(std::string("fail_").size()));
}

TEST_F(WebhooksService, GroupThatComesBack_AndDecisions) {
  WebhookReceiver receiver;
  add(receiver.url("/hook"), {{"events", {"cluster.regressed", "cluster.triaged"}}});
  fail_with("issue_refund");
  const std::string cluster = get("/v1/clusters")["items"][0]["clusterId"];
  ASSERT_EQ(post("/v1/clusters/" + cluster + "/triage", R"({"action": "resolve", "note": "fixed in 2.4.2"})").status, 200);
  auto came = receiver.wait_for("/hook", 1);
  ASSERT_EQ(came.size(), 1U);
  EXPECT_EQ(json::parse(came[0].body)["data"]["triage"]["note"], "fixed in 2.4.2");
  fail_with("issue_refund");
  came = receiver.wait_for("/hook", 2);
  ASSERT_EQ(came.size(), 2U);
  EXPECT_EQ(json::parse(came[1].body)["type"], "cluster.regressed");
  EXPECT_EQ(json::parse(came[1].body)["data"]["cluster"]["state"], "regressed");
}

TEST_F(WebhooksService, IgnoreThatEndsByTime_IsToldAndInTheLedger_WithoutAnotherFailure) {
  WebhookReceiver receiver;
  add(receiver.url("/hook"), {{"events", {"cluster.triaged"}}});
  fail_with("issue_refund");
  const json group = get("/v1/clusters")["items"][0];
  const std::string path = "/v1/clusters/" + group["clusterId"].get<std::string>();
  const std::string until = format_time(now_ms() + 1000);
  ASSERT_EQ(post(path + "/triage", json{{"action", "ignore"}, {"until", {{"at", until}}}}.dump()).status, 200);
  const std::uint64_t entries = get("/v1/ledger")["size"];
  const auto came = receiver.wait_for("/hook", 2);
  ASSERT_EQ(came.size(), 2U);
  const json told = json::parse(came[1].body)["data"];
  EXPECT_EQ(told["triage"]["action"], "ignore_ended");
  EXPECT_EQ(told["triage"]["at"], until);
  EXPECT_EQ(told["cluster"]["state"], "ongoing");
  EXPECT_EQ(get("/v1/ledger")["size"], entries + 1);
  EXPECT_EQ(get(path + "/history")["items"].size(), 2U);
}

// The group has five failures in the second half of the last day and none in the first.
TEST_F(WebhooksService, RisingGroup_IsToldOnce) {
  WebhookReceiver receiver;
  const Added added = add(receiver.url("/hook"), {{"events", {"cluster.rising"}}});
  for (int i = 0; i < 6; ++i) fail_with("issue_refund");
  ASSERT_EQ(receiver.wait_for("/hook", 1).size(), 1U);
  EXPECT_EQ(json::parse(receiver.wait_for("/hook", 1)[0].body)["type"], "cluster.rising");
  EXPECT_EQ(deliveries(added).size(), 1U);
}

TEST_F(WebhooksService, Refused_ComesAgainWithTheSameIdAndBody) {
  WebhookReceiver receiver([](const ReceivedMessage&, std::size_t number) { return Answer{number < 2 ? 500 : 200, {}, {}}; });
  const Added added = add(receiver.url("/hook"));
  fail_with("issue_refund");
  const auto came = receiver.wait_for("/hook", 3);
  ASSERT_EQ(came.size(), 3U);
  for (const ReceivedMessage& one : came) {
    EXPECT_EQ(one.header("webhook-id"), came[0].header("webhook-id"));
    EXPECT_EQ(one.body, came[0].body);
    EXPECT_TRUE(is_signed_by(one, added.secret));
  }
  EXPECT_TRUE(wait_until([&] { return deliveries(added).at(0)["state"] == "delivered"; }));
  EXPECT_EQ(deliveries(added).at(0)["attempts"], 3);
}

TEST_F(WebhooksService, RetryAfter_IsHeeded) {
  WebhookReceiver receiver([](const ReceivedMessage&, std::size_t) { return Answer{429, "Retry-After: 3600\r\n", {}}; });
  const Added added = add(receiver.url("/hook"));
  fail_with("issue_refund");
  ASSERT_TRUE(wait_until([&] { return deliveries(added).at(0)["attempts"] == 1; }));
  const json delivery = deliveries(added).at(0);
  EXPECT_EQ(delivery["lastStatus"], 429);
  EXPECT_EQ(delivery["lastError"], "http_status");
  EXPECT_GT(delivery["nextAt"].get<std::string>().substr(0, 15), delivery["createdAt"].get<std::string>().substr(0, 15)) << "ten minutes at least";
}

TEST_F(WebhooksService, Gone_DisablesTheWebhook_UntilItIsEnabled) {
  std::atomic<bool> gone = true;
  WebhookReceiver receiver([&](const ReceivedMessage&, std::size_t) { return Answer{gone ? 410 : 204, {}, {}}; });
  const Added added = add(receiver.url("/hook"));
  fail_with("issue_refund");
  ASSERT_TRUE(wait_until([&] { return webhook(added)["state"] == "disabled"; }));
  EXPECT_EQ(webhook(added)["disabledReason"], "gone");
  EXPECT_TRUE(service_.wait_for_log("webhook_disabled"));
  fail_with("other_tool");
  EXPECT_EQ(deliveries(added).size(), 1U) << "nothing new is queued for it";
  gone = false;
  EXPECT_EQ(json::parse(post(added.path() + "/enable").body)["state"], "active");
  EXPECT_TRUE(wait_until([&] { return deliveries(added).at(0)["state"] == "delivered"; }));
}

TEST_F(WebhooksService, NeverTaken_IsDeadAndCanBeReplayed) {
  std::atomic<bool> good = false;
  WebhookReceiver receiver([&](const ReceivedMessage&, std::size_t) { return Answer{good ? 200 : 503, {}, {}}; });
  const Added added = add(receiver.url("/hook"));
  fail_with("issue_refund");
  ASSERT_TRUE(wait_until([&] { return !deliveries(added, "?state=dead").empty(); }));
  EXPECT_EQ(deliveries(added).at(0)["attempts"], 4) << "at once, and after each of three delays";
  EXPECT_EQ(webhook(added)["dead"], 1);
  good = true;
  const HttpAnswer replayed = post(added.path() + "/replay", R"({"since": "2020-01-01T00:00:00Z", "state": "dead"})");
  EXPECT_EQ(replayed.status, 202);
  EXPECT_EQ(json::parse(replayed.body), json({{"queued", 1}}));
  auto came = receiver.wait_for("/hook", 5);
  ASSERT_EQ(came.size(), 5U);
  EXPECT_EQ(came[4].body, came[0].body);
  EXPECT_EQ(came[4].header("webhook-id"), came[0].header("webhook-id"));
  ASSERT_TRUE(wait_until([&] { return !deliveries(added, "?state=delivered").empty(); }));
  const json one = {{"deliveryId", deliveries(added).at(0)["deliveryId"]}};
  EXPECT_EQ(post(added.path() + "/replay", one.dump()).status, 202) << "a delivered one can be replayed as well";
  EXPECT_EQ(receiver.wait_for("/hook", 6).size(), 6U);
}

TEST_F(WebhooksService, Rotated_BothSecretsSign) {
  WebhookReceiver receiver;
  const Added added = add(receiver.url("/hook"));
  const HttpAnswer rotated = post(added.path() + "/rotate", R"({"overlap": "24h"})");
  ASSERT_EQ(rotated.status, 200);
  const std::string fresh = json::parse(rotated.body)["secret"];
  EXPECT_NE(fresh, added.secret);
  EXPECT_EQ(post(added.path() + "/test").status, 202);
  auto came = receiver.wait_for("/hook", 1);
  ASSERT_EQ(came.size(), 1U);
  EXPECT_EQ(json::parse(came[0].body)["type"], "webhook.test");
  EXPECT_TRUE(is_signed_by(came[0], added.secret));
  EXPECT_TRUE(is_signed_by(came[0], fresh));
  EXPECT_EQ(post(added.path() + "/rotate", R"({"overlap": "24h"})").status, 409) << "the first overlap goes on";
  const CommandResult by_command = service_.cli({"webhooks", "rotate", "--tenant", "acme", added.id});
  EXPECT_EQ(by_command.exit_code, 1);
  EXPECT_NE(by_command.err.find("overlap of 0"), std::string::npos) << by_command.err;
  ASSERT_EQ(post(added.path() + "/rotate", R"({"overlap": "0s"})").status, 200);
  EXPECT_EQ(post(added.path() + "/test").status, 202);
  came = receiver.wait_for("/hook", 2);
  ASSERT_EQ(came.size(), 2U);
  EXPECT_FALSE(is_signed_by(came[1], fresh));
}

// The receiver has the message, and the service dies before it knows. Then it is sent again, the same.
TEST_F(WebhooksService, KilledBeforeTheAnswer_SendsTheSameAgain) {
  std::atomic<bool> answers = false;
  WebhookReceiver receiver([&](const ReceivedMessage&, std::size_t) { return answers ? std::optional(Answer()) : std::optional<Answer>(); });
  const Added added = add(receiver.url("/hook"));
  fail_with("issue_refund");
  ASSERT_EQ(receiver.wait_for("/hook", 1).size(), 1U);
  service_.kill_hard();
  answers = true;
  service_.start();
  const auto came = receiver.wait_for("/hook", 2);
  ASSERT_EQ(came.size(), 2U);
  EXPECT_EQ(came[1].header("webhook-id"), came[0].header("webhook-id"));
  EXPECT_EQ(came[1].body, came[0].body);
  EXPECT_TRUE(wait_until([&] { return deliveries(added).at(0)["state"] == "delivered"; }));
}

// Killed right after each answer to an ingest, wherever the message is then: each arrives.
TEST_F(WebhooksService, KilledAfterEveryAnswer_LosesNoMessage) {
  WebhookReceiver receiver;
  add(receiver.url("/hook"), {{"events", {"failure.created"}}});
  constexpr std::size_t kRounds = 6;
  for (std::size_t i = 0; i < kRounds; ++i) {
    fail_with("issue_refund_" + std::to_string(i));
    service_.kill_hard();
    service_.start();
  }
  std::set<std::string> wanted;
  const json failures = get("/v1/failures")["items"];
  for (const json& one : failures) wanted.insert("msg_" + one["failureId"].get<std::string>().substr(5));
  ASSERT_EQ(wanted.size(), kRounds);
  std::set<std::string> ids;
  EXPECT_TRUE(wait_until([&] {
    for (const ReceivedMessage& one : receiver.wait_for("/hook", kRounds, 10)) ids.insert(one.header("webhook-id"));
    return ids == wanted;
  }));
  EXPECT_EQ(service_.stop(), 0);
  const CommandResult verified = service_.cli({"verify"});
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
}

class WebhooksServicePatient : public WebhooksService {
 protected:
  WebhooksServicePatient() : WebhooksService("retry: [1h], timeout: 60s") {}
};

// Four attempts are all that a receiver that does not answer can hold; the others' messages go out meanwhile.
TEST_F(WebhooksServicePatient, ReceiverThatNeverAnswers_DelaysNobodyElse) {
  WebhookReceiver silent([](const ReceivedMessage&, std::size_t) { return std::optional<WebhookAnswer>(); });
  WebhookReceiver good;
  const Added stuck = add(silent.url("/hook"), {{"events", {"failure.created"}}});
  add(good.url("/hook"), {{"events", {"failure.created"}}});
  constexpr std::size_t kFailures = 40;
  for (std::size_t i = 0; i < kFailures; ++i) fail_with("issue_refund");
  EXPECT_EQ(good.wait_for("/hook", kFailures).size(), kFailures);
  EXPECT_EQ(silent.wait_for("/hook", 5, 0).size(), 4U);
  EXPECT_EQ(webhook(stuck)["pending"], kFailures);
}

TEST_F(WebhooksService, SlackTemplate) {
  WebhookReceiver receiver;
  const Added added = add(receiver.url("/hook"), {{"template", "slack"}});
  fail_with("issue_refund");
  const auto came = receiver.wait_for("/hook", 1);
  ASSERT_EQ(came.size(), 1U);
  const json body = json::parse(came[0].body);
  EXPECT_TRUE(body["text"].get<std::string>().starts_with("New group of failures: "));
  EXPECT_EQ(body["blocks"][0]["type"], "section");
  EXPECT_TRUE(is_signed_by(came[0], added.secret));
}

TEST_F(WebhooksService, ForbiddenAddresses_AreRefusedWhereTheyAreAsked) {
  for (const std::string host :
       {"10.0.0.1", "169.254.169.254", "192.168.1.1", "[::1]", "[fd00::1]", "[::ffff:10.0.0.1]", "[64:ff9b::a00:1]", "[2002:a00:1::]",
        "0.0.0.0", "127.0.0.2", "0x7f000002", "100.64.0.1", "224.0.0.1", "203.0.113.1", "10.0.0.1.", "169.254.169.254."}) {
    const HttpAnswer answer = post("/v1/webhooks", json{{"url", "https://" + host + "/hook"}}.dump());
    EXPECT_EQ(answer.status, 422) << host << " " << answer.body;
    if (answer.status != 422) continue;
    const json error = json::parse(answer.body)["errors"][0];
    EXPECT_EQ(error["pointer"], "/url") << host;
    EXPECT_EQ(error["code"], "address_not_allowed") << host;
  }
  EXPECT_TRUE(get("/v1/webhooks")["items"].empty());
}

TEST_F(WebhooksService, UserNameBehindABackslash_IsRefused) {
  const HttpAnswer answer = post("/v1/webhooks", json{{"url", "http://bob:pw\\@127.0.0.1:18932/x"}}.dump());
  ASSERT_EQ(answer.status, 422) << answer.body;
  const json error = json::parse(answer.body)["errors"][0];
  EXPECT_EQ(error["pointer"], "/url");
  EXPECT_THAT(error["detail"].get<std::string>(), testing::HasSubstr("backslash"));
}

TEST_F(WebhooksService, FilterByADetectorThatIsNotConfigured_IsRefused) {
  WebhookReceiver receiver;
  const auto asked_for = [&](const std::string& detector) {
    return post("/v1/webhooks", json{{"url", receiver.url("/hook")}, {"filter", {{"detector", detector}}}}.dump());
  };
  const HttpAnswer refused = asked_for("false_sucess");
  ASSERT_EQ(refused.status, 422) << refused.body;
  EXPECT_EQ(json::parse(refused.body)["code"], "validation_failed");
  const json error = json::parse(refused.body)["errors"][0];
  EXPECT_EQ(error["pointer"], "/filter/detector");
  EXPECT_EQ(error["code"], "unknown_detector");
  EXPECT_EQ(error["detail"], "no detector \"false_sucess\" is configured; the nearest known one is false_success");
  EXPECT_TRUE(get("/v1/webhooks")["items"].empty());
  EXPECT_EQ(asked_for("false_success").status, 201);
  const CommandResult command = service_.cli({"webhooks", "add", "--tenant", "acme", receiver.url("/hook"), "--detector", "false_sucess"});
  EXPECT_EQ(command.exit_code, 1);
  EXPECT_THAT(command.err, testing::HasSubstr("no detector \"false_sucess\" is configured"));
}

TEST_F(WebhooksService, Redirect_CountsAsAFailure) {
  WebhookReceiver inside;
  WebhookReceiver receiver([&](const ReceivedMessage&, std::size_t) { return Answer{307, "Location: " + inside.url("/secret") + "\r\n", {}}; });
  const Added added = add(receiver.url("/hook"));
  fail_with("issue_refund");
  ASSERT_TRUE(wait_until([&] { return deliveries(added).at(0)["state"] == "dead"; }));
  EXPECT_EQ(deliveries(added).at(0)["lastStatus"], 307);
  EXPECT_EQ(deliveries(added).at(0)["lastError"], "redirect_refused");
  EXPECT_TRUE(inside.wait_for("/secret", 1, 0).empty());
}

TEST_F(WebhooksService, ListOfWebhooks_IsPaged) {
  WebhookReceiver receiver;
  const std::vector<std::string> added{add(receiver.url("/a")).id, add(receiver.url("/b")).id, add(receiver.url("/c")).id};
  const auto ids = [](const json& page) {
    std::vector<std::string> found;
    for (const json& one : page["items"]) found.push_back(one["endpointId"]);
    return found;
  };
  EXPECT_EQ(get("/v1/webhooks?limit=3")["nextCursor"], nullptr);
  const json first = get("/v1/webhooks?limit=2");
  EXPECT_EQ(ids(first), std::vector(added.begin(), added.begin() + 2));
  ASSERT_TRUE(first["nextCursor"].is_string());
  const std::string cursor = first["nextCursor"];
  const json rest = get("/v1/webhooks?limit=2&cursor=" + cursor);
  EXPECT_EQ(ids(rest), std::vector(added.begin() + 2, added.end()));
  EXPECT_EQ(rest["nextCursor"], nullptr);
  EXPECT_EQ(service_.get("/v1/webhooks?cursor=" + cursor, service_.make_key("other", "read")).status, 400);
  for (const char* query : {"cursor=abc", "limit=0", "limit=1001", "since=2026-01-01T00:00:00Z", "state=pending"}) {
    EXPECT_EQ(service_.get(std::string("/v1/webhooks?") + query, key_).status, 400) << query;
  }
}

TEST_F(WebhooksService, ScopesAndTenants) {
  WebhookReceiver receiver;
  const Added added = add(receiver.url("/hook"));
  const std::string reader = service_.make_key("acme", "ingest,read");
  EXPECT_EQ(service_.get("/v1/webhooks", reader).status, 200);
  EXPECT_EQ(service_.post("/v1/webhooks", reader, json{{"url", receiver.url("/hook")}}.dump()).status, 403);
  EXPECT_EQ(service_.post(added.path() + "/rotate", reader, "{}").status, 403);
  const std::string other = service_.make_key("other", "ingest,read,manage");
  EXPECT_TRUE(json::parse(service_.get("/v1/webhooks", other).body)["items"].empty());
  EXPECT_EQ(service_.post(added.path() + "/rotate", other, "{}").status, 404);
  EXPECT_EQ(service_.get(added.path() + "/deliveries", other).status, 404);
}

TEST_F(WebhooksService, CommandLine_BesideTheService) {
  WebhookReceiver receiver;
  const CommandResult added =
      service_.cli({"webhooks", "add", "--tenant", "acme", receiver.url("/hook"), "--events", "failure.created,cluster.created"});
  ASSERT_EQ(added.exit_code, 0) << added.err;
  std::smatch printed;
  ASSERT_TRUE(std::regex_match(added.out, printed, std::regex("(we_[0-9a-f]{32}) (whsec_[A-Za-z0-9+/]{43}=)\n"))) << added.out;
  const std::string id = printed[1];
  const auto run = [&](const std::string& command, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"webhooks", command, "--tenant", "acme", id};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult result = service_.cli(arguments);
    EXPECT_EQ(result.exit_code, 0) << command << ": " << result.err;
    return result.out;
  };
  EXPECT_NE(service_.cli({"webhooks", "list", "--tenant", "acme"}).out.find(id), std::string::npos);
  run("test");
  const auto came = receiver.wait_for("/hook", 1);
  ASSERT_EQ(came.size(), 1U) << "the service sends what a command queued";
  EXPECT_TRUE(is_signed_by(came[0], printed[2]));
  EXPECT_THAT(webhook({id, {}})["events"].get<std::vector<std::string>>(),
              ::testing::UnorderedElementsAre("failure.created", "cluster.created"));
  ASSERT_TRUE(wait_until([&] { return json::parse(run("deliveries", {"--json"})).at(0)["state"] == "delivered"; }));
  const std::string delivery = json::parse(run("deliveries", {"--json"})).at(0)["deliveryId"];
  run("replay", {"--delivery", delivery});
  EXPECT_EQ(receiver.wait_for("/hook", 2).size(), 2U);
  run("replay", {"--since", "2020-01-01T00:00:00Z"});
  run("replay", {"--since", "1h"});
  run("replay", {"--state", "dead"});
  EXPECT_EQ(json::parse(run("deliveries", {"--since", "1h", "--json"})).size(), 1U);
  EXPECT_TRUE(json::parse(run("deliveries", {"--since", "0s", "--json"})).empty());
  run("disable");
  EXPECT_EQ(webhook({id, {}})["state"], "disabled");
  run("enable");
  EXPECT_NE(run("rotate").find("whsec_"), std::string::npos);
  EXPECT_EQ(service_.cli({"webhooks", "add", "--tenant", "acme", "https://127.0.0.2/"}).exit_code, 1);
  EXPECT_EQ(service_.cli({"webhooks", "replay", "--tenant", "acme", id}).exit_code, 2);
  run("remove");
  EXPECT_EQ(service_.cli({"webhooks", "remove", "--tenant", "acme", id}).exit_code, 1);
  EXPECT_TRUE(get("/v1/webhooks")["items"].empty());
}

// What a receiver answered is shown to nobody but for its status.
TEST_F(WebhooksService, AnswerOfAReceiver_IsShownNowhere) {
  WebhookReceiver receiver([](const ReceivedMessage&, std::size_t) { return Answer{500, "X-Secret: hunter2\r\n", "hunter2"}; });
  const Added added = add(receiver.url("/hook"));
  fail_with("issue_refund");
  ASSERT_TRUE(wait_until([&] { return deliveries(added).at(0)["state"] == "dead"; }));
  EXPECT_EQ(deliveries(added).dump().find("hunter2"), std::string::npos);
  EXPECT_EQ(get("/v1/webhooks").dump().find("hunter2"), std::string::npos);
  EXPECT_EQ(service_.log_text().find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace runwarden::test
