// Reviews as JSON in answers: next to the failures and detectors that they are about, and as histories and counts. Pure, except for
// show_later_words(); any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"
#include "base/rate.h"
#include "model/failure_record.h"
#include "model/record_key.h"
#include "model/review.h"
#include "model/run_record.h"
#include "store/review_store.h"
#include "store/run_store.h"

namespace runwarden::ingest {

constexpr int kReviewWindowDays = 90;
constexpr std::uint64_t kFewestReviews = 5;  // right or false alarm; with fewer, no precision is reported

// A failure with its review, if it has one.
std::string shown_failure(const model::FailureRecord& failure);

// Inserts failures confirmed by second opinions among those of a run, by score.
void show_confirmed(model::RunRecord& run, std::span<const model::FailureRecord> failures);

// Whether a review is about something that this revision's detectors did not find, even if it was given for an earlier revision.
bool is_of_what_was_not_found(const model::Review& review, const model::RunRecord& run);

// Adds the reviews of a run to its failures, and to the reports of its detectors that found nothing.
void show_reviews(model::RunRecord& run, std::span<const model::Review> reviews);

// Does both of the above for everything since the run was judged, or with these reviews. Reads the stores; throws StoreError.
void show_later_words(model::RunRecord& run, model::TenantId tenant, store::RunStore& runs, store::ReviewStore& reviews);
void show_later_words(model::RunRecord& run, model::TenantId tenant, store::RunStore& runs, std::span<const model::Review> reviews);
// The same for many runs at once, each at its key. Failures and reviews that cannot be read are left out.
void show_later_words(std::span<std::optional<model::RunRecord>> of, std::span<const model::RecordKey> keys, model::TenantId tenant,
                      store::RunStore& runs, store::ReviewStore& reviews);

// The share of reviewed failures that were right (Wilson interval, 95%). Nothing if there are too few reviews.
std::optional<Interval> precision_of(const model::ReviewCounts& counts);

// {"window", "right", "falseAlarm", "missed", "precision", "byVersion": [...]} for one detector.
void write_review_counts(JsonWriter& out, std::string_view detector, const std::vector<store::ReviewedVersion>& versions);

}  // namespace runwarden::ingest
