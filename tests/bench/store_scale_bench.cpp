// How the store answers when it holds much: an investigation's questions among a million failures, and a hundred thousand open
// runs (memory, start, due runs).
//
// bench_store_scale [FOLDER [FAILURES [OPEN_RUNS]]]: FOLDER is made, used and removed.
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/record_ids.h"
#include "store/open_store.h"
#include "support/commit_together.h"

namespace {

using namespace runwarden;
using Steady = std::chrono::steady_clock;

constexpr std::int64_t kBeginMs = 1'790'000'000'000;
constexpr std::int64_t kDayMs = 86'400'000;
constexpr model::TenantId kTenant = 1;

double ms_of(const std::function<void()>& work) {
  const auto begun = Steady::now();
  work();
  return std::chrono::duration<double, std::milli>(Steady::now() - begun).count();
}

// Hands out a time that moves only when told to.
class SetClock final : public Clock {
 public:
  std::int64_t wall_ms() const override { return kBeginMs + moved_ms; }
  std::int64_t monotonic_ns() const override { return (1000 + moved_ms) * 1'000'000; }
  std::int64_t moved_ms = 0;
};

std::unique_ptr<store::Store> open(const std::filesystem::path& folder, const Clock& clock) {
  store::StoreSettings settings;
  settings.state_dir = folder;
  auto store = store::open_store(settings, clock, store::Role::command);
  if (!store.ok()) {
    std::fprintf(stderr, "%s\n", store.error().detail.c_str());
    std::exit(1);
  }
  return std::move(*store);
}

void must_store(store::Store& store, const std::vector<store::Write>& batch) {
  for (const store::WriteResult& result : test::commit_together(store, batch)) {
    if (result.outcome != store::WriteResult::Outcome::stored) std::abort();
  }
}

// Spread over 30 days; a tenth of the failures are of one fingerprint.
void store_failures(store::Store& store, int failures) {
  std::vector<store::Write> batch;
  for (int i = 0; i < failures; ++i) {
    store::RunWrite write;
    write.tenant = kTenant;
    write.run.key = {kBeginMs + 30 * kDayMs / failures * i, store.next_seq()};
    write.run.run_id = model::make_run_id(write.run.key);
    write.run.document = "{\"runId\":\"" + write.run.run_id + "\"}";
    model::FailureRecord failure;
    failure.key = {write.run.key.time_ms, store.next_seq()};
    failure.id = model::make_failure_id(failure.key);
    failure.detector_key = "false_success";
    failure.fingerprint = i % 10 == 0 ? "hot" : "cold " + std::to_string(i % 1000);
    failure.json = "{\"failureId\":\"" + failure.id + "\"}";
    write.failures.push_back(std::move(failure));
    batch.emplace_back(std::move(write));
    if (batch.size() < 512 && i + 1 < failures) continue;
    must_store(store, batch);
    batch.clear();
  }
}

// What an investigation asks: the fingerprint's figures, and for twenty changes the counts of a week before and after each.
void investigate(store::Store& store) {
  const std::int64_t failed_ms = kBeginMs + 29 * kDayMs + 12'345'678;
  store.fingerprint_stats(kTenant, "hot");
  store.count_runs(kTenant, store::kBeginningMs, store::kEndMs);
  for (int change = 1; change <= 20; ++change) {
    const std::int64_t at_ms = failed_ms - change * kDayMs / 3 - change * 12'347;
    const std::int64_t window_ms = std::min(failed_ms - at_ms, 7 * kDayMs);
    for (const std::int64_t from_ms : {at_ms - window_ms, at_ms}) {
      store.count_runs(kTenant, from_ms, from_ms + window_ms);
      store.count_failures(kTenant, "hot", from_ms, from_ms + window_ms);
    }
  }
}

void store_open_runs(store::Store& store, int runs) {
  std::vector<store::Write> batch;
  for (int event = 0; event < 5; ++event) {
    for (int i = 0; i < runs; ++i) {
      store::EventsWrite write;
      write.tenant = kTenant;
      write.key = {kBeginMs, store.next_seq()};
      write.run_id = "open run " + std::to_string(i);
      write.events.push_back({"", R"({"type":"tool_call","name":"lookup_order","output":"order )" + std::to_string(i) + "\"}"});
      batch.emplace_back(std::move(write));
      if (batch.size() < 512 && i + 1 < runs) continue;
      must_store(store, batch);
      batch.clear();
    }
  }
}

void measure_failures(const std::filesystem::path& folder, int failures) {
  const SetClock clock;
  const auto store = open(folder, clock);
  const double storing = ms_of([&] { store_failures(*store, failures); });
  std::printf("%d failing runs stored in %.1f s\n", failures, storing / 1000);
  double slowest = 0;
  double sum = 0;
  constexpr int kTimes = 50;
  for (int i = 0; i < kTimes; ++i) {
    const double took = ms_of([&] { investigate(*store); });
    slowest = std::max(slowest, took);
    sum += took;
  }
  std::printf("investigation's counts: mean %.2f ms, slowest %.2f ms\n", sum / kTimes, slowest);
  store::FailureQuery query;
  query.fingerprint = "hot";
  std::printf("first page of a fingerprint's failures: %.2f ms\n", ms_of([&] { store->failures(kTenant, query); }));
  store::RunQuery none;
  none.detector = "nothing of that name";
  std::printf("runs with a filter that fits none: %.0f ms\n", ms_of([&] { store->runs(kTenant, none); }));
}

void measure_open_runs(const std::filesystem::path& folder, int runs) {
  SetClock clock;
  auto store = open(folder, clock);
  const std::size_t before = mallinfo2().uordblks;
  const double storing = ms_of([&] { store_open_runs(*store, runs); });
  std::printf("%d open runs of 5 events stored in %.1f s, %.1f MiB of heap\n", runs, storing / 1000,
              static_cast<double>(mallinfo2().uordblks - before) / (1 << 20));
  store.reset();
  std::printf("opened again in %.0f ms\n", ms_of([&] { store = open(folder, clock); }));
  std::printf("heap after that: %.1f MiB\n", static_cast<double>(mallinfo2().uordblks - before) / (1 << 20));
  clock.moved_ms = 600'000;
  std::size_t claimed = 0;
  const double claiming = ms_of([&] {
    for (auto due = store->claim({}, 256, 60'000); !due.empty(); due = store->claim({}, 256, 60'000)) claimed += due.size();
  });
  std::printf("%zu due runs claimed in %.0f ms\n", claimed, claiming);
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : "bench-store-scale";
  const int failures = argc > 2 ? std::atoi(argv[2]) : 1'000'000;
  const int open_runs = argc > 3 ? std::atoi(argv[3]) : 100'000;
  std::filesystem::remove_all(folder);
  if (failures > 0) measure_failures(folder, failures);
  std::filesystem::remove_all(folder);
  if (open_runs > 0) measure_open_runs(folder, open_runs);
  std::filesystem::remove_all(folder);
  return 0;
}
