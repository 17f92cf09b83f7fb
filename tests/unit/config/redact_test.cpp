#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/loading.h"
#include "config/settings.h"
#include "support/temp_folder.h"

namespace runwarden::config {
namespace {

using By = model::RedactRule::By;

struct RedactTest : testing::Test {
  test::TempFolder folder;

  Result<Settings> read(const std::string& yaml) {
    LoadOptions options;
    options.path = folder.write("runwarden.yaml", yaml);
    options.named = true;
    return load(options);
  }
  std::string fault_of_rule(const std::string& rule) {
    const auto settings = read("redact:\n  rules:\n    - " + rule + "\n");
    return settings.ok() ? "none" : settings.error().detail;
  }
};

TEST_F(RedactTest, ReadsRules_AndNamesThoseWithoutAName) {
  const auto settings = read(R"(
redact:
  detectors_see: after
  rules:
    - kind: card
    - {key: "*_Token*"}
    - {key: password, name: secret.1}
    - pointer: /steps/*/inputSummary/Card~1No/*
      name: card
    - pointer: /**/SSN
)");
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  EXPECT_EQ(settings->redact.detectors_see, model::RedactSettings::DetectorsSee::after);
  std::vector<std::string> names;
  std::vector<By> by;
  for (const auto& rule : settings->redact.rules) {
    names.push_back(rule.name);
    by.push_back(rule.by);
  }
  EXPECT_THAT(names, testing::ElementsAre("card", "_token", "secret.1", "card", "ssn"));
  EXPECT_THAT(by, testing::ElementsAre(By::kind, By::key, By::key, By::pointer, By::pointer));
  EXPECT_EQ(settings->redact.rules[1].what, "*_Token*");
}

TEST_F(RedactTest, WhenARuleIsWrong_SaysWhereAndWhat) {
  struct Case {
    const char* rule;
    const char* says;
  };
  const Case cases[] = {
      {"{kind: cards}", "redact.rules[0].kind (runwarden.yaml:3:14): expected one of card, email, token, iban, phone, got \"cards\""},
      {"{key: \"**\"}", "redact.rules[0].key (runwarden.yaml:3:13): expected a member's name"},
      {"{pointer: steps}", "redact.rules[0].pointer (runwarden.yaml:3:17): expected a JSON Pointer"},
      {"{pointer: /a~2, name: a}", "expected a JSON Pointer"},
      {"{pointer: /*/**, name: a}", "expected a pointer that names at least one member"},
      {"{pointer: /runId}", "expected a member that the service does not need itself"},
      {"{pointer: /steps}", "the service does not need itself"},
      {"{pointer: /steps/*, name: x}", "the service does not need itself"},
      {"{pointer: /steps/0/stepId}", "the service does not need itself"},
      {"{pointer: /steps/*/metadata/costUsd}", "the service does not need itself"},
      {"{pointer: /events/*/eventId}", "the service does not need itself"},
      {"{pointer: /policy}", "the service does not need itself"},
      {"{kind: card, key: a}", "redact.rules[0] (runwarden.yaml:3:7): expected exactly one of kind, key, pointer, got 2"},
      {"{name: a}", "expected exactly one of kind, key, pointer, got 0"},
      {"{kind: card, name: \"No Good\"}", "redact.rules[0].name (runwarden.yaml:3:26): expected 1 to 64 lower-case letters"},
      {"{key: \"\u00fcber\"}", "expected a name for this rule"},
      {"{kind: card, extra: 1}", "redact.rules[0].extra (runwarden.yaml:3:20): unknown key"},
      {"text", "expected a mapping"},
  };
  for (const Case& one : cases) {
    std::string text = fault_of_rule(one.rule);
    for (auto at = text.find(folder.path().string() + "/"); at != std::string::npos; at = text.find(folder.path().string() + "/")) {
      text.erase(at, folder.path().string().size() + 1);
    }
    EXPECT_THAT(text, testing::HasSubstr(one.says)) << one.rule;
  }
  for (const char* fine :
       {"{pointer: /steps/*/metadata/model}", "{pointer: /steps/*/errorMessage}", "{pointer: /**/costUsd}", "{key: runId}"}) {
    EXPECT_EQ(fault_of_rule(fine), "none") << fine;
  }
}

TEST_F(RedactTest, WhenTheSectionIsWrong_SaysSo) {
  EXPECT_THAT(read("redact: {detectors_see: both}\n").error().detail, testing::HasSubstr("redact.detectors_see"));
  EXPECT_THAT(read("redact: {rules: card}\n").error().detail, testing::HasSubstr("expected a list of rules"));
  EXPECT_THAT(read("redact: {rule: []}\n").error().detail, testing::HasSubstr("the nearest known one is rules"));
  EXPECT_TRUE(read("redact:\n").ok());
}

}  // namespace
}  // namespace runwarden::config
