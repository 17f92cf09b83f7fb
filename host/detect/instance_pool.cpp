#include "detect/instance_pool.h"

#include "detect/crash_context.h"

namespace runwarden::detect {

void Detector::note_failure(std::int64_t at_ns, std::string_view why, const LogSink& log) {
  if (!quarantine.note_failure(at_ns, why)) return;
  if (log) log(LogLevel::error, "detector \"" + entry.key + "\" is quarantined: " + quarantine.reason());
}

InstancePool::~InstancePool() {
  const MutexLock lock(mutex_);
  const CrashContext destroying{.detector_key = detector->entry.key, .library = detector->file.native(), .code = DetectorCode::destroy};
  for (std::unique_ptr<Instance>& instance : all_) {
    const CrashContextScope scope(destroying);
    instance.reset();
  }
}

Result<Instance*> InstancePool::acquire(const Clock& clock) {
  {
    const MutexLock lock(mutex_);
    if (!returned_.empty()) {
      Instance* one = returned_.back();
      returned_.pop_back();
      return one;
    }
  }
  Result<Instance> made = Instance::create(*detector->functions, detector->host, clock, settings_json);
  if (!made.ok()) return std::move(made.error());
  const MutexLock lock(mutex_);
  all_.push_back(std::make_unique<Instance>(std::move(*made)));
  return all_.back().get();
}

void InstancePool::release(Instance* instance) {
  if (concurrent_) return;
  const MutexLock lock(mutex_);
  returned_.push_back(instance);
}

}  // namespace runwarden::detect
