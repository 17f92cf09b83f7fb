// The ledger of each tenant: what was committed, in which order, and the proof of it. A transaction appends the entries of the records that
// it stores.
//
// Any thread. Functions that write return once the data is on stable storage; while serving, call them in WriteQueue::run_between(). Throws
// StoreError.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ledger/checkpoint.h"
#include "ledger/export_lines.h"
#include "model/record_key.h"
#include "store/errors.h"

namespace runwarden::store {

struct LedgerSize {
  model::TenantId tenant = 0;
  std::string origin;
  std::uint64_t size = 0;
  std::int64_t last_entry_ms = 0;
};

struct SignedCheckpoint {
  model::TenantId tenant = 0;
  ledger::Checkpoint checkpoint;
  std::string public_key;  // 32 bytes
  std::string note;
  std::int64_t at_ms = 0;
};

struct LedgerProof {
  ledger::EntryLine entry;
  std::vector<ledger::Hash> path;
  SignedCheckpoint checkpoint;
};

enum class PartsToo : std::uint8_t { no, yes };

class LedgerStore {
 public:
  virtual ~LedgerStore() = default;

  // Whether stored records make entries.
  virtual bool is_on() = 0;
  virtual std::vector<LedgerSize> sizes() = 0;

  // A checkpoint of all that is committed. Its size is noted on disk first. May take a flush and, for a tenant without a ledger, a
  // transaction.
  virtual SignedCheckpoint checkpoint(model::TenantId tenant) = 0;
  // Checkpoints of the ledgers that have grown since the last call, or since the checkpoint noted before the start.
  virtual std::vector<SignedCheckpoint> checkpoint_grown() = 0;
  // Queues checkpoint.created messages for all webhooks that want them. Writes.
  virtual void queue_messages(std::span<const SignedCheckpoint> checkpoints) = 0;

  // Proves the entry of a run, of a failure's run, of a change or of a policy revision. Without a revision: the latest resolved one of the
  // run. `not_found`: there is no such record, or it has no entry.
  virtual Result<LedgerProof> prove(model::TenantId tenant, std::string_view record, std::optional<std::uint32_t> revision) = 0;
  // `bad_request` if the ledger is smaller than that.
  virtual Result<std::vector<ledger::Hash>> consistency(model::TenantId tenant, std::uint64_t from, std::uint64_t to) = 0;

  // Some of the entries from `from` on and before `before`, at least one. Entries that a deletion erased have no body.
  virtual std::vector<ledger::EntryLine> entries(model::TenantId tenant, std::uint64_t from, std::uint64_t before, PartsToo parts) = 0;

  virtual std::string public_key() = 0;
  // Makes a new key and returns its public key. Adds an entry to each ledger; both keys sign its next checkpoint. Writes.
  virtual std::string rotate_key() = 0;
};

}  // namespace runwarden::store
