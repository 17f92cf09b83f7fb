#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "common/settings.h"
#include "common/verdict.h"
#include "common/vocabulary.h"
#include "evidence/artifacts.h"
#include "evidence/call_entities.h"
#include "evidence/clauses.h"
#include "evidence/commands.h"
#include "evidence/confidence.h"
#include "evidence/deed_reader.h"
#include "evidence/denied_deed.h"
#include "evidence/expression.h"
#include "evidence/given_records.h"
#include "evidence/measures.h"
#include "evidence/odd_one.h"
#include "evidence/payload.h"
#include "evidence/program_end.h"
#include "evidence/sentence_features.h"
#include "evidence/stems.h"
#include "evidence/touched_files.h"
#include "evidence/trouble.h"
#include "evidence/trees.h"
#include "evidence/trouble.h"
#include "evidence/undone.h"
#include "evidence/unheard.h"
#include "evidence/units.h"
#include "evidence/unrecorded.h"
#include "evidence/waiting.h"
#include "evidence/wrapped_call.h"
#include "evidence/written_call.h"
#include "unit/plugins/candidates.h"
#include "unit/plugins/run_builder.h"
#include "unit/plugins/vocabulary_file.h"

namespace runwarden::plugins {
namespace {

StepView unwrapped(std::string_view name, std::string_view input) {
  RunBuilder run;
  run.tool(name, input, "ok");
  auto view = run.run();
  unwrap_calls(view, CallNames::shipped());
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
                    Wrapped{"run", "ls -l", "run", "ls -l"},
                    // An order in words
                    Wrapped{"act", R"({"action":"take pan 1 from shelf 2"})", "take", "pan 1 from shelf 2"},
                    Wrapped{"env_step", "put apple 3 in/on fridge 1", "put", "apple 3 in/on fridge 1"},
                    Wrapped{"perform_action", R"( {"action": "inventory"} )", "inventory", ""},
                    // Neither code, nor a command line, nor one argument of several, nor a long text
                    Wrapped{"act", "open('safe 1')", "act", "open('safe 1')"}, Wrapped{"step", "cat /etc/hosts", "step", "cat /etc/hosts"},
                    Wrapped{"act", R"({"action":"press","key":"enter"})", "act", R"({"action":"press","key":"enter"})"},
                    Wrapped{"act", R"({"action":"say \"hi\""})", "act", R"({"action":"say \"hi\""})"}, Wrapped{"act", "", "act", ""}));

TEST(WrappedCalls, LongTextIsNoOrder) {
  const std::string text = "go " + std::string(120, 'x');
  EXPECT_EQ(unwrapped("act", text).name, "act");
}

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
  EXPECT_TRUE(has_payload(R"({"error":"one row skipped","rows":[")" + much + "\"]}", CallNames::shipped()));
  EXPECT_FALSE(has_payload(R"({"error":")" + much + R"(","rows":[]})", CallNames::shipped()));
  EXPECT_FALSE(has_payload(R"({"error":{"trace":")" + much + "\"}}", CallNames::shipped()));
  EXPECT_FALSE(has_payload(R"({"error":"x","errorDetails":")" + much + "\"}", CallNames::shipped()));
  EXPECT_FALSE(has_payload(R"({"error":"x","fehlerText":")" + much + "\"}", CallNames::shipped()));
  EXPECT_FALSE(has_payload(much, CallNames::shipped()));
}

TEST(Payload, MayBeAFewRecordsBesideAWarning) {
  const auto holds = [](std::string_view output) { return has_payload(output, CallNames::shipped()); };
  EXPECT_TRUE(holds(R"({"error":{"level":"warning","msg":"cache stale"},"depths":[4.2,4.4,4.1]})"));
  EXPECT_TRUE(holds(R"({"error":{"code":"STALE"},"berths":[{"id":"C-4"},{"id":"C-5"}]})"));
  EXPECT_TRUE(holds(R"({"error":"OLD_API: use /v2","berths":[{"id":"C-4"},{"id":"C-5"}],"free":2,"as_of":"12:40"})"));
  EXPECT_TRUE(holds(R"({"error_code":"PARTIAL","error_message":"no depths","berths":[{"id":"C-4"},{"id":"C-5"}],"total":2})"));
  EXPECT_FALSE(holds(R"({"error":"two berths fit","berths":[{"id":"C-4"},{"id":"C-5"}]})")) << "the error asks which";
  EXPECT_FALSE(holds(R"({"error":{"code":"X"},"known":["C-4","C-5"]})")) << "hints";
  EXPECT_FALSE(holds(R"({"ok":false,"error":{"code":"X"},"depths":[4.2,4.4]})"));
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
  const auto add = [&](std::size_t call, std::uint64_t key, std::string_view input, std::string_view output = {}) {
    StepView step;
    step.input = input;
    step.output = output;
    touched.add(call, key, step, CallNames::shipped());
  };
  add(1, 10, "sed -i s/a/b/ /srv/app/main.py");
  add(2, 15, R"({"command":"cat main.py"})");
  add(3, 20, "write other.py");
  add(5, 10, "sed -i s/a/b/ /srv/app/main.py");
  touched.finish();
  EXPECT_TRUE(touched.between("python3 main.py", 0, 2));
  EXPECT_FALSE(touched.between("python3 main.py", 1, 2)) << "the call itself is not between";
  EXPECT_FALSE(touched.between("python3 main.py", 1, 4)) << "looked at, and another file";
  EXPECT_FALSE(touched.between("python3 main.py", 4, 6)) << "the same edit again changes nothing";
  EXPECT_FALSE(touched.between("make", 0, 9));
  touched.clear();
  EXPECT_FALSE(touched.between("python3 main.py", 0, 2));
  add(1, 30, "12:14\n  lr = 0.1", "[File: /srv/app/main.py (40 lines)]\nimport notes.txt");
  add(2, 31, "edit tool.py", "[File: main.py]");
  touched.finish();
  EXPECT_TRUE(touched.between("python3 main.py", 0, 9)) << "the open file, which only the output names";
  EXPECT_FALSE(touched.between("python3 main.py", 1, 9)) << "the input names another";
  EXPECT_FALSE(touched.between("cat notes.txt", 0, 9)) << "what the file holds";
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
  EXPECT_TRUE(shows_picture(call_of(R"({"path":"/srv/scan/tides.PNG.jpg"})", "Image read successfully"), CallNames::shipped()));
  EXPECT_FALSE(shows_picture(call_of(R"({"path":"/srv/scan/tides.csv"})", "read"), CallNames::shipped()));
  EXPECT_FALSE(shows_picture(call_of(R"({"path":"tides.png"})", std::string(200, 'x')), CallNames::shipped()))
      << "its text is in the record";
  auto failed = call_of(R"({"path":"tides.png"})", "no such file");
  failed.outcome = Outcome::kFailed;
  EXPECT_FALSE(shows_picture(failed, CallNames::shipped()));
}

TEST(Unrecorded, CommandsThatPrintNothingByDesign) {
  for (const auto* quiet : {R"({"command":"mkdir -p out; cd out"})", "rm -rf /srv/tmp", R"({"cmd":"/bin/cp a b && chmod 600 b"})",
                            R"({"command":"date > now.txt 2>&1"})", R"({"command":"Remove-Item out"})"}) {
    EXPECT_TRUE(prints_nothing_by_design(quiet, CallNames::shipped())) << quiet;
  }
  for (const auto* asks : {R"({"command":"cat tides.csv"})", "cd out && python3 count.py", R"({"command":"ls 2>/dev/null"})", "{}", ""}) {
    EXPECT_FALSE(prints_nothing_by_design(asks, CallNames::shipped())) << asks;
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

TEST(WorkOut, OfAMessage_ReadsThousands) {
  std::vector<double> results;
  work_out_told("Per berth: (2,480 - 560) / 80 = 24.00", results);
  EXPECT_EQ(results, (std::vector<double>{1920, 24}));
  work_out_told("2,48 * 2", results);
  EXPECT_EQ(results, (std::vector<double>{96})) << "a comma before two digits parts figures";
}

TEST(Expression, MayMultiplyWithALetter) {
  std::vector<double> results;
  work_out("35 x 28.50 + 175", results);
  EXPECT_THAT(results, testing::ElementsAre(997.5, 1172.5));
  work_out("a 2x4 beam", results);
  EXPECT_THAT(results, testing::IsEmpty());
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

const ProgramWords& program_words() {
  static const ProgramWords words{Vocabulary()};
  return words;
}

TEST(ProgramEnd, TellsOfASystemCallThatFailed) {
  for (const char* failed :
       {"sftp> put tide.zip\nremote open(\"/in/tide.zip\"): Permission denied", "mv: /mnt/quay: Read-only file system\n",
        "ssh: connect to host pier port 22: Connection refused.", "DELETE 0", "update 0",
        "counting objects\nerror: failed to push some refs to 'quay'", "Query OK, 0 rows affected (0.01 sec)"}) {
    EXPECT_TRUE(ends_in_failure(failed, program_words())) << failed;
  }
  for (const char* fine : {"", "DELETE 3", "chart.csv: Permission denied\nchart.txt copied", "cat: moorings: No such file or directory",
                           "The harbour office said: permission denied by whom?"}) {
    EXPECT_FALSE(ends_in_failure(fine, program_words())) << fine;
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

TEST(Unheard, SignsBeyondAscii_PartWords) {
  Unheard unheard;
  unheard.hear("At 8:59:50\u202fAM to \u201cNarvik\u201d \u2014 17\u00a0kroner, \u221242");
  const auto news = unheard.news("It leaves for Narvik at 8:59:50 AM, costs 17 kroner and is 42 late.");
  EXPECT_EQ(news.figures + news.names, 0u);
}

TEST(Unheard, CountsEachWordOnce_AndNoneOfHeadingsCodeOrShouting) {
  Unheard unheard;
  const auto news = unheard.news(
      "## All Results Here\n**The Second Heading:**\nWe met Halvard and again Halvard, who has 38 and 38 boats.\n"
      "```\nimport the DataFrame of 4711\n```\nPLEASE HOLD ON");
  EXPECT_EQ(news.names, 1u);
  EXPECT_EQ(news.figures, 1u);
}

TEST(ProgramEnd, IsTheLineBeforeWhatIsSaidOfTheProgram) {
  for (const auto* failed :
       {"Start building ...\nERROR render of page failed\nexit status 3", "Connected.\nPermission denied (publickey).\nConnection closed",
        "UPDATE 0\nQuery returned successfully in 12 msec.", "..F.\n=== 1 failed, 3 passed in 0.2s ===", "Tests: 2 failed, 9 passed",
        "Done. PASS=2 WARN=0 ERROR=1 SKIP=2", "test result: FAILED. 1 passed; 1 failed", "Rows matched: 0  Changed: 0  Warnings: 0"}) {
    EXPECT_TRUE(ends_in_failure(failed, program_words())) << failed;
  }
  for (const auto* fine : {"built\nexit status 0", "=== 12 passed in 0.2s ===", "0 failed, 4 passed", "Done. PASS=5 WARN=0 ERROR=0 SKIP=0",
                           "Failsafe is on", "Rows matched: 3  Changed: 3"}) {
    EXPECT_FALSE(ends_in_failure(fine, program_words())) << fine;
  }
}

TEST(ProgramEnd, ErrorBehindANameOrAPlace) {
  for (const auto* failed :
       {"pg_dump: error: connection to server failed", "tide.c:3:5: error: expected ';' before 'return'\nexit status 1",
        "curl: (6) Could not resolve host: quay.example", "npm ERR! code ELIFECYCLE", "make: *** [all] Error 2",
        "ERROR: deadlock detected\nDETAIL: Process 881 waits", "line 4\nKeyError: 'tide'"}) {
    EXPECT_TRUE(ends_in_failure(failed, program_words())) << failed;
  }
  for (const auto* fine : {"tide.c:3:5: warning: unused", "log: no error: all well", "curl: 6 files"})
    EXPECT_FALSE(ends_in_failure(fine, program_words()));
}

TEST(ProgramEnd, CodeWithWhichItExits) {
  for (const auto* failed : {"exit status 2", "Process exited with code 127.", "pulled\n[exit code 137]", "Command failed: exit code: 3",
                             "sudo: a password is required\n[exit code 1]", R"({"exit_code":2,"stdout":"","stderr":""})",
                             R"({"output":"sudo: a password is required\n","metadata":{"exit_code":1}})"}) {
    EXPECT_TRUE(exits_with_failure(failed, program_words())) << failed;
  }
  for (const auto* fine : {"", "exit code 0", "[exit code 1]", "< tide 3\n> tide 4\nexit status 1", "the exit code is 4711",
                           "We agreed on exit code 3 for this.", R"({"output":"","metadata":{"exit_code":1}})", R"({"exit_code":0})",
                           R"({"status":"no_tests","exit_code":5})", R"({"jobs":[{"exit_code":2}]})", R"({"exit_code":2)"}) {
    EXPECT_FALSE(exits_with_failure(fine, program_words())) << fine;
  }
}

const OutcomeWords& outcome_words() {
  static const OutcomeWords words{Vocabulary()};
  return words;
}

const Lexicon& shipped_lexicon() {
  static const auto lexicon = [] {
    constexpr SettingsForm form{{}, {}};
    return make_lexicon(Settings("", form));
  }();
  return lexicon;
}

bool denies(std::string_view name, std::string_view input, std::string_view output, std::string_view verb) {
  RunBuilder run;
  run.tool(name, input, output);
  const auto* entry = shipped_lexicon().find(verb);
  const std::uint16_t group = entry == nullptr ? std::uint16_t{0} : shipped_lexicon().verb(entry->verb).group;
  return denies_deed(run.run().steps[0], {&group, 1}, outcome_words(), shipped_lexicon());
}

TEST(DeniedDeed, IsToldByAMemberAtTheFirstLevel) {
  EXPECT_TRUE(denies("add_label", "{}", R"({"changed":0,"note":"locked"})", "add"));
  EXPECT_TRUE(denies("send_news", "{}", R"({"send_status":"bounced"})", "send"));
  EXPECT_TRUE(denies("change_train", "{}", R"({"status":"NOT_CHANGED"})", "change"));
  EXPECT_TRUE(denies("lock_door", "{}", R"([{"door":"back","state":"rejected"}])", "lock")) << "the first of a list";
  EXPECT_TRUE(denies("post_notice", "{}", R"({"statusCode":429})", "post"));
  EXPECT_TRUE(denies("update_signs", R"({"ids":["L3"]})", R"({"L3":"download failed"})", "update"));
}

TEST(DeniedDeed, IsToldWithinTheAnswer) {
  EXPECT_TRUE(denies("send_letter", "{}", R"({"http":200,"order":{"id":"E-9","state":"REJECTED"}})", "send"));
  EXPECT_TRUE(denies("invite_room", "{}", R"({"room":"quay","responseStatus":{"response":"declined"}})", "invite"));
  EXPECT_TRUE(denies("swap_line", "{}", R"({"order":"P-6","result":"ORDER_FALLOUT"})", "swap"));
  EXPECT_TRUE(denies("send_notices", "{}", R"({"notices":[{"to":"a","status":"undelivered"},{"to":"b","status":"bounced"}]})", "send"));
  EXPECT_TRUE(denies("add_page", "{}", R"({"fault":{"text":"too long"}})", "add"));
  EXPECT_TRUE(denies("lock_door", "{}", R"({"door":"front","state":"unlocked"})", "lock")) << "the opposite";
  EXPECT_TRUE(denies("lock_door", "{}", R"({"door":"front","jammed":true})", "lock"));
  EXPECT_TRUE(denies("charge_sperren", "{}", R"({"ort":"Kai","gesperrt":false})", "lock")) << "a verb in another language";
}

TEST(DeniedDeed, IsToldByACountOfNone_AnEmptyList_OrANo) {
  EXPECT_TRUE(denies("send_news", "{}", R"({"id":"n-3","sent":0,"dropped":412,"why":"quiet hours"})", "send"));
  EXPECT_TRUE(denies("send_news", "{}", R"({"accepted":0,"rejected":1})", "send"));
  EXPECT_TRUE(denies("archive_letters", "{}", R"({"archived":[],"skipped":["l-1","l-2"]})", "archive"));
  EXPECT_TRUE(denies("post_notice", "{}", R"({"posted":"no"})", "post"));
  EXPECT_FALSE(denies("send_news", "{}", R"({"sent":0,"queued":412})", "send")) << "it goes out later";
  EXPECT_FALSE(denies("archive_letters", "{}", R"({"archived":["l-1"],"skipped":[]})", "archive"));
  EXPECT_FALSE(denies("post_notice", "{}", R"({"posted":"yes"})", "post"));
}

TEST(DeniedDeed, IsToldByAFlagOfAnyDeed_BesideAReasonOrErrors) {
  EXPECT_TRUE(denies("give_back", "{}", R"({"charge":"c-7","refund_issued":false,"reason":"over the limit of agents"})", "return"));
  EXPECT_TRUE(denies("move_recipe", "{}", R"({"recipe":"r-7","submitted":false,"errors":[{"field":"class","text":"once only"}]})", "move"));
  EXPECT_TRUE(denies("move_recipe", "{}", R"({"uebermittelt":false,"grund":"gesperrt"})", "move"));
  EXPECT_TRUE(denies("set_heat", "{}", R"({"state":"off","changed":false})", "set"));
  EXPECT_FALSE(denies("create_order", "{}", R"({"order":"o-7","paid":false,"shipped":false})", "create")) << "a state";
  EXPECT_FALSE(denies("create_order", "{}", R"({"order":"o-7","paid":false,"errors":[]})", "create"));
  EXPECT_FALSE(denies("create_order", "{}", R"({"order":"o-7","paid":true,"reason":"gift"})", "create"));
}

TEST(DeniedDeed, IsToldByAnOutcomeThatIsFalse_OrByADryRun) {
  EXPECT_TRUE(denies("cancel_booking", R"({"id":"7"})", R"({"result":false})", "cancel"));
  EXPECT_TRUE(denies("cancel_booking", R"({"id":"7"})", R"({"cancel_status":false})", "cancel"));
  EXPECT_TRUE(denies("cancel_booking", R"({"id":"7"})", R"({"is_cancelled":false})", "cancel"));
  EXPECT_TRUE(denies("cancel_booking", R"({"id":"7"})", R"({"results":[{"id":"7","success":false}]})", "cancel"));
  EXPECT_TRUE(denies("cancel_booking", R"({"id":"7"})", R"({"error_code":17})", "cancel"));
  EXPECT_TRUE(denies("cancel_booking", R"({"id":"7"})", R"({"errorResult":{"reason":"invalid"}})", "cancel"));
  EXPECT_TRUE(denies("cancel_booking", R"({"id":"7"})", R"({"dry_run":true,"would_cancel":["7"]})", "cancel"));
  EXPECT_FALSE(denies("cancel_booking", R"({"id":"7","dry_run":true})", R"({"dry_run":true})", "cancel")) << "as it was asked";
  EXPECT_FALSE(denies("set_switch", R"({"status":false})", R"({"status":false})", "set")) << "as it was asked";
  EXPECT_FALSE(denies("cancel_booking", R"({"id":"7"})", R"({"read_status":false})", "cancel")) << "of another thing";
  EXPECT_FALSE(denies("cancel_booking", R"({"id":"7"})", R"({"error_code":0})", "cancel"));
  EXPECT_FALSE(denies("cancel_booking", R"({"id":"7"})", R"({"results":[{"id":"7","success":true}]})", "cancel"));
}

TEST(DeniedDeed, IsToldByACodeThatDeniesIt_WithinTheAnswer) {
  EXPECT_TRUE(
      denies("extend_berth", "{}", R"({"http":200,"result":{"berth":"C-4","outcome":"NOT_APPLIED","cause":{"code":"TAKEN"}}})", "extend"));
  EXPECT_TRUE(denies("extend_berth", "{}", R"({"result":{"outcome":"NOT_EXTENDED"}})", "extend"));
  EXPECT_FALSE(denies("extend_berth", "{}", R"({"result":{"outcome":"APPLIED"}})", "extend"));
}

TEST(DeniedDeed, IsToldByTheOppositeState) {
  EXPECT_TRUE(denies("unlock_door", "{}", R"({"door":"back","state":"locked"})", "unlock"));
  EXPECT_TRUE(denies("start_pump", "{}", R"({"pump":{"state":"stopped"}})", "start"));
  EXPECT_FALSE(denies("unlock_door", "{}", R"({"door":"back","state":"unlocked"})", "unlock"));
  EXPECT_FALSE(denies("start_pump", "{}", R"({"pump":{"state":"starting"}})", "start"));
}

TEST(DeniedDeed, IsToldInGermanAndSpanish) {
  EXPECT_TRUE(denies("karte_aktivieren", "{}", R"({"karte":"M-1","zustand":"deaktiviert"})", "activate"));
  EXPECT_TRUE(denies("activar_tarjeta", "{}", R"({"tarjeta":"M-1","estado":"desactivada"})", "activate"));
  EXPECT_TRUE(denies("platz_buchen", "{}", R"({"zustand":"NICHT_GEBUCHT"})", "book"));
  EXPECT_TRUE(denies("reservar_muelle", "{}", R"({"estado":"no_reservado"})", "book"));
  EXPECT_FALSE(denies("log_call", R"({"outcome":"no_answer"})", R"({"outcome":"no_answer"})", "record")) << "as it was asked";
  EXPECT_TRUE(denies("platz_buchen", "{}", R"({"fehlercode":17})", "book"));
  EXPECT_FALSE(denies("platz_buchen", "{}", R"({"fehlercode":0})", "book"));
  EXPECT_FALSE(denies("platz_buchen", "{}", R"({"zustand":false})", "book")) << "of a device";
  EXPECT_FALSE(denies("boote_eintragen", "{}", R"({"changed":0,"importiert":3})", "add"));
}

TEST(DeniedDeed, IsNotToldByWhatWasBefore_NorByAThing) {
  EXPECT_FALSE(denies("restart_pump", "{}", R"({"previous_state":"failed","state":"running"})", "restart"));
  EXPECT_FALSE(denies("renew_pass", "{}", R"({"old":{"status":"expired"},"new":{"status":"active"}})", "renew"));
  EXPECT_FALSE(denies("retry_payment", "{}", R"({"attempts":[{"status":"declined"}],"status":"paid"})", "pay"));
  EXPECT_FALSE(denies("assign_berth", "{}", R"({"berth":{"state":"held"},"id":"B-7"})", "assign"));
  EXPECT_FALSE(denies("book_berth", "{}", R"({"booking":{"status":"confirmed","deposit":{"state":"declined"}}})", "book"));
  EXPECT_FALSE(denies("send_notices", "{}", R"({"notices":[{"to":"a","status":"sent"},{"to":"b","status":"bounced"}]})", "send"))
      << "some were sent";
}

TEST(DeniedDeed, IsNotTheDeedItself_NorWhatWasAskedWith) {
  EXPECT_FALSE(denies("reject_offer", "{}", R"({"status":"rejected"})", "reject"));
  EXPECT_FALSE(denies("update_signs", R"({"text":"Payment failed"})", R"({"text":"Payment failed"})", "update"));
  EXPECT_FALSE(denies("add_label", "{}", R"({"failed":0,"changed":3})", "add"));
  EXPECT_FALSE(denies("add_label", "{}", R"({"inner":{"changed":0}})", "add"));
  EXPECT_FALSE(denies("post_notice", "{}", R"({"statusCode":201})", "post"));
  EXPECT_FALSE(denies("create_labels", "{}", R"({"created":12,"updated":0})", "create"));
  EXPECT_FALSE(denies("sync_labels", "{}", R"({"matched":0,"upserted":1})", "sync"));
  EXPECT_FALSE(denies("send_news", "{}", R"({"sent":true,"queued":false})", "send"));
  EXPECT_FALSE(denies("create_or_update_label", "{}", R"({"created":false,"updated":2})", "create"));
  EXPECT_FALSE(denies("remove_coupon", "{}", R"({"applied":false})", "remove"));
  EXPECT_TRUE(denies("send_news", "{}", R"({"sent":false,"id":"m)", "send")) << "cut short";
}

TEST(DeniedDeed, IsToldByAnHttpStatusBesideATextThatExplainsIt) {
  EXPECT_TRUE(denies("patch_page", "{}", R"({"object":"error","status":409,"message":"Conflict while saving"})", "add"));
  EXPECT_TRUE(denies("patch_page", "{}", R"({"title":"Too Many Requests","status":429})", "add"));
  EXPECT_FALSE(denies("patch_page", "{}", R"({"status":409})", "add")) << "a number alone may count anything";
  EXPECT_FALSE(denies("patch_page", "{}", R"({"status":200,"message":"saved"})", "add"));
  EXPECT_FALSE(denies("patch_page", "{}", R"({"status":4090,"message":"saved"})", "add"));
}

TEST(Waiting, IsToldByAnOutcomeOfTheAnswerOrOfAnObjectInIt) {
  const auto waits = [](std::string_view input, std::string_view output) {
    RunBuilder run;
    run.tool("book_berth", input, output);
    return is_waiting(run.run().steps[0], outcome_words());
  };
  EXPECT_TRUE(waits("{}", R"({"status":"WAITLISTED"})"));
  EXPECT_TRUE(waits("{}", R"({"berth":{"state":"wait_listed","place":4}})"));
  EXPECT_TRUE(waits("{}", R"({"estado":"pendiente_lista_espera"})"));
  EXPECT_TRUE(waits("{}", R"({"zustand":"Warteliste"})"));
  EXPECT_FALSE(waits("{}", R"({"status":"booked","note":"waitlist closed"})")) << "the note tells no outcome";
  EXPECT_FALSE(waits("{}", R"({"status":"booked","others":[{"status":"waitlisted"}]})")) << "nor do the things in a list";
  EXPECT_FALSE(waits(R"({"list":"waitlist"})", R"({"status":"waitlist"})")) << "it was asked for";
  EXPECT_FALSE(waits("{}", "waitlisted"));
  EXPECT_FALSE(waits("{}", R"({"status":"wait)"));
}

TEST(Waiting, IsToldByAMessageInTheWordsOfSuchAnswers) {
  EXPECT_TRUE(tells_waiting("You are on the waiting list for C-4.", outcome_words()));
  EXPECT_TRUE(tells_waiting("Sie stehen auf der Warteliste.", outcome_words()));
  EXPECT_FALSE(tells_waiting("You are booked. I'm waiting for your list.", outcome_words()));
}

TEST(AnswersOtherwise, ByFiguresDaysAndYesOrNo) {
  constexpr auto kTold = "The fee is 95, born on 1988-10-09.";
  const auto answers_otherwise = [&](std::string_view input, std::string_view output) {
    return plugins::answers_otherwise(input, output, kTold, outcome_words());
  };
  EXPECT_TRUE(answers_otherwise(R"({"berth":"C-4","fee":95})", R"({"berth":"C-4","fee":89})"));
  EXPECT_FALSE(answers_otherwise(R"({"fee":94})", R"({"fee":89})")) << "not told as it was asked for";
  EXPECT_FALSE(answers_otherwise(R"({"version":95})", R"({"version":96})")) << "counts by itself";
  EXPECT_TRUE(answers_otherwise(R"({"online":true})", R"({"online":false,"by":"harbour master"})"));
  EXPECT_TRUE(answers_otherwise(R"({"born":"1988-10-09"})", R"({"born":"1988-09-10"})"));
  EXPECT_FALSE(answers_otherwise(R"({"fee":95})", R"({"fee":95.0})"));
  EXPECT_FALSE(answers_otherwise(R"({"country":"Norge"})", R"({"country":"NO"})")) << "texts may be spelled otherwise";
  EXPECT_FALSE(answers_otherwise(R"({"fee":95})", R"({"old":{"fee":89}})"));
  EXPECT_FALSE(answers_otherwise("fee 95", R"({"fee":89})"));
}

TEST(OddCalls, AreThoseWithAnotherOutcomeThanTheRest) {
  const auto odd = [](std::initializer_list<const char*> outputs) {
    RunBuilder run;
    std::vector<std::size_t> calls;
    for (const auto* output : outputs) {
      calls.push_back(calls.size());
      run.tool("print_label", R"({"pallet":7})", output);
    }
    std::vector<std::size_t> out;
    collect_odd_calls(run.run(), calls, outcome_words(), shipped_lexicon(), out);
    return out;
  };
  using testing::ElementsAre;
  EXPECT_THAT(odd({R"({"estado":"printed"})", R"({"estado":"atasco"})", R"({"estado":"printed"})"}), ElementsAre(1u));
  EXPECT_THAT(odd({"Label printed.", "Label printed.", "Out of paper."}), ElementsAre(2u));
  EXPECT_THAT(odd({R"({"state":"sent"})", R"({"state":"lost"})"}), ElementsAre()) << "of two nobody knows which is odd";
  EXPECT_THAT(odd({"Added.", "Added.", "Added. The list is complete."}), ElementsAre()) << "done, too";
  EXPECT_THAT(odd({R"({"state":"rejected"})", R"({"state":"rejected"})", R"({"state":"paid"})"}), ElementsAre())
      << "the odd one is the good one";
  EXPECT_THAT(odd({R"({"state":"CA"})", R"({"state":"CA"})", R"({"state":"NV"})"}), ElementsAre()) << "no outcome";
  EXPECT_THAT(odd({R"({"state":"a"})", R"({"state":"b"})", R"({"state":"c"})"}), ElementsAre());
  EXPECT_THAT(odd({R"({"colour":"red"})", R"({"colour":"red"})", R"({"colour":"blue"})"}), ElementsAre()) << "no outcome";
}

TEST(OddCalls, RepeatingTheirArguments_TellNothing) {
  RunBuilder run;
  for (const auto* state : {"open", "open", "closed"}) {
    const auto said = std::string(R"({"state":")") + state + "\"}";
    run.tool("set_gate", said, said);
  }
  std::vector<std::size_t> odd;
  collect_odd_calls(run.run(), std::vector<std::size_t>{0, 1, 2}, outcome_words(), shipped_lexicon(), odd);
  EXPECT_TRUE(odd.empty());
}

std::vector<std::string> odd_rows(std::string_view output) {
  std::vector<OddRow> rows;
  collect_odd_rows(output, outcome_words(), shipped_lexicon(), rows);
  std::vector<std::string> ids;
  for (const auto& row : rows) ids.emplace_back(row.id);
  return ids;
}

TEST(OddRows, AreFoundInListsMapsAndUnderWhatFailed) {
  using testing::ElementsAre;
  EXPECT_THAT(odd_rows(R"({"rows":[{"to":"D-1","state":"sent"},{"to":"D-2","state":"sent"},{"to":"D-3","state":"lost"}]})"),
              ElementsAre("D-3"));
  EXPECT_THAT(odd_rows(R"({"501":"ok","502":"ok","503":"numero"})"), ElementsAre("503"));
  EXPECT_THAT(odd_rows(R"({"sent":3,"undeliverable":[{"flat":"B3","why":"full"}]})"), ElementsAre("B3"));
  EXPECT_THAT(odd_rows(R"({"sent":["a"],"bounced":[1322]})"), ElementsAre("1322"));
  EXPECT_THAT(odd_rows(R"({"data":{"updated":[301,322],"errors":[{"id":317,"msg":"locked"}]}})"), ElementsAre("317"));
  EXPECT_THAT(odd_rows(R"({"mode":"dark","theme":"dark","language":"en"})"), ElementsAre()) << "settings, no outcomes";
  EXPECT_THAT(odd_rows(R"({"errors":[],"rows":[{"id":"a","state":"paid"},{"id":"b","state":"paid"}]})"), ElementsAre());
  EXPECT_THAT(odd_rows(R"([{"id":"a","state":"paid"},{"id":"b","state":"held"}])"), ElementsAre());
  EXPECT_THAT(odd_rows(R"({"rows":[{"to":"D-1","state":"sent")"), ElementsAre()) << "cut short";
}

TEST(OddRows, AreToldByFlagsAndCodesToo) {
  using testing::ElementsAre;
  EXPECT_THAT(odd_rows(R"([{"crane":"K1","ok":true},{"crane":"K2","ok":false},{"crane":"K3","ok":true}])"), ElementsAre("K2"));
  EXPECT_THAT(odd_rows(R"({"done":[{"crane":"K1","code":0},{"crane":"K2","code":0},{"crane":"K3","code":12}]})"), ElementsAre("K3"));
  EXPECT_THAT(odd_rows(R"([{"url":"/a","status":200},{"url":"/b","status":200},{"url":"/c","status":410}])"), ElementsAre("/c"));
  EXPECT_THAT(odd_rows(R"([{"crane":"K1","ok":false},{"crane":"K2","ok":false},{"crane":"K3","ok":true}])"), ElementsAre());
  EXPECT_THAT(odd_rows(R"([{"crane":"K1","floor":0},{"crane":"K2","floor":0},{"crane":"K3","floor":1}])"), ElementsAre()) << "no code";
}

TEST(OddRows, AreToldByParticiplesAndCounted) {
  std::vector<OddRow> rows;
  collect_odd_rows(R"([{"user":"a","enrolled":true},{"user":"b","enrolled":true},{"enrolled":false}])", outcome_words(), shipped_lexicon(),
                   rows);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].id, "");
  EXPECT_EQ(rows[0].of, 3u);
  EXPECT_EQ(rows[0].beside, "a");
}

TEST(CountsFailedOnes, BesideThoseThatWereDone) {
  const auto counts = [](std::string_view output) -> std::optional<bool> {
    const auto counted = counts_failed_ones(output, outcome_words(), shipped_lexicon());
    return counted ? std::optional(counted->failed) : std::nullopt;
  };
  EXPECT_EQ(counts(R"({"batch":"B-9","inserted":41,"rejected":2,"rows":[4,29]})"), true);
  EXPECT_EQ(counts("{'ok': 355, 'failed': 57}"), true);
  EXPECT_EQ(counts(R"({"inserted":43,"rejected":0})"), false);
  EXPECT_EQ(counts(R"({"inserted":43})"), std::nullopt);
  EXPECT_EQ(counts(R"({"rejected":2})"), std::nullopt) << "all of them failed, or it is a record";
  EXPECT_EQ(counts(R"([{"inserted":41,"rejected":2}])"), std::nullopt);
  EXPECT_EQ(counts(R"({"accepted":4,"rejected":[{"to":"D-5"}]})"), true);
  EXPECT_EQ(counts(R"({"accepted":5,"rejected":[]})"), false);
  EXPECT_EQ(counts(R"({"accepted":4,"rejected":[{"to":)"), std::nullopt) << "cut short";
  EXPECT_EQ(counts_failed_ones(R"({"accepted":4,"rejected":["D-5"]})", outcome_words(), shipped_lexicon())->all, 5u);
}

StepView call_of(RunBuilder& run, std::string_view name, std::string_view input, std::string_view output) {
  return run.tool(name, input, output).run().steps.back();
}

TEST(Unrecorded, FiguresOfAPicture_DoNotShowIt) {
  RunBuilder run;
  EXPECT_FALSE(
      shows_picture(call_of(run, "upscale", R"({"file":"hull.png"})", R"({"file":"hull2.png","width":1860})"), CallNames::shipped()));
  EXPECT_TRUE(shows_picture(call_of(run, "view", R"({"file":"hull.png"})", "Image read"), CallNames::shipped()));
}

TEST(ChangedNoRow, IsCountedByWhatAStatementAnswers) {
  const auto none = [](std::string_view input, std::string_view output) {
    RunBuilder run;
    return changed_no_row(call_of(run, "db", input, output));
  };
  constexpr auto kUpdate = R"({"q":"UPDATE berths SET free = 0 WHERE id = 'C-4'"})";
  EXPECT_TRUE(none(kUpdate, "(0 rows affected)"));
  EXPECT_TRUE(none(kUpdate, R"({"rowCount":0})"));
  EXPECT_TRUE(none("delete from berths where id = 'C-4'", "Query OK, 0 rows affected"));
  EXPECT_TRUE(none("COMMIT", "ROLLBACK")) << "a statement before it failed";
  EXPECT_FALSE(none("ROLLBACK", "ROLLBACK"));
  EXPECT_TRUE(none(kUpdate, "\uFF10 rows affected")) << "a full-width zero";
  EXPECT_FALSE(none(kUpdate, "(1 row affected)"));
  EXPECT_FALSE(none(kUpdate, "done"));
  EXPECT_FALSE(none("SELECT id FROM berths", "(0 rows)")) << "a look-up that found nothing";
}

TEST(FailedCell, IsAFewWordsOfOneLine) {
  const auto failed = [](std::string_view output) { return has_failed_cell(output, outcome_words()); };
  EXPECT_TRUE(failed("C-4 | Saturday | Booking Rejected | too deep a draught"));
  EXPECT_TRUE(failed("C-4 | failed"));
  EXPECT_FALSE(failed("C-4 | Saturday | Booking Accepted"));
  EXPECT_FALSE(failed("C-4 | what to do when a booking was rejected")) << "a sentence";
  EXPECT_FALSE(failed("berth | state\nC-4 | rejected")) << "a table may list what was";
  EXPECT_FALSE(failed("rejected"));
}

TEST(DeniesOwnDeed, InTextMarkupAndMembersThatExplain) {
  const auto denies_own = [](std::string_view output, std::string_view input = "{}", std::string_view verb = "book") {
    RunBuilder run;
    Reading scratch;
    const auto group = shipped_lexicon().verb(shipped_lexicon().find(verb)->verb).group;
    return denies_own_deed(call_of(run, "x", input, output), {&group, 1}, outcome_words(), shipped_lexicon(), scratch);
  };
  EXPECT_TRUE(denies_own("<p class=\"warn\">The berth was <b>not</b> booked.</p>"));
  EXPECT_TRUE(denies_own(R"({"id":"B-7","state":"draft","notes":[{"level":"E","text":"Berth was not booked: draught."}]})"));
  EXPECT_FALSE(denies_own(R"({"id":"B-7","text":"The berth was not cleaned."})")) << "another deed";
  EXPECT_FALSE(denies_own(R"({"id":"B-7","text":"The berth was not booked."})", R"({"text":"The berth was not booked."})")) << "as asked";
  EXPECT_FALSE(denies_own(R"({"id":"B-7","remark":"It was not booked before."})")) << "no member that explains";
  EXPECT_FALSE(denies_own("The berth was booked."));
}

TEST(OwnsUp, ForAnAgentThatWasCalled) {
  Reading scratch;
  const auto owns = [&](std::string_view output) { return owns_up(output, shipped_lexicon(), scratch); };
  EXPECT_TRUE(owns("I called two pilots. I was not able to find one for tonight."));
  EXPECT_TRUE(owns("[pilot_agent] I was unable to find a pilot for tonight."));
  EXPECT_FALSE(owns("I found a pilot for tonight."));
  EXPECT_FALSE(owns(R"(["I was unable to find a pilot."])"));
}

TEST(FailedState, IsTheOutcomeOfAnAnswer_OrRefusesWithinIt) {
  const auto failed = [](std::string_view output) { return tells_failed_state(output, outcome_words()); };
  EXPECT_TRUE(failed(R"({"job":"J-9","state":"CHECK_FAILED"})"));
  EXPECT_TRUE(failed(R"({"job":"J-9","job_status":"rejected by bank"})"));
  EXPECT_FALSE(failed(R"({"job":"J-9","state":"done"})"));
  EXPECT_TRUE(failed(R"({"job":{"id":"J-9","state":"expired"}})"));
  EXPECT_FALSE(failed(R"({"job":"J-9","state":"done","parts":{"state":"failed"}})")) << "the outermost counts";
  EXPECT_FALSE(failed(R"({"job":"J-9","parts":{"state":"held"}})")) << "a state of a thing";
  EXPECT_FALSE(failed(R"({"job":"J-9","parts":[{"state":"failed"}]})"));
  EXPECT_FALSE(failed("failed"));
}

TEST(OddRows, AreReadOfDeepAndLongAnswersInTime) {
  const std::string deep(100'000, '[');
  EXPECT_TRUE(odd_rows(deep).empty());
  std::string rows = "[";
  for (int i = 0; i < 50'000; ++i) rows += R"({"id":"x","state":"y"},)";
  EXPECT_LE(odd_rows(rows + "{}]").size(), 16u);
}

TEST(Undone, SeveralLinesEndWell_WhereTheLastTellsSuccess) {
  Reading scratch;
  const auto good = [&](std::string_view output) { return ends_well(output, shipped_lexicon(), scratch); };
  EXPECT_TRUE(good("Waiting for the rollout to finish: 3 of 6 are there...\nworker successfully rolled out\n"));
  EXPECT_FALSE(good("worker successfully rolled out\nWaiting for the rollout to finish"));
  EXPECT_FALSE(good("Waiting for the rollout to finish\nnot successfully rolled out"));
  EXPECT_FALSE(good("worker successfully rolled out")) << "one line, which is all";
}

TEST(GivenRecords, MayHaveAmountsUnderSpanishNouns) {
  RunBuilder run;
  run.tool("movimientos", R"({"tarjeta":"T-9913"})", R"([{"comercio":"Renfe","importe":26.5},{"comercio":"Zara","importe":59.95}])");
  EXPECT_TRUE(gives_records(run.run().steps[0], Vocabulary().words(Key::kAnswerMembers), ToolWords(Vocabulary()), shipped_lexicon()));
}

TEST(OrdersChange, IsAnArgumentThatIsAVerb_InAnySpelling) {
  const auto orders = [](std::string_view input) {
    RunBuilder run;
    run.tool("crate", input, "");
    return orders_change(run.run().steps[0], ToolWords(Vocabulary()), shipped_lexicon());
  };
  EXPECT_TRUE(orders(R"({"operation":"Delete","crate":"K-7"})"));
  EXPECT_TRUE(orders(R"({"aktion":"löschen","kiste":"K-7"})"));
  EXPECT_TRUE(orders(R"({"op":"KISTE_LÖSCHEN","kiste":"K-7"})"));
  EXPECT_TRUE(orders(R"({"accion":"eliminar","caja":"K-7"})"));
  EXPECT_FALSE(orders(R"({"aktion":"größe","kiste":"K-7"})"));
  EXPECT_FALSE(orders(R"({"query":"delete","crate":"K-7"})")) << "what to look for";
  EXPECT_FALSE(orders(R"({"operation":"what to delete","crate":"K-7"})")) << "words, not a verb";
}

TEST(GivenRecords, AreWhatALookUpGives) {
  const auto gives = [](std::string_view input, std::string_view output) {
    RunBuilder run;
    run.tool("berths", input, output);
    return gives_records(run.run().steps[0], Vocabulary().words(Key::kAnswerMembers), ToolWords(Vocabulary()), shipped_lexicon());
  };
  EXPECT_TRUE(gives(R"({"quay":"north"})", R"([{"berth":"C-4"}])"));
  EXPECT_TRUE(gives(R"({"quay":"north"})", R"({"depth":4.2,"owner":"Ann Marsh","water":true})"));
  EXPECT_TRUE(gives("north", "berth | owner\nC-4 | Marsh"));
  EXPECT_FALSE(gives(R"({"berth":"C-4","ship":"Heron"})", R"({"berth":"C-4","ship":"Heron","booking":"B-77"})"))
      << "its own arguments and an id";
  EXPECT_FALSE(gives("{}", R"({"saved":true,"depth":4,"owner":"x","power":"y"})")) << "tells that it was done";
  EXPECT_FALSE(gives(R"({"ids":["a"]})", R"({"archived":["a","b"]})"));
  EXPECT_FALSE(gives("{}", R"({"status":"queued","id":"m-1"})"));
  EXPECT_FALSE(gives("{}", R"({"status":"ok","warnings":[]})")) << "a list of nothing";
  EXPECT_FALSE(gives("{}", R"({"kind":"action_done","data":{"lamps":[{"name":"Hall"}]}})")) << "says that it is done";
  EXPECT_FALSE(gives("{}", "Email sent."));
  EXPECT_FALSE(gives("{}", "Error acquiring the lock\n  id: 7\n  who: ann\n")) << "lines of a failure";
  EXPECT_FALSE(gives("{}", R"({"sent":3,"rest":[{"to":"555"}]})")) << "counts what was done";
  EXPECT_FALSE(gives("{}", R"([{"id":"d1","ok":true}])")) << "a list of what was done";
  EXPECT_FALSE(gives("{}", ""));
}

TEST(GivenRecords, MayBeASingleFactWhereOneThingWasAsked) {
  const auto gives = [](std::string_view input, std::string_view output) {
    RunBuilder run;
    run.tool("berths", input, output);
    return gives_records(run.run().steps[0], Vocabulary().words(Key::kAnswerMembers), ToolWords(Vocabulary()), shipped_lexicon());
  };
  EXPECT_TRUE(gives(R"({"berth":"C-4"})", R"({"depth":4.2})"));
  EXPECT_TRUE(gives(R"({"berth":"C-4"})", "Ships of up to 12 metres."));
  EXPECT_TRUE(gives("{}", "14:05"));
  EXPECT_FALSE(gives(R"({"berth":"C-4","ship":"Heron"})", R"({"depth":4.2})")) << "two things were given";
  EXPECT_FALSE(gives(R"({"berth":"C-4","ship":"Heron"})", "Ships of up to 12 metres."));
  EXPECT_FALSE(gives(R"({"berth":"C-4"})", R"({"free":false})")) << "a flag may tell of what was done";
  EXPECT_FALSE(gives(R"({"berth":"C-4"})", R"({"booking":"B-77"})"));
  EXPECT_FALSE(gives(R"({"berth":"C-4"})", "Berth C-4 has been released."));
  EXPECT_FALSE(gives(R"({"berth":"C-4"})", "Error: the quay is closed today."));
  EXPECT_FALSE(gives(R"({"berth":"C-4"})", "All right"));
}

TEST(GivenRecords, MayBeNothing_OrFewBesideWhatWasAsked) {
  const auto gives = [](std::string_view input, std::string_view output) {
    RunBuilder run;
    run.tool("berths", input, output);
    return gives_records(run.run().steps[0], Vocabulary().words(Key::kAnswerMembers), ToolWords(Vocabulary()), shipped_lexicon());
  };
  constexpr auto kTwo = R"({"quay":"north","ship":"Heron"})";
  for (const auto* none :
       {"[]", R"({"berths":[]})", R"({"free":0})", R"({"berths":[],"next":null})", R"({"quays":{"north":{"berths":[]}}})"})
    EXPECT_TRUE(gives(kTwo, none)) << none;
  for (const auto* ack : {R"({"quays":{"north":{"released":[]}}})", R"({"quays":{}})", R"({"errors":[]})", R"({"released":[]})",
                          R"({"status":"ok","berths":[]})"})
    EXPECT_FALSE(gives(kTwo, ack)) << ack;
  EXPECT_TRUE(gives(kTwo, R"({"depth":4.2,"wind":"light"})"));
  EXPECT_FALSE(gives(kTwo, R"({"depth":4.2,"booking":"B-77"})")) << "a new record";
  EXPECT_TRUE(gives(R"({"ship":"Heron","last":1})", "Hull check in May: sound, no rust, two coats of paint"));
  EXPECT_TRUE(gives(kTwo, "The berths at the north quay take ships of up to 12 metres."));
  EXPECT_FALSE(gives(kTwo, "Heron at C-4."));
  EXPECT_TRUE(gives(R"({"berth":"C-4"})", R"({"depth":4,"is_leased":false})"));
}

TEST(CarriedText, IsWhatACallWasGivenToSay) {
  const ToolWords words{Vocabulary()};
  const auto carries = [&](std::string_view input) {
    RunBuilder run;
    run.tool("sms.batch", input, "ok");
    return carries_text(run.run().steps[0], words);
  };
  EXPECT_TRUE(carries(R"({"to":"555","text":"Berth C-4 is free from Friday."})"));
  EXPECT_FALSE(carries(R"({"query":"berths that are free from Friday"})")) << "what to look for";
  EXPECT_FALSE(carries(R"({"berth":"C-4","reason":"no longer needed"})"));
  EXPECT_FALSE(carries("{}"));
  EXPECT_FALSE(carries(R"({"address":"18 Tannery Row, Unit 4, Leith"})")) << "an address";
  EXPECT_TRUE(carries(R"({"to":"555","text":"YOUR BERTH C-4 IS FREE FROM FRIDAY"})"));
  EXPECT_TRUE(carries(R"({"to":"555","text":"\u00C1rvore 4 \u00E1gua \u00E9 \u00F3tima \u00E0 tarde"})"));
}

TEST(CallEntity, IsNamedWithBlanksInIt) {
  EXPECT_TRUE(names_entity("to DE89 3704 0044 0532, please", "DE8937040044 0532"));
  EXPECT_TRUE(names_entity("to de89 3704 0044 0532", "DE89370400440532"));
  EXPECT_FALSE(names_entity("to DE89 3704 0044 0533", "DE89370400440532"));
  EXPECT_FALSE(names_entity("DE89 3704", "DE89370400440532"));
}

TEST(Commands, OnlyLook) {
  const auto& names = CallNames::shipped();
  for (const auto* command : {"git status",
                              "cd src && ls -la",
                              "cat a.txt | grep -n x | head -5",
                              "/usr/bin/git log --oneline 2>/dev/null",
                              "aws s3 ls",
                              "git branch --show-current && git remote -v",
                              "terraform plan -no-color",
                              "kubectl -n dev get pods 2>&1",
                              R"({"command":"systemctl status nginx","timeout":30})",
                              R"({"cmd":"ls\npwd"})",
                              R"({"host":"quay-07","cmd":"df -h /var"})",
                              R"({"cmd":"uptime","host":"quay-07"})",
                              R"({"command":["ls","-la"]})",
                              R"({"command":["bash","-lc","git status && git diff"],"timeout":10})",
                              "for f in a b; do cat $f; done",
                              "cat tides.conf | grep -i mem",
                              "journalctl -u tides -n 5 --no-pager",
                              "grep -E 'ebb|flow;' log | sort -u",
                              "sed -n '10,20p' tides.py",
                              "awk '{print $2}' log",
                              "grep -c \"a\\\"b|c\" log",
                              "curl -s http://tides.test/v1/ebb"}) {
    EXPECT_TRUE(only_look(command, names)) << command;
  }
  for (const auto* command : {"git push",
                              "ls > files.txt",
                              "rm -r build",
                              "cat $(make list)",
                              "ls; reboot",
                              "find . -name '*.o' -delete",
                              "sed -i s/a/b/ x",
                              "sed -i.bak s/a/b/ x",
                              "sed -ni p x",
                              "sed --in-place=.bak s/a/b/ x",
                              "sort -o x x",
                              "curl -XPOST http://tides.test",
                              "curl --data=x http://tides.test",
                              "echo it's fine; rm x",
                              "python3 a.py",
                              "",
                              "{}",
                              R"({"command":"ls","script":"rm a"})",
                              R"({"script":"rm a","command":"ls"})",
                              R"({"host":"quay-07","text":"ls"})",
                              R"({"command":["bash","-lc","git push"]})",
                              R"({"command":[1]})",
                              "git stash",
                              "git branch old-tides",
                              "git checkout plan",
                              "git branch -v old-tides",
                              "kubectl delete events",
                              "git remote add b url",
                              "git"}) {
    EXPECT_FALSE(only_look(command, names)) << command;
  }
  EXPECT_TRUE(only_look("kubectl apply -f tide.yaml --dry-run=server", names));
  EXPECT_FALSE(only_look("kubectl apply -f tide.yaml --dry-run=server && git push", names));
  EXPECT_FALSE(only_look("ls\n" + std::string(3000, '#'), names)) << "a script";
}

TEST(Commands, OfAToolNamedAfterAProgram_AreBehindItsName) {
  const auto looks = [](std::string_view tool, std::string_view input) {
    StepView call;
    call.name = tool;
    call.input = input;
    return only_look(call, CallNames::shipped());
  };
  EXPECT_TRUE(looks("run_kubectl", R"({"args":["get","pods"]})"));
  EXPECT_TRUE(looks("kubectl", "get pods"));
  EXPECT_TRUE(looks("kubectl", "kubectl get pods"));
  EXPECT_FALSE(looks("kubectl", "rollout restart deploy/tide"));
  EXPECT_FALSE(looks("shell", "get pods"));
  EXPECT_FALSE(looks("git_kubectl", "get pods"));
  EXPECT_TRUE(looks("shell", "kubectl auth can-i delete pods"));
}

TEST(Trouble, InWhatARecordIsAbout_IsLeftOut) {
  const OutcomeWords words{Vocabulary()};
  const auto told = [&](std::string_view output) {
    std::string buffer;
    return std::string(without_content(output, words, buffer));
  };
  EXPECT_EQ(told(R"({"subject":"failed","state":"new"})"), R"({"subject":"      ","state":"new"})");
  EXPECT_EQ(told(R"({"labels":["error"],"note":"failed"})"), R"({"labels":["     "],"note":"failed"})");
  EXPECT_EQ(told(R"({"items":[{"name":"failed","state":"failed"}]})"), R"({"items":[{"name":"      ","state":"failed"}]})");
  EXPECT_EQ(told(R"({"lastError":"failed"})"), R"({"lastError":"      "})");
  EXPECT_EQ(told(R"(Order "failed" is open)"), "Order " + std::string(8, ' ') + " is open");
  for (const auto* kept : {R"({"title":"failed","status":409})", R"({"title":"failed")", R"(Order "failed)"}) EXPECT_EQ(told(kept), kept);
  const std::string longer = R"({"title":"failed","text":")" + std::string(1024, 'x') + R"("})";
  EXPECT_EQ(told(longer), longer);
}

TEST(Commands, ThatChangeSomethingAreNamedBySubcommand) {
  const auto changing = [](std::string_view command) {
    std::vector<std::string> out;
    collect_changing_commands(command, CallNames::shipped(), out);
    return out;
  };
  EXPECT_THAT(changing("git add -A && git commit -qm x && git push -u origin main"),
              testing::ElementsAre("git add", "git commit", "git push"));
  EXPECT_THAT(changing("for ns in a b; do kubectl -n $ns apply -f quay.yaml; done"), testing::ElementsAre("kubectl apply"));
  EXPECT_THAT(changing(R"({"command":["sudo","systemctl","restart","tides"]})"), testing::ElementsAre("systemctl restart"));
  EXPECT_THAT(changing("git status; kubectl get pods; python3 a.py"), testing::IsEmpty());
  EXPECT_THAT(changing(""), testing::IsEmpty());
}

TEST(Verdict, WithdrawsFaintCandidatesOfTheRulesNamed) {
  static constexpr std::array<std::string_view, 2> kRules = {"rule", "strong"};
  Verdict verdict;
  const FiringLine line("");
  (void)line.fires(0.45, {"rule", 3, "few"}, verdict);
  verdict.suppress("rule", 4, "because");
  verdict.withdraw_candidates(kRules, ", but no");
  EXPECT_EQ(verdict.suppressed[0].reason, "few, but no");
  EXPECT_EQ(verdict.suppressed[0].confidence, std::nullopt);
  EXPECT_EQ(verdict.suppressed[1].reason, "because");
  EXPECT_FALSE(verdict.has_candidate);
  (void)line.fires(0.5, {"strong", 3, "half"}, verdict);
  (void)line.fires(0.3, {"other", 3, "some"}, verdict);
  verdict.withdraw_candidates(kRules, ", but no");
  EXPECT_EQ(verdict.suppressed[2].confidence, std::optional(0.5)) << "speaks for itself";
  EXPECT_EQ(verdict.suppressed[3].confidence, std::optional(0.3)) << "of another rule";
  EXPECT_TRUE(verdict.has_candidate);
}

TEST(Trees, SumUpToAConfidenceOnTheScaleOfTheFiringLine) {
  static constexpr std::array<std::string_view, 2> kNames = {"a", "b"};
  // a <= 0.5 ? -3 : (b <= 2 ? 0 : 3), twice.
  static constexpr TreeNode kNodes[] = {{0, 0.5F, 1, 2, 0}, {-1, 0, 0, 0, -3}, {1, 2, 3, 4, 0}, {-1, 0, 0, 0, 0}, {-1, 0, 0, 0, 3}};
  static constexpr std::uint16_t kRoots[] = {0, 0};
  const Trees trees{kNames, kNodes, kRoots, 0, 0.01F, 0.25F, 0.5F, 0.75F};
  const auto confidence = [&](float a, float b) {
    const std::array<float, 2> values = {a, b};
    return trees.confidence(values);
  };
  EXPECT_NEAR(confidence(1, 2), FiringLine::kBalanced, 1e-6) << "even odds, and the balanced line is there";
  EXPECT_LT(confidence(0, 0), FiringLine::kCandidate) << "-6 is a probability of 0.0025, below the candidates' line";
  EXPECT_GT(confidence(1, 3), FiringLine::kStrict);
  EXPECT_LE(confidence(1, 3), 1.0);
  EXPECT_NEAR(confidence(0.5F, 9), confidence(0, 0), 1e-9) << "up to the split is below it";
}

TEST(Measures, KeepNamesOnlyWhereTheyAreWanted) {
  Measures measures;
  measures.clear(false);
  measures.add("calls", 2);
  EXPECT_EQ(measures.values().size(), 1u);
  EXPECT_TRUE(measures.text().empty());
  measures.clear(true);
  measures.add("calls", 2);
  measures.add("none", 0);
  measures.add("share", 0.25);
  EXPECT_EQ(measures.text(), "calls=2 share=0.25");
  EXPECT_EQ(measures.names(), (std::vector<std::string>{"calls", "none", "share"}));
}

TEST(Measures, TellWhereAMessageHasItsWordsFrom) {
  RunBuilder run;
  run.request("Reserve berth C-41 for Heron")
      .tool("berth_change", R"({"berth":"C-41"})", "kept")
      .failed("crane_order", R"({"crane":"north"})", "jam");
  const auto measured = [&](std::string_view message, std::string_view name) {
    Measures measures;
    measures.clear(true);
    measure_shared_words(run.run(), message, {false, true}, {true, true}, measures);
    const auto& names = measures.names();
    const auto at = std::find(names.begin(), names.end(), name);
    EXPECT_NE(at, names.end()) << name;
    return measures.values()[static_cast<std::size_t>(at - names.begin())];
  };
  EXPECT_EQ(measured("Berth reserved for Heron, fee 318.", "shared_words"), 3);
  EXPECT_NEAR(measured("Berth reserved for Heron, fee 318.", "shared_nowhere"), 2.0 / 3, 1e-6) << "only the berth is in a call";
  EXPECT_EQ(measured("Berth reserved for Heron, fee 318.", "new_figures"), 1);
  EXPECT_EQ(measured("The northern crane comes.", "only_in_undone"), 2);
}

/// The likeliest sentence of a text, as one head of the learned reader has it.
double learned(std::string_view text, double (DeedReader::*head)(const Reading&, const Sentence&)) {
  static const Lexicon lexicon = make_lexicon(Settings({}));
  Reading reading;
  read(text, lexicon, reading);
  DeedReader reader;
  double best = 0;
  for (const auto& sentence : reading.sentences) best = std::max(best, (reader.*head)(reading, sentence));
  return best;
}

/// The sentence of a text that likeliest tells that something was not done.
double told_undone(std::string_view text) {
  double best = 0;
  static const Lexicon lexicon = make_lexicon(Settings({}));
  Reading reading;
  read(text, lexicon, reading);
  DeedReader reader;
  for (const auto& sentence : reading.sentences) {
    (void)reader.tells(reading, sentence);
    best = std::max(best, reader.tells_undone());
  }
  return best;
}

TEST(DeedReader, KnowsADeedThatIsToldAsDone) {
  for (const auto* told : {"I've moved your berth to Friday.", "Your berth is now on Friday at nine.", "Done, the skipper has been told.",
                           "All set: berth C-4 is booked for Saturday.", "Boot C-4 ist jetzt aus dem Verteiler raus.",
                           "Erledigt, Ihr Antrag ist eingereicht.", "Listo, su reserva ha quedado cancelada."})
    EXPECT_GT(learned(told, &DeedReader::tells), 0.5) << told;
  for (const auto* told :
       {"Shall I move your berth to Friday?", "Berth C-4 costs 41.20 a night.", "I can book it if you like.", "Happy to help!",
        "Which day would suit you?", "Die Gebühr beträgt 12 Euro.", "¿Quiere que la cancele?", "Su reserva cuesta 40 euros."})
    EXPECT_LT(learned(told, &DeedReader::tells), 0.3) << told;
}

TEST(DeedReader, KnowsWhatIsAskedFor) {
  for (const auto* asked : {"Please move my berth to Friday.", "Can you cancel it for me?", "And take the buoy off my bill.",
                            "Bitte verschieben Sie meinen Termin auf Freitag.", "Quiero cancelar mi reserva, por favor."})
    EXPECT_GT(learned(asked, &DeedReader::asks), 0.5) << asked;
  for (const auto* asked : {"How high is the fee?", "Thanks a lot!", "My name is Ann Berg.", "Wie hoch ist die Gebühr?", "Gracias."})
    EXPECT_LT(learned(asked, &DeedReader::asks), 0.4) << asked;
}

TEST(DeedReader, KnowsWhatIsToldAsNotDone) {
  for (const auto* told :
       {"I couldn't move your berth to Friday.", "The booking did not go through.", "Berth C-4 is still waiting for the harbour master.",
        "I was not able to cancel it.", "Der Antrag konnte nicht eingereicht werden.", "No he podido cancelar su reserva."})
    EXPECT_GT(told_undone(told), 0.3) << told;
  for (const auto* told :
       {"I've moved your berth to Friday.", "Your fee is 41.20.", "Happy to help!", "Listo, su reserva ha quedado cancelada."})
    EXPECT_LT(told_undone(told), 0.15) << told;
}

/// The clauses of a message that may tell a deed, or the others.
std::vector<std::string> clauses_of(std::string_view text, void (*collect)(const Reading&, DeedReader&, std::vector<Clause>&),
                                    bool open_only = false) {
  static const Lexicon lexicon = make_lexicon(Settings({}));
  Reading reading;
  read(text, lexicon, reading);
  DeedReader reader;
  std::vector<Clause> clauses;
  collect(reading, reader, clauses);
  std::vector<std::string> out;
  for (const auto& clause : clauses) {
    if (!open_only || clause.open) out.emplace_back(text_of(reading, clause));
  }
  return out;
}

TEST(Clauses, OfAMessage_TellADeedOrDoNot) {
  constexpr std::string_view kMessage = "I've moved your berth to Friday, but the crane could not be booked. The fee is 41.20.";
  EXPECT_THAT(clauses_of(kMessage, collect_told), testing::Contains("i've moved your berth to friday"));
  EXPECT_THAT(clauses_of(kMessage, collect_told), testing::Not(testing::Contains(testing::HasSubstr("crane"))));
  EXPECT_THAT(clauses_of(kMessage, collect_untold), testing::Contains(testing::HasSubstr("the crane could not be booked")));
  EXPECT_THAT(clauses_of(kMessage, collect_untold, true), testing::Not(testing::Contains(testing::HasSubstr("41.20"))))
      << "a figure leaves nothing open";
}

TEST(Clauses, OfAMessageWithoutEnd_AreThoseAtItsBeginning) {
  std::string message;
  for (int i = 0; i < 1000; ++i)
    message += "I've moved berth " + std::to_string(i) + " to Friday. Berth " + std::to_string(i) + " is not free. ";
  EXPECT_EQ(clauses_of(message, collect_told).size(), 24u);
  EXPECT_EQ(clauses_of(message, collect_untold).size(), 24u);
}

TEST(SentenceFeatures, AreTheSameForAllFigures_AndEachThereOnce) {
  const Lexicon lexicon = make_lexicon(Settings({}));
  const auto features = [&](std::string_view text) {
    Reading reading;
    read(text, lexicon, reading);
    FeatureSet out(kSentenceFeatures);
    collect_sentence_features(reading, reading.sentences.at(0), out);
    return std::vector<std::uint16_t>(out.all().begin(), out.all().end());
  };
  const auto told = features("Berth 4 is yours, berth 4.");
  EXPECT_EQ(told, features("Berth 17 is yours, berth 96."));
  EXPECT_EQ(std::set(told.begin(), told.end()).size(), told.size());
  EXPECT_LT(*std::max_element(told.begin(), told.end()), kSentenceFeatures);
  EXPECT_NE(features("Berth 4 is yours."), features("Berth 4 is yours?"));
}

TEST(DeniedDeed, AnswerWithAnotherValueThanWasAskedFor) {
  const auto shows = [](std::string_view name, std::string_view input, std::string_view output) {
    RunBuilder run;
    run.tool(name, input, output);
    return shows_other_value(run.run().steps.at(0));
  };
  EXPECT_TRUE(shows("set_roaming", R"({"enabled":true})", R"({"line":"L-1","roaming_enabled":false})"));
  EXPECT_TRUE(shows("set_limit", R"({"card":"C-4","amount":800})", R"({"card":"C-4","limit":500})"));
  EXPECT_FALSE(shows("set_roaming", R"({"enabled":true})", R"({"line":"L-1","roaming_enabled":true})"));
  EXPECT_FALSE(shows("set_roaming", R"({"enabled":true})", R"({"line":"L-1","since":"May"})"));
}

TEST(DeniedDeed, AnswerThatIsTheRecordBefore) {
  constexpr auto kBefore = R"({"line":"L-1","roaming_enabled":false,"plan":"basic","owner":"Ann"})";
  EXPECT_TRUE(is_record_before(kBefore, kBefore));
  EXPECT_TRUE(is_record_before(R"({"line":"L-1","roaming_enabled":false,"plan":"basic","notes":[]})", kBefore)) << "nearly all of it";
  EXPECT_FALSE(is_record_before(R"({"line":"L-1","roaming_enabled":true,"plan":"basic","owner":"Ann"})", kBefore));
  EXPECT_FALSE(is_record_before(R"({"line":"L-1","roaming_enabled":false})", kBefore)) << "too few members";
}

TEST(WrittenCalls, TellWhatTheirStringsSay_ButForContents) {
  const auto told = [](std::string_view message) { return told_in_written_calls(message, CallNames::shipped()); };
  EXPECT_EQ(told(R"([{"name":"write_file","arguments":{"path":"a.sh","content":"echo one two"}},)"
                 R"({"name":"finish","arguments":{"summary":"The script\nis saved."}}])"),
            "The script\nis saved.\n\n");
  EXPECT_EQ(told("{\"tool\":\"a\",\"args\":{\"why\":\"to begin\"}}\n{\"tool\":\"b\",\"args\":{\"why\":\"to end\"}}"),
            "to begin\n\nto end\n\n");
  EXPECT_EQ(told(R"({"name":"finish","arguments":{"summary":"The script is saved."}})"), "") << "one call";
  EXPECT_EQ(told(R"({"summary":"The script is saved."} {"summary":"It runs."})"), "") << "no call";
  EXPECT_EQ(told(R"(I call {"name":"a","arguments":{"x":"y z"}} and {"name":"b","arguments":{"x":"y z"}})"), "") << "a text";
  EXPECT_EQ(told(R"({"name":"a","arguments":{"x":"y z"}} {"name":"b","arguments":{"x":)"), "") << "the second is cut off";
  EXPECT_EQ(told(""), "");
}

TEST(GivenReference, IsANewCodeBesideAFlagThatTheCallWasTaken) {
  const OutcomeWords words{Vocabulary()};
  const auto gives = [&](std::string_view output) {
    RunBuilder run;
    run.tool("register_reading", R"({"contract":"70-55"})", output);
    return gives_reference(run.run().steps[0], words);
  };
  EXPECT_TRUE(gives(R"({"accepted":true,"reading_id":"L-209","notice":"Remote reading is not available."})"));
  EXPECT_FALSE(gives(R"({"accepted":false,"reading_id":"L-209"})"));
  EXPECT_FALSE(gives(R"({"accepted":true,"contract":"70-55"})")) << "it was given";
  EXPECT_FALSE(gives(R"({"accepted":true,"notice":"see rule 5"})")) << "a text";
  EXPECT_FALSE(gives(R"({"reading_id":"L-209"})"));
  EXPECT_FALSE(gives("accepted, L-209"));
  EXPECT_FALSE(gives(R"({"accepted":true,"reading_id":"L-209","a":{)"));
}

TEST(ProgramEnd, FileAddsToTheTextsOfPrograms) {
  const VocabularyFile file("failure_lines: [\"Quay: \"]\nexit_code_members: [beendet_mit]\nexception_endings: [Leck]\n");
  const ProgramWords words(Vocabulary({"en"}, file.path()));
  EXPECT_TRUE(ends_in_failure("Quay: flooded", words));
  EXPECT_FALSE(ends_in_failure("quay: Flooded", words)) << "in another case";
  EXPECT_FALSE(ends_in_failure("Quay:flooded", words)) << "without the blank";
  EXPECT_FALSE(ends_in_failure("Quay: flooded", program_words()));
  EXPECT_TRUE(ends_in_failure("HafenLeck: pump 3", words));
  EXPECT_TRUE(exits_with_failure(R"({"beendet_mit":2})", words));
  EXPECT_FALSE(exits_with_failure(R"({"beendet_mit":2})", program_words()));
}

TEST(ProgramEnd, CountsTests) {
  for (const auto* output : {"=== 8 passed in 1.21s ===", "Tests:       20 passed, 20 total\nTime: 1.2 s", "  20 passing (2s)\n",
                             " Test Files  2 passed (2)\n      Tests  20 passed (20)\n   Duration  1.02s", "Ran 12 tests in 0.3s\n\nOK",
                             "test result: ok. 12 passed; 0 failed; 0 ignored"})
    EXPECT_TRUE(counts_tests(output, program_words())) << output;
  for (const auto* output : {"", "passed", "All checks passed.", "the bill was passed in 1812", "3 tests\n1\n2\n3\n4\n5\n6\n7\n8\n9"})
    EXPECT_FALSE(counts_tests(output, program_words())) << output;
}

TEST(Stems, FormsOfAWord_ShareOne) {
  EXPECT_EQ(stem_of("assigned"), stem_of("assignee"));
  EXPECT_EQ(stem_of("note"), stem_of("noted"));
  EXPECT_EQ(stem_of("seat"), stem_of("seats"));
  EXPECT_EQ(stem_of("zahlerstand"), stem_of("zaehlerstand")) << "an umlaut, and how names spell it";
  EXPECT_NE(stem_of("move"), stem_of("mail"));
  EXPECT_NE(stem_of("4411"), stem_of("4412")) << "figures count as a whole";
}

TEST(Stems, TextsOfAnySpelling_HaveTheWordsInCommon) {
  const auto of = [](std::string_view text) {
    Stems stems;
    add_stems(text, stems);
    settle(stems);
    return stems;
  };
  const auto call = of(R"({"threadId":"T-9","value":48213,"due":"2026-04-30","note":"Ventil\nr\u00FCckseitig"})");
  for (const auto* word : {"thread", "48213", "20260430", "ventil", "ruckseitig"}) EXPECT_TRUE(holds(call, stem_of(word))) << word;
  EXPECT_EQ(count_shared(of("48.213 on 2026-04-30"), call), 5U) << "48213 and 20260430, 2026, 04 and 30";
  EXPECT_TRUE(of("").empty());
}

}  // namespace
}  // namespace runwarden::plugins
