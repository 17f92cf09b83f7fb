// What becomes of a run when its detectors behave, and when they do not. Plugins go through the real loader.
#include <gmock/gmock.h>

#include <thread>

#include "base/digest.h"
#include "detect/crash_marks.h"
#include "detect/libraries.h"
#include "zoo.h"

namespace runwarden::detect {
namespace {

using model::DetectorStatus;
using testing::EndsWith;
using testing::HasSubstr;

class DetectorSetTest : public Zoo {
 protected:
  // The one report, and its findings.
  model::DetectorReport report(const std::string& animal) {
    verdict = evaluate(animal);
    EXPECT_EQ(verdict.reports.size(), 1U);
    return verdict.reports.empty() ? model::DetectorReport{} : verdict.reports[0];
  }
  model::Verdict verdict;
};

TEST_F(DetectorSetTest, WhenADetectorEmits_ItFired) {
  EXPECT_EQ(report("good").status, DetectorStatus::fired);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].detector_key, "zoo");
  EXPECT_EQ(verdict.findings[0].fingerprint, "zoo:a title");
}

TEST_F(DetectorSetTest, WhenADetectorAbstains_TheRunIsNotEvaluable) {
  const auto said = report("abstains");
  EXPECT_EQ(said.status, DetectorStatus::not_evaluable);
  EXPECT_EQ(said.reason, "no output on any tool step");
}

TEST_F(DetectorSetTest, WhenAReasonToAbstainIsTooLong_TheRunIsNotClean) {
  const auto said = report("abstains_at_length");
  EXPECT_EQ(said.status, DetectorStatus::error);
  EXPECT_EQ(said.reason, "its reason to abstain was rejected: it has 1025 bytes, the limit is 1024");
  settings.entries.clear();
  run.document = "say little";
  run.user_request = run.document;
  const auto layered = report("layer_throws");
  EXPECT_EQ(layered.status, DetectorStatus::not_evaluable);
  EXPECT_EQ(layered.reason, std::string(1023, 'x')) << "no half of a character";
}

TEST_F(DetectorSetTest, WhenADetectorAbstainsAndEmits_FindingsWin) {
  EXPECT_EQ(report("abstains_and_emits").status, DetectorStatus::fired);
  EXPECT_EQ(verdict.findings.size(), 1U);
}

TEST_F(DetectorSetTest, WhenARuleKeepsQuiet_TheRunIsCleanAndSaysSo) {
  const auto said = report("suppresses");
  EXPECT_EQ(said.status, DetectorStatus::clean);
  ASSERT_EQ(said.suppressed.size(), 1U);
  EXPECT_EQ(said.suppressed[0].rule, "recovered");
}

TEST_F(DetectorSetTest, WhenADetectorFails_ItsFindingsAreDroppedWhole) {
  const auto said = report("returns_error");
  EXPECT_EQ(said.status, DetectorStatus::error);
  EXPECT_EQ(said.reason, "the table is missing");
  EXPECT_TRUE(verdict.findings.empty());
}

TEST_F(DetectorSetTest, WhenADetectorFailsWithoutAText_TheStatusIsNamed) {
  EXPECT_EQ(report("fails_silently").reason, "status -77 without an error text");
}

TEST_F(DetectorSetTest, WhenADetectorThrowsAcross_TheHostLives) {
  const auto said = report("throws_evaluate");
  EXPECT_EQ(said.status, DetectorStatus::error);
  EXPECT_EQ(said.reason, "threw an exception across the ABI: boom in evaluate");
}

TEST_F(DetectorSetTest, WhenADetectorThrowsInTheLayer_ItsTextIsTheReason) {
  EXPECT_EQ(report("layer_throws").reason, "threw something other than a std::exception");
  run.steps.emplace_back();
  settings.entries.clear();
  EXPECT_EQ(report("layer_throws").reason, "boom in the layer");
  EXPECT_TRUE(verdict.findings.empty());
}

TEST_F(DetectorSetTest, WhenTheDeadlinePasses_TheStatusIsTimeout) {
  const auto said = report("stops");
  EXPECT_EQ(said.status, DetectorStatus::timeout);
  EXPECT_THAT(said.reason, EndsWith(" ms, the deadline is 250 ms"));
  EXPECT_TRUE(verdict.findings.empty());
}

TEST_F(DetectorSetTest, WhenADetectorIgnoresTheDeadline_TheStatusIsTimeout) {
  EXPECT_EQ(report("ignores_deadline").status, DetectorStatus::timeout);
  EXPECT_TRUE(verdict.findings.empty());
}

TEST_F(DetectorSetTest, WhenADetectorStopsForNoReason_TheStatusIsError) {
  EXPECT_EQ(report("stops_early").reason, "stopped before its deadline");
}

TEST_F(DetectorSetTest, WhenAFindingIsRefused_ItDoesNotLookLikeNothingFound) {
  auto said = report("bad_utf8");
  EXPECT_EQ(said.status, DetectorStatus::error);
  EXPECT_EQ(said.reason, "its finding was rejected: title or summary is not UTF-8 text without NUL");
  settings.entries.clear();
  said = report("bad_step");
  EXPECT_EQ(said.reason, "its finding was rejected: the primary step is 0, the run has 0 steps");
  settings.entries.clear();
  said = report("too_long");
  EXPECT_EQ(said.reason, "its finding was rejected: the title has 513 bytes, the limit is 512");
  settings.entries.clear();
  said = report("too_sure");
  EXPECT_EQ(said.reason, "its finding was rejected: the confidence is not a number from 0 to 1");
}

TEST_F(DetectorSetTest, WhenAFindingIsRefusedInTheLayer_TheReasonSaysWhy) {
  run.document = "surer than sure";
  run.user_request = run.document;
  EXPECT_EQ(report("layer_throws").reason,
            "emit: the host answered status -1; its finding was rejected: the score is 101, expected 0 to 100");
}

TEST_F(DetectorSetTest, WhenFindingsAreTooMany_TheFirstStandAndTheRestAreCounted) {
  const auto said = report("too_many");
  EXPECT_EQ(said.status, DetectorStatus::fired);
  EXPECT_EQ(verdict.findings.size(), 64U);
  EXPECT_EQ(said.reason, "10 more findings exceeded the limit of 64");
}

TEST_F(DetectorSetTest, WhenADetectorLeaksAThread_NothingElseSuffers) {
  EXPECT_EQ(report("leaks_thread").status, DetectorStatus::fired);
}

TEST_F(DetectorSetTest, WhenADetectorFailsTooOften_IsQuarantinedUntilAReload) {
  settings.deadline_ms = 10'000;
  enable("returns_error");
  auto set = load();
  ASSERT_TRUE(set.ok());
  for (int i = 0; i < 5; ++i) EXPECT_EQ((*set)->evaluate(run, {}, 0).reports[0].status, DetectorStatus::error);
  const auto said = (*set)->evaluate(run, {}, 0).reports[0];
  EXPECT_EQ(said.status, DetectorStatus::quarantined);
  EXPECT_EQ(said.reason, "failed 5 times within 60 s, last: the table is missing; skipped until the detectors are reloaded");
  EXPECT_THAT(log, HasSubstr("detector \"zoo\" is quarantined: failed 5 times"));
  const auto info = (*set)->list()[0];
  EXPECT_TRUE(info.quarantined);
  EXPECT_EQ(info.errors, 5U);
  EXPECT_EQ(info.evaluations, 5U);
  auto reloaded = load();
  ASSERT_TRUE(reloaded.ok());
  EXPECT_EQ((*reloaded)->evaluate(run, {}, 0).reports[0].status, DetectorStatus::error);
}

TEST_F(DetectorSetTest, WhenEarlierProcessesCrashed_TheDetectorStartsQuarantined_AndAReloadCallsItAgain) {
  enable("good");
  CrashMarks marks;
  for (int i = 0; i < 5; ++i) {
    model::CrashMark mark;
    mark.run_id = "run_" + std::to_string(i);
    mark.detector_key = "zoo";
    mark.library_sha256 = to_hex(sha256(bytes_of("good")));
    marks.add(mark);
  }
  context.crash_marks = &marks;
  context.earlier_crashes = EarlierCrashes::counted;
  auto first = load();
  ASSERT_TRUE(first.ok()) << first.error().detail;
  EXPECT_EQ((*first)->evaluate(run, {}, 0).reports[0].status, DetectorStatus::quarantined);
  EXPECT_THAT(log, HasSubstr("detector \"zoo\" is quarantined: failed 5 times within 60 s, last: it crashed the process"));
  context.earlier_crashes = EarlierCrashes::ignored;
  auto reloaded = load();
  ASSERT_TRUE(reloaded.ok()) << reloaded.error().detail;
  EXPECT_EQ((*reloaded)->evaluate(run, {}, 0).reports[0].status, DetectorStatus::fired);
}

TEST_F(DetectorSetTest, WhenADetectorFailsToExplain_ItGoesOnJudging) {
  settings.quarantine_failures = 2;
  enable("returns_error");
  auto set = load();
  ASSERT_TRUE(set.ok()) << set.error().detail;
  for (int i = 0; i < 5; ++i) EXPECT_EQ((*set)->evaluate(run, {}, 0, Explain::yes).reports[0].status, DetectorStatus::error);
  const auto info = (*set)->list()[0];
  EXPECT_EQ(info.evaluations, 0U);
  EXPECT_EQ(info.errors, 0U);
  EXPECT_FALSE(info.quarantined);
  EXPECT_EQ((*set)->evaluate(run, {}, 0).reports[0].status, DetectorStatus::error);
  EXPECT_EQ((*set)->list()[0].errors, 1U);
}

TEST_F(DetectorSetTest, WhenTheSetIsListed_EveryDetectorIsDescribed) {
  enable("good").settings_json = R"({"repeats":3})";
  auto set = load();
  ASSERT_TRUE(set.ok());
  const auto info = (*set)->list()[0];
  EXPECT_EQ(info.key, "zoo");
  EXPECT_EQ(info.title, "Zoo animal");
  EXPECT_EQ(info.version, "1.0.0");
  EXPECT_EQ(info.abi, "1.0");
  EXPECT_EQ(info.library, detectors / "good.so");
  EXPECT_EQ(info.sha256, to_hex(sha256(bytes_of("good"))));
  EXPECT_EQ(info.settings_json, R"({"repeats":3})");
  EXPECT_TRUE(info.enabled && info.loaded && !info.quarantined);
}

TEST_F(DetectorSetTest, WhenAnOptionalDetectorIsMissing_EachRunSaysSo) {
  enable("good");
  settings.entries.push_back({"absent", "nowhere.so", {}, true, {}});
  settings.tenants["acme"] = {{"absent"}, {}};
  auto set = load();
  ASSERT_TRUE(set.ok()) << set.error().detail;
  const auto reports = (*set)->evaluate(run, {}, 0).reports;
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].key, "absent");
  EXPECT_EQ(reports[0].status, DetectorStatus::not_evaluable);
  EXPECT_THAT(reports[0].reason, HasSubstr("could not be loaded"));
  EXPECT_EQ((*set)->evaluate(run, "acme", 0).reports.size(), 1U);
}

TEST_F(DetectorSetTest, WhenADetectorIsSwitchedOff_ItIsOnlyListed) {
  enable("good");
  settings.switched_off.push_back({"absent", "nowhere.so", "{}", false, {}});
  auto set = load();
  ASSERT_TRUE(set.ok()) << set.error().detail;
  EXPECT_EQ((*set)->evaluate(run, {}, 0).reports.size(), 1U);
  const auto listed = (*set)->list();
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].key, "absent");
  EXPECT_FALSE(listed[0].enabled || listed[0].loaded);
}

TEST_F(DetectorSetTest, WhenATenantHasChanges_TheyAreItsOwn) {
  enable("good").settings_json = R"({"repeats":3})";
  settings.entries.push_back({"zoo_two", "good.so", {}, false, {}});
  settings.tenants["acme"] = {{"zoo_two"}, {{"zoo", R"({"repeats":5})"}}};
  auto set = load();
  ASSERT_TRUE(set.ok()) << set.error().detail;
  EXPECT_EQ((*set)->evaluate(run, "acme", 0).reports.size(), 1U);
  EXPECT_EQ((*set)->evaluate(run, "other", 0).reports.size(), 2U);
  const auto acme = (*set)->list("acme");
  ASSERT_EQ(acme.size(), 2U);
  EXPECT_EQ(acme[0].settings_json, R"({"repeats":5})");
  EXPECT_FALSE(acme[1].enabled);
}

TEST_F(DetectorSetTest, WhenADetectorIsOnTrial_WhatItSaysStandsApart) {
  enable("good").mode = model::DetectorMode::shadow;
  settings.entries.push_back({"zoo_two", "good.so", {}, false, {}});
  settings.tenants["acme"].modes = {{"zoo", model::DetectorMode::live}, {"zoo_two", model::DetectorMode::shadow}};
  auto set = load();
  ASSERT_TRUE(set.ok()) << set.error().detail;
  const auto common = (*set)->evaluate(run, "other", 0);
  ASSERT_EQ(common.findings.size(), 1U);
  EXPECT_EQ(common.findings[0].detector_key, "zoo_two");
  EXPECT_FALSE(common.findings[0].shadow);
  EXPECT_EQ(common.reports.size(), 1U);
  ASSERT_EQ(common.shadow_findings.size(), 1U);
  EXPECT_EQ(common.shadow_findings[0].detector_key, "zoo");
  EXPECT_TRUE(common.shadow_findings[0].shadow);
  EXPECT_EQ(common.shadow_reports[0].status, DetectorStatus::fired);
  const auto acme = (*set)->evaluate(run, "acme", 0);
  EXPECT_EQ(acme.findings.at(0).detector_key, "zoo");
  EXPECT_EQ(acme.shadow_findings.at(0).detector_key, "zoo_two");
  EXPECT_EQ((*set)->list("other")[0].mode, model::DetectorMode::shadow);
  EXPECT_EQ((*set)->list("acme")[0].mode, model::DetectorMode::live);
}

TEST_F(DetectorSetTest, WhenADetectorFinds_TheFindingSaysWhoItWas) {
  enable("good").settings_json = R"({"repeats": 3})";
  settings.tenants["acme"].settings_json = {{"zoo", R"({"repeats":4})"}};
  auto set = load();
  ASSERT_TRUE(set.ok()) << set.error().detail;
  const auto common = (*set)->evaluate(run, {}, 0);
  const auto said = common.findings.at(0).provenance;
  ASSERT_NE(said, nullptr);
  EXPECT_EQ(said->detector_version, "1.0.0");
  EXPECT_EQ(said->library_sha256, to_hex(sha256(bytes_of("good"))));
  EXPECT_EQ(said->settings_hash, to_hex(sha256(R"({"repeats":3})")));
  EXPECT_EQ((*set)->list()[0].settings_hash, said->settings_hash);
  EXPECT_EQ((*set)->evaluate(run, "acme", 0).findings.at(0).provenance->settings_hash, to_hex(sha256(R"({"repeats":4})")));
}

TEST_F(DetectorSetTest, WhenATenantsChangeIsWrong_TheSetIsRefused) {
  enable("good");
  settings.tenants["acme"] = {{"lion"}, {{"zoo", R"({"repeats":1})"}}};
  const std::string text = refusal();
  EXPECT_THAT(text, HasSubstr("config: detectors.tenants.acme.disabled: \"lion\" is not an enabled detector."));
  EXPECT_THAT(text, HasSubstr("settings/repeats for tenant \"acme\": expected an integer from 2 to 1000, got 1"));
}

TEST_F(DetectorSetTest, WhenScoresAreEqual_KeysDecideTheOrder) {
  enable("good");
  settings.entries.insert(settings.entries.begin(), {"zoo_two", "good.so", {}, false, {}});
  auto set = load();
  ASSERT_TRUE(set.ok());
  const auto said = (*set)->evaluate(run, {}, 0);
  ASSERT_EQ(said.findings.size(), 2U);
  EXPECT_EQ(said.findings[0].detector_key, "zoo");
  EXPECT_EQ(said.findings[1].detector_key, "zoo_two");
  EXPECT_EQ(said.reports[0].key, "zoo");
}

TEST_F(DetectorSetTest, WhenAnEntryStandsTwice_TheSetIsRefused) {
  enable("good");
  enable("good");
  EXPECT_EQ(refusal(), "config: detector \"zoo\" (runwarden.yaml:41:5) is enabled twice. Remove one.");
}

TEST_F(DetectorSetTest, WhenWorkersEvaluateAtOnce_EachGetsItsAnswer) {
  context.workers = 4;
  settings.deadline_ms = 1'000'000;  // the clock steps for all of them
  enable("good");
  enable("concurrent").key = "zoo_two";
  auto set = load();
  ASSERT_TRUE(set.ok()) << set.error().detail;
  std::vector<std::thread> workers;
  std::atomic<int> found = 0;
  for (std::size_t worker = 0; worker < 4; ++worker) {
    workers.emplace_back([&, worker] {
      for (int i = 0; i < 200; ++i) found += static_cast<int>((*set)->evaluate(run, {}, worker).findings.size());
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(found, 4 * 200 * 2);
}

TEST_F(DetectorSetTest, WhenALibraryIsLoaded_ItsCopyLiesInThePrivateFolder) {
  // Bytes of its own, so that no other test of this process has loaded them before.
  enable("good");
  put("good.so", bytes_of("good") + "trailing bytes change the hash only");
  auto set = load();
  ASSERT_TRUE(set.ok()) << set.error().detail;
  struct stat info;
  ASSERT_EQ(::stat(context.private_folder.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
  EXPECT_TRUE(std::filesystem::exists(context.private_folder / ((*set)->list()[0].sha256 + ".so")));
  put("good.so", "overwritten while it runs");
  EXPECT_EQ((*set)->evaluate(run, {}, 0).reports[0].status, DetectorStatus::fired);
}

TEST_F(DetectorSetTest, WhenCopiesArePruned_ThoseInUseStay) {
  enable("good");
  put("good.so", bytes_of("good") + "bytes that no other test has loaded");
  auto set = load();
  ASSERT_TRUE(set.ok()) << set.error().detail;
  const std::string used = (*set)->list()[0].sha256 + ".so";
  const std::string old = std::string(64, 'a') + ".so";
  const auto write = [&](const std::string& name) { std::ofstream(context.private_folder / name) << "x"; };
  for (const std::string& name : {old, old + ".Xy12zQ", old + ".kept.by.hand", std::string("README"), std::string(64, 'A') + ".so"})
    write(name);
  std::filesystem::create_directory(context.private_folder / (std::string(64, 'b') + ".so"));
  std::filesystem::create_symlink("/etc/passwd", context.private_folder / (std::string(64, 'c') + ".so"));
  EXPECT_EQ(prune_copies(context.private_folder), 2U);
  const auto there = [&](const std::string& name) {
    return std::filesystem::exists(std::filesystem::symlink_status(context.private_folder / name));
  };
  EXPECT_TRUE(there(used));
  EXPECT_FALSE(there(old));
  EXPECT_FALSE(there(old + ".Xy12zQ"));
  for (const std::string& name : {old + ".kept.by.hand", std::string("README"), std::string(64, 'A') + ".so", std::string(64, 'b') + ".so",
                                  std::string(64, 'c') + ".so"}) {
    EXPECT_TRUE(there(name)) << name;
  }
  EXPECT_EQ(prune_copies(folder / "not there"), 0U);
}

TEST_F(DetectorSetTest, WhenThereIsNoPrivateFolder_TheCopyIsInMemory) {
  context.private_folder.clear();
  enable("good");
  put("good.so", bytes_of("good") + "other trailing bytes");
  auto set = load();
  ASSERT_TRUE(set.ok()) << set.error().detail;
  EXPECT_EQ((*set)->evaluate(run, {}, 0).reports[0].status, DetectorStatus::fired);
}

}  // namespace
}  // namespace runwarden::detect
