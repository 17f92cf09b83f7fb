#include "ops/signals.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <ctime>
#include <initializer_list>

namespace runwarden::ops {
namespace {

sigset_t set_of(std::initializer_list<int> numbers) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : numbers) sigaddset(&signals, number);
  return signals;
}

sigset_t controlling() {
  return set_of({SIGTERM, SIGINT, SIGHUP});
}

int wake_signal() {
  return SIGRTMIN;
}

timespec timeout_of(std::int64_t ms) {
  return {ms / 1000, ms % 1000 * 1'000'000};
}

std::optional<Signal> signal_of(int number) {
  if (number < 0) return std::nullopt;
  return number == SIGHUP ? Signal::reload : Signal::stop;
}

}  // namespace

void block_signals() {
  const sigset_t signals = set_of({SIGTERM, SIGINT, SIGHUP, wake_signal()});
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

std::optional<Signal> wait_for_signal(std::int64_t timeout_ms) {
  const sigset_t signals = controlling();
  const timespec timeout = timeout_of(timeout_ms);
  return signal_of(sigtimedwait(&signals, nullptr, &timeout));
}

std::optional<Signal> wait_for_signal() {
  const sigset_t signals = controlling();
  return signal_of(sigwaitinfo(&signals, nullptr));
}

bool wait_for_stop(std::int64_t timeout_ms) {
  const sigset_t signals = set_of({SIGTERM, SIGINT, wake_signal()});
  const timespec timeout = timeout_of(timeout_ms);
  const int number = sigtimedwait(&signals, nullptr, &timeout);
  return number == SIGTERM || number == SIGINT;
}

void wake() {
  ::kill(::getpid(), wake_signal());
}

}  // namespace runwarden::ops
