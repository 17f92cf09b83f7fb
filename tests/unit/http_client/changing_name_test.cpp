// A name that leads elsewhere the next time: each connection goes where it leads then, and the rules hold for each.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "http_client/http_sender.h"
#include "support/temp_folder.h"
#include "support/wait_until.h"
#include "support/webhook_receiver.h"

namespace runwarden::http_client {
namespace {

using test::ReceivedMessage;
using test::WebhookReceiver;

constexpr const char* kFirst = "127.0.0.1";
constexpr const char* kSecond = "127.0.0.2";
constexpr const char* kForbidden = "127.0.0.3";

enum class Connections : std::uint8_t { closed, kept };

WebhookReceiver::Answering answering(Connections are) {
  const std::string fields = are == Connections::closed ? "Connection: close\r\n" : "";
  return [fields](const ReceivedMessage&, std::size_t) { return WebhookReceiver::Answer{204, fields, {}}; };
}

class ChangingNameTest : public ::testing::Test {
 protected:
  ChangingNameTest() { ::setenv("CHANGING_NAME", file().c_str(), 1); }
  ~ChangingNameTest() override { ::unsetenv("CHANGING_NAME"); }

  void lead_to(const std::string& addresses) const { std::ofstream(file()) << addresses; }
  // Receivers of one port, at each of the addresses.
  void listen(Connections are) {
    first_ = std::make_unique<WebhookReceiver>(answering(are));
    second_ = std::make_unique<WebhookReceiver>(answering(are), WebhookReceiver::Place{kSecond, first_->port()});
    forbidden_ = std::make_unique<WebhookReceiver>(answering(are), WebhookReceiver::Place{kForbidden, first_->port()});
  }
  static AddressRules rules() { return *AddressRules::make({kFirst, kSecond}, true); }
  std::string url() const { return "http://changing.test:" + std::to_string(first_->port()) + "/"; }

  SendResult ended(HttpSender& sender) const {
    for (;;) {
      const auto results = sender.work(1000);
      if (!results.empty()) return results.front();
    }
  }
  SendResult send(HttpSender& sender, SendRequest request = {}) const {
    request.url = url();
    request.body = "{}";
    sender.post(1, std::move(request));
    return ended(sender);
  }

  std::string file() const { return folder_.path() / "addresses"; }

  test::TempFolder folder_;
  std::unique_ptr<WebhookReceiver> first_, second_, forbidden_;
};

TEST_F(ChangingNameTest, IsLookedUpAndJudgedForEachConnection) {
  listen(Connections::closed);
  HttpSender sender(rules(), 5000);
  lead_to(kFirst);
  EXPECT_EQ(send(sender).status, 204);
  lead_to(kSecond);
  EXPECT_EQ(send(sender).status, 204);
  lead_to(kForbidden);
  EXPECT_EQ(send(sender).error, kAddressNotAllowed);
  lead_to(kSecond);
  EXPECT_EQ(send(sender).status, 204) << "what was refused once is not refused for ever";
  EXPECT_EQ(first_->connections(), 1U);
  EXPECT_EQ(second_->connections(), 2U);
  EXPECT_EQ(forbidden_->connections(), 0U);
}

TEST_F(ChangingNameTest, BetweenTheCheckAndTheConnection) {
  listen(Connections::closed);
  HttpSender sender(rules(), 5000);
  lead_to(kFirst);
  sender.check(1, url());
  EXPECT_EQ(ended(sender).error, "");
  lead_to(kForbidden);
  EXPECT_EQ(send(sender).error, kAddressNotAllowed);
  sender.check(1, url());
  EXPECT_EQ(ended(sender).error, kAddressNotAllowed);
  EXPECT_EQ(forbidden_->connections(), 0U);
}

// As attackers have it: the name leads to either address by turns.
TEST_F(ChangingNameTest, AtEachLookup) {
  listen(Connections::closed);
  HttpSender sender(rules(), 5000);
  lead_to(std::string(kFirst) + " " + kForbidden);
  constexpr std::size_t kEach = 20;
  std::size_t good = 0;
  std::size_t refused = 0;
  for (std::size_t i = 0; i < 2 * kEach; ++i) {
    const SendResult result = send(sender);
    good += result.status == 204 ? 1 : 0;
    refused += result.error == kAddressNotAllowed ? 1 : 0;
  }
  EXPECT_EQ(good, kEach);
  EXPECT_EQ(refused, kEach);
  EXPECT_EQ(forbidden_->connections(), 0U);
}

TEST_F(ChangingNameTest, ToSeveralAddresses_OnlyThoseThatAreAllowedAreConnectedTo) {
  listen(Connections::closed);
  HttpSender sender(rules(), 5000);
  lead_to(std::string(kForbidden) + "," + kSecond);
  EXPECT_EQ(send(sender).status, 204);
  lead_to(std::string(kForbidden) + ",169.254.169.254,::1");
  EXPECT_EQ(send(sender).error, kAddressNotAllowed);
  EXPECT_EQ(second_->connections(), 1U);
  EXPECT_EQ(forbidden_->connections(), 0U);
}

// The receiver would keep it for ever, and it is never left idle.
TEST_F(ChangingNameTest, OpenConnection_IsUsedForItsLifeAtMost) {
  listen(Connections::kept);
  constexpr std::int64_t kLifeS = 1;
  HttpSender sender(rules(), 5000, kLifeS);
  lead_to(kFirst);
  EXPECT_EQ(send(sender).status, 204);
  lead_to(kSecond);
  EXPECT_TRUE(test::wait_until([&] { return send(sender).status == 204 && second_->connections() == 1; }));
}

TEST_F(ChangingNameTest, NewConnection_IsMadeBesideAnOpenOne) {
  listen(Connections::kept);
  HttpSender sender(rules(), 5000);
  lead_to(kFirst);
  EXPECT_EQ(send(sender).status, 204);
  lead_to(kSecond);
  SendRequest request;
  request.new_connection = true;
  EXPECT_EQ(send(sender, request).status, 204);
  EXPECT_EQ(second_->connections(), 1U);
  lead_to(kForbidden);
  EXPECT_EQ(send(sender, request).error, kAddressNotAllowed);
  EXPECT_EQ(forbidden_->connections(), 0U);
}

}  // namespace
}  // namespace runwarden::http_client
