#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace runwarden::plugins {

enum class EntityKind : std::uint8_t {
  kMail,
  kAccount,  // an account's number, a card's
  kId,       // under a name that says so: "flight_number"
  kAddress,  // of a thing on the net, by a code that nobody guesses
  kPlace,    // a coordinate: a figure with four decimals and more
  kAmount,   // under a name that says so: "amount", "price"
};

/// Something of the real world that a call was made for and that somebody must have told the agent.
struct CallEntity {
  EntityKind kind = EntityKind::kId;
  std::string_view text;  // as written in the input
  std::string_view code;  // kAddress: the part of it that tells it from others
  bool reserved = false;  // kMail: of a domain that is kept for examples
};

/// Collects such values among the arguments of a call, JSON text: mail addresses (also several in one text), numbers of accounts, ids
/// with figures under names that say so, links with an opaque code, coordinates, amounts. What a client makes up itself, as
/// "idempotency_key", is none, nor is what is in running text. Replaces `out`; the views point into `input`. Linear.
void collect_call_entities(std::string_view input, std::vector<CallEntity>& out);

/// True when a text names the value, except for case and for blanks within it. Linear, except for values that begin alike.
[[nodiscard]] bool names_entity(std::string_view text, std::string_view value);

}  // namespace runwarden::plugins
