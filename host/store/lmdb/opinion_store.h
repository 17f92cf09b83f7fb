// Second opinions from the tables: opinion_store.h says what. For the files of store/ only.
#pragma once

#include <cstdint>
#include <functional>

#include "store/lmdb/env.h"
#include "store/lmdb/tables.h"
#include "store/opinion_store.h"

namespace runwarden::store {

class LmdbOpinionStore final : public OpinionStore {
 public:
  struct Parts {
    LmdbEnv& env;
    const Tables& tables;
    // Runs what reads, and names what it finds damaged.
    std::function<void(const std::function<void()>& work)> reading;
    // Runs what writes, and commits it; numbers that are given then are good after a restart.
    std::function<void(const std::function<void(WriteTxn& txn)>& work)> writing;
    std::function<std::uint64_t()> next_seq;
    // Told of each record that is passed over because it cannot be read.
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
