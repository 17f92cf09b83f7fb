// Changes and policy revisions in the LMDB tables. Internal to store/; the transaction's thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/change_record.h"
#include "model/record_key.h"
#include "store/change_writes.h"
#include "store/lmdb/write_batch.h"
#include "store/write_result.h"

namespace runwarden::store {

// The byte that follows the tenant in the keys of the policy index; then comes half a digest of the policy's name.
enum class PolicyPart : std::uint8_t {
  head = 0,      // -> the policy's name, and the highest whole number among its revisions
  time = 1,      // time, seq of a revision: when it takes effect; no value
  revision = 2,  // half a digest of the revision -> its place
};
KeyBytes policy_times_prefix(model::TenantId tenant, std::string_view policy);

// Adds a policy revision's entries to the index.
void enter_policy(WriteBatch& batch, model::TenantId tenant, const model::PolicyRecord& policy);
// The place of that revision of the policy.
std::optional<model::RecordKey> place_of_revision(const Txn& txn, const Tables& tables, model::TenantId tenant,
                                                  const model::PolicyRecord& policy);
KeyBytes policy_name_key(model::TenantId tenant, std::string_view policy);
// Notes a policy's name, and its revision if that is the highest whole number so far; false if that changes nothing.
bool raise_revision(WriteBatch& batch, model::TenantId tenant, const std::string& policy, const std::string& revision);

WriteResult write_change(WriteBatch& batch, const ChangeWrite& write);
WriteResult write_policy(WriteBatch& batch, const PolicyWrite& write);
bool erase_change(WriteBatch& batch, model::TenantId tenant, const model::RecordKey& key);
bool erase_policy(WriteBatch& batch, model::TenantId tenant, const model::RecordKey& key);

std::optional<model::ChangeRecord> read_change(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::RecordKey& key);
std::optional<model::PolicyRecord> read_policy(const Txn& txn, const Tables& tables, model::TenantId tenant, const model::RecordKey& key);
std::optional<model::PolicyRecord> policy_at(const Txn& txn, const Tables& tables, model::TenantId tenant, std::string_view policy,
                                             std::int64_t at_ms);
std::vector<model::PolicyRecord> policies_at(const Txn& txn, const Tables& tables, model::TenantId tenant, std::int64_t at_ms);

}  // namespace runwarden::store
