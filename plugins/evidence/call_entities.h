#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/call_names.h"

namespace runwarden::plugins {

enum class EntityKind : std::uint8_t {
  kMail,
  kAccount,  // an account or card number
  kId,       // under a name for ids: "flight_number"
  kAddress,  // a web address with an unguessable code
  kPlace,    // a coordinate: a number with four or more decimals
  kAmount,   // under a name for amounts: "amount", "price"
};

/// Something in the real world that a call is about and that the agent must have learned from someone.
struct CallEntity {
  EntityKind kind = EntityKind::kId;
  std::string_view text;  // as written in the input
  std::string_view code;  // kAddress: the part that distinguishes it
  bool reserved = false;  // kMail: in a domain reserved for examples
};

/// Collects these values from a call's arguments, which are JSON text: mail addresses (also several in one text), account numbers, ids with
/// digits under names for ids, links with an opaque code, coordinates, amounts. Skips values that a client generates, such as
/// "idempotency_key", and values in running text. Replaces `out`; the views point into `input`. Linear.
void collect_call_entities(std::string_view input, const CallNames& names, std::vector<CallEntity>& out);

/// Where something can be sent to: an address of mail, a channel ("#harbour") or a telephone number.
struct Contact {
  enum class Kind : std::uint8_t { kMail, kChannel, kNumber };
  Kind kind = Kind::kMail;
  std::string_view text;
};

/// The next contact in running text from `at` on, which moves behind it; an empty one at the end. Linear over all of them.
[[nodiscard]] Contact next_contact(std::string_view text, std::size_t& at);

/// False for a text that holds none. Linear, and faster than looking for one.
[[nodiscard]] bool may_hold_contact(std::string_view text);

/// Collects up to `most` mail addresses in running text. Replaces `out`; the views point into `text`. Linear.
void collect_mails(std::string_view text, std::size_t most, std::vector<std::string_view>& out);

/// True when a text contains the value, ignoring case and blanks within it. Linear, except for values that begin alike.
[[nodiscard]] bool names_entity(std::string_view text, std::string_view value);

/// Like names_entity(), but false where the value is only a part of a longer word: "HAT" in "what".
[[nodiscard]] bool names_word(std::string_view text, std::string_view value);

}  // namespace runwarden::plugins
