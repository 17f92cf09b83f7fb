// One write transaction and all that its writes share. Internal to store/; the writing thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/lmdb/group_changes.h"
#include "store/lmdb/ledger_writer.h"
#include "store/lmdb/message_writer.h"
#include "store/lmdb/open_run_index.h"
#include "store/lmdb/space_accounting.h"
#include "store/lmdb/tables.h"
#include "store/lmdb/time_bucket_counts.h"
#include "store/lmdb/txn.h"

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

  // What the index of open runs learns once the transaction is committed.
  struct OpenRunChange {
    RunKey place;
    std::uint32_t revision = 1;
    std::optional<OpenRunIndex::Part> part;  // nothing: it is not open
    OpenRunIndex::Awaits awaits = OpenRunIndex::Awaits::events;
  };
  std::vector<OpenRunChange> open_runs;
  std::span<const std::string> sealed = {};  // of the write being applied: the values encoded in advance
  OpenRunIndex* claims = nullptr;            // who holds which run; null: no run is claimed

  GroupChanges groups = {};
  std::optional<MessageWriter> messages = {};         // nothing: the transaction sends no messages
  std::optional<LedgerWriter> ledger = {};            // nothing: the transaction makes no entries, and deletes nothing that has one
  std::uint64_t max_clusters = kUsualMaxClusters;     // per tenant
  std::span<const std::string> dimension_names = {};  // for runs of a store that kept no dimensions
};

}  // namespace runwarden::store
