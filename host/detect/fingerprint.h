// What makes two failures alike: "false_success:issue_refund:# bad gateway". Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace runwarden::detect {

// The text in lower case with what differs from case to case taken out: numbers, ids, hexadecimal, UUIDs, dates and times become
// "#", quoted values "*". Linear in the text.
std::string mask(std::string_view text);

// The detector's key and the parts, joined by ":". A part that equals `step_name` stays as it is, every other is masked; each is cut
// at a bounded length, with a short hash of what it was.
std::string fingerprint(std::string_view detector_key, std::string_view step_name, const std::vector<std::string>& parts);

}  // namespace runwarden::detect
