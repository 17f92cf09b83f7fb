#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "unit/cli/program.h"

namespace runwarden::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Json = nlohmann::json;

TEST(Check, WhenAllIsWell_PrintsTheTableOfDetectors) {
  const Program program;
  const std::string config = write_config(program);
  const Ended ended = program.run({"check", "--config", config});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr(config + " is fine"));
  EXPECT_THAT(ended.out, HasSubstr("KEY"));
  for (const char* key : {"context_overflow", "expensive_loop", "false_success", "missing_tool_call", "schema_ghost"})
    EXPECT_THAT(ended.out, HasSubstr(key));
  EXPECT_FALSE(std::filesystem::exists(program.folder().path() / "data")) << "a check must not make a store";
}

TEST(Check, WhenSecretsAreOpenToOthers_WarnsWithTheirModeAndTheRemedy) {
  const Program program;
  const std::string config = write_config(program);
  ASSERT_EQ(program.run({"keys", "create", "--tenant", "acme", "--config", config}).code, 0);
  const std::filesystem::path data = program.folder().path() / "data";
  for (const char* name : {"cursor.secret", "session.secret"}) {
    program.folder().write(std::string("data/") + name, std::string(32, 's'));
    std::filesystem::permissions(data / name, std::filesystem::perms(0600));
  }
  EXPECT_EQ(program.run({"check", "--config", config}).err, "");
  std::filesystem::permissions(data / "session.secret", std::filesystem::perms(0604));
  std::filesystem::permissions(data / "cursor.secret", std::filesystem::perms(0640));
  const Ended ended = program.run({"check", "--config", config});
  EXPECT_EQ(ended.code, 0);
  const auto warning = [&](const std::string& name, const std::string& mode) {
    return "\"" + (data / name).string() + "\" is a secret, and its mode " + mode + " lets other users access it; run chmod 0600 on it\n";
  };
  EXPECT_THAT(ended.err, HasSubstr(warning("session.secret", "0604")));
  EXPECT_THAT(ended.err, HasSubstr(warning("cursor.secret", "0640")));
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 2) << ended.err;
}

TEST(Check, WhenAFileIsWrong_ExitsWith1AndTellsEveryPlace) {
  const Program program;
  const std::string config = write_config(program, "limits:\n  burst: ten\n  x: 1\n");
  const Ended ended = program.run({"check", "--config", config});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("config: limits.burst (" + config + ":6:10): expected an integer from 0 to 1000000, got \"ten\"\n"));
  EXPECT_THAT(ended.err, HasSubstr("config: limits.x (" + config + ":7:3): unknown key; "));
}

TEST(Check, WhenASettingIsUnknown_TellsThePlaceOfItsKey) {
  const Program program;
  const std::string config = write_config(program, "  enabled: [{key: expensive_loop, settings: {repeat: 3}}]\n");
  EXPECT_THAT(program.run({"check", "--config", config}).err, HasSubstr("config: detectors.expensive_loop.settings.repeat (" + config +
                                                                        ":5:46): unknown setting; this detector has repeats, "));
}

TEST(Check, WhenTheFileAndADetectorsSettingsAreWrong_TellsBothAtOnce) {
  const Program program;
  const std::string config = write_config(program,
                                          "  enabled:\n    - key: expensive_loop\n      settings:\n        repeats: ten\n"
                                          "  tenants:\n    acme: {disabled: [nobody]}\nlimits: {burst: ten}\n");
  program.folder().write("data", "a file");
  const Ended ended = program.run({"check", "--config", config});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("config: detectors.tenants.acme.disabled[0] (" + config + ":10:23): no detector \"nobody\""));
  EXPECT_THAT(ended.err, HasSubstr("config: limits.burst (" + config + ":11:17): expected an integer"));
  EXPECT_THAT(ended.err, HasSubstr("config: store.path (" + config + ":1:15): serve could not open "));
  EXPECT_THAT(ended.err, HasSubstr("config: detectors.expensive_loop.settings.repeats (" + config + ":8:18): "));
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 4) << ended.err;
}

TEST(Check, WhenADetectorRefusesItsSettings_TellsThePlaceOfTheValue) {
  const Program program;
  const std::string config = write_config(program, "  enabled:\n    - key: expensive_loop\n      settings:\n        repeats: ten\n");
  const Ended ended = program.run({"check", "--config", config});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("config: detectors.expensive_loop.settings.repeats (" + config + ":8:18): "));
}

TEST(Check, WhenASettingIsGone_TellsWhatTookItsPlace) {
  const Program program;
  const std::string config = write_config(
      program, "  enabled:\n    - key: false_success\n      settings:\n        extra_admissions: [oops]\n        plan: false\n");
  const Ended ended = program.run({"check", "--config", config});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("config: detectors.false_success.settings.extra_admissions (" + config +
                                   ":8:9): `extra_admissions` was removed: "
                                   "put the phrases under `admissions:` in a file and name it in `vocabulary:`. Gone, too: plan"));
}

TEST(Check, WhenAVocabularyIsWrong_TellsItsFileLineAndKey) {
  const Program program;
  const std::string words = program.folder().write("words.yaml", "language: xx\nadmision: [oops]\n");
  const std::string config =
      write_config(program, "  enabled:\n    - key: false_success\n      settings:\n        vocabulary: " + words + "\n");
  const Ended ended = program.run({"check", "--config", config});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("config: detectors.false_success.settings.vocabulary (" + config + ":8:21): "));
  EXPECT_THAT(ended.err, HasSubstr(words + ":2: admision: unknown key; the nearest known one is admissions"));
}

TEST(Check, WhenALibraryIsMissing_SaysWhereTheEntryStands) {
  const Program program;
  const std::string config = write_config(program, "  enabled:\n    - {key: nobody}\n");
  const Ended ended = program.run({"check", "--config", config});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr(config + ":6:7"));
  EXPECT_THAT(ended.err, HasSubstr("nobody.so"));
}

TEST(Check, AsJson_HasTheSameInOneObject) {
  const Program program;
  const Json good = Json::parse(program.run({"check", "--json", "--config", write_config(program)}).out);
  EXPECT_EQ(good.at("ok"), true);
  EXPECT_EQ(good.at("detectors").size(), 5u);
  EXPECT_EQ(good.at("errors"), Json::array());
  const Ended bad = program.run({"check", "--json", "--config", write_config(program, "log: {level: loud}\n")});
  EXPECT_EQ(bad.code, 1);
  const Json told = Json::parse(bad.out);
  EXPECT_EQ(told.at("ok"), false);
  ASSERT_EQ(told.at("errors").size(), 1u);
  EXPECT_THAT(told.at("errors")[0].get<std::string>(), HasSubstr(":5:14): expected one of debug, info, warn, error"));
}

TEST(Check, WhenTheStoreCannotBeThere_SaysWhy) {
  const Program program;
  const std::string folder = program.folder().path().string();
  program.folder().write("data", "mine");
  const std::string config = write_config(program);
  const Ended file = program.run({"check", "--config", config});
  EXPECT_EQ(file.code, 1);
  EXPECT_THAT(file.err, HasSubstr("config: store.path (" + config + ":1:15): serve could not open \"" + folder + "/data\": \"" + folder +
                                  "/data\" is a file, not a folder; name a folder, or move the file away\n"));
  const Ended missing = program.run({"check", "--config", write_config(program), "--data-dir", folder + "/a/b"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("config: store.path (--data-dir): serve could not open \"" + folder + "/a/b\": the folder \"" +
                                     folder + "/a\" does not exist; create it, or check the path\n"));
  const Ended below = program.run({"check", "--config", write_config(program), "--data-dir", folder + "/data/b"});
  EXPECT_EQ(below.code, 1);
  EXPECT_THAT(below.err, HasSubstr("\"" + folder + "/data\" is a file, not a folder"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/a"));
}

TEST(Check, WhenServeWouldRefuseTheStore_SaysTheSame) {
  const Program program;
  const std::string config = write_config(program);
  ASSERT_EQ(program.run({"keys", "create", "--tenant", "acme", "--scopes", "read", "--config", config}).code, 0);
  EXPECT_EQ(program.run({"check", "--config", config}).code, 0) << "a store that is good";
  const std::filesystem::path data = program.folder().path() / "data" / "data.mdb";
  const auto refused_alike = [&](const char* why) {
    const Ended checked = program.run({"check", "--config", config});
    const Ended served = program.run({"serve", "--config", config});
    EXPECT_EQ(checked.code, 1) << why;
    EXPECT_EQ(served.code, 1) << why;
    const std::size_t at = served.err.rfind("runwarden: store: ");
    ASSERT_NE(at, std::string::npos) << served.err;
    EXPECT_THAT(checked.err, HasSubstr("config: store.path (" + config + ":1:15): " + served.err.substr(at + 11))) << why;
    EXPECT_THAT(checked.err, HasSubstr(why));
  };
  std::filesystem::resize_file(data, std::filesystem::file_size(data) / 2);
  refused_alike("is truncated");
  std::ofstream(data) << std::string(100'000, 'x');
  refused_alike("is not a runwarden store, or is damaged");
  std::filesystem::resize_file(data, 0);
  refused_alike("its data.mdb is empty");
  std::filesystem::remove(data);
  refused_alike("its data.mdb is missing");
  std::filesystem::create_directory(data);
  refused_alike("its data.mdb is not a file");
  std::filesystem::remove(data);
  EXPECT_FALSE(std::filesystem::exists(data)) << "a check must not make a store";
}

TEST(Check, WhenAStoreCannotBeCreatedThere_SaysSo) {
  const Program program;
  const Ended ended = program.run({"check", "--config", write_config(program), "--data-dir", "/proc/store"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("config: store.path (--data-dir): serve could not open \"/proc/store\": "));
  const auto before = std::distance(std::filesystem::directory_iterator(program.folder().path()), {});
  EXPECT_EQ(program.run({"check", "--config", write_config(program)}).code, 0);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(program.folder().path()), {}), before) << "nothing is left of a check";
}

TEST(Check, WhenAStoreIsNotWritable_SaysWhose) {
  if (::access("/proc/sys", W_OK) == 0) GTEST_SKIP() << "everything can be written here";
  const Program program;
  const Ended ended = program.run({"check", "--config", write_config(program), "--data-dir", "/proc/sys"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("config: store.path (--data-dir): serve could not open \"/proc/sys\": "));
}

TEST(Check, WhenBothAddressesAreOne_RefusesIt) {
  const Program program;
  for (const char* ops : {"127.0.0.1:8080", "localhost:8080"}) {
    const Ended ended = program.run(
        {"check", "--config", write_config(program, std::string("server: {address: \"127.0.0.1:8080\", ops_address: \"") + ops + "\"}\n")});
    EXPECT_EQ(ended.code, 1);
    EXPECT_THAT(ended.err, HasSubstr("config: server.ops_address ("));
    EXPECT_THAT(ended.err, HasSubstr("expected a port other than server.address's"));
  }
  const std::string apart = write_config(program, "server: {address: \"127.0.0.1:0\", ops_address: \"127.0.0.1:0\"}\n");
  EXPECT_EQ(program.run({"check", "--config", apart}).code, 0) << "port 0 is a free one for each";
}

TEST(Check, WhenTheModelsKeyCannotBeRead_TellsThePlace) {
  const Program program;
  const std::string opinion =
      "second_opinion:\n  enabled: true\n  model: m\n  url: http://127.0.0.1:9/\n  detectors: [false_success]\n  api_key_file: key\n";
  const std::string config = write_config(program, opinion);
  const Ended ended = program.run({"check", "--config", config});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("config: second_opinion.api_key_file (" + config + ":10:17): "));
}

TEST(Check, WarnsOfWhatLeadsNowhere) {
  const Program program;
  const std::string folder = program.folder().path().string();
  const std::string config = program.folder().write("runwarden.yaml", "store: {path: data}\ndetectors:\n  search_path: [" DETECTORS
                                                                      ", plugins, /usr/local/lib/runwarden/detectors]\n"
                                                                      "  include: [" DROP_INS "/*.yaml, mine.d/*.yaml]\n");
  const Ended ended = program.run({"check", "--config", config}, {}, {"RUNWARDEN_BURST=5", "RUNWARDEN_CONFIG=/nowhere"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("warning: detectors.search_path (" + config + ":3:16): no folder " + folder + "/plugins; "));
  EXPECT_THAT(ended.err, HasSubstr("): no file matches " + folder + "/mine.d/*.yaml; "));
  EXPECT_THAT(ended.err, HasSubstr("warning: the environment variable RUNWARDEN_BURST names no setting and has no effect; "));
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 3) << ended.err;
}

TEST(Check, WarnsOfRunsThatExpireBeforeTheirIdempotencyKeys) {
  const Program program;
  const std::string config = program.folder().write("c.yaml", "store: {path: store}\nretention: {runs: 1h}\n");
  const Ended ended = program.run({"check", "--config", config});
  EXPECT_THAT(ended.err, HasSubstr("warning: retention.runs (" + config + ":2:19): 1h is less than retention.idempotency_keys"));
  EXPECT_THAT(program.run({"keys", "list", "--config", config}).err, testing::Not(HasSubstr("warning"))) << "it serves nothing";
}

TEST(Check, WithoutDetectors_Warns) {
  const Program program;
  const std::string config = program.folder().write("c.yaml", "store: {path: store}\ndetectors: {enabled: [], include: []}\n");
  const Ended ended = program.run({"check", "--config", config});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("warning: no detector is enabled"));
  EXPECT_THAT(program.run({"analyze", "--config", config}, "{}").err, HasSubstr("warning: no detector is enabled"));
  EXPECT_THAT(program.run({"keys", "list", "--config", config}).err, testing::Not(HasSubstr("warning"))) << "it judges nothing";
}

TEST(Check, WhenAFaultLeavesNoDetector_TellsOnlyTheFault) {
  const Program program;
  const std::string no_mapping = program.folder().write("list.yaml", "- 1\n");
  const Ended root = program.run({"check", "--config", no_mapping});
  EXPECT_EQ(root.code, 1);
  EXPECT_THAT(root.err, StartsWith("config: " + no_mapping + ":1:1: expected a mapping"));
  std::filesystem::create_directory(program.folder().path() / "zoo.yaml");  // which is no file
  const std::string config = program.folder().write("c.yaml", "store: {path: store}\ndetectors: {include: [zoo.yaml]}\n");
  const Ended drop_in = program.run({"check", "--config", config});
  EXPECT_EQ(drop_in.code, 1);
  EXPECT_THAT(drop_in.err, StartsWith("config: " + (program.folder().path() / "zoo.yaml").string() + ": cannot read the file: "));
}

TEST(Check, TakesTheEnvironmentIntoAccount) {
  const Program program;
  const Ended ended = program.run({"check", "--config", write_config(program)}, {}, {"RUNWARDEN_LIMITS__BURST=ten"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("config: limits.burst (RUNWARDEN_LIMITS__BURST): expected an integer"));
  const Ended empty = program.run({"check", "--config", write_config(program)}, {}, {"RUNWARDEN_STORE__PATH="});
  EXPECT_EQ(empty.code, 1);
  EXPECT_THAT(empty.err, testing::StartsWith("config: store.path (RUNWARDEN_STORE__PATH): expected a folder, got "));
}

}  // namespace
}  // namespace runwarden::cli
