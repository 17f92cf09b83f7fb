#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "common/reading.h"

namespace runwarden::plugins {

/// How a message reports a deed, from the vaguest to the plainest.
enum class Telling : std::uint8_t {
  kGeneral,   // "All set!"
  kUnderWay,  // "I'm passing it on now."
  kState,     // "The seat is booked."
  kNote,      // "Fan: ordered"
  kResult,    // "The driver knows about it."
  kPassive,   // "The driver has been told."
  kByAgent,   // "I've moved you to 14C."
};

/// A deed that a message reports as done or under way: current, neither past nor still to come, and not denied.
struct ToldDeed {
  Claim claim;
  Telling telling = Telling::kGeneral;
};

/// "I've muted it", "it has been muted", "muted": but not "some have muted it".
[[nodiscard]] bool is_deed(const Reading& reading, const Claim& claim);

/// True for a text with a salutation line, "Dear Ms Ray,": its claims are the content of a letter. Linear.
[[nodiscard]] bool holds_letter(std::string_view text);

/// "Invoice 77 has already been paid", "it was booked on May 13": an earlier state, unless the agent says that it did it.
[[nodiscard]] bool tells_of_before(const Reading& reading, const Claim& claim);

/// True for "I've sent it", "it has been sent" and the notes "Receipt sent.", "Timer set for ten". "Timing: credited back in 5 days" and
/// "the airline canceled a segment" may report a deed of others, or none.
[[nodiscard]] bool plainly_done(const Reading& reading, const Claim& claim);

/// True when one of the last sentences asks something: "Shall I put it on your card? Once you confirm, I go ahead."
[[nodiscard]] bool asks_at_end(const Reading& reading);

/// True when a sentence says that a deed of the group of verbs was not done: "I have not actually cancelled it", "nothing was cancelled",
/// "I did not cancel it". What is denied on a condition or for the future does not count. Linear.
[[nodiscard]] bool says_not_done(const Reading& reading, std::uint16_t group);

/// Collects the deeds of a reading, in order. `acts` is true for verbs whose deed takes more than an answer; `finishes` is true for verbs
/// that only say that something is done. Replaces `out`. Linear.
void collect_deeds(const Reading& reading, const std::function<bool(std::uint16_t)>& acts,
                   const std::function<bool(std::uint16_t)>& finishes, std::vector<ToldDeed>& out);

}  // namespace runwarden::plugins
