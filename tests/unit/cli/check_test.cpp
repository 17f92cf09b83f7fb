#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "unit/cli/program.h"

namespace runwarden::cli {
namespace {

using testing::HasSubstr;
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

TEST(Check, WhenAFileIsWrong_ExitsWith1AndTellsEveryPlace) {
  const Program program;
  const std::string config = write_config(program, "limits:\n  burst: ten\n  x: 1\n");
  const Ended ended = program.run({"check", "--config", config});
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("config: limits.burst (" + config + ":6:10): expected an integer from 0 to 1000000, got \"ten\"\n"));
  EXPECT_THAT(ended.err, HasSubstr("config: limits.x (" + config + ":7:3): unknown key; "));
}

TEST(Check, WhenADetectorRefusesItsSettings_TellsThePlaceOfTheValue) {
  const Program program;
  const std::string config = write_config(program, "  enabled:\n    - key: expensive_loop\n      settings:\n        repeats: ten\n");
  const Ended ended = program.run({"check", "--config", config});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("config: detectors.expensive_loop.settings.repeats (" + config + ":8:18): "));
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

TEST(Check, WithoutDetectors_Warns) {
  const Program program;
  const std::string config = program.folder().write("c.yaml", "detectors: {enabled: [], include: []}\n");
  const Ended ended = program.run({"check", "--config", config});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("warning: no detector is enabled"));
}

TEST(Check, TakesTheEnvironmentIntoAccount) {
  const Program program;
  const Ended ended = program.run({"check", "--config", write_config(program)}, {}, {"RUNWARDEN_LIMITS__BURST=ten"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("config: limits.burst (RUNWARDEN_LIMITS__BURST): expected an integer"));
}

}  // namespace
}  // namespace runwarden::cli
