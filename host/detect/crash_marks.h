// The runs that ended the process, and the detectors that did it: those two are not brought together again. Any thread; outlives
// the sets that ask it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/records.h"

namespace runwarden::detect {

class CrashMarks {
 public:
  // All of them, in the place of those before.
  void put(const std::vector<model::CrashMark>& marks);

  void add(const model::CrashMark& mark);

  bool any() const { return any_.load(std::memory_order_acquire); }
  std::size_t count() const;

  // Why the detector is not asked about that run; nothing where it may be. A run is known again by its id, or by its content if it
  // came whole (`content` not all zeros).
  struct Asked {
    std::string_view detector_key, library_sha256, tenant, run_id;
    const model::Digest& content;
  };
  std::optional<std::string> reason(const Asked& asked) const;

  // When that library's detector ended the process, oldest first.
  std::vector<std::int64_t> times_ms(const std::string& detector_key, const std::string& library_sha256) const;

 private:
  void note(const model::CrashMark& mark);

  std::atomic<bool> any_{false};
  mutable std::mutex mutex_;
  std::map<std::string, model::CrashMark, std::less<>> by_run_;  // guarded by mutex_; a mark is there by its id and by its content
  std::vector<model::CrashMark> all_;                            // guarded by mutex_
};

// "SIGSEGV"; "exit" for 0.
std::string signal_name(int signal);

}  // namespace runwarden::detect
