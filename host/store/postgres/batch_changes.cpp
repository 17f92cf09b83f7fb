// Decides the writes of changes and policies, and those that only remember an answer.
#include <algorithm>

#include "model/record_ids.h"
#include "store/change_codec.h"
#include "store/key_encoding.h"
#include "store/policy_revisions.h"
#include "store/postgres/batch_decisions.h"

namespace runwarden::store::postgres {

void Batch::State::put_change(model::TenantId tenant, const model::ChangeRecord& change) {
  rows.changes.push_back({{tenant, change.key}, change.kind, change.received_ms, encode_change(place_key(tenant, change.key), change)});
}

WriteResult Batch::State::decide(const AnswerWrite& write, std::span<const std::string>, WriteResult&) {
  if (auto before = replay_run(write.tenant, write.idempotency)) return std::move(*before);
  remember(write.tenant, write.idempotency, {.record = write.run, .revision = write.revision});
  return {Outcome::stored, {}, {}};
}

WriteResult Batch::State::decide(const ChangeWrite& write, std::span<const std::string>, WriteResult&) {
  if (const KnownAnswer* const answer = answer_to(write.tenant, write.idempotency)) {
    if (answer->answered.idempotency.content != write.idempotency->content) return {Outcome::idempotency_conflict, {}, {}};
    WriteResult replayed{Outcome::replayed, {}, {}};
    replayed.change = answer->change;
    if (answer->record) replayed.change = decode_change(place_key(write.tenant, answer->answered.record), *answer->record);
    if (replayed.change) return replayed;
  }
  WriteResult stored{Outcome::stored, {}, {}};
  model::ChangeRecord change = write.change;
  if (number_after_others(write.tenant, change.key)) {
    change.id = model::make_change_id(change.key);
    stored.change = change;
  }
  put_change(write.tenant, change);
  if (write.idempotency) {
    const IdempotentAnswer answer{.kind = IdempotentAnswer::Kind::change, .record = change.key};
    remember(write.tenant, *write.idempotency, answer).change = std::move(change);
  }
  return stored;
}

std::optional<model::PolicyRecord> Batch::State::stored_revision(const RevisionName& name) {
  if (const auto of_batch = revisions.find(name); of_batch != revisions.end()) return of_batch->second;
  const auto in_database = found.revisions.find(name);
  if (in_database == found.revisions.end()) return std::nullopt;
  return decode_policy(place_key(name.policy.tenant, in_database->second.place), in_database->second.body);
}

// The stored answer to a policy's Idempotency-Key, or what the revision's name means for it; nothing if it is to be stored.
std::optional<WriteResult> Batch::State::known_policy(const PolicyWrite& write) {
  if (const KnownAnswer* const answer = answer_to(write.tenant, write.idempotency)) {
    if (answer->answered.idempotency.content != write.idempotency->content) return WriteResult{Outcome::idempotency_conflict, {}, {}};
    WriteResult replayed{Outcome::replayed, {}, {}};
    replayed.policy = answer->policy;
    if (answer->record) replayed.policy = decode_policy(place_key(write.tenant, answer->answered.record), *answer->record);
    if (replayed.policy) return replayed;
  }
  if (write.policy.revision.empty()) return std::nullopt;
  auto before = stored_revision({{write.tenant, write.policy.policy}, write.policy.revision});
  if (!before) return std::nullopt;
  const bool same = before->content == write.policy.content;
  if (same) remember_policy(write, *before);
  WriteResult result{same ? Outcome::replayed : Outcome::run_conflict, {}, {}};
  result.policy = std::move(before);
  return result;
}

void Batch::State::remember_policy(const PolicyWrite& write, const model::PolicyRecord& policy) {
  if (!write.idempotency) return;
  remember(write.tenant, *write.idempotency, {.kind = IdempotentAnswer::Kind::policy, .record = policy.key}).policy = policy;
}

// Of the changes at one time, the one with the highest number counts as the last, and of the revisions of a policy it is the one in force.
// That must be the one that was accepted last, whichever hosts gave the numbers. Returns whether it has another number now.
bool Batch::State::number_after_others(model::TenantId tenant, model::RecordKey& key) {
  const auto last = found.last_at.find({tenant, key.time_ms});
  if (last == found.last_at.end() || key.seq > last->second) return false;
  key.seq = last->second = found.free_seq++;
  return true;
}

WriteResult Batch::State::decide(const PolicyWrite& write, std::span<const std::string>, WriteResult&) {
  if (auto known = known_policy(write)) return std::move(*known);
  const PolicyName name{write.tenant, write.policy.policy};
  model::PolicyRecord policy = write.policy;
  if (number_after_others(write.tenant, policy.key)) policy.id = model::make_policy_revision_id(policy.key);
  std::string& number = highest[name];
  if (policy.revision.empty()) policy.revision = next_revision(number);
  std::string higher = highest_with(number, policy.revision);
  if (higher != number) raised.insert(name);
  number = std::move(higher);
  revisions[{name, policy.revision}] = policy;
  policies_changed.insert(write.tenant);
  rows.policies.push_back({{write.tenant, policy.key}, policy, encode_policy(place_key(write.tenant, policy.key), policy)});
  model::ChangeRecord change;
  change.key = policy.key;
  change.id = model::make_change_id(policy.key);
  change.kind = kPolicyKind;
  change.received_ms = policy.received_ms;
  put_change(write.tenant, change);
  remember_policy(write, policy);
  WriteResult result{Outcome::stored, {}, {}};
  change.policy = policy;
  result.change = std::move(change);
  result.policy = std::move(policy);
  return result;
}

}  // namespace runwarden::store::postgres
