// Second opinions: opinion_store.h on the LMDB tables. Internal to store/.
#pragma once

#include <cstdint>
#include <functional>

#include "store/lmdb/env.h"
#include "store/lmdb/tables.h"
#include "store/lmdb/txn.h"
#include "store/opinion_store.h"

namespace runwarden::store {

class LmdbOpinionStore final : public OpinionStore {
 public:
  struct Parts {
    LmdbEnv& env;
    const Tables& tables;
    // Runs a read; throws a StoreError that names any damage it meets.
    std::function<void(const std::function<void()>& work)> reading;
    // Runs a write in a transaction, and commits it. Also notes this start, so that its sequence numbers stay unique after a restart.
    std::function<void(const std::function<void(WriteTxn& txn)>& work)> writing;
    std::function<std::uint64_t()> next_seq;
    // Called for each record that is skipped because it cannot be read.
    const std::function<void(const std::string& text)>& on_unreadable;
  };

  explicit LmdbOpinionStore(Parts parts) : parts_(std::move(parts)) {}

  Page<model::Opinion> candidates(model::TenantId tenant, const CandidateQuery& query) override;
  std::vector<model::Opinion> opinions_of_run(model::TenantId tenant, const model::RecordKey& run) override;
  std::vector<TenantOpinion> claim_due(std::int64_t now_ms, std::int64_t until_ms, std::size_t most) override;
  OpinionQueue opinion_queue() override;

 private:
  std::vector<TenantOpinion> due(std::int64_t now_ms, std::size_t most);

  Parts parts_;
};

}  // namespace runwarden::store
