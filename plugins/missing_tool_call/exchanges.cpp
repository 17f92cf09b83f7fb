#include <algorithm>

#include "common/fold.h"
#include "common/tools.h"
#include "common/words.h"
#include "missing_tool_call/missing_tool_call.h"
#include "missing_tool_call/told_deeds.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kMostExchanges = 3;  // from the end

/// The run as if an exchange were all of it: the same places, with nothing in the others.
RunView alone(const RunView& run, std::size_t begin, std::size_t end) {
  RunView out;
  out.success = run.success;
  out.stop = run.stop;
  out.steps.resize(end);
  for (std::size_t i = 0; i < end; ++i) out.steps[i].kind = Kind::kModel;
  std::copy(run.steps.begin() + static_cast<std::ptrdiff_t>(begin), run.steps.begin() + static_cast<std::ptrdiff_t>(end),
            out.steps.begin() + static_cast<std::ptrdiff_t>(begin));
  if (end == run.steps.size()) out.outcome = run.outcome;
  return out;
}

/// True when the user said the same in an earlier turn: a call then may have done it.
bool asked_before(const RunView& run, std::size_t turn) {
  const auto said = trim(run.steps[turn].said());
  return said == trim(run.user_request) ||
         std::any_of(run.steps.begin(), run.steps.begin() + static_cast<std::ptrdiff_t>(turn),
                     [&](const StepView& step) { return step.kind == Kind::kUser && trim(step.said()) == said; });
}

}  // namespace

/// Where the exchange of a user's turn begins: behind what the agent said before it. Some recorders write calls down before the turn that
/// they answer.
std::size_t MissingToolCall::begin_of(const RunView& run, std::size_t turn) {
  while (turn > 0 && (run.steps[turn - 1].kind != Kind::kModel || trim(run.steps[turn - 1].output).empty())) --turn;
  return turn;
}

/// True for a tool that only looks something up, by its name or by all that it gave back in the run.
bool MissingToolCall::only_looks_up(const RunView& run, const ToolMeaning& tool, std::string_view name) {
  return tool.reads || (tool.unknown && !tool.meaningless && only_gives_records(run, tool, name));
}

/// True when an exchange leaves its order to the user, who is asked something at the end of a message, or tells as done what calls before it
/// may have done: a deed of their kind, on what they were about.
bool MissingToolCall::is_inconclusive(const RunView& run, const Exchange& exchange) {
  changes_read_ = outputs_read_ = false;
  const auto tells = [&](std::string_view message) {
    if (trim(message).empty()) return false;
    run.pace(message.size());
    read(message, lexicon_, reading_);
    if (asks_at_end(reading_)) return true;
    return std::any_of(reading_.claims.begin(), reading_.claims.end(), [&](const Claim& claim) {
      if (claim.finding || claim.verb == kNoVerb) return false;
      const bool own_kind = ran_.groups[lexicon_.verb(claim.verb).group] != 0 || settling_[claim.verb] || requests_.light(claim.verb) ||
                            lexicon_.verb(claim.verb).group == finish_group_;
      return (own_kind && is_about_changed(run, claim)) || reported_state(run, claim);
    });
  };
  if (exchange.end == run.steps.size() && tells(run.outcome)) return true;
  return std::any_of(run.steps.begin() + static_cast<std::ptrdiff_t>(exchange.begin), run.steps.begin() + static_cast<std::ptrdiff_t>(exchange.end),
                     [&](const StepView& step) { return step.kind == Kind::kModel && tells(step.output); });
}

/// Where calls changed something, but none since the user last asked: each of the last exchanges as a run of its own.
void MissingToolCall::judge_exchanges(const RunView& run, Verdict& verdict) {
  std::size_t end = run.steps.size();
  std::size_t judged = 0;
  for (std::size_t i = run.steps.size(); i-- > 0 && judged < kMostExchanges && verdict.findings.empty();) {
    if (run.steps[i].kind != Kind::kUser) continue;
    const auto turn = i;
    const auto said = run.steps[turn].said();
    const Exchange exchange{begin_of(run, turn), end};
    ++judged;
    end = i = exchange.begin;
    const auto changes = [&](const StepView& step) {
      return step.kind == Kind::kTool && !only_looks_up(run, tools_.meaning(step.name), step.name);
    };
    const auto first = run.steps.begin() + static_cast<std::ptrdiff_t>(exchange.begin);
    if (std::any_of(first, run.steps.begin() + static_cast<std::ptrdiff_t>(exchange.end), changes)) continue;
    if (!action_words_.finds(said) || is_inconclusive(run, exchange) || asked_before(run, turn)) continue;
    const auto part = alone(run, exchange.begin, exchange.end);
    Verdict of_part;
    collect_ran(part);
    requests_.collect(part, true, reading_);
    judge_unchanged(part, of_part);
    if (!of_part.findings.empty()) verdict.findings.push_back(std::move(of_part.findings.front()));
    collect_ran(run);
  }
}

}  // namespace runwarden::plugins
