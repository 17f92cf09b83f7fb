// The README's commands, run as they stand there.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;

std::string readme() {
  std::ifstream file(RUNWARDEN_TEST_README);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The first block of shell commands after a heading.
std::string commands_under(const std::string& heading) {
  const std::string text = readme();
  const auto section = text.find(heading);
  const auto start = text.find("```sh\n", section);
  const auto end = text.find("```", start + 6);
  return section == std::string::npos || end == std::string::npos ? std::string() : text.substr(start + 6, end - start - 6);
}

CommandResult run_script(const ServiceProcess& service, const std::string& key, const std::string& commands) {
  const std::string prelude =
      "set -eu\ncd '" + service.folder().string() + "'\nURL=http://127.0.0.1:" + std::to_string(service.port()) + "\nKEY=" + key + "\n";
  return run_command({"/bin/bash", "-c", prelude + commands});
}

TEST(Readme, TheRefundRun_IsOneCurl) {
  ServiceProcess service;
  std::string commands = commands_under("## One run, one answer");
  ASSERT_NE(commands, "");
  commands.replace(commands.find("http://127.0.0.1:8080"), 21, "$URL");
  const CommandResult result = run_script(service, service.make_key(), commands);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json answer = json::parse(result.out);
  ASSERT_EQ(answer["failures"].size(), 1u);
  EXPECT_EQ(answer["failures"][0]["detectorKey"], "false_success");
  EXPECT_EQ(answer["failures"][0]["suspicionScore"], 95);
}

TEST(Readme, FromEventsToTheCause) {
  ServiceProcess service;
  const std::string commands = commands_under("## From events to the cause");
  ASSERT_NE(commands, "");
  const CommandResult result = run_script(service, service.make_key(), commands);
  ASSERT_EQ(result.exit_code, 0) << result.err << result.out;
  std::ifstream file(service.folder() / "investigation.json");
  const json found = json::parse(file);
  EXPECT_EQ(found["failure"]["title"], "False success: agent claimed completion after issue_refund failed");
  EXPECT_EQ(found["policiesInForce"][0]["author"], "ann");
  EXPECT_EQ(found["suspectChange"]["ref"], "9f3c2d1");
  EXPECT_EQ(found["suspectChange"]["after"], (json{{"failures", 1}, {"runs", 1}}));
}

}  // namespace
}  // namespace runwarden::test
