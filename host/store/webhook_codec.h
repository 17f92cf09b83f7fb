// Encodes and decodes endpoints and deliveries. Internal to store/. Pure; any thread. Decoders throw BadValue.
#pragma once

#include <string>
#include <string_view>

#include "model/webhook.h"
#include "store/envelope.h"

namespace runwarden::store {

std::string encode_endpoint(std::string_view key, const model::Endpoint& endpoint);
model::Endpoint decode_endpoint(std::string_view key, std::string_view value);

// The body of the value is the body as sent.
std::string encode_delivery(std::string_view key, const model::Delivery& delivery);
model::Delivery decode_delivery_head(std::string_view key, std::string_view value);
model::Delivery decode_delivery(std::string_view key, std::string_view value);

}  // namespace runwarden::store
