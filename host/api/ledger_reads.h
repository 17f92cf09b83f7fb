// Answers the requests about the ledger. Any pool thread; a checkpoint may wait for a flush.
#pragma once

#include <string>

#include "api/admission.h"
#include "base/fair_budget.h"
#include "base/result.h"
#include "store/ledger_store.h"
#include "store/run_store.h"

namespace runwarden::api {

class LedgerReads {
 public:
  LedgerReads(store::LedgerStore& ledger, store::RunStore& store) : ledger_(ledger), store_(store) {}

  // The JSON of a 200. The lease is resized to the size of the proven record.
  Result<std::string> json(const Admission& admission, FairBudget::Lease& lease);

 private:
  Result<std::string> checkpoint(const Admission& admission);
  Result<std::string> proof(const Admission& admission, FairBudget::Lease& lease);
  Result<std::string> consistency(const Admission& admission);

  store::LedgerStore& ledger_;
  store::RunStore& store_;
};

}  // namespace runwarden::api
