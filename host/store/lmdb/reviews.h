// Reviews in the LMDB tables. Internal to store/; the transaction's thread.
//
// `reviews` holds each of them at its place. `review_index` finds them by subject, and counts the last review of each subject by its day,
// its detector, and the detector's version and settings:
//   tenant u32, ReviewPart::subject, run (time, seq), subject half digest, time, seq -> nothing
//   tenant u32, ReviewPart::day, day u32, half digest of the three texts             -> ReviewedVersion
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "model/review.h"
#include "store/lmdb/write_batch.h"
#include "store/retention.h"
#include "store/review_store.h"
#include "store/review_writes.h"
#include "store/write_result.h"

namespace runwarden::store {

enum class ReviewPart : std::uint8_t { subject = 1, day = 2 };

KeyBytes review_run_prefix(model::TenantId tenant, const model::RecordKey& run);
KeyBytes review_subject_prefix(model::TenantId tenant, const model::Review& review);
KeyBytes review_index_key(model::TenantId tenant, const model::Review& review);
KeyBytes review_day_key(model::TenantId tenant, const model::Review& review);
constexpr std::size_t kReviewRunKeyBytes = 4 + 1 + 16;
constexpr std::size_t kReviewSubjectKeyBytes = kReviewRunKeyBytes + sizeof(Half);
constexpr std::size_t kReviewIndexKeyBytes = kReviewSubjectKeyBytes + 16;
constexpr std::size_t kReviewDayKeyBytes = 4 + 1 + 4 + sizeof(Half);

std::optional<model::Review> read_review_at(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::RecordKey& at);
// The last review of the subject, which may be one that was taken back.
std::optional<model::Review> last_review(const Txn& txn, const Tables& tables, std::string_view subject_prefix);
std::vector<model::Review> reviews_of_run(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::RecordKey& run);
// Fills in the review of a failure that has a verdict.
void read_review(const Txn& txn, const Tables& tables, model::TenantId tenant, model::FailureRecord& failure);

// The verdict of its last review, which may be of an earlier revision; none without one.
model::ReviewVerdict last_verdict(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::FailureRecord& failure);

// What a row of the day counts should hold.
model::ReviewCounts recount_reviews(const Txn& txn, const Tables& tables, std::string_view day_key);

// Adds or removes a review, with its index entry and counts. The caller applies what it means for its failure.
void put_review(WriteBatch& batch, model::TenantId tenant, const model::Review& review, std::string_view value);
void erase_review(WriteBatch& batch, model::TenantId tenant, const model::Review& review);
// Whether the subject of a review is stored.
bool is_there(const WriteBatch& batch, model::TenantId tenant, const model::Review& review);
// Makes the failure of a review say what its last review says.
void settle_reviewed(WriteBatch& batch, model::TenantId tenant, const model::Review& review);

WriteResult write_reviews(WriteBatch& batch, const ReviewWrite& write);

// Deletes at most `most` reviews that are too old. The last review of a stored failure or run stays with it.
std::uint64_t expire_reviews(WriteBatch& batch, const Retention& retention, std::size_t most);
// Whether the subject of the review is still stored, and this review is the one that counts for it.
bool is_in_use(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::Review& review);

}  // namespace runwarden::store
