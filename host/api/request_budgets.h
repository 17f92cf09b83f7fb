// What requests may hold between their bodies and their answers: enough for every connection of a busy service, since more would only wait
// longer. A tenant may hold at most as much as it leaves free. Any thread; outlives the pool and the writer, whose tasks hold shares.
#pragma once

#include <cstdint>

#include "base/fair_budget.h"

namespace runwarden::api {

struct RequestBudgets {
  FairBudget in_flight{std::uint64_t{512} << 20, 16'384};
  FairBudget results{std::uint64_t{256} << 20};  // of NDJSON batches, until they are answered
};

}  // namespace runwarden::api
