#include "ops/housekeeping.h"

#include <utility>

namespace runwarden::ops {
namespace {

std::function<void(std::function<void()>)> poster(WorkPool& pool) {
  return [&pool](std::function<void()> work) { pool.post([work = std::move(work)](std::size_t) { work(); }); };
}

std::unique_ptr<LedgerCheckpoints> make_checkpoints(const Housekeeping::Parts& parts, std::int64_t interval_ms) {
  return std::make_unique<LedgerCheckpoints>(LedgerCheckpoints::Parts{.ledger = parts.store.ledger(),
                                                                      .queue = parts.queue,
                                                                      .clock = parts.clock,
                                                                      .post = poster(parts.pool),
                                                                      .tenant_name = parts.tenant_name,
                                                                      .log = parts.log.line_writer()},
                                             interval_ms);
}

}  // namespace

Housekeeping::Housekeeping(const Parts& parts, const Settings& settings)
    : clock_({.clock = parts.clock,
              .store = parts.store,
              .write = [&queue = parts.queue](auto job) { queue.run_between(std::move(job)); },
              .log = parts.log.line_writer()}),
      space_(parts.store, parts.clock, parts.log.text_writer()),
      maintenance_(parts.store, parts.queue, parts.clock, settings.periods, parts.log.text_writer()),
      ignores_(
          {.store = parts.store, .queue = parts.queue, .clock = parts.clock, .post = poster(parts.pool), .log = parts.log.line_writer()}),
      checkpoints_(settings.checkpoint_interval_ms ? make_checkpoints(parts, *settings.checkpoint_interval_ms) : nullptr) {
  clock_.tick();  // log a start in doubt before anything else
}

void Housekeeping::tick() {
  clock_.tick();
  space_.tick();
  ignores_.start_due();
  if (checkpoints_) checkpoints_->start_due();
}

}  // namespace runwarden::ops
