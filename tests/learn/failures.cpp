// Prints what the weights of false_success are learned from: learn_failures <RUNS, a run on each line as POST /v1/ingest/runs takes it.
// For each run a JSON object on a line: whether a rule is sure, and for each call that may have failed and each message behind it the
// step, how many messages came after that one, whether it may be claimed there at all, and the measures.
#include "each_run.h"
#include "false_success/false_success.h"

int main() {
  using namespace runwarden::plugins;
  FalseSuccess detector("{}");
  each_run([&](RunView& run) {
    const auto verdict = detector.evaluate(run);
    nlohmann::json told = {{"fired", false}, {"doubts", nlohmann::json::array()}};
    ExplanationRecorder explanation;
    run.explanation = &explanation;
    const auto take = [&](const FalseSuccess::Doubt& doubt) {
      told["names"] = detector.measures().names();
      told["doubts"].push_back({{"step", doubt.failed.step},
                                {"after", doubt.messages_after},
                                {"claimed", doubt.tells && !doubt.left_open},
                                {"found", doubt.found},
                                {"values", detector.measures().values()}});
    };
    if (verdict.cannot_tell.empty()) told["fired"] = detector.visit_doubts(run, take);
    told["read"] = verdict.cannot_tell.empty() && !told["doubts"].empty() ? detector.found_as_read(run) : kNoStep;
    return told;
  });
}
