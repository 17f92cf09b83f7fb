#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "common/reading.h"

namespace runwarden::plugins {

/// How a message tells a deed, the vaguest first.
enum class Telling : std::uint8_t {
  kGeneral,   // "All set!"
  kUnderWay,  // "I'm passing it on now."
  kState,     // "The seat is booked."
  kNote,      // "Fan: ordered"
  kPassive,   // "The driver has been told."
  kByAgent,   // "I've moved you to 14C."
};

/// A deed that a message tells as done or under way: of now, not of before or of what comes, and denied by nothing.
struct ToldDeed {
  Claim claim;
  Telling telling = Telling::kGeneral;
};

/// "I've muted it", "it has been muted", "muted": but not "some have muted it".
[[nodiscard]] bool is_deed(const Reading& reading, const Claim& claim);

/// True for a text with a line that addresses somebody, "Dear Ms Ray,": what it tells is what a letter is to tell. Linear.
[[nodiscard]] bool holds_letter(std::string_view text);

/// "Invoice 77 has already been paid", "it was booked on May 13": how things stood before, unless the agent says that it did it.
[[nodiscard]] bool tells_of_before(const Reading& reading, const Claim& claim);

/// Collects the deeds of a reading, in its order. `acts` says of a verb whether it does something that an answer alone does not do, and
/// `finishes` whether it only says that something is done. Replaces `out`. Linear.
void collect_deeds(const Reading& reading, const std::function<bool(std::uint16_t)>& acts,
                   const std::function<bool(std::uint16_t)>& finishes, std::vector<ToldDeed>& out);

}  // namespace runwarden::plugins
