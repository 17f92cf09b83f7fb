#include "model/dimensions.h"

#include "base/json_members.h"

namespace runwarden::model {
namespace {

// Empty: it has none.
std::string value_of(std::string_view json) {
  if (json.empty() || json == "null" || json.front() == '{' || json.front() == '[') return {};
  std::string value = json.front() == '"' ? json_string_value(json) : std::string(json);
  return value.size() <= kMostDimensionBytes ? value : kOtherValue;
}

}  // namespace

std::vector<std::string> usual_dimensions() {
  return {kUsualDimensions.begin(), kUsualDimensions.end()};
}

std::vector<Dimension> dimensions_of(const RunOutline& outline, std::string_view document, std::span<const std::string> names) {
  std::vector<Dimension> dimensions;
  if (names.empty()) return dimensions;
  const auto metadata = json_member_view(outline.left_out > 0 ? document : std::string_view(outline.members), "metadata");
  if (!metadata) return dimensions;
  for (const std::string& name : names) {
    const auto json = json_member_view(*metadata, name);
    if (!json) continue;
    if (std::string value = value_of(*json); !value.empty()) dimensions.push_back({name, std::move(value)});
  }
  return dimensions;
}

}  // namespace runwarden::model
