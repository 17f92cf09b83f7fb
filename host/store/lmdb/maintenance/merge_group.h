// A group of an export, joined with what a store has of it. For the files of store/ only; the writing thread.
#pragma once

#include <cstdint>

#include "store/lmdb/write_batch.h"
#include "store/record_lines.h"

namespace runwarden::store {

enum class Merged : std::uint8_t {
  changed,
  unchanged,
  left_out,  // nothing was decided about it and it has no failures here, or the tenant has too many groups for it
};

// What the batch gathered has to be flushed before: the group's failures count, and the line adds what they do not say. It is as old as
// the older of the two; of two decisions the later one holds.
Merged merge_group(WriteBatch& batch, model::TenantId tenant, const GroupLine& line);

}  // namespace runwarden::store
