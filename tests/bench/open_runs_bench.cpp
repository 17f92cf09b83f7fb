// What a request that brings events costs the service while many runs are open.
//
//   bench_open_runs [SERVICE_BINARY [OPEN_RUNS]]
//
// Starts a service, and measures 10,000 requests that each open a run and 10,000 that each add an event to one of 1,000 open runs: with
// none open before, then with OPEN_RUNS (default 500,000). Prints the CPU time of the service's process for a request (which other load on
// the machine hardly changes), requests a second over 16 connections, and the ratio of the CPU times. Exit 1 if one is above 1.5.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bench/process_cpu.h"
#include "support/service_process.h"

namespace {

using namespace runwarden::test;
using Clock = std::chrono::steady_clock;

constexpr int kConnections = 16;
constexpr int kMeasured = 10'000;
constexpr int kKept = 1'000;  // runs that get one event after the other
constexpr double kMostTimes = 1.5;

struct Cost {
  double cpu_us = 0;  // a request
  double per_second = 0;
};

class Load {
 public:
  explicit Load(const ServiceProcess& service, std::string key) : service_(service), key_(std::move(key)) {}

  // One request for each number, at once over all connections.
  Cost send(int requests, const std::function<std::string(int)>& run_id) {
    const double cpu_before = cpu_s(service_.pid());
    const auto begun = Clock::now();
    std::atomic<int> next{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kConnections; ++i) {
      threads.emplace_back([&] {
        HttpClient client = HttpClient::to(service_.port(), 60'000);
        for (int number = next++; number < requests; number = next++) post(client, run_id(number));
      });
    }
    for (std::thread& thread : threads) thread.join();
    const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
    return {(cpu_s(service_.pid()) - cpu_before) * 1e6 / requests, requests / seconds};
  }

 private:
  void post(HttpClient& client, const std::string& run_id) {
    const std::string body =
        R"({"runId":")" + run_id + R"(","events":[{"type":"tool_call","name":"lookup_order","output":"order 8842 is on its way"}]})";
    const bool sent = client.send(post_request("/v1/ingest/events", body, "Authorization: Bearer " + key_ + "\r\n"));
    const auto answer = sent ? client.answer() : std::nullopt;
    if (answer && answer->status == 202) return;
    std::fprintf(stderr, "not stored: %s\n", answer ? answer->body.c_str() : "no answer");
    std::_Exit(2);
  }

  const ServiceProcess& service_;
  std::string key_;
};

struct Measured {
  Cost opening;
  Cost adding;
};

Measured measure(Load& load, const std::string& name) {
  Measured measured;
  measured.opening = load.send(kMeasured, [&](int i) { return name + " " + std::to_string(i); });
  measured.adding = load.send(kMeasured, [](int i) { return "kept " + std::to_string(i % kKept); });
  std::printf("  an event for a new run   %8.1f us of CPU, %8.0f requests a second\n", measured.opening.cpu_us,
              measured.opening.per_second);
  std::printf("  an event for an open run %8.1f us of CPU, %8.0f requests a second\n", measured.adding.cpu_us, measured.adding.per_second);
  return measured;
}

}  // namespace

int main(int argc, char** argv) {
  ServiceProcess::Options options;
  options.binary = argc > 1 ? argv[1] : runwarden_binary();
  const int open_runs = argc > 2 ? std::atoi(argv[2]) : 500'000;
  options.yaml = "buffer: {idle_timeout: 24h, max_age: 48h, max_events: 1000000}\n";
  options.server = "threads: 1";
  ServiceProcess service(options);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  Load load(service, service.make_key());
  std::printf("with no open runs\n");
  const Measured before = measure(load, "first");
  const Cost filling = load.send(open_runs, [](int i) { return "filling " + std::to_string(i); });
  std::printf("with %d open runs, opened at %.0f a second\n", open_runs, filling.per_second);
  const Measured after = measure(load, "last");
  const double opening = after.opening.cpu_us / before.opening.cpu_us;
  const double adding = after.adding.cpu_us / before.adding.cpu_us;
  std::printf("CPU time against none: %.2f for a new run, %.2f for an open one\n", opening, adding);
  return std::max(opening, adding) <= kMostTimes ? EXIT_SUCCESS : EXIT_FAILURE;
}
