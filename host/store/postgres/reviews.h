// Reviews as rows, and what is asked of those of one subject. For the files of store/postgres only. Any thread.
#pragma once

#include <optional>
#include <string>

#include "model/review.h"
#include "store/postgres/connection.h"

namespace runwarden::store::postgres {

// The subject of a review as its column has it.
std::string subject_of(const model::Review& review);
// Where the failure is that a review is about; nothing: it is about a run.
std::optional<model::RecordKey> reviewed_failure(const model::Review& review);

// SQL expressions. Whether a row of runwarden.review is the last one of its subject; a join that gives each row `f` of runwarden.failure that has
// a verdict the columns `v` of its last review: time_ms, seq and body.
std::string is_last_review(const std::string& alias);
std::string last_review_of_failure();
// Whether a row of runwarden.review is about a failure or run that is there, which goes by it.
std::string is_in_use(const std::string& alias);

// The review of a row's three columns from that one on: its place and value. Throws StoreError.
model::Review review_at(const Rows& rows, std::size_t row, int column, model::TenantId tenant);
// Fills in the review of a failure that has a verdict, of the same columns.
void read_review(const Rows& rows, std::size_t row, int column, model::TenantId tenant, model::FailureRecord& failure);

}  // namespace runwarden::store::postgres
