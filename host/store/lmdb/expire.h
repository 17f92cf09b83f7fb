// Deletes what is too old, oldest first, a few records a transaction. For the files of store/ only; the writing thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "store/queries.h"
#include "store/lmdb/write_batch.h"

namespace runwarden::store {

Expired expire_in(WriteBatch& batch, const Retention& retention, std::size_t most);

}  // namespace runwarden::store
