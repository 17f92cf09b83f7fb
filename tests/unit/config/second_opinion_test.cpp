// The section second_opinion: what it takes, and what is found wanting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/loading.h"
#include "config/settings.h"
#include "support/temp_folder.h"

namespace runwarden::config {
namespace {

constexpr const char* kOn = "  enabled: true\n  url: http://127.0.0.1:8000/v1/chat/completions\n  model: m\n";
constexpr const char* kDetectors = "detectors: {enabled: [{key: false_success}, {key: schema_ghost}]}\n";

struct SecondOpinion : testing::Test {
  test::TempFolder folder;

  Result<Settings> read(const std::string& section, const std::vector<std::pair<std::string, std::string>>& environment = {}) {
    LoadOptions options;
    options.path = folder.write("runwarden.yaml", "second_opinion:\n" + section + kDetectors);
    options.named = true;
    options.environment = environment;
    return load(options);
  }
  std::string fault(const std::string& section) {
    const auto settings = read(section);
    if (settings.ok()) return "none";
    std::string text = settings.error().detail;
    const std::string prefix = folder.path().string() + "/";
    for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) text.erase(at, prefix.size());
    return text;
  }
};

TEST_F(SecondOpinion, IsOffByDefault) {
  const auto settings = read("");
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  const SecondOpinionSection& section = settings->second_opinion;
  EXPECT_FALSE(section.enabled);
  EXPECT_EQ(section.ask, "candidates");
  EXPECT_TRUE(section.may_confirm);
  EXPECT_FALSE(section.may_silence);
  EXPECT_EQ(section.timeout_ms, 30'000);
  EXPECT_EQ(section.max_in_flight, 4);
  EXPECT_EQ(section.max_input_tokens, 8000);
  EXPECT_EQ(section.requests_per_hour, 1000);
  EXPECT_EQ(section.tokens_per_day, 5'000'000);
}

TEST_F(SecondOpinion, TakesWhatIsGiven) {
  const auto settings = read(std::string(kOn) +
                             "  api_key_file: key\n  detectors: [schema_ghost]\n  ask: all\n  may_confirm: false\n  may_silence: true\n"
                             "  timeout: 5s\n  max_in_flight: 2\n  max_input_tokens: 4000\n  allow: [10.0.0.0/8, llm.internal]\n"
                             "  budget: {requests_per_hour: 7, tokens_per_day: 9}\n");
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  const SecondOpinionSection& section = settings->second_opinion;
  EXPECT_TRUE(section.enabled);
  EXPECT_EQ(section.api_key_file, (folder.path() / "key").string()) << "it starts at the folder of the file";
  EXPECT_THAT(section.detectors, testing::ElementsAre("schema_ghost"));
  EXPECT_EQ(section.ask, "all");
  EXPECT_FALSE(section.may_confirm);
  EXPECT_TRUE(section.may_silence);
  EXPECT_EQ(section.timeout_ms, 5000);
  EXPECT_EQ(section.max_in_flight, 2);
  EXPECT_EQ(section.max_input_tokens, 4000);
  EXPECT_THAT(section.allow, testing::ElementsAre("10.0.0.0/8", "llm.internal"));
  EXPECT_EQ(section.requests_per_hour, 7);
  EXPECT_EQ(section.tokens_per_day, 9);
}

TEST_F(SecondOpinion, DetectorsThatAreNotNamed_AreThoseThatAreEnabled) {
  const auto settings = read(kOn);
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  EXPECT_THAT(settings->second_opinion.detectors, testing::ElementsAre("false_success", "schema_ghost"));
}

TEST_F(SecondOpinion, EnvironmentGoesOverTheFile) {
  const auto settings =
      read("  enabled: false\n  url: http://127.0.0.1:1/\n", {{"RUNWARDEN_SECOND_OPINION__ENABLED", "true"},
                                                              {"RUNWARDEN_SECOND_OPINION__MODEL", "m"},
                                                              {"RUNWARDEN_SECOND_OPINION__BUDGET__REQUESTS_PER_HOUR", "3"}});
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  EXPECT_TRUE(settings->second_opinion.enabled);
  EXPECT_EQ(settings->second_opinion.model, "m");
  EXPECT_EQ(settings->second_opinion.requests_per_hour, 3);
}

TEST_F(SecondOpinion, SwitchedOnWithoutUrlAndModel_IsRefused) {
  EXPECT_EQ(fault("  enabled: true\n"),
            "config: second_opinion.enabled (runwarden.yaml:2:12): true needs second_opinion.url: the endpoint to ask, such as "
            "http://127.0.0.1:8000/v1/chat/completions\n"
            "config: second_opinion.enabled (runwarden.yaml:2:12): true needs second_opinion.model: the model's name at the endpoint");
}

TEST_F(SecondOpinion, DetectorWithoutAPrompt_IsRefused) {
  EXPECT_THAT(fault(std::string(kOn) + "  detectors: [no_such]\n"),
              testing::StartsWith("config: second_opinion.detectors[0] (runwarden.yaml:5:15): no prompt for detector \"no_such\"; "
                                  "prompts exist for "));
}

TEST_F(SecondOpinion, DetectorThatIsNotEnabled_IsRefused) {
  EXPECT_EQ(
      fault(std::string(kOn) + "  detectors: [false_success, missing_tool_call]\n"),
      "config: second_opinion.detectors[1] (runwarden.yaml:5:30): detector \"missing_tool_call\" is not enabled; enable it, or remove it "
      "here");
}

TEST_F(SecondOpinion, NoDetectors_AreRefused) {
  EXPECT_THAT(fault(std::string(kOn) + "  detectors: []\n"), testing::HasSubstr("expected at least one enabled detector"));
}

TEST_F(SecondOpinion, WrongValues_AreNamed) {
  EXPECT_THAT(fault("  url: ftp://x/\n"),
              testing::HasSubstr("second_opinion.url (runwarden.yaml:2:8): expected the URL of a chat-completions endpoint"));
  EXPECT_THAT(fault("  ask: everything\n"), testing::HasSubstr("expected one of candidates, alarms, all, got \"everything\""));
  EXPECT_THAT(fault("  allow: [\"a b\"]\n"),
              testing::HasSubstr("expected an address, a block such as 10.1.0.0/16, or a host name, got \"a b\""));
  EXPECT_THAT(
      fault("  budget: {requests_per_hour: 0}\n"),
      testing::HasSubstr("second_opinion.budget.requests_per_hour (runwarden.yaml:2:31): expected an integer from 1 to 1000000000, got 0"));
  EXPECT_THAT(fault("  max_in_flight: 65\n"), testing::HasSubstr("expected an integer from 1 to 64, got 65"));
  EXPECT_THAT(fault("  timeout: 1h\n"), testing::HasSubstr("expected a duration from 100ms to 10m"));
  EXPECT_THAT(fault("  mdoel: x\n"), testing::HasSubstr("unknown key; the nearest known one is model"));
}

}  // namespace
}  // namespace runwarden::config
