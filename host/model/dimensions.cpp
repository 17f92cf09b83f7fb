#include "model/dimensions.h"

#include <algorithm>

#include "base/json_members.h"

namespace runwarden::model {
namespace {

constexpr std::string_view kMetadata = "metadata";

std::string metadata_in(std::string_view object) {
  if (object.find("\"metadata\"") == std::string_view::npos) return {};
  for (JsonMember& member : json_members(object)) {
    if (member.name == kMetadata) return std::move(member.json);
  }
  return {};
}

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
  const std::string metadata = metadata_in(outline.left_out > 0 ? document : std::string_view(outline.members));
  if (metadata.empty()) return dimensions;
  const std::vector<JsonMember> members = json_members(metadata);
  for (const std::string& name : names) {
    const auto found = std::find_if(members.begin(), members.end(), [&](const JsonMember& member) { return member.name == name; });
    if (found == members.end()) continue;
    if (std::string value = value_of(found->json); !value.empty()) dimensions.push_back({name, std::move(value)});
  }
  return dimensions;
}

}  // namespace runwarden::model
