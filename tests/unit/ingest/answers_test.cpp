#include "ingest/answers.h"

#include <gtest/gtest.h>

namespace runwarden::ingest {
namespace {

model::Finding finding() {
  model::Finding one;
  one.detector_key = "false_success";
  one.suspicion_score = 95;
  one.severity = model::Severity::high;
  one.source = model::Source::tool;
  one.title = "T";
  one.summary = "S \"quoted\"";
  one.primary_step_id = "step_1";
  one.evidence.push_back({"/steps/0/errorMessage", "502"});
  one.waste_usd = 0.6;
  one.fingerprint = "f";
  return one;
}

TEST(Answers, AStoredFailure_HasAllItsMembers) {
  EXPECT_EQ(
      failure_json(finding(), "fail_1", "run_1", 2, 0),
      R"({"failureId":"fail_1","runId":"run_1","revision":2,"detectorKey":"false_success","suspicionScore":95,"severity":"high",)"
      R"("initialFailureSource":"tool","title":"T","summary":"S \"quoted\"","primaryStepId":"step_1",)"
      R"("evidence":[{"pointer":"/steps/0/errorMessage","value":"502"}],"estimatedWasteUsd":0.6,"fingerprint":"f","detectedAt":"1970-01-01T00:00:00.000Z"})");
}

TEST(Answers, AFailure_SaysWhoFoundItAndThatItWasOnTrial) {
  model::Finding one = finding();
  one.shadow = true;
  one.provenance = std::make_shared<const model::Provenance>(model::Provenance{"1.2", "aa", "bb"});
  const std::string text = failure_json(one, "fail_1", "run_1", 1, 0);
  EXPECT_NE(text.find(R"("detectorKey":"false_success","mode":"shadow",)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("provenance":{"detectorVersion":"1.2","librarySha256":"aa","settingsHash":"bb"})"), std::string::npos) << text;
}

TEST(Answers, AFailureThatAModelConfirmed_SaysWho) {
  model::Finding one = finding();
  one.confirmed_by = "model:small-1";
  one.provenance = std::make_shared<const model::Provenance>(model::Provenance{"1.2", "", "bb"});
  const std::string text = failure_json(one, "fail_1", "run_1", 1, 0);
  EXPECT_NE(text.find(R"("provenance":{"detectorVersion":"1.2","settingsHash":"bb"},"confirmedBy":"model:small-1","detectedAt":)"), std::string::npos) << text;
}

TEST(Answers, MembersWithoutAValue_AreLeftOut) {
  model::Finding one = finding();
  one.primary_step_id.clear();
  one.waste_usd.reset();
  one.evidence.clear();
  const std::string text = failure_json(one, {}, {}, 1, 0);
  for (const char* member : {"failureId", "runId", "revision", "primaryStepId", "estimatedWasteUsd", "detectedAt", "provenance", "mode", "confirmedBy"}) {
    EXPECT_EQ(text.find(member), std::string::npos) << member;
  }
}

TEST(Answers, Detectors) {
  EXPECT_EQ(
      detectors_json({{"a", model::DetectorStatus::fired, "", {}, 0},
                      {"b", model::DetectorStatus::not_evaluable, "no steps", {}, 0},
                      {"c", model::DetectorStatus::clean, "", {{"recovered", "step_2", "why"}, {"vague_claim", "", "x", 0.45}}, 0}}),
      R"([{"key":"a","status":"fired"},{"key":"b","status":"not_evaluable","reason":"no steps"},)"
      R"({"key":"c","status":"clean","suppressed":[{"rule":"recovered","stepId":"step_2","reason":"why"},{"rule":"vague_claim","reason":"x","confidence":0.45}]}])");
}

TEST(Answers, ARunReadBack_HasItsDocumentAndTheServersMembers) {
  model::RunRecord run;
  run.run_id = "r";
  run.document = R"({"runId":"r","x":1})";
  run.failures_json = run.detectors_json = run.policies_json = "[]";
  EXPECT_EQ(
      run_json(run),
      R"({"runId":"r","x":1,"state":"resolved","resolution":"whole","revision":1,"receivedAt":"1970-01-01T00:00:00.000Z","failures":[],"detectors":[],"policies":[]})");
  EXPECT_EQ(ingest_answer(run),
            R"({"runId":"r","state":"resolved","receivedAt":"1970-01-01T00:00:00.000Z","failures":[],"detectors":[],"policies":[]})");
}

TEST(Answers, AnOpenRun_ContinuesOneWhoseHttpStatusIsStoredTwice) {
  model::RunRecord run;
  run.run_id = "r";
  run.document = R"({"runId":"r","steps":[{"metadata":{"httpStatus":null,"status_code":502,"httpStatus":502},"stepId":"a"}]})";
  const std::string text = open_run_json(run, {R"({"type":"model_output","text":"Done."})"});
  EXPECT_NE(text.find(R"({"metadata":{"status_code":502,"httpStatus":502},"stepId":"a"},{"stepKind":"model","outputSummary":"Done.")"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace runwarden::ingest
