#include "integration/hosts.h"

#include <poll.h>

#include <cstdlib>
#include <utility>

namespace runwarden::test {

void HostsTest::Load::end() {
  stop = true;
  for (std::thread& client : clients) {
    if (client.joinable()) client.join();
  }
}

std::size_t HostsTest::Load::size() {
  const std::lock_guard lock(mutex);
  return acknowledged.size();
}

bool HostsTest::Load::wait_for(std::size_t enough, int timeout_ms) {
  for (int i = 0; i < timeout_ms && size() < enough; ++i) ::poll(nullptr, 0, 1);
  return size() >= enough;
}

void HostsTest::SetUp() {
  if (!PostgresServer::installed()) GTEST_SKIP() << "no PostgreSQL server is installed: apt-get install postgresql-15";
}

ServiceProcess::Options HostsTest::options(const std::string& more_of_store) const {
  ServiceProcess::Options options;
  options.store = "driver: postgres, dsn: \"" + dsn() + "\", write_connections: 2, read_connections: 4" +
                  (more_of_store.empty() ? "" : ", ") + more_of_store;
  options.yaml = "buffer: {idle_timeout: 1h}\n";
  return options;
}

ServiceProcess& HostsTest::add_host() {
  return add_host(options());
}

ServiceProcess& HostsTest::add_host(ServiceProcess::Options options) {
  hosts_.push_back(std::make_unique<ServiceProcess>(std::move(options)));
  return *hosts_.back();
}

double HostsTest::metric(const ServiceProcess& host, const std::string& name) {
  const std::string text = host.request(get_request("/metrics")).body;
  const auto at = text.find("\n" + name + " ");
  return at == std::string::npos ? -1 : std::strtod(text.c_str() + at + name.size() + 2, nullptr);
}

CommandResult HostsTest::with_config(const TempFolder& folder, const std::string& command, const std::string& store,
                                     const std::vector<std::string>& more) {
  const std::string file = folder.write("runwarden.yaml", "server: {address: \"127.0.0.1:0\"}\nstore: {path: data, driver: postgres, " +
                                                              store + "}\ndetectors: {include: [], enabled: []}\n");
  std::vector<std::string> words{runwarden_binary(), command, "--config", file};
  words.insert(words.end(), more.begin(), more.end());
  return run_command(words);
}

std::map<std::string, int> HostsTest::listed(ServiceProcess& host, const std::string& key, const std::string& what, const std::string& id) {
  std::map<std::string, int> found;
  std::string cursor;
  do {
    HttpAnswer answer = host.get("/v1/" + what + "?limit=1000" + (cursor.empty() ? "" : "&cursor=" + cursor), key);
    for (int i = 0; i < 500 && answer.status == 503; ++i) {  // the database was just away: a client comes again
      ::poll(nullptr, 0, 10);
      answer = host.get("/v1/" + what + "?limit=1000" + (cursor.empty() ? "" : "&cursor=" + cursor), key);
    }
    EXPECT_EQ(answer.status, 200) << answer.body;
    if (answer.status != 200) return found;
    const json page = json::parse(answer.body);
    for (const json& item : page["items"]) ++found[item[id].get<std::string>()];
    cursor = page["nextCursor"].is_string() ? page["nextCursor"].get<std::string>() : std::string();
  } while (!cursor.empty());
  return found;
}

void HostsTest::begin(Load& load, const std::string& key) {
  for (int c = 0; c < kClients; ++c) {
    load.clients.emplace_back([this, &load, key, c] {
      for (int i = 0; !load.stop; ++i) {
        const std::string id = "r-" + std::to_string(c) + "-" + std::to_string(i);
        for (std::size_t tries = 0; !load.stop; ++tries) {
          ServiceProcess& host = *hosts_[(static_cast<std::size_t>(c) + tries) % hosts_.size()];
          const HttpAnswer answer = host.post("/v1/ingest/runs", key, failing_run(id));
          if (answer.status == 201 || answer.status == 200) {
            const std::lock_guard lock(load.mutex);
            load.acknowledged.insert(id);
            break;
          }
          ++load.refused;
          ::poll(nullptr, 0, 5);
        }
      }
    });
  }
}

void HostsTest::expect_each_once(ServiceProcess& host, const std::string& key, const Load& load) {
  const auto runs = listed(host, key, "runs", "runId");
  const auto failures = listed(host, key, "failures", "runId");
  for (const std::string& id : load.acknowledged) {
    EXPECT_EQ(runs.count(id), 1u) << id << " was acknowledged and is lost";
    EXPECT_EQ(failures.count(id), 1u) << id << " lost its failure";
  }
  for (const auto& [id, times] : runs) EXPECT_EQ(times, 1) << id;
  for (const auto& [id, times] : failures) EXPECT_EQ(times, 1) << id;
}

void Hosts::SetUp() {
  HostsTest::SetUp();
  if (!IsSkipped()) database_ = server().make_database();
}

void Hosts::TearDown() {
  HostsTest::TearDown();
  if (!database_.empty()) server().drop_database(database_);
}

}  // namespace runwarden::test
