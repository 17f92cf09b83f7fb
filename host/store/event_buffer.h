// Runs that are open: which are due, and who may end each. What is buffered comes in and goes out by writes (EventsWrite, and
// RunWrite with a claim).
//
// Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/records.h"
#include "store/errors.h"
#include "store/queries.h"
#include "store/writes.h"

namespace runwarden::store {

class EventBuffer {
 public:
  virtual ~EventBuffer() = default;

  // Open runs that are to be ended, at most that many; nobody else is given them until the lease ends. Time runs by the
  // monotonic clock; after a start every run is taken as just heard of.
  virtual std::vector<Claim> claim(const BufferRules& rules, std::size_t most, std::int64_t lease_ms) = 0;
  // That open run, to be ended for that reason unless one is set already; nothing while another holds it, or if it is not open.
  virtual std::optional<Claim> claim_run(model::TenantId tenant, const model::RecordKey& run, model::Resolution resolution,
                                         std::int64_t lease_ms) = 0;
  // Gives a claim back unused. One that is good no longer changes nothing.
  virtual void release(const Claim& claim) = 0;
  // Lets the leases end that much later than now. Says of each claim, in order, whether it is still good.
  virtual std::vector<bool> renew(std::span<const Claim> claims, std::int64_t lease_ms) = 0;
  virtual ClaimedRun fetch(const Claim& claim) = 0;

  // How many runs are open, of all tenants and on all hosts: from memory, so that every request may ask. What others opened a moment ago
  // may be missing.
  virtual std::uint64_t open_count() = 0;
  virtual OpenRuns open_runs() = 0;
};

}  // namespace runwarden::store
