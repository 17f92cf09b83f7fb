#include "ops/signals.h"

#include <pthread.h>
#include <signal.h>

#include <ctime>

namespace runwarden::ops {
namespace {

sigset_t controlling() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
  return signals;
}

std::optional<Signal> signal_of(int number) {
  if (number < 0) return std::nullopt;
  return number == SIGHUP ? Signal::reload : Signal::stop;
}

}  // namespace

void block_signals() {
  const sigset_t signals = controlling();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

std::optional<Signal> wait_for_signal(std::int64_t timeout_ms) {
  const sigset_t signals = controlling();
  const timespec timeout{timeout_ms / 1000, timeout_ms % 1000 * 1'000'000};
  return signal_of(sigtimedwait(&signals, nullptr, &timeout));
}

std::optional<Signal> wait_for_signal() {
  const sigset_t signals = controlling();
  return signal_of(sigwaitinfo(&signals, nullptr));
}

}  // namespace runwarden::ops
