// Prints what the weights of schema_ghost are learned from: learn_ghosts <RUNS, a run on each line as POST /v1/ingest/runs takes it.
// For each run a JSON object on a line: whether a rule is sure, whether one leaves a candidate, and the measures where the weights were
// asked.
#include "each_run.h"
#include "schema_ghost/schema_ghost.h"

int main() {
  using namespace runwarden::plugins;
  SchemaGhost detector("{}");
  each_run([&](RunView& run) {
    ExplanationRecorder explanation;
    run.explanation = &explanation;
    const auto verdict = detector.evaluate(run);
    nlohmann::json told = {{"fired", !verdict.findings.empty() && !detector.weighed()}, {"candidate", verdict.has_candidate}};
    if (detector.weighed()) {
      told["names"] = detector.measures().names();
      told["values"] = detector.measures().values();
    }
    return told;
  });
}
