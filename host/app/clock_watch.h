// Follows the service's guarded clock: tells the log of jumps, notes the time in the store for the next start to compare with, and takes an
// operator's word (runwarden store accept-clock) that the machine's clock is right.
//
// tick() from one thread, several times a second; warning() from any.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "app/log.h"
#include "base/clock_guard.h"
#include "store/store.h"

namespace runwarden::app {

// Something an operator should look at, though the service does its work.
struct OperatorWarning {
  std::string name;
  std::string detail;
};

class ClockWatch {
 public:
  struct Parts {
    ClockGuard& clock;
    store::Store& store;
    std::function<void(std::function<void(store::Store&)>)> write;  // does it on the writing thread
    std::function<void(LogLevel, std::string_view event, const ClockGuard::Times&, std::string_view text)> tell;
  };
  static constexpr std::int64_t kNoteEveryMs = 60'000;

  explicit ClockWatch(Parts parts);  // an operator's word from before that is known already

  void tick();
  // The service stops: the next start compares with now.
  void stop() { note(); }
  std::optional<OperatorWarning> warning() const;

 private:
  void look_for_accept();
  void tell(const ClockGuard::Event& event) const;
  void note();

  Parts parts_;
  std::uint64_t accepts_ = 0;
  std::optional<std::int64_t> noted_ns_;
};

}  // namespace runwarden::app
