#include "missing_tool_call/missing_tool_call.h"

#include <algorithm>

#include "common/fold.h"

namespace runwarden::plugins {
namespace {

constexpr int kNoToolScore = 80;

constexpr std::string_view kRequestVerbs[] = {"book",   "refund",   "schedule",  "cancel",      "send",       "update",  "create",
                                              "delete", "pay",      "charge",    "transfer",    "reschedule", "reserve", "order",
                                              "submit", "register", "subscribe", "unsubscribe", "issue"};

constexpr SettingSchema kProperties[] = {
    {"request_verbs", R"({"type":"array","items":{"type":"string"}})"},
    {"extra_request_verbs", R"({"type":"array","items":{"type":"string"}})"},
};

}  // namespace

MissingToolCall::MissingToolCall(std::string_view settings_json) {
  const Settings settings(settings_json);
  lexicon_ = make_lexicon(settings);
  requestable_.assign(lexicon_.verb_count(), false);
  std::string folded;
  for (const auto& name : settings.list("request_verbs", kRequestVerbs)) {
    fold(name, folded);
    if (const auto verb = lexicon_.verb_named(folded); verb != kNoVerb) requestable_[verb] = true;
  }
}

std::string MissingToolCall::schema() {
  return settings_schema(kProperties, true);
}

void MissingToolCall::collect_requests_of(std::string_view text, const std::string& pointer) {
  if (trim(text).empty()) return;
  read(text, lexicon_, reading_);
  for (const auto& word : reading_.words) {
    if (word.entry == nullptr || word.entry->verb == kNoVerb || (word.entry->forms & kFormBase) == 0) continue;
    const auto verb = word.entry->verb;
    if (!requestable_[verb]) continue;
    requests_.push_back({verb, pointer, quote(text)});
  }
}

void MissingToolCall::collect_requests(const RunView& run) {
  requests_.clear();
  collect_requests_of(run.user_request, "/userRequestText");
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kUser || trim(step.said()) == trim(run.user_request)) continue;
    collect_requests_of(step.said(), pointer_to(i, step.output.empty() ? Field::kInput : Field::kOutput));
  }
}

Finding MissingToolCall::finding(const Request& request, const FinalMessage& message) const {
  const auto& verb = lexicon_.verb(request.verb).lemma;
  Finding out;
  out.severity = Severity::kHigh;
  out.source = Source::kCoordination;
  out.score = kNoToolScore;
  out.title = "Missing action: agent claimed to \"" + verb + "\" but called no tool";
  out.summary = "The user asked the agent to \"" + verb + "\", the agent claimed success (\"" + quote(message.text) +
                "\"), but no tool/action step ever executed. The side effect almost certainly never happened.";
  out.primary_step = message.step;
  out.evidence = {{request.pointer, request.text}, {message.pointer(), quote(message.text)}};
  out.fingerprint_parts = {verb, ""};
  return out;
}

Verdict MissingToolCall::evaluate(const RunView& run) {
  Verdict verdict;
  if (run.steps.empty()) {
    verdict.cannot_tell = "no steps: send the run's steps, tool calls among them if there were any";
    return verdict;
  }
  const auto count = [&](Kind kind) {
    return std::count_if(run.steps.begin(), run.steps.end(), [&](const auto& step) { return step.kind == kind; });
  };
  if (trim(run.user_request).empty() && count(Kind::kUser) == 0) {
    verdict.cannot_tell = "no user turn: send userRequestText or user steps";
    return verdict;
  }
  if (count(Kind::kOther) > 0) {
    verdict.cannot_tell = "steps of unknown kind, one of which may have been the tool: send stepKind (\"tool\", \"model\" or \"user\")";
    return verdict;
  }
  if (count(Kind::kTool) > 0) return verdict;
  collect_requests(run);
  if (requests_.empty()) return verdict;
  const auto message = find_final_message(run, lexicon_, reading_);
  if (!message.found || reading_.claims.empty()) return verdict;
  if (reading_.admits()) {
    verdict.suppress("admission", message.step, "the final message owns up that something did not work");
    return verdict;
  }
  verdict.findings.push_back(finding(requests_.front(), message));
  return verdict;
}

}  // namespace runwarden::plugins
