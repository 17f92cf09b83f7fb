// Finds secrets by their shape in plain text: card numbers, e-mail addresses, access tokens, account and phone numbers.
// Pure; any thread. Linear in the text's length: each byte is looked at a bounded number of times.
//
// The text is a normal one (redact/normal_text.h): what is written in another way is not found.
#pragma once

#include <bitset>
#include <cstddef>
#include <optional>
#include <string_view>

#include "model/redact_settings.h"
#include "redact/stretch.h"

namespace runwarden::redact {

using KindSet = std::bitset<model::kSecretKinds.size()>;

struct SecretFound {
  Stretch at;
  model::SecretKind kind = model::SecretKind::card;
};

// The first secret of those kinds that begins at `from` or later. What stands before `from` only tells where words begin.
std::optional<SecretFound> find_secret(std::string_view text, std::size_t from, KindSet kinds);

}  // namespace runwarden::redact
