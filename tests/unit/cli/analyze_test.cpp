#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "unit/cli/program.h"
#include "unit/cli/runs.h"

namespace runwarden::cli {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

struct AnalyzeCommand : testing::Test {
  Program program;
  std::string config = write_config(program);

  Ended analyze(std::vector<std::string> args, const std::string& input = {}) const {
    args.insert(args.begin(), {"analyze", "--config", config});
    return program.run(args, input);
  }

  static std::vector<Json> answers(const Ended& ended) {
    std::vector<Json> all;
    std::istringstream lines(ended.out);
    for (std::string line; std::getline(lines, line);) all.push_back(Json::parse(line));
    return all;
  }
};

TEST_F(AnalyzeCommand, OfARun_AnswersFailuresAndDetectorsAndStoresNothing) {
  const Ended ended = analyze({}, refund_run("r1"));
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto all = answers(ended);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].size(), 2u);
  ASSERT_EQ(all[0].at("failures").size(), 1u);
  EXPECT_EQ(all[0].at("failures")[0].at("detectorKey"), "false_success");
  EXPECT_EQ(all[0].at("failures")[0].at("suspicionScore"), 95);
  EXPECT_EQ(all[0].at("detectors").size(), 5u);
  EXPECT_FALSE(std::filesystem::exists(program.folder().path() / "data"));
}

TEST_F(AnalyzeCommand, InALanguageOfTheOperators_JudgesByItsVocabulary) {
  const std::string run = R"({"runId":"r1","userRequestText":"Rendo ta mu doro.","steps":[{"stepKind":"tool","stepName":"issue_refund",)"
                          R"("status":"failed","errorMessage":"502 Bad Gateway"}],"outcomeSummary":"Mi ga rendad ta doro da vu."})";
  EXPECT_EQ(answers(analyze({}, run))[0].at("failures").size(), 0u);
  const std::string words = program.folder().write(
      "words.yaml", "language: tzl\nselves: [mi]\nauxiliaries: [ga]\ndeterminers: [ta]\nverbs:\n  refund: rendo | rendad | rending\n");
  config = write_config(program, "  enabled: [{key: false_success, settings: {vocabulary: " + words + "}}]\n");
  const auto all = answers(analyze({}, run));
  ASSERT_EQ(all[0].at("failures").size(), 1u);
  EXPECT_EQ(all[0].at("failures")[0].at("detectorKey"), "false_success");
}

TEST_F(AnalyzeCommand, OfFiles_AnswersOneLineEachInTheirOrder) {
  const std::string refund = program.folder().write("refund.json", refund_run("r1"));
  const std::string good = program.folder().write("good.json", good_run("r2"));
  const auto all = answers(analyze({good, refund, "-"}, refund_run("r3")));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].at("failures").size(), 0u);
  EXPECT_EQ(all[1].at("failures")[0].at("runId"), "r1");
  EXPECT_EQ(all[2].at("failures")[0].at("runId"), "r3");
}

TEST_F(AnalyzeCommand, OfLinesOnManyThreads_KeepsTheirOrder) {
  std::string lines;
  for (int i = 0; i < 400; ++i) lines += refund_run("r" + std::to_string(i)) + "\n";
  const Ended ended = analyze({"--ndjson", "--threads", "4"}, lines);
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto all = answers(ended);
  ASSERT_EQ(all.size(), 400u);
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i].at("failures")[0].at("runId"), "r" + std::to_string(i));
}

// A run as a line of an export.
std::string exported_run(const std::string& document, const std::string& more = {}) {
  return R"({"record":"run","timeMs":1,"seq":"1","runId":"r","revision":1,)" + more +
         R"("state":"resolved","resolution":"whole","resolvedMs":1,"contentSha256":")" + std::string(64, '0') +
         R"(","maxScore":0,"fired":[],"failureKeys":[],"packedEvents":0,"document":)" + document +
         R"(,"failures":[],"detectors":[],"policies":[]})";
}

const std::string kHeader = R"({"record":"header","format":"runwarden-export","version":1,"tenant":"acme","exportedMs":1})";
const std::string kEnd = R"({"record":"end","lines":7,"sha256":"00","unreadableRecords":0,"unreadable":[]})";
const std::string kOpenRun =
    R"({"record":"run","timeMs":1,"seq":"1","runId":"o","revision":1,"state":"open","resolution":"whole","resolvedMs":0,"contentSha256":")" +
    std::string(64, '0') +
    R"(","maxScore":0,"fired":[],"failureKeys":[],"packedEvents":0,"buffering":{"firstMs":1,"lastMs":1,"former":0,"total":1,"cut":0,)"
    R"("tailFinal":false,"bytes":"59","maxEvents":10000,"maxBytes":"67108864"}})";
const std::string kEvents =
    R"({"record":"events","timeMs":1,"seq":"1","packed":false,"first":0,"receivedMs":1,"events":[{"type":"run_started"}]})";
const std::string kPolicyName = R"({"record":"policy_name","policy":"refunds","highestRevision":"2"})";

TEST_F(AnalyzeCommand, OfAnExport_JudgesItsRunsOnly) {
  const std::string lines = kHeader + "\n" + kPolicyName + "\n" + exported_run(refund_run("a")) + "\n" +
                            exported_run(refund_run("before"), R"("former":true,)") + "\n" + kEvents + "\n" + exported_run(good_run("b")) +
                            "\n" + kOpenRun + "\n" + kEvents + "\n" + kEnd + "\n";
  for (const std::vector<std::string>& args : {std::vector<std::string>{}, {"--ndjson"}, {program.folder().write("x.ndjson", lines)}}) {
    const Ended ended = analyze(args, lines);
    EXPECT_EQ(ended.code, 0) << ended.out;
    const auto all = answers(ended);
    ASSERT_EQ(all.size(), 2u) << ended.out;
    EXPECT_EQ(all[0].at("failures")[0].at("runId"), "a");
    EXPECT_EQ(all[1].at("failures").size(), 0u);
    EXPECT_THAT(ended.err, HasSubstr("runwarden: skipped 1 open run in exports\n"));
  }
  EXPECT_EQ(analyze({"--fail-on", "95"}, lines).code, 1);
  EXPECT_EQ(answers(analyze({}, exported_run(refund_run("a")))).at(0).at("failures").size(), 1u) << "a line of an export alone";
}

TEST_F(AnalyzeCommand, OfALineWithAnUnknownRecord_RefusesIt) {
  const Ended ended = analyze({"--ndjson"}, R"({"record":"rnu","steps":[]})"
                                            "\n" +
                                                refund_run("a") + "\n" + R"({"record":"run","timeMs":1})" + "\n");
  EXPECT_EQ(ended.code, 1);
  const auto all = answers(ended);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].at("status"), 422);
  EXPECT_EQ(all[0].at("line"), 1);
  EXPECT_EQ(all[0].at("detail"),
            "a line of an export: a record of kind \"rnu\" is not known to this program; export it again, or remove \"record\" from a "
            "run");
  EXPECT_EQ(all[1].at("failures")[0].at("runId"), "a");
  EXPECT_EQ(all[2].at("status"), 422);
  EXPECT_EQ(all[2].at("line"), 3);
  EXPECT_EQ(analyze({}, R"({"record":"rnu"})").code, 1);
}

TEST_F(AnalyzeCommand, OfARunThatSpeaksOfRecords_IsNoExport) {
  const auto all = answers(analyze({"--ndjson"}, R"({"userRequestText":"set \"record\"","metadata":{"record":"run"}})"
                                                 "\n"
                                                 R"({"record":5})"
                                                 "\n"
                                                 R"({"record": )"
                                                 "\n"));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(all[0].contains("failures"));
  EXPECT_TRUE(all[1].contains("failures"));
  EXPECT_EQ(all[2].at("code"), "malformed_json");
}

TEST_F(AnalyzeCommand, OfAnExportThatWasCutOff_SaysSo) {
  for (const std::string& after : {std::string(), kHeader + "\n" + kEnd + "\n"}) {
    const Ended ended = analyze({}, kHeader + "\n" + exported_run(refund_run("a")) + "\n" + after);
    EXPECT_EQ(ended.code, 1);
    const auto all = answers(ended);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].at("failures").size(), 1u);
    EXPECT_EQ(all[1].at("detail"), "the export ends without its last line: it was truncated; export it again");
  }
}

// Beside its document a line holds the run's failures: it may be longer than a run.
TEST_F(AnalyzeCommand, OfAnExport_TheLimitIsThatOfTheRun) {
  config = write_config(program, "limits: {max_body_bytes: 1KiB}\n");
  const std::string long_line = exported_run(refund_run("a"), R"("more":")" + std::string(5000, 'x') + R"(",)");
  const std::string long_run = exported_run(R"({"text": ")" + std::string(5000, 'x') + "\"}");
  const auto all = answers(analyze({}, kHeader + "\n" + long_line + "\n" + long_run + "\n" + kEnd + "\n"));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].at("failures").size(), 1u);
  EXPECT_EQ(all[1].at("code"), "payload_too_large");
  EXPECT_EQ(all[1].at("line"), 3);
}

TEST_F(AnalyzeCommand, WhenALineIsBad_ItsPlaceHasAProblemAndTheRestIsJudged) {
  const Ended ended = analyze({"--ndjson"}, refund_run("a") + "\n{oops\n\n{\"steps\": 5}\n" + refund_run("b"));
  EXPECT_EQ(ended.code, 1);
  const auto all = answers(ended);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].at("failures")[0].at("runId"), "a");
  EXPECT_EQ(all[1].at("status"), 400);
  EXPECT_EQ(all[1].at("code"), "malformed_json");
  EXPECT_EQ(all[1].at("line"), 2);
  EXPECT_EQ(all[2].at("status"), 422);
  EXPECT_EQ(all[2].at("line"), 4);
  EXPECT_EQ(all[2].at("errors")[0].at("pointer"), "/steps");
  EXPECT_EQ(all[3].at("failures")[0].at("runId"), "b");
}

TEST_F(AnalyzeCommand, WhenARunIsTooLarge_SaysSoInItsPlace) {
  config = write_config(program, "limits: {max_body_bytes: 1KiB}\n");
  const std::string huge = R"({"text": ")" + std::string(5000, 'x') + "\"}";
  const auto all = answers(analyze({"--ndjson"}, huge + "\n" + refund_run("a") + "\n"));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].at("code"), "payload_too_large");
  EXPECT_EQ(all[1].at("failures")[0].at("runId"), "a");
  const Ended whole = analyze({}, huge);
  EXPECT_EQ(whole.code, 1);
  EXPECT_EQ(answers(whole)[0].at("code"), "payload_too_large");
}

TEST_F(AnalyzeCommand, WhenAFileIsMissing_SaysSoInItsPlace) {
  const std::string refund = program.folder().write("refund.json", refund_run("r1"));
  const Ended ended = analyze({"/nowhere.json", refund});
  EXPECT_EQ(ended.code, 1);
  const auto all = answers(ended);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].at("detail"), "cannot open \"/nowhere.json\": it does not exist; check the path");
  EXPECT_EQ(all[0].at("file"), "/nowhere.json");
  EXPECT_EQ(all[1].at("failures").size(), 1u);
}

TEST_F(AnalyzeCommand, FailOn_ExitsWith1FromThatScoreOn) {
  EXPECT_EQ(analyze({"--fail-on", "95"}, refund_run("a")).code, 1);
  EXPECT_EQ(analyze({"--fail-on", "96"}, refund_run("a")).code, 0);
  EXPECT_EQ(analyze({"--fail-on", "0"}, refund_run("a")).code, 1);
  EXPECT_EQ(analyze({"--fail-on", "0"}, good_run("a")).code, 0);
  EXPECT_EQ(answers(analyze({"--fail-on", "1"}, refund_run("a"))).size(), 1u) << "the answer is given all the same";
}

TEST_F(AnalyzeCommand, WhenNobodyReadsTheAnswers_EndsQuicklyWith1) {
  std::string lines;
  for (int i = 0; i < 2000; ++i) lines += refund_run("r") + "\n";
  const Ended ended = program.run_unread({"analyze", "--ndjson", "--config", config}, lines);
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("cannot write the output"));
}

TEST_F(AnalyzeCommand, OfNothing_AnswersNothing) {
  const Ended ended = analyze({"--ndjson"}, "");
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.out, "");
  const Ended whole = analyze({}, "");
  EXPECT_EQ(whole.code, 1) << "a single run has to be there";
}

TEST_F(AnalyzeCommand, AGateWithoutDetectors_DoesNotPass) {
  const std::string off =
      "runwarden: --fail-on: no detector is enabled, so no failure can be found; `runwarden detectors list` shows the detectors\n";
  config = write_config(
      program, "  tenants: {quiet: {disabled: [context_overflow, expensive_loop, false_success, missing_tool_call, schema_ghost]}}\n");
  const Ended quiet = analyze({"--tenant", "quiet", "--fail-on", "80"}, refund_run("a"));
  EXPECT_EQ(quiet.code, 1);
  EXPECT_EQ(quiet.out, "");
  EXPECT_EQ(quiet.err, off);
  config = program.folder().write("none.yaml", "detectors: {enabled: []}\n");
  const Ended none = analyze({"--fail-on", "80"}, refund_run("a"));
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr(off));
  EXPECT_EQ(analyze({}, refund_run("a")).code, 0) << "no gate";
}

TEST_F(AnalyzeCommand, OfATenant_UsesItsSettings) {
  config = write_config(program, "  tenants: {quiet: {disabled: [false_success]}}\n");
  EXPECT_EQ(answers(analyze({}, refund_run("a")))[0].at("failures").size(), 1u);
  EXPECT_EQ(answers(analyze({"--tenant", "quiet"}, refund_run("a")))[0].at("failures").size(), 0u);
}

}  // namespace
}  // namespace runwarden::cli
