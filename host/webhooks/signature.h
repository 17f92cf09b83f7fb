// Signs messages according to the Standard Webhooks specification 1.0.0 (symmetric). Pure, except for make_secret(). Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/webhook.h"

namespace runwarden::webhooks {

// kSecretBytes random bytes.
std::string make_secret();
// "whsec_" and the bytes in Base64: the form that receivers get.
std::string secret_text(std::string_view secret);

// "v1," and the Base64 of HMAC-SHA256 over "id.timestamp.body".
std::string signature(std::string_view secret, std::string_view id, std::int64_t timestamp_s, std::string_view body);
// The value of webhook-signature: one signature per secret that is valid at `now_ms`, separated by spaces.
std::string signatures(const model::Endpoint& endpoint, std::string_view id, std::int64_t now_ms, std::string_view body);

}  // namespace runwarden::webhooks
