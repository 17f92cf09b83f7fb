// Imports reviews. Internal to this folder; one thread, in the import's open transaction.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "model/cluster.h"
#include "store/postgres/batch_effects.h"
#include "store/postgres/connection.h"
#include "store/postgres/maintenance/import_ledger.h"
#include "store/postgres/maintenance/import_tally.h"

namespace runwarden::store::postgres {

class ReviewImport {
 public:
  ReviewImport(Connection& connection, ImportTally& tally, ImportLedger& ledger, EffectRules rules)
      : connection_(connection), tally_(tally), ledger_(ledger), rules_(std::move(rules)) {}

  void store(model::TenantId tenant, const TakenLines<ReviewLine>& lines);
  // Since when the exporting store knew its groups.
  using KnownSince = std::map<model::ClusterKey, std::int64_t>;
  // Gives failures of that tenant that came with reviews the verdict of their last review. They must be counted by then.
  void settle(model::TenantId tenant, const KnownSince& known_since);

 private:
  void settle_some(model::TenantId tenant, const std::vector<model::RecordKey>& failures, const KnownSince& known_since);

  Connection& connection_;
  ImportTally& tally_;
  ImportLedger& ledger_;
  const EffectRules rules_;
  std::set<model::RecordKey> reviewed_;  // failures
};

}  // namespace runwarden::store::postgres
