// The loaded detectors of a set and their instances. Built by Loading on one thread. Afterwards only counters, the quarantine, the state
// inside instances and, when a call is abandoned, the assignment of instances change.
#pragma once

#include <runwarden/detector.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "detect/abandoned_calls.h"
#include "detect/detector_set.h"
#include "detect/host_services.h"
#include "detect/instance.h"
#include "detect/quarantine.h"

namespace runwarden::detect {

// Calls that judge runs, or those that explain: apart, because whoever asks for explanations must not keep the detector from judging.
struct CallKind {
  std::string key;                            // in crash marks
  std::shared_ptr<AbandonedCount> abandoned;  // calls that have not returned, those of earlier sets included
};

// A loaded detector, shared by all tenants.
struct Detector {
  Detector(const model::DetectorEntry& the_entry, const model::DetectorSettings& settings, const LoadContext& context)
      : entry(the_entry),
        judging{entry.key, nullptr},
        explaining{entry.key + " (explaining)", nullptr},
        host(the_entry.key, *context.clock, context.log, context.log_rate),
        quarantine(settings.quarantine_failures, settings.quarantine_window_ms) {}

  // Counts a failure, and logs if it starts the quarantine. Any thread.
  void note_failure(std::int64_t at_ns, std::string_view why, const LogSink& log);

  const model::DetectorEntry entry;
  CallKind judging, explaining;
  const rw_detector* functions = nullptr;
  std::filesystem::path file;
  std::string sha256, abi;
  HostServices host;
  Quarantine quarantine;
  std::atomic<std::uint64_t> evaluations = 0, errors = 0, timeouts = 0;
};

// The instances of a detector with one set of settings: one for each worker, or one for all if it is concurrent.
class InstancePool {
 public:
  InstancePool(Detector& the_detector, std::string settings, bool concurrent)
      : detector(&the_detector), settings_json(std::move(settings)), concurrent_(concurrent) {}

  ~InstancePool();
  InstancePool(const InstancePool&) = delete;
  InstancePool& operator=(const InstancePool&) = delete;

  // [loading] Adds the instance of the next worker, or the shared one.
  void add(Instance instance) {
    const MutexLock lock(mutex_);
    all_.push_back(std::make_unique<Instance>(std::move(instance)));
    of_worker_.push_back(all_.back().get());
  }
  // [worker] The worker's instance; null if its call was abandoned.
  Instance* of(std::size_t worker) const { return of_worker_[concurrent_ ? 0 : worker]; }
  // Returns a released instance, or creates one. Any thread.
  Result<Instance*> acquire(const Clock& clock);
  // [worker] Makes the instance the worker's own.
  void assign(std::size_t worker, Instance* instance) { of_worker_[concurrent_ ? 0 : worker] = instance; }
  // Detaches the worker's instance, which stays with the abandoned call. Called by the thread that abandons it, during the call.
  void abandon(std::size_t worker) {
    if (!concurrent_) of_worker_[worker] = nullptr;
  }
  // Takes the instance back after its abandoned call has returned. Any thread.
  void release(Instance* instance);

  Detector* const detector;  // outlives the pool
  const std::string settings_json;
  // [loading] Set once, then read-only.
  model::DetectorMode mode = model::DetectorMode::live;
  std::shared_ptr<const model::Provenance> provenance;

 private:
  const bool concurrent_;
  std::vector<Instance*> of_worker_;  // an entry belongs to the thread with that worker number; null: abandoned
  Mutex mutex_;
  std::vector<std::unique_ptr<Instance>> all_ RW_GUARDED_BY(mutex_);
  std::vector<Instance*> returned_ RW_GUARDED_BY(mutex_);  // assigned to no worker
};

// The instance pools of a tenant, by key.
using DetectorList = std::vector<std::shared_ptr<InstancePool>>;

}  // namespace runwarden::detect
