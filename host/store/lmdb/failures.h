// Failures with their fingerprint index and their counts, in the LMDB tables. Internal to store/; the transaction's thread.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/failure_record.h"
#include "model/record_key.h"
#include "model/review.h"
#include "store/lmdb/groups.h"
#include "store/lmdb/write_batch.h"
#include "store/queries.h"
#include "store/record_codec.h"
#include "store/run_writes.h"

namespace runwarden::store {

// `value`: the failure as encode_failure() made it. A false alarm is put, but not counted.
void put_failure(WriteBatch& batch, model::TenantId tenant, const model::FailureRecord& failure, std::string_view value,
                 Addition comes = Addition::found);
// False if it is not there.
bool erase_failure(WriteBatch& batch, model::TenantId tenant, const model::RecordKey& key, Removal gone);

// Makes this the failure's last review. Its verdict decides whether the failure counts.
void note_reviewed(WriteBatch& batch, model::TenantId tenant, const model::Review& review);

// The failures of earlier revisions.
std::vector<EarlierFailure> earlier_failures(const Txn& txn, const Tables& tables, const RunKey& run);
// Puts what the next revision of the run found in the place of what `before` has. Returns it with the reviews of what earlier revisions
// had found, too.
std::vector<model::FailureRecord> replace_failures(WriteBatch& batch, const RunWrite& write, const StoredRun& before);

// With its review.
std::optional<model::FailureRecord> find_failure(const Txn& txn, const Tables& tables, model::TenantId tenant, std::string_view id);
FingerprintStats fingerprint_stats(const Txn& txn, const Tables& tables, model::TenantId tenant, std::string_view fingerprint);

}  // namespace runwarden::store
