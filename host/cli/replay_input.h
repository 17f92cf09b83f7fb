// Runs as they were judged, to be judged again: out of bundles, or out of a store. [main] only, but what a JudgedRun calls: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "cli/command_store.h"
#include "cli/replay_compare.h"
#include "model/redact_settings.h"
#include "store/queries.h"

namespace runwarden::cli {

// A run, or why there is none in its place.
struct ReplayInput {
  RunPlace place;
  Result<JudgedRun> run;
};

// What the file holds. `see`: what detectors of the service that judged it see of a run with secrets, which a bundle does not say.
ReplayInput read_bundle(const std::string& file, model::RedactSettings::DetectorsSee see);

struct StoredRunsQuery {
  std::string tenant;                           // its name
  std::int64_t since_ms = store::kBeginningMs;  // of receipt, inclusive
  std::int64_t until_ms = store::kEndMs;        // exclusive
  std::size_t limit = 0;                        // 0: no limit
  model::RedactSettings::DetectorsSee see = model::RedactSettings::DetectorsSee::before;
  // What is in force in the service, as far as its configuration says; for detectors of which no failure is stored.
  std::vector<detect::DetectorInfo> in_force;
};

// Hands every resolved run of the query to `take`, newest first, by its latest revision; read page by page, so that a serving process is
// not held up. `opened` outlives the runs. Ends where `take` answers false.
void read_stored_runs(const TenantStore& opened, const StoredRunsQuery& query, const std::function<bool(ReplayInput input)>& take);

}  // namespace runwarden::cli
