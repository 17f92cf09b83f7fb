// Random schedules of what can happen to the buffer: events that come, come again and come late, ends, crashes, restarts, jumps of the
// wall clock, retention. Each is replayed on a model a page long; the store has to agree with it after every step.
//
// A schedule follows from its seed alone. RUNWARDEN_SIMULATION_SEED=N runs that one, RUNWARDEN_SIMULATION_SCHEDULES=N as many from the
// first on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engines.h"
#include "sample_records.h"
#include "support/sample_values.h"

namespace runwarden::store {
namespace {

using Outcome = WriteResult::Outcome;
using model::Resolution;

constexpr std::int64_t kDayMs = 86'400'000;

// SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

// What has to be known of one run; `settle` notes where its revision ends.
struct ModelRun {
  model::RecordKey key;
  std::vector<std::string> events;  // of all revisions, in order
  std::set<std::string> ids;        // of events
  std::set<std::string> ended;      // ids of events after which "final" came
  std::uint32_t revision = 1;
  bool open = true;
  std::uint64_t token = 0;             // of its latest claim
  std::optional<std::size_t> ends_at;  // "final" came with that many events: what comes later is the next revision's
  bool tail_final = false;             // "final" came again behind that
  std::optional<model::FailureRecord> failure;  // of the last revision that ended

  void settle() {
    if (ends_at || !tail_final) return;
    ends_at = events.size();
    tail_final = false;
  }
};

class Simulation {
 public:
  Simulation(Engine& engine, std::unique_ptr<Store>& store, test::FakeClock& clock, std::uint64_t seed)
      : engine_(engine), store_(store), clock_(clock), random_(seed), tenant_(static_cast<model::TenantId>(seed % 1'000'000 + 1)) {}

  void run() {
    constexpr int kSteps = 30;
    for (int step = 0; step < kSteps && !::testing::Test::HasFailure(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      take_step();
      check_counts();
    }
    restart();
    check_everything();
    end_everything();
    check_everything();
    purge();
  }

 private:
  void take_step() {
    switch (random_.below(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4: return post();
      case 5:
      case 6: return claim_due();
      case 7:
      case 8: return end_one();
      case 9: return restart();
      case 10: return jump();
      default: return expire();
    }
  }

  std::string any_run() { return "run-" + std::to_string(random_.below(4)); }

  EventsWrite random_events(const std::string& run_id) {
    EventsWrite write;
    write.tenant = tenant_;
    write.key = {clock_.wall_ms(), store_->next_seq()};
    write.run_id = run_id;
    write.final = random_.one_in(4);
    for (auto left = random_.below(4); left > 0; --left) {
      const std::string id = random_.one_in(3) ? std::string() : "e" + std::to_string(random_.below(8));
      write.events.push_back({id, "event " + std::to_string(++events_made_)});
    }
    return write;
  }

  // One to three requests in one commit.
  void post() {
    std::vector<Write> batch;
    for (auto left = random_.below(3) + 1; left > 0; --left) batch.emplace_back(random_events(any_run()));
    const auto results = test::commit_together(*store_, batch);
    for (std::size_t i = 0; i < batch.size(); ++i) expect_buffered(std::get<EventsWrite>(batch[i]), results[i]);
    for (const Write& write : batch) check_run(std::get<EventsWrite>(write).run_id);
  }

  // Whether the request ends its run. Without new events, only if "final" did not come after the same event before.
  static bool ends(ModelRun& run, const EventsWrite& write, bool has_new) {
    if (!write.final) return false;
    const std::string after = write.events.empty() ? std::string() : write.events.back().id;
    const bool repeats = !after.empty() && run.ended.contains(after) && !has_new;
    if (!after.empty() && (has_new || (run.open && !run.ends_at))) run.ended.insert(after);
    return !repeats;
  }

  void expect_buffered(const EventsWrite& write, const WriteResult& result) {
    SCOPED_TRACE(write.run_id + (write.final ? ", final" : ""));
    ASSERT_TRUE(result.buffered) << result.detail;
    const auto known = runs_.find(write.run_id);
    if (known == runs_.end()) {
      runs_[write.run_id].key = result.buffered->run;
    }
    ModelRun& run = runs_[write.run_id];
    std::vector<std::string> fresh;
    for (const auto& event : write.events) {
      if (event.id.empty() || run.ids.insert(event.id).second) fresh.push_back(event.json);
    }
    const bool reopens = !run.open && !fresh.empty();
    if (reopens) ++run.revision;
    EXPECT_EQ(result.buffered->run, run.key);
    EXPECT_EQ(result.buffered->accepted, fresh.size());
    const bool unchanged = !run.open && fresh.empty();
    EXPECT_EQ(result.outcome, unchanged ? Outcome::replayed : Outcome::stored);
    EXPECT_EQ(result.buffered->unchanged, unchanged);
    EXPECT_EQ(result.buffered->reopened, reopens);
    EXPECT_EQ(result.buffered->revision, run.revision);
    run.open |= reopens;
    run.events.insert(run.events.end(), fresh.begin(), fresh.end());
    const bool changes = known == runs_.end() || !fresh.empty() || !run.ends_at;
    run.tail_final |= ends(run, write, !fresh.empty()) && run.open && changes;
    run.settle();
  }

  void claim_due() {
    clock_.advance_ms(static_cast<std::int64_t>(random_.below(400'000)));
    for (Claim& claim : store_->claim(kRules, 2, kLeaseMs)) {
      ModelRun& run = runs_.at(claim.run_id);
      run.token = claim.token;
      EXPECT_TRUE(run.open) << claim.run_id;
      EXPECT_EQ(claim.revision, run.revision);
      EXPECT_EQ(claim.upto, run.ends_at.value_or(run.events.size()));
      claims_.push_back(std::move(claim));
    }
  }

  // Ends a run by a claim made some steps ago: its lease may be over, its run ended by another or deleted since.
  void end_one() {
    if (claims_.empty()) return;
    const auto at = claims_.begin() + static_cast<std::ptrdiff_t>(random_.below(claims_.size()));
    const Claim claim = *at;
    claims_.erase(at);
    end(claim);
  }

  void end(const Claim& claim) {
    SCOPED_TRACE("end " + claim.run_id + " revision " + std::to_string(claim.revision));
    const auto known = runs_.find(claim.run_id);
    const bool good = known != runs_.end() && known->second.key == claim.run && known->second.open &&
                      known->second.revision == claim.revision && known->second.token == claim.token &&
                      claim.upto <= known->second.events.size() && claim.upto == known->second.ends_at.value_or(claim.upto);
    if (good) {
      const auto& events = known->second.events;
      const std::vector<std::string> covered(events.begin(), events.begin() + claim.upto);
      EXPECT_EQ(store_->fetch(claim).events, covered);
    }
    RunWrite write = sample_run(claim.tenant, claim.run, claim.run_id);
    write.run.revision = claim.revision;
    write.run.resolution = claim.resolution;
    write.claim = claim;
    write.failures.push_back(sample_failure({clock_.wall_ms(), store_->next_seq()}, "false_success", 95, claim.run_id));
    const model::FailureRecord failure = write.failures.front();
    const WriteResult result = test::commit(*store_, std::move(write));
    EXPECT_EQ(result.outcome == Outcome::stored, good) << static_cast<int>(result.outcome);
    if (!good || ::testing::Test::HasFailure()) return;
    ModelRun& run = known->second;
    run.failure = failure;
    run.open = claim.upto < run.events.size();  // what came after the claim opens the next revision
    if (run.open) ++run.revision;
    run.ends_at.reset();
    if (run.open) run.settle();
    check_run(claim.run_id);
  }

  // As after kill -9: whatever the process knew beyond what it had committed is gone, its claims too.
  void restart() {
    claims_.clear();
    store_.reset();
    store_ = engine_.open(clock_);
  }

  void jump() {
    const auto days = static_cast<std::int64_t>(random_.below(200)) - 100;
    clock_.set_wall_ms(clock_.wall_ms() + days * kDayMs);
  }

  void expire() {
    Retention retention;
    retention.tenant = std::nullopt;
    const std::int64_t before = clock_.wall_ms() - static_cast<std::int64_t>(random_.below(60)) * kDayMs;
    retention.runs_before_ms = retention.failures_before_ms = before;
    while (store_->expire(retention, 2).more) {
    }
    for (auto run = runs_.begin(); run != runs_.end();) {
      ModelRun& known = run->second;
      if (known.failure && known.failure->key.time_ms < before) known.failure.reset();
      const bool gone = !known.open && known.key.time_ms < before;
      if (gone && known.failure) orphans_.push_back(*known.failure);
      run = gone ? runs_.erase(run) : std::next(run);
    }
    std::erase_if(orphans_, [&](const auto& failure) { return failure.key.time_ms < before; });
  }

  void end_everything() {
    for (int round = 0; round < 16; ++round) {
      clock_.advance_ms(kRules.idle_ms + kLeaseMs);
      const auto due = store_->claim(kRules, 8, kLeaseMs);
      if (due.empty()) break;
      for (const Claim& claim : due) {
        runs_.at(claim.run_id).token = claim.token;
        end(claim);
      }
    }
    for (const auto& [id, run] : runs_) EXPECT_FALSE(run.open) << id << " was never due";
  }

  void purge() {
    Retention all;
    all.tenant = tenant_;
    all.runs_before_ms = all.failures_before_ms = all.changes_before_ms = all.policies_before_ms = kEndMs;
    all.open_runs_too = true;
    while (store_->expire(all, 100).more) {
    }
    EXPECT_EQ(store_->open_runs().count, 0u);
    EXPECT_TRUE(store_->runs(tenant_, {}).items.empty());
    EXPECT_TRUE(store_->failures(tenant_, {}).items.empty());
  }

  void check_counts() {
    const auto open = std::count_if(runs_.begin(), runs_.end(), [](const auto& run) { return run.second.open; });
    EXPECT_EQ(store_->open_runs().count, static_cast<std::uint64_t>(open));
    EXPECT_EQ(store_->count_runs(tenant_, kBeginningMs, kEndMs), runs_.size());
  }

  void check_run(const std::string& id) {
    SCOPED_TRACE("look at " + id);
    const ModelRun& run = runs_.at(id);
    const auto found = store_->find_run(tenant_, id);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->revision, run.revision);
    EXPECT_EQ(found->state == model::RunState::open, run.open);
    if (!run.open) return;
    EXPECT_EQ(store_->events(tenant_, run.key), run.events);
  }

  void check_everything() {
    check_counts();
    for (const auto& [id, run] : runs_) check_run(id);
    std::vector<std::string> expected;
    for (const auto& [id, run] : runs_) {
      if (run.failure) expected.push_back(run.failure->id);
    }
    for (const auto& failure : orphans_) expected.push_back(failure.id);
    std::vector<std::string> found;
    for (const auto& failure : store_->failures(tenant_, {}).items) found.push_back(failure.id);
    EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(expected));
  }

  Engine& engine_;
  std::unique_ptr<Store>& store_;
  test::FakeClock& clock_;
  Random random_;
  model::TenantId tenant_;
  std::map<std::string, ModelRun> runs_;
  std::vector<model::FailureRecord> orphans_;  // failures kept longer than their runs
  std::vector<Claim> claims_;
  std::uint64_t events_made_ = 0;
};

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

// Thousands of restarts: in memory where the system has a folder for that, so that the figures are the store's and not the disk's.
class FolderInMemory {
 protected:
  FolderInMemory() {
    if (::access("/dev/shm", W_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 1);
  }
  ~FolderInMemory() { before_ ? ::setenv("TMPDIR", before_->c_str(), 1) : ::unsetenv("TMPDIR"); }

 private:
  static std::optional<std::string> folder_now() {
    const char* now = std::getenv("TMPDIR");
    return now != nullptr ? std::optional<std::string>(now) : std::nullopt;
  }
  const std::optional<std::string> before_ = folder_now();
};

class BufferSimulation : private FolderInMemory, public StoreContractTest {};

TEST_P(BufferSimulation, RandomSchedules_AgreeWithTheModel) {
  const std::uint64_t first = number_of("RUNWARDEN_SIMULATION_SEED", 1);
  const bool one = std::getenv("RUNWARDEN_SIMULATION_SEED") != nullptr;
  const std::uint64_t schedules = one ? 1 : number_of("RUNWARDEN_SIMULATION_SCHEDULES", GetParam().schedules);
  constexpr std::uint64_t kSchedulesAStore = 10'000;  // what ledgers keep for ever fills it
  for (std::uint64_t seed = first; seed < first + schedules; ++seed) {
    if (seed > first && (seed - first) % kSchedulesAStore == 0) begin_anew();
    SCOPED_TRACE("RUNWARDEN_SIMULATION_SEED=" + std::to_string(seed));
    Simulation(*engine_, store_, clock_, seed).run();
    ASSERT_FALSE(HasFailure());
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, BufferSimulation, kEngines, kEngineName);

}  // namespace
}  // namespace runwarden::store
