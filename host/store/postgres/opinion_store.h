// Second opinions on PostgreSQL; see store/opinion_store.h. Any thread. Hosts share what is due: one of them claims each opinion.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "store/opinion_store.h"
#include "store/postgres/pool.h"

namespace runwarden::store::postgres {

class PostgresOpinionStore final : public OpinionStore {
 public:
  struct Parts {
    Pool& pool;
    std::function<std::uint64_t()> next_seq;
    std::function<void(const std::string& text)> on_unreadable;  // called for each record that a list skips
  };

  explicit PostgresOpinionStore(Parts parts) : parts_(std::move(parts)) {}

  Page<model::Opinion> candidates(model::TenantId tenant, const CandidateQuery& query) override;
  std::vector<model::Opinion> opinions_of_run(model::TenantId tenant, const model::RecordKey& run) override;
  std::vector<TenantOpinion> claim_due(std::int64_t now_ms, std::int64_t until_ms, std::size_t most) override;
  OpinionQueue opinion_queue() override;

 private:
  void report(const std::string& text) const;

  const Parts parts_;
};

}  // namespace runwarden::store::postgres
