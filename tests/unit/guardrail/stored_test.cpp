// Drafts of stored failures: which runs they are tried on, and what ends the trial.
#include "guardrail/stored.h"

#include "runs.h"
#include "support/sample_values.h"
#include "unit/store/engines.h"
#include "unit/store/sample_records.h"

namespace runwarden::guardrail {
namespace {

const std::string kClaim = "Your refund has been processed.";

// A clock that goes on each time it is asked.
class TickingClock final : public Clock {
 public:
  std::int64_t wall_ms() const override { return 0; }
  std::int64_t monotonic_ns() const override { return now_ns_ += step_ns; }
  std::int64_t step_ns = 0;

 private:
  mutable std::int64_t now_ns_ = 0;
};

class GuardrailStored : public store::StoreContractTest {
 protected:
  // A refund that failed and was claimed, or one that is fine.
  std::string store_run(const std::string& fingerprint = {}, const std::string& claim = kClaim) {
    store::RunWrite write = store::sample_run(kTenant, new_key());
    const bool fails = !fingerprint.empty();
    json run = run_of(fails ? failed_call("issue_refund") : call("issue_refund"), {{"runId", write.run.run_id}, {"outcomeSummary", claim}});
    write.run.document = run.dump();
    if (fails) {
      auto failure = store::sample_failure(new_key(), "false_success", 95, fingerprint);
      const json told = {
          {"failureId", failure.id},
          {"detectorKey", "false_success"},
          {"fingerprint", fingerprint},
          {"primaryStepId", "step_1"},
          {"evidence", {{{"pointer", "/steps/0/errorMessage"}, {"value", "502"}}, {{"pointer", "/outcomeSummary"}, {"value", claim}}}}};
      failure.json = told.dump();
      write.run.failures_json = json::array({told}).dump();
      write.failures.push_back(failure);
      last_failure_ = failure.id;
    }
    const std::string id = write.run.run_id;
    commit(std::move(write));
    clock_.advance_ms(1);
    return id;
  }

  ReportSources sources() { return {*store_, store_->groups(), ticking_, kTenant, {}}; }
  static std::string cluster(const std::string& fingerprint) { return model::cluster_id(model::cluster_key(fingerprint)); }

  TickingClock ticking_;
  std::string last_failure_;
};

TEST_P(GuardrailStored, ATrial_LooksAtTheLatest200OfTheGroup_And400Others) {
  for (int i = 0; i < 30; ++i) store_run();
  for (int i = 0; i < 205; ++i) store_run("a");
  for (int i = 0; i < 5; ++i) store_run("b");
  for (int i = 0; i < 400; ++i) store_run();
  const auto report = report_of_cluster(sources(), cluster("a"));
  ASSERT_TRUE(report.ok()) << report.error().detail;
  EXPECT_EQ(report->trial.cluster.runs, 200);
  EXPECT_EQ(report->trial.cluster.caught, 200);
  EXPECT_EQ(report->trial.others.runs, 400);
  EXPECT_EQ(report->trial.others.caught, 0) << "those of the other group are older than 400 runs";
  EXPECT_TRUE(report->trial.complete);
  EXPECT_EQ(report->cluster_id, cluster("a"));
}

TEST_P(GuardrailStored, RunsOfAnotherGroup_AreOthers) {
  store_run("a");
  store_run("b");
  store_run();
  const auto report = report_of_cluster(sources(), cluster("a"));
  EXPECT_EQ(report->trial.cluster.runs, 1);
  EXPECT_EQ(report->trial.others.runs, 2);
  EXPECT_EQ(report->trial.others.caught, 1);
}

TEST_P(GuardrailStored, WhenTwoSecondsAreOver_TheTrialSaysHowFarItCame) {
  for (int i = 0; i < 100; ++i) store_run("a");
  for (int i = 0; i < 100; ++i) store_run();
  ticking_.step_ns = kTrialNs / 100;
  const auto report = report_of_cluster(sources(), cluster("a"));
  ASSERT_TRUE(report.ok());
  EXPECT_FALSE(report->trial.complete);
  EXPECT_GT(report->trial.cluster.runs, 0);
  EXPECT_LT(report->trial.cluster.runs, 60);
  EXPECT_GT(report->trial.others.runs, 0) << "the group leaves half of the time";
  EXPECT_LT(report->trial.cluster.runs + report->trial.others.runs, 101);
}

TEST_P(GuardrailStored, ARunThatDoesNotFitIntoMemory_IsLeftOutAndTold) {
  store_run("a");
  for (int i = 0; i < 3; ++i) store_run();
  store_run({}, std::string(100'000, 'x'));
  ReportSources little = sources();
  little.room = [](std::uint64_t bytes) { return bytes < 50'000; };
  const auto report = report_of_cluster(little, cluster("a"));
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->trial.others.runs, 3);
  EXPECT_FALSE(report->trial.complete);
}

TEST_P(GuardrailStored, AGroup_WidensTheDraftOfItsNewestFailure) {
  const std::string first = store_run("a", "The money was returned.");
  const std::string last = store_run("a");
  const auto report = report_of_failure(sources(), last_failure_);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->run_ids, (std::vector<std::string>{last, first}));
  EXPECT_EQ(report->trial.cluster.caught, 2);
}

TEST_P(GuardrailStored, WhatIsNotThere_IsTold) {
  store_run("a");
  EXPECT_EQ(report_of_failure(sources(), "fail_none").error().code, Code::not_found);
  EXPECT_EQ(report_of_cluster(sources(), "cl_none").error().code, Code::not_found);
  ReportSources foreign{*store_, store_->groups(), ticking_, kTenant + 1, {}};
  EXPECT_EQ(report_of_cluster(foreign, cluster("a")).error().code, Code::not_found);
}

INSTANTIATE_TEST_SUITE_P(Engines, GuardrailStored, store::kEngines, store::kEngineName);

}  // namespace
}  // namespace runwarden::guardrail
