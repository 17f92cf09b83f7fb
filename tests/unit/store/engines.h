// The stores that the contract is tested against. An engine joins with a line at the end.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "store/lmdb/store.h"
#include "store/store.h"
#include "support/commit_together.h"
#include "support/fake_clock.h"
#include "support/temp_folder.h"

namespace runwarden::store {

// An engine with a place to keep its records, which a test may close and open again.
class Engine {
 public:
  virtual ~Engine() = default;
  struct Limits {
    std::uint64_t max_clusters = 100'000;
  };
  virtual std::unique_ptr<Store> open(const Clock& clock, const Limits& limits) = 0;
  std::unique_ptr<Store> open(const Clock& clock) { return open(clock, {}); }
};

class LmdbInAFolder final : public Engine {
 public:
  using Engine::open;
  std::unique_ptr<Store> open(const Clock& clock, const Limits& limits) override {
    LmdbSettings settings;
    settings.max_clusters = limits.max_clusters;
    settings.path = folder_.path() / "store";
    settings.map_size = std::uint64_t{64} << 20;
    auto store = open_lmdb(settings, clock);
    if (!store.ok()) throw std::runtime_error(store.error().detail);
    return std::move(*store);
  }

 private:
  test::TempFolder folder_;
};

struct EngineKind {
  const char* name;
  std::unique_ptr<Engine> (*make)();
};

class StoreContractTest : public ::testing::TestWithParam<EngineKind> {
 protected:
  StoreContractTest() : engine_(GetParam().make()), store_(engine_->open(clock_)) {}

  void reopen() {
    store_.reset();
    store_ = engine_->open(clock_);
  }
  model::RecordKey new_key() { return {clock_.wall_ms(), store_->next_seq()}; }
  WriteResult commit(Write write) { return test::commit(*store_, std::move(write)); }
  std::vector<WriteResult> commit_together(const std::vector<Write>& writes) { return test::commit_together(*store_, writes); }

  test::FakeClock clock_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Store> store_;
};

inline const auto kEngines =
    ::testing::Values(EngineKind{"lmdb", [] { return std::unique_ptr<Engine>(std::make_unique<LmdbInAFolder>()); }});
inline const auto kEngineName = [](const auto& kind) { return std::string(kind.param.name); };

}  // namespace runwarden::store
