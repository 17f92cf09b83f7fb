// Builds the text that similar failures share: "false_success:issue_refund:# bad gateway". Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace runwarden::detect {

// The text in lower case without the values that vary: numbers, ids, hexadecimal, UUIDs, dates and times become "#", quoted values "*".
// Linear in the text.
std::string mask(std::string_view text);

// Joins the detector's key and the parts by ":". Masks each part unless it equals `step_name`. A part that is too long is truncated and
// ends with a short hash of its full text.
std::string fingerprint(std::string_view detector_key, std::string_view step_name, const std::vector<std::string>& parts);

}  // namespace runwarden::detect
