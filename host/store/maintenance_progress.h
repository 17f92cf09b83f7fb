// Reports the progress of a maintenance command to its caller, and stops it. Internal to store/; one thread.
#pragma once

#include "store/maintenance_commands.h"

namespace runwarden::store {

// Thrown when the caller's callback says to stop.
struct Stopped {};

// Reports the progress; throws Stopped.
inline void report_progress(const MaintenanceContext& maintenance, const Progress& progress) {
  if (maintenance.on_progress && !maintenance.on_progress(progress)) throw Stopped{};
}

}  // namespace runwarden::store
