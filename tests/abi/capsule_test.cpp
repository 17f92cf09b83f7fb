// A plugin built against the frozen header of ABI 1.0, through the real loader.
#include <gmock/gmock.h>

#include "bad-plugins/zoo.h"

namespace runwarden::detect {
namespace {

class CapsuleV10 : public Zoo {
 protected:
  CapsuleV10() {
    enable("capsule_v1_0").key = "capsule";
    run.document = R"({"steps":[{"metadata":{"region":"eu"}}]})";
    model::Step step;
    step.id = "step_1";
    step.name = "issue_refund";
    step.kind = model::StepKind::tool;
    step.outcome = model::Outcome::failed;
    step.error_message = "502 Bad Gateway";
    step.raw_json = std::string_view(run.document).substr(10, 28);
    run.steps.push_back(step);
  }
};

TEST_F(CapsuleV10, WhenARunFails_SaysWhatItSaidTheDayItWasBuilt) {
  auto set = load();
  ASSERT_TRUE(set.ok()) << set.error().detail;
  EXPECT_THAT(log, testing::HasSubstr("detector \"capsule\": capsule opened"));
  const model::Verdict verdict = (*set)->evaluate(run, "acme", 0);
  ASSERT_EQ(verdict.findings.size(), 1U);
  const model::Finding& found = verdict.findings[0];
  EXPECT_EQ(found.suspicion_score, 61);
  EXPECT_EQ(found.severity, model::Severity::critical);
  EXPECT_EQ(found.source, model::Source::coordination);
  EXPECT_EQ(found.title, "a capsule's title");
  EXPECT_EQ(found.primary_step_id, "step_1");
  ASSERT_EQ(found.evidence.size(), 1U);
  EXPECT_EQ(found.evidence[0].value, "eu");
  EXPECT_EQ(found.waste_usd, std::optional(0.25));
  EXPECT_EQ(found.fingerprint, "capsule:issue_refund:# bad gateway");
}

TEST_F(CapsuleV10, WhenTheRegionIsMissing_SuppressesAndIsClean) {
  run.steps[0].raw_json = "{}";
  auto set = load();
  ASSERT_TRUE(set.ok());
  const auto report = (*set)->evaluate(run, "acme", 0).reports[0];
  EXPECT_EQ(report.status, model::DetectorStatus::clean);
  ASSERT_EQ(report.suppressed.size(), 1U);
  EXPECT_EQ(report.suppressed[0].step_id, "step_1");
}

TEST_F(CapsuleV10, WhenThereAreNoSteps_IsNotEvaluable) {
  run.steps.clear();
  auto set = load();
  ASSERT_TRUE(set.ok());
  EXPECT_EQ((*set)->evaluate(run, "acme", 0).reports[0].status, model::DetectorStatus::not_evaluable);
}

}  // namespace
}  // namespace runwarden::detect
