// The store on one machine: an LMDB environment in a folder of its own.
//
// Other processes (the commands) may have the same folder open at the same time; in one process it can be open once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/dimensions.h"
#include "store/commit_queue.h"
#include "store/lmdb/service_lock.h"
#include "store/open_store.h"

namespace runwarden::store {

// What the store asks of the machine. Empty: the machine is asked; tests put their own answers in.
struct MachineAnswers {
  std::function<std::uint64_t(const std::filesystem::path&)> disk_free_bytes;
  std::function<std::uint64_t(const std::filesystem::path&)> file_system_type;  // statfs(2)'s f_type
  std::function<int()> commit_fault;  // asked before each commit: 0, or the errno it is to fail with
};

struct LmdbSettings {
  std::filesystem::path path;  // made if it is not there
  // The most it may grow to; from 4 MiB. 0: as the store was made, which is what every process but the service asks for.
  std::uint64_t map_size = std::uint64_t{64} << 30;
  std::int64_t keep_idempotency_ms = std::int64_t{48} * 3600 * 1000;
  // What becomes of a store of an older format. Only who holds the service lock may upgrade it: an older service beside would
  // not know what it reads.
  enum class IfOlder { refuse, upgrade };
  IfOlder if_older = IfOlder::refuse;
  using IfLost = StoreSettings::IfLost;
  IfLost if_lost = IfLost::refuse;
  StoreListener listener;
  CommitQueue::Limits queue;
  std::uint64_t max_clusters = 100'000;  // groups of a tenant; failures beyond them are kept without one
  std::uint64_t max_pending_messages = 100'000;  // of a webhook
  std::vector<std::string> dimension_names = model::usual_dimensions();  // for runs of a store that kept no dimensions
  StoreSettings::Ledger ledger = StoreSettings::Ledger::as_it_is;
  MachineAnswers machine;
};

// KeyStore::secret() by name.
constexpr const char* kCursorSecret = "cursor.secret";
constexpr const char* kSessionSecret = "session.secret";
// What ledgers are signed with, in the store's folder; the former key signs beside it once, the next one waits for its entries.
constexpr const char* kLedgerKey = "ledger.key";
constexpr const char* kFormerLedgerKey = "ledger.key.former";
constexpr const char* kNextLedgerKey = "ledger.key.next";
// The sizes of checkpoints, each noted before it is given away; no backup has it.
constexpr const char* kLedgerLast = "ledger.last";
// The folder of copies that are not finished, in a store's own: what stands there was interrupted, and goes.
constexpr const char* kUnfinishedCopy = "compacting";

// Keeps the lock, if it is given one, as long as the store is open. The clock has to outlive the store.
Result<std::unique_ptr<Store>> open_lmdb(const LmdbSettings& settings, const Clock& clock, std::optional<ServiceLock> lock = std::nullopt);

// Whether the service could open that folder, which is there: refuses what open_lmdb() would refuse, in the same words. Beside a serving
// process; makes no store and changes none.
Status try_lmdb(const std::filesystem::path& folder);

}  // namespace runwarden::store
