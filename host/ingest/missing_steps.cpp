#include "ingest/missing_steps.h"

#include <array>
#include <optional>

#include "base/json_members.h"
#include "intake/step_rules.h"

namespace runwarden::ingest {
namespace {

constexpr std::array<std::string_view, 4> kTexts = {"stepName", "inputSummary", "outputSummary", "errorMessage"};
constexpr std::size_t kError = 3;

struct Member {
  std::optional<std::string_view> json;  // a view of the step
  std::string text;
};

// What two steps are compared by, read once for each.
struct ComparedStep {
  model::StepKind kind = intake::step_kind({});
  std::array<Member, kTexts.size()> texts;
};

ComparedStep read_step(std::string_view json) {
  ComparedStep step;
  for (const JsonMemberView& member : json_member_views(json)) {
    if (member.name == "stepKind") step.kind = intake::step_kind(json_string_value(member.json));
    for (std::size_t i = 0; i < kTexts.size(); ++i) {
      if (member.name == kTexts[i]) step.texts[i] = {member.json, json_string_value(member.json)};
    }
  }
  return step;
}

bool is_step(const ComparedStep& told, const ComparedStep& whole) {
  if (told.kind != whole.kind) return false;
  for (std::size_t i = 0; i < kTexts.size(); ++i) {
    const Member& known = told.texts[i];
    // What the step from events lacks may be anything; an empty message says no more than none.
    if (!known.json || (i == kError && known.json == R"("")")) continue;
    if (known.json != whole.texts[i].json && known.text != whole.texts[i].text) return false;
  }
  return true;
}

}  // namespace

std::size_t steps_missing(const std::vector<std::string>& told, std::string_view document) {
  std::size_t found = 0;
  std::optional<ComparedStep> next;
  for (const std::string_view step : json_element_views(json_member_view(document, "steps").value_or(""))) {
    if (found == told.size()) break;
    if (!next) next = read_step(told[found]);
    if (!is_step(*next, read_step(step))) continue;
    ++found;
    next.reset();
  }
  return told.size() - found;
}

}  // namespace runwarden::ingest
