// The real binary on a machine whose clock is wrong: nothing is lost by it, and an operator has the last word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/preloaded.h"
#include "support/service_process.h"
#include "support/wait_until.h"

namespace runwarden::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr long kHour = 3600;
constexpr long kDay = 24 * kHour;
constexpr std::chrono::seconds kLongest{60};  // until the service has noted the uses of keys, and deleted

class WrongClock : public testing::Test {
 protected:
  void start(const std::string& yaml = {}) {
    ServiceProcess::Options options;
    options.environment = environment();
    options.yaml = yaml;
    options.server = "canary_interval: 1ms";
    service_.emplace(std::move(options));
  }
  void restart() {
    ASSERT_EQ(service_->stop(), 0);
    service_->start();
  }

  Environment environment() const {
    return preloaded(RUNWARDEN_TEST_WRONG_CLOCK, {{"WRONG_CLOCK", offset_file()}});
  }
  std::string offset_file() const { return folder_.path() / "offset"; }

  // Whole at once: the service reads it at any moment.
  void set_clock(long offset_s) const {
    std::ofstream(offset_file() + ".new") << offset_s;
    std::filesystem::rename(offset_file() + ".new", offset_file());
  }
  void set_clock_right() const { std::filesystem::remove(offset_file()); }

  // A command on the same machine, with the same wrong clock.
  CommandResult cli(std::vector<std::string> arguments) const {
    std::vector<std::string> all{"/usr/bin/env"};
    for (const auto& [name, value] : environment()) all.push_back(name + "=" + value);
    all.push_back(runwarden_binary());
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.insert(all.end(), {"--config", service_->config_path()});
    return run_command(all);
  }
  std::string make_key(const std::string& expires) const {
    CommandResult made = cli({"keys", "create", "--tenant", "acme", "--scopes", "ingest,read", "--expires", expires});
    EXPECT_EQ(made.exit_code, 0) << made.err;
    return made.out.substr(0, made.out.find('\n'));
  }

  HttpAnswer post(const std::string& run_id, const std::string& fields = {}) {
    return service_->post("/v1/ingest/runs", key_, R"({"runId":")" + run_id + "\"}", fields);
  }
  int status_of(const std::string& run_id) { return service_->get("/v1/runs/" + run_id, key_).status; }
  json readyz() { return json::parse(service_->request(get_request("/readyz")).body); }
  std::string metrics() { return service_->request(get_request("/metrics")).body; }
  int times_in_log(const std::string& event) const {
    int times = 0;
    const std::string log = service_->log_text();
    for (auto at = log.find("\"event\":\"" + event + "\""); at != std::string::npos; at = log.find("\"event\":\"" + event + "\"", at + 1)) {
      ++times;
    }
    return times;
  }
  std::string last_use_of_key() const { return json::parse(cli({"keys", "list", "--json"}).out)[0]["lastUsedAt"].dump(); }

  // Deletion is asked for right after the uses of keys are noted, and done between two commits: what is stored after both comes after it.
  void wait_for_deletion(const std::string& run_id) {
    const std::string before = last_use_of_key();
    EXPECT_EQ(status_of("none"), 404);
    EXPECT_TRUE(wait_until([&] { return last_use_of_key() != before; }, kLongest));
    EXPECT_EQ(post(run_id + "-1").status, 201);
    EXPECT_EQ(post(run_id + "-2").status, 201);
  }

  TempFolder folder_;
  std::optional<ServiceProcess> service_;
  std::string key_;
};

// The service deletes what is old right after its start, so that a restart is when it would lose everything.
TEST_F(WrongClock, StartedHundredDaysAhead_DeletesNothing_UntilTheClockIsRight) {
  start();
  key_ = make_key("30d");
  ASSERT_EQ(post("kept", "Idempotency-Key: once\r\n").status, 201);
  set_clock(100 * kDay);
  restart();
  ASSERT_TRUE(service_->wait_for_log("clock_jumped")) << service_->log_text();
  EXPECT_THAT(service_->log_text(), HasSubstr("\"expectedTime\":"));
  EXPECT_THAT(service_->log_text(), HasSubstr("\"machineTime\":"));
  EXPECT_THAT(service_->log_text(), HasSubstr("retention.max_clock_step"));
  EXPECT_EQ(status_of("kept"), 200) << "the key is good for 30 days";
  EXPECT_EQ(post("kept", "Idempotency-Key: once\r\n").status, 200) << "the answer is known";
  const HttpAnswer ready = service_->request(get_request("/readyz"));
  EXPECT_EQ(ready.status, 200) << ready.body;
  ASSERT_EQ(json::parse(ready.body)["warnings"].size(), 1u) << ready.body;
  EXPECT_EQ(json::parse(ready.body)["warnings"][0]["name"], "clock_jumped");
  EXPECT_THAT(metrics(), HasSubstr("\nrunwarden_clock_in_doubt 1\n"));
  wait_for_deletion("ahead");
  EXPECT_EQ(status_of("kept"), 200);
  EXPECT_EQ(times_in_log("clock_jumped"), 1);

  set_clock_right();
  ASSERT_TRUE(service_->wait_for_log("clock_right_again")) << service_->log_text();
  EXPECT_EQ(readyz()["warnings"], json::array());
  EXPECT_THAT(metrics(), HasSubstr("\nrunwarden_clock_in_doubt 0\n"));
  EXPECT_EQ(status_of("kept"), 200);
}

TEST_F(WrongClock, ThatJumpsWhileServing_LeavesKeysRecordsAndTheirTimesAsTheyWere) {
  start("retention: {runs: 1d, idempotency_keys: 1h}\n");
  key_ = make_key("30d");
  ASSERT_EQ(post("before", "Idempotency-Key: once\r\n").status, 201);
  const std::string before = json::parse(service_->get("/v1/runs/before", key_).body)["receivedAt"];
  set_clock(100 * kDay);
  ASSERT_TRUE(service_->wait_for_log("clock_jumped")) << service_->log_text();
  EXPECT_EQ(post("during").status, 201);
  const std::string during = json::parse(service_->get("/v1/runs/during", key_).body)["receivedAt"];
  EXPECT_EQ(during.substr(0, 7), before.substr(0, 7)) << "records are dated by the expected time";
  EXPECT_EQ(post("before", "Idempotency-Key: once\r\n").status, 200);

  // The other way, and with the service begun anew: a key that has ended stays so.
  const std::string id = json::parse(cli({"keys", "list", "--json"}).out)[0]["id"];
  ASSERT_EQ(cli({"keys", "revoke", id}).exit_code, 0);
  EXPECT_EQ(status_of("before"), 401) << "revoked, whatever the clocks say";
  set_clock(-10 * kDay);
  EXPECT_EQ(status_of("before"), 401);
  restart();
  ASSERT_TRUE(service_->wait_for_log("clock_jumped")) << service_->log_text();
  EXPECT_EQ(status_of("before"), 401);
}

TEST_F(WrongClock, SetBack_DoesNotReviveAKeyThatHasExpired) {
  start();
  key_ = make_key("1s");
  ASSERT_TRUE(wait_until([&] { return status_of("none") == 401; }));
  set_clock(-10 * kDay);
  ASSERT_TRUE(service_->wait_for_log("clock_jumped")) << service_->log_text();
  EXPECT_EQ(status_of("none"), 401);
  EXPECT_EQ(readyz()["warnings"][0]["name"], "clock_jumped");
  restart();
  ASSERT_TRUE(service_->wait_for_log("clock_jumped")) << service_->log_text();
  EXPECT_EQ(status_of("none"), 401);
}

// A run that is open from events ends by its idle timeout and not at once, whatever time it is said to be.
TEST_F(WrongClock, StartedAhead_EndsNoOpenRun) {
  start("buffer: {idle_timeout: 1h, max_age: 2h}\n");
  key_ = make_key("300d");
  const char* events = R"({"runId":"chat","events":[{"type":"tool_call","name":"look"}]})";
  ASSERT_EQ(service_->post("/v1/ingest/events", key_, events).status, 202);
  set_clock(100 * kDay);
  restart();
  ASSERT_TRUE(service_->wait_for_log("clock_jumped")) << service_->log_text();
  // Housekeeping ends what is due; a run that is posted now goes through it.
  ASSERT_EQ(post("after").status, 201);
  EXPECT_EQ(json::parse(service_->get("/v1/runs/chat", key_).body)["state"], "open");
}

TEST_F(WrongClock, AcceptedByAnOperator_IsGoneByFromThenOn) {
  start();
  key_ = make_key("300d");
  ASSERT_EQ(post("old").status, 201);
  set_clock(100 * kDay);
  restart();
  ASSERT_TRUE(service_->wait_for_log("clock_jumped")) << service_->log_text();
  EXPECT_EQ(status_of("old"), 200);
  const CommandResult accepted = cli({"store", "accept-clock"});
  EXPECT_EQ(accepted.exit_code, 0) << accepted.err;
  EXPECT_THAT(accepted.out, HasSubstr("is accepted as the time; the store was last in use at "));
  EXPECT_THAT(accepted.out, HasSubstr("100.0 days ago"));
  ASSERT_TRUE(service_->wait_for_log("clock_accepted")) << service_->log_text();
  EXPECT_EQ(readyz()["warnings"], json::array());
  EXPECT_TRUE(wait_until([&] { return status_of("old") == 404; }, kLongest)) << "it is past its retention of 90 days";
  restart();
  EXPECT_EQ(times_in_log("clock_jumped"), 0) << "the next start knows";
}

// A pass of retention deletes runs before changes: once the run is gone, the changes were looked at.
TEST_F(WrongClock, BackdatedChangeAndPolicy_AreKeptFromTheirReceipt) {
  start("retention: {policies: 400d, max_clock_step: forever}\n");
  key_ = make_key("300d");
  ASSERT_EQ(post("old").status, 201);
  ASSERT_EQ(service_->post("/v1/ingest/changes", key_, R"({"kind":"code","at":"2020-01-01T00:00:00Z"})").status, 201);
  for (const char* at : {"2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"}) {
    ASSERT_EQ(service_->post("/v1/ingest/policies", key_, json{{"policy", "refunds"}, {"at", at}}.dump()).status, 201);
  }
  set_clock(100 * kDay);
  restart();
  EXPECT_TRUE(wait_until([&] { return status_of("old") == 404; }, kLongest)) << "it is past its retention of 90 days";
  EXPECT_EQ(json::parse(service_->get("/v1/changes", key_).body)["items"].size(), 3u);
  EXPECT_EQ(json::parse(service_->get("/v1/policies", key_).body)["items"].size(), 2u);
}

// The store of a service that was stopped for long: accepted before the start, it is taken as it is.
TEST_F(WrongClock, AcceptedWhileTheServiceIsStopped_HoldsForTheStart) {
  start("retention: {max_clock_step: 2h}\n");
  key_ = make_key("30d");
  ASSERT_EQ(post("kept").status, 201);
  ASSERT_EQ(service_->stop(), 0);
  set_clock(3 * kHour);
  service_->start();
  ASSERT_TRUE(service_->wait_for_log("clock_jumped")) << service_->log_text();
  ASSERT_EQ(service_->stop(), 0);
  const CommandResult accepted = cli({"store", "accept-clock", "--json"});
  ASSERT_EQ(accepted.exit_code, 0) << accepted.err;
  EXPECT_FALSE(json::parse(accepted.out)["lastUse"].is_null());
  service_->start();
  EXPECT_EQ(status_of("kept"), 200);
  EXPECT_EQ(readyz()["warnings"], json::array());
  EXPECT_THAT(service_->log_text(), Not(HasSubstr("clock_jumped")));
}

}  // namespace
}  // namespace runwarden::test
