// Deletes records that are too old, oldest first, a few per transaction. Internal to store/; the writing thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "store/lmdb/write_batch.h"
#include "store/retention.h"

namespace runwarden::store {

Expired expire_in(WriteBatch& batch, const Retention& retention, std::size_t most);

}  // namespace runwarden::store
