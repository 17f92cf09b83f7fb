#include "store/lmdb/policies.h"

#include <algorithm>
#include <utility>

#include "model/record_ids.h"
#include "store/change_codec.h"
#include "store/lmdb/answers.h"
#include "store/policy_revisions.h"
#include "store/record_codec.h"

namespace runwarden::store {
namespace {

using Outcome = WriteResult::Outcome;

constexpr std::size_t kEntriesBytes = 1000;  // of the index entries of a policy revision and its change

KeyBytes part_key(model::TenantId tenant, PolicyPart part, std::string_view half) {
  return KeyBytes().u32(tenant).u8(static_cast<std::uint8_t>(part)).bytes(half);
}

KeyBytes revision_key(model::TenantId tenant, const model::PolicyRecord& policy) {
  return part_key(tenant, PolicyPart::revision, view(half_digest(policy.policy))).bytes(view(half_digest(policy.revision)));
}

KeyBytes time_key(model::TenantId tenant, const model::PolicyRecord& policy) {
  return policy_times_prefix(tenant, policy.policy).time(policy.key.time_ms).u64(policy.key.seq);
}

// Head: the highest whole number; body: the policy's name.
std::string highest_revision(const Txn& txn, const Tables& tables, std::string_view head_key) {
  const auto value = txn.get(tables.policy_index.handle, head_key);
  if (!value) return {};
  return decoded(tables.policy_index, head_key, [&] { return std::string(open_head(head_key, *value)); });
}

model::ChangeRecord change_of(const model::PolicyRecord& policy) {
  model::ChangeRecord change;
  change.key = policy.key;
  change.id = model::make_change_id(policy.key);
  change.kind = kPolicyKind;
  change.received_ms = policy.received_ms;
  return change;
}

// The stored answer of that kind to the write's identity.
template <class Record, class WriteOf>
std::optional<WriteResult> replay(WriteBatch& batch, const WriteOf& write, std::optional<Record> WriteResult::*where,
                                  std::optional<Record> (*read)(const Txn&, const Tables&, model::TenantId, const model::RecordKey&)) {
  if (!write.idempotency) return std::nullopt;
  const auto answer = find_answer(batch.txn, batch.tables, write.tenant, write.idempotency->identity, batch.times);
  if (!answer) return std::nullopt;
  if (answer->idempotency.content != write.idempotency->content) return WriteResult{Outcome::idempotency_conflict, {}, {}};
  auto record = read(batch.txn, batch.tables, write.tenant, answer->record);
  if (!record) return std::nullopt;
  WriteResult result{Outcome::replayed, {}, {}};
  result.*where = std::move(record);
  return result;
}

std::optional<WriteResult> same_revision(WriteBatch& batch, const PolicyWrite& write) {
  if (write.policy.revision.empty()) return std::nullopt;
  const auto place = place_of_revision(batch.txn, batch.tables, write.tenant, write.policy);
  if (!place) return std::nullopt;
  auto before = read_policy(batch.txn, batch.tables, write.tenant, *place);
  if (!before) return std::nullopt;
  const bool same = before->content == write.policy.content;
  if (same) remember_answer(batch, write.tenant, write.idempotency, {.kind = IdempotentAnswer::Kind::policy, .record = *place});
  WriteResult result{same ? Outcome::replayed : Outcome::run_conflict, {}, {}};
  result.policy = std::move(before);
  return result;
}

void put_change(WriteBatch& batch, model::TenantId tenant, const model::ChangeRecord& change) {
  const KeyBytes key = place_key(tenant, change.key);
  batch.txn.put(batch.tables.changes.handle, key, encode_change(key, change));
}

}  // namespace

bool raise_revision(WriteBatch& batch, model::TenantId tenant, const std::string& policy, const std::string& revision) {
  const KeyBytes key = policy_name_key(tenant, policy);
  const bool known = batch.txn.get(batch.tables.policy_index.handle, key).has_value();
  const std::string before = highest_revision(batch.txn, batch.tables, key);
  const std::string highest = highest_with(before, revision);
  if (known && highest == before) return false;
  batch.txn.put(batch.tables.policy_index.handle, key, seal(key, highest, policy));
  return true;
}

std::optional<model::RecordKey> place_of_revision(const Txn& txn, const Tables& tables, model::TenantId tenant,
                                                  const model::PolicyRecord& policy) {
  const KeyBytes key = revision_key(tenant, policy);
  const auto value = txn.get(tables.policy_index.handle, key);
  if (!value) return std::nullopt;
  return decoded(tables.policy_index, key, [&] { return decode_place(key, *value); });
}

KeyBytes policy_name_key(model::TenantId tenant, std::string_view policy) {
  return part_key(tenant, PolicyPart::head, view(half_digest(policy)));
}

void enter_policy(WriteBatch& batch, model::TenantId tenant, const model::PolicyRecord& policy) {
  batch.txn.put(batch.tables.policy_index.handle, time_key(tenant, policy), {});
  const KeyBytes by_revision = revision_key(tenant, policy);
  batch.txn.put(batch.tables.policy_index.handle, by_revision, encode_place(by_revision, policy.key));
  raise_revision(batch, tenant, policy.policy, policy.revision);
}

KeyBytes policy_times_prefix(model::TenantId tenant, std::string_view policy) {
  return part_key(tenant, PolicyPart::time, view(half_digest(policy)));
}

WriteResult write_change(WriteBatch& batch, const ChangeWrite& write) {
  if (auto before = replay(batch, write, &WriteResult::change, &read_change)) return std::move(*before);
  if (!batch.room.admit(write.change.document.size() + kEntriesBytes)) return {Outcome::unavailable, {}, {}};
  put_change(batch, write.tenant, write.change);
  remember_answer(batch, write.tenant, write.idempotency, {.kind = IdempotentAnswer::Kind::change, .record = write.change.key});
  return {Outcome::stored, {}, {}};
}

WriteResult write_policy(WriteBatch& batch, const PolicyWrite& write) {
  if (auto before = replay(batch, write, &WriteResult::policy, &read_policy)) return std::move(*before);
  if (auto before = same_revision(batch, write)) return std::move(*before);
  if (!batch.room.admit(write.policy.document.size() + kEntriesBytes)) return {Outcome::unavailable, {}, {}};
  model::PolicyRecord policy = write.policy;
  if (policy.revision.empty()) {
    policy.revision = next_revision(highest_revision(batch.txn, batch.tables, policy_name_key(write.tenant, policy.policy)));
  }
  const KeyBytes key = place_key(write.tenant, policy.key);
  batch.txn.put(batch.tables.policies.handle, key, encode_policy(key, policy));
  enter_policy(batch, write.tenant, policy);
  model::ChangeRecord change = change_of(policy);
  put_change(batch, write.tenant, change);
  remember_answer(batch, write.tenant, write.idempotency, {.kind = IdempotentAnswer::Kind::policy, .record = policy.key});
  WriteResult result{Outcome::stored, {}, {}};
  change.policy = policy;
  result.change = std::move(change);
  result.policy = std::move(policy);
  return result;
}

bool erase_change(WriteBatch& batch, model::TenantId tenant, const model::RecordKey& key) {
  batch.groups.log.note(tenant);
  if (batch.ledger) batch.ledger->erase(tenant, ledger::Kind::change, place_name(key));
  return batch.txn.erase(batch.tables.changes.handle, place_key(tenant, key));
}

bool erase_policy(WriteBatch& batch, model::TenantId tenant, const model::RecordKey& key) {
  // A revision that cannot be read is erased, too; its index entries then lead nowhere.
  try {
    const auto policy = read_policy(batch.txn, batch.tables, tenant, key);
    if (!policy) return false;
    batch.txn.erase(batch.tables.policy_index.handle, time_key(tenant, *policy));
    batch.txn.erase(batch.tables.policy_index.handle, revision_key(tenant, *policy));
  } catch (const StoreError&) {
  }
  batch.txn.erase(batch.tables.policies.handle, place_key(tenant, key));
  if (batch.ledger) batch.ledger->erase(tenant, ledger::Kind::policy, place_name(key));
  erase_change(batch, tenant, key);
  return true;
}

std::optional<model::ChangeRecord> read_change(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::RecordKey& key) {
  const KeyBytes place = place_key(tenant, key);
  const auto value = txn.get(tables.changes.handle, place);
  if (!value) return std::nullopt;
  auto change = decoded(tables.changes, place, [&] { return decode_change(place, *value); });
  if (is_of_policy(change)) change.policy = read_policy(txn, tables, tenant, key);
  return change;
}

std::optional<model::PolicyRecord> read_policy(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::RecordKey& key) {
  const KeyBytes place = place_key(tenant, key);
  const auto value = txn.get(tables.policies.handle, place);
  if (!value) return std::nullopt;
  return decoded(tables.policies, place, [&] { return decode_policy(place, *value); });
}

namespace {

// The last revision under that prefix that takes effect by that time.
std::optional<model::PolicyRecord> in_force(const Txn& txn, const Tables& tables, const KeyBytes& prefix, std::int64_t at_ms) {
  Cursor cursor(txn, tables.policy_index.handle);
  const KeyBytes beyond = KeyBytes(prefix).time(at_ms).u64(~std::uint64_t{0});
  if (!cursor.before(beyond) || !cursor.key().starts_with(prefix.view())) return std::nullopt;
  const std::size_t time_at = prefix.view().size();
  return read_policy(txn, tables, tenant_of(prefix), {read_time(cursor.key(), time_at), read_be(cursor.key(), time_at + 8, 8)});
}

}  // namespace

std::optional<model::PolicyRecord> policy_at(const Txn& txn, const Tables& tables, model::TenantId tenant, std::string_view policy,
                                             std::int64_t at_ms) {
  return in_force(txn, tables, policy_times_prefix(tenant, policy), at_ms);
}

std::vector<model::PolicyRecord> policies_at(const Txn& txn, const Tables& tables, model::TenantId tenant, std::int64_t at_ms) {
  std::vector<model::PolicyRecord> policies;
  const KeyBytes heads = part_key(tenant, PolicyPart::head, {});
  Cursor cursor(txn, tables.policy_index.handle);
  for (bool more = cursor.at_or_after(heads); more && cursor.key().starts_with(heads.view()); more = cursor.next()) {
    const std::string_view half = cursor.key().substr(heads.view().size());
    if (auto policy = in_force(txn, tables, part_key(tenant, PolicyPart::time, half), at_ms)) policies.push_back(std::move(*policy));
  }
  std::sort(policies.begin(), policies.end(), [](const auto& a, const auto& b) { return a.policy < b.policy; });
  return policies;
}

}  // namespace runwarden::store
