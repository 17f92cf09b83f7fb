// kill -9 in a loop under load: every run that was answered with 201 is there after the restart, whole, with its failures.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;

struct Acknowledged {
  std::string run_id;
  std::string failure_id;
};

std::string failing_run(const std::string& id) {
  return R"({"runId":")" + id + R"(","success":true,"outcomeSummary":"Your refund has been processed.",)" +
         R"("steps":[{"stepKind":"tool","stepName":"issue_refund","status":"failed","errorMessage":"502 Bad Gateway"}]})";
}

// Posts from several connections until `enough` runs were acknowledged, then kills the service in the middle of it.
std::vector<Acknowledged> post_until_killed(ServiceProcess& service, const std::string& key, const std::string& prefix,
                                            std::size_t enough) {
  std::mutex mutex;
  std::vector<Acknowledged> acknowledged;
  std::atomic<bool> killed{false};
  std::vector<std::thread> clients;
  for (int c = 0; c < 8; ++c) {
    clients.emplace_back([&, c] {
      HttpClient client = HttpClient::to(service.port());
      for (int i = 0; i < 100'000 && !killed; ++i) {
        const std::string id = prefix + "-" + std::to_string(c) + "-" + std::to_string(i);
        if (!client.send(post_request("/v1/ingest/runs", failing_run(id), "Authorization: Bearer " + key + "\r\n"))) return;
        const auto answer = client.answer();
        if (!answer || answer->status != 201) return;
        const json body = json::parse(answer->body);
        const std::lock_guard lock(mutex);
        acknowledged.push_back({id, body["failures"][0]["failureId"]});
      }
    });
  }
  for (int i = 0; i < 30'000; ++i) {
    {
      const std::lock_guard lock(mutex);
      if (acknowledged.size() >= enough) break;
    }
    ::poll(nullptr, 0, 1);
  }
  service.kill_hard();
  killed = true;
  for (std::thread& client : clients) client.join();
  return acknowledged;
}

std::size_t count_lost(ServiceProcess& service, const std::string& key, const std::vector<Acknowledged>& acknowledged) {
  std::size_t lost = 0;
  HttpClient client = HttpClient::to(service.port());
  for (const Acknowledged& one : acknowledged) {
    if (!client.send(get_request("/v1/runs/" + one.run_id, "Authorization: Bearer " + key + "\r\n"))) return acknowledged.size();
    const auto answer = client.answer();
    if (!answer || answer->status != 200) {
      ++lost;
      continue;
    }
    const json run = json::parse(answer->body);
    lost += run["failures"].size() != 1 || run["failures"][0]["failureId"] != one.failure_id;
  }
  return lost;
}

TEST(Durability, KilledUnderLoadAgainAndAgain_LosesNothingAcknowledged) {
  ServiceProcess service;
  const std::string key = service.make_key();
  std::vector<Acknowledged> all;
  for (int round = 0; round < 6; ++round) {
    const auto acknowledged = post_until_killed(service, key, "r" + std::to_string(round), 20 + 60 * static_cast<std::size_t>(round));
    all.insert(all.end(), acknowledged.begin(), acknowledged.end());
    service.start();
    EXPECT_EQ(count_lost(service, key, all), 0u) << "of " << all.size();
  }
  EXPECT_GT(all.size(), 900u);
}

TEST(Durability, AServiceThatAnswersBeforeItCommits_IsSeenToLose) {
  ServiceProcess::Options options;
  options.binary = RUNWARDEN_TEST_EARLY_ACK;
  ServiceProcess service(options);
  const std::string key = service.make_key();
  const auto acknowledged = post_until_killed(service, key, "r", 100);
  service.start();
  EXPECT_GT(count_lost(service, key, acknowledged), 0u) << "the test cannot see a loss";
}

TEST(Durability, RightAfterA201_KillAndRestart_TheRunAndItsFailuresAreThere) {
  ServiceProcess service;
  const std::string key = service.make_key();
  const HttpAnswer stored = service.post("/v1/ingest/runs", key, failing_run("one"));
  service.kill_hard();
  ASSERT_EQ(stored.status, 201);
  service.start();
  const HttpAnswer read = service.get("/v1/runs/one", key);
  ASSERT_EQ(read.status, 200);
  EXPECT_EQ(json::parse(read.body)["failures"], json::parse(stored.body)["failures"]);
}

}  // namespace
}  // namespace runwarden::test
