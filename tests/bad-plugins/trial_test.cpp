// `detectors test` outlives what a detector does to its process, and shows what it logs. The real program.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "unit/cli/program.h"

namespace runwarden::cli {
namespace {

using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Json = nlohmann::json;

// Under AddressSanitizer a crash ends the process with a status instead of a signal.
#define CRASHED "(crashed: signal [0-9]+ \\(.*\\)|ended the process with exit status [1-9][0-9]*)"

struct DetectorTrial : testing::Test {
  Program program;

  std::string run_of(const std::string& request) const {
    std::string name = request + ".json";
    for (char& c : name) c = c == ' ' ? '_' : c;
    return program.folder().write(name, Json{{"userRequestText", request}}.dump());
  }
  Ended test(const std::string& animal, std::vector<std::string> more) const {
    std::vector<std::string> args = {"detectors", "test", "--key", "zoo", std::string(ZOO_FOLDER) + "/" + animal + ".so"};
    args.insert(args.end(), more.begin(), more.end());
    return program.run(args);
  }
  Ended obedient(std::vector<std::string> more) const { return test("obedient", std::move(more)); }
};

std::vector<Json> objects(const std::string& lines) {
  std::vector<Json> all;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) all.push_back(Json::parse(line));
  return all;
}

TEST_F(DetectorTrial, ACrash_CostsItsRunAlone) {
  const Ended ended = obedient({run_of("segv"), run_of("fine"), run_of("abort"), run_of("exit"), run_of("good")});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.out, ContainsRegex("/segv.json\n  " CRASHED "\n.*/fine.json\n  zoo  fired  "));
  EXPECT_THAT(ended.out, ContainsRegex("/abort.json\n  " CRASHED "\n.*/exit.json\n  ended the process with exit status 0\n"));
  EXPECT_THAT(ended.out, ContainsRegex("/good.json\n  zoo  fired  "));
  EXPECT_THAT(ended.err, EndsWith("runwarden: to see where it crashed: gdb --args runwarden detectors test --in-process " +
                                  std::string(ZOO_FOLDER) + "/obedient.so RUN.json\n"));
}

TEST_F(DetectorTrial, ACrashAsJson_StandsInThePlaceOfTheAnswer) {
  const Ended ended = obedient({"--json", run_of("log segv"), run_of("fine")});
  EXPECT_EQ(ended.code, 1);
  const auto all = objects(ended.out);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_THAT(all[0].at("file").get<std::string>(), EndsWith("log_segv.json"));
  EXPECT_THAT(all[0].at("crash").get<std::string>(), ContainsRegex(CRASHED));
  EXPECT_EQ(all[0].at("log").size(), 30u) << "what it logged before";
  EXPECT_EQ(all[1].at("failures").size(), 1u);
  EXPECT_FALSE(all[1].contains("log"));
}

TEST_F(DetectorTrial, ARunThatNeverEnds_IsCutOff) {
  const Ended ended = obedient({"--timeout", "1s", run_of("wait /no/such/file"), run_of("fine")});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.out, ContainsRegex("file.json\n  did not end within 1 s\n.*/fine.json\n  zoo  fired  "));
  EXPECT_THAT(ended.err, Not(HasSubstr("gdb"))) << "it did not crash";
}

TEST_F(DetectorTrial, WhatItLogs_IsShownWithItsRun_AllOfIt) {
  const Ended text = obedient({run_of("log nothing else")});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, ContainsRegex("/log_nothing_else.json\n    log debug: detector \"zoo\": line 1\n"));
  EXPECT_THAT(text.out, HasSubstr("    log debug: detector \"zoo\": line 29\n    log warn: detector \"zoo\": line 30\n  zoo  fired  "));
  const auto all = objects(obedient({"--json", run_of("log nothing else")}).out);
  ASSERT_EQ(all.size(), 1u);
  ASSERT_EQ(all[0].at("log").size(), 30u);
  EXPECT_EQ(all[0].at("log")[29], (Json{{"level", "warn"}, {"text", "detector \"zoo\": line 30"}}));
}

TEST_F(DetectorTrial, WhatItPrints_IsOnStandardErrorAlsoBeforeACrash) {
  const Ended ended = obedient({"--json", run_of("print abort"), run_of("print nothing else")});
  EXPECT_THAT(ended.err, StartsWith("printed\nprinted\nrunwarden: to see where it crashed: ")) << "once a run";
  EXPECT_EQ(objects(ended.out).size(), 2u);
  EXPECT_EQ(objects(obedient({"--json", "--in-process", run_of("print nothing else")}).out).size(), 1u);
}

TEST_F(DetectorTrial, ACrashOutsideOfRuns_IsToldWithWhatWasGoingOn) {
  const Ended creating = test("crashes_on_settings", {"--settings", R"({"repeats": 5})", run_of("fine")});
  EXPECT_EQ(creating.code, 1);
  EXPECT_THAT(creating.err, ContainsRegex("crashes_on_settings.so: " CRASHED " while loading the library and creating its detectors"));
  const Ended destroying = test("crashes_at_the_end", {run_of("fine")});
  EXPECT_EQ(destroying.code, 1);
  EXPECT_THAT(destroying.out, HasSubstr("  zoo  "));
  EXPECT_THAT(destroying.err, ContainsRegex("crashes_at_the_end.so: " CRASHED " while destroying its detectors"));
}

TEST_F(DetectorTrial, WhereCreateFails_SaysThatSettingsMayBeMissing) {
  const Ended without = test("create_fails", {run_of("fine")});
  EXPECT_EQ(without.code, 1);
  EXPECT_THAT(without.err, HasSubstr("no licence for today"));
  EXPECT_THAT(without.err, EndsWith("runwarden: no settings were given; if the detector needs some, pass --settings FILE\n"));
  EXPECT_THAT(test("create_fails", {"--settings", "{}", run_of("fine")}).err, Not(HasSubstr("no settings were given")));
}

TEST_F(DetectorTrial, InProcess_GivesTheSameAnswers_AndACrashIsItsOwn) {
  const Ended fine = obedient({"--in-process", run_of("log fine")});
  EXPECT_EQ(fine.code, 0) << fine.err;
  EXPECT_THAT(fine.out, HasSubstr("line 30\n  zoo  fired  "));
  const Ended crashed = obedient({"--in-process", run_of("abort"), run_of("fine")});
  EXPECT_NE(crashed.code, 0);
  EXPECT_THAT(crashed.out, Not(HasSubstr("fired")));
}

TEST_F(DetectorTrial, InProcess_LeavesNoCopyBehind) {
  const std::string folder = (program.folder().path() / "tmp").string();
  std::filesystem::create_directory(folder);
  for (const char* request : {"fine", "abort"}) {
    program.run({"detectors", "test", "--in-process", std::string(ZOO_FOLDER) + "/obedient.so", run_of(request)}, {}, {"TMPDIR=" + folder});
    EXPECT_TRUE(std::filesystem::is_empty(folder)) << request;
  }
}

TEST_F(DetectorTrial, ATextOfTheDetectors_IsOneLine) {
  const Ended ended = test("in_two_lines", {run_of("fine")});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("  a title   lion  clean  1 us [2J  \n"));
}

TEST_F(DetectorTrial, SettingsInADropInWithoutAny_AreNone) {
  const std::string drop_in = program.folder().write("zoo.yaml", "key: zoo\nlibrary: obedient.so\n");
  EXPECT_EQ(test("obedient", {"--settings", drop_in, run_of("fine")}).code, 0);
  const std::string with = program.folder().write("with.yaml", "key: zoo\nlibrary: obedient.so\nsettings: {repeats: 7}\n");
  EXPECT_THAT(test("obedient", {"--settings", with, run_of("fine")}).out, HasSubstr("repeats 7"));
}

TEST_F(DetectorTrial, WhereTheFileLies_DoesNotMatter) {
  const std::filesystem::path build = program.folder().path() / "build";
  std::filesystem::create_directory(build);
  std::filesystem::permissions(build, std::filesystem::perms::all);
  std::filesystem::copy_file(std::string(ZOO_FOLDER) + "/obedient.so", build / "mine.so");
  std::filesystem::create_symlink("mine.so", build / "link.so");
  for (const char* name : {"mine.so", "link.so"}) {
    const Ended ended = program.run({"detectors", "test", (build / name).string(), run_of("fine")});
    EXPECT_EQ(ended.code, 0) << name << ended.err;
  }
}

TEST_F(DetectorTrial, OfOneKey_TestsThatOne) {
  EXPECT_THAT(obedient({run_of("fine")}).out, Not(HasSubstr("zoo_two")));
  const Ended other = program.run({"detectors", "test", "--key", "lion", std::string(ZOO_FOLDER) + "/obedient.so", run_of("fine")});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, StartsWith("runwarden: the library has no detector \"lion\""));
}

}  // namespace
}  // namespace runwarden::cli
