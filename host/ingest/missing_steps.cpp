#include "ingest/missing_steps.h"

#include <optional>

#include "base/json_members.h"
#include "intake/step_rules.h"

namespace runwarden::ingest {
namespace {

bool same_kind(std::string_view told, std::string_view whole) {
  return intake::step_kind(json_member_text(told, "stepKind")) == intake::step_kind(json_member_text(whole, "stepKind"));
}

// Also true if the step from events lacks the member.
bool same_text(std::string_view told, std::string_view whole, std::string_view name) {
  const auto known = json_member_view(told, name);
  if (!known) return true;
  const auto text = json_member_view(whole, name);
  return known == text || json_string_value(*known) == json_string_value(text.value_or(""));
}

// An empty message says no more than none.
bool same_error(std::string_view told, std::string_view whole) {
  return json_member_view(told, "errorMessage") == R"("")" || same_text(told, whole, "errorMessage");
}

bool is_step(std::string_view told, std::string_view whole) {
  return same_kind(told, whole) && same_text(told, whole, "stepName") && same_text(told, whole, "inputSummary") &&
         same_text(told, whole, "outputSummary") && same_error(told, whole);
}

}  // namespace

std::size_t steps_missing(const std::vector<std::string>& told, std::string_view document) {
  std::size_t found = 0;
  for (const std::string_view step : json_element_views(json_member_view(document, "steps").value_or(""))) {
    if (found < told.size() && is_step(told[found], step)) ++found;
  }
  return told.size() - found;
}

}  // namespace runwarden::ingest
