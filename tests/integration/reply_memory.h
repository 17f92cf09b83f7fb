// Clients that ask and do not read, and what they make the service hold. For tests; one thread.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <deque>
#include <fstream>
#include <map>
#include <string>

#include "support/http_client.h"
#include "support/sanitized.h"
#include "support/service_process.h"

namespace runwarden::test {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Anonymous memory only: the pages of the store are the kernel's to take back.
inline std::uint64_t anonymous_bytes(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::stoull(line.substr(8)) * 1024;
  }
  return 0;
}

inline std::string large_run(const std::string& id, std::uint64_t bytes) {
  return R"({"runId":")" + id + R"(","steps":[{"stepKind":"model","outputSummary":")" + std::string(bytes, 'x') + R"("}]})";
}

inline std::string large_event(const std::string& id, std::uint64_t bytes) {
  return R"({"runId":")" + id + R"(","events":[{"type":"model_output","text":")" + std::string(bytes, 'x') + R"("}]})";
}

inline std::string list_request(const std::string& key) {
  return get_request("/v1/runs?limit=200", "Authorization: Bearer " + key + "\r\n");
}

// Clients that have sent a request each and read nothing of its answer but that it has begun.
class IdleReaders {
 public:
  // Returns once each answer has begun, so that all of the work is done.
  void ask(std::uint16_t port, const std::string& request, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      clients_.emplace_back(120'000);
      clients_.back().set_receive_buffer(4096);
      ASSERT_TRUE(clients_.back().connect(port));
      ASSERT_TRUE(clients_.back().send(request));
    }
    for (HttpClient& client : clients_) ASSERT_TRUE(client.hears_within(120'000));
  }
  // Reads all answers; how many there were of each status.
  std::map<int, int> read_all() {
    std::map<int, int> statuses;
    for (HttpClient& client : clients_) {
      const auto answer = client.answer();
      ++statuses[answer ? answer->status : 0];
    }
    return statuses;
  }
  HttpClient& last() { return clients_.back(); }

 private:
  std::deque<HttpClient> clients_;
};

struct Scale {
  int runs = 0;
  std::uint64_t run_bytes = 0;
  std::size_t clients = 0;
  std::uint64_t most_above_idle = 0;
  std::string limits = "{}";
};

inline std::uint64_t gauge(const ServiceProcess& service, const std::string& line) {
  const std::string page = service.request(get_request("/metrics")).body;
  const auto at = page.find(line + " ");
  return at == std::string::npos ? ~std::uint64_t{0} : static_cast<std::uint64_t>(std::stod(page.substr(at + line.size() + 1)));
}

inline void expect_bounded(const Scale& scale) {
  ServiceProcess::Options options;
  options.limits = scale.limits;
  ServiceProcess service(std::move(options));
  const std::string acme = service.make_key("acme");
  const std::string other = service.make_key("other");
  for (int i = 0; i < scale.runs; ++i) {
    ASSERT_EQ(service.post("/v1/ingest/runs", acme, large_run("run-" + std::to_string(i), scale.run_bytes)).status, 201);
  }
  ASSERT_EQ(service.post("/v1/ingest/runs", other, large_run("small", 100)).status, 201);
  const std::uint64_t idle = anonymous_bytes(service.pid());
  IdleReaders readers;
  ASSERT_NO_FATAL_FAILURE(readers.ask(service.port(), list_request(acme), scale.clients));

  const std::uint64_t above_idle = anonymous_bytes(service.pid()) - idle;
  std::printf("[ MEASURED ] %zu clients that do not read: %llu MiB above idle\n", scale.clients,
              static_cast<unsigned long long>(above_idle / kMiB));
  EXPECT_TRUE(kSanitized || above_idle <= scale.most_above_idle);
  EXPECT_GT(gauge(service, R"(runwarden_reply_bytes{share="reads"})"), 0u);
  // Everybody else is served, and so is the ingest of the same tenant.
  EXPECT_EQ(service.get("/v1/runs?limit=200", other).status, 200);
  EXPECT_EQ(service.get("/v1/runs/small", other).status, 200);
  for (const std::string& key : {acme, other}) {
    EXPECT_EQ(service.post("/v1/ingest/runs", key, R"({"steps":[]})").status, 201);
    EXPECT_EQ(service.post("/v1/ingest/events", key, large_event("open", 10)).status, 202);
  }

  const auto statuses = readers.read_all();
  EXPECT_GT(statuses.at(200), 0) << "those whose answers fit get them";
  EXPECT_GT(statuses.at(503), 0) << "the budget was never used up: this test shows nothing";
  EXPECT_EQ(statuses.size(), 2u);
  EXPECT_EQ(service.get("/v1/runs?limit=200", acme).status, 200) << "what was read is free again";
  EXPECT_GT(gauge(service, R"(runwarden_replies_refused_total{share="reads"})"), 0u);
  EXPECT_EQ(gauge(service, R"(runwarden_replies_refused_total{share="ingest"})"), 0u);
}

}  // namespace runwarden::test
