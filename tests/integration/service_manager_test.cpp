// What the real binary tells a service manager, by systemd's notify protocol: a socket of the test's own listens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <thread>
#include <utility>

#include "support/notify_socket.h"
#include "support/preloaded.h"
#include "support/service_process.h"

namespace runwarden::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Text that does not shrink when it is stored.
std::string noise(std::size_t size) {
  std::mt19937 random(1);
  std::string text(size, ' ');
  for (char& one : text) one = static_cast<char>('0' + random() % 64);
  std::replace(text.begin(), text.end(), '\\', '~');
  return text;
}

class ServiceManagerTest : public testing::Test {
 protected:
  void listen_at(std::string name) { manager_ = std::make_unique<NotifySocket>(std::move(name)); }

  void start(Environment more = {}, ServiceProcess::Options options = {}) {
    if (!manager_) listen_at(folder_.path() / "notify");
    options.environment = std::move(more);
    options.environment.emplace_back("NOTIFY_SOCKET", manager_->name());
    service_.emplace(std::move(options));
  }
  void start_watched(Environment more) {
    more.emplace_back("WATCHDOG_USEC", std::to_string(kWatchdogMs * 1000));
    start(preloaded(RUNWARDEN_TEST_HANGING_CALLS, std::move(more)));
  }

  std::string trigger(const char* name) const { return folder_.path() / name; }
  static void pull(const std::string& trigger) { std::ofstream(trigger).close(); }
  static void release(const std::string& trigger) { std::filesystem::remove(trigger); }

  // Once the service has said that something stands still, nothing feeds the watchdog any more.
  void expect_starved() {
    ASSERT_TRUE(service_->wait_for_log("thread_stalled", 30'000)) << service_->log_text();
    while (manager_->next(0)) {
    }
    const auto said = manager_->next(kWatchdogMs);
    EXPECT_FALSE(said.has_value()) << *said;
  }

  static constexpr int kWatchdogMs = 2000;
  TempFolder folder_;
  std::unique_ptr<NotifySocket> manager_;
  std::optional<ServiceProcess> service_;
};

TEST_F(ServiceManagerTest, Ready_IsToldOnceItListensAndIsReady) {
  start();
  const auto ready = manager_->next(30'000);
  ASSERT_TRUE(ready);
  EXPECT_THAT(*ready, StartsWith("READY=1\nSTATUS=serving on 127.0.0.1:"));
  EXPECT_THAT(*ready, HasSubstr("with 5 detectors"));
  EXPECT_EQ(service_->request(get_request("/readyz")).status, 200);
}

TEST_F(ServiceManagerTest, AnAbstractSocket_IsReachedToo) {
  listen_at("@runwarden-test-" + std::to_string(::getpid()));
  start();
  EXPECT_TRUE(manager_->next_with("READY=1"));
}

TEST_F(ServiceManagerTest, NoAddress_IsSaidAndTheServiceRuns) {
  ServiceProcess::Options options;
  options.environment = {{"NOTIFY_SOCKET", "no/path"}};
  service_.emplace(std::move(options));
  EXPECT_TRUE(service_->wait_for_log("NOTIFY_SOCKET: \\\"no/path\\\" is not the address")) << service_->log_text();
  EXPECT_EQ(service_->request(get_request("/healthz")).status, 200);
}

TEST_F(ServiceManagerTest, Reload_IsToldFromItsBeginningToItsEnd) {
  start();
  ASSERT_TRUE(manager_->next_with("READY=1"));
  service_->signal(SIGHUP);
  const auto begun = manager_->next(30'000);
  ASSERT_TRUE(begun);
  EXPECT_THAT(*begun, StartsWith("RELOADING=1\nMONOTONIC_USEC="));
  const auto ended = manager_->next(30'000);
  ASSERT_TRUE(ended);
  EXPECT_THAT(*ended, StartsWith("READY=1\n"));
  EXPECT_THAT(*ended, Not(HasSubstr("refused")));
}

TEST_F(ServiceManagerTest, ARefusedReload_EndsAndSaysWhy) {
  start();
  ASSERT_TRUE(manager_->next_with("READY=1"));
  std::ofstream(service_->config_path(), std::ios::app) << "nonsense: 1\n";
  service_->signal(SIGHUP);
  ASSERT_TRUE(manager_->next_with("RELOADING=1"));
  const auto ended = manager_->next(30'000);
  ASSERT_TRUE(ended);
  EXPECT_THAT(*ended, StartsWith("READY=1\n"));
  EXPECT_THAT(*ended, HasSubstr("the reload was refused: "));
  EXPECT_THAT(*ended, HasSubstr("nonsense"));
}

TEST_F(ServiceManagerTest, Stopping_IsToldWithTheTimeItMayTake) {
  ServiceProcess::Options options;
  options.server = "drain_timeout: 3s";
  start({}, std::move(options));
  ASSERT_TRUE(manager_->next_with("READY=1"));
  EXPECT_EQ(service_->stop(), 0);
  const auto stopping = manager_->next(0);
  ASSERT_TRUE(stopping);
  EXPECT_THAT(*stopping, StartsWith("STOPPING=1\nEXTEND_TIMEOUT_USEC=33000000\n"));
}

TEST_F(ServiceManagerTest, AStoreWithoutRoom_IsNotToldReady_AndCanBeStopped) {
  ServiceProcess::Options options;
  options.store = "map_size: 4MiB";
  start({}, std::move(options));
  ASSERT_TRUE(manager_->next_with("READY=1"));
  const std::string key = service_->make_key();
  int status = 0;
  for (const std::size_t size : {300'000u, 20'000u, 1'000u}) {
    const std::string run = R"({"outcomeSummary":")" + noise(size) + "\"}";
    status = 201;
    for (int i = 0; i < 200 && status == 201; ++i) status = service_->post("/v1/ingest/runs", key, run).status;
  }
  ASSERT_EQ(status, 503);
  ASSERT_EQ(service_->stop(), 0);
  ASSERT_TRUE(manager_->next_with("STOPPING=1"));

  service_->start();
  const auto said = manager_->next(30'000);
  ASSERT_TRUE(said);
  EXPECT_THAT(*said, StartsWith("STATUS=not ready: "));
  EXPECT_EQ(service_->request(get_request("/readyz")).status, 503);
  EXPECT_EQ(service_->request(get_request("/healthz")).status, 200);
  EXPECT_EQ(service_->stop(), 0);
  EXPECT_THAT(manager_->next(0).value_or(""), StartsWith("STOPPING=1"));
}

TEST_F(ServiceManagerTest, WatchdogOfAnotherProcess_IsNotFed) {
  start({{"WATCHDOG_USEC", "100000"}, {"WATCHDOG_PID", "1"}});
  ASSERT_TRUE(manager_->next_with("READY=1"));
  EXPECT_FALSE(manager_->next_with("WATCHDOG=1", 500));
}

TEST_F(ServiceManagerTest, Watchdog_IsFedWhileAllMoves) {
  start_watched({});
  ASSERT_TRUE(manager_->next_with("READY=1"));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(manager_->next_with("WATCHDOG=1", 10'000));
}

TEST_F(ServiceManagerTest, Watchdog_IsNotFedWhileACommitHangs) {
  start_watched({{"HANG_SYNC", trigger("sync")}});
  const std::string key = service_->make_key();
  ASSERT_TRUE(manager_->next_with("WATCHDOG=1"));
  pull(trigger("sync"));
  std::thread client([&] { EXPECT_EQ(service_->post("/v1/ingest/runs", key, "{}").status, 201); });
  expect_starved();
  EXPECT_THAT(service_->log_text(), HasSubstr("the writer thread"));
  release(trigger("sync"));
  EXPECT_TRUE(manager_->next_with("WATCHDOG=1"));
  client.join();
  EXPECT_TRUE(service_->wait_for_log("thread_recovered"));
}

TEST_F(ServiceManagerTest, Watchdog_IsNotFedWhileAcceptingHangs) {
  start_watched({{"HANG_ACCEPT", trigger("accept")}});
  ASSERT_TRUE(manager_->next_with("WATCHDOG=1"));
  pull(trigger("accept"));
  std::thread client([&] { EXPECT_EQ(service_->request(get_request("/healthz")).status, 200); });
  expect_starved();
  EXPECT_THAT(service_->log_text(), HasSubstr("an HTTP worker"));
  release(trigger("accept"));
  EXPECT_TRUE(manager_->next_with("WATCHDOG=1"));
  client.join();
}

}  // namespace
}  // namespace runwarden::test
