// The forms that build servers read: JUnit's XML and SARIF 2.1.0.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/junit.h"
#include "cli/sarif.h"
#include "unit/cli/program.h"
#include "unit/cli/runs.h"

namespace runwarden::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

// A report written to a text.
struct Reports : testing::Test {
  std::ostringstream out, err;
  Context context{out, err, {}, {}};
  ResultOutput output{context, {}};
};

TEST_F(Reports, JUnit_HasASuiteADetectorAndACaseARun) {
  JunitReport report("runwarden analyze");
  report.add("loop", {"r1", "a.json", 0}, {});
  report.add("loop", {{}, "a.json", 3}, {JunitReport::CaseStatus::failed, "it loops", "three times"});
  report.add("ghost", {"r1", "a.json", 0}, {JunitReport::CaseStatus::skipped, "no tools", {}});
  report.add("ghost", {"r2", "b.json", 0}, {JunitReport::CaseStatus::error, "timeout", {}});
  ASSERT_TRUE(report.write(output));
  EXPECT_EQ(out.str(),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites name=\"runwarden analyze\" tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\">\n"
            "  <testsuite name=\"ghost\" tests=\"2\" failures=\"0\" errors=\"1\" skipped=\"1\">\n"
            "    <testcase name=\"r1\" classname=\"ghost\" file=\"a.json\">\n"
            "      <skipped message=\"no tools\"></skipped>\n"
            "    </testcase>\n"
            "    <testcase name=\"r2\" classname=\"ghost\" file=\"b.json\">\n"
            "      <error message=\"timeout\"></error>\n"
            "    </testcase>\n"
            "  </testsuite>\n"
            "  <testsuite name=\"loop\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\">\n"
            "    <testcase name=\"r1\" classname=\"loop\" file=\"a.json\"/>\n"
            "    <testcase name=\"a.json:3\" classname=\"loop\" file=\"a.json\" line=\"3\">\n"
            "      <failure message=\"it loops\">three times</failure>\n"
            "    </testcase>\n"
            "  </testsuite>\n"
            "</testsuites>\n");
}

// XML 1.0 has no way to write most control characters, nor U+FFFE.
TEST_F(Reports, JUnit_WritesAnyTextAsXml) {
  JunitReport report("x");
  report.add("d", {"<&>\"", "f", 0}, {JunitReport::CaseStatus::failed, "a\nb", std::string("\x01\xEF\xBF\xBE\xFF|é", 8)});
  report.write(output);
  EXPECT_THAT(out.str(), HasSubstr("name=\"&lt;&amp;&gt;&quot;\""));
  EXPECT_THAT(out.str(), HasSubstr("message=\"a&#10;b\">\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD|é</failure>"));
}

// Whether a text is what section 3.4 and on of SARIF 2.1.0 require of a log file with results.
void expect_sarif(const Json& log) {
  EXPECT_EQ(log.at("version"), "2.1.0");
  EXPECT_THAT(log.at("$schema").get<std::string>(), HasSubstr("sarif-2.1.0"));
  ASSERT_EQ(log.at("runs").size(), 1u);
  const Json& run = log["runs"][0];
  EXPECT_FALSE(run.at("tool").at("driver").at("name").get<std::string>().empty());
  std::set<std::string> rules;
  for (const Json& rule : run["tool"]["driver"].at("rules")) {
    EXPECT_TRUE(rules.insert(rule.at("id")).second);
    EXPECT_FALSE(rule.at("shortDescription").at("text").get<std::string>().empty());
  }
  for (const Json& result : run.at("results")) {
    EXPECT_TRUE(rules.count(result.at("ruleId")) == 1) << result;
    EXPECT_TRUE((std::set<Json>{"none", "note", "warning", "error"}.count(result.at("level")))) << result;
    EXPECT_FALSE(result.at("message").at("text").get<std::string>().empty());
    ASSERT_EQ(result.at("locations").size(), 1u);
    const Json& location = result["locations"][0];
    EXPECT_FALSE(location.at("physicalLocation").at("artifactLocation").at("uri").get<std::string>().empty());
    EXPECT_GE(location["physicalLocation"].at("region").at("startLine"), 1);
    std::set<Json> logicals;
    for (const Json& logical : location.at("logicalLocations")) {
      EXPECT_TRUE(logical.at("fullyQualifiedName").is_string());
      EXPECT_TRUE(logicals.insert(logical).second) << "uniqueItems: " << logical;
    }
    for (const auto& [name, value] : result.at("partialFingerprints").items()) EXPECT_TRUE(value.is_string()) << name;
    EXPECT_GE(result.at("rank"), 0);
    EXPECT_LE(result.at("rank"), 100);
  }
  ASSERT_EQ(run.at("invocations").size(), 1u);
  EXPECT_TRUE(run["invocations"][0].at("executionSuccessful").is_boolean());
  for (const Json& one : run["invocations"][0].value("toolExecutionNotifications", Json::array())) {
    EXPECT_FALSE(one.at("message").at("text").get<std::string>().empty());
  }
}

TEST_F(Reports, Sarif_NamesAPlaceThatIsQuotedTwiceOnce) {
  detect::DetectorInfo detector;
  detector.key = "loop";
  detector.title = "Loop";
  model::Finding finding;
  finding.detector_key = "loop";
  finding.title = "Loop";
  finding.summary = "it loops";
  finding.fingerprint = "loop:x";
  finding.evidence = {{"/steps/1", "a"}, {"/steps/0", "b"}, {"/steps/1", "c"}};
  SarifWriter writer(output, {detector});
  writer.add({"r1", "a.json", 1}, item_of(finding));
  ASSERT_TRUE(writer.finish());
  const Json log = Json::parse(out.str());
  expect_sarif(log);
  const Json& logicals = log["runs"][0]["results"][0]["locations"][0]["logicalLocations"];
  ASSERT_EQ(logicals.size(), 2u);
  EXPECT_EQ(logicals[0]["fullyQualifiedName"], "/steps/1");
  EXPECT_EQ(logicals[1]["fullyQualifiedName"], "/steps/0");
}

TEST_F(Reports, Sarif_LevelsAreBySeverityAndPathsAreUris) {
  detect::DetectorInfo detector;
  detector.key = "loop";
  detector.title = "Loop";
  detect::DetectorInfo disabled = detector;
  disabled.key = "off";
  disabled.enabled = false;
  SarifWriter writer(output, {detector, disabled});
  const std::vector<std::pair<model::Severity, const char*>> levels{{model::Severity::low, "note"},
                                                                    {model::Severity::medium, "warning"},
                                                                    {model::Severity::high, "error"},
                                                                    {model::Severity::critical, "error"}};
  for (const auto& [severity, level] : levels) {
    writer.add({"r1", "./a b/ü.json", 7}, {"loop", severity, 40, "Loop", "it loops", {"/steps/0", "/steps/1"}, "loop:x"});
  }
  writer.add_fault({{}, "/abs/bad.json", 0}, "no JSON");
  ASSERT_TRUE(writer.finish());
  const Json log = Json::parse(out.str());
  expect_sarif(log);
  ASSERT_EQ(log["runs"][0]["tool"]["driver"]["rules"].size(), 1u);
  for (std::size_t i = 0; i < levels.size(); ++i) EXPECT_EQ(log["runs"][0]["results"][i]["level"], levels[i].second);
  const Json& result = log["runs"][0]["results"][0];
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "a%20b/%C3%BC.json");
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["region"]["startLine"], 7);
  EXPECT_EQ(result["locations"][0]["logicalLocations"][1]["fullyQualifiedName"], "/steps/1");
  EXPECT_EQ(result["partialFingerprints"], (Json{{"runwarden/v1", "loop:x"}}));
  EXPECT_EQ(result["message"]["text"], "Loop: it loops");
  const Json& invocation = log["runs"][0]["invocations"][0];
  EXPECT_EQ(invocation["executionSuccessful"], false);
  EXPECT_EQ(invocation["toolExecutionNotifications"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "file:///abs/bad.json");
}

struct AnalyzeFormats : testing::Test {
  Program program;
  std::string config = write_config(program);
  std::string lines = good_run("g") + "\n" + refund_run("r") + "\n{oops\n";

  Ended analyze(std::vector<std::string> args) const {
    args.insert(args.begin(), {"analyze", "--config", config, "--ndjson"});
    return program.run(args, lines);
  }
};

TEST_F(AnalyzeFormats, Text_IsATableAndALineOfSums) {
  const Ended ended = analyze({"--format", "text"});
  EXPECT_EQ(ended.code, 1) << "a line is no run";
  EXPECT_THAT(ended.out, testing::StartsWith("RUN  DETECTOR       SCORE  SEVERITY"));
  EXPECT_THAT(ended.out, testing::ContainsRegex("\nr    false_success  95 "));
  EXPECT_THAT(ended.out, HasSubstr("\nstdin:3: not JSON at byte 1"));
  EXPECT_THAT(ended.out, HasSubstr("\n2 runs, 1 with failures, 1 failure; 1 could not be read\n"));
}

TEST_F(AnalyzeFormats, Json_IsWhatIsWrittenWithoutAFormat) {
  EXPECT_EQ(analyze({"--format", "json"}).out, analyze({}).out);
  EXPECT_NE(analyze({}).out, "");
}

TEST_F(AnalyzeFormats, Sarif_HasAResultAFailure) {
  const Ended ended = analyze({"--format", "sarif"});
  const Json log = Json::parse(ended.out);
  expect_sarif(log);
  EXPECT_EQ(log["runs"][0]["tool"]["driver"]["rules"].size(), 5u);
  ASSERT_EQ(log["runs"][0]["results"].size(), 1u);
  const Json& result = log["runs"][0]["results"][0];
  EXPECT_EQ(result["ruleId"], "false_success");
  EXPECT_EQ(result["level"], "error");
  EXPECT_EQ(result["rank"], 95);
  EXPECT_EQ(result["locations"][0]["physicalLocation"], (Json{{"artifactLocation", {{"uri", "stdin"}}}, {"region", {{"startLine", 2}}}}));
  EXPECT_EQ(result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"], "/steps/0/errorMessage");
  EXPECT_EQ(result["partialFingerprints"]["runwarden/v1"], "false_success:issue_refund:# bad gateway");
}

TEST_F(AnalyzeFormats, JUnit_FailsACaseFromTheScoreOfFailOn) {
  const std::string all = analyze({"--format", "junit"}).out;
  EXPECT_THAT(all, HasSubstr("<testsuite name=\"false_success\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\">"));
  EXPECT_THAT(all, HasSubstr("<testsuite name=\"runwarden\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">"));
  const std::string high = analyze({"--format", "junit", "--fail-on", "96"}).out;
  EXPECT_THAT(high, HasSubstr("<testsuite name=\"false_success\" tests=\"2\" failures=\"0\""));
  EXPECT_THAT(high, HasSubstr("<system-out>False success"));
}

TEST_F(AnalyzeFormats, Output_IsAFileThatIsThereOnceItIsWhole) {
  const std::string file = (program.folder().path() / "runs.sarif").string();
  const Ended ended = analyze({"--format", "sarif", "--output", file});
  EXPECT_EQ(ended.out, "");
  std::ifstream in(file);
  expect_sarif(Json::parse(in));
  EXPECT_FALSE(std::filesystem::exists(file + ".partial"));
  const Ended nowhere = analyze({"--output", "/nowhere/x"});
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("\"/nowhere/x\" cannot be written: the folder \"/nowhere\" does not exist"));
}

}  // namespace
}  // namespace runwarden::cli
