// One transaction of writes. One round trip reads what the writes need to know; each write is decided in order; another round trip writes
// the outcome. One thread, the lane's.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "store/commit_queue.h"
#include "store/ledger_appender.h"
#include "store/postgres/batch_effects.h"
#include "store/postgres/connection.h"
#include "store/postgres/open_run_hints.h"
#include "store/queries.h"

namespace runwarden::store::postgres {

struct BatchRules {
  std::int64_t start = 0;  // of the process
  int lane = 0;
  std::int64_t epoch = 0;   // of the lane: the transaction fails if it has been raised
  std::int64_t number = 0;  // of the batch
  std::int64_t now_ms = 0;  // of the database
  std::int64_t keep_idempotency_ms = 0;
  std::string host;  // names the canary
  BufferRules buffer;
  EffectRules effects;
  std::atomic<bool>* ledger = nullptr;  // whether records make entries; see BatchLedger
  OpenRunHints* hints = nullptr;        // of the lane
};

// The lane's row has another epoch or is gone: nothing of the batch may be written.
struct LostLane : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Batch {
 public:
  // The writes and the results must outlive it.
  Batch(std::span<const SealedWrite> writes, std::span<WriteResult> results, BatchRules rules);
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // Begins the transaction and does everything except COMMIT. The results are valid once the batch is committed. Returns the statements of
  // the last round trip, which end with COMMIT. Throws PgFault and LostLane; BadValue if a value that all writes share cannot be read.
  std::vector<Connection::Statement> write(Connection& connection);

  void note_hints() const;      // for the batches after this one, once it is committed
  std::int64_t opened() const;  // runs opened, minus runs ended
  // If true, the last statement but one from write() answers with the number of the note.
  bool changes_policies() const;
  // One time on each day that its records belong to.
  std::vector<std::int64_t> days() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Prepares what does not depend on the order of the writes: the sealed values and, if the write makes one, its ledger entry. Any thread.
SealedWrite seal_write(Write write, LedgerAppender::Records records);

}  // namespace runwarden::store::postgres
