// Prints what the weights of missing_tool_call are learned from: learn_deeds <RUNS, a run on each line as POST /v1/ingest/runs takes it.
// For each run a JSON object on a line: whether the rules fire, and for each deed that one of its last messages tells the folded text, how
// many messages came after it, and the measures.
#include "each_run.h"
#include "missing_tool_call/missing_tool_call.h"

namespace runwarden::plugins {
namespace {

nlohmann::json deeds_of(const RunView& run, WeighedDeeds& weighed, nlohmann::json& names) {
  constexpr std::size_t kMostMessages = 3;
  auto deeds = nlohmann::json::array();
  std::size_t back = 0;
  weighed.clear();
  for (const auto& message : told_messages(run)) {
    if (back == kMostMessages) break;
    const auto after = back++;
    if (!weighed.read_message(run, said_in(message), after)) continue;
    for (std::size_t deed = 0; deed < weighed.told().size(); ++deed) {
      if (!weighed.is_likely(weighed.told()[deed])) continue;
      const auto& measures = weighed.measure(deed, true);
      names = measures.names();
      deeds.push_back({{"text", weighed.text_of(deed)}, {"after", after}, {"values", measures.values()}});
    }
  }
  return deeds;
}

}  // namespace
}  // namespace runwarden::plugins

int main() {
  using namespace runwarden::plugins;
  MissingToolCall detector("{}");
  each_run([&](RunView& run) {
    const auto verdict = detector.evaluate(run);
    nlohmann::json told = {{"fired", !verdict.findings.empty()}};
    told["deeds"] = verdict.cannot_tell.empty() && !detector.weighed().is_talk(run, verdict)
                        ? deeds_of(run, detector.weighed(), told["names"])
                        : nlohmann::json::array();
    return told;
  });
}
