#include "store/lmdb/opinions.h"

#include <string>

#include "store/confirmed_failure.h"
#include "store/lmdb/failures.h"
#include "store/lmdb/reviews.h"
#include "store/lmdb/runs.h"
#include "store/opinion_codec.h"
#include "store/review_codec.h"

namespace runwarden::store {
namespace {

KeyBytes run_prefix(const RunKey& run) {
  return place_key(run.tenant, run.key);
}

void erase_opinion(WriteTxn& txn, const Tables& tables, model::TenantId tenant, const model::Opinion& opinion) {
  txn.erase(tables.opinions.handle, place_key(tenant, opinion.key));
  txn.erase(tables.opinion_runs.handle, opinion_run_key(tenant, opinion));
  if (const auto queued = opinion_queue_key(tenant, opinion)) txn.erase(tables.opinion_queue.handle, *queued);
}

// The run that a claimed question is about, unless it has changed since.
std::optional<StoredRun> run_asked_about(const WriteBatch& batch, model::TenantId tenant, const model::Opinion& opinion) {
  auto stored = read_run(batch.txn, batch.tables, tenant, opinion.run);
  if (!stored || stored->buffering || stored->run.revision != opinion.revision) return std::nullopt;
  return stored;
}

void put_confirmed(WriteBatch& batch, model::TenantId tenant, StoredRun run, const model::FailureRecord& found) {
  model::FailureRecord failure = confirmed_failure(run, found);
  failure.reviewed = last_verdict(batch.txn, batch.tables, tenant, failure);
  const bool is_known = failure.reviewed != model::ReviewVerdict::none;
  const KeyBytes place = place_key(tenant, run.run.key);
  batch.txn.put(batch.tables.runs.handle, place, encode_run(place, run));
  put_failure(batch, tenant, failure, encode_failure(place_key(tenant, failure.key), failure),
              is_known ? Addition::again : Addition::found);
  if (!failure.is_false_alarm()) return_affected(batch, tenant, failure);
  batch.groups.log.note(tenant, TailItem::Kind::run, run.run.key);
  batch.groups.log.note(tenant, TailItem::Kind::failure, failure.key);
}

bool has_review_in_force(const WriteBatch& batch, model::TenantId tenant, const model::Review& review) {
  const auto last = last_review(batch.txn, batch.tables, review_subject_prefix(tenant, review));
  return last && outweighs(*last, review);
}

bool is_overruled(const WriteBatch& batch, const OpinionWrite& write) {
  if (!is_confirmed_candidate(write.opinion)) return false;
  const auto last = last_review(batch.txn, batch.tables, review_subject_prefix(write.tenant, run_review_subject(write.opinion)));
  return last && overrules(*last, write.opinion);
}

// Stores the review, and applies it to its failure.
void put_models_review(WriteBatch& batch, model::TenantId tenant, const model::Review& review) {
  const KeyBytes key = place_key(tenant, review.key);
  put_review(batch, tenant, review, encode_review(key, review));
  if (batch.ledger) batch.ledger->append_decision(tenant, place_name(review.key), ledger::decision_of(review), ledger::CameBy::itself);
  settle_reviewed(batch, tenant, review);
}

}  // namespace

KeyBytes opinion_run_key(model::TenantId tenant, const model::Opinion& opinion) {
  return run_prefix({tenant, opinion.run}).time(opinion.key.time_ms).u64(opinion.key.seq);
}

std::optional<KeyBytes> opinion_queue_key(model::TenantId tenant, const model::Opinion& opinion) {
  const bool waits = opinion.state == model::OpinionState::waiting;
  if (!waits && opinion.state != model::OpinionState::dead) return std::nullopt;
  const auto part = waits ? OpinionQueuePart::waiting : OpinionQueuePart::dead;
  return KeyBytes().u8(static_cast<std::uint8_t>(part)).time(waits ? opinion.due_ms : 0).place(tenant, opinion.key);
}

std::optional<model::Opinion> read_opinion(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::RecordKey& at) {
  const KeyBytes key = place_key(tenant, at);
  const auto value = txn.get(tables.opinions.handle, key);
  if (!value) return std::nullopt;
  return decoded(tables.opinions, key, [&] { return decode_opinion(key, *value); });
}

std::vector<model::RecordKey> opinions_of_run(const Txn& txn, const Tables& tables, const RunKey& run) {
  std::vector<model::RecordKey> places;
  const KeyBytes prefix = run_prefix(run);
  Cursor cursor(txn, tables.opinion_runs.handle);
  for (bool more = cursor.at_or_after(prefix); more && cursor.key().starts_with(prefix.view()); more = cursor.next()) {
    places.push_back({read_time(cursor.key(), kPlaceBytes), read_be(cursor.key(), kPlaceBytes + 8, 8)});
  }
  return places;
}

void put_opinion(WriteTxn& txn, const Tables& tables, model::TenantId tenant, const model::Opinion& opinion) {
  const KeyBytes key = place_key(tenant, opinion.key);
  if (const auto before = read_opinion(txn, tables, tenant, opinion.key)) erase_opinion(txn, tables, tenant, *before);
  txn.put(tables.opinions.handle, key, encode_opinion(key, opinion));
  txn.put(tables.opinion_runs.handle, opinion_run_key(tenant, opinion), {});
  if (const auto queued = opinion_queue_key(tenant, opinion)) txn.put(tables.opinion_queue.handle, *queued, {});
}

// An opinion that cannot be read is erased, too. What it leaves in the queue leads nowhere, and is skipped there.
void erase_opinions(WriteBatch& batch, const RunKey& run) {
  for (const model::RecordKey& at : opinions_of_run(batch.txn, batch.tables, run)) {
    model::Opinion opinion;
    opinion.key = at;
    opinion.run = run.key;
    try {
      if (auto stored = read_opinion(batch.txn, batch.tables, run.tenant, at)) opinion = std::move(*stored);
    } catch (const StoreError&) {
    }
    erase_opinion(batch.txn, batch.tables, run.tenant, opinion);
  }
}

std::size_t bytes_to_write(const std::vector<model::Opinion>& opinions) {
  std::size_t bytes = 0;
  for (const model::Opinion& opinion : opinions) bytes += stored_bytes(opinion);
  return bytes;
}

WriteResult write_opinion(WriteBatch& batch, const OpinionWrite& write) {
  WriteResult result;
  const auto asked = read_opinion(batch.txn, batch.tables, write.tenant, write.opinion.key);
  result.not_there = !asked || asked->state != model::OpinionState::waiting || asked->token != write.opinion.token;
  if (result.not_there) return result;
  auto run = run_asked_about(batch, write.tenant, *asked);
  if (!run) {
    erase_opinion(batch.txn, batch.tables, write.tenant, *asked);
    result.not_there = true;
    return result;
  }
  std::size_t bytes = stored_bytes(write.opinion);
  if (write.failure) bytes += write.failure->json.size() + stored_bytes(write.opinion) + run->run.document.size();
  for (const model::Review& review : write.reviews) bytes += review.document.size() + stored_bytes(write.opinion);
  if (!batch.room.admit(bytes)) return {WriteResult::Outcome::unavailable, {}, {}};
  result.overruled = is_overruled(batch, write);
  if (write.failure && !result.overruled) put_confirmed(batch, write.tenant, std::move(*run), *write.failure);
  put_opinion(batch.txn, batch.tables, write.tenant, result.overruled ? overruled(write.opinion) : write.opinion);
  for (const model::Review& review : write.reviews) {
    if (!is_there(batch, write.tenant, review) || has_review_in_force(batch, write.tenant, review))
      result.overruled = true;
    else
      put_models_review(batch, write.tenant, review);
  }
  batch.groups.log.note(write.tenant);
  return result;
}

}  // namespace runwarden::store
