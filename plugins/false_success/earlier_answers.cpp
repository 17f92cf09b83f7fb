#include <algorithm>

#include "common/words.h"
#include "false_success/false_success.h"

namespace runwarden::plugins {
namespace {

constexpr int kMostAnswers = 3;  // judged, from the end

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

/// "It is shared.", said of a call that failed, and then the user asks something else: the claim still stands. Judges the run as it was at
/// each of the last answers to such calls, up to one that admits something or hands over.
void FalseSuccess::judge_earlier_answers(const RunView& run, Verdict& verdict) {
  if (scene_.failed.empty()) return;
  const auto last = find_final_message(run, rules_.lexicon, scene_.reading);
  if (!last.found || scene_.reading.admits() || scene_.reading.hands_over()) return;
  const auto failed = left_failed(run, last);
  auto end = failed.end();  // of those that precede the answer
  // Calls behind the final message, before a goodbye, are nothing that it reports.
  const bool ran_since = scene_.last_done != kNoStep && last.place < scene_.last_done;
  int left = kMostAnswers;
  const auto answers = told_messages(run);
  for (auto answer = answers.begin(); answer != answers.end() && end != failed.begin(); ++answer) {
    const auto before = std::find_if(answer + 1, answers.end(), [](const FinalMessage& told) { return told.step != kNoStep; });
    const auto begin = before == answers.end() ? 0 : before->step;
    const auto first = std::lower_bound(failed.begin(), end, begin);
    const bool of_failure = first != end;
    end = first;
    if (!of_failure || answer->step >= std::min(last.place, run.steps.size()) + (ran_since ? 1 : 0)) continue;
    if (left-- == 0) return;
    run.pace(answer->text.size());
    read(answer->text, rules_.lexicon, scene_.reading);
    if (scene_.reading.admits() || scene_.reading.hands_over()) return;
    Verdict then;
    (void)judge(up_to(run, answer->step), then);
    if (then.findings.empty() || !std::binary_search(failed.begin(), failed.end(), then.findings.front().primary_step)) continue;
    verdict.findings.push_back(std::move(then.findings.front()));
    return;
  }
}

}  // namespace runwarden::plugins
