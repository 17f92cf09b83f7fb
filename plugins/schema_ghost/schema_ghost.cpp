#include "schema_ghost/schema_ghost.h"

#include <algorithm>

#include "common/fold.h"

namespace runwarden::plugins {
namespace {

constexpr int kScore = 82;
constexpr std::size_t kMostTokens = 8;

constexpr SettingSchema kProperties[] = {
    {"grounding", R"({"type":"boolean"})"},
    {"admission", R"({"type":"boolean"})"},
    {"empty_by_design", R"({"type":"boolean"})"},
};

}  // namespace

SchemaGhost::SchemaGhost(std::string_view settings_json) : grounding_(true), admission_(true), by_design_(true) {
  const Settings settings(settings_json);
  lexicon_ = make_lexicon(settings);
  content_ = make_content_rules(settings);
  grounding_ = settings.rule("grounding");
  admission_ = settings.rule("admission");
  by_design_ = settings.rule("empty_by_design");
}

std::string SchemaGhost::schema() {
  return settings_schema(kProperties, true);
}

bool SchemaGhost::gave_nothing(const StepView& step) const {
  return failure_of(step, content_) != Failure::kNone || is_empty_output(step.output, lexicon_, content_);
}

Finding SchemaGhost::finding(const RunView& run, std::size_t hollow, const std::string& pointer) const {
  const auto& step = run.steps[hollow];
  const std::string name(step_name(step));
  const bool failed = failure_of(step, content_) != Failure::kNone;
  const auto returned = failed ? quote(failure_text(step)) : quote(step.output);
  Finding out;
  out.severity = Severity::kHigh;
  out.source = Source::kContext;
  out.score = kScore;
  out.title = "Schema ghost: model fabricated data after \"" + name + "\" returned nothing";
  out.summary =
      "Tool \"" + name + "\" returned an empty/null/error result (\"" + returned +
      "\"), yet the next model step produced specific, detailed output. The agent is likely hallucinating data the tool never provided.";
  out.primary_step = hollow;
  out.evidence.push_back({pointer_to(hollow, failed ? failure_field(step) : Field::kOutput), returned});
  for (const auto token : ungrounded_) {
    if (out.evidence.size() > kMostTokens) break;
    out.evidence.push_back({pointer, quote(token)});
  }
  out.fingerprint_parts = {name, returned};
  return out;
}

/// Facts outside code blocks: code is no answer.
void SchemaGhost::collect_answer_facts(std::string_view text) {
  facts_.clear();
  constexpr std::string_view kFence = "```";
  while (!text.empty()) {
    const auto open = text.find(kFence);
    collect_facts(text.substr(0, open), part_);
    facts_.insert(facts_.end(), part_.begin(), part_.end());
    if (open == std::string_view::npos) return;
    const auto close = text.find(kFence, open + kFence.size());
    if (close == std::string_view::npos) return;
    text.remove_prefix(close + kFence.size());
  }
}

void SchemaGhost::judge_answer(const RunView& run, std::size_t hollow, std::string_view text, const std::string& pointer,
                               Verdict& verdict) {
  collect_answer_facts(text);
  if (!is_specific(text, facts_)) return;
  ungrounded_.clear();
  for (const auto& fact : facts_) {
    if (fact.strong && (!grounding_ || !grounds_.holds(fact))) ungrounded_.push_back(fact.text);
  }
  if (ungrounded_.empty()) {
    verdict.suppress("grounding", hollow, "every specific of the answer stands earlier in the run");
    return;
  }
  read(text, lexicon_, reading_);
  if (admission_ && (reading_.cues & (kCueNothingFound | kCueAdmission | kCueSimulated)) != 0) {
    verdict.suppress("admission", hollow, "the answer says that nothing was found");
    return;
  }
  verdict.findings.push_back(finding(run, hollow, pointer));
}

void SchemaGhost::walk(const RunView& run, Verdict& verdict) {
  grounds_.clear();
  grounds_.add(run.user_request);
  auto hollow = kNoStep;
  std::string_view last_answer;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const auto& step = run.steps[i];
    if (step.kind == Kind::kTool) {
      hollow = gave_nothing(step) ? i : kNoStep;
      grounds_.add(step.error_message);
    }
    if (step.kind == Kind::kModel && !trim(step.output).empty()) {
      if (hollow != kNoStep) judge_answer(run, hollow, step.output, pointer_to(i, Field::kOutput), verdict);
      hollow = kNoStep;
      last_answer = step.output;
    }
    grounds_.add(step.input);
    grounds_.add(step.output);
  }
  // A run may tell its answer in outcomeSummary only.
  if (hollow != kNoStep && !trim(run.outcome).empty() && trim(run.outcome) != trim(last_answer)) {
    judge_answer(run, hollow, run.outcome, "/outcomeSummary", verdict);
  }
}

std::string SchemaGhost::cannot_tell(const RunView& run) const {
  const auto is_tool = [](const StepView& step) { return step.kind == Kind::kTool; };
  if (std::none_of(run.steps.begin(), run.steps.end(), is_tool))
    return "no tool steps: send each tool call as a step with stepKind \"tool\"";
  const auto tells = [&](const StepView& step) {
    return is_tool(step) && (present(step.output) || present(step.status) || step.outcome != Outcome::kUnknown);
  };
  if (std::none_of(run.steps.begin(), run.steps.end(), tells))
    return "no tool step has an output or a status: send outputSummary or status";
  return {};
}

Verdict SchemaGhost::evaluate(const RunView& run) {
  Verdict verdict;
  const auto nothing = [&](const StepView& step) { return step.kind == Kind::kTool && gave_nothing(step); };
  if (std::any_of(run.steps.begin(), run.steps.end(), nothing)) walk(run, verdict);
  if (verdict.findings.empty()) verdict.cannot_tell = cannot_tell(run);
  return verdict;
}

}  // namespace runwarden::plugins
