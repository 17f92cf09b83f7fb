// Bundles judged again by the built program, and the comparison behind it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "cli/replay_compare.h"
#include "intake/run_reader.h"
#include "unit/cli/program.h"
#include "unit/cli/runs.h"

namespace runwarden::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Json = nlohmann::json;

model::Finding finding(int score, const std::string& fingerprint, const std::string& step = "s1") {
  model::Finding one;
  one.detector_key = "loop";
  one.suspicion_score = score;
  one.fingerprint = fingerprint;
  one.primary_step_id = step;
  return one;
}

std::vector<std::string> kinds_of(const DetectorAnswer& was, const DetectorAnswer& now) {
  JudgedRun run;
  run.judgement["loop"] = was;
  std::vector<std::string> kinds;
  for (const Difference& one : differences_of(run, {{"loop", now}}, {}, {})) kinds.emplace_back(name(one.kind));
  return kinds;
}

TEST(Differences, OfTheSameFailuresInAnotherOrder_AreNone) {
  EXPECT_THAT(kinds_of({"fired", {}, {finding(90, "a"), finding(80, "b")}}, {"fired", {}, {finding(80, "b"), finding(90, "a")}}),
              ElementsAre());
  EXPECT_THAT(kinds_of({"clean", {}, {}}, {"clean", "another reason", {}}), ElementsAre());
}

TEST(Differences, AreOfScoreSeverityStepAndFingerprint) {
  const DetectorAnswer was{"fired", {}, {finding(90, "a")}};
  model::Finding worse = finding(90, "a");
  worse.severity = model::Severity::critical;
  EXPECT_THAT(kinds_of(was, {"fired", {}, {finding(89, "a")}}), ElementsAre("changed"));
  EXPECT_THAT(kinds_of(was, {"fired", {}, {worse}}), ElementsAre("changed"));
  EXPECT_THAT(kinds_of(was, {"fired", {}, {finding(90, "a", "s2")}}), ElementsAre("changed"));
  EXPECT_THAT(kinds_of(was, {"fired", {}, {finding(90, "b")}}), ElementsAre("changed"));
}

// What was said of a run lacks values that are known to be secrets only while they come in.
TEST(Differences, WhereAFingerprintWasRedacted_AreNotOfWhatWasTakenOut) {
  const DetectorAnswer was{"fired", {}, {finding(90, "d:cancel:parcel [redacted:id] of [redacted:name] is gone")}};
  const auto now = [](const std::string& fingerprint) { return DetectorAnswer{"fired", {}, {finding(90, fingerprint)}}; };
  EXPECT_THAT(kinds_of(was, now("d:cancel:parcel px-# of ann is gone")), ElementsAre());
  EXPECT_THAT(kinds_of(was, was), ElementsAre());
  EXPECT_THAT(kinds_of(was, now("d:cancel:parcel px-# of ann is here")), ElementsAre("changed"));
  EXPECT_THAT(kinds_of(was, now("d:cancel:parcel px-# is gone")), ElementsAre("changed"));
  EXPECT_THAT(kinds_of(was, now("d:order:parcel px-# of ann is gone")), ElementsAre("changed"));
}

TEST(Differences, MatchFailuresByFingerprintFirst) {
  const DetectorAnswer was{"fired", {}, {finding(90, "a"), finding(80, "b")}};
  EXPECT_THAT(kinds_of(was, {"fired", {}, {finding(70, "b")}}), ElementsAre("changed", "lost"));
  JudgedRun run;
  run.judgement["loop"] = was;
  const auto all = differences_of(run, {{"loop", {"fired", {}, {finding(70, "b")}}}}, {}, {});
  EXPECT_EQ(all.at(0).was.failure->fingerprint, "b");
  EXPECT_EQ(all.at(1).was.failure->fingerprint, "a");
}

TEST(Differences, OfStatus_AreThoseWithoutAFailure) {
  EXPECT_THAT(kinds_of({"clean", {}, {}}, {"error", {}, {}}), ElementsAre("status"));
  EXPECT_THAT(kinds_of({"clean", {}, {}}, {"fired", {}, {finding(9, "a")}}), ElementsAre("new"));
  EXPECT_THAT(kinds_of({"fired", {}, {finding(9, "a")}}, {"timeout", {}, {}}), ElementsAre("lost"));
  EXPECT_THAT(kinds_of({"clean", {}, {}}, {}), ElementsAre()) << "it is not asked any more, and had nothing to say";
  EXPECT_THAT(kinds_of({"fired", {}, {finding(9, "a")}}, {}), ElementsAre("lost"));
}

TEST(Differences, WhatIsNoAnswer_IsAnError) {
  EXPECT_TRUE(read_judgement("[]", R"([{"key":"a","status":"clean"}])").ok());
  for (const char* bad : {"", "5", "[5]", R"([{"key":"a"}])", R"([{"key":1,"status":"clean"}])"})
    EXPECT_FALSE(read_judgement("[]", bad).ok()) << bad;
  for (const char* bad : {"", "[5]", "[{}]", R"([{"detectorKey":"a","suspicionScore":1,"severity":2,"title":"","fingerprint":""}])"})
    EXPECT_FALSE(read_judgement(bad, "[]").ok()) << bad;
}

struct ReplayCommand : testing::Test {
  Program program;
  std::string config = write_config(program);

  Ended replay(std::vector<std::string> args) const {
    args.insert(args.begin(), {"replay", "--config", config});
    return program.run(args);
  }
  Json replayed(std::vector<std::string> args) const {
    args.insert(args.end(), {"--format", "json"});
    const Ended ended = replay(std::move(args));
    const Json answer = Json::parse(ended.out, nullptr, false);
    EXPECT_TRUE(answer.is_object()) << ended.out << ended.err;
    return answer;
  }
  std::string candidate(const std::string& false_success) const {
    return program.folder().write("candidate.yaml",
                                  "detectors:\n  search_path: [" DETECTORS "]\n  enabled: [" + false_success +
                                      ", {key: expensive_loop}, {key: schema_ghost}, {key: missing_tool_call}, {key: context_overflow}]\n");
  }

  // What the service would keep of the run, as a bundle.
  Json bundle_of(const std::string& run_json) const {
    const auto run = intake::read_run(run_json, {}, {});
    const Json answer = Json::parse(program.run({"analyze", "--config", config}, run_json).out);
    Json whole = Json::parse(run->document);
    whole.update({{"state", "resolved"},
                  {"resolution", "whole"},
                  {"revision", 1},
                  {"receivedAt", "2026-11-20T15:00:00.000Z"},
                  {"failures", answer["failures"]},
                  {"detectors", answer["detectors"]},
                  {"policies", Json::array()}});
    document_ = run->document;
    return {{"format", "runwarden-bundle/1"},
            {"createdAt", "2026-11-20T15:00:00.000Z"},
            {"version", "1.0.0"},
            {"tenant", "acme"},
            {"run", whole},
            {"documentSha256", to_hex(sha256(run->document))},
            {"failures", answer["failures"]},
            {"detectors", answer["detectors"]},
            {"libraries", Json::array()},
            {"policies", Json::array()},
            {"changes", Json::array()},
            {"ledger", nullptr}};
  }
  // The members of the run in their order, which nlohmann's objects do not keep.
  std::string write(const std::string& name, Json bundle) const {
    const Json run = bundle["run"];
    bundle.erase("run");
    std::string own = "{";
    for (const char* member : {"state", "resolution", "revision", "receivedAt", "failures", "detectors", "policies"}) {
      own += std::string(own.size() > 1 ? "," : "") + "\"" + member + "\":" + run[member].dump();
    }
    const std::string text = bundle.dump();
    return program.folder().write(
        name, text.substr(0, text.size() - 1) + ",\"run\":" + document_.substr(0, document_.size() - 1) + "," + own.substr(1) + "}}");
  }

  mutable std::string document_;  // of the run that was bundled last
};

TEST_F(ReplayCommand, OfWhatIsUnchanged_FindsNoDifference) {
  const std::string refund = write("refund.json", bundle_of(refund_run("r")));
  const std::string good = write("good.json", bundle_of(good_run("g")));
  EXPECT_EQ(replayed({refund, good}), (Json{{"runs", 2},
                                            {"same", 2},
                                            {"new", 0},
                                            {"lost", 0},
                                            {"changed", 0},
                                            {"status", 0},
                                            {"redacted", 0},
                                            {"differences", Json::array()}}));
  EXPECT_EQ(replay({refund, good, "--json"}).out, replay({refund, good, "--format", "json"}).out);
  const Ended ended = replay({refund, good, "--threads", "0"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.out, "2 runs, 2 the same, 0 new, 0 lost, 0 changed, 0 status\n");
  EXPECT_EQ(ended.err, "");
}

TEST_F(ReplayCommand, WithACandidateThatFindsItNoMore_SaysWhatIsLostAndWhy) {
  const std::string refund = write("refund.json", bundle_of(refund_run("r")));
  const std::vector<std::string> args{refund, "--candidate", candidate("{key: false_success, settings: {languages: [es]}}")};
  const Json answer = replayed(args);
  EXPECT_EQ(answer["lost"], 1);
  EXPECT_EQ(answer["same"], 0);
  ASSERT_EQ(answer["differences"].size(), 1u);
  const Json& one = answer["differences"][0];
  EXPECT_EQ(one["runId"], "r");
  EXPECT_EQ(one["detectorKey"], "false_success");
  EXPECT_EQ(one["kind"], "lost");
  EXPECT_EQ(one["was"]["suspicionScore"], 95);
  EXPECT_EQ(one["now"]["status"], "clean");
  EXPECT_EQ(one["because"], Json({"settings"}));
  EXPECT_EQ(replay(args).code, 1);
  EXPECT_THAT(replay(args).out, testing::ContainsRegex("\nr +false_success +lost +95 high +clean +settings "));
  const auto code_with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = args;
    all.insert(all.end(), more.begin(), more.end());
    return replay(all).code;
  };
  EXPECT_EQ(code_with({"--fail-on", "lost"}), 1);
  EXPECT_EQ(code_with({"--fail-on", "new,changed,status"}), 0);
  EXPECT_EQ(code_with({"--fail-on", "none"}), 0);
  EXPECT_EQ(code_with({"--detector", "schema_ghost"}), 0) << "only that one is compared";
  EXPECT_EQ(code_with({"--detector", "false_success"}), 1);
}

TEST_F(ReplayCommand, WithADetectorThatTheCandidateLeavesOut_ItsFailureIsLost) {
  const std::string refund = write("refund.json", bundle_of(refund_run("r")));
  const std::string without =
      program.folder().write("without.yaml", "detectors: {search_path: [" DETECTORS "], enabled: [{key: schema_ghost}]}\n");
  const Json answer = replayed({refund, "--candidate", without});
  ASSERT_EQ(answer["differences"].size(), 1u) << "the others had nothing to say: " << answer;
  EXPECT_EQ(answer["differences"][0]["kind"], "lost");
  EXPECT_EQ(answer["differences"][0]["now"], (Json{{"status", "not_run"}}));
  EXPECT_EQ(answer["differences"][0]["because"], Json({"settings"}));
}

TEST_F(ReplayCommand, AFailureThatFiresOnlyNow_IsNewAndComparedWithTheBundlesLibraries) {
  Json bundle = bundle_of(refund_run("r"));
  const Json provenance = bundle["failures"][0]["provenance"];
  bundle["failures"] = Json::array();
  for (Json& detector : bundle["detectors"]) {
    if (detector["key"] == "false_success") detector = {{"key", "false_success"}, {"status", "clean"}};
  }
  Json library = {{"key", "false_success"},
                  {"detectorVersion", "0.9.0"},
                  {"librarySha256", provenance["librarySha256"]},
                  {"settingsHash", "0"},
                  {"settings", nullptr}};
  bundle["libraries"] = {library};
  const Json first = replayed({write("a.json", bundle)});
  EXPECT_EQ(first["new"], 1);
  EXPECT_EQ(first["differences"][0]["was"], (Json{{"status", "clean"}}));
  EXPECT_EQ(first["differences"][0]["now"]["suspicionScore"], 95);
  EXPECT_EQ(first["differences"][0]["because"], Json({"settings"}));
  library["librarySha256"] = "0";
  library["settingsHash"] = provenance["settingsHash"];
  bundle["libraries"] = {library};
  EXPECT_EQ(replayed({write("b.json", bundle)})["differences"][0]["because"], Json({"library"}));
  EXPECT_EQ(replay({write("b.json", bundle)}).code, 1);
}

TEST_F(ReplayCommand, AFailureThatAModelConfirmed_IsNoneThatADetectorLost) {
  Json bundle = bundle_of(refund_run("r"));
  Json confirmed = bundle["failures"][0];
  confirmed["detectorKey"] = "schema_ghost";
  bundle["failures"].push_back(confirmed);
  EXPECT_EQ(replayed({write("lost.json", bundle)})["differences"].size(), 1u);
  bundle["failures"][1]["confirmedBy"] = "model:small-1";
  EXPECT_EQ(replayed({write("confirmed.json", bundle)})["differences"], Json::array());
}

TEST_F(ReplayCommand, AnotherScoreAndAnotherStatus_FailOnlyWhereAsked) {
  Json bundle = bundle_of(refund_run("r"));
  bundle["failures"][0]["suspicionScore"] = 40;
  const std::string scored = write("scored.json", bundle);
  EXPECT_EQ(replayed({scored})["changed"], 1);
  EXPECT_EQ(replay({scored}).code, 0);
  EXPECT_EQ(replay({scored, "--fail-on", "changed"}).code, 1);
  bundle = bundle_of(good_run("g"));
  bundle["detectors"][1]["status"] = "timeout";
  const std::string late = write("late.json", bundle);
  EXPECT_EQ(replayed({late})["status"], 1);
  EXPECT_EQ(replay({late}).code, 0);
  EXPECT_EQ(replay({late, "--fail-on", "status,new"}).code, 1);
}

// What detectors saw before redaction is not kept: such a run cannot be judged as it was.
TEST_F(ReplayCommand, OfARunThatWasRedacted_SaysSo) {
  std::string text = refund_run("r");
  text.replace(text.find("order 1234"), 10, "[redacted:email]");
  Json bundle = bundle_of(text);
  bundle["failures"][0]["suspicionScore"] = 40;
  const std::string file = write("redacted.json", bundle);
  const Json answer = replayed({file});
  EXPECT_EQ(answer["redacted"], 1);
  EXPECT_EQ(answer["differences"][0]["because"], Json({"redaction"}));
  config = write_config(program, "redact: {detectors_see: after, rules: [{kind: email}]}\n");
  EXPECT_EQ(replayed({file})["redacted"], 0) << "its detectors saw what is kept";
}

TEST_F(ReplayCommand, WhatCannotBeRead_ExitsWith1UnlessItFailsOpen) {
  const std::string good = write("good.json", bundle_of(good_run("g")));
  Json bundle = bundle_of(refund_run("r"));
  bundle["documentSha256"] = std::string(64, '0');
  const std::string other = write("other.json", bundle);
  const std::string broken = program.folder().write("broken.json", "{\"format\":");
  const std::string later = program.folder().write("later.json", R"({"format":"runwarden-bundle/2"})");
  for (const auto& [file, why] : std::vector<std::pair<std::string, const char*>>{
           {other, "its SHA-256 does not match documentSha256"},
           {broken, "not JSON"},
           {later, "its format is \"runwarden-bundle/2\", but this program reads runwarden-bundle/1"},
           {"/nowhere.json", "it does not exist"}}) {
    const Ended ended = replay({good, file});
    EXPECT_EQ(ended.code, 1) << file;
    EXPECT_THAT(ended.out, HasSubstr(why));
    EXPECT_THAT(ended.out, HasSubstr("1 run, 1 the same, 0 new, 0 lost, 0 changed, 0 status; 1 could not be judged again\n"));
    EXPECT_THAT(ended.err, HasSubstr("runwarden: 1 run could not be judged again\n"));
    const Ended open = replay({good, file, "--fail-open"});
    EXPECT_EQ(open.code, 0) << file;
    EXPECT_THAT(open.err, HasSubstr("runwarden: warning: 1 run could not be judged again\n"));
    EXPECT_EQ(replayed({good, file})["faults"][0]["file"], file);
  }
  const std::string no_library =
      program.folder().write("none.yaml", "detectors: {search_path: [/nowhere], enabled: [{key: false_success}]}\n");
  EXPECT_EQ(replay({good, "--candidate", no_library}).code, 1);
  EXPECT_EQ(replay({good, "--candidate", no_library, "--fail-open"}).code, 0);
  EXPECT_EQ(replay({good, "--detector", "frob"}).code, 1);
}

TEST_F(ReplayCommand, JUnitAndSarif_ListTheDifferences) {
  const std::string refund = write("refund.json", bundle_of(refund_run("r")));
  const std::string good = write("good.json", bundle_of(good_run("g")));
  const std::string next = candidate("{key: false_success, settings: {languages: [es]}}");
  const std::string junit = replay({refund, good, "--candidate", next, "--format", "junit"}).out;
  EXPECT_THAT(junit, HasSubstr("<testsuite name=\"false_success\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\">"));
  EXPECT_THAT(junit, HasSubstr("<failure message=\"lost: was 95 high, now clean (settings)\">"));
  EXPECT_THAT(junit, HasSubstr("<testsuite name=\"schema_ghost\" tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"0\">"));
  const std::string tolerated = replay({refund, "--candidate", next, "--format", "junit", "--fail-on", "new"}).out;
  EXPECT_THAT(tolerated, HasSubstr("<system-out>lost: was 95 high"));
  const Json sarif = Json::parse(replay({refund, good, "--candidate", next, "--format", "sarif"}).out);
  ASSERT_EQ(sarif["runs"][0]["results"].size(), 1u);
  const Json& result = sarif["runs"][0]["results"][0];
  EXPECT_EQ(result["ruleId"], "false_success");
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "file://" + refund);
  EXPECT_EQ(result["partialFingerprints"]["runwarden/v1"], "false_success:issue_refund:# bad gateway");
  EXPECT_THAT(result["message"]["text"].get<std::string>(), testing::StartsWith("lost: was 95 high, now clean (settings)"));
}

}  // namespace
}  // namespace runwarden::cli
