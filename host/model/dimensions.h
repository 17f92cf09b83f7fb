// What runs are compared by: members of their metadata (`page.dimensions`). Pure; any thread.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/records.h"

namespace runwarden::model {

constexpr std::array<std::string_view, 4> kUsualDimensions = {"model", "version", "environment", "agent"};
constexpr std::size_t kMostDimensions = 8;
constexpr std::size_t kMostDimensionBytes = 64;  // of a name, and of a value
constexpr const char* kOtherValue = "(other)";   // in place of a longer value, and of one too many

std::vector<std::string> usual_dimensions();

// The values of those members of the run's metadata, in the order of the names: a text as it is, a number or a boolean as JSON writes it.
// A member of another kind, an empty text or a missing member has none. `outline` and `document` are of the same run; the document is
// looked at only where the outline left members out.
std::vector<Dimension> dimensions_of(const RunOutline& outline, std::string_view document, std::span<const std::string> names);

}  // namespace runwarden::model
