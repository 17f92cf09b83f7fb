// Decides the writes of people and of second opinions: triage, reviews, opinions.
#include <algorithm>

#include "model/cluster.h"
#include "store/confirmed_failure.h"
#include "store/key_encoding.h"
#include "store/opinion_codec.h"
#include "store/postgres/batch_decisions.h"
#include "store/postgres/reviews.h"
#include "store/review_codec.h"

namespace runwarden::store::postgres {
namespace {

// Of a triage or a review.
WriteResult replay_of_decision(const KnownAnswer& answer) {
  WriteResult replayed{WriteResult::Outcome::replayed, {}, {}};
  replayed.decided = answer.answered.record;
  return replayed;
}

}  // namespace

SubjectOf Batch::State::run_subject_of(const OpinionWrite& write) {
  return {{write.tenant, write.opinion.run}, subject_of(run_review_subject(write.opinion))};
}

WriteResult Batch::State::decide(const TriageWrite& write, std::span<const std::string>, WriteResult& result) {
  const KnownAnswer* const answer = answer_to(write.tenant, write.idempotency);
  if (answer != nullptr && answer->answered.idempotency.content != write.idempotency->content)
    return {Outcome::idempotency_conflict, {}, {}};
  effects.decisions.push_back({&write, &result, answer != nullptr});
  if (answer != nullptr) return replay_of_decision(*answer);
  remember(write.tenant, write.idempotency, {.kind = IdempotentAnswer::Kind::triage, .record = write.entry.key});
  if (write.idempotency) decisions[{write.tenant, write.idempotency->identity}] = &result;
  return {Outcome::stored, {}, {}};
}

bool Batch::State::is_there(model::TenantId tenant, const model::Review& review) const {
  if (review.failure_id.empty()) {
    const TenantKey run{tenant, review.run};
    return found.runs_there.contains(run) || by_place.contains(run);
  }
  const auto place = reviewed_failure(review);
  const auto failure = place ? failures.find({tenant, *place}) : failures.end();
  return failure != failures.end() && decode_failure(place_key(tenant, *place), failure->second.body).id == review.failure_id;
}

void Batch::State::put_opinions(const RunWrite& write) {
  for (const model::Opinion& opinion : write.opinions) {
    rows.opinions.push_back({{write.tenant, opinion.key}, &opinion, encode_opinion(place_key(write.tenant, opinion.key), opinion)});
  }
}

// Stores the review, and gives the failure the verdict of its last review.
void Batch::State::put_review(model::TenantId tenant, const model::Review& review) {
  std::string body = encode_review(place_key(tenant, review.key), review);
  const SubjectOf subject{{tenant, review.run}, subject_of(review)};
  if (review.verdict == model::ReviewVerdict::none) {
    found.reviewed.erase(subject);
  } else {
    found.reviewed.insert_or_assign(subject, ReviewInForce{review.key, body});
  }
  rows.reviews.push_back({{tenant, review.key}, &review, std::move(body)});
  const auto key = reviewed_failure(review);
  if (!key) return;
  const TenantKey place{tenant, *key};
  const auto last = found.last_reviews.try_emplace(place, LastReview{review.key, review.verdict}).first;
  if (last->second.key <= review.key) last->second = {review.key, review.verdict};
  KnownFailure& failure = failures.at(place);
  model::FailureRecord head = decode_failure_head(place_key(tenant, *key), failure.body);
  if (head.reviewed == last->second.verdict) return;
  const bool was_false_alarm = head.is_false_alarm();
  head.reviewed = failure.verdict = last->second.verdict;
  failure.body = with_verdict(place_key(tenant, *key), failure.body, head.reviewed);
  failure.changed = true;
  if (!failure.shadow) effects.failures_reviewed.push_back({tenant, std::move(head), was_false_alarm, last->second.key});
}

WriteResult Batch::State::decide(const ReviewWrite& write, std::span<const std::string>, WriteResult&) {
  if (const KnownAnswer* const answer = answer_to(write.tenant, write.idempotency)) {
    if (answer->answered.idempotency.content != write.idempotency->content) return {Outcome::idempotency_conflict, {}, {}};
    return replay_of_decision(*answer);
  }
  WriteResult result;
  for (const model::Review& review : write.reviews) result.not_there = result.not_there || !is_there(write.tenant, review);
  if (result.not_there) return result;
  for (const model::Review& review : write.reviews) put_review(write.tenant, review);
  if (!write.reviews.empty())
    remember(write.tenant, write.idempotency, {.kind = IdempotentAnswer::Kind::review, .record = write.reviews.front().key});
  return result;
}

bool Batch::State::is_outweighed(model::TenantId tenant, const model::Review& review) const {
  const auto last = found.reviewed.find({{tenant, review.run}, subject_of(review)});
  return last != found.reviewed.end() && outweighs(decode_review_head(place_key(tenant, last->second.key), last->second.body), review);
}

bool Batch::State::is_overruled(const OpinionWrite& write) const {
  const auto last = is_confirmed_candidate(write.opinion) ? found.reviewed.find(run_subject_of(write)) : found.reviewed.end();
  if (last == found.reviewed.end()) return false;
  return overrules(decode_review_head(place_key(write.tenant, last->second.key), last->second.body), write.opinion);
}

void Batch::State::put_confirmed(const OpinionWrite& write, KnownRun& run) {
  const KeyBytes place = place_key(write.tenant, run.place);
  StoredRun stored = decode_run(place, run.value);
  model::FailureRecord& failure = as_stored.emplace_back(confirmed_failure(stored, *write.failure));
  failure.reviewed = last_verdict({write.tenant, failure.key});
  const bool is_known = failure.reviewed != model::ReviewVerdict::none;
  run.value = made.emplace_back(encode_run(place, stored));
  run.stored = std::move(stored);
  run.written = nullptr;
  run.run_changed = true;
  const TenantKey at{write.tenant, failure.key};
  const std::string& body = made.emplace_back(encode_failure(place_key(write.tenant, failure.key), failure));
  rows.failures.push_back({at, &failure, body});
  failures[at] = {failure.shadow, body, is_known, failure.reviewed};
  effects.failures_added.push_back({write.tenant, &failure, is_known ? Addition::again : Addition::found});
  effects.notes.note(write.tenant, TailItem::Kind::run, run.place);
  effects.notes.note(write.tenant, TailItem::Kind::failure, failure.key);
}

WriteResult Batch::State::decide(const OpinionWrite& write, std::span<const std::string>, WriteResult&) {
  WriteResult result;
  const TenantKey at{write.tenant, write.opinion.key};
  const auto asked = found.opinions.find(at);
  result.not_there =
      asked == found.opinions.end() || asked->second.state != model::OpinionState::waiting || asked->second.token != write.opinion.token;
  if (result.not_there) return result;
  KnownRun& run = known({write.tenant, write.opinion.run_id});
  if (!run.unreadable.empty()) return unavailable(run.unreadable);
  if (!run.exists() || run.is_open() || run.place != write.opinion.run || stored_of(run).run.revision != write.opinion.revision) {
    rows.gone_opinions.push_back(at);
    result.not_there = true;
    return result;
  }
  result.overruled = is_overruled(write);
  const model::Opinion& kept = result.overruled ? overruled_opinions.emplace_back(overruled(write.opinion)) : write.opinion;
  asked->second = {kept.state, 0};
  rows.changed_opinions.push_back({at, &kept, encode_opinion(place_key(write.tenant, kept.key), kept)});
  if (write.failure && !result.overruled) put_confirmed(write, run);
  for (const model::Review& review : write.reviews) {
    const bool is_gone = !review.failure_id.empty() && !is_there(write.tenant, review);
    if (is_gone || is_outweighed(write.tenant, review)) {
      result.overruled = true;
      continue;
    }
    put_review(write.tenant, review);
    models_reviews.emplace_back(write.tenant, &review);
  }
  effects.notes.note(write.tenant);
  return result;
}

}  // namespace runwarden::store::postgres
