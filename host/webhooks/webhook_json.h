// Writes the JSON of webhooks for clients. Pure; any thread.
#pragma once

#include <string>

#include "model/webhook.h"

namespace runwarden::webhooks {

const char* name(model::Endpoint::Disabled why);  // "request", "gone", "failing"; empty: the endpoint is active

enum class SecretToo : std::uint8_t { no, yes };
std::string endpoint_json(const model::Endpoint& endpoint, SecretToo secret);
std::string delivery_json(const model::Delivery& delivery);

}  // namespace runwarden::webhooks
