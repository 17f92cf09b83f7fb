// Webhooks where the process is killed at each call of the system on a message's way: before its first attempt is over, between an attempt
// that failed and the next, where it is given up, and while it is replayed. Each failure is told at least once with one id and one body,
// and nothing that was delivered is sent any more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <compare>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "integration/faulty_service.h"
#include "support/wait_until.h"
#include "support/webhook_receiver.h"

namespace runwarden::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Ge;
using ::testing::IsSubsetOf;
using ::testing::Le;
using Answer = WebhookReceiver::Answer;

constexpr int kMostCalls = 400;
constexpr const char* kAtOnce = "1";
constexpr const char* kBeforeTheAnswer = "1 sendmsg";      // to the client
constexpr const char* kBeforeTheConnection = "1 connect";  // to the receiver

// How far one message had come: requests with it before the process died and in all, and the attempts that were noted.
struct Way {
  std::size_t before = 0;
  std::size_t in_all = 0;
  int noted = 0;
  auto operator<=>(const Way&) const = default;
};
void PrintTo(const Way& way, std::ostream* out) {
  *out << "{" << way.before << " before, " << way.in_all << " in all, " << way.noted << " noted}";
}

class WebhooksKilled : public ::testing::Test {
 protected:
  explicit WebhooksKilled(const std::string& retry = "[100ms, 100ms, 100ms]")
      : receiver_([this](const ReceivedMessage& message, std::size_t) { return answer(message); }),
        service_(RUNWARDEN_TEST_KILL_AT_CALL, "KILL_AT_CALL", "allow: [127.0.0.1], retry: " + retry) {
    const HttpAnswer added = service_.post("/v1/webhooks", {{"url", receiver_.url("/hook")}, {"events", {"failure.created"}}});
    EXPECT_EQ(added.status, 201) << added.body;
    path_ = "/v1/webhooks/" + json::parse(added.body)["endpointId"].get<std::string>();
  }

  // What the receiver says to a message that has come so many times, this one too; on its own threads.
  virtual Answer answer_to(std::size_t) { return {}; }

  void TearDown() override { service_.process().kill_hard(); }

  std::map<std::string, std::size_t> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  std::size_t requests_of(const std::string& id) const {
    const std::lock_guard lock(mutex_);
    const auto found = requests_.find(id);
    return found == requests_.end() ? 0 : found->second;
  }
  std::size_t all_requests() const {
    const std::lock_guard lock(mutex_);
    return all_requests_;
  }
  // Looks for a moment.
  bool are_there(std::size_t count) {
    std::unique_lock lock(mutex_);
    return came_.wait_for(lock, std::chrono::milliseconds(5), [&] { return all_requests_ >= count; });
  }

  // One round more for each call of the system, until the process survives them all. `round` is told before which it is to be killed, and
  // says whether it was.
  static void kill_at_each_call(const std::function<bool(const std::string& call)>& round) {
    int call = 1;
    while (call < kMostCalls && round(std::to_string(call)) && !HasFatalFailure()) ++call;
    EXPECT_LT(call, kMostCalls);
  }
  // Waits until the process is dead or `is` holds, and starts it again. False: it survived. `is` must not ask the process, whose answers
  // would be calls.
  bool dies_before(const std::function<bool()>& is) {
    const auto dead = [&] { return service_.process().wait_for_end(0) >= 0; };
    EXPECT_TRUE(wait_until([&] { return !service_.process().running() || dead() || is(); }));
    const bool survived = service_.process().running();
    service_.command_nothing();
    before_ = requests();
    if (survived) service_.process().kill_hard();  // what is left of its calls would end it later
    service_.process().start();
    return !survived;
  }
  // By a command beside the process.
  bool nothing_waits() {
    const CommandResult listed = service_.process().cli({"webhooks", "list", "--tenant", "acme", "--json"});
    return listed.exit_code == 0 && json::parse(listed.out).at(0)["pending"] == 0;
  }

  // Has it killed before that call, as kill_at_call.c counts them, from when a message has come to the receiver so many times on; once.
  void kill_in_answer(const std::string& call, std::size_t number) {
    const std::lock_guard lock(mutex_);
    call_ = call;
    call_number_ = number;
  }

  json webhook() {
    const json webhooks = service_.get("/v1/webhooks");
    return webhooks.is_null() ? json() : webhooks["items"][0];
  }
  HttpAnswer replay() { return service_.post(path_ + "/replay", {{"since", "2020-01-01T00:00:00Z"}, {"state", "dead"}}); }
  bool wait_for(int pending, int dead) {
    return wait_until([&] {
      const json now = webhook();
      return !now.is_null() && now["pending"] == pending && now["dead"] == dead;
    });
  }
  std::size_t before(const std::string& id) const {
    const auto found = before_.find(id);
    return found == before_.end() ? 0 : found->second;
  }
  // Of the newest delivery; nothing for one that the process died before it stored.
  std::optional<Way> way_of(const std::string& run_id) {
    const json newest = service_.get("/v1/failures?limit=1")["items"];
    if (newest.empty() || newest[0]["runId"] != run_id) return std::nullopt;
    const json delivery = service_.get(path_ + "/deliveries?limit=1")["items"][0];
    const std::string id = message_id(newest[0]);
    EXPECT_EQ(delivery["messageId"], id);
    return Way{before(id), requests_of(id), delivery["attempts"].get<int>()};
  }

  // Every failure has been told, nothing else has, each under one id with one body, and a later failure finds nothing left to send.
  void expect_all_told() {
    const auto told = requests();
    std::set<std::string> ids;
    for (const auto& [id, count] : told) ids.insert(id);
    std::set<std::string> wanted;
    for (const json& one : service_.all("/v1/failures")) wanted.insert(message_id(one));
    EXPECT_EQ(ids, wanted);
    std::map<std::string, std::string> bodies;
    for (const ReceivedMessage& one : receiver_.wait_for("/hook", 0, 0)) {
      EXPECT_EQ(bodies.emplace(one.header("webhook-id"), one.body).first->second, one.body);
    }
    service_.process().kill_hard();
    service_.process().start();
    const std::size_t came = all_requests();
    ASSERT_EQ(service_.post("/v1/ingest/runs", false_success("last")).status, 201);
    EXPECT_TRUE(wait_until([&] { return are_there(came + 1) && webhook()["pending"] == 0; }));
    for (const auto& [id, count] : told) EXPECT_EQ(requests_of(id), count) << id;
    EXPECT_EQ(service_.process().stop(), 0);
    const CommandResult verified = service_.process().cli({"verify"});
    EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  }

  mutable std::mutex mutex_;
  std::condition_variable came_;
  std::map<std::string, std::size_t> requests_;  // by id
  std::size_t all_requests_ = 0;
  std::string call_;
  std::size_t call_number_ = 0;
  WebhookReceiver receiver_;
  FaultyService service_;
  std::string path_;  // of the webhook

 private:
  Answer answer(const ReceivedMessage& message) {
    std::size_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      number = ++requests_[message.header("webhook-id")];
      ++all_requests_;
      if (!call_.empty() && number == call_number_) service_.command(std::exchange(call_, {}));
    }
    came_.notify_all();
    return answer_to(number);
  }

  std::map<std::string, std::size_t> before_;  // requests when the process died
};

TEST_F(WebhooksKilled, FromTheRequestOn_LosesNoMessageAndSendsNoneWithoutItsFailure) {
  std::set<std::string> acknowledged;
  std::set<std::string> stored;
  std::set<Way> ways;
  int number = 0;
  const auto round = [&](const std::string& call) {
    const std::string run_id = "run_" + std::to_string(++number);
    const std::size_t came = all_requests();
    if (!call.empty()) service_.command(call);
    if (service_.post("/v1/ingest/runs", false_success(run_id)).status == 201) acknowledged.insert(run_id);
    const bool died = dies_before([&] { return are_there(came + 1) && nothing_waits(); });
    EXPECT_TRUE(wait_for(0, 0));
    const auto way = way_of(run_id);
    if (!way) return died;
    stored.insert(run_id);
    ways.insert(*way);
    EXPECT_THAT(way->in_all, AllOf(Ge(1U), Le(2U))) << run_id;
    EXPECT_EQ(way->noted, 1) << run_id;
    return died;
  };
  kill_at_each_call(round);
  EXPECT_TRUE(round(kBeforeTheConnection));
  kill_in_answer(kAtOnce, 1);
  EXPECT_TRUE(round({}));
  const std::size_t said = acknowledged.size();
  EXPECT_TRUE(round(kBeforeTheAnswer));
  EXPECT_EQ(acknowledged.size(), said);
  EXPECT_EQ(stored.count("run_" + std::to_string(number)), 1U) << "between the transaction and the client's answer";
  EXPECT_THAT(acknowledged, IsSubsetOf(stored));
  EXPECT_LT(stored.size(), static_cast<std::size_t>(number)) << "before the transaction";
  EXPECT_THAT(ways, Contains(Way{0, 1, 1})) << "between the transaction and the request";
  EXPECT_THAT(ways, Contains(Way{1, 2, 1})) << "between the request and the note of its answer";
  EXPECT_THAT(ways, Contains(Way{1, 1, 1})) << "after the note";
  expect_all_told();
}

// The receiver refuses a message once.
class WebhooksKilledAfterARefusal : public WebhooksKilled {
 protected:
  Answer answer_to(std::size_t number) override {
    if (number > 1) return {};
    return {500, {}, {}};
  }
};

TEST_F(WebhooksKilledAfterARefusal, SendsItAgain_UntilItIsTaken) {
  std::set<Way> ways;
  int number = 0;
  std::size_t request = 1;  // from which on calls are counted
  const auto round = [&](const std::string& call) {
    const std::string run_id = "run_" + std::to_string(++number);
    const std::size_t came = all_requests();
    kill_in_answer(call, request);
    EXPECT_EQ(service_.post("/v1/ingest/runs", false_success(run_id)).status, 201);
    const bool died = dies_before([&] { return are_there(came + 2) && nothing_waits(); });
    EXPECT_TRUE(wait_for(0, 0));
    const auto way = way_of(run_id);
    EXPECT_TRUE(way) << run_id;
    if (!way) return false;
    ways.insert(*way);
    EXPECT_LE(way->in_all, 3U) << run_id;
    return died;
  };
  kill_at_each_call(round);
  EXPECT_TRUE(round(kBeforeTheConnection));
  request = 2;
  EXPECT_TRUE(round(kAtOnce));
  EXPECT_THAT(ways, Contains(Way{1, 2, 1})) << "before the note of the refusal";
  EXPECT_THAT(ways, Contains(Way{1, 2, 2})) << "between that note and the second request";
  EXPECT_THAT(ways, Contains(Way{2, 3, 2})) << "between the second request and the note of its answer";
  EXPECT_THAT(ways, Contains(Way{2, 2, 2})) << "after that note";
  expect_all_told();
}

// The receiver refuses a message each of the two times that it is sent.
class WebhooksKilledAtTheLastRefusal : public WebhooksKilled {
 protected:
  WebhooksKilledAtTheLastRefusal() : WebhooksKilled("[10ms]") {}

  Answer answer_to(std::size_t) override {
    if (good_) return {};
    return {500, {}, {}};
  }
  std::atomic<bool> good_{false};
};

TEST_F(WebhooksKilledAtTheLastRefusal, GivesUpOnce_AndKeepsTheMessageForAReplay) {
  std::set<Way> ways;
  int number = 0;
  kill_at_each_call([&](const std::string& call) {
    const std::string run_id = "run_" + std::to_string(++number);
    const std::size_t came = all_requests();
    kill_in_answer(call, 2);
    EXPECT_EQ(service_.post("/v1/ingest/runs", false_success(run_id)).status, 201);
    const bool died = dies_before([&] { return are_there(came + 2) && nothing_waits(); });
    EXPECT_TRUE(wait_for(0, number));
    const auto way = way_of(run_id);
    EXPECT_TRUE(way) << run_id;
    if (!way) return false;
    ways.insert(*way);
    EXPECT_EQ(way->noted, 2) << run_id;
    EXPECT_LE(way->in_all, 3U) << run_id;
    return died;
  });
  EXPECT_THAT(ways, Contains(Way{2, 3, 2})) << "before the note of the last refusal";
  EXPECT_THAT(ways, Contains(Way{2, 2, 2})) << "after it";
  const auto refused = requests();
  good_ = true;
  const HttpAnswer replayed = replay();
  ASSERT_EQ(replayed.status, 202);
  EXPECT_EQ(json::parse(replayed.body)["queued"], number);
  ASSERT_TRUE(wait_for(0, 0));
  for (const auto& [id, count] : refused) EXPECT_EQ(requests_of(id), count + 1) << id;
  expect_all_told();
}

class WebhooksKilledInAReplay : public WebhooksKilled {
 protected:
  WebhooksKilledInAReplay() : WebhooksKilled("[]") {}

  Answer answer_to(std::size_t) override {
    if (good_) return {};
    return {500, {}, {}};
  }
  // What there is dead is the failures of that many runs.
  void make_dead(const std::string& prefix, std::size_t count) {
    good_ = false;
    std::string lines;
    for (std::size_t i = 0; i < count; ++i) lines += false_success(prefix + std::to_string(i)).dump() + "\n";
    const HttpAnswer stored = service_.post_lines("/v1/ingest/runs", lines);
    ASSERT_EQ(stored.status, 200) << stored.body;
    ASSERT_TRUE(wait_for(0, static_cast<int>(count)));
    good_ = true;
  }
  // Once, or once more where the process died before it noted the answer.
  void expect_all_sent_again(const std::map<std::string, std::size_t>& refused) {
    for (const auto& [id, count] : requests()) {
      const bool of_this_round = refused.at(id) == 1;
      EXPECT_TRUE(!of_this_round || count == 2 || count == 3) << id << " " << count;
    }
  }
  std::atomic<bool> good_{false};
};

TEST_F(WebhooksKilledInAReplay, SendsAllOfIt_OrLeavesItDeadForTheNext) {
  constexpr std::size_t kDead = 3;
  bool left_dead = false;
  bool sent_twice = false;
  int number = 0;
  bool acknowledged = false;
  std::size_t dead = 0;
  const auto round = [&](const std::string& call) {
    make_dead("run_" + std::to_string(++number) + "_", kDead);
    if (HasFatalFailure()) return false;
    const auto refused = requests();
    const std::size_t came = all_requests();
    if (!call.empty()) service_.command(call);
    acknowledged = replay().status == 202;
    const bool died = dies_before([&] { return are_there(came + kDead) && nothing_waits(); });
    EXPECT_TRUE(wait_until([&] { return webhook()["pending"] == 0; }));
    dead = webhook()["dead"];
    EXPECT_THAT(dead, AnyOf(0U, kDead)) << "it is one transaction";
    EXPECT_TRUE(!acknowledged || dead == 0) << call;
    left_dead = left_dead || dead > 0;
    EXPECT_EQ(json::parse(replay().body)["queued"], dead);
    EXPECT_TRUE(wait_for(0, 0));
    const json newest = service_.get(path_ + "/deliveries?limit=" + std::to_string(kDead))["items"];
    EXPECT_EQ(newest.size(), kDead);
    for (const json& delivery : newest) {
      const std::string id = delivery["messageId"];
      EXPECT_EQ(delivery["state"], "delivered") << id;
      const std::size_t good = requests_of(id) - refused.at(id);
      EXPECT_THAT(good, AllOf(Ge(1U), Le(2U))) << id;
      sent_twice = sent_twice || good == 2;
    }
    return died;
  };
  kill_at_each_call(round);
  kill_in_answer(kAtOnce, 2);
  EXPECT_TRUE(round({}));
  EXPECT_TRUE(left_dead) << "before the transaction";
  EXPECT_TRUE(sent_twice) << "between a request and the note of its answer";
  EXPECT_TRUE(round(kBeforeTheAnswer));
  EXPECT_FALSE(acknowledged);
  EXPECT_EQ(dead, 0U) << "between the transaction and the client's answer";
  expect_all_told();
}

// More than one transaction queues; the process is killed where so many of them have been delivered.
TEST_F(WebhooksKilledInAReplay, OfManyTransactions_LosesNone) {
  constexpr std::size_t kDead = 450;
  for (const std::size_t arrived : {std::size_t{1}, std::size_t{150}, std::size_t{300}}) {
    ASSERT_NO_FATAL_FAILURE(make_dead("run_" + std::to_string(arrived) + "_", kDead));
    const auto refused = requests();
    const std::size_t came = all_requests();
    const HttpAnswer replayed = replay();
    ASSERT_EQ(replayed.status, 202);
    EXPECT_EQ(json::parse(replayed.body)["queued"], kDead);
    ASSERT_TRUE(wait_until([&] { return are_there(came + arrived); }));
    service_.process().kill_hard();
    service_.process().start();
    EXPECT_EQ(webhook()["dead"], 0) << "the replay was acknowledged";
    ASSERT_TRUE(wait_for(0, 0));
    expect_all_sent_again(refused);
  }
  expect_all_told();
}

// A replay that dies before its second or third transaction leaves what these would have queued for the next.
TEST_F(WebhooksKilledInAReplay, BetweenTwoTransactions_LeavesTheRestDead) {
  constexpr std::size_t kDead = 450;
  ASSERT_NO_FATAL_FAILURE(make_dead("run_", kDead));
  const auto refused = requests();
  std::size_t dead = kDead;
  for (int call = 1; call < kMostCalls && dead == kDead; ++call) {
    const std::size_t came = all_requests();
    service_.command(std::to_string(call));
    EXPECT_NE(replay().status, 202) << call;
    ASSERT_TRUE(dies_before([&] { return are_there(came + kDead) && nothing_waits(); })) << call;
    dead = webhook()["dead"];
  }
  EXPECT_THAT(dead, AnyOf(kDead - 200, kDead - 400)) << "after the first transaction, or the second";
  const HttpAnswer replayed = replay();
  ASSERT_EQ(replayed.status, 202);
  EXPECT_EQ(json::parse(replayed.body)["queued"], dead);
  ASSERT_TRUE(wait_for(0, 0));
  expect_all_sent_again(refused);
  expect_all_told();
}

}  // namespace
}  // namespace runwarden::test
