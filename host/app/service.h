// The running service: everything made in the order it is needed, and ended in the other. One per process; [main] only.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "config/settings.h"
#include "store/store.h"

namespace runwarden::app {

// What tests put in the place of the real thing.
struct ServiceHooks {
  // Stands around the opened store; empty: the store itself.
  std::function<std::unique_ptr<store::Store>(std::unique_ptr<store::Store>)> wrap_store;
};

// Serves until SIGTERM or SIGINT; then stops accepting, answers what is in flight, commits, and returns 0.
// 1 when it cannot start (the reason is on standard error) or the store failed under it.
// `reload` reads the configuration anew at SIGHUP.
int run_service(const config::Settings& settings, const std::function<Result<config::Settings>()>& reload, const ServiceHooks& hooks = {});

}  // namespace runwarden::app
