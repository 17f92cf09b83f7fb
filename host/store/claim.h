// A claim on an open run, which lets its owner end that run. A value; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "model/record_key.h"
#include "model/run_record.h"

namespace runwarden::store {

// The right to end an open run. It covers the first `upto` of its events, and is valid until it is used or released, or until the run is
// claimed again after the lease.
struct Claim {
  model::TenantId tenant = 0;
  model::RecordKey run;
  std::string run_id;
  std::uint32_t revision = 1;
  std::uint32_t previous = 0;  // events of previous revisions
  std::uint32_t upto = 0;      // of all events so far, including those
  model::RunSource source = model::RunSource::client;
  bool root_arrived = false;   // as in RunRecord
  std::uint64_t end_mark = 0;  // likewise
  model::Resolution resolution = model::Resolution::idle;
  std::int64_t first_ms = 0;  // receipt of this revision's first event
  std::uint64_t token = 0;    // unique to this claim
};

}  // namespace runwarden::store
