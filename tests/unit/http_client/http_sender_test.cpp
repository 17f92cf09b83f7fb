#include "http_client/http_sender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/webhook_receiver.h"

namespace runwarden::http_client {
namespace {

using test::ReceivedMessage;
using test::WebhookReceiver;

AddressRules sender_rules(const std::vector<std::string>& allow) {
  return *AddressRules::make(allow, true);
}

SendResult send(HttpSender& sender, const std::string& url, const std::string& body = "{}") {
  sender.post(7, {url, {"content-type: application/json"}, body});
  for (;;) {
    const auto ended = sender.work(1000);
    if (!ended.empty()) return ended.front();
  }
}

TEST(HttpSender, PostsTheBodyAndTellsTheStatus) {
  WebhookReceiver receiver([](const ReceivedMessage&, std::size_t) { return WebhookReceiver::Answer{202, "Retry-After: 7\r\n", "x"}; });
  HttpSender sender(sender_rules({"127.0.0.1"}), 5000);
  const SendResult result = send(sender, receiver.url("/hook?a=b"), "{\"a\":1}");
  EXPECT_EQ(result.id, 7U);
  EXPECT_EQ(result.status, 202);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.retry_after, "7");
  const auto came = receiver.wait_for("/hook?a=b", 1);
  EXPECT_EQ(came.at(0).body, "{\"a\":1}");
  EXPECT_EQ(came.at(0).header("content-type"), "application/json");
}

TEST(HttpSender, LineBreakInAField_BeginsNoOther) {
  WebhookReceiver receiver;
  HttpSender sender(sender_rules({"127.0.0.1"}), 5000);
  sender.post(7, {receiver.url("/hook"), {"x-run: one\r\nx-other: two"}, "{}"});
  while (sender.work(1000).empty()) {
  }
  const auto came = receiver.wait_for("/hook", 1);
  EXPECT_EQ(came.at(0).header("x-run"), "one  x-other: two");
  EXPECT_EQ(came.at(0).header("x-other"), "");
}

// The address is judged where the socket is opened: a literal, and a name that leads there, are the same to it.
TEST(HttpSender, ForbiddenAddress_IsNeverConnectedTo) {
  WebhookReceiver receiver;
  HttpSender sender(sender_rules({}), 5000);
  const std::string port = std::to_string(receiver.port());
  for (const std::string host :
       {"127.0.0.1", "localhost", "0.0.0.0", "127.1", "0x7f000001", "2130706433", "[::ffff:127.0.0.1]", "127.0.0.1.", "127.1."}) {
    const SendResult result = send(sender, "http://" + host + ":" + port + "/");
    EXPECT_EQ(result.error, kAddressNotAllowed) << host;
    EXPECT_EQ(result.status, 0);
  }
  EXPECT_TRUE(receiver.wait_for("/", 1, 0).empty());
}

TEST(HttpSender, HostThatIsAllowedByName_IsConnectedTo) {
  WebhookReceiver receiver;
  HttpSender sender(sender_rules({"localhost"}), 5000);
  EXPECT_EQ(send(sender, "http://localhost:" + std::to_string(receiver.port()) + "/").status, 204);
  EXPECT_EQ(send(sender, receiver.url("/")).error, kAddressNotAllowed) << "its address by itself is not";
}

TEST(HttpSender, ProxyOfTheEnvironment_IsNotUsed) {
  WebhookReceiver receiver;
  WebhookReceiver proxy;
  ASSERT_EQ(::setenv("http_proxy", proxy.url("").c_str(), 1), 0);
  HttpSender sender(sender_rules({"127.0.0.1"}), 5000);
  const SendResult result = send(sender, receiver.url("/direct"));
  ::unsetenv("http_proxy");
  EXPECT_EQ(result.status, 204);
  EXPECT_EQ(receiver.wait_for("/direct", 1).size(), 1U);
}

TEST(HttpSender, RedirectIsNotFollowed) {
  WebhookReceiver receiver([&](const ReceivedMessage&, std::size_t) {
    return WebhookReceiver::Answer{302, "Location: /elsewhere\r\n", ""};
  });
  HttpSender sender(sender_rules({"127.0.0.1"}), 5000);
  const SendResult result = send(sender, receiver.url("/"));
  EXPECT_EQ(result.status, 302);
  EXPECT_EQ(result.error, "redirect_refused");
  EXPECT_TRUE(receiver.wait_for("/elsewhere", 1, 0).empty());
}

TEST(HttpSender, LongAnswer_IsCutAndItsStatusCounts) {
  WebhookReceiver receiver([](const ReceivedMessage&, std::size_t) { return WebhookReceiver::Answer{200, "", std::string(1 << 20, 'x')}; });
  HttpSender sender(sender_rules({"127.0.0.1"}), 5000);
  const SendResult result = send(sender, receiver.url("/"));
  EXPECT_EQ(result.status, 200);
  EXPECT_EQ(result.error, "");
}

SendResult ask(const std::string& url, std::size_t keep_bytes) {
  HttpSender sender(sender_rules({"127.0.0.1"}), 5000);
  sender.post(7, {url, {}, "{}", keep_bytes});
  for (;;) {
    const auto ended = sender.work(1000);
    if (!ended.empty()) return ended.front();
  }
}

TEST(HttpSender, BodyOfTheAnswer_IsKeptWhereItIsAskedFor) {
  const std::string body(200'000, 'x');
  WebhookReceiver receiver([&](const ReceivedMessage&, std::size_t) { return WebhookReceiver::Answer{200, "", body}; });
  EXPECT_EQ(ask(receiver.url("/"), body.size()).body, body);
  EXPECT_EQ(ask(receiver.url("/"), body.size()).error, "");
  EXPECT_EQ(ask(receiver.url("/"), 0).body, "") << "nobody asked for it";
}

TEST(HttpSender, AnswerThatIsLongerThanWhatIsKept_IsAnError) {
  WebhookReceiver receiver([](const ReceivedMessage&, std::size_t) { return WebhookReceiver::Answer{200, "", std::string(1 << 20, 'x')}; });
  const SendResult result = ask(receiver.url("/"), 1000);
  EXPECT_EQ(result.status, 200);
  EXPECT_EQ(result.error, "answer_too_long");
  EXPECT_LE(result.body.size(), 1000U);
}

TEST(HttpSender, NoAnswer_IsATimeout) {
  WebhookReceiver receiver([](const ReceivedMessage&, std::size_t) { return std::optional<WebhookReceiver::Answer>(); });
  HttpSender sender(sender_rules({"127.0.0.1"}), 100);
  EXPECT_EQ(send(sender, receiver.url("/")).error, "timeout");
}

TEST(HttpSender, AnswerThatDoesNotEnd_IsATimeoutWithItsStatus) {
  WebhookReceiver receiver([](const ReceivedMessage&, std::size_t) {
    return WebhookReceiver::Answer{202, "Transfer-Encoding: chunked\r\n", ""};
  });
  HttpSender sender(sender_rules({"127.0.0.1"}), 300);
  const SendResult result = send(sender, receiver.url("/"));
  EXPECT_EQ(result.error, "timeout");
  EXPECT_EQ(result.status, 202);
}

TEST(HttpSender, NobodyListens) {
  std::string url;
  {
    WebhookReceiver receiver;
    url = receiver.url("/");
  }
  HttpSender sender(sender_rules({"127.0.0.1"}), 5000);
  EXPECT_EQ(send(sender, url).error, "connection_failed");
}

TEST(HttpSender, Check_JudgesWithoutConnecting) {
  WebhookReceiver receiver;
  EXPECT_EQ(check_addresses(sender_rules({}), receiver.url("/")), kAddressNotAllowed);
  EXPECT_EQ(check_addresses(sender_rules({}), "http://localhost:" + std::to_string(receiver.port()) + "/"), kAddressNotAllowed);
  EXPECT_EQ(check_addresses(sender_rules({}), "http://127.0.0.1.:" + std::to_string(receiver.port()) + "/"), kAddressNotAllowed);
  EXPECT_EQ(check_addresses(sender_rules({"127.0.0.1"}), receiver.url("/")), "");
  EXPECT_EQ(check_addresses(sender_rules({}), "https://name.invalid/"), "") << "what leads nowhere may lead somewhere later";
  EXPECT_TRUE(receiver.wait_for("/", 1, 0).empty());
}

}  // namespace
}  // namespace runwarden::http_client
