#include "api/router.h"

#include <algorithm>
#include <optional>

#include "base/hex.h"

namespace runwarden::api {
namespace {

constexpr Route kRoutes[] = {
    {RouteId::ingest_runs, "/v1/ingest/runs", "POST", Access::ingest},
    {RouteId::ingest_events, "/v1/ingest/events", "POST", Access::ingest},
    {RouteId::ingest_changes, "/v1/ingest/changes", "POST", Access::ingest},
    {RouteId::ingest_policies, "/v1/ingest/policies", "POST", Access::ingest},
    {RouteId::otlp_traces, "/v1/ingest/otlp", "POST", Access::ingest, true},
    {RouteId::otlp_traces, "/v1/ingest/otlp/v1/traces", "POST", Access::ingest, true},
    {RouteId::otlp_unused, "/v1/ingest/otlp/v1/metrics", "POST", Access::ingest, true},
    {RouteId::otlp_unused, "/v1/ingest/otlp/v1/logs", "POST", Access::ingest, true},
    {RouteId::analyze, "/v1/analyze", "POST", Access::read},
    {RouteId::runs, "/v1/runs", "GET", Access::read},
    {RouteId::run, "/v1/runs/{runId}", "GET", Access::read},
    {RouteId::run_mapping, "/v1/runs/{runId}/mapping", "GET", Access::read},
    {RouteId::explanation, "/v1/runs/{runId}/explain", "GET", Access::read},
    {RouteId::bundle, "/v1/runs/{runId}/bundle", "GET", Access::read},
    {RouteId::run_review, "/v1/runs/{runId}/review", "POST", Access::manage},
    {RouteId::run_review, "/v1/runs/{runId}/review", "DELETE", Access::manage},
    {RouteId::run_review_history, "/v1/runs/{runId}/review/history", "GET", Access::read},
    {RouteId::failures, "/v1/failures", "GET", Access::read},
    {RouteId::failure, "/v1/failures/{failureId}", "GET", Access::read},
    {RouteId::investigation, "/v1/failures/{failureId}/investigation", "GET", Access::read},
    {RouteId::failure_guardrail, "/v1/failures/{failureId}/guardrail", "GET", Access::read},
    {RouteId::failure_review, "/v1/failures/{failureId}/review", "POST", Access::manage},
    {RouteId::failure_review, "/v1/failures/{failureId}/review", "DELETE", Access::manage},
    {RouteId::failure_review_history, "/v1/failures/{failureId}/review/history", "GET", Access::read},
    {RouteId::candidates, "/v1/candidates", "GET", Access::read},
    {RouteId::changes, "/v1/changes", "GET", Access::read},
    {RouteId::policies, "/v1/policies", "GET", Access::read},
    {RouteId::policy, "/v1/policies/{policy}", "GET", Access::read},
    {RouteId::detectors, "/v1/detectors", "GET", Access::read},
    {RouteId::clusters, "/v1/clusters", "GET", Access::read},
    {RouteId::cluster, "/v1/clusters/{clusterId}", "GET", Access::read},
    {RouteId::cluster_history, "/v1/clusters/{clusterId}/history", "GET", Access::read},
    {RouteId::differences, "/v1/clusters/{clusterId}/differences", "GET", Access::read},
    {RouteId::cluster_guardrail, "/v1/clusters/{clusterId}/guardrail", "GET", Access::read},
    {RouteId::triage, "/v1/clusters/{clusterId}/triage", "POST", Access::manage},
    {RouteId::timeline, "/v1/timeline", "GET", Access::read},
    {RouteId::baseline, "/v1/baseline", "GET", Access::read},
    {RouteId::dimensions, "/v1/dimensions", "GET", Access::read},
    {RouteId::tail, "/v1/tail", "GET", Access::read},
    {RouteId::ledger, "/v1/ledger", "GET", Access::read},
    {RouteId::ledger_proof, "/v1/ledger/proof", "GET", Access::read},
    {RouteId::ledger_consistency, "/v1/ledger/consistency", "GET", Access::read},
    {RouteId::webhooks, "/v1/webhooks", "GET", Access::read},
    {RouteId::webhooks, "/v1/webhooks", "POST", Access::manage},
    {RouteId::webhook, "/v1/webhooks/{endpointId}", "GET", Access::read},
    {RouteId::webhook, "/v1/webhooks/{endpointId}", "DELETE", Access::manage},
    {RouteId::webhook_rotate, "/v1/webhooks/{endpointId}/rotate", "POST", Access::manage},
    {RouteId::webhook_test, "/v1/webhooks/{endpointId}/test", "POST", Access::manage},
    {RouteId::webhook_enable, "/v1/webhooks/{endpointId}/enable", "POST", Access::manage},
    {RouteId::webhook_disable, "/v1/webhooks/{endpointId}/disable", "POST", Access::manage},
    {RouteId::webhook_deliveries, "/v1/webhooks/{endpointId}/deliveries", "GET", Access::read},
    {RouteId::webhook_replay, "/v1/webhooks/{endpointId}/replay", "POST", Access::manage},
    {RouteId::openapi, "/v1/openapi.json", "GET", Access::read},
    {RouteId::healthz, "/healthz", "GET", Access::open},
    {RouteId::readyz, "/readyz", "GET", Access::open},
    {RouteId::metrics, "/metrics", "GET", Access::open},
    {RouteId::session, "/v1/session", "GET", Access::session},
    {RouteId::session, "/v1/session", "POST", Access::session},
    {RouteId::session, "/v1/session", "DELETE", Access::session},
};

constexpr Route kPageRoutes[] = {
    {RouteId::page_root, "/", "GET", Access::page},
    {RouteId::page_root, "/ui", "GET", Access::page},
    {RouteId::page_file, "/ui/assets/{file}", "GET", Access::page},
    {RouteId::page, "/ui/*", "GET", Access::page},
};

enum class Plus : std::uint8_t { literal, space };

// Percent-decodes the text (RFC 3986, section 2.1). Empty for a bad escape or an encoded NUL.
std::optional<std::string> decode(std::string_view raw, Plus plus) {
  std::string text;
  text.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '%') {
      text += raw[i] == '+' && plus == Plus::space ? ' ' : raw[i];
      continue;
    }
    if (raw.size() - i < 3) return std::nullopt;
    const int high = hex_digit(raw[i + 1]);
    const int low = hex_digit(raw[i + 2]);
    if (high < 0 || low < 0 || high + low == 0) return std::nullopt;
    text += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return text;
}

Error bad_escape(std::string_view where) {
  return {Code::bad_request, "the " + std::string(where) + " has a broken percent escape, or an escaped NUL; write % as %25", {}, {}};
}

// Removes the first segment of "/a/b" and returns it; the rest keeps its slash.
std::string_view next_segment(std::string_view& path) {
  path.remove_prefix(1);
  const auto end = std::min(path.find('/'), path.size());
  const auto segment = path.substr(0, end);
  path.remove_prefix(end);
  return segment;
}

// Whether the raw segment spells the text. Most have no escape and need no decoded copy: each request is compared with every route.
bool spells(std::string_view raw, std::string_view text) {
  if (raw.find('%') == std::string_view::npos) return raw == text;
  return decode(raw, Plus::literal) == text;
}

// The raw segment of each `{...}`; empty if the path does not match.
std::optional<std::vector<std::string_view>> fit(std::string_view pattern, std::string_view path) {
  std::vector<std::string_view> parameters;
  while (!pattern.empty() && !path.empty()) {
    const auto wanted = next_segment(pattern);
    if (wanted == "*") return parameters;
    const auto got = next_segment(path);
    if (wanted.starts_with('{')) {
      if (got.empty()) return std::nullopt;
      parameters.push_back(got);
    } else if (!spells(got, wanted)) {
      return std::nullopt;
    }
  }
  if (!pattern.empty() || !path.empty()) return std::nullopt;
  return parameters;
}

bool serves(const Route& route, std::string_view method) {
  return method == route.method || (method == "HEAD" && route.method == "GET");
}

}  // namespace

bool takes_query(const Route& route) {
  switch (route.access) {
    case Access::open:
    case Access::page:
    case Access::session: return true;  // browsers and probes add members of their own, to get past caches
    default: break;
  }
  switch (route.id) {
    case RouteId::failure:
    case RouteId::investigation:
    case RouteId::openapi:
    case RouteId::webhook: return false;
    default: return route.method != "POST";
  }
}

std::span<const Route> routes() {
  return kRoutes;
}

std::span<const Route> page_routes() {
  return kPageRoutes;
}

Result<Match> match(std::string_view method, std::string_view raw_path) {
  Match found;
  if (!raw_path.starts_with('/')) return found;
  const auto take = [&](const Route& route) -> Status {
    const bool slash = route.slash_too && raw_path.ends_with('/');
    const auto raw_parameters = fit(route.pattern, slash ? raw_path.substr(0, raw_path.size() - 1) : raw_path);
    if (!raw_parameters) return Nothing{};
    found.allow += found.allow.empty() ? "" : ", ";
    found.allow += route.method == "GET" ? "GET, HEAD" : std::string(route.method);
    if (found.route != nullptr && found.method_allowed) return Nothing{};
    found.route = &route;
    found.method_allowed = serves(route, method);
    found.parameters.clear();
    for (const auto raw : *raw_parameters) {
      auto text = decode(raw, Plus::literal);
      if (!text) return bad_escape("path");
      found.parameters.push_back(std::move(*text));
    }
    return Nothing{};
  };
  for (const Route& route : routes()) {
    if (Status taken = take(route); !taken.ok()) return std::move(taken.error());
  }
  for (const Route& route : page_routes()) {
    if (found.route != nullptr) break;
    if (Status taken = take(route); !taken.ok()) return std::move(taken.error());
  }
  return found;
}

Result<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view raw_query) {
  std::vector<std::pair<std::string, std::string>> members;
  while (!raw_query.empty()) {
    const auto end = std::min(raw_query.find('&'), raw_query.size());
    const auto member = raw_query.substr(0, end);
    raw_query.remove_prefix(std::min(end + 1, raw_query.size()));
    if (member.empty()) continue;
    const auto equals = std::min(member.find('='), member.size());
    auto name = decode(member.substr(0, equals), Plus::space);
    auto value = decode(member.substr(std::min(equals + 1, member.size())), Plus::space);
    if (!name || !value) return bad_escape("query");
    const bool twice = std::any_of(members.begin(), members.end(), [&](const auto& one) { return one.first == *name; });
    if (twice) return Error{Code::bad_request, "the query names \"" + *name + "\" twice; send it once", {}, {}};
    members.emplace_back(std::move(*name), std::move(*value));
  }
  return members;
}

}  // namespace runwarden::api
