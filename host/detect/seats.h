// What a set of detectors is made of. Made by Loading on one thread; afterwards only atomics, the quarantine and the instances'
// insides change.
#pragma once

#include <runwarden/detector.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
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
};

// A detector with settings, ready for every worker.
struct Seat {
  Detector* detector = nullptr;  // outlives the seat
  std::string settings_json;
  std::vector<Instance> instances;  // one a worker, or one for all of them

  Instance& of(std::size_t worker) { return instances[instances.size() == 1 ? 0 : worker]; }
};

// The seats of a tenant, by key.
using Lineup = std::vector<std::shared_ptr<Seat>>;

}  // namespace runwarden::detect
