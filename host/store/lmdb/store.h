// The store on one machine: an LMDB environment in a folder of its own.
//
// Other processes (the commands) may have the same folder open at the same time; one process can open it only once.
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

// What the store asks of the machine. Empty members ask the real machine; tests supply their own answers.
struct MachineAnswers {
  std::function<std::uint64_t(const std::filesystem::path&)> disk_free_bytes;
  std::function<std::uint64_t(const std::filesystem::path&)> file_system_type;  // statfs(2)'s f_type
  std::function<int()> commit_fault;                                            // called before each commit: 0, or the errno to fail with
};

struct LmdbSettings {
  std::filesystem::path path;  // made if it does not exist
  // The maximum size, at least 4 MiB. 0: as the store was created, which every process but the service uses.
  std::uint64_t map_size = std::uint64_t{64} << 30;
  std::int64_t keep_idempotency_ms = std::int64_t{48} * 3600 * 1000;
  // What to do with a store of an older format. Only the holder of the service lock may upgrade it: an older service alongside would not
  // understand the new format.
  enum class IfOlder { refuse, upgrade };
  IfOlder if_older = IfOlder::refuse;
  using IfLost = StoreSettings::IfLost;
  IfLost if_lost = IfLost::refuse;
  StoreListener listener;
  CommitQueue::Limits queue;
  std::uint64_t max_clusters = 100'000;                                  // groups per tenant; failures beyond them are stored without one
  std::uint64_t max_pending_messages = 100'000;                          // per webhook
  std::vector<std::string> dimension_names = model::usual_dimensions();  // for runs of a store that kept no dimensions
  StoreSettings::Ledger ledger = StoreSettings::Ledger::as_it_is;
  MachineAnswers machine;
};

// Files behind KeyStore::secret().
constexpr const char* kCursorSecret = "cursor.secret";
constexpr const char* kSessionSecret = "session.secret";
// The signing keys of ledgers, in the store's folder. The previous key co-signs once; the next key waits for its entries.
constexpr const char* kLedgerKey = "ledger.key";
constexpr const char* kPreviousLedgerKey = "ledger.key.former";
constexpr const char* kNextLedgerKey = "ledger.key.next";
// The sizes of checkpoints, each noted before it is given out. Backups leave it out.
constexpr const char* kLedgerLast = "ledger.last";
// The subfolder for unfinished copies. What is in it was interrupted, and is deleted.
constexpr const char* kUnfinishedCopy = "compacting";

// Holds the lock, if it is given one, as long as the store is open. The clock must outlive the store.
Result<std::unique_ptr<Store>> open_lmdb(const LmdbSettings& settings, const Clock& clock, std::optional<ServiceLock> lock = std::nullopt);

// Whether the service could open that existing folder: refuses what open_lmdb() would refuse, in the same words. May run alongside a
// serving process; makes and changes no store.
Status try_lmdb(const std::filesystem::path& folder, StoreSettings::Ledger ledger);

// Removes the files of a store that knows no tenant, and so holds nothing. Does nothing if it knows one, another process has it open, or it
// cannot be read.
void remove_empty_store(const std::filesystem::path& folder);

}  // namespace runwarden::store
