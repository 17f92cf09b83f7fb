// Parses the JSON of requests about webhooks. Pure; any thread. validation_failed lists every fault.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/webhook.h"
#include "http_client/address_rules.h"

namespace runwarden::webhooks {

constexpr int kMostRequestDepth = 8;
constexpr std::int64_t kUsualOverlapMs = 24 * 3'600'000;
constexpr std::int64_t kLongestOverlapMs = 30 * 86'400'000LL;

// {"url", "events", "filter": {"detector", "minScore", "severity"}, "template", "description"}. The result has no key and no secret. A
// filter may name one of `detectors`: those that are configured, even if they are off.
Result<model::Endpoint> read_endpoint_request(std::string_view body, const http_client::AddressRules& rules,
                                              const std::vector<std::string>& detectors);
// The error for a URL whose host has an address that is not allowed.
Error address_not_allowed(std::string_view url);

// {"overlap": "24h"}: how long both secrets sign, in milliseconds.
Result<std::int64_t> read_rotation(std::string_view body);
std::optional<std::int64_t> read_overlap(std::string_view text);

// For requests without parameters: accepts no body, or {}.
Status check_nothing_asked(std::string_view body);

// {"deliveryId"}, or {"since", "state": "dead"}.
struct ReplayRequest {
  std::string delivery_id;  // empty: all dead ones since `since_ms`
  std::int64_t since_ms = 0;
};
Result<ReplayRequest> read_replay(std::string_view body);

// Enabling an endpoint also clears how long it has been failing.
void set_disabled(model::Endpoint& endpoint, model::Endpoint::Disabled disabled);
// Gives the endpoint a new secret. The previous one also signs for `overlap_ms`. conflict, and no change, while the one before still signs,
// unless `overlap_ms` is 0.
Status rotate(model::Endpoint& endpoint, std::int64_t overlap_ms, std::int64_t now_ms);

}  // namespace runwarden::webhooks
