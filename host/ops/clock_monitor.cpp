#include "ops/clock_monitor.h"

#include <cstdlib>
#include <utility>

#include "base/time_text.h"

namespace runwarden::ops {
namespace {

using Kind = ClockGuard::Event::Kind;

constexpr const char* kMeanwhile =
    "Until this is settled, nothing is deleted, and keys, records and timers use the expected time. If the machine's clock is wrong, "
    "correct it: nothing else is needed. If it is right, confirm it: runwarden store accept-clock";

std::string difference_text(const ClockGuard::Times& times) {
  const std::int64_t ahead_ms = times.machine_ms - times.expected_ms;
  return about_duration(std::abs(ahead_ms)) + (ahead_ms > 0 ? " ahead of " : " behind ");
}

std::string both_times(const ClockGuard::Times& times) {
  return "the machine's clock says " + format_time(times.machine_ms) + ", which is " + difference_text(times);
}

std::string text_of(const ClockGuard::Event& event) {
  const std::string expected = format_time(event.times.expected_ms);
  switch (event.kind) {
    case Kind::jumped: return both_times(event.times) + expected + ", the time expected by the monotonic clock. " + kMeanwhile;
    case Kind::started_ahead:
      return both_times(event.times) + expected +
             ", when this store was last in use, by more than retention.max_clock_step: the clock is wrong, or the service was stopped "
             "for "
             "that long, or this is a restored backup. " +
             kMeanwhile;
    case Kind::started_behind: return both_times(event.times) + expected + ", when this store was last in use. " + kMeanwhile;
    case Kind::right_again: return "the machine's clock is plausible again; deletion resumes";
    case Kind::accepted: return "an operator confirmed the machine's clock; deletion resumes";
  }
  return {};
}

}  // namespace

ClockMonitor::ClockMonitor(Parts parts) : parts_(std::move(parts)), accepts_(parts_.store.clock_accepts()) {}

void ClockMonitor::look_for_accept() {
  try {
    const std::uint64_t accepts = parts_.store.clock_accepts();
    if (std::exchange(accepts_, accepts) != accepts) parts_.clock.accept();
  } catch (const store::StoreError&) {
    // The store cannot be read now; the next tick tries again.
  }
}

void ClockMonitor::tick() {
  look_for_accept();
  for (const ClockGuard::Event& event : parts_.clock.take_events()) {
    log(event);
    noted_ns_.reset();
  }
  const std::int64_t now_ns = parts_.clock.monotonic_ns();
  if (noted_ns_ && now_ns - *noted_ns_ < kNoteEveryMs * 1'000'000) return;
  noted_ns_ = now_ns;
  note();
}

// Also saves it while in doubt: it is then the expected time, from which a restart continues.
void ClockMonitor::note() {
  parts_.write([&clock = parts_.clock, &store = parts_.store, accepts = accepts_] {
    try {
      store.note_clock(clock.wall_ms(), accepts);
    } catch (const store::StoreError&) {
      // The store is full, which it reports itself. The next start uses an older note.
    }
  });
}

void ClockMonitor::log(const ClockGuard::Event& event) const {
  const bool over = event.kind == Kind::right_again || event.kind == Kind::accepted;
  const std::string_view name = event.kind == Kind::accepted ? "clock_accepted" : over ? "clock_right_again" : "clock_jumped";
  const std::string expected = format_time(event.times.expected_ms);
  const std::string machine = format_time(event.times.machine_ms);
  const std::string text = text_of(event);
  parts_.log(over ? LogLevel::info : LogLevel::error, name,
             {{"expectedTime", std::string_view(expected)}, {"machineTime", std::string_view(machine)}, {"text", std::string_view(text)}});
}

std::optional<OperatorWarning> ClockMonitor::warning() const {
  const auto doubt = parts_.clock.doubt();
  if (!doubt) return std::nullopt;
  return OperatorWarning{"clock_jumped", both_times(*doubt) + "the expected time, " + format_time(doubt->expected_ms) + ". " + kMeanwhile};
}

}  // namespace runwarden::ops
