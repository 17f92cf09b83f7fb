// The file that a service leaves for its successor: the note of a crash, and the calls that are under way. The calls are in mapped memory,
// so they outlive an end that no handler sees (SIGKILL, _exit). Written and read on one machine by one program. A command shares such
// memory with the process that waits for it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "detect/crash_context.h"
#include "model/crash_mark.h"
#include "model/record_key.h"

namespace runwarden::detect {

// A text of the file. Text that does not fit is truncated and then matches nothing.
template <std::size_t kSize>
struct CrashText {
  std::uint32_t length = 0;
  std::array<char, kSize> bytes{};

  void put(std::string_view text) {
    length = static_cast<std::uint32_t>(text.size() < kSize ? text.size() : kSize);
    if (length > 0) std::memcpy(bytes.data(), text.data(), length);
  }
  std::string_view get() const { return {bytes.data(), length < kSize ? length : kSize}; }
};

struct NotedCall {
  model::Digest content{};
  CrashText<256> tenant, run_id;  // run_id: of a run without an id, its origin
  CrashText<128> detector_key, library_sha256;
  CrashText<2048> library;

  void put(const CrashContext& context);
  // The views are valid as long as this object.
  CrashContext context() const;
  model::CrashMark mark() const;
  // Of the same run, by its id or by its content, in the same detector of the same library.
  bool same(const NotedCall& other) const;
};

struct CrashNotePage {
  std::array<char, 8> magic{};
  std::int64_t wall_ms = 0;
  std::int32_t signal = 0;
  NotedCall call;
};

struct CallSlot {
  std::uint32_t state = 0;  // while the call is made, 1 + its DetectorCode
  NotedCall call;
  std::int64_t since_ns = 0;  // on the monotonic clock

  void begin(const CrashContext& context, std::int64_t now_ns);
  void end() { put(0); }
  bool is_under_way() { return get() != 0; }
  bool is_evaluating() { return get() == 1 + static_cast<std::uint32_t>(DetectorCode::evaluate); }
  // Of a call that is under way. The views are valid as long as this object.
  CrashContext context();

 private:
  std::uint32_t get() { return std::atomic_ref(state).load(std::memory_order_acquire); }
  void put(std::uint32_t value) { std::atomic_ref(state).store(value, std::memory_order_release); }
};

// Threads beyond this number leave no trace of their calls.
constexpr std::size_t kCallSlots = 64;

struct CrashFile {
  CrashNotePage note;
  std::array<char, 8> magic{};  // of what follows
  std::uint32_t stopped = 0;    // 1: the process has stopped as it should, whatever calls have not returned
  std::array<CallSlot, kCallSlots> calls;
  std::array<CallSlot, kCallSlots> earlier;  // those under way when the process before this one ended
};
static_assert(std::is_trivially_copyable_v<CrashFile> && sizeof(CrashNotePage) < 4096);

constexpr std::string_view kCrashNoteMagic = "rwcrash1";
constexpr std::string_view kCrashCallsMagic = "rwcalls2";

}  // namespace runwarden::detect
