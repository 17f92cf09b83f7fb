// The detectors that crashed the process, each with the run it was evaluating. A detector is not called again for a run that is marked.
// Any thread. Outlives the detector sets that use it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "model/crash_mark.h"
#include "model/record_key.h"

namespace runwarden::detect {

class CrashMarks {
 public:
  // Replaces all marks.
  void put(const std::vector<model::CrashMark>& marks);

  void add(const model::CrashMark& mark);

  bool any() const { return any_.load(std::memory_order_acquire); }
  std::size_t count() const;

  // Why the detector must not be called for the run; empty if it may be called. A run matches by its id or, if it was sent whole, by its
  // content (`content` not all zeros).
  struct Query {
    std::string_view detector_key, library_sha256, tenant, run_id;
    const model::Digest& content;
  };
  std::optional<std::string> reason(const Query& query) const;

  // When that detector of that library crashed the process, oldest first.
  std::vector<std::int64_t> times_ms(const std::string& detector_key, const std::string& library_sha256) const;

 private:
  void note(const model::CrashMark& mark) RW_REQUIRES(mutex_);

  std::atomic<bool> any_{false};
  mutable Mutex mutex_;
  // A mark is stored under its id and under its content.
  std::map<std::string, model::CrashMark, std::less<>> by_run_ RW_GUARDED_BY(mutex_);
  std::vector<model::CrashMark> all_ RW_GUARDED_BY(mutex_);
};

// "SIGSEGV"; "exit" for 0.
std::string signal_name(int signal);

}  // namespace runwarden::detect
