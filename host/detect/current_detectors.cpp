#include "detect/current_detectors.h"

#include <optional>
#include <utility>

#include "base/mutex.h"
#include "detect/libraries.h"

namespace runwarden::detect {
namespace {

using Loaded = Result<std::shared_ptr<DetectorSet>>;

// What the library thread answers; the first answer counts.
class LoadOutcome {
 public:
  void put(Loaded loaded) {
    const MutexLock lock(mutex_);
    if (!loaded_) loaded_.emplace(std::move(loaded));
  }
  std::optional<Loaded> take() {
    const MutexLock lock(mutex_);
    return std::exchange(loaded_, std::nullopt);
  }

 private:
  Mutex mutex_;
  std::optional<Loaded> loaded_ RW_GUARDED_BY(mutex_);
};

}  // namespace

Result<std::shared_ptr<DetectorSet>> CurrentDetectors::load(const model::DetectorSettings& settings, SettingsFault fault,
                                                            const LoadWait& wait) {
  const auto outcome = std::make_shared<LoadOutcome>();
  thread_.post({.run =
                    [outcome, settings, context = context(std::move(fault)), wake = wait.wake] {
                      outcome->put(DetectorSet::load(settings, context));
                      wake();
                    },
                .given_up =
                    [outcome](const std::string& why) {
                      outcome->put(Error{Code::unavailable, why, {}, {}});
                    }});
  for (;;) {
    if (auto loaded = outcome->take()) return std::move(*loaded);
    if (wait.is_to_stop()) return Error{Code::unavailable, "the service was stopped while it loaded the detectors", {}, {}};
    thread_.look();
  }
}

LoadContext CurrentDetectors::context(SettingsFault fault) {
  LoadContext context;
  context.private_folder = parts_.private_folder;
  context.workers = parts_.workers;
  context.clock = &parts_.clock;
  context.crash_marks = &crash_marks_;
  context.earlier_crashes = get() == nullptr ? EarlierCrashes::counted : EarlierCrashes::ignored;
  context.abandoned_calls = &abandoned_calls_;
  context.log = parts_.log;
  context.settings_fault = std::move(fault);
  context.destroy_on = [this](std::function<void()> destroy) { thread_.post({.run = std::move(destroy)}); };
  return context;
}

std::size_t CurrentDetectors::prune_copies() const {
  return detect::prune_copies(parts_.private_folder);
}

bool CurrentDetectors::release(std::int64_t timeout_ms) {
  set_.put(nullptr);
  return thread_.finish(timeout_ms);
}

}  // namespace runwarden::detect
