// The dispatcher on a store and a clock that the test turns, with receivers on loopback.
#include "webhooks/dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>

#include "store/lmdb/store.h"
#include "support/commit_together.h"
#include "support/fake_clock.h"
#include "support/forwarding_queue.h"
#include "support/sample_values.h"
#include "support/temp_folder.h"
#include "support/webhook_receiver.h"
#include "unit/store/sample_records.h"
#include "webhooks/signature.h"

namespace runwarden::webhooks {
namespace {

using test::ReceivedMessage;
using test::WebhookAnswer;
using test::WebhookReceiver;

// The store's queue, in which from a number of jobs on everything is dropped, as when the process dies before that one.
class DroppingQueue : public test::ForwardingQueue {
 public:
  using ForwardingQueue::ForwardingQueue;

  void drop_after(int jobs) { left_ = jobs; }
  bool dropped() const { return left_ < 0; }

  void run_between(Job job) override {
    if (left_ < 0 || left_-- == 0) return;
    ForwardingQueue::run_between(std::move(job));
  }

 private:
  std::atomic<int> left_{1'000'000'000};
};

// A store that is away while it is asked what is due for one of the endpoints, and for so many messages about rising groups.
class AwayStore : public store::WebhookStore {
 public:
  explicit AwayStore(store::WebhookStore& store) : store_(store) {}

  std::atomic<std::uint64_t> away_for{0};  // the endpoint's seq
  std::atomic<int> asked{0};               // how often it was away
  std::atomic<int> away_for_rising{0};     // how often it is yet
  std::atomic<int> looks{0};               // how often all endpoints were asked for

  std::vector<model::Delivery> due(const store::TenantEndpoint& to, std::int64_t now_ms, std::size_t most) override {
    if (to.endpoint.key.seq != away_for) return store_.due(to, now_ms, most);
    ++asked;
    throw store::StoreAway("the database cannot be reached");
  }

  Result<model::Endpoint> add_endpoint(model::TenantId tenant, model::Endpoint endpoint) override {
    return store_.add_endpoint(tenant, std::move(endpoint));
  }
  std::vector<model::Endpoint> endpoints(model::TenantId tenant) override { return store_.endpoints(tenant); }
  std::optional<model::Endpoint> find_endpoint(model::TenantId tenant, std::string_view id) override {
    return store_.find_endpoint(tenant, id);
  }
  std::optional<model::Endpoint> change_endpoint(model::TenantId tenant, std::string_view id,
                                                 const std::function<void(model::Endpoint&)>& change) override {
    return store_.change_endpoint(tenant, id, change);
  }
  bool remove_endpoint(model::TenantId tenant, std::string_view id) override { return store_.remove_endpoint(tenant, id); }
  bool queue_test(model::TenantId tenant, const model::RecordKey& endpoint) override { return store_.queue_test(tenant, endpoint); }
  bool queue_rising(model::TenantId tenant, const model::ClusterKey& cluster) override {
    if (away_for_rising == 0) return store_.queue_rising(tenant, cluster);
    --away_for_rising;
    throw store::StoreAway("the database cannot be reached");
  }
  store::Page<model::Delivery> deliveries(model::TenantId tenant, const model::RecordKey& endpoint,
                                          const store::DeliveryQuery& query) override {
    return store_.deliveries(tenant, endpoint, query);
  }
  bool replay(model::TenantId tenant, const model::RecordKey& endpoint, std::string_view id) override {
    return store_.replay(tenant, endpoint, id);
  }
  Replayed replay_dead(model::TenantId tenant, const model::RecordKey& endpoint, const model::RecordKey& from, std::size_t most) override {
    return store_.replay_dead(tenant, endpoint, from, most);
  }
  std::vector<store::TenantEndpoint> all_endpoints() override {
    ++looks;
    return store_.all_endpoints();
  }
  void keep_bodies(std::span<const store::MadeBody> bodies) override { store_.keep_bodies(bodies); }
  void settle(std::span<const store::Attempt> attempts) override { store_.settle(attempts); }
  std::optional<std::int64_t> oldest_pending_ms(const store::TenantEndpoint& of) override { return store_.oldest_pending_ms(of); }

 private:
  store::WebhookStore& store_;
};

class DispatcherTest : public ::testing::Test {
 protected:
  DispatcherTest() {
    store::LmdbSettings settings;
    settings.path = folder_.path() / "store";
    settings.map_size = std::uint64_t{64} << 20;
    store_ = std::move(*store::open_lmdb(settings, clock_));
    queue_ = std::make_unique<DroppingQueue>(*store_);
    webhooks_ = std::make_unique<AwayStore>(store_->webhooks());
  }
  ~DispatcherTest() override {
    if (dispatcher_) dispatcher_->stop();
    store_->drain();
  }

  void start(std::vector<std::int64_t> retry_ms, const std::vector<std::string>& allow = {"127.0.0.1"}) {
    if (dispatcher_) dispatcher_->stop();
    dispatcher_ = std::make_unique<Dispatcher>(
        Dispatcher::Parts{
            .webhooks = *webhooks_,
            .records = *store_,
            .groups = store_->groups(),
            .queue = *queue_,
            .clock = clock_,
            .tenant_name = [this](model::TenantId) { return tenant_name(); },
            .on_attempt = [](model::DeliveryState) {},
            .log = [this](LogLevel, std::string_view event, std::string_view) { waits_logged_ += event == "webhooks_wait" ? 1 : 0; }},
        DispatchSettings{.rules = *http_client::AddressRules::make(allow, true),
                         .retry_ms = std::move(retry_ms),
                         .timeout_ms = 5000,
                         .public_url = {},
                         .user_agent = "runwarden/test"});
  }
  std::string tenant_name() const {
    if (tenants_away_) throw store::StoreAway("the database cannot be reached");
    return "acme";
  }
  model::Endpoint add(const std::string& url, model::MessageType event = model::MessageType::failure_created) {
    model::Endpoint endpoint;
    endpoint.url = url;
    endpoint.secret = make_secret();
    endpoint.events = {event};
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
  std::atomic<bool> tenants_away_{false};
  std::atomic<int> waits_logged_{0};
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<DroppingQueue> queue_;
  std::unique_ptr<AwayStore> webhooks_;
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

TEST_F(DispatcherTest, StoreWithoutWebhooks_IsAskedForThemOnceASecond_OrWhenOneIsAdded) {
  WebhookReceiver receiver;
  start({kHour});
  ASSERT_TRUE(wait_until([&] { return webhooks_->looks == 1; }));
  clock_.advance_ms(900);
  const auto endpoint = add(receiver.url("/"));
  fail();
  std::promise<void> turned;
  dispatcher_->check_addresses(receiver.url("/"), [&](const std::string&) { turned.set_value(); });
  turned.get_future().wait();
  EXPECT_EQ(webhooks_->looks, 1);
  dispatcher_->look_soon();
  EXPECT_EQ(receiver.wait_for("/", 1, 20'000).size(), 1U) << "without the rest of the second";
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

// What was found for one endpoint is not held for ever because another could not be asked for.
TEST_F(DispatcherTest, StoreThatIsAwayInTheMiddleOfALook_LosesNoMessage) {
  WebhookReceiver receiver;
  const std::vector<model::Endpoint> endpoints{add(receiver.url("/first")), add(receiver.url("/second"))};
  webhooks_->away_for = endpoints[1].key.seq;
  fail();
  start({});
  constexpr int kLooks = 4;  // either is looked at first by turns
  ASSERT_TRUE(wait_until([&] { return webhooks_->asked >= kLooks; }));
  webhooks_->away_for = 0;
  EXPECT_TRUE(wait_until([&] { return delivery(endpoints[0]).state == model::DeliveryState::delivered; }));
  EXPECT_TRUE(wait_until([&] { return delivery(endpoints[1]).state == model::DeliveryState::delivered; }));
  EXPECT_EQ(receiver.wait_for("/first", 1).size(), 1U);
  EXPECT_EQ(receiver.wait_for("/second", 1).size(), 1U);
}

TEST_F(DispatcherTest, StoreThatIsAwayForLong_IsLoggedOnce_AndAgainTheNextTime) {
  WebhookReceiver receiver;
  const auto endpoint = add(receiver.url("/"));
  start({});
  constexpr int kLooks = 5;
  for (int times = 1; times <= 2; ++times) {
    webhooks_->asked = 0;
    webhooks_->away_for = endpoint.key.seq;
    fail();
    ASSERT_TRUE(wait_until([&] { return webhooks_->asked >= kLooks; }));
    webhooks_->away_for = 0;
    ASSERT_TRUE(wait_until([&] { return now(endpoint).pending == 0; }));
    EXPECT_EQ(waits_logged_, times);
  }
}

TEST_F(DispatcherTest, StoreThatIsAwayWhenAnEndpointIsGone_HasItDisabledAllTheSame) {
  WebhookReceiver receiver([this](const ReceivedMessage&, std::size_t) {
    tenants_away_ = true;
    return WebhookAnswer{410, {}, {}};
  });
  const auto endpoint = add(receiver.url("/"));
  start({kHour});
  fail();
  ASSERT_TRUE(wait_until([&] { return now(endpoint).disabled == model::Endpoint::Disabled::gone; }));
  EXPECT_EQ(delivery(endpoint).attempts, 1U);
}

TEST_F(DispatcherTest, StoreThatIsAwayWhenARisingGroupIsToBeTold_IsAskedAgain) {
  WebhookReceiver receiver;
  add(receiver.url("/"), model::MessageType::cluster_rising);
  constexpr int kFailures = 8;  // all in the second half of the day
  for (int i = 0; i < kFailures; ++i) fail();
  webhooks_->away_for_rising = 1;
  start({});
  EXPECT_TRUE(wait_until([&] { return !receiver.wait_for("/", 1, 0).empty(); }));
  EXPECT_EQ(webhooks_->away_for_rising, 0);
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

TEST_F(DispatcherTest, BodyOfAFailureThatIsDeletedBetweenAttempts_IsNotSentAgain) {
  WebhookReceiver receiver([](const ReceivedMessage&, std::size_t) { return WebhookAnswer{500, {}, {}}; });
  const auto endpoint = add(receiver.url("/"), model::MessageType::cluster_created);
  fail();
  start({kHour, kHour});
  ASSERT_TRUE(wait_until([&] { return delivery(endpoint).attempts == 1; }));
  store::Retention retention;
  retention.failures_before_ms = clock_.wall_ms() + 1;
  store_->expire(retention, 100);
  clock_.advance_ms(2 * kHour);
  ASSERT_TRUE(wait_until([&] { return delivery(endpoint).state == model::DeliveryState::dead; }));
  EXPECT_EQ(delivery(endpoint).last_error, "record_deleted");
  EXPECT_EQ(receiver.wait_for("/", 2, 0).size(), 1U);
}

// The receiver refuses a message so many times: none, fewer than there are attempts, or all of them.
class DispatcherThatDies : public DispatcherTest, public ::testing::WithParamInterface<std::size_t> {
 protected:
  // Until the writes are dropped, or it is delivered; what is dead is replayed.
  void deliver(const model::Endpoint& endpoint) {
    const auto is = [&](model::DeliveryState state) { return delivery(endpoint).state == state; };
    EXPECT_TRUE(wait_until([&] { return queue_->dropped() || !is(model::DeliveryState::pending); }));
    if (queue_->dropped() || !is(model::DeliveryState::dead)) return;
    EXPECT_EQ(webhooks_->replay_dead(kTenant, endpoint.key, {store::kBeginningMs, 0}, 100).queued, 1U);
    EXPECT_TRUE(wait_until([&] { return queue_->dropped() || is(model::DeliveryState::delivered); }));
  }
};

TEST_P(DispatcherThatDies, BeforeAnyOfItsWrites_SendsTheSameAgain_AndNothingAfterTheNoteOfASuccess) {
  const std::size_t refusals = GetParam();
  WebhookReceiver receiver([&](const ReceivedMessage&, std::size_t number) {
    return WebhookAnswer{number < refusals ? 500 : 204, {}, {}};
  });
  const std::vector<std::int64_t> retry_ms{10, 10};
  int writes = 0;
  for (bool died = true; died; ++writes) {
    const std::string path = "/" + std::to_string(writes);
    const auto endpoint = add(receiver.url(path));
    queue_->drop_after(writes);
    start(retry_ms);
    fail();
    deliver(endpoint);
    died = queue_->dropped();
    dispatcher_->stop();
    queue_->drop_after(1'000'000'000);
    start(retry_ms);
    deliver(endpoint);
    EXPECT_EQ(delivery(endpoint).state, model::DeliveryState::delivered) << writes;
    const auto came = receiver.wait_for(path, 1);
    ASSERT_GE(came.size(), refusals + 1) << writes;
    EXPECT_LE(came.size(), refusals + 2) << writes << ": once more for the write that was lost";
    for (const ReceivedMessage& one : came) {
      EXPECT_EQ(one.header("webhook-id"), came[0].header("webhook-id")) << writes;
      EXPECT_EQ(one.body, came[0].body) << writes;
    }
    start(retry_ms);
    clock_.advance_ms(kHour);
    fail();
    ASSERT_TRUE(wait_until([&] { return now(endpoint).pending == 0; })) << writes;
    std::size_t again = 0;
    for (const ReceivedMessage& one : receiver.wait_for(path, came.size() + 1)) {
      again += one.header("webhook-id") == came[0].header("webhook-id") ? 1 : 0;
    }
    EXPECT_EQ(again, came.size()) << writes;
    ASSERT_TRUE(store_->webhooks().remove_endpoint(kTenant, endpoint.id));
  }
  EXPECT_GT(writes, 2 + static_cast<int>(refusals)) << "the body, each refusal and the success are writes";
}

INSTANTIATE_TEST_SUITE_P(Refused, DispatcherThatDies, ::testing::Values(0, 1, 3),
                         [](const auto& refusals) { return "Times" + std::to_string(refusals.param); });

}  // namespace
}  // namespace runwarden::webhooks
