// Where records are kept: the parts of one store, which an engine stands behind. Who needs a part takes that part; the whole is for
// whoever opens the store.
//
// Any thread. A write that returned, or was told to be stored, is on stable storage. What writes and returns only then waits for what is
// being written: while serving, it belongs into WriteQueue::run_between().
#pragma once

#include "store/capacity.h"
#include "store/errors.h"
#include "store/event_buffer.h"
#include "store/group_store.h"
#include "store/key_store.h"
#include "store/ledger_store.h"
#include "store/maintenance.h"
#include "store/opinion_store.h"
#include "store/review_store.h"
#include "store/run_store.h"
#include "store/webhook_store.h"
#include "store/write_queue.h"

namespace runwarden::store {

class Store : public RunStore, public EventBuffer, public KeyStore, public Maintenance, public Capacity, public WriteQueue {
 public:
  // Groups of failures and the counts of the page; valid as long as the store.
  virtual GroupStore& groups() = 0;
  // Endpoints and deliveries of webhooks; likewise.
  virtual WebhookStore& webhooks() = 0;
  // Reviews of failures and runs; likewise.
  virtual ReviewStore& reviews() = 0;
  // What a model is asked about runs; likewise.
  virtual OpinionStore& opinions() = 0;
  // What was committed, in which order; likewise.
  virtual LedgerStore& ledger() = 0;
};

}  // namespace runwarden::store
