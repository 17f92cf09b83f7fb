// Reviews: review_store.h on the LMDB tables. Internal to store/.
#pragma once

#include <functional>

#include "store/lmdb/env.h"
#include "store/lmdb/tables.h"
#include "store/lmdb/txn.h"
#include "store/review_store.h"

namespace runwarden::store {

class LmdbReviewStore final : public ReviewStore {
 public:
  struct Parts {
    LmdbEnv& env;
    const Tables& tables;
    // Runs a read; throws a StoreError that names any damage it meets.
    std::function<void(const std::function<void()>& work)> reading;
    // Called for each record that is skipped because it cannot be read.
    const std::function<void(const std::string& text)>& on_unreadable;
  };

  explicit LmdbReviewStore(Parts parts) : parts_(std::move(parts)) {}

  std::vector<model::Review> reviews_of_run(model::TenantId tenant, const model::RecordKey& run) override;
  std::vector<std::vector<model::Review>> reviews_of_runs(model::TenantId tenant, std::span<const model::RecordKey> runs) override;
  std::vector<model::Review> review_history(model::TenantId tenant, const model::RecordKey& run, const std::string& failure_id,
                                            const Range& range) override;
  std::vector<ReviewedVersion> review_counts(model::TenantId tenant, std::int64_t since_ms) override;
  std::vector<ReviewedRun> reviewed_runs(model::TenantId tenant, const std::optional<model::RecordKey>& after, std::size_t most) override;

 private:
  template <class Use>
  auto reading(Use use) -> decltype(use(std::declval<const Txn&>()));

  Parts parts_;
};

}  // namespace runwarden::store
