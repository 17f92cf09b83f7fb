// The host as one detector sees it: versions, log and clock. The detector may use it from any thread. Outlives all instances of the
// detector.
#pragma once

#include <runwarden/detector.h>

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "detect/detector_set.h"

namespace runwarden::detect {

class HostServices {
 public:
  HostServices(std::string detector_key, const Clock& clock, LogSink log, LogRate rate = LogRate::bounded);
  HostServices(const HostServices&) = delete;
  HostServices& operator=(const HostServices&) = delete;

  const rw_host& raw() const { return raw_; }

 private:
  static void log(void* ctx, std::uint32_t level, rw_str text) noexcept;
  static std::int64_t monotonic_ns(void* ctx) noexcept;
  static const void* get_extension(void* ctx, rw_str id) noexcept;
  bool may_log();

  const std::string key_;
  const Clock& clock_;
  const LogSink log_;
  const LogRate rate_;
  Mutex mutex_;
  std::int64_t second_ RW_GUARDED_BY(mutex_) = 0;  // the second that lines_ counts
  int lines_ RW_GUARDED_BY(mutex_) = 0;
  rw_host raw_;
};

}  // namespace runwarden::detect
