// kill -9 in a loop under load: every run that was answered with 201 is there after the restart, whole, with its failures.
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/failing_run.h"
#include "support/otlp.h"
#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;

struct Acknowledged {
  std::string run_id;
  std::string failure_id;
};

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

TEST(Durability, AWriteInDoubt_GetsNoAnswerAndTheServiceGoesOn) {
  ServiceProcess::Options options;
  options.binary = RUNWARDEN_TEST_IN_DOUBT;
  ServiceProcess service(options);
  const std::string key = service.make_key();
  const std::string auth = "Authorization: Bearer " + key + "\r\n";
  const auto answered = [&](const std::string& request) {
    HttpClient client = HttpClient::to(service.port());
    return client.send(request) && client.answer().has_value();
  };
  const std::string doubtful = R"({"userRequestText":"in doubt","steps":[]})";
  const std::string sure = R"({"userRequestText":"sure","steps":[]})";
  const std::string lines = sure + "\n" + doubtful + "\n" + sure;
  EXPECT_FALSE(answered(post_request("/v1/ingest/runs", doubtful, auth)));
  EXPECT_FALSE(answered("POST /v1/ingest/runs HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-ndjson\r\n" + auth +
                        "Content-Length: " + std::to_string(lines.size()) + "\r\n\r\n" + lines));
  EXPECT_FALSE(answered(post_request("/v1/ingest/events", R"({"runId":"r","events":[{"type":"tool_call","name":"in doubt"}]})", auth)));
  EXPECT_FALSE(answered(post_request("/v1/ingest/changes", R"({"kind":"code","ref":"in doubt"})", auth)));
  OtlpSpan span;
  span.name = "in doubt";
  EXPECT_FALSE(answered(post_request("/v1/ingest/otlp/v1/traces", otlp_json({span}), auth)));
  span.name = "sure";
  EXPECT_TRUE(answered(post_request("/v1/ingest/otlp/v1/traces", otlp_json({span}), auth)));
  ASSERT_EQ(service.post("/v1/ingest/runs", key, failing_run("one")).status, 201);
  const json groups = json::parse(service.get("/v1/clusters", key).body);
  const std::string triage = "/v1/clusters/" + groups["items"][0]["clusterId"].get<std::string>() + "/triage";
  const std::string manages = "Authorization: Bearer " + service.make_key("acme", "manage") + "\r\n";
  EXPECT_FALSE(answered(post_request(triage, R"({"action":"resolve","note":"in doubt"})", manages)));
  EXPECT_TRUE(answered(post_request(triage, R"({"action":"resolve","note":"sure"})", manages)));
  EXPECT_EQ(service.post("/v1/ingest/runs", key, sure).status, 201);
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

// What a client was told of a run that it streamed in.
struct Streamed {
  std::string run_id;
  std::size_t events = 0;  // acknowledged
  std::string failure_id;  // once it was answered as resolved
};

json event_of(std::size_t number) {
  if (number < 3)
    return {{"type", "tool_call"},
            {"eventId", "e" + std::to_string(number)},
            {"name", "step_" + std::string(1, static_cast<char>('a' + number))},
            {"status", "failed"},
            {"error", "502 Bad Gateway"}};
  return {{"type", "model_output"}, {"eventId", "e" + std::to_string(number)}, {"text", "Your refund has been processed."}};
}

// Streams runs of four events, a request each, the last with "final", until `enough` requests were acknowledged; then kills.
std::vector<Streamed> stream_until_killed(ServiceProcess& service, const std::string& key, const std::string& prefix, std::size_t enough) {
  std::mutex mutex;
  std::vector<Streamed> streamed;
  std::atomic<std::size_t> acknowledged{0};
  std::atomic<bool> killed{false};
  std::vector<std::thread> clients;
  for (int c = 0; c < 8; ++c) {
    clients.emplace_back([&, c] {
      HttpClient client = HttpClient::to(service.port());
      for (int i = 0; i < 100'000 && !killed; ++i) {
        Streamed run{prefix + "-" + std::to_string(c) + "-" + std::to_string(i), 0, {}};
        for (std::size_t number = 0; number < 4; ++number) {
          const json body{{"runId", run.run_id}, {"events", {event_of(number)}}, {"final", number == 3}};
          if (!client.send(post_request("/v1/ingest/events", body.dump(), "Authorization: Bearer " + key + "\r\n"))) break;
          const auto answer = client.answer();
          if (!answer || (answer->status != 201 && answer->status != 202)) break;
          ++run.events;
          ++acknowledged;
          if (answer->status == 201) run.failure_id = json::parse(answer->body)["failures"][0]["failureId"];
        }
        const std::lock_guard lock(mutex);
        streamed.push_back(run);
        if (run.events < 4) return;
      }
    });
  }
  for (int i = 0; i < 30'000 && acknowledged < enough; ++i) ::poll(nullptr, 0, 1);
  service.kill_hard();
  killed = true;
  for (std::thread& client : clients) client.join();
  return streamed;
}

// Sends what is missing of each run, as a client that got no answer does, and counts what had been acknowledged and is gone.
std::size_t count_lost_events(ServiceProcess& service, const std::string& key, const std::vector<Streamed>& streamed) {
  std::size_t lost = 0;
  for (const Streamed& one : streamed) {
    if (one.events == 0) continue;
    const HttpAnswer answer = service.get("/v1/runs/" + one.run_id, key);
    if (answer.status != 200) {
      lost += one.events;
      continue;
    }
    const json run = json::parse(answer.body);
    lost += run["steps"].size() < one.events ? one.events - run["steps"].size() : 0;
    lost += !one.failure_id.empty() &&
            (run["state"] != "resolved" || run["failures"].size() != 1 || run["failures"][0]["failureId"] != one.failure_id);
  }
  return lost;
}

TEST(Durability, KilledWhileRunsStreamIn_LosesNoEvent_AndJudgesEachRunOnce) {
  ServiceProcess service;
  const std::string key = service.make_key();
  std::vector<Streamed> all;
  for (std::size_t round = 0; round < 4; ++round) {
    const auto streamed = stream_until_killed(service, key, "s" + std::to_string(round), 100 + 100 * round);
    all.insert(all.end(), streamed.begin(), streamed.end());
    service.start();
    EXPECT_EQ(count_lost_events(service, key, all), 0u);
  }
  for (const Streamed& one : all) {  // each client sends again whatever it has no answer to
    const json whole{{"runId", one.run_id}, {"events", {event_of(0), event_of(1), event_of(2), event_of(3)}}, {"final", true}};
    const HttpAnswer answer = service.post("/v1/ingest/events", key, whole.dump());
    ASSERT_TRUE(answer.status == 200 || answer.status == 201) << answer.body;
    const json run = json::parse(service.get("/v1/runs/" + one.run_id, key).body);
    EXPECT_EQ(run["steps"].size(), 4u) << one.run_id;
    EXPECT_EQ(run["revision"], 1) << one.run_id;
  }
  std::map<std::string, int> failures;
  std::string cursor;
  do {
    const json page = json::parse(service.get("/v1/failures?limit=1000" + cursor, key).body);
    for (const json& failure : page["items"]) ++failures[failure["runId"]];
    cursor = page["nextCursor"].is_null() ? "" : "&cursor=" + page["nextCursor"].get<std::string>();
  } while (!cursor.empty());
  EXPECT_EQ(failures.size(), all.size());
  for (const auto& [run_id, count] : failures) EXPECT_EQ(count, 1) << "two sets of failures of " << run_id;
}

TEST(Durability, AServiceThatAnswersBeforeItCommits_IsSeenToLoseEvents) {
  ServiceProcess::Options options;
  options.binary = RUNWARDEN_TEST_EARLY_ACK;
  ServiceProcess service(options);
  const std::string key = service.make_key();
  const auto streamed = stream_until_killed(service, key, "s", 60);
  service.start();
  EXPECT_GT(count_lost_events(service, key, streamed), 0u) << "the test cannot see a loss";
}

}  // namespace
}  // namespace runwarden::test
