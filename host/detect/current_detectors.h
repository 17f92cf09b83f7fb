// The detectors of a service: the set in force, and what successive sets share, such as the thread on which the code of libraries runs.
//
// Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/reloadable.h"
#include "base/result.h"
#include "detect/abandoned_calls.h"
#include "detect/crash_marks.h"
#include "detect/detector_set.h"
#include "detect/library_thread.h"
#include "model/detector_settings.h"

namespace runwarden::detect {

class CurrentDetectors {
 public:
  struct Parts {
    const Clock& clock;                    // outlives it
    std::filesystem::path private_folder;  // libraries are copied here before loading
    std::size_t workers;
    LogSink log;
  };

  // How load() waits.
  struct LoadWait {
    std::function<void()> wake;        // ends a pause, also a later one; called from any thread
    std::function<bool()> is_to_stop;  // pauses for a moment, or until woken; true: stop waiting
  };

  explicit CurrentDetectors(Parts parts) : parts_(std::move(parts)), thread_(parts_.clock, parts_.log) {}

  // Loads a set on the library thread. `unavailable` if the load was given up or the wait was stopped.
  Result<std::shared_ptr<DetectorSet>> load(const model::DetectorSettings& settings, SettingsFault fault, const LoadWait& wait);

  // The set in force; null before the first put().
  std::shared_ptr<DetectorSet> get() const { return set_.get(); }
  void put(std::shared_ptr<DetectorSet> set) { set_.put(std::move(set)); }

  CrashMarks& crash_marks() { return crash_marks_; }

  // Removes the copies of libraries that no running process has loaded; returns how many.
  std::size_t prune_copies() const;

  // Logs, or gives up, code of a library that takes too long. Call it regularly.
  void look() { thread_.look(); }

  // Releases the set in force and waits until its instances are destroyed. False: some code of a library still runs, so the process must
  // end at once.
  bool release(std::int64_t timeout_ms);

 private:
  LoadContext context(SettingsFault fault);

  const Parts parts_;
  LibraryThread thread_;
  AbandonedCalls abandoned_calls_;
  CrashMarks crash_marks_;
  Reloadable<DetectorSet> set_;
};

}  // namespace runwarden::detect
