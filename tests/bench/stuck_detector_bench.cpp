// What a detector that sleeps through its deadline does to the requests of others.
//
//   bench_stuck_detector [SERVICE_BINARY [SLEEP_S]]
//
// Starts a service with one detector (deadline 250 ms) that sleeps SLEEP_S seconds (default 10) when a run tells it to, and posts 200
// ordinary runs a second at set times over 16 connections: first 4 s without sleepers, then SLEEP_S + 4 s in which four runs at once, each
// second, put it to sleep. Prints both times' p50, p99 and maximum, counted from the time at which a request was to be sent, so that what
// waits behind a slow one counts too; once with a detector that may fail as often as it likes, and once with the default quarantine.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "support/service_process.h"

namespace {

using namespace runwarden::test;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kConnections = 16;
constexpr milliseconds kEach{5};
constexpr milliseconds kQuiet{4000};
constexpr milliseconds kSleepersEvery{1000};
constexpr int kSleepersAtOnce = 4;

struct Waits {
  std::vector<double> ms;
  int not_stored = 0;

  void print(const char* name) {
    std::sort(ms.begin(), ms.end());
    const auto at = [this](double part) { return ms[static_cast<std::size_t>(part * static_cast<double>(ms.size() - 1))]; };
    if (!ms.empty())
      std::printf("  %-18s %5zu requests, %d not stored, p50 %8.1f ms, p99 %8.1f ms, max %8.1f ms\n", name, ms.size(), not_stored, at(0.5),
                  at(0.99), at(1));
  }
  void add(const Waits& other) {
    ms.insert(ms.end(), other.ms.begin(), other.ms.end());
    not_stored += other.not_stored;
  }
};

std::string post(const std::string& key, const std::string& request) {
  return post_request("/v1/ingest/runs", "{\"userRequestText\":\"" + request + "\"}", "Authorization: Bearer " + key + "\r\n");
}

// Every kConnections-th of the requests; those to be sent before `half` are the quiet ones.
void ask(const ServiceProcess& service, const std::string& key, Clock::time_point from, Clock::time_point half, Clock::time_point end,
         Waits* quiet, Waits* beside) {
  HttpClient client = HttpClient::to(service.port(), 60'000);
  const std::string request = post(key, "nothing special");
  for (auto due = from; due < end; due += kEach * kConnections) {
    std::this_thread::sleep_until(due);
    Waits& waits = due < half ? *quiet : *beside;
    const bool sent = client.send(request);
    const auto answer = sent ? client.answer() : std::nullopt;
    waits.ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - due).count());
    if (answer && answer->status == 201) continue;
    ++waits.not_stored;
    return;
  }
}

void measure(const std::string& binary, int sleep_s, const std::string& quarantine) {
  ServiceProcess::Options options;
  options.binary = binary;
  options.yaml = "detectors:\n  search_path: [\"" RUNWARDEN_BENCH_ZOO "\"]\n  include: []\n" + quarantine +
                 "  enabled:\n    - {key: zoo, library: obedient.so}\n";
  ServiceProcess service(options);
  const std::string key = service.make_key();
  const auto begin = Clock::now() + milliseconds(100);
  const auto half = begin + kQuiet;
  const auto end = half + std::chrono::seconds(sleep_s) + kQuiet;
  std::vector<Waits> quiet(kConnections), beside(kConnections);
  std::vector<std::thread> threads;
  for (int i = 0; i < kConnections; ++i) {
    threads.emplace_back([&, i] {
      const auto at = static_cast<std::size_t>(i);
      ask(service, key, begin + i * kEach, half, end, &quiet[at], &beside[at]);
    });
  }
  std::vector<HttpClient> sleepers;  // nobody waits for their answers
  for (auto due = half; due < end - kQuiet; due += kSleepersEvery) {
    std::this_thread::sleep_until(due);
    for (int i = 0; i < kSleepersAtOnce; ++i) {
      sleepers.push_back(HttpClient::to(service.port()));
      sleepers.back().send(post(key, "sleep " + std::to_string(sleep_s)));
    }
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 1; i < kConnections; ++i) {
    quiet[0].add(quiet[i]);
    beside[0].add(beside[i]);
  }
  quiet[0].print("without sleepers");
  beside[0].print("beside sleepers");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string binary = argc > 1 ? argv[1] : runwarden_binary();
  const int sleep_s = argc > 2 ? std::atoi(argv[2]) : 10;
  std::printf("detectors.quarantine off\n");
  measure(binary, sleep_s, "  quarantine: {failures: 1000}\n");
  std::printf("detectors.quarantine as shipped (5 failures in 60 s)\n");
  measure(binary, sleep_s, "");
}
