// The whole numbers among a policy's revisions: decimal digits, however many. For the files of store/ only. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace runwarden::store {

// 1 more than a whole number in decimal digits, however long; "1" for nothing.
std::string next_revision(std::string_view highest);

// The highest whole number when that revision is added, without leading zeros; what it was where the revision is none or no higher.
std::string highest_with(std::string_view highest, std::string_view revision);

}  // namespace runwarden::store
