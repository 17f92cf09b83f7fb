// Ledgers: ledger_store.h on the LMDB tables. Internal to store/.
#pragma once

#include <filesystem>
#include <functional>
#include <map>

#include "base/clock.h"
#include "base/mutex.h"
#include "store/ledger_store.h"
#include "store/lmdb/env.h"
#include "store/lmdb/ledger_files.h"
#include "store/lmdb/ledger_rows.h"
#include "store/lmdb/message_writer.h"
#include "store/lmdb/tables.h"
#include "store/lmdb/txn.h"

namespace runwarden::store {

class LmdbLedgerStore final : public LedgerStore {
 public:
  struct Parts {
    LmdbEnv& env;
    const Tables& tables;
    const Clock& clock;
    std::filesystem::path folder;
    // Runs a read; throws a StoreError that names any damage it meets.
    std::function<void(const std::function<void()>& work)> reading;
    // Runs a write in a transaction, and commits it.
    std::function<void(const std::function<void(WriteTxn& txn)>& work)> writing;
    const MessageWriter::Rules& rules;
  };

  explicit LmdbLedgerStore(Parts parts) : parts_(std::move(parts)), keys_(parts_.folder), last_(parts_.folder) {}

  bool is_on() override;
  std::vector<LedgerSize> sizes() override;
  SignedCheckpoint checkpoint(model::TenantId tenant) override;
  std::vector<SignedCheckpoint> checkpoint_grown() override;
  void queue_messages(std::span<const SignedCheckpoint> checkpoints) override;
  Result<LedgerProof> prove(model::TenantId tenant, std::string_view record, std::optional<std::uint32_t> revision) override;
  Result<std::vector<ledger::Hash>> consistency(model::TenantId tenant, std::uint64_t from, std::uint64_t to) override;
  std::vector<ledger::EntryLine> entries(model::TenantId tenant, std::uint64_t from, std::uint64_t before, PartsToo parts) override;
  std::string public_key() override;
  std::string rotate_key() override;

 private:
  using Heads = std::map<model::TenantId, LedgerHead>;

  template <class Use>
  auto reading(Use use) -> decltype(use(std::declval<const Txn&>()));
  Heads read_heads();
  LedgerHead head_of(model::TenantId tenant);
  void ensure_may_sign() RW_REQUIRES(mutex_);
  enum class Announce : std::uint8_t { no, yes };
  // Signs the heads that are not signed yet, and notes first what is given out.
  std::vector<SignedCheckpoint> sign(const Heads& heads, Announce announce) RW_REQUIRES(mutex_);

  Parts parts_;
  Mutex mutex_;
  LedgerKeys keys_ RW_GUARDED_BY(mutex_);
  LedgerLast last_ RW_GUARDED_BY(mutex_);
  std::map<model::TenantId, SignedCheckpoint> signed_ RW_GUARDED_BY(mutex_);  // the latest of each ledger
  bool may_sign_ RW_GUARDED_BY(mutex_) = false;
};

// A ledger's last checkpoint, for a command that opens the store itself. Notes it first. Call it after ensure_may_sign().
std::string sign_last_checkpoint(const std::filesystem::path& folder, const Txn& txn, const Tables& tables, model::TenantId tenant);

}  // namespace runwarden::store
