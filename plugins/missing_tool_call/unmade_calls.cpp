#include "missing_tool_call/unmade_calls.h"

#include <algorithm>

#include "common/tools.h"
#include "common/words.h"
#include "evidence/written_call.h"

#include "missing_tool_call/told_deeds.h"

namespace runwarden::plugins {
namespace {

/// False for most messages that hold no call, at little cost.
bool may_hold_call(std::string_view message) {
  if (message.find("\"name\"") != std::string_view::npos) return true;
  const auto open = message.find('(');
  return open != std::string_view::npos && message.find('=', open) != std::string_view::npos;
}

}  // namespace

/// True when a call of the tool followed the message, or an earlier one was about what the message names, or another tool since then does
/// the same.
bool UnmadeCalls::was_made(const RunView& run, const UnmadeCall& call, std::string_view name) {
  constexpr std::size_t kLongest = 16 * 1024;  // bytes of the message, and values of a call, that are compared
  constexpr std::size_t kMostValues = 16;
  const auto message = run.steps[call.step].output.substr(0, kLongest);
  std::vector<CallValue> values;
  const auto made = [&](std::size_t i) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kTool) return false;
    const bool later = i > call.step;
    if (base_name(step.name) != base_name(name)) return later && scene_.tools.meaning(step.name).group == call.tool->group;
    if (later) return true;
    if (step.outcome == Outcome::kFailed) return false;
    run.pace(step.input.size());
    collect_values(step.input, rules_.tool_words.calls, values);
    if (values.size() > kMostValues) values.resize(kMostValues);
    return std::none_of(values.begin(), values.end(),
                        [&](const CallValue& value) { return value.names_object && message.find(value.text) == std::string_view::npos; });
  };
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    if (made(i)) return true;
  }
  return false;
}

/// The first verb in a tool's name.
std::uint16_t UnmadeCalls::verb_in(std::string_view tool) const {
  std::vector<std::string> words;
  split_tool_name(base_name(tool), words);
  for (const auto& word : words) {
    const auto* entry = rules_.lexicon.find(word);
    if (entry != nullptr && entry->verb != kNoVerb && (entry->forms & kFormBase) != 0) return entry->verb;
  }
  return kNoVerb;
}

/// The last call of a tool that changes something that the agent wrote into a message instead of making it, then or later: nothing ran
/// right after the message.
std::optional<UnmadeCalls::UnmadeCall> UnmadeCalls::last_unmade_call(const RunView& run) {
  for (auto i = run.steps.size(); i-- > 0;) {
    const auto& step = run.steps[i];
    if (step.kind != Kind::kModel || !may_hold_call(step.output)) continue;
    if (i + 1 < run.steps.size() && run.steps[i + 1].kind == Kind::kTool) continue;
    run.pace(step.output.size());
    const auto name = written_call(step.output);
    if (!name || name->empty()) continue;
    const UnmadeCall call{i, &scene_.tools.meaning(*name), verb_in(*name)};
    if (call.tool->reads || call.tool->any_purpose || call.verb == kNoVerb) continue;
    if (was_made(run, call, *name)) return std::nullopt;
    return call;
  }
  return std::nullopt;
}

void UnmadeCalls::judge(const RunView& run, Verdict& verdict) {
  constexpr double kToldLater = 0.7;
  const auto call = last_unmade_call(run);
  if (!call) return;
  const auto& groups = call->tool->groups;
  const auto does = [&](std::uint16_t verb) {
    return std::find(groups.begin(), groups.end(), rules_.lexicon.verb(verb).group) != groups.end();
  };
  const auto acts = [&](std::uint16_t verb) { return does(verb) || scene_.requests.light(verb); };
  const auto finishes = [&](std::uint16_t verb) { return rules_.lexicon.verb(verb).group == rules_.finish_group; };
  const auto messages = told_messages(run);
  for (const auto& message : messages) {
    const auto said = said_in(message);
    if (said.step <= call->step) break;
    read(said.text, rules_.lexicon, scene_.reading);
    if (unchanged_.tells_no_deeds(said, said.step == messages.front().step)) {
      if (scene_.reading.admits() || scene_.reading.hands_over()) break;
      continue;
    }
    collect_deeds(scene_.reading, acts, finishes, scene_.deeds);
    const auto told = std::find_if(scene_.deeds.begin(), scene_.deeds.end(), [](const ToldDeed& deed) {
      return deed.telling == Telling::kGeneral || deed.telling >= Telling::kState;
    });
    if (told == scene_.deeds.end()) continue;
    const auto verb = told->claim.verb != kNoVerb && does(told->claim.verb) ? told->claim.verb : call->verb;
    const Request meant{verb, Thing::kUnknown, false, false, false, kNoStep, run.user_request};
    if (rules_.line.fires(kToldLater, {"unmade_call", said.step, "the agent only wrote a call down, and reports its effect as done"},
                          verdict))
      verdict.fire(asked_deeds_.finding(run, meant, said, AskedDeeds::kNoWriteScore), kToldLater);
    return;
  }
}

}  // namespace runwarden::plugins
