// Writes to a store, and waits for what becomes of them.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "store/store.h"

namespace runwarden::test {

// All of them wait when the first is taken, so that a store that commits what waits together commits these together, where they fit.
// Throws FatalStoreError when the store has failed; `failed` tells of a failure that comes meanwhile, where one is to be expected.
inline std::vector<store::WriteResult> commit_together(store::Store& store, const std::vector<store::Write>& writes,
                                                       const std::atomic<bool>* failed = nullptr) {
  struct Outcomes {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<store::WriteResult> results;
    std::size_t left = 0;
  };
  const auto outcomes = std::make_shared<Outcomes>();
  outcomes->results.resize(writes.size());
  outcomes->left = writes.size();
  const auto all_wait = std::make_shared<std::promise<void>>();
  auto writer_waits = std::make_shared<std::promise<void>>();
  std::future<void> waits = writer_waits->get_future();
  store.run_between([writer_waits, all = all_wait->get_future().share()] {
    writer_waits->set_value();
    all.wait();
  });
  writer_waits.reset();
  waits.wait();  // else the first may be taken beside this job; a store that has failed drops it
  bool taken = true;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    taken = taken && store.submit(writes[i], [outcomes, i](store::WriteResult result) {
      const std::lock_guard lock(outcomes->mutex);
      outcomes->results[i] = std::move(result);
      if (--outcomes->left == 0) outcomes->changed.notify_all();
    });
  }
  all_wait->set_value();
  if (!taken) throw store::FatalStoreError("the store takes no writes");
  std::unique_lock lock(outcomes->mutex);
  while (!outcomes->changed.wait_for(lock, std::chrono::milliseconds(1), [&] { return outcomes->left == 0; })) {
    if (failed != nullptr && *failed) throw store::FatalStoreError("the store failed");
  }
  return outcomes->results;
}

inline store::WriteResult commit(store::Store& store, store::Write write, const std::atomic<bool>* failed = nullptr) {
  const std::vector<store::Write> one{std::move(write)};
  return commit_together(store, one, failed).front();
}

}  // namespace runwarden::test
