#include "common/fold.h"
#include "common/words.h"
#include "missing_tool_call/missing_tool_call.h"

namespace runwarden::plugins {

/// "I'll get that to the care team now, they'll reach out to you": the agent says that it passes something on and that somebody will act on
/// it, but no call did. Reads the last messages only.
void MissingToolCall::judge_passing_on(const RunView& run, Verdict& verdict) {
  constexpr std::size_t kMostRead = 4, kLongest = 4096;
  constexpr double kPassedOn = 0.65;
  if (send_verb_ == kNoVerb) return;
  std::size_t read_messages = 0;
  std::string folded;
  HashSet words;
  const auto tells = [&](std::string_view text) {
    if (text.size() > kLongest) return false;
    run.pace(text.size());
    if (!follow_ups_.may_be_in(text) || !passing_on_.may_be_in(text)) return false;
    fold(text, folded);
    words.clear();
    for_each_word(folded, [&](std::string_view word) {
      words.insert(hash_bytes(word));
      return true;
    });
    return follow_ups_.in(folded, words) && passing_on_.in(folded, words);
  };
  const auto fire = [&](const Said& said) {
    const FiringLine::Doubt doubt{"passing_on", said.step, "the agent says that it passes this on, but no call did"};
    if (!line_.fires(kPassedOn, doubt, verdict)) return;
    const Request meant{send_verb_, Thing::kUnknown, false, false, false, kNoStep, {}};
    verdict.fire(finding(run, meant, said, ran_.any ? kNoWriteScore : kNoToolScore), kPassedOn);
  };
  if (tells(run.outcome)) return fire({run.outcome, "/outcomeSummary", kNoStep});
  for (auto i = run.steps.size(); i-- > 0 && read_messages < kMostRead;) {
    if (run.steps[i].kind != Kind::kModel) continue;
    ++read_messages;
    if (tells(run.steps[i].output)) return fire({run.steps[i].output, pointer_to(i, Field::kOutput), i});
  }
}

}  // namespace runwarden::plugins
