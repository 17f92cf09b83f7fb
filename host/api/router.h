// Finds the route of a path. Compares segments with a table; uses no regular expressions. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace runwarden::api {

enum class RouteId : std::uint8_t {
  ingest_runs,
  ingest_events,
  ingest_changes,
  ingest_policies,
  otlp_traces,
  otlp_unused,  // metrics and logs: accepted and ignored
  analyze,
  runs,
  run,
  run_mapping,
  explanation,
  bundle,
  failures,
  failure,
  investigation,
  failure_guardrail,
  failure_review,
  failure_review_history,
  candidates,
  run_review,
  run_review_history,
  changes,
  policies,
  policy,
  detectors,
  clusters,
  cluster,
  cluster_history,
  differences,
  cluster_guardrail,
  triage,
  timeline,
  baseline,
  dimensions,
  tail,
  ledger,
  ledger_proof,
  ledger_consistency,
  webhooks,
  webhook,
  webhook_rotate,
  webhook_test,
  webhook_enable,
  webhook_disable,
  webhook_deliveries,
  webhook_replay,
  openapi,
  healthz,
  readyz,
  metrics,
  session,
  page_root,
  page_file,
  page,
};

// What a request needs: no key, or a key with that scope. `page`: files without data. `session`: begins and ends browser sessions.
enum class Access : std::uint8_t { open, ingest, read, manage, page, session };

struct Route {
  RouteId id;
  std::string_view pattern;  // as documented: "/v1/runs/{runId}"; `{...}` matches one segment, a final `*` the rest
  std::string_view method;   // GET also serves HEAD
  Access access;
  bool slash_too = false;  // also matches with a slash at the end
};

struct Match {
  const Route* route = nullptr;  // null: no such path
  bool method_allowed = false;
  std::string allow;                    // for the Allow field (RFC 9110, section 10.2.1)
  std::vector<std::string> parameters;  // the segment of each `{...}`, percent-decoded once
};

// False: the route's requests have no query. Other routes check the members of theirs.
bool takes_query(const Route& route);

// The documented routes.
std::span<const Route> routes();

// The routes of the web page, for browsers. If several match a path, the first one counts.
std::span<const Route> page_routes();

// Splits at `/` first, then decodes each segment once. bad_request for a bad escape or an encoded NUL.
Result<Match> match(std::string_view method, std::string_view raw_path);

// The members of a query string, percent-decoded (`+` is a space); bad_request for a bad escape or a name given twice.
Result<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view raw_query);

}  // namespace runwarden::api
