#include "guardrail/signs.h"

#include "common/findings.h"

namespace runwarden::guardrail {

Signs::Signs() : settings("{}"), lexicon(plugins::make_lexicon(settings)), content(plugins::make_content_rules(settings)) {}

const Signs& shipped_signs() {
  static const Signs kSigns;
  return kSigns;
}

plugins::StepView view_of(const model::Step& step) {
  plugins::StepView view;
  view.kind = static_cast<plugins::Kind>(step.kind);
  view.outcome = static_cast<plugins::Outcome>(step.outcome);
  view.http_status = static_cast<int>(step.http_status.value_or(0));
  view.retry_count = step.retry_count;
  view.input_tokens = step.input_tokens;
  view.id = step.id;
  view.name = step.name;
  view.status = step.status;
  view.error_code = step.error_code;
  view.error_message = step.error_message;
  view.input = step.input;
  view.output = step.output;
  view.model = step.model;
  return view;
}

static_assert(static_cast<int>(model::StepKind::tool) == static_cast<int>(plugins::Kind::kTool));
static_assert(static_cast<int>(model::StepKind::model) == static_cast<int>(plugins::Kind::kModel));
static_assert(static_cast<int>(model::StepKind::user) == static_cast<int>(plugins::Kind::kUser));
static_assert(static_cast<int>(model::StepKind::other) == static_cast<int>(plugins::Kind::kOther));
static_assert(static_cast<int>(model::Outcome::unknown) == static_cast<int>(plugins::Outcome::kUnknown));
static_assert(static_cast<int>(model::Outcome::ok) == static_cast<int>(plugins::Outcome::kOk));
static_assert(static_cast<int>(model::Outcome::failed) == static_cast<int>(plugins::Outcome::kFailed));

bool is_call(const model::Step& step) {
  return step.kind == model::StepKind::tool || step.kind == model::StepKind::other;
}

bool call_failed(const model::Step& step) {
  return plugins::failure_of(view_of(step), shipped_signs().content) != plugins::Failure::kNone;
}

bool call_gave_nothing(const model::Step& step) {
  const Signs& signs = shipped_signs();
  return plugins::is_empty_output(step.output, signs.lexicon, signs.content);
}

bool has_outcome(const model::Step& step, CallOutcome outcome) {
  switch (outcome) {
    case CallOutcome::failed: return call_failed(step);
    case CallOutcome::empty: return call_gave_nothing(step);
    case CallOutcome::ok: return !call_failed(step) && !call_gave_nothing(step);
    case CallOutcome::any: return true;
  }
  return false;
}

}  // namespace runwarden::guardrail
