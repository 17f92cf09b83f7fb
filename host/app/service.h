// Runs the service: creates its parts in the order of their dependencies and destroys them in reverse. One per process; [main] only.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "config/settings.h"
#include "store/write_queue.h"

namespace runwarden::app {

// Hooks for tests.
struct ServiceHooks {
  // Wraps the way into the opened store; empty: nothing does.
  std::function<std::unique_ptr<store::WriteQueue>(store::WriteQueue& real)> wrap_queue;
};

// Keeps SIGTERM, SIGINT and SIGHUP until run_service() takes them; SIGHUP would end the process. First of all, before any thread starts.
void hold_signals();

// Serves until SIGTERM or SIGINT, then stops accepting, answers requests in flight, commits, and returns 0. Returns 1 if it cannot start
// (the reason is on standard error) or the store fails. `reload` reads the configuration on SIGHUP.
int run_service(const config::Settings& settings, const std::function<Result<config::Settings>()>& reload, const ServiceHooks& hooks = {});

}  // namespace runwarden::app
