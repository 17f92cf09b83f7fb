#include "missing_tool_call/exchanges.h"

#include <algorithm>

#include "common/words.h"
#include "text/fold.h"

#include "missing_tool_call/told_deeds.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kMostExchanges = 4;  // from the end

/// The run as if an exchange were all of it, after what the agent said before: the same places, with nothing in the others.
RunView alone(const RunView& run, std::size_t begin, std::size_t end) {
  RunView out;
  if (begin == 0) out.user_request = run.user_request;
  out.success = run.success;
  out.stop = run.stop;
  out.steps.resize(end);
  for (std::size_t i = 0; i < end; ++i) out.steps[i].kind = Kind::kModel;
  const auto offer = begin == 0 ? begin : begin - 1;
  std::copy(run.steps.begin() + static_cast<std::ptrdiff_t>(offer), run.steps.begin() + static_cast<std::ptrdiff_t>(end),
            out.steps.begin() + static_cast<std::ptrdiff_t>(offer));
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

/// True when an exchange leaves its order to the user, who is asked something at the end of a message, or tells as done what calls before
/// it may have done: a deed of their kind, on what they were about.
bool Exchanges::is_inconclusive(const RunView& run, const Exchange& exchange) {
  const auto tells = [&](std::string_view message) {
    if (trim(message).empty()) return false;
    run.pace(message.size());
    read(message, rules_.lexicon, scene_.reading);
    if (asks_at_end(scene_.reading)) return true;
    return std::any_of(scene_.reading.claims.begin(), scene_.reading.claims.end(), [&](const Claim& claim) {
      if (claim.finding || claim.verb == kNoVerb) return false;
      const bool own_kind = scene_.ran.groups[rules_.lexicon.verb(claim.verb).group] != 0 || rules_.settling[claim.verb] ||
                            scene_.requests.light(claim.verb) || rules_.lexicon.verb(claim.verb).group == rules_.finish_group;
      return (own_kind && call_words_.is_about_changed(run, claim)) || call_words_.returned_word(run, claim);
    });
  };
  if (exchange.end == run.steps.size() && tells(run.outcome)) return true;
  return std::any_of(run.steps.begin() + static_cast<std::ptrdiff_t>(exchange.begin),
                     run.steps.begin() + static_cast<std::ptrdiff_t>(exchange.end),
                     [&](const StepView& step) { return step.kind == Kind::kModel && tells(step.output); });
}

/// Judges an exchange in which no call may have changed anything. `request` is what the user said in it.
void Exchanges::judge_one(const RunView& run, const Exchange& exchange, std::string_view request, Verdict& verdict) {
  const auto changes = scene_.ran.may_change.begin();
  const auto last = changes + static_cast<std::ptrdiff_t>(exchange.end);
  if (std::find(changes + static_cast<std::ptrdiff_t>(exchange.begin), last, 1) != last) return;
  const auto offer = exchange.begin == 0 ? std::string_view{} : std::string_view(run.steps[exchange.begin - 1].output);
  if (!(scene_.action_words.finds(request) || scene_.action_words.finds(offer)) || is_inconclusive(run, exchange)) return;
  const auto part = alone(run, exchange.begin, exchange.end);
  Verdict of_part;
  tools_ran_.collect(part);
  scene_.ran.any = true;  // the agent has tools
  scene_.requests.collect(part, {true, false}, scene_.reading);
  unchanged_.judge_exchange(part, exchange.begin, of_part);
  if (!of_part.findings.empty()) verdict.findings.push_back(std::move(of_part.findings.front()));
  tools_ran_.collect(run);
  scene_.changes_read = scene_.outputs_read = false;
}

void Exchanges::judge(const RunView& run, Verdict& verdict) {
  scene_.changes_read = scene_.outputs_read = false;
  std::size_t end = run.steps.size();
  std::size_t judged = 0;
  for (std::size_t i = run.steps.size(); i-- > 0 && judged < kMostExchanges && verdict.findings.empty();) {
    if (run.steps[i].kind != Kind::kUser) continue;
    const auto turn = i;
    const Exchange exchange{asked_deeds_.begin_of(run, turn), end};
    ++judged;
    end = i = exchange.begin;
    if (!asked_before(run, turn)) judge_one(run, exchange, run.steps[turn].said(), verdict);
  }
  if (judged > 0 && judged < kMostExchanges && end > 0 && verdict.findings.empty()) judge_one(run, {0, end}, run.user_request, verdict);
}

}  // namespace runwarden::plugins
