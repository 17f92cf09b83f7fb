// Reviews in the JSON that is answered: beside the failures and detectors they are about, and as histories and counts. Pure, except for
// one; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"
#include "base/rate.h"
#include "model/records.h"
#include "model/review.h"
#include "store/review_store.h"
#include "store/run_store.h"

namespace runwarden::ingest {

constexpr int kReviewWindowDays = 90;
constexpr std::uint64_t kFewestReviews = 5;  // right or false alarm; below it there is no precision

// A failure with its review, if it has one.
std::string shown_failure(const model::FailureRecord& failure);

// Puts failures that second opinions found among those of a run, by their scores.
void show_confirmed(model::RunRecord& run, std::span<const model::FailureRecord> failures);

// Puts the reviews of a run beside what they are about: into its failures, and into what its detectors say of this revision.
void show_reviews(model::RunRecord& run, std::span<const model::Review> reviews);

// Shows what was said of the run since it was judged: both of the above. Reads the stores, and throws StoreError.
void show_later_words(model::RunRecord& run, model::TenantId tenant, store::RunStore& runs, store::ReviewStore& reviews);

// The share of the reviewed failures that were right (Wilson, 95 %). Nothing: there are too few.
std::optional<Interval> precision_of(const model::ReviewCounts& counts);

// {"window", "right", "falseAlarm", "missed", "precision", "byVersion": [...]} of a detector.
void write_review_counts(JsonWriter& out, std::string_view detector, const std::vector<store::ReviewedVersion>& versions);

}  // namespace runwarden::ingest
