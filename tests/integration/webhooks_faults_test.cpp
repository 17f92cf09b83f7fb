// Webhooks where the process dies at each of its steps, and where a receiver's name comes to mean another address.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "support/preloaded.h"
#include "support/service_process.h"
#include "support/temp_folder.h"
#include "support/wait_until.h"
#include "support/webhook_receiver.h"

namespace runwarden::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsSubsetOf;

json false_success(const std::string& run_id) {
  return {{"runId", run_id},
          {"userRequestText", "Refund " + run_id},
          {"success", true},
          {"outcomeSummary", "Your refund has been processed."},
          {"steps", {{{"stepKind", "tool"}, {"stepName", "issue_refund " + run_id}, {"status", "failed"}, {"errorMessage", "502 Bad Gateway"}}}}};
}

// A service with a library of faults before its own, which a file commands.
class FaultyService {
 public:
  FaultyService(const std::string& library, const std::string& variable, const std::string& allow)
      : service_(options(library, variable, allow)), key_(service_.make_key("acme", "ingest,read,manage")) {}

  void command(const std::string& text) const {  // whole at once: the service reads it at any moment
    std::ofstream(file() + ".new") << text;
    std::filesystem::rename(file() + ".new", file());
  }
  void command_nothing() const { std::filesystem::remove(file()); }

  ServiceProcess& process() { return service_; }
  HttpAnswer post(const std::string& path, const json& body) { return service_.post(path, key_, body.dump()); }
  json get(const std::string& path) {
    const HttpAnswer answer = service_.get(path, key_);
    return answer.status == 200 ? json::parse(answer.body) : json();
  }

 private:
  std::string file() const { return folder_.path() / "command"; }
  ServiceProcess::Options options(const std::string& library, const std::string& variable, const std::string& allow) const {
    ServiceProcess::Options options;
    options.yaml = "webhooks: {allow: [" + allow + "], allow_http: true, retry: [100ms, 100ms, 100ms], timeout: 5s}\n";
    options.environment = preloaded(library, {{variable, file()}});
    return options;
  }

  TempFolder folder_;
  ServiceProcess service_;
  std::string key_;
};

std::string message_id(const json& failure) {
  return "msg_" + failure["failureId"].get<std::string>().substr(5);
}

// One round more for each call of the system between a run's request and its message's last trace, until one survives them all.
TEST(WebhooksFaults, KilledAtEachStep_LosesNoMessageAndSendsNoneWithoutItsFailure) {
  constexpr int kMostSteps = 400;
  WebhookReceiver receiver;
  FaultyService service(RUNWARDEN_TEST_KILL_AT_CALL, "KILL_AT_CALL", "127.0.0.1");
  ASSERT_EQ(service.post("/v1/webhooks", {{"url", receiver.url("/hook")}, {"events", {"failure.created"}}}).status, 201);
  std::set<std::string> acknowledged;
  int deaths = 0;
  for (int step = 1; step < kMostSteps; ++step) {
    const std::string run_id = "run_" + std::to_string(step);
    const std::size_t came = receiver.wait_for("/hook", 0, 0).size();
    service.command(std::to_string(step));
    if (service.post("/v1/ingest/runs", false_success(run_id)).status == 201) acknowledged.insert(run_id);
    const auto dead = [&] { return service.process().wait_for_end(0) >= 0; };
    const auto delivered = [&] {
      const json webhooks = service.get("/v1/webhooks");
      return !webhooks.is_null() && webhooks["items"][0]["pending"] == 0;
    };
    // Asking it is a call of its, too: only once there is something to ask for.
    ASSERT_TRUE(wait_until([&] { return dead() || receiver.wait_for("/hook", came + 1, 5).size() > came; }));
    ASSERT_TRUE(wait_until([&] { return !service.process().running() || dead() || delivered(); }));
    const bool survived = service.process().running();
    service.command_nothing();
    if (survived) service.process().kill_hard();  // what is left of its calls would end it later
    service.process().start();
    if (survived) break;
    ++deaths;
  }
  EXPECT_GT(deaths, 20) << "a request, its commit, a connection, a message, its answer and another commit are more calls than that";
  std::set<std::string> runs;
  std::set<std::string> wanted;
  for (std::string cursor;;) {
    const json page = service.get("/v1/failures?limit=200" + cursor);
    for (const json& one : page["items"]) {
      runs.insert(one["runId"]);
      wanted.insert(message_id(one));
    }
    if (!page.contains("nextCursor") || page["nextCursor"].is_null()) break;
    cursor = "&cursor=" + page["nextCursor"].get<std::string>();
  }
  EXPECT_THAT(acknowledged, IsSubsetOf(runs));
  std::set<std::string> came;
  EXPECT_TRUE(wait_until([&] {
    for (const ReceivedMessage& one : receiver.wait_for("/hook", wanted.size(), 10)) came.insert(one.header("webhook-id"));
    return came.size() >= wanted.size();
  }));
  EXPECT_EQ(came, wanted);
  EXPECT_EQ(service.process().stop(), 0);
  const CommandResult verified = service.process().cli({"verify"});
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
}

// The name was good when the webhook was made. The address that it has when a message goes out is what counts.
TEST(WebhooksFaults, NameThatComesToMeanAForbiddenAddress_IsNotConnectedTo_UntilItIsGoodAgain) {
  WebhookReceiver receiver;
  FaultyService service(RUNWARDEN_TEST_CHANGING_NAME, "CHANGING_NAME", "127.0.0.1");
  service.command("127.0.0.1");
  const std::string url = "http://changing.test:" + std::to_string(receiver.port()) + "/hook";
  const HttpAnswer added = service.post("/v1/webhooks", {{"url", url}, {"events", {"failure.created"}}});
  ASSERT_EQ(added.status, 201) << added.body;
  const std::string path = "/v1/webhooks/" + json::parse(added.body)["endpointId"].get<std::string>();
  ASSERT_EQ(service.post("/v1/ingest/runs", false_success("first")).status, 201);
  ASSERT_EQ(receiver.wait_for("/hook", 1).size(), 1U);

  for (const std::string forbidden : {"127.0.0.2", "169.254.169.254", "::1", "::ffff:10.0.0.1"}) {
    service.command(forbidden);
    service.process().stop();  // and forgets what it looked up
    service.process().start();
    ASSERT_EQ(service.post("/v1/ingest/runs", false_success("to " + forbidden)).status, 201);
    json delivery;
    EXPECT_TRUE(wait_until([&] {
      const json deliveries = service.get(path + "/deliveries");
      delivery = deliveries.is_null() ? json() : deliveries["items"][0];
      return delivery.is_object() && delivery["state"] == "dead";
    })) << forbidden << " " << delivery;
    EXPECT_EQ(delivery["lastError"], "address_not_allowed") << forbidden << " " << delivery;
    const HttpAnswer again = service.post("/v1/webhooks", {{"url", url}});
    EXPECT_EQ(again.status, 422) << forbidden;
    EXPECT_THAT(again.body, HasSubstr("address_not_allowed")) << forbidden;
  }
  EXPECT_EQ(receiver.wait_for("/hook", 2, 0).size(), 1U);

  service.command("127.0.0.1");
  service.process().stop();
  service.process().start();
  ASSERT_EQ(service.post("/v1/ingest/runs", false_success("last")).status, 201);
  EXPECT_EQ(receiver.wait_for("/hook", 2).size(), 2U);
}

}  // namespace
}  // namespace runwarden::test
