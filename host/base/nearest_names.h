// Finds known names that are spelled like an unknown one, for hints in error texts. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace runwarden {

// The edit distance: letters to add, drop, replace or swap with their neighbor to turn one name into the other. The cost is the product of
// the lengths, so limit them.
std::size_t edits_between(std::string_view a, std::string_view b);

// The known name that was probably meant, which differs in at most two letters or a third of them. Empty if there is none.
std::string likely_name(std::string_view name, const std::vector<std::string>& known);

// At most `most` known names, those with the smallest edit distance first.
std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& known, std::size_t most);

// "the nearest known one is burst", "the known ones are level, format", or, if there are many, the nearest three. Empty if `known` is
// empty.
std::string name_hint(std::string_view name, const std::vector<std::string>& known);

}  // namespace runwarden
