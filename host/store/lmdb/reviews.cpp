#include "store/lmdb/reviews.h"

#include <string>
#include <utility>

#include "model/record_ids.h"
#include "store/lmdb/answers.h"
#include "store/lmdb/failures.h"
#include "store/review_codec.h"

namespace runwarden::store {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::size_t kMostPassedOver = 4096;  // reviews examined but kept, per call
constexpr std::size_t kRowsBytes = 1024;       // of a review, besides its own text

std::uint32_t day_of(std::int64_t ms) {
  return ms < 0 ? 0 : static_cast<std::uint32_t>(ms / kDayMs);
}

KeyBytes beyond(std::string_view subject_prefix) {
  return KeyBytes().bytes(subject_prefix).u64(~std::uint64_t{0}).u64(~std::uint64_t{0});
}

bool counts(const std::optional<model::Review>& review) {
  return review && review->verdict != model::ReviewVerdict::none;
}

void count(WriteBatch& batch, model::TenantId tenant, const model::Review& review, std::int64_t change) {
  const KeyBytes key = review_day_key(tenant, review);
  const auto value = batch.txn.get(batch.tables.review_index.handle, key);
  ReviewedVersion version{review.detector_key, review.detector_version, review.settings_hash, {}};
  if (value) version = decoded(batch.tables.review_index, key, [&] { return decode_review_counts(key, *value); });
  std::uint64_t& number = version.counts.of(model::counted_verdict(review));
  number = plus(number, change);
  if (version.counts.all() == 0) return static_cast<void>(batch.txn.erase(batch.tables.review_index.handle, key));
  batch.txn.put(batch.tables.review_index.handle, key, encode_review_counts(key, version));
}

std::optional<model::Review> last_review_of(const Txn& txn, const Tables& tables, model::TenantId tenant,
                                            const model::FailureRecord& failure) {
  model::Review subject;
  subject.run = failure.run;
  subject.failure_id = failure.id;
  return last_review(txn, tables, review_subject_prefix(tenant, subject));
}

// Runs `change` on the reviews of a subject, and moves the count from the last review before it to the last one after it.
template <class Change>
void recounting_last(WriteBatch& batch, model::TenantId tenant, const model::Review& review, Change change) {
  const KeyBytes subject = review_subject_prefix(tenant, review);
  const auto before = last_review(batch.txn, batch.tables, subject);
  change();
  const auto after = last_review(batch.txn, batch.tables, subject);
  if (before && after && before->key == after->key) return;
  if (counts(before)) count(batch, tenant, *before, -1);
  if (counts(after)) count(batch, tenant, *after, 1);
}

}  // namespace

KeyBytes review_run_prefix(model::TenantId tenant, const model::RecordKey& run) {
  return KeyBytes().u32(tenant).u8(static_cast<std::uint8_t>(ReviewPart::subject)).time(run.time_ms).u64(run.seq);
}

KeyBytes review_subject_prefix(model::TenantId tenant, const model::Review& review) {
  return review_run_prefix(tenant, review.run).bytes(view(half_digest(review_subject(review))));
}

KeyBytes review_index_key(model::TenantId tenant, const model::Review& review) {
  return review_subject_prefix(tenant, review).time(review.key.time_ms).u64(review.key.seq);
}

KeyBytes review_day_key(model::TenantId tenant, const model::Review& review) {
  const Half version = half_digest(review.detector_key + "\n" + review.detector_version + "\n" + review.settings_hash);
  return KeyBytes().u32(tenant).u8(static_cast<std::uint8_t>(ReviewPart::day)).u32(day_of(review.key.time_ms)).bytes(view(version));
}

std::optional<model::Review> read_review_at(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::RecordKey& at) {
  const KeyBytes key = place_key(tenant, at);
  const auto value = txn.get(tables.reviews.handle, key);
  if (!value) return std::nullopt;
  return decoded(tables.reviews, key, [&] { return decode_review(key, *value); });
}

std::optional<model::Review> last_review(const Txn& txn, const Tables& tables, std::string_view subject_prefix) {
  Cursor cursor(txn, tables.review_index.handle);
  if (!cursor.before(beyond(subject_prefix)) || !cursor.key().starts_with(subject_prefix)) return std::nullopt;
  const model::RecordKey at{read_time(cursor.key(), kReviewSubjectKeyBytes), read_be(cursor.key(), kReviewSubjectKeyBytes + 8, 8)};
  return read_review_at(txn, tables, tenant_of(subject_prefix), at);
}

std::vector<model::Review> reviews_of_run(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::RecordKey& run) {
  std::vector<model::Review> reviews;
  const KeyBytes prefix = review_run_prefix(tenant, run);
  Cursor cursor(txn, tables.review_index.handle);
  bool more = cursor.at_or_after(prefix);
  while (more && cursor.key().starts_with(prefix.view())) {
    const std::string subject(cursor.key().substr(0, kReviewSubjectKeyBytes));
    if (auto last = last_review(txn, tables, subject); counts(last)) reviews.push_back(std::move(*last));
    more = cursor.at_or_after(beyond(subject));
  }
  return reviews;
}

void read_review(const Txn& txn, const Tables& tables, model::TenantId tenant, model::FailureRecord& failure) {
  if (failure.reviewed == model::ReviewVerdict::none) return;
  if (auto last = last_review_of(txn, tables, tenant, failure); counts(last)) failure.review = std::move(last->document);
}

model::ReviewVerdict last_verdict(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::FailureRecord& failure) {
  const auto last = last_review_of(txn, tables, tenant, failure);
  return last ? last->verdict : model::ReviewVerdict::none;
}

model::ReviewCounts recount_reviews(const Txn& txn, const Tables& tables, std::string_view day_key) {
  model::ReviewCounts sum;
  const model::TenantId tenant = tenant_of(day_key);
  const auto day = static_cast<std::int64_t>(read_be(day_key, 5, 4));
  const KeyBytes end = KeyBytes().u32(tenant).time((day + 1) * kDayMs).u64(0);
  Cursor cursor(txn, tables.reviews.handle);
  const KeyBytes begin = day == 0 ? KeyBytes().u32(tenant) : KeyBytes().u32(tenant).time(day * kDayMs);
  for (bool more = cursor.at_or_after(begin); more && cursor.key() < end.view(); more = cursor.next()) {
    const model::Review review = decode_review_head(cursor.key(), cursor.value());
    if (review.verdict == model::ReviewVerdict::none || review_day_key(tenant, review).view() != day_key) continue;
    const auto last = last_review(txn, tables, review_subject_prefix(tenant, review));
    if (last && last->key == review.key) ++sum.of(model::counted_verdict(review));
  }
  return sum;
}

void put_review(WriteBatch& batch, model::TenantId tenant, const model::Review& review, std::string_view value) {
  recounting_last(batch, tenant, review, [&] {
    batch.txn.put(batch.tables.reviews.handle, place_key(tenant, review.key), value);
    batch.txn.put(batch.tables.review_index.handle, review_index_key(tenant, review), {});
  });
}

void erase_review(WriteBatch& batch, model::TenantId tenant, const model::Review& review) {
  recounting_last(batch, tenant, review, [&] {
    batch.txn.erase(batch.tables.reviews.handle, place_key(tenant, review.key));
    batch.txn.erase(batch.tables.review_index.handle, review_index_key(tenant, review));
  });
  if (batch.ledger) batch.ledger->erase(tenant, ledger::Kind::triage, place_name(review.key));
}

void settle_reviewed(WriteBatch& batch, model::TenantId tenant, const model::Review& review) {
  if (review.failure_id.empty()) return;
  model::Review none = review;
  none.verdict = model::ReviewVerdict::none;
  note_reviewed(batch, tenant, last_review(batch.txn, batch.tables, review_subject_prefix(tenant, review)).value_or(none));
}

bool is_there(const WriteBatch& batch, model::TenantId tenant, const model::Review& review) {
  if (review.failure_id.empty()) return batch.txn.get(batch.tables.runs.handle, place_key(tenant, review.run)).has_value();
  return find_failure(batch.txn, batch.tables, tenant, review.failure_id).has_value();
}

WriteResult write_reviews(WriteBatch& batch, const ReviewWrite& write) {
  if (write.idempotency) {
    const auto answer = find_answer(batch.txn, batch.tables, write.tenant, write.idempotency->identity, batch.times);
    if (answer && answer->idempotency.content != write.idempotency->content) return {WriteResult::Outcome::idempotency_conflict, {}, {}};
    if (answer) {
      WriteResult replayed{WriteResult::Outcome::replayed, {}, {}};
      replayed.decided = answer->record;
      return replayed;
    }
  }
  WriteResult result;
  std::size_t bytes = 0;
  for (const model::Review& review : write.reviews) {
    bytes += kRowsBytes + review.document.size();
    result.not_there = result.not_there || !is_there(batch, write.tenant, review);
  }
  if (result.not_there) return result;
  if (!batch.room.admit(bytes)) return {WriteResult::Outcome::unavailable, {}, {}};
  for (const model::Review& review : write.reviews) {
    const KeyBytes key = place_key(write.tenant, review.key);
    put_review(batch, write.tenant, review, encode_review(key, review));
    if (batch.ledger)
      batch.ledger->append_decision(write.tenant, place_name(review.key), ledger::decision_of(review), ledger::CameBy::itself);
    settle_reviewed(batch, write.tenant, review);
  }
  if (!write.reviews.empty()) {
    remember_answer(batch, write.tenant, write.idempotency, {.kind = IdempotentAnswer::Kind::review, .record = write.reviews.front().key});
  }
  return result;
}

bool is_in_use(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::Review& review) {
  const auto last = last_review(txn, tables, review_subject_prefix(tenant, review));
  if (!last || last->key != review.key || review.verdict == model::ReviewVerdict::none) return false;
  if (review.failure_id.empty()) return txn.get(tables.runs.handle, place_key(tenant, review.run)).has_value();
  const auto failure = model::parse_failure_id(review.failure_id);
  if (!failure) return false;
  const KeyBytes key = place_key(tenant, *failure);
  return txn.get(tables.failures.handle, key).has_value() || txn.get(tables.shadow_failures.handle, key).has_value();
}

std::uint64_t expire_reviews(WriteBatch& batch, const Retention& retention, std::size_t most) {
  if (retention.changes_before_ms == kBeginningMs) return 0;
  std::vector<std::pair<model::TenantId, model::Review>> old;
  std::vector<std::string> unreadable;
  {
    std::size_t passed_over = 0;
    Cursor cursor(batch.txn, batch.tables.reviews.handle);
    bool more = cursor.at_or_after(KeyBytes().u32(retention.tenant.value_or(0)));
    while (more && old.size() + unreadable.size() < most && passed_over < kMostPassedOver) {
      const model::TenantId tenant = tenant_of(cursor.key());
      if (retention.tenant && tenant != *retention.tenant) break;
      if (record_key_of(cursor.key()).time_ms >= retention.changes_before_ms) {
        more = cursor.at_or_after(KeyBytes().u32(tenant + 1));  // the tenant's other reviews are younger
        continue;
      }
      try {
        model::Review review = decode_review_head(cursor.key(), cursor.value());
        if (is_in_use(batch.txn, batch.tables, tenant, review)) {
          ++passed_over;
        } else {
          old.emplace_back(tenant, std::move(review));
        }
      } catch (const std::runtime_error&) {
        unreadable.emplace_back(cursor.key());  // it is too old, and of no use
      }
      more = cursor.next();
    }
  }
  for (const auto& [tenant, review] : old) {
    erase_review(batch, tenant, review);
    batch.groups.log.note(tenant);
  }
  for (const std::string& key : unreadable) {
    batch.txn.erase(batch.tables.reviews.handle, key);
    if (batch.ledger) batch.ledger->erase(tenant_of(key), ledger::Kind::triage, place_name(record_key_of(key)));
  }
  return old.size() + unreadable.size();
}

}  // namespace runwarden::store
