// One transaction of writes: what they need to know is read in one round trip, each is decided in its order, and what came of all is
// written in another. One thread, the lane's.
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
#include "store/queries.h"

namespace runwarden::store::postgres {

struct BatchRules {
  std::int64_t start = 0;  // of the process
  int lane = 0;
  std::int64_t epoch = 0;   // of the lane: the transaction fails if another has raised it
  std::int64_t number = 0;  // of the batch
  std::int64_t now_ms = 0;  // of the database
  std::int64_t keep_idempotency_ms = 0;
  std::string host;  // whose canary it is
  BufferRules buffer;
  EffectRules effects;
  std::atomic<bool>* ledger = nullptr;  // whether records make entries, as BatchLedger says
};

// The lane's row says another epoch, or is not there: nothing of the batch may be written.
struct LostLane : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Batch {
 public:
  // The writes and the results have to outlive it.
  Batch(std::span<const SealedWrite> writes, std::span<WriteResult> results, BatchRules rules);
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // Begins the transaction and does all but COMMIT; results are those of a batch that will be committed. Says what belongs into the round trip
  // of COMMIT, which ends it. Throws PgFault, LostLane; BadValue where something that all share cannot be read.
  std::vector<Connection::Statement> write(Connection& connection);

  std::int64_t opened() const;  // runs, less those that ended
  // Then the last statement but one of those that write() returned answers the number of the note.
  bool changes_policies() const;
  // A time of each day that its records are of.
  std::vector<std::int64_t> days() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What of a write needs no place in the order; its entry in the ledger, where it makes one. Any thread.
SealedWrite seal_write(Write write, LedgerAppender::Records records);

}  // namespace runwarden::store::postgres
