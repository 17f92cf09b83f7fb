// What requests about webhooks ask for, read from their JSON. Pure; any thread. validation_failed lists every fault.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/webhook.h"
#include "http_client/address_rules.h"

namespace runwarden::webhooks {

constexpr int kMostRequestDepth = 8;
constexpr std::int64_t kUsualOverlapMs = 24 * 3'600'000;
constexpr std::int64_t kLongestOverlapMs = 30 * 86'400'000LL;

// {"url", "events", "filter": {"detector", "minScore", "severity"}, "template", "description"}; without key and secret.
Result<model::Endpoint> read_endpoint_request(std::string_view body, const http_client::AddressRules& rules);
// The refusal of a URL whose host has an address that is not allowed.
Error address_not_allowed(std::string_view url);

// {"overlap": "24h"}: how long both secrets sign, in milliseconds.
Result<std::int64_t> read_rotation(std::string_view body);
std::optional<std::int64_t> read_overlap(std::string_view text);

// Of requests that ask for nothing more than their path says: no body, or {}.
Status check_nothing_asked(std::string_view body);

// {"deliveryId"}, or {"since", "state": "dead"}.
struct ReplayRequest {
  std::string delivery_id;  // empty: the dead ones
  std::int64_t since_ms = 0;
};
Result<ReplayRequest> read_replay(std::string_view body);

// Enabled again, an endpoint has all the time to show that it works.
void set_disabled(model::Endpoint& endpoint, model::Endpoint::Disabled disabled);
// The endpoint with a new secret, and the one before it until then.
void rotate(model::Endpoint& endpoint, std::int64_t overlap_ms, std::int64_t now_ms);

}  // namespace runwarden::webhooks
