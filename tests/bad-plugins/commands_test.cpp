// Commands that call detectors in their own process name what a detector does to it. The real program.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/digest.h"
#include "intake/run_reader.h"
#include "unit/cli/program.h"

namespace runwarden::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Json = nlohmann::json;

struct BadDetector : testing::Test {
  Program program;
  std::string config = config_of("obedient");

  std::string config_of(const std::string& animal, const std::string& settings = "{}", const std::string& deadline = "250ms") const {
    return program.folder().write("runwarden.yaml",
                                  "store: {path: data, map_size: 4MiB}\ndetectors:\n  deadline: " + deadline +
                                      "\n  search_path: [" ZOO_FOLDER "]\n  include: []\n  enabled: [{key: zoo, library: " + animal +
                                      ".so, settings: " + settings + "}]\n");
  }
  static std::string library(const std::string& animal) { return std::string(ZOO_FOLDER) + "/" + animal + ".so"; }
  static std::string run_of(const std::string& request) { return Json{{"runId", request}, {"userRequestText", request}}.dump(); }
  // What the service would keep of a run in which nothing was found.
  std::string bundle_of(const std::string& request) const {
    const std::string document = intake::read_run(run_of(request), {}, {})->document;
    const std::string kept = R"("state":"resolved","resolution":"whole","revision":1,"receivedAt":"2026-11-20T15:00:00.000Z",)"
                             R"("failures":[],"detectors":[],"policies":[]})";
    return program.folder().write(
        "bundle.json", R"({"format":"runwarden-bundle/1","createdAt":"2026-11-20T15:00:00.000Z","version":"1.0.0",)"
                       R"("tenant":"acme","failures":[],"detectors":[],"libraries":[],"policies":[],"changes":[],)"
                       R"("ledger":null,"documentSha256":")" +
                           to_hex(sha256(document)) + R"(","run":)" + document.substr(0, document.size() - 1) + "," + kept + "}");
  }
  Ended analyze(const std::string& runs) const { return program.run({"analyze", "--ndjson", "--config", config}, runs); }
  Ended replay(const std::string& request) const { return program.run({"replay", "--config", config, bundle_of(request)}); }
  Ended score(const std::string& request) const {
    const std::string runs = program.folder().write("runs", R"({"id":"one","run":)" + run_of(request) + "}\n");
    const std::string labels = program.folder().write("labels", R"({"id":"one","labels":{"zoo":"present"}})");
    return program.run({"score", "--config", config, "--runs", runs, "--labels", labels});
  }
};

TEST_F(BadDetector, ThatCrashesAnalyze_IsNamedWithItsRun_AndEarlierAnswersAreOut) {
  for (const auto& [request, how] :
       {std::pair("segv", "crashed the process (SIGSEGV)"), std::pair("abort", "crashed the process (SIGABRT)"),
        std::pair("overflow", "crashed the process (SIGSEGV)"), std::pair("exit", "ended the process")}) {
    const Ended ended = analyze(run_of("fine") + "\n" + run_of(request) + "\n" + run_of("good") + "\n");
    EXPECT_EQ(ended.code, 1) << request;
    EXPECT_EQ(ended.err,
              "runwarden: detector \"zoo\" (" + library("obedient") + ") " + how + " while it evaluated the run \"" + request + "\"\n");
    EXPECT_EQ(Json::parse(ended.out, nullptr, false).at("failures").size(), 1u) << ended.out;
  }
}

TEST_F(BadDetector, ThatCrashesOnARunWithoutAnId_IsNamedWithItsLine) {
  const Ended ended = analyze(run_of("fine") + "\n" + R"({"userRequestText":"exit"})" + "\n");
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("ended the process while it evaluated the run \"stdin:2\"\n"));
}

TEST_F(BadDetector, ThatEndsReplayOrScore_IsNamed) {
  const std::string said = "runwarden: detector \"zoo\" (" + library("obedient") + ") ended the process while it evaluated the run \"";
  const Ended replayed = replay("exit");
  EXPECT_EQ(replayed.code, 1);
  EXPECT_EQ(replayed.err, said + "exit\"\n");
  const Ended scored = score("exit");
  EXPECT_EQ(scored.code, 1);
  EXPECT_EQ(scored.err, said + "exit\"\n");
}

TEST_F(BadDetector, ThatEndsTheProcessUnseen_IsNamedAndLetsNoGatePass) {
  config = config_of("obedient", "{}", "30s");  // a sanitizer may take a second to let a process end
  const std::string said = "runwarden: detector \"zoo\" (" + library("obedient") + ") ended the process while it evaluated the run \"";
  for (const std::string request : {"_exit 0", "_exit", "thread _exit"}) {
    const Ended gate = program.run({"analyze", "--config", config, "--fail-on", "50"}, run_of(request));
    EXPECT_EQ(gate.code, 1);
    EXPECT_EQ(gate.err, said + request + "\"\n");
    EXPECT_EQ(gate.out, "");
    const Ended replayed = replay(request);
    EXPECT_EQ(replayed.code, 1);
    EXPECT_EQ(replayed.err, said + request + "\"\n");
    const Ended scored = score(request);
    EXPECT_EQ(scored.code, 1);
    EXPECT_EQ(scored.err, said + request + "\"\n");
  }
}

TEST_F(BadDetector, ThatEndsTheProcessUnseenOutsideOfRuns_IsNamedByEveryCommand) {
  for (const auto& [animal, when] : {std::pair("ends_when_created", "created"), std::pair("ends_when_destroyed", "destroyed")}) {
    config = config_of(animal);
    const std::string said = "runwarden: detector \"zoo\" (" + library(animal) + ") ended the process while it was " + when + "\n";
    for (const std::vector<std::string>& command : {std::vector<std::string>{"check"}, {"detectors", "list"}, {"analyze"}}) {
      std::vector<std::string> args = command;
      args.insert(args.end(), {"--config", config});
      const Ended ended = program.run(args, run_of("fine"));
      EXPECT_EQ(ended.code, 1) << command.back();
      EXPECT_EQ(ended.err, said) << command.back();
    }
  }
}

TEST_F(BadDetector, ThatDoesNotReturn_TimesOutAndOtherRunsAreJudged) {
  const Ended ended = analyze(run_of("wait /no/such/file") + "\n" + run_of("fine") + "\n");
  EXPECT_EQ(ended.code, 0) << ended.err;
  std::istringstream lines(ended.out);
  std::string hung, fine;
  std::getline(lines, hung);
  std::getline(lines, fine);
  EXPECT_EQ(Json::parse(hung).at("detectors")[0].at("status"), "timeout");
  EXPECT_EQ(Json::parse(fine).at("failures").size(), 1u);
  EXPECT_THAT(ended.err, HasSubstr("called for run \"wait /no/such/file\", had not returned after "));
}

TEST_F(BadDetector, ThatDoesNotReturn_LetsNoGatePass) {
  const std::string lines = run_of("wait /no/such/file") + "\n" + run_of("fine") + "\n";
  const Ended gate = program.run({"analyze", "--ndjson", "--config", config, "--fail-on", "100"}, lines);
  EXPECT_EQ(gate.code, 1);
  EXPECT_THAT(gate.err, HasSubstr("runwarden: --fail-on: 1 run not judged by every detector (error or timeout)\n"));
  EXPECT_EQ(program.run({"analyze", "--ndjson", "--config", config, "--fail-on", "100"}, run_of("fine") + "\n").code, 0);
}

TEST_F(BadDetector, ThatDoesNotReturn_EndsInReplayAndScoreToo) {
  const Ended replayed = replay("wait /no/such/file");
  EXPECT_THAT(replayed.out, StartsWith("1 run, "));
  const Ended scored = score("wait /no/such/file");
  EXPECT_THAT(scored.err, HasSubstr("warning: zoo could not answer 1 run (error or timeout)\n"));
  const std::string runs = (program.folder().path() / "runs").string();
  const std::string labels = (program.folder().path() / "labels").string();
  const Ended both = program.run({"score", "--json", "--config", config, "--candidate", config, "--runs", runs, "--labels", labels});
  EXPECT_EQ(Json::parse(both.out).at("candidate").at("detectors")[0].at("errors"), 1) << both.err;
}

TEST_F(BadDetector, ThatPrints_DoesNotGetIntoTheResults) {
  const Ended ended = analyze(run_of("print nothing else") + "\n");
  EXPECT_EQ(Json::parse(ended.out, nullptr, false).at("failures").size(), 1u) << ended.out;
  EXPECT_EQ(ended.err, "printed\n");
  config = config_of("prints_in_create");
  for (const std::vector<std::string>& command : {std::vector<std::string>{"check"}, {"detectors", "list"}}) {
    std::vector<std::string> args = command;
    args.insert(args.end(), {"--json", "--config", config});
    const Ended listed = program.run(args);
    EXPECT_EQ(listed.code, 0) << listed.err;
    EXPECT_TRUE(Json::accept(listed.out)) << listed.out;
    EXPECT_THAT(listed.err, HasSubstr("created\n"));
  }
}

TEST_F(BadDetector, ThatCrashesInCreate_IsNamedByEveryCommand) {
  config = config_of("crashes_on_settings", "{repeats: 5}");
  const std::string said =
      "runwarden: detector \"zoo\" (" + library("crashes_on_settings") + ") crashed the process (SIGSEGV) while it was created\n";
  for (const std::vector<std::string>& command : {std::vector<std::string>{"check"}, {"detectors", "list"}, {"analyze"}, {"serve"}}) {
    std::vector<std::string> args = command;
    args.insert(args.end(), {"--config", config});
    const Ended ended = program.run(args);
    EXPECT_NE(ended.code, 0) << command.back();
    EXPECT_THAT(ended.err, HasSubstr(said)) << command.back();
  }
}

TEST_F(BadDetector, ThatDescribesItselfInTwoLines_IsInspectedInOne) {
  const Ended inspected = program.run({"detectors", "inspect", library("describes_itself_in_two_lines")});
  EXPECT_THAT(inspected.out, HasSubstr("  detector  zoo 1.0.0: Zoo   verdict   animal\xEF\xBF\xBD\n"));
}

TEST_F(BadDetector, ThatCrashesWhenItIsLoaded_IsNamed_AndEarlierFilesAreDescribed) {
  const std::string said = "runwarden: " + library("crashes_on_load") + " crashed the process (SIGABRT) while it was loaded\n";
  const Ended inspected = program.run({"detectors", "inspect", library("good"), library("crashes_on_load")});
  EXPECT_EQ(inspected.code, 1);
  EXPECT_EQ(inspected.err, said);
  EXPECT_THAT(inspected.out, HasSubstr("this host can load it"));
  const Ended checked = program.run({"check", "--config", config_of("crashes_on_load")});
  EXPECT_EQ(checked.code, 1);
  EXPECT_EQ(checked.err, said);
}

}  // namespace
}  // namespace runwarden::cli
