// Known names that are spelled like one that is not known, for hints in error texts. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace runwarden {

// How many letters have to be added, dropped, replaced or swapped with their neighbor to make one name of the other. The cost
// grows with both lengths: bound them.
std::size_t edits_between(std::string_view a, std::string_view b);

// The known name that was probably meant: at most two letters, or a third of them, differ. Empty: none is that near.
std::string likely_name(std::string_view name, const std::vector<std::string>& known);

// The known names that differ from the name in the fewest letters, nearest first, at most so many.
std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& known, std::size_t most);

// "the nearest known one is burst", "the known ones are level, format", or, of many, the nearest three. Empty if none is known.
std::string name_hint(std::string_view name, const std::vector<std::string>& known);

}  // namespace runwarden
