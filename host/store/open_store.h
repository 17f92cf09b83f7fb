// Opens a store: the only place that chooses the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/clock_guard.h"
#include "base/result.h"
#include "model/dimensions.h"
#include "store/postgres_target.h"
#include "store/store.h"

namespace runwarden::store {

struct CommitReport {
  std::size_t records = 0;
  std::uint64_t bytes = 0;
  std::int64_t commit_ns = 0;
};

// What a store reports besides its answers. Any thread.
struct StoreListener {
  using Text = std::function<void(const std::string& text)>;
  Text on_unreadable;  // a record that a list leaves out because it cannot be read: which, why, and the remedy
  Text on_damage;      // once, when the store's medium is found damaged
  Text on_new_store;   // once, while it opens: what became of the lost store
  // Once, while it opens, before on_last_use: the clock that all hosts of this store share. Not called if that is this machine's clock.
  std::function<void(std::shared_ptr<const Clock> shared)> on_shared_clock = {};
  std::function<void(const ClockGuard::LastUse&)> on_last_use;  // once, while it opens, before anything in it uses the clock
  // Once: the writes in progress are in doubt, and get no answer. The process must end.
  Text on_fatal;
  Text on_fault;     // a job between writes failed, or the callback of a write did, or a database refused to read
  Text on_rejected;  // a database rejected a write, or takes none for now though it can be reached: why
  std::function<void(const CommitReport&)> on_commit;  // before the answers; without the canary
};

struct StoreSettings {
  // This host's folder; made if it does not exist. An engine may keep records in it; others keep only what is of no use to another host.
  std::filesystem::path state_dir;
  std::optional<PostgresTarget> postgres;             // where the records are; nothing: in state_dir
  std::uint64_t max_bytes = std::uint64_t{64} << 30;  // maximum size; 0: as it was created
  std::int64_t commit_interval_ms = 0;                // how long a commit may wait for more writes; 0: not at all
  std::size_t max_commit_records = 512;
  // How much may wait to be written; more is refused. One tenant gets at most as much as it leaves free.
  std::size_t max_waiting = 131'072;
  std::uint64_t max_waiting_bytes = std::uint64_t{256} << 20;
  std::int64_t keep_idempotency_ms = std::int64_t{48} * 3600 * 1000;
  // What to do if the store is lost: gone, cut off or damaged. If it starts empty, its remains are set aside; a store that can be opened is
  // opened.
  enum class IfLost : std::uint8_t { refuse, create_new };
  IfLost if_lost = IfLost::refuse;
  std::uint64_t max_clusters = 100'000;                                  // groups per tenant; failures beyond them are stored without one
  std::uint64_t max_pending_messages = 100'000;                          // per webhook; failures beyond them are reported in one message
  std::vector<std::string> dimension_names = model::usual_dimensions();  // for runs of a store that kept no dimensions
  // Whether records make entries in the ledger. Commands leave this as the service, or the creator of the store, has set it.
  enum class Ledger : std::uint8_t { as_it_is, on, off };
  Ledger ledger = Ledger::as_it_is;
  StoreListener listener;
  std::shared_ptr<void> kept = {};  // held as long as the store is open
};

enum class Role : std::uint8_t {
  service,  // serves the store, as the only process on this host; upgrades a store of an older format
  command,  // alongside a service, or without one
};

// What a host keeps in its state_dir besides the records.
constexpr const char* kPluginCopies = "plugins";          // a folder: copies of detector libraries
constexpr const char* kCrashNote = "crash.note";          // which detector ended the process, for the next process
constexpr const char* kEndedSessions = "sessions.ended";  // of the page

// The clock must outlive the store.
Result<std::unique_ptr<Store>> open_store(const StoreSettings& settings, const Clock& clock, Role role);

}  // namespace runwarden::store
