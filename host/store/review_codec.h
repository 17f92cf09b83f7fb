// Encodes and decodes reviews, and the counts of reviews of a day. Internal to store/. Pure; any thread. Decoders throw BadValue.
#pragma once

#include <string>
#include <string_view>

#include "model/review.h"
#include "store/envelope.h"
#include "store/review_store.h"

namespace runwarden::store {

std::string encode_review(std::string_view key, const model::Review& review);
model::Review decode_review_head(std::string_view key, std::string_view value);  // without its document
model::Review decode_review(std::string_view key, std::string_view value);

std::string encode_review_counts(std::string_view key, const ReviewedVersion& version);
ReviewedVersion decode_review_counts(std::string_view key, std::string_view value);

}  // namespace runwarden::store
