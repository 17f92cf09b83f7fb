// Reviews on PostgreSQL; see store/review_store.h. Any thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "store/postgres/pool.h"
#include "store/review_store.h"

namespace runwarden::store::postgres {

class PostgresReviewStore final : public ReviewStore {
 public:
  using OnUnreadable = std::function<void(const std::string& text)>;  // called for each review that a list skips

  PostgresReviewStore(Pool& pool, OnUnreadable on_unreadable) : pool_(pool), on_unreadable_(std::move(on_unreadable)) {}

  std::vector<model::Review> reviews_of_run(model::TenantId tenant, const model::RecordKey& run) override;
  std::vector<std::vector<model::Review>> reviews_of_runs(model::TenantId tenant, std::span<const model::RecordKey> runs) override;
  std::vector<model::Review> review_history(model::TenantId tenant, const model::RecordKey& run, const std::string& failure_id,
                                            const Range& range) override;
  std::vector<ReviewedVersion> review_counts(model::TenantId tenant, std::int64_t since_ms) override;
  std::vector<ReviewedRun> reviewed_runs(model::TenantId tenant, const std::optional<model::RecordKey>& after, std::size_t most) override;

 private:
  void report(const std::string& text) const;

  Pool& pool_;
  OnUnreadable on_unreadable_;
};

}  // namespace runwarden::store::postgres
