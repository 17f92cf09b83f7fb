// Reviews of an import. For the files of this folder only; one thread, in the import's open transaction.
#pragma once

#include <set>

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
  // Makes the failures of that tenant that came with reviews say what their last ones say. They have to be counted by then.
  void settle(model::TenantId tenant);

 private:
  void settle_some(model::TenantId tenant, const std::vector<model::RecordKey>& failures);

  Connection& connection_;
  ImportTally& tally_;
  ImportLedger& ledger_;
  const EffectRules rules_;
  std::set<model::RecordKey> reviewed_;  // failures
};

}  // namespace runwarden::store::postgres
