// What the commands that work on a whole store share: where it is, progress on a terminal, being interrupted. [main] only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "cli/context.h"
#include "cli/terminal_progress.h"
#include "store/lmdb/service_lock.h"
#include "store/maintenance_commands.h"

namespace runwarden::cli {

enum class IfNoStore { make, refuse };

// One such command while it runs. SIGINT, SIGTERM and SIGHUP stop it in good order as long as this lives; or end the process,
// as ever, for a command that has nothing to put in order.
class MaintenanceCommand {
 public:
  enum class Signals { stop_in_order, end_process };
  explicit MaintenanceCommand(Context& context, Signals signals = Signals::stop_in_order);
  ~MaintenanceCommand();
  MaintenanceCommand(const MaintenanceCommand&) = delete;
  MaintenanceCommand& operator=(const MaintenanceCommand&) = delete;

  // False: the faults are told. With IfNoStore::make a missing store is made.
  bool find_store(IfNoStore if_none);
  // Likewise, while the service is stopped; it stays so until the command ends.
  bool find_stopped_store(IfNoStore if_none);

  // For a command that only a store in a folder has: false, with what to use instead, where the records are in a database.
  bool find_folder(const char* instead);

  // Whether hosts share the records; once the store was found.
  bool in_database() const;

  store::MaintenanceContext maintenance();
  const SystemClock& clock() const { return clock_; }
  // Whether a signal has asked to stop.
  static bool interrupted();
  void show(const store::Progress& progress) { progress_.show(progress); }
  // Before anything is written to standard error.
  void clear_progress() { progress_.clear(); }
  int refuse(const Error& error);

 private:
  Context& context_;
  SystemClock clock_;
  std::optional<config::Settings> settings_;
  std::optional<store::ServiceLock> lock_;
  TerminalProgress progress_;
};

// A point in time given as RFC 3339 ("2026-11-01T00:00:00Z") or as how long ago it was ("30d").
std::optional<std::int64_t> point_in_time(std::string_view text, std::int64_t now_ms);
// For CLI11: empty, or what is wrong with it.
std::string check_point_in_time(const std::string& text);

}  // namespace runwarden::cli
