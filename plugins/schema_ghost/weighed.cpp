#include <algorithm>
#include <array>

#include "evidence/call_entities.h"
#include "evidence/trees.h"
#include "schema_ghost/schema_ghost.h"
#include "schema_ghost/weights.inc"

namespace runwarden::plugins {
namespace {

constexpr std::array<std::string_view, 8> kCandidates = {"few_specifics", "figures",    "invented_input", "unheard",
                                                         "no_source",     "new_reason", "plain_answer",   "report"};
constexpr double kAnswered = 0.5;  // confidence where a later call gave what the message states
constexpr std::array<std::string_view, 5> kSilences = {"grounding", "admission", "writes", "partial_output", "cut_records"};

}  // namespace

/// Measures the results of the rules and the step that returned nothing.
void SchemaGhost::measure_source(const RunView& run, std::size_t hollow, const Verdict& verdict) {
  measure_rules(verdict, kCandidates, kSilences, kNoStep, measures_);
  const auto& step = run.steps[hollow];
  const auto& tool = scene_.tools.meaning(step.name);
  measures_.add_flag("gave_nothing", scene_.hollow[hollow]);
  measures_.add_flag("failed", failure_of(step, rules_.content) != Failure::kNone);
  measures_.add_flag("reads", tool.reads);
  measures_.add_flag("runs_anything", tool.runs_anything());
  measures_.add_flag("unknown_tool", tool.unknown);
  measures_.add_flag("acts", tool.group != 0 && !tool.reads);
  std::size_t calls = 0, hollows = 0, given = 0, after = 0, same_before = 0, same_after = 0, looked_up = 0, bytes = 0;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const auto& other = run.steps[i];
    if (other.kind != Kind::kTool) continue;
    ++calls;
    hollows += scene_.hollow[i] ? 1u : 0u;
    if (scene_.hollow[i] || i == hollow) continue;
    ++given;
    bytes += other.output.size();
    looked_up += scene_.tools.meaning(other.name).reads ? 1u : 0u;
    after += i > hollow ? 1u : 0u;
    same_before += other.name == step.name && i < hollow ? 1u : 0u;
    same_after += other.name == step.name && i > hollow ? 1u : 0u;
  }
  measures_.add_count("hollow_calls", hollows);
  measures_.add_share("hollow_share", hollows, calls);
  measures_.add_count("giving_calls", given);
  measures_.add_count("looked_up", looked_up);
  measures_.add_count("given_after", after);
  measures_.add_count("same_tool_before", same_before);
  measures_.add_count("same_tool_after", same_after);
  measures_.add_flag("given_much", bytes > kMuchGiven);
}

/// Measures what the message in scene_.reading states, and how much of it is new.
void SchemaGhost::measure_answer(const RunView& run, std::size_t hollow, const FinalMessage& message) {
  measure_message(scene_.reading, "message_", measures_);
  measures_.add_flag("message_after", message.place > hollow);
  const auto end = std::min(message.place, run.steps.size());
  measures_.add_flag("answered_before", user_replied(run, hollow, end));
  std::vector<bool> changes(run.steps.size());
  for (std::size_t i = 0; i < run.steps.size(); ++i)
    changes[i] = run.steps[i].kind == Kind::kTool && !scene_.tools.meaning(run.steps[i].name).reads;
  measure_shared_words(run, message.text, scene_.hollow, changes, measures_);
  measure_user(run, measures_);
  const auto before = message_before(run, message);
  read(before == kNoStep ? std::string_view{} : run.steps[before].output, rules_.lexicon, scene_.reading);
  measure_message(scene_.reading, "before_", measures_);
  measures_.add_flag("before_is_after", before != kNoStep && before > hollow);
}

std::span<const std::string_view> SchemaGhost::weights_of() {
  return kWeights.measures;
}

/// True when every specific that the message states has a source, and one was first given after the look-up that returned nothing, by calls
/// that gave little: among many words, a made-up one is there by chance.
bool SchemaGhost::is_answered_since(const RunView& run, std::size_t hollow, const FinalMessage& message) {
  constexpr std::ptrdiff_t kMostFacts = 16;  // each is searched for in the whole run
  const auto end = std::min(message.place, run.steps.size());
  if (!scene_.tools.meaning(run.steps[hollow].name).reads || gaps_.given_before(run, end) > kMuchGiven) return false;
  const Hollow gap{.step = hollow};
  grounds_.read_answer(message.text, gap, false);
  const auto named_in = [&](std::size_t i, const Fact& fact) {
    const auto& step = run.steps[i];
    const auto text = step.kind == Kind::kUser ? step.said() : step.kind == Kind::kTool ? step.output : std::string_view();
    run.pace(text.size());
    return names_entity(text, fact.text);
  };
  const auto last = scene_.facts.begin() + std::min(kMostFacts, std::ssize(scene_.facts));
  const bool given = std::any_of(scene_.facts.begin(), last, [&](const Fact& fact) {
    std::size_t first = 0;
    while (first < end && !named_in(first, fact)) ++first;
    return first > hollow && first < end && !names_entity(run.user_request, fact.text);
  });
  if (!given) return false;
  grounds_.find_ungrounded(run, gap, message.place);
  return scene_.ungrounded.empty();
}

/// When no rule was sure but one left a candidate: computes the confidence from everything known, with weights learned on labeled runs.
void SchemaGhost::weigh(const RunView& run, Verdict& verdict) {
  const auto* surest = verdict.surest_candidate();
  if (surest == nullptr) return;
  const auto hollow = surest->step;
  const auto message = find_final_message(run, rules_.lexicon, scene_.reading);
  if (!message.found || !scene_.reading.understood(message.text)) return;
  measures_.clear(run.explanation != nullptr);
  measure_source(run, hollow, verdict);
  measure_answer(run, hollow, message);
  weighed_ = true;
  double sure = kWeights.confidence(measures_.values());
  if (sure >= FiringLine::kBalanced && surest->rule == kFigures && is_answered_since(run, hollow, message)) sure = kAnswered;
  if (run.explanation != nullptr) run.explanation->rule("weighed", "no", hollow, measures_.text(), sure);
  if (sure < FiringLine::kCandidate) verdict.withdraw_candidates(kCandidates, kUnlikely);
  if (sure < FiringLine::kWide) return;
  if (!rules_.line.fires(sure, {"weighed", hollow, "all facts about this answer taken together make it likely"}, verdict)) return;
  scene_.ungrounded.clear();
  auto found = grounds_.finding(run, hollow, message.pointer());
  found.evidence.push_back({message.pointer(), quote(message.text)});
  verdict.fire(std::move(found), sure);
}

}  // namespace runwarden::plugins
