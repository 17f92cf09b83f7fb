// The whole numbers among a policy's revisions: decimal digits, however many. Internal to store/. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace runwarden::store {

// The next whole number in decimal digits, however long; "1" if `highest` is empty.
std::string next_revision(std::string_view highest);

// The highest whole number once that revision is added, without leading zeros; unchanged if the revision is not a whole number or not
// higher.
std::string highest_with(std::string_view highest, std::string_view revision);

}  // namespace runwarden::store
