// The stores that the contract is tested against: which ones says the source that a test program has beside its tests, lmdb_engine.cpp or
// postgres_engine.cpp.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/open_store.h"
#include "store/store.h"
#include "support/commit_together.h"
#include "support/fake_clock.h"

namespace runwarden::store {

// An engine with a place to keep its records, which a test may close and open again.
class Engine {
 public:
  virtual ~Engine() = default;
  struct Limits {
    std::uint64_t max_clusters = 100'000;
    std::uint64_t max_pending_messages = 100'000;
    StoreSettings::Ledger ledger = StoreSettings::Ledger::as_it_is;
  };
  virtual std::unique_ptr<Store> open(const Clock& clock, const Limits& limits) = 0;
  std::unique_ptr<Store> open(const Clock& clock) { return open(clock, {}); }
};

struct EngineKind {
  const char* name;
  std::unique_ptr<Engine> (*make)();
  std::uint64_t schedules = 0;  // how many random ones are worth their time
};

class StoreContractTest : public ::testing::TestWithParam<EngineKind> {
 protected:
  StoreContractTest() : engine_(GetParam().make()), store_(engine_->open(clock_)) {}

  void reopen() {
    store_.reset();
    store_ = engine_->open(clock_);
  }
  void begin_anew() {
    store_.reset();
    engine_ = GetParam().make();
    store_ = engine_->open(clock_);
  }
  model::RecordKey new_key() { return {clock_.wall_ms(), store_->next_seq()}; }
  WriteResult commit(Write write) { return test::commit(*store_, std::move(write)); }
  std::vector<WriteResult> commit_together(const std::vector<Write>& writes) { return test::commit_together(*store_, writes); }

  test::FakeClock clock_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Store> store_;
};

const std::vector<EngineKind>& engines();
inline const auto kEngines = ::testing::ValuesIn(engines());
inline const auto kEngineName = [](const auto& kind) { return std::string(kind.param.name); };

}  // namespace runwarden::store
