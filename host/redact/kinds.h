// Finds secrets by their shape in plain text: card numbers, e-mail addresses, access tokens, account and phone numbers.
// Pure; any thread. Linear in the text's length: each byte is read a bounded number of times.
//
// The text must be normalized (redact/normal_text.h).
#pragma once

#include <bitset>
#include <cstddef>
#include <optional>
#include <string_view>

#include "model/redact_settings.h"
#include "redact/text_range.h"

namespace runwarden::redact {

using KindSet = std::bitset<model::kSecretKinds.size()>;

struct FoundSecret {
  TextRange at;
  model::SecretKind kind = model::SecretKind::card;
};

// The first secret of those kinds that begins at or after `from`. Text before `from` only determines word boundaries.
std::optional<FoundSecret> find_secret(std::string_view text, std::size_t from, KindSet kinds);

}  // namespace runwarden::redact
