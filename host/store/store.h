// The store of records, in parts, implemented by an engine. Code that needs one part takes only that part; only code that opens a store
// takes the whole.
//
// Any thread. When a write has returned, or was reported as stored, it is on stable storage. A function that writes before it returns waits
// for the writes in progress: while serving, call it in WriteQueue::run_between().
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
