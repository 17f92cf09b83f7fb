#include "missing_tool_call/passed_on.h"

#include "common/words.h"
#include "text/fold.h"

namespace runwarden::plugins {

void PassedOn::judge(const RunView& run, Verdict& verdict) {
  constexpr std::size_t kMostRead = 4, kLongest = 4096;
  constexpr double kPassedOn = 0.65;
  if (rules_.send_verb == kNoVerb) return;
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
  const auto fire = [&](const AgentMessage& said) {
    const FiringLine::Doubt doubt{"passing_on", said.step, "the agent says that it passes this on, but no call did"};
    if (!rules_.line.fires(kPassedOn, doubt, verdict)) return;
    const Request meant{rules_.send_verb, Thing::kUnknown, false, false, false, kNoStep, {}};
    verdict.fire(asked_deeds_.finding(run, meant, said, scene_.ran.any ? AskedDeeds::kNoWriteScore : AskedDeeds::kNoToolScore), kPassedOn);
  };
  if (tells(run.outcome)) return fire({run.outcome, "/outcomeSummary", kNoStep});
  for (auto i = run.steps.size(); i-- > 0 && read_messages < kMostRead;) {
    if (run.steps[i].kind != Kind::kModel) continue;
    ++read_messages;
    if (tells(run.steps[i].output)) return fire({run.steps[i].output, pointer_to(i, Field::kOutput), i});
  }
}

}  // namespace runwarden::plugins
