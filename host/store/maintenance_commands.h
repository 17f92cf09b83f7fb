// What is done to a whole store, beside its service or in its place: exported, imported, copied, checked, compacted, purged.
//
// Each call opens the folder for itself, so no Store may have it open in this process. One thread. A call that is stopped, that
// fails or whose process is killed leaves the store as it was (a purge: some records fewer), and nothing at the target that
// looks finished.
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
#include "store/postgres_place.h"
#include "store/queries.h"

namespace runwarden::store {

// How far it has come: `done` of `all` of what it counts; all 0: not known.
struct Progress {
  const char* doing = "";
  const char* unit = "";
  const char* table = "";  // that is being read, where that is told
  std::uint64_t done = 0;
  std::uint64_t all = 0;
};

struct MaintenanceContext {
  std::filesystem::path folder;  // of this host
  const Clock& clock;
  // Told many times a second; false stops the work, which is then refused as interrupted.
  std::function<bool(const Progress&)> on_progress;
  std::uint64_t map_size = 0;  // the most the store may grow to; 0: as it was made
  std::vector<std::string> dimension_names = model::usual_dimensions();  // for runs that an older version exported
  std::uint64_t max_clusters = 100'000;  // groups of a tenant; failures beyond them are imported without one
  std::optional<PostgresPlace> postgres = {};  // where the records are; nothing: in the folder
};

// A row that is not as it should be.
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
// Takes whole lines, their ends included; false stops the work.
using LineSink = std::function<bool(std::string_view lines)>;
struct Exported {
  LineCounts lines;
  std::uint64_t unreadable = 0;        // rows that could not be read and were left out; the last line names them
  std::vector<StoreFault> first_ones;  // at most kMostTold
};
// Beside a serving process; reads in slices of milliseconds and holds none of them while the sink works. Each run is told with
// all that belongs to it as of one moment; what comes while it goes on may be told or not.
Result<Exported> export_tenant(const MaintenanceContext& maintenance, const ExportQuery& query, const LineSink& sink);

struct Imported {
  LineCounts stored;
  std::uint64_t already_there = 0;  // the same record stood there
  struct Conflict {
    std::uint64_t line = 0;
    std::string detail;
  };
  std::uint64_t conflicts = 0;       // another record stands in its place, which stays
  std::vector<Conflict> first_ones;  // of the conflicts, at most kMostTold
  std::vector<std::string> tenants;  // whose records they are
};
// The next line without its end; nothing at the end.
using LineSource = std::function<Result<std::optional<std::string>>()>;
// Needs the service lock. All in one transaction: killed at any point it has stored nothing.
Result<Imported> import_lines(const MaintenanceContext& maintenance, const LineSource& next);

struct Copied {
  std::uint64_t bytes = 0;
  std::uint64_t records = 0;  // that were found good in the copy
};
// Beside a serving process. The target has to be missing or an empty folder; it is there, whole and checked, or not at all.
Result<Copied> back_up(const MaintenanceContext& maintenance, const std::filesystem::path& target);

struct Compacted {
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;
};
// Needs the service lock.
Result<Compacted> compact(const MaintenanceContext& maintenance);

struct PurgeQuery {
  std::string tenant;
  std::int64_t before_ms = kEndMs;  // kEndMs: all that stands when the purge begins
  // Given, the tenant's ledger goes as well, once this was told its last checkpoint, a signed note. Without a time only.
  std::function<void(const std::string& note)> on_last_checkpoint = {};
};
struct Purged {
  Expired gone;
  std::uint64_t leftovers = 0;  // entries of indexes that led nowhere: of records that could not be read, names of policies
};
// Beside a serving process, which forgets what it remembers of open runs within seconds. Small transactions, and as much time
// between them as they take. Killed, it has deleted some; it is to be asked for again. The tenant's keys stay.
Result<Purged> purge(const MaintenanceContext& maintenance, const PurgeQuery& query);
// What a purge would delete now, but for entries of indexes; deletes nothing. Beside a serving process, in slices.
Result<Expired> count_purge(const MaintenanceContext& maintenance, const PurgeQuery& query);

struct AcceptedClock {
  ClockGuard::LastUse last_use;  // before it
  std::int64_t now_ms = 0;
};
// Confirms that the clock is right: retention goes by it from now on. Beside a serving process, which hears of it within a second.
Result<AcceptedClock> accept_clock(const MaintenanceContext& maintenance);

struct Verified {
  std::map<std::string, std::uint64_t> entries;  // looked at, by table
  std::uint64_t faults = 0;
  std::vector<StoreFault> first_ones;  // at most kMostTold
};
// Beside a serving process; what it compares, it reads as of one moment, so that writes never look like faults.
Result<Verified> verify(const MaintenanceContext& maintenance);

}  // namespace runwarden::store
