// Encodes and decodes second opinions. Internal to store/. Pure; any thread. Decoders throw BadValue.
#pragma once

#include <string>
#include <string_view>

#include "model/opinion.h"
#include "store/envelope.h"

namespace runwarden::store {

std::string encode_opinion(std::string_view key, const model::Opinion& opinion);
model::Opinion decode_opinion_head(std::string_view key, std::string_view value);  // without what the model said
model::Opinion decode_opinion(std::string_view key, std::string_view value);

// About how many bytes it takes in a store.
std::size_t stored_bytes(const model::Opinion& opinion);

}  // namespace runwarden::store
