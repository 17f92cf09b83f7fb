// Tells the log when the store has become full and when it has room again, once each.
//
// tick() from one thread, as often as one likes: it looks once a second at most.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "app/log.h"
#include "base/clock.h"
#include "store/store.h"

namespace runwarden::app {

class RoomWatch {
 public:
  using Tell = std::function<void(LogLevel, std::string_view event, std::string_view text)>;

  RoomWatch(store::Store& store, const Clock& clock, Tell tell) : store_(store), clock_(clock), tell_(std::move(tell)) {}

  void tick();

 private:
  void look(const store::Space& space);

  store::Store& store_;
  const Clock& clock_;
  Tell tell_;
  std::optional<std::int64_t> looked_ns_;
  bool full_ = false;
  int looks_with_room_ = 0;  // one after the other, since it was full
};

}  // namespace runwarden::app
