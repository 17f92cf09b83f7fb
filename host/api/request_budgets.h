// Limits what requests hold in memory between their bodies and their answers. Enough for every connection of a busy service; more requests
// would only wait longer. A tenant may hold at most as much as it leaves free. Any thread; outlives the pool and the writer, whose tasks
// hold leases.
#pragma once

#include <cstdint>

#include "base/fair_budget.h"

namespace runwarden::api {

struct RequestBudgets {
  FairBudget in_flight{std::uint64_t{512} << 20, 16'384};
  FairBudget results{std::uint64_t{256} << 20};  // of NDJSON batches, until they are answered
};

}  // namespace runwarden::api
