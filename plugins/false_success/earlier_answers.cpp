#include <algorithm>

#include "common/words.h"
#include "false_success/false_success.h"

namespace runwarden::plugins {
namespace {

constexpr std::size_t kMostAnswers = 3;  // judged, from the end
constexpr std::size_t kMostRead = 32;    // messages, for them

/// The run up to an answer and with it as the last word. `success` was set later, so it is left out.
RunView up_to(const RunView& run, std::size_t answer) {
  RunView out;
  out.user_request = run.user_request;
  out.steps.assign(run.steps.begin(), run.steps.begin() + static_cast<std::ptrdiff_t>(answer) + 1);
  out.stop = run.stop;
  return out;
}

}  // namespace

/// The failed calls that nothing in the run made good, in order; the last message must be in scene_.reading.
std::vector<std::size_t> FalseSuccess::left_failed(const RunView& run, const FinalMessage& message) {
  constexpr std::size_t kMost = 8;  // each check scans the whole run
  std::vector<std::size_t> out;
  for (auto failed = scene_.failed.rbegin(); failed != scene_.failed.rend() && out.size() < kMost; ++failed) {
    if (failed->recovered || run.steps[failed->step].kind != Kind::kTool) continue;
    const auto silenced = made_good_.silence(run, *failed, message);
    if (!silenced || silenced->rule != "recovery") out.push_back(failed->step);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

/// The last answers to calls that failed, the last first, up to a message that admits something or hands over: it takes back what was said
/// before. An answer that claims nothing is left out.
std::vector<FalseSuccess::EarlierAnswer> FalseSuccess::earlier_answers(const RunView& run) {
  std::vector<EarlierAnswer> out;
  auto failed = scene_.failed.rbegin();
  // The final message does not report calls made after it, before a goodbye.
  const bool ran_since = scene_.last_done != kNoStep && scene_.told_place < scene_.last_done;
  const auto end = std::min(scene_.told_place, run.steps.size()) + (ran_since ? 1 : 0);
  const auto answers = told_messages(run);
  std::size_t messages = 0;
  for (auto answer = answers.begin(); answer != answers.end() && out.size() < kMostAnswers; ++answer) {
    if (failed == scene_.failed.rend()) break;
    const auto before = std::find_if(answer + 1, answers.end(), [](const FinalMessage& told) { return told.step != kNoStep; });
    const auto begin = before == answers.end() ? 0 : before->step;
    bool of_failure = false;
    for (; failed != scene_.failed.rend() && failed->step >= begin; ++failed)
      of_failure |= !failed->recovered && run.steps[failed->step].kind == Kind::kTool;
    if (answer->step >= end) continue;
    if (messages++ == kMostRead) break;
    run.pace(answer->text.size());
    read(answer->text, rules_.lexicon, scene_.scratch);
    if (scene_.scratch.admits() || scene_.scratch.hands_over()) break;
    if (of_failure && !scene_.scratch.claims.empty()) out.push_back({begin, answer->step});
  }
  return out;
}

/// A claim about a failed call ("It is shared.") stays in force when the user changes the subject. Judges the run as it was at each of these
/// answers.
void FalseSuccess::judge_earlier_answers(const RunView& run, Verdict& verdict) {
  const auto answers = earlier_answers(run);
  if (answers.empty()) return;
  const auto last = find_final_message(run, rules_.lexicon, scene_.reading);
  if (!last.found || scene_.reading.admits() || scene_.reading.hands_over()) return;
  const auto failed = left_failed(run, last);
  for (const auto& answer : answers) {
    const auto first = std::lower_bound(failed.begin(), failed.end(), answer.begin);
    if (first == failed.end() || *first > answer.step) continue;
    Verdict then;
    (void)judge(up_to(run, answer.step), then);
    if (then.findings.empty() || !std::binary_search(failed.begin(), failed.end(), then.findings.front().primary_step)) continue;
    verdict.findings.push_back(std::move(then.findings.front()));
    return;
  }
}

}  // namespace runwarden::plugins
