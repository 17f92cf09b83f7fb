// One write transaction and all that the writes in it share. For the files of store/ only; the writing thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/lmdb/group_changes.h"
#include "store/lmdb/env.h"
#include "store/lmdb/ledger_writer.h"
#include "store/lmdb/message_writer.h"
#include "store/lmdb/open_run_index.h"
#include "store/lmdb/space_accounting.h"
#include "store/lmdb/tables.h"
#include "store/lmdb/time_bucket_counts.h"

namespace runwarden::store {

// How long answers to idempotency identities are kept.
struct IdempotencyTimes {
  std::int64_t now_ms = 0;
  std::int64_t keep_ms = 0;
};

constexpr std::uint64_t kUsualMaxClusters = 100'000;

struct WriteBatch {
  WriteTxn& txn;
  const Tables& tables;
  SpaceAccounting& room;
  IdempotencyTimes times;
  TimeBucketCounts counts;

  // What the index of open runs is to learn when the transaction is committed.
  struct OpenRunChange {
    RunPlace place;
    std::uint32_t revision = 1;
    std::optional<OpenRunIndex::Part> part;  // nothing: it is open no longer
    OpenRunIndex::Awaits awaits = OpenRunIndex::Awaits::events;
  };
  std::vector<OpenRunChange> open_runs;
  std::span<const std::string> sealed = {};  // of the write being applied: values that were made of it beforehand
  OpenRunIndex* claims = nullptr;            // who holds which run; null: nobody claims any

  GroupChanges groups = {};
  std::optional<MessageWriter> messages = {};          // nothing: nobody is told of what the transaction does
  std::optional<LedgerWriter> ledger = {};             // nothing: nothing that is done makes an entry, and nothing that has one is deleted
  std::uint64_t max_clusters = kUsualMaxClusters;      // of a tenant
  std::span<const std::string> dimension_names = {};  // for runs of a store that kept no dimensions
};

}  // namespace runwarden::store
