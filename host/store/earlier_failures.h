// What is known of the failures of a run's earlier revisions. Internal to store/. Pure; any thread.
#pragma once

#include <span>
#include <vector>

#include "model/review.h"
#include "store/queries.h"

namespace runwarden::store {

// Adds those that were reviewed and are not among them. A later revision may have lacked them, so that they are no longer stored.
void add_reviewed(std::vector<EarlierFailure>& earlier, std::span<const model::Review> reviews_of_run);

}  // namespace runwarden::store
