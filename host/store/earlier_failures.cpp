#include "store/earlier_failures.h"

#include <algorithm>

#include "model/record_ids.h"

namespace runwarden::store {

// A review of a shadow detector's failure names no group.
void add_reviewed(std::vector<EarlierFailure>& earlier, std::span<const model::Review> reviews_of_run) {
  for (const model::Review& review : reviews_of_run) {
    const auto key = model::parse_failure_id(review.failure_id);
    if (!key || review.cluster_id.empty()) continue;
    const bool is_there = std::any_of(earlier.begin(), earlier.end(), [&](const EarlierFailure& one) { return one.key == *key; });
    if (!is_there) earlier.push_back({*key, review.detector_key, review.cluster_id, false});
  }
}

}  // namespace runwarden::store
