// What /readyz knows of the canary run: how the last one ended, while that is fresh, and who waits for the one that is under way.
// One is under way at most, however many ask.
//
// Any thread; nothing blocks. Told on the thread that knows: of whoever asks, of tick(), or of where the canary comes back.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace runwarden::app {

class Canary : public std::enable_shared_from_this<Canary> {
 public:
  struct Limits {
    std::int64_t interval_ms = 30'000;  // one a time of that length, while they come back well
    std::int64_t again_ms = 1'000;      // after one that did not, sooner
    std::int64_t bound_ms = 5'000;      // nobody waits longer
  };
  using Told = std::function<void(const std::string& fault)>;          // empty: all went well
  using Send = std::function<void(std::function<void(std::string)>)>;  // sends one off; its outcome once, or never

  static std::shared_ptr<Canary> make(Send send, Limits limits, const Clock& clock) {
    return std::shared_ptr<Canary>(new Canary(std::move(send), limits, clock));
  }

  // `told` once, now or later.
  void ask(Told told);
  // To be called several times a second: tells those who have waited too long.
  void tick();
  // What the last one said holds no longer: something it went through was replaced.
  void forget();

 private:
  struct Waiting {
    Told told;
    std::int64_t since_ns = 0;
  };
  Canary(Send send, Limits limits, const Clock& clock) : send_(std::move(send)), limits_(limits), clock_(clock) {}

  bool fresh(std::int64_t now_ns) const;
  std::string overdue(std::int64_t now_ns) const;
  void came_back(std::string fault);

  Send send_;
  Limits limits_;
  const Clock& clock_;
  std::mutex mutex_;
  std::vector<Waiting> waiting_;
  bool under_way_ = false;
  bool forgotten_ = false;  // while it was under way
  std::int64_t sent_ns_ = 0;
  std::optional<std::string> outcome_;
};

}  // namespace runwarden::app
