#include "api/gauges.h"

namespace runwarden::api {
namespace {

void read_request_gauges(const GaugeSources& from, ops::Gauges& gauges) {
  const FairBudget::State in_flight = from.requests.in_flight.state();
  gauges.requests_in_flight = in_flight.leases;
  gauges.request_bytes_in_flight = in_flight.bytes;
  gauges.replies = {{"reads", from.replies.reads.state()}, {"ingest", from.replies.ingest.state()}, {"open", from.replies.open.state()}};
  gauges.batch_result_bytes = from.requests.results.state().bytes;
}

void read_store_gauges(const GaugeSources& from, ops::Gauges& gauges) {
  const auto queue = from.queue.depth();
  gauges.queue_depth = queue.items;
  gauges.queue_bytes = queue.bytes;
  const store::SpaceStatus room = from.store.space();
  gauges.store_used_bytes = room.used_bytes;
  gauges.store_map_bytes = room.limit_bytes;
  gauges.store_file_bytes = room.disk_bytes;
  gauges.store_refusing = room.refusing;
  gauges.engine = from.store.samples();
  const store::OpenRuns open = from.store.open_runs();
  gauges.open_runs = open.count;
  gauges.oldest_open_run_ms = open.oldest_age_ms;
}

void read_detector_gauges(const GaugeSources& from, ops::Gauges& gauges) {
  gauges.abandoned_calls = from.pool.abandoned();
  gauges.crash_marks = from.crash_marks.count();
  for (const detect::DetectorInfo& one : from.detectors()->list()) {
    if (one.loaded) gauges.detectors_quarantined.emplace(one.key, one.quarantined);
  }
}

void read_webhook_gauges(const GaugeSources& from, ops::Gauges& gauges) {
  const webhooks::DispatchState webhooks = from.dispatcher.state();
  gauges.webhooks_pending = webhooks.pending;
  gauges.webhooks_dead = webhooks.dead;
  gauges.webhooks_oldest_pending_ms = webhooks.oldest_pending_ms;
}

void read_opinion_gauges(const GaugeSources& from, ops::Gauges& gauges) {
  if (from.second_opinion == nullptr) return;
  const opinion::WorkerState opinions = from.second_opinion->state();
  gauges.opinions_waiting = opinions.queue.waiting;
  gauges.opinions_dead = opinions.queue.dead;
  gauges.opinions_oldest_ms = opinions.oldest_ms;
}

void read_ledger_gauges(const GaugeSources& from, ops::Gauges& gauges) {
  const ops::LedgerCheckpoints* const checkpoints = from.housekeeping.checkpoints();
  if (checkpoints == nullptr) return;
  const ops::LedgerCheckpoints::State ledger = checkpoints->state();
  gauges.ledger_entries = ledger.entries;
  gauges.ledger_checkpoint_age_ms = ledger.age_ms;
}

}  // namespace

ops::Gauges read_gauges(const GaugeSources& from) {
  ops::Gauges gauges;
  gauges.log_lines_dropped = from.log.dropped_lines();
  read_request_gauges(from, gauges);
  read_store_gauges(from, gauges);
  read_detector_gauges(from, gauges);
  gauges.clock_in_doubt = from.clock.in_doubt();
  gauges.retention_lag_ms = from.housekeeping.maintenance().lag_ms();
  read_webhook_gauges(from, gauges);
  read_opinion_gauges(from, gauges);
  read_ledger_gauges(from, gauges);
  return gauges;
}

void add_counts(ops::Gauges& gauges, const http::ServerCounts& counts) {
  gauges.connections += counts.connections_open;
  gauges.connections_accepted += counts.connections_accepted;
  gauges.accept_pauses += counts.accept_pauses;
  gauges.framing_errors += counts.framing_errors;
  gauges.timeouts += counts.timeouts;
  gauges.answers_dropped += counts.answers_dropped;
}

}  // namespace runwarden::api
