// Rows of reviews, and SQL for the reviews of a subject. Internal to store/postgres. Any thread.
#pragma once

#include <optional>
#include <string>

#include "model/review.h"
#include "store/postgres/rows.h"

namespace runwarden::store::postgres {

// The subject of a review, as stored in its column.
std::string subject_of(const model::Review& review);
// The place of the reviewed failure; nothing: the review is about a run.
std::optional<model::RecordKey> reviewed_failure(const model::Review& review);

// SQL expressions: whether a row of runwarden.review is the last one of its subject; and a join that gives each row `f` of
// runwarden.failure with a verdict the columns `v` of its last review: time_ms, seq and body.
std::string is_last_review(const std::string& alias);
std::string last_review_of_failure();
// Whether a row of runwarden.review is in force for a failure or run that exists.
std::string is_in_use(const std::string& alias);

// The review in three columns of a row, from `column` on: its place and value. Throws StoreError.
model::Review review_at(const Rows& rows, std::size_t row, int column, model::TenantId tenant);
// Adds the review to a failure that has a verdict, from the same columns.
void read_review(const Rows& rows, std::size_t row, int column, model::TenantId tenant, model::FailureRecord& failure);

}  // namespace runwarden::store::postgres
