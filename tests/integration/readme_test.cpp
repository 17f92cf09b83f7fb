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
  const std::string commands = commands_under("## One run, one answer");
  ASSERT_NE(commands, "");
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
  EXPECT_EQ(found["suspectChange"]["baseline"], "none");
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) text.replace(at, what.size(), with);
  return text;
}

// Commands of a machine that has the packages, with this service's folders instead of that one's.
CommandResult run_as_installed(const ServiceProcess& service, std::string commands) {
  commands = replaced(commands, "http://127.0.0.1:8080", "$URL");
  commands = replaced(commands, "/var/lib/runwarden", service.folder() / "data");
  commands = replaced(commands, "/srv/backup", service.folder() / "backup");
  const std::string stand_ins =
      "sudo() { if [ \"$1\" = -u ]; then shift 2; fi; \"$@\"; }\n"
      "install() { mkdir -p \"${@: -1}\"; }\n"  // that user is not there
      "runwarden() { '" +
      runwarden_binary() + "' \"$@\" --config '" + service.config_path() + "'; }\n";
  return run_script(service, "", stand_ins + commands);
}

TEST(Readme, BackupAndRestoreDrill) {
  ServiceProcess service;
  const std::string key = service.make_key();
  const std::string commands = commands_under("### Backup and restore drill");
  const std::string stop = "sudo systemctl stop runwarden\n";
  const std::string start = "sudo systemctl start runwarden ";
  const auto stopped = commands.find(stop);
  const auto started = commands.find(start);
  ASSERT_LT(stopped, started);
  ASSERT_NE(started, std::string::npos);

  ASSERT_EQ(service.post("/v1/ingest/runs", key, R"({"runId":"before"})").status, 201);
  const CommandResult backed_up = run_as_installed(service, commands.substr(0, stopped));
  ASSERT_EQ(backed_up.exit_code, 0) << backed_up.err << backed_up.out;
  ASSERT_EQ(service.post("/v1/ingest/runs", key, R"({"runId":"after"})").status, 201);
  ASSERT_EQ(service.stop(), 0);
  const CommandResult restored = run_as_installed(service, commands.substr(stopped + stop.size(), started - stopped - stop.size()));
  ASSERT_EQ(restored.exit_code, 0) << restored.err;
  service.start();
  const CommandResult checked = run_as_installed(service, commands.substr(commands.find('\n', started)));
  ASSERT_EQ(checked.exit_code, 0) << checked.err << checked.out;
  EXPECT_NE(checked.out.find("no fault found"), std::string::npos);
  EXPECT_EQ(service.get("/v1/runs/before", key).status, 200);
  EXPECT_EQ(service.get("/v1/runs/after", key).status, 404) << "it is the backup that is served";

  ASSERT_EQ(service.stop(), 0);
  for (const std::string command :
       {"sudo -u runwarden runwarden export --tenant acme --data-dir /var/lib/runwarden.old --output /srv/backup/acme.ndjson",
        "sudo -u runwarden runwarden import /srv/backup/acme.ndjson"}) {
    ASSERT_NE(readme().find("`" + command + "`"), std::string::npos) << command;
    const CommandResult fetched = run_as_installed(service, command);
    ASSERT_EQ(fetched.exit_code, 0) << command << fetched.err;
  }
  service.start();
  EXPECT_EQ(service.get("/v1/runs/before", key).status, 200);
  EXPECT_EQ(service.get("/v1/runs/after", key).status, 200);
}

}  // namespace
}  // namespace runwarden::test
