#include "ops/space_monitor.h"

#include <string>
#include <utility>

namespace runwarden::ops {
namespace {

constexpr std::int64_t kLookEveryNs = 1'000'000'000;
constexpr int kChecksWithRoom = 2;  // a store at its limit may accept a small record between two refused ones

}  // namespace

void SpaceMonitor::tick() {
  const std::int64_t now_ns = clock_.monotonic_ns();
  if (checked_ns_ && now_ns - *checked_ns_ < kLookEveryNs) return;
  checked_ns_ = now_ns;
  try {
    check(store_.space());
  } catch (const store::StoreError&) {
    // The store cannot be read now; the next check decides.
  }
}

void SpaceMonitor::check(const store::SpaceStatus& room) {
  if (room.refusing) {
    checks_with_room_ = 0;
    const Refusing refusing = room.away ? Refusing::away : Refusing::full;
    if (std::exchange(refusing_, refusing) == refusing) return;
    if (room.away) {
      const std::string cause = room.cause.empty() ? std::string() : ". The cause: " + room.cause;
      return log_(LogLevel::error, "store_away", room.reason + ". Until then, requests that need the store are answered with 503" + cause);
    }
    return log_(LogLevel::error, "store_full", room.reason + ". Until then, writes are answered with 503; reads and deletion continue");
  }
  if (refusing_ == Refusing::no || ++checks_with_room_ < kChecksWithRoom) return;
  if (std::exchange(refusing_, Refusing::no) == Refusing::away) return log_(LogLevel::info, "store_back", "the store accepts writes again");
  const std::string limit = room.limit_bytes ? " of " + std::to_string(*room.limit_bytes >> 10) : std::string();
  log_(LogLevel::info, "store_has_room", "writes are accepted again: " + std::to_string(room.used_bytes >> 10) + limit + " KiB are in use");
}

}  // namespace runwarden::ops
