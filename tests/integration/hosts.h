// Several services on one PostgreSQL, and clients that send to them in turn and note what was acknowledged.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/failing_run.h"
#include "support/postgres.h"
#include "support/service_process.h"

namespace runwarden::test {

using nlohmann::json;
using SteadyClock = std::chrono::steady_clock;

inline constexpr int kClients = 4;

// The services of a test. Who derives from it says which database is theirs.
class HostsTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override { hosts_.clear(); }

  virtual std::string dsn() const = 0;

  ServiceProcess::Options options(const std::string& more_of_store = {}) const;
  ServiceProcess& add_host();
  ServiceProcess& add_host(ServiceProcess::Options options);

  // The value of a metric without labels; -1: there is none.
  static double metric(const ServiceProcess& host, const std::string& name);
  template <class Holds>
  static bool comes_true(Holds holds, std::chrono::milliseconds within = std::chrono::seconds(20)) {
    const auto until = SteadyClock::now() + within;
    while (!holds()) {
      if (SteadyClock::now() > until) return false;
      ::poll(nullptr, 0, 20);
    }
    return true;
  }
  // What ends by itself: a command beside a configuration that no service runs with.
  static CommandResult with_config(const TempFolder& folder, const std::string& command, const std::string& store,
                                   const std::vector<std::string>& more = {});

  // How many runs and failures a host lists, each id counted.
  std::map<std::string, int> listed(ServiceProcess& host, const std::string& key, const std::string& what, const std::string& id);

  // Posts runs to the hosts in turn from several connections until told to stop; their ids, once they were acknowledged. A run that was not is
  // sent again, as a client does, until it is.
  struct Load {
    std::atomic<bool> stop{false};
    std::mutex mutex;
    std::set<std::string> acknowledged;
    std::atomic<int> refused{0};  // 503 or no answer
    std::vector<std::thread> clients;
    ~Load() { end(); }
    void end();
    std::size_t size();
    bool wait_for(std::size_t enough, int timeout_ms = 20'000);
  };
  void begin(Load& load, const std::string& key);
  void expect_each_once(ServiceProcess& host, const std::string& key, const Load& load);

  std::vector<std::unique_ptr<ServiceProcess>> hosts_;
};

// Of a database of its own on the program's server.
class Hosts : public HostsTest {
 protected:
  void SetUp() override;
  void TearDown() override;
  static PostgresServer& server() { return PostgresServer::shared(); }
  std::string dsn() const override { return server().dsn(database_); }

  std::string database_;
};

}  // namespace runwarden::test
