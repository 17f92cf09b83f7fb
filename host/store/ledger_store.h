// The ledger of each tenant: what was committed, in which order, and what proves it. Entries are appended by the transactions that store
// their records.
//
// Any thread; what writes returns when it is on stable storage: while serving, it belongs into WriteQueue::run_between(). Throws
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
#include "model/records.h"
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

  // Whether what is stored makes entries.
  virtual bool is_on() = 0;
  virtual std::vector<LedgerSize> sizes() = 0;

  // Of all that is committed; its size is noted on the disk first. It may take a flush, and for a tenant that has no ledger yet a
  // transaction.
  virtual SignedCheckpoint checkpoint(model::TenantId tenant) = 0;
  // Of each ledger that has grown since it was here last, or since what was noted before the start.
  virtual std::vector<SignedCheckpoint> checkpoint_grown() = 0;
  // Messages checkpoint.created to all webhooks that want them. Writes.
  virtual void queue_messages(std::span<const SignedCheckpoint> checkpoints) = 0;

  // Of the entry of a run, of a failure's run, of a change or a policy revision. Without a revision: the run's latest that resolved.
  // `not_found`: there is no such record, or it has no entry.
  virtual Result<LedgerProof> prove(model::TenantId tenant, std::string_view record, std::optional<std::uint32_t> revision) = 0;
  // `bad_request` where the ledger is not as large as that.
  virtual Result<std::vector<ledger::Hash>> consistency(model::TenantId tenant, std::uint64_t from, std::uint64_t to) = 0;

  // Some of the entries from there on, at least one before `before`; what a deletion has emptied has no body.
  virtual std::vector<ledger::EntryLine> entries(model::TenantId tenant, std::uint64_t from, std::uint64_t before, PartsToo parts) = 0;

  virtual std::string public_key() = 0;
  // Makes another key: an entry in each ledger, the next checkpoint of which both keys sign. Its public key. Writes.
  virtual std::string rotate_key() = 0;
};

}  // namespace runwarden::store
