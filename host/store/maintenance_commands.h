// Operations on a whole store, alongside its service or in its place: export, import, copy, check, compact, purge.
//
// Each call opens the folder itself, so no Store in this process may have it open. One thread. A call that is stopped, fails or is killed
// leaves the store as it was (a purge: with fewer records), and nothing at the target that looks finished.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/clock_guard.h"
#include "base/result.h"
#include "model/dimensions.h"
#include "store/postgres_target.h"
#include "store/queries.h"
#include "store/retention.h"

namespace runwarden::store {

// Progress: `done` of `all`, counted in `unit`; all 0: not known.
struct Progress {
  const char* doing = "";
  const char* unit = "";
  const char* table = "";  // being read, if known
  std::uint64_t done = 0;
  std::uint64_t all = 0;
};

struct MaintenanceContext {
  std::filesystem::path folder;  // of this host
  const Clock& clock;
  // Called many times a second. False stops the work, which then fails as interrupted.
  std::function<bool(const Progress&)> on_progress;
  std::uint64_t max_bytes = 0;                                           // maximum size of the store; 0: as it was created
  std::vector<std::string> dimension_names = model::usual_dimensions();  // for runs that an older version exported
  std::uint64_t max_clusters = 100'000;                                  // groups per tenant; failures beyond them are imported without one
  std::optional<PostgresTarget> postgres = {};                           // where the records are; nothing: in the folder
};

// A row with a fault.
struct StoreFault {
  std::string table;
  std::string key;  // hexadecimal
  std::string detail;
  std::string remedy;
};
constexpr std::size_t kMostTold = 1000;

struct ExportQuery {
  std::string tenant;
  std::int64_t since_ms = kBeginningMs;
};
// Lines by kind: run, events, event_ids, failure, shadow_failure, change, policy, policy_name, group, triage, review, opinion, webhook,
// delivery, answer.
using LineCounts = std::map<std::string, std::uint64_t>;
// Takes whole lines with their line ends; false stops the work.
using LineSink = std::function<bool(std::string_view lines)>;
struct Exported {
  LineCounts lines;
  std::uint64_t unreadable = 0;        // rows that could not be read and were left out; the last line names them
  std::uint64_t stretches = 0;         // of these, stretches of rows in damaged pages, each of an unknown number
  std::vector<StoreFault> first_ones;  // at most kMostTold
};
// Runs alongside a serving process. Reads in slices of milliseconds, and holds none of them while the sink works. Exports each run with all
// that belongs to it as of one moment; records that arrive during the export may or may not be included.
Result<Exported> export_tenant(const MaintenanceContext& maintenance, const ExportQuery& query, const LineSink& sink);

struct Imported {
  LineCounts stored;
  std::uint64_t already_there = 0;  // the same record was there
  struct Conflict {
    std::uint64_t line = 0;
    std::string detail;
  };
  std::uint64_t conflicts = 0;       // another record is in its place, and stays
  std::vector<Conflict> first_ones;  // of the conflicts, at most kMostTold
  std::vector<std::string> tenants;  // whose records were imported
};
// The next line without its end; nothing at the end.
using LineSource = std::function<Result<std::optional<std::string>>()>;
// Needs the service lock. Runs in one transaction: if it is killed, nothing was stored.
Result<Imported> import_lines(const MaintenanceContext& maintenance, const LineSource& next);

struct Copied {
  std::uint64_t bytes = 0;
  std::uint64_t records = 0;  // found to be good in the copy
};
// Runs alongside a serving process. The target must be missing or an empty folder. The copy is there, whole and checked, or not at all.
Result<Copied> back_up(const MaintenanceContext& maintenance, const std::filesystem::path& target);

struct Compacted {
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;
};
// Needs the service lock.
Result<Compacted> compact(const MaintenanceContext& maintenance);

struct PurgeQuery {
  std::string tenant;
  std::int64_t before_ms = kEndMs;  // kEndMs: all that is stored when the purge begins
  // If set, the tenant's ledger is deleted, too, after this was called with its last checkpoint, a signed note. Only without a time.
  std::function<void(const std::string& note)> on_last_checkpoint = {};
};
struct Purged {
  Expired gone;
  std::uint64_t leftovers = 0;  // index entries that led nowhere: of unreadable records, and names of policies
};
// Runs alongside a serving process, which drops what it remembers of open runs within seconds. Uses small transactions, with pauses as long
// as they take. If it is killed, some records are deleted; run it again. The tenant's keys stay.
Result<Purged> purge(const MaintenanceContext& maintenance, const PurgeQuery& query);
// What a purge would delete, except index entries; deletes nothing. Runs alongside a serving process, in slices.
Result<Expired> count_purge(const MaintenanceContext& maintenance, const PurgeQuery& query);

struct AcceptedClock {
  ClockGuard::LastUse last_use;  // before the confirmation
  std::int64_t now_ms = 0;
};
// Confirms that the clock is right: retention follows it from then on. Runs alongside a serving process, which notices within a second.
Result<AcceptedClock> accept_clock(const MaintenanceContext& maintenance);

struct Verified {
  std::map<std::string, std::uint64_t> entries;  // checked, by table
  std::uint64_t faults = 0;
  std::vector<StoreFault> first_ones;  // at most kMostTold
};
// Runs alongside a serving process. It compares only what it reads as of one moment, so writes never look like faults.
Result<Verified> verify(const MaintenanceContext& maintenance);

}  // namespace runwarden::store
