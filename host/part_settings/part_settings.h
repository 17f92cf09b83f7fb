// What the configuration means for each part of the service, in that part's own words.
#pragma once

#include <string>

#include "api/api_server.h"
#include "base/work_pool.h"
#include "config/settings.h"
#include "ingest/ingest.h"
#include "opinion/worker.h"
#include "ops/housekeeping.h"
#include "store/open_store.h"
#include "webhooks/dispatcher.h"

namespace runwarden::part_settings {

// Of the pool that reads, judges and answers. A thread for each processor works; with a database, as many as it has connections for reading
// can wait for its answers.
WorkPool::Size work_threads(const config::Settings& settings);

// Of the driver postgres; nothing: another.
std::optional<store::PostgresTarget> postgres_target(const config::Settings& settings);
store::StoreSettings store_settings(const config::Settings& settings);  // without a listener
ingest::Ingest::Limits ingest_limits(const config::Settings& settings);
// The Error names what of webhooks.allow is not understood.
Result<webhooks::DispatchSettings> dispatch_settings(const config::Settings& settings);

// Of a second opinion that is switched on. The Error names what is wrong, as the configuration calls it: a URL that is not taken, a key
// that cannot be read, too little room for the prompts.
struct SecondOpinion {
  opinion::ModelEndpoint endpoint;
  opinion::WorkerSettings worker;
};
Result<SecondOpinion> second_opinion(const config::Settings& settings);

// ClockGuard::kNoLimit: unlimited.
std::int64_t max_clock_step_ms(const config::Settings& settings);
ops::Housekeeping::Settings housekeeping_settings(const config::Settings& settings);

api::ApiSettings api_settings(const config::Settings& settings);
// Those that a reload changes.
api::RequestLimits request_limits(const config::LimitsSection& limits);

// The changed settings that a reload does not take: "store.map_size, server.address"; empty if no restart is needed.
std::string keys_that_need_a_restart(const config::Settings& started_with, const config::Settings& fresh);

}  // namespace runwarden::part_settings
