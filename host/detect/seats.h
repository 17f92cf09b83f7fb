// What a set of detectors is made of. Made by Loading on one thread; afterwards only atomics, the quarantine, the instances'
// insides and, where a call was left behind, whose instance is whose change.
#pragma once

#include <runwarden/detector.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "detect/detector_set.h"
#include "detect/host_services.h"
#include "detect/instance.h"
#include "detect/quarantine.h"

namespace runwarden::detect {

// A detector as it was loaded: what it is for every tenant.
struct Detector {
  Detector(const model::DetectorEntry& the_entry, const model::DetectorSettings& settings, const LoadContext& context)
      : entry(the_entry),
        host(the_entry.key, *context.clock, context.log),
        quarantine(settings.quarantine_failures, settings.quarantine_window_ms) {}

  const model::DetectorEntry entry;
  const rw_detector* functions = nullptr;
  std::filesystem::path file;
  std::string sha256, abi;
  HostServices host;
  Quarantine quarantine;
  std::atomic<std::uint64_t> evaluations = 0, errors = 0, timeouts = 0;
  std::shared_ptr<std::atomic<int>> stuck;  // its calls that were left behind and have not returned, also those of former sets
};

// A detector with settings, ready for every worker.
class Seat {
 public:
  Seat(Detector& the_detector, std::string settings, bool concurrent)
      : detector(&the_detector), settings_json(std::move(settings)), concurrent_(concurrent) {}

  // [loading] The instance of the next worker, or the one of all of them.
  void add(Instance instance) {
    all_.push_back(std::make_unique<Instance>(std::move(instance)));
    of_worker_.push_back(all_.back().get());
  }
  // [worker] Its instance; null where that one was left behind.
  Instance* of(std::size_t worker) const { return of_worker_[concurrent_ ? 0 : worker]; }
  // One that has been taken back, or a new one. Any thread.
  Result<Instance*> another(const Clock& clock);
  // [worker] That one is its own from now on.
  void give(std::size_t worker, Instance* instance) { of_worker_[concurrent_ ? 0 : worker] = instance; }
  // The call that this worker is in has been left behind: the instance stays with it. By whoever left it, while it is inside.
  void leave_behind(std::size_t worker) {
    if (!concurrent_) of_worker_[worker] = nullptr;
  }
  // The call has returned at last. Any thread.
  void take_back(Instance* instance);

  Detector* const detector;  // outlives the seat
  const std::string settings_json;
  // [loading] Set once, then only read.
  model::DetectorMode mode = model::DetectorMode::live;
  std::shared_ptr<const model::Provenance> provenance;

 private:
  const bool concurrent_;
  std::vector<Instance*> of_worker_;  // an element belongs to who has that worker number; null: it was left behind
  std::mutex mutex_;
  std::vector<std::unique_ptr<Instance>> all_;  // guarded by mutex_
  std::vector<Instance*> returned_;             // guarded by mutex_: belong to no worker
};

// The seats of a tenant, by key.
using Lineup = std::vector<std::shared_ptr<Seat>>;

}  // namespace runwarden::detect
