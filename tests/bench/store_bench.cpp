// How many runs a second the store takes: one transaction a run, against group commit with many requests waiting.
//
// bench_store [FOLDER [SECONDS]]: FOLDER (made, used and removed) has to be on the disk that is to be measured.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "store/open_store.h"
#include "support/commit_together.h"

namespace {

using namespace runwarden;
using Steady = std::chrono::steady_clock;

// Looks like a run: words that repeat, numbers that do not.
std::string document(std::size_t bytes, std::uint64_t seed) {
  static const char* const kWords[] = {"refund", "order", "status", "completed", "customer", "tool", "lookup", "error", "retry", "amount"};
  std::string text = R"({"steps":[)";
  std::uint64_t state = seed * 2654435761 + 1;
  while (text.size() + 40 < bytes) {
    state = state * 6364136223846793005 + 1442695040888963407;
    text.append("{\"stepName\":\"").append(kWords[state >> 60 & 7]).append("\",\"outputSummary\":\"");
    text.append(kWords[state >> 50 & 7]).append(" ").append(std::to_string(state >> 32)).append("\"},");
  }
  text.back() = ']';
  return text + "}";
}

store::RunWrite sample(store::Store& store, std::size_t bytes) {
  store::RunWrite write;
  write.tenant = 1;
  write.run.key = {SystemClock().wall_ms(), store.next_seq()};
  write.run.run_id = "run " + std::to_string(write.run.key.seq);
  write.run.document = document(bytes, write.run.key.seq);
  write.run.failures_json = write.run.detectors_json = write.run.policies_json = "[]";
  return write;
}

double one_by_one(store::Store& store, std::size_t bytes, double seconds) {
  const auto begun = Steady::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Steady::now() - begun).count(); };
  std::uint64_t done = 0;
  for (; elapsed() < seconds; ++done) {
    if (test::commit(store, sample(store, bytes)).outcome != store::WriteResult::Outcome::stored) std::abort();
  }
  return static_cast<double>(done) / elapsed();
}

// As many requests as `waiting` are in the queue or being committed at any time; two threads make them.
double grouped(store::Store& store, std::size_t bytes, double seconds, std::size_t waiting) {
  std::mutex mutex;
  std::condition_variable room;
  std::size_t inside = 0;
  std::atomic<std::uint64_t> done{0};
  const auto begun = Steady::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Steady::now() - begun).count(); };
  const auto client = [&] {
    while (elapsed() < seconds) {
      {
        std::unique_lock lock(mutex);
        room.wait(lock, [&] { return inside < waiting; });
        ++inside;
      }
      const bool queued = store.submit(sample(store, bytes), [&](const store::WriteResult& result) {
        if (result.outcome != store::WriteResult::Outcome::stored) std::abort();
        ++done;
        const std::lock_guard lock(mutex);
        --inside;
        room.notify_one();
      });
      if (!queued) std::abort();
    }
  };
  std::thread other(client);
  client();
  other.join();
  {
    std::unique_lock lock(mutex);
    room.wait(lock, [&] { return inside == 0; });
  }
  return static_cast<double>(done) / elapsed();
}

double lookup_ns(store::Store& store, std::size_t bytes) {
  const std::string id = "looked up " + std::to_string(bytes);
  store::RunWrite write = sample(store, bytes);
  write.run.run_id = id;
  test::commit(store, std::move(write));
  constexpr int kTimes = 200'000;
  const auto begun = Steady::now();
  for (int i = 0; i < kTimes; ++i) {
    if (store.find_run(1, "not there")) std::abort();
  }
  return std::chrono::duration<double, std::nano>(Steady::now() - begun).count() / kTimes;
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : "bench-store";
  const double seconds = argc > 2 ? std::atof(argv[2]) : 3;
  const SystemClock clock;
  std::printf("%-8s %-28s %12s %8s\n", "bytes", "way", "runs/s", "ratio");
  for (const std::size_t bytes : {std::size_t{1024}, std::size_t{8192}}) {
    std::filesystem::remove_all(folder);
    store::StoreSettings settings;
    settings.state_dir = folder;
    settings.listener.on_fatal = [](const std::string& text) {
      std::fprintf(stderr, "%s\n", text.c_str());
      std::abort();
    };
    auto store = store::open_store(settings, clock, store::Role::command);
    if (!store.ok()) {
      std::fprintf(stderr, "%s\n", store.error().detail.c_str());
      return 1;
    }
    const double single = one_by_one(**store, bytes, seconds);
    std::printf("%-8zu %-28s %12.0f %8.1f\n", bytes, "one transaction a run", single, 1.0);
    for (const std::size_t waiting : {std::size_t{64}, std::size_t{256}}) {
      const double many = grouped(**store, bytes, seconds, waiting);
      const std::string way = "group commit, " + std::to_string(waiting) + " waiting";
      std::printf("%-8zu %-28s %12.0f %8.1f\n", bytes, way.c_str(), many, many / single);
    }
    std::printf("%-8zu %-28s %12.0f ns\n", bytes, "lookup of a run not there", lookup_ns(**store, bytes));
  }
  std::filesystem::remove_all(folder);
  return 0;
}
