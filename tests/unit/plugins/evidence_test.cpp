#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/verdict.h"
#include "evidence/artifacts.h"
#include "evidence/confidence.h"
#include "evidence/expression.h"
#include "evidence/payload.h"
#include "evidence/program_end.h"
#include "evidence/touched_files.h"
#include "evidence/unheard.h"
#include "evidence/units.h"
#include "evidence/unrecorded.h"
#include "evidence/wrapped_call.h"
#include "unit/plugins/candidates.h"
#include "unit/plugins/run_builder.h"

namespace runwarden::plugins {
namespace {

StepView unwrapped(std::string_view name, std::string_view input) {
  RunBuilder run;
  run.tool(name, input, "ok");
  auto view = run.run();
  unwrap_calls(view);
  StepView step = view.steps[0];
  static std::deque<std::string> kept;  // the builder's texts go with it
  step.name = kept.emplace_back(step.name);
  step.input = kept.emplace_back(step.input);
  return step;
}

struct Wrapped {
  const char* name;
  const char* input;
  const char* inner;
  const char* arguments;
};

class WrappedCalls : public testing::TestWithParam<Wrapped> {};

TEST_P(WrappedCalls, AreSeenAsTheCallInside) {
  const auto step = unwrapped(GetParam().name, GetParam().input);
  EXPECT_EQ(step.name, GetParam().inner);
  EXPECT_EQ(step.input, GetParam().arguments);
}

INSTANTIATE_TEST_SUITE_P(
    Evidence, WrappedCalls,
    testing::Values(Wrapped{"execute-tool", R"({"server_name":"mail","tool_name":"send_mail","params":{"to":"a@b.c"}})", "send_mail",
                            R"({"to":"a@b.c"})"},
                    Wrapped{"mcp__hub__call_tool", R"( {"arguments": {"id": 7, "tags": ["x"]}, "name": "close_ticket"} )", "close_ticket",
                            R"({"id": 7, "tags": ["x"]})"},
                    Wrapped{"invoke", R"({"function":"lookup","args":{}})", "lookup", "{}"},
                    // A tool of its own that has such members, and wrappers of another shape, stay as they are.
                    Wrapped{"create_user", R"({"name":"ann","params":{"a":1}})", "create_user", R"({"name":"ann","params":{"a":1}})"},
                    Wrapped{"call_tool", R"({"name":"close_ticket"})", "call_tool", R"({"name":"close_ticket"})"},
                    Wrapped{"call_tool", R"({"name":"close","arguments":{"a":)", "call_tool", R"({"name":"close","arguments":{"a":)"},
                    Wrapped{"run", "ls -l", "run", "ls -l"}));

TEST(Artifacts, FilesFoldersAndAddresses_AreCollectedOnce) {
  std::vector<std::string_view> found;
  collect_artifacts("Saved `/srv/out/deck.pptx` (see report.md, https://example.com/a?b=1). /srv/out/deck.pptx and/or e.g. v1.2 3.14", 8,
                    found);
  EXPECT_EQ(found, (std::vector<std::string_view>{"/srv/out/deck.pptx", "report.md", "https://example.com/a?b=1"}));
}

TEST(Artifacts, NoMoreThanAskedFor) {
  std::vector<std::string_view> found;
  collect_artifacts("a.txt b.txt one.txt two.txt three.txt", 2, found);
  EXPECT_EQ(found.size(), 2u);
}

TEST(Payload, CountsOnlyWhatIsNotAboutTheError) {
  const std::string much(400, 'x');
  EXPECT_TRUE(has_payload(R"({"error":"one row skipped","rows":[")" + much + "\"]}"));
  EXPECT_FALSE(has_payload(R"({"error":")" + much + R"(","rows":[]})"));
  EXPECT_FALSE(has_payload(R"({"error":{"trace":")" + much + "\"}}"));
  EXPECT_FALSE(has_payload(much));
}

std::size_t files_in(std::string_view input) {
  std::vector<std::uint64_t> names;
  name_files(input, names);
  return names.size();
}

TEST(TouchedFiles, AreNamesWithAnExtension_AndNoAddresses) {
  EXPECT_EQ(files_in(R"({"command":"make -C src && ./tools/report.py out/q3.xlsx > log.txt"})"), 3u);
  EXPECT_EQ(files_in(R"({"path":"C:\\work\\notes.md"})"), 1u);
  EXPECT_EQ(files_in(R"({"url":"https://example.org/a.html","to":"ann@example.org","amount":3.14,"version":"1.2.3"})"), 0u);
  EXPECT_EQ(files_in("Done. Next step..."), 0u);
  std::string many;
  for (int i = 0; i < 100; ++i) many += "f" + std::to_string(i) + ".c ";
  EXPECT_EQ(files_in(many), 16u);
}

TEST(TouchedFiles, AreTouchedByEachNewInput_WhateverTheFolder) {
  TouchedFiles touched;
  touched.add(1, 10, "sed -i s/a/b/ /srv/app/main.py");
  touched.add(2, 15, R"({"command":"cat main.py"})");
  touched.add(3, 20, "write other.py");
  touched.add(5, 10, "sed -i s/a/b/ /srv/app/main.py");
  touched.finish();
  EXPECT_TRUE(touched.between("python3 main.py", 0, 2));
  EXPECT_FALSE(touched.between("python3 main.py", 1, 2)) << "the call itself is not between";
  EXPECT_FALSE(touched.between("python3 main.py", 1, 4)) << "looked at, and another file";
  EXPECT_FALSE(touched.between("python3 main.py", 4, 6)) << "the same edit again changes nothing";
  EXPECT_FALSE(touched.between("make", 0, 9));
  touched.clear();
  EXPECT_FALSE(touched.between("python3 main.py", 0, 2));
}

TEST(FiringLine, TellsWhatStaysBelowItAsACandidate) {
  Verdict verdict;
  const FiringLine balanced("");
  EXPECT_TRUE(balanced.fires(0.6, {"rule", 3, "few"}, verdict));
  EXPECT_TRUE(verdict.suppressed.empty());
  EXPECT_FALSE(balanced.fires(0.45, {"rule", 3, "few"}, verdict));
  ASSERT_EQ(verdict.suppressed.size(), 1u);
  EXPECT_EQ(verdict.suppressed[0].rule, "rule");
  EXPECT_EQ(verdict.suppressed[0].step, 3u);
  EXPECT_EQ(verdict.suppressed[0].reason, "few (candidate: confidence 0.45, sensitivity balanced fires from 0.60)");
  EXPECT_EQ(verdict.suppressed[0].confidence, std::optional(0.45));
  EXPECT_TRUE(verdict.has_candidate);
  EXPECT_TRUE(FiringLine("wide").fires(0.45, {"rule", 3, "few"}, verdict));
  EXPECT_FALSE(FiringLine("strict").fires(0.7, {"rule", 3, "few"}, verdict));
  EXPECT_THROW(FiringLine("loud"), std::invalid_argument);
}

// What a host takes: sums of what speaks for and against may be anything.
TEST(FiringLine, AConfidenceIsToldFrom0To1_InThousandths) {
  Verdict verdict;
  const FiringLine strict("strict");
  for (const double sum : {-0.15, 0.85 - 0.3 - 0.1, 0.7 - 0.3}) EXPECT_FALSE(strict.fires(sum, {"rule", 3, "few"}, verdict));
  ASSERT_EQ(verdict.suppressed.size(), 3u);
  EXPECT_EQ(verdict.suppressed[0].confidence, std::optional(0.0));
  EXPECT_EQ(verdict.suppressed[1].confidence, std::optional(0.45));
  EXPECT_EQ(verdict.suppressed[2].confidence, std::optional(0.4));
  verdict.fire({}, 1.2);
  EXPECT_EQ(verdict.findings[0].confidence, std::optional(1.0));
}

TEST(FiringLine, CandidatesBeyondTheLimit_GiveNobodyElseTheirConfidence) {
  Verdict verdict;
  const FiringLine balanced("");
  for (std::size_t i = 0; i < kMostSuppressed; ++i) verdict.suppress("rule", i, "why");
  EXPECT_FALSE(balanced.fires(0.45, {"rule", 3, "few"}, verdict));
  EXPECT_EQ(verdict.suppressed.size(), kMostSuppressed);
  EXPECT_EQ(verdict.suppressed.back().confidence, std::nullopt);
}

StepView call_of(std::string_view input, std::string_view output) {
  StepView step;
  step.kind = Kind::kTool;
  step.input = input;
  step.output = output;
  return step;
}

TEST(Unrecorded, PictureOfWhichTheRecordKeepsANote) {
  EXPECT_TRUE(shows_picture(call_of(R"({"path":"/srv/scan/tides.PNG.jpg"})", "Image read successfully")));
  EXPECT_FALSE(shows_picture(call_of(R"({"path":"/srv/scan/tides.csv"})", "read")));
  EXPECT_FALSE(shows_picture(call_of(R"({"path":"tides.png"})", std::string(200, 'x')))) << "its text is in the record";
  auto failed = call_of(R"({"path":"tides.png"})", "no such file");
  failed.outcome = Outcome::kFailed;
  EXPECT_FALSE(shows_picture(failed));
}

TEST(Unrecorded, CommandsThatPrintNothingByDesign) {
  for (const auto* quiet : {R"({"command":"mkdir -p out; cd out"})", "rm -rf /srv/tmp", R"({"cmd":"/bin/cp a b && chmod 600 b"})",
                            R"({"command":"date > now.txt 2>&1"})", R"({"command":"Remove-Item out"})"}) {
    EXPECT_TRUE(prints_nothing_by_design(quiet)) << quiet;
  }
  for (const auto* asks : {R"({"command":"cat tides.csv"})", "cd out && python3 count.py", R"({"command":"ls 2>/dev/null"})", "{}", ""}) {
    EXPECT_FALSE(prints_nothing_by_design(asks)) << asks;
  }
}

TEST(Expression, IsWorkedOutByTheUsualPrecedence) {
  const auto results = [](std::string_view text) {
    std::vector<double> out;
    work_out(text, out);
    return out;
  };
  EXPECT_EQ(results("560 * 3 / 4"), (std::vector<double>{1680, 420}));
  EXPECT_EQ(results(R"({"expression": "2 ** 10"})"), std::vector<double>{1024});
  EXPECT_EQ(results("(1.5 + 2.5)*3 - 2^3"), (std::vector<double>{4, 12, 4}));
  EXPECT_EQ(results("7 % 4 and 3*5"), (std::vector<double>{3, 15}));
  for (const auto* none : {"2026-06-28", "1.2.3", "call 555-0199", "7 / 0", "((((", "12", "3 *", "v2.0*", "", "1/2/2026"}) {
    EXPECT_TRUE(results(none).empty()) << none;
  }
  EXPECT_LE(results(std::string(40'000, '(') + "1+1").size(), 16u);
  std::string powers = "1";
  for (int i = 0; i < 1'000'000; ++i) powers += "^1";
  EXPECT_LE(results(powers).size(), 16u);
}

TEST(Expression, AMinusBehindAProduct_NeedsNoBlanks) {
  std::vector<double> results;
  work_out("{\"sum\":\"14*36-20\"}", results);
  EXPECT_THAT(results, testing::ElementsAre(504.0, 484.0));
  work_out("call 555-0199 on 2031-04-09", results);
  EXPECT_TRUE(results.empty());
}

TEST(Units, AreConverted_RoundedAsTold) {
  EXPECT_TRUE(is_conversion(12, 5.443, 3)) << "pounds to kilograms";
  EXPECT_TRUE(is_conversion(12, 26.5, 1)) << "kilograms to pounds";
  EXPECT_TRUE(is_conversion(7, 11.3, 1)) << "miles to kilometres";
  EXPECT_TRUE(is_conversion(31, 87.8, 1)) << "Celsius to Fahrenheit";
  EXPECT_TRUE(is_conversion(310, 98.33, 2)) << "kelvins to Fahrenheit";
  EXPECT_FALSE(is_conversion(12, 5.5, 3));
  EXPECT_FALSE(is_conversion(7, 12, 0));
}

TEST(ProgramEnd, TellsOfASystemCallThatFailed) {
  for (const char* failed :
       {"sftp> put tide.zip\nremote open(\"/in/tide.zip\"): Permission denied", "mv: /mnt/quay: Read-only file system\n",
        "ssh: connect to host pier port 22: Connection refused.", "DELETE 0", "update 0", "counting objects\nerror: failed to push some refs to 'quay'", "Query OK, 0 rows affected (0.01 sec)"}) {
    EXPECT_TRUE(ends_in_failure(failed)) << failed;
  }
  for (const char* fine : {"", "DELETE 3", "chart.csv: Permission denied\nchart.txt copied", "cat: moorings: No such file or directory",
                           "The harbour office said: permission denied by whom?"}) {
    EXPECT_FALSE(ends_in_failure(fine)) << fine;
  }
}

TEST(Expression, ComesToAFigure_RoundedToItsDecimals) {
  EXPECT_TRUE(comes_to({93.3333}, 93.33, "93.33"));
  EXPECT_FALSE(comes_to({93.3333}, 93.35, "93.35"));
  EXPECT_FALSE(comes_to({}, 1, "1"));
}

TEST(Unheard, CountsFiguresNamesAndSignsThatWereNotHeard) {
  Unheard unheard;
  unheard.hear("Ferry 204 leaves for Bodo. \u6e21\u8f6e");
  const auto known = unheard.news("The ferry 204 is the one to Bodo.");
  EXPECT_EQ(known.figures + known.names + known.signs, 0u);
  const auto fresh = unheard.news("At 17:45 the ferry goes to Narvik, says Ola. \u6e21\u8f6e\u665a\u70b9");
  EXPECT_EQ(fresh.figures, 2u);
  EXPECT_EQ(fresh.names, 2u);
  EXPECT_EQ(fresh.signs, 2u);
  unheard.clear();
  EXPECT_EQ(unheard.news("It is ferry 204.").figures, 1u);
  EXPECT_EQ(unheard.news("").figures, 0u);
  EXPECT_EQ(unheard.news("cut \xE6\xB8").signs, 0u);
}

TEST(Unheard, CountsEachWordOnce_AndNoneOfHeadingsCodeOrShouting) {
  Unheard unheard;
  const auto news = unheard.news(
      "## All Results Here\n**The Second Heading:**\nWe met Halvard and again Halvard, who has 38 and 38 boats.\n"
      "```\nimport the DataFrame of 4711\n```\nPLEASE HOLD ON");
  EXPECT_EQ(news.names, 1u);
  EXPECT_EQ(news.figures, 1u);
}

}  // namespace
}  // namespace runwarden::plugins
