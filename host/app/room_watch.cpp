#include "app/room_watch.h"

#include <string>

namespace runwarden::app {
namespace {

constexpr std::int64_t kLookEveryNs = 1'000'000'000;
constexpr int kLooksWithRoom = 2;  // a store at its limit takes a small record between two that it refuses

}  // namespace

void RoomWatch::tick() {
  const std::int64_t now_ns = clock_.monotonic_ns();
  if (looked_ns_ && now_ns - *looked_ns_ < kLookEveryNs) return;
  looked_ns_ = now_ns;
  try {
    look(store_.space());
  } catch (const store::StoreError&) {
    // It cannot be read now: the next look tells.
  }
}

void RoomWatch::look(const store::Space& space) {
  if (space.refusing) {
    looks_with_room_ = 0;
    if (full_) return;
    full_ = true;
    return tell_(LogLevel::error, "store_full", space.reason + ". Until then runs are answered with 503; reads and deletion go on");
  }
  if (!full_ || ++looks_with_room_ < kLooksWithRoom) return;
  full_ = false;
  tell_(LogLevel::info, "store_has_room",
        "runs are taken again: " + std::to_string(space.used_bytes >> 10) + " of " + std::to_string(space.map_bytes >> 10) +
            " KiB of store.map_size are in use");
}

}  // namespace runwarden::app
