// The dispatcher on a store and a clock that the test turns, with receivers on loopback.
#include "webhooks/dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "store/lmdb/store.h"
#include "support/commit_together.h"
#include "support/fake_clock.h"
#include "support/temp_folder.h"
#include "support/webhook_receiver.h"
#include "unit/store/sample_records.h"
#include "webhooks/signature.h"

namespace runwarden::webhooks {
namespace {

using test::ReceivedMessage;
using test::WebhookAnswer;
using test::WebhookReceiver;

constexpr model::TenantId kTenant = 1;
constexpr std::int64_t kHour = 3'600'000;

class DispatcherTest : public ::testing::Test {
 protected:
  DispatcherTest() {
    store::LmdbSettings settings;
    settings.path = folder_.path() / "store";
    settings.map_size = std::uint64_t{64} << 20;
    store_ = std::move(*store::open_lmdb(settings, clock_));
  }
  ~DispatcherTest() override {
    if (dispatcher_) dispatcher_->stop();
    store_->drain();
  }

  void start(std::vector<std::int64_t> retry_ms, const std::vector<std::string>& allow = {"127.0.0.1"}) {
    if (dispatcher_) dispatcher_->stop();
    dispatcher_ = std::make_unique<Dispatcher>(Dispatcher::Parts{.webhooks = store_->webhooks(),
                                                                 .records = *store_,
                                                                 .groups = store_->groups(),
                                                                 .queue = *store_,
                                                                 .clock = clock_,
                                                                 .tenant_name = [](model::TenantId) { return std::string("acme"); },
                                                                 .on_attempt = [](model::DeliveryState) {},
                                                                 .log = [](LogLevel, std::string_view, std::string_view) {}},
                                               DispatchSettings{.rules = *http_client::AddressRules::make(allow, true),
                                                                .retry_ms = std::move(retry_ms),
                                                                .timeout_ms = 5000,
                                                                .public_url = {},
                                                                .user_agent = "runwarden/test"});
  }
  model::Endpoint add(const std::string& url) {
    model::Endpoint endpoint;
    endpoint.url = url;
    endpoint.secret = make_secret();
    endpoint.events = {model::MessageType::failure_created};
    return *store_->webhooks().add_endpoint(kTenant, endpoint);
  }
  void fail() {
    store::RunWrite run = store::sample_run(kTenant, {clock_.wall_ms(), store_->next_seq()});
    run.failures = {store::sample_failure({clock_.wall_ms(), store_->next_seq()})};
    test::commit(*store_, std::move(run));
  }
  model::Endpoint now(const model::Endpoint& endpoint) { return *store_->webhooks().find_endpoint(kTenant, endpoint.id); }
  model::Delivery delivery(const model::Endpoint& endpoint) { return store_->webhooks().deliveries(kTenant, endpoint.key, {}).items.at(0); }
  // Time goes on a little at a time, until it is so.
  bool wait_until(const std::function<bool()>& is) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!is() && std::chrono::steady_clock::now() < end) clock_.advance_ms(1);
    return is();
  }

  test::FakeClock clock_;
  test::TempFolder folder_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Dispatcher> dispatcher_;
};

TEST_F(DispatcherTest, NextAttempt_ComesWhenItIsDue_AndAtMostAFifthLater) {
  WebhookReceiver receiver([](const ReceivedMessage&, std::size_t) { return WebhookAnswer{500, {}, {}}; });
  const auto endpoint = add(receiver.url("/"));
  start({100 * kHour, 100 * kHour});
  fail();
  ASSERT_TRUE(wait_until([&] { return delivery(endpoint).attempts == 1; }));
  const std::int64_t wait_ms = delivery(endpoint).next_ms - clock_.wall_ms();
  EXPECT_LE(wait_ms, 120 * kHour);
  EXPECT_GT(wait_ms, 99 * kHour);
  clock_.advance_ms(wait_ms);
  ASSERT_TRUE(wait_until([&] { return delivery(endpoint).attempts == 2; }));
  EXPECT_EQ(receiver.wait_for("/", 3, 0).size(), 2U);
}

TEST_F(DispatcherTest, FiveDaysOfFailuresOnly_DisableTheEndpoint) {
  WebhookReceiver receiver([](const ReceivedMessage&, std::size_t) { return WebhookAnswer{500, {}, {}}; });
  const auto endpoint = add(receiver.url("/"));
  start({60 * kHour, 70 * kHour, kHour});
  fail();
  ASSERT_TRUE(wait_until([&] { return delivery(endpoint).attempts == 1; }));
  clock_.advance_ms(delivery(endpoint).next_ms - clock_.wall_ms());
  ASSERT_TRUE(wait_until([&] { return delivery(endpoint).attempts == 2; }));
  EXPECT_EQ(now(endpoint).disabled, model::Endpoint::Disabled::no);
  clock_.advance_ms(delivery(endpoint).next_ms - clock_.wall_ms());
  ASSERT_TRUE(wait_until([&] { return delivery(endpoint).attempts == 3; }));
  EXPECT_EQ(now(endpoint).disabled, model::Endpoint::Disabled::failing);
  EXPECT_EQ(delivery(endpoint).state, model::DeliveryState::pending) << "what waits for it stays";
}

// The same name, which was allowed when the endpoint was made, and leads to a forbidden address later.
TEST_F(DispatcherTest, NameThatLeadsToAForbiddenAddressLater_IsRefusedWhereTheSocketIsOpened) {
  WebhookReceiver receiver;
  const auto endpoint = add("http://localhost:" + std::to_string(receiver.port()) + "/");
  start({}, {"localhost"});
  fail();
  ASSERT_TRUE(wait_until([&] { return delivery(endpoint).state == model::DeliveryState::delivered; }));
  start({}, {});
  clock_.advance_ms(10);
  fail();
  ASSERT_TRUE(wait_until([&] { return delivery(endpoint).state == model::DeliveryState::dead; }));
  EXPECT_EQ(delivery(endpoint).last_error, "address_not_allowed");
  EXPECT_EQ(now(endpoint).last_error, "address_not_allowed");
  EXPECT_EQ(receiver.wait_for("/", 2, 0).size(), 1U);
}

// Only so many are looked up at once; the others wait their turn.
TEST_F(DispatcherTest, MoreAddressesThanAreLookedUpAtOnce_AreAllAnswered) {
  start({});
  constexpr int kAsked = 100;
  std::atomic<int> refused{0};
  for (int i = 0; i < kAsked; ++i) {
    dispatcher_->check_addresses("http://10.0.0.1/", [&refused](const std::string& fault) { refused += fault == "address_not_allowed" ? 1 : 0; });
  }
  EXPECT_TRUE(wait_until([&] { return refused == kAsked; })) << refused;
}

TEST_F(DispatcherTest, FailureThatIsDeletedBeforeItIsTold_IsNoFaultOfTheReceiver) {
  WebhookReceiver receiver;
  const auto endpoint = add(receiver.url("/"));
  fail();
  store::Retention retention;
  retention.failures_before_ms = clock_.wall_ms() + 1;
  store_->expire(retention, 100);
  start({kHour});
  ASSERT_TRUE(wait_until([&] { return delivery(endpoint).state == model::DeliveryState::dead; }));
  EXPECT_EQ(delivery(endpoint).last_error, "record_deleted");
  EXPECT_EQ(now(endpoint).last_error, "");
  EXPECT_TRUE(receiver.wait_for("/", 1, 0).empty());
}

}  // namespace
}  // namespace runwarden::webhooks
