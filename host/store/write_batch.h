// One write transaction and all that the writes in it share. For the files of store/ only; the writing thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "store/lmdb_env.h"
#include "store/open_run_index.h"
#include "store/room.h"
#include "store/tables.h"
#include "store/tally.h"

namespace runwarden::store {

// How long answers to idempotency identities are kept.
struct IdempotencyTimes {
  std::int64_t now_ms = 0;
  std::int64_t keep_ms = 0;
};

struct WriteBatch {
  WriteTxn& txn;
  const Tables& tables;
  Room& room;
  IdempotencyTimes times;
  Tally tally;

  // What the index of open runs is to learn when the transaction is committed.
  struct OpenRunChange {
    RunPlace place;
    std::uint32_t revision = 1;
    std::optional<OpenRunIndex::Part> part;  // nothing: it is open no longer
  };
  std::vector<OpenRunChange> open_runs;
};

}  // namespace runwarden::store
