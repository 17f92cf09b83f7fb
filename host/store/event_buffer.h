// Open runs: which are due, and who may end each. Buffered events come in and go out by writes (EventsWrite, and RunWrite with a claim).
//
// Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/record_key.h"
#include "model/run_record.h"
#include "store/claim.h"
#include "store/errors.h"
#include "store/queries.h"

namespace runwarden::store {

class EventBuffer {
 public:
  virtual ~EventBuffer() = default;

  // Claims at most `most` open runs that are due. No other caller gets them until the lease ends. Times follow the monotonic clock; after a
  // start, every run counts as heard of just now.
  virtual std::vector<Claim> claim(const BufferRules& rules, std::size_t most, std::int64_t lease_ms) = 0;
  // Claims one open run, to be ended for that reason unless it already has one; without a reason, only if its revision is complete. Returns
  // nothing if the run is claimed by another caller or not open.
  virtual std::optional<Claim> claim_run(model::TenantId tenant, const model::RecordKey& run, std::optional<model::Resolution> resolution,
                                         std::int64_t lease_ms) = 0;
  // Returns a claim unused. Does nothing if the claim is not valid.
  virtual void release(const Claim& claim) = 0;
  // Extends the leases to `lease_ms` from the time of the call. Returns for each claim, in order, whether it is still valid.
  virtual std::vector<bool> renew(std::span<const Claim> claims, std::int64_t lease_ms) = 0;
  virtual ClaimedRun fetch(const Claim& claim) = 0;

  // How many runs are open, of all tenants and on all hosts. Read from memory, so every request may call it. It may miss runs that other
  // hosts opened a moment ago.
  virtual std::uint64_t open_count() = 0;
  virtual OpenRuns open_runs() = 0;
};

}  // namespace runwarden::store
