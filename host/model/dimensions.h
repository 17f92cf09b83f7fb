// The metadata members by which runs are compared (`page.dimensions`). Pure; any thread.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/run_record.h"

namespace runwarden::model {

constexpr std::array<std::string_view, 4> kUsualDimensions = {"model", "version", "environment", "agent"};
constexpr std::size_t kMostDimensions = 8;
constexpr std::size_t kMostDimensionBytes = 64;  // of a name, and of a value
constexpr const char* kOtherValue = "(other)";   // replaces values that are too long or too many

std::vector<std::string> usual_dimensions();

// The values of those members of the run's metadata, in the order of `names`: strings unchanged, numbers and booleans as JSON writes them.
// Skips missing members, empty strings and other types. `outline` and `document` belong to the same run; the document is read only if the
// outline left members out.
std::vector<Dimension> dimensions_of(const RunOutline& outline, std::string_view document, std::span<const std::string> names);

}  // namespace runwarden::model
