// What the commands on a whole store share: finding the store, progress on a terminal, interruption. [main] only.
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

// One such command while it runs. With stop_in_order, SIGINT, SIGTERM and SIGHUP only set interrupted() as long as this object lives.
// With end_process they end the process as usual, for commands that need no cleanup.
class MaintenanceCommand {
 public:
  enum class Signals { stop_in_order, end_process };
  explicit MaintenanceCommand(Context& context, Signals signals = Signals::stop_in_order);
  ~MaintenanceCommand();
  MaintenanceCommand(const MaintenanceCommand&) = delete;
  MaintenanceCommand& operator=(const MaintenanceCommand&) = delete;

  // False, after reporting the faults, if there is no usable store. IfNoStore::make creates a missing one.
  bool find_store(IfNoStore if_none);
  // The same, but requires that no service uses the store, and keeps it from starting until the command ends. A database needs neither.
  bool find_stopped_store(IfNoStore if_none);
  // Removes the store and its folder if find_stopped_store() has made them, and nothing was stored since. The schema of a database stays.
  void undo_making();

  // For commands that need a store in a folder. False if the records are in a database, after reporting what to use instead.
  bool find_folder(const char* instead);

  // Whether the records are in a database. Call it after the store was found.
  bool in_database() const;

  store::MaintenanceContext maintenance();
  const SystemClock& clock() const { return clock_; }
  // Whether a signal has requested a stop.
  static bool interrupted();
  void show(const store::Progress& progress) { progress_.show(progress); }
  // Call it before writing to standard error.
  void clear_progress() { progress_.clear(); }
  int refuse(const Error& error);

 private:
  bool find_schema();
  bool make_store();

  Context& context_;
  SystemClock clock_;
  std::optional<config::Settings> settings_;
  std::optional<store::ServiceLock> lock_;
  bool made_folder_ = false;
  bool made_store_ = false;
  TerminalProgress progress_;
};

// Parses a time in RFC 3339 format ("2026-11-01T00:00:00Z") or as an age ("30d").
std::optional<std::int64_t> point_in_time(std::string_view text, std::int64_t now_ms);
// For CLI11: empty if valid, or else the fault.
std::string check_point_in_time(const std::string& text);

}  // namespace runwarden::cli
