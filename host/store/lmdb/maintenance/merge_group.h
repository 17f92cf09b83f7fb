// Merges a group from an export into a store. Internal to store/; the writing thread.
#pragma once

#include <cstdint>

#include "store/cluster_merge.h"
#include "store/lmdb/write_batch.h"
#include "store/record_lines.h"

namespace runwarden::store {

enum class Merged : std::uint8_t {
  changed,
  unchanged,
  left_out,  // nothing was decided about it and it has no failures here, or the tenant has too many groups
};

// Flush the batch first: the group's failures count by themselves, and the line adds what they do not say. Keeps the earlier first time and
// the later decision.
Merged merge_group(WriteBatch& batch, model::TenantId tenant, const GroupLine& line, Brings brings);

}  // namespace runwarden::store
