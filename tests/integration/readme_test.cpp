// The commands of README.md and of the operator's guide, run as they are printed there.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;

constexpr const char* kReadme = "README.md";
constexpr const char* kBackup = "packaging/doc/backup.md";
constexpr const char* kHttp = "packaging/doc/http.md";
constexpr const char* kGates = "packaging/doc/gates.md";
constexpr const char* kLedger = "packaging/doc/ledger.md";
constexpr const char* kRedaction = "packaging/doc/redaction.md";

std::string text_of(const std::string& page) {
  std::ifstream file(std::filesystem::path(RUNWARDEN_TEST_PAGES) / page);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The blocks of a kind ("sh", "json", "yaml") in the section of that heading, in order.
std::vector<std::string> blocks_under(const std::string& page, const std::string& heading, const std::string& kind) {
  const std::string text = text_of(page);
  const std::string open = "\n```" + kind + "\n";
  std::vector<std::string> blocks;
  const auto section = text.find(heading + "\n");
  if (section == std::string::npos) return blocks;
  const auto section_end = text.find("\n## ", section);
  for (auto at = text.find(open, section); at < section_end; at = text.find(open, at)) {
    const auto start = at + open.size();
    at = text.find("\n```", start);
    if (at == std::string::npos) break;
    blocks.push_back(text.substr(start, at + 1 - start));
  }
  return blocks;
}

std::string block_under(const std::string& page, const std::string& heading, const std::string& kind = "sh") {
  const std::vector<std::string> blocks = blocks_under(page, heading, kind);
  return blocks.empty() ? std::string() : blocks.front();
}

// Whether each member of `part` is in `whole`; a text that ends in "..." stands for any that begins as it does, and an array's elements for
// some of the other's.
bool is_part_of(const json& part, const json& whole) {
  if (part.is_object()) {
    return whole.is_object() && std::all_of(part.items().begin(), part.items().end(), [&](const auto& member) {
             return whole.contains(member.key()) && is_part_of(member.value(), whole[member.key()]);
           });
  }
  if (part.is_array()) {
    return whole.is_array() && std::all_of(part.begin(), part.end(), [&](const json& element) {
             return std::any_of(whole.begin(), whole.end(), [&](const json& other) { return is_part_of(element, other); });
           });
  }
  if (part.is_string() && whole.is_string() && part.get<std::string>().ends_with("...")) {
    const std::string text = part;
    return whole.get<std::string>().starts_with(text.substr(0, text.size() - 3));
  }
  return part == whole;
}

CommandResult run_script(const ServiceProcess& service, const std::string& key, const std::string& commands) {
  const std::string prelude =
      "set -eu\ncd '" + service.folder().string() + "'\nURL=http://127.0.0.1:" + std::to_string(service.port()) + "\nKEY=" + key + "\n";
  return run_command({"/bin/bash", "-c", prelude + commands});
}

TEST(Readme, TheRefundRun_IsOneCurl) {
  ServiceProcess service;
  const std::string commands = block_under(kReadme, "## One run, one answer");
  ASSERT_NE(commands, "");
  const CommandResult result = run_script(service, service.make_key(), commands);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json answer = json::parse(result.out);
  ASSERT_EQ(answer["failures"].size(), 1u);
  EXPECT_EQ(answer["failures"][0]["detectorKey"], "false_success");
  EXPECT_EQ(answer["failures"][0]["suspicionScore"], 95);
  const json printed = json::parse(block_under(kReadme, "## One run, one answer", "json"));
  EXPECT_TRUE(is_part_of(printed, answer)) << "README.md prints " << printed.dump(1) << "\nand the answer is " << answer.dump(1);
}

TEST(Readme, FromEventsToTheCause) {
  ServiceProcess service;
  const std::string commands = block_under(kReadme, "## From events to the cause");
  ASSERT_NE(commands, "");
  const CommandResult result = run_script(service, service.make_key(), commands);
  ASSERT_EQ(result.exit_code, 0) << result.err << result.out;
  const auto printed = result.out.rfind("\n{\n");  // by jq, behind the answers to what was posted
  ASSERT_NE(printed, std::string::npos) << result.out;
  const json found = json::parse(result.out.substr(printed));
  EXPECT_EQ(found["title"], "False success: agent claimed completion after issue_refund failed");
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
  commands = replaced(commands, "/etc/runwarden/runwarden.yaml", service.config_path());
  commands = replaced(commands, "/var/lib/runwarden", service.folder() / "data");
  commands = replaced(commands, "/srv/backup", service.folder() / "backup");
  const std::string stand_ins =
      "sudo() { if [ \"$1\" = -u ]; then shift 2; fi; \"$@\"; }\n"
      "install() { mkdir -p \"${@: -1}\"; }\n"  // that user is not there
      "runwarden() { '" +
      runwarden_binary() + "' \"$@\" --config '" + service.config_path() + "'; }\n";
  return run_script(service, "", stand_ins + commands);
}

TEST(Guide, BackupAndRestoreDrill) {
  ServiceProcess service;
  const std::string key = service.make_key();
  const std::vector<std::string> blocks = blocks_under(kBackup, "## Drill", "sh");
  ASSERT_EQ(blocks.size(), 2u) << "the drill, and what ends it";
  const std::string& commands = blocks.front();
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
    ASSERT_NE(text_of(kBackup).find("`" + command + "`"), std::string::npos) << command;
    const CommandResult fetched = run_as_installed(service, command);
    ASSERT_EQ(fetched.exit_code, 0) << command << fetched.err;
  }
  service.start();
  EXPECT_EQ(service.get("/v1/runs/before", key).status, 200);
  EXPECT_EQ(service.get("/v1/runs/after", key).status, 200);

  ASSERT_TRUE(std::filesystem::exists(service.folder() / "data.old"));
  const CommandResult ended = run_as_installed(service, blocks.back());
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_FALSE(std::filesystem::exists(service.folder() / "data.old")) << "no second copy of the records stays";
}

TEST(Guide, DailyBackup_KeepsTheSevenNewest) {
  ServiceProcess service;
  const std::string script = block_under(kBackup, "## Back up every day");
  ASSERT_NE(script, "");
  const std::filesystem::path backups = service.folder() / "backup";
  for (int day = 1; day <= 9; ++day) std::filesystem::create_directories(backups / ("daily-2020-01-0" + std::to_string(day)));
  std::filesystem::create_directories(backups / "monday");
  const CommandResult backed_up = run_as_installed(service, script);
  ASSERT_EQ(backed_up.exit_code, 0) << backed_up.err;
  std::set<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(backups)) left.insert(entry.path().filename());
  ASSERT_EQ(left.size(), 8u);
  EXPECT_EQ(*left.begin(), "daily-2020-01-04");
  EXPECT_TRUE(left.contains("monday"));
  const std::string newest = *std::prev(left.find("monday"));
  EXPECT_TRUE(std::filesystem::exists(backups / newest / "data.mdb")) << newest;

  EXPECT_EQ(run_as_installed(service, script).exit_code, 1) << "there is one of this day";
  EXPECT_TRUE(std::filesystem::exists(backups / "daily-2020-01-04"));
}

TEST(Guide, MoveToAnotherMachine) {
  ServiceProcess service;
  const std::string key = service.make_key();
  ASSERT_EQ(service.post("/v1/ingest/runs", key, R"({"runId":"moved"})").status, 201);
  const std::string commands = block_under(kBackup, "## Move to another machine");
  ASSERT_NE(commands, "");
  ASSERT_EQ(service.stop(), 0);
  std::filesystem::create_directories(service.folder() / "backup");
  const CommandResult moved = run_as_installed(service, "systemctl() { :; }\nchown() { :; }\n" + commands);
  ASSERT_EQ(moved.exit_code, 0) << moved.err << moved.out;
  EXPECT_NE(moved.out.find("no fault found"), std::string::npos);
  std::filesystem::remove_all(service.folder() / "data.empty");
  service.start();
  EXPECT_EQ(service.get("/v1/runs/moved", key).status, 200);
}

TEST(Guide, AFailure_BecomesATest) {
  ServiceProcess service;
  const std::string commands = block_under(kGates, "## Detectors and settings");
  ASSERT_NE(commands, "");
  const CommandResult result = run_as_installed(service, commands);
  ASSERT_EQ(result.exit_code, 0) << result.err << result.out;
  const std::string same = "1 run, 1 the same, 0 new, 0 lost, 0 changed, 0 status\n";
  EXPECT_EQ(result.out, same + same);
  EXPECT_TRUE(std::filesystem::exists(service.folder() / "replay.xml"));
}

TEST(Guide, GatesWithoutAStore) {
  ServiceProcess service;
  const std::string analyze = block_under(kGates, "## An agent");
  const std::string score = block_under(kGates, "## A detector's own repository");
  ASSERT_NE(analyze, "");
  ASSERT_NE(score, "");
  const CommandResult failed = run_as_installed(service, analyze);
  ASSERT_EQ(failed.exit_code, 0) << failed.err << failed.out;
  EXPECT_EQ(failed.out, "exit status 1\n");
  EXPECT_TRUE(std::filesystem::exists(service.folder() / "runs.sarif"));
  const CommandResult scored = run_as_installed(service, score);
  ASSERT_EQ(scored.exit_code, 0) << scored.err << scored.out;
  EXPECT_NE(scored.out.find("false_success"), std::string::npos) << scored.out;
}

TEST(Guide, TheLedger_IsExportedAndVerified) {
  ServiceProcess service;
  const std::string key = service.make_key();
  ASSERT_EQ(service.post("/v1/ingest/runs", key, R"({"runId":"order-8842"})").status, 201);
  const std::string commands = block_under(kLedger, "## Check it");
  ASSERT_NE(commands, "");
  const CommandResult result = run_as_installed(service, commands);
  ASSERT_EQ(result.exit_code, 0) << result.err << result.out;
  EXPECT_NE(result.out.find("acme.ledger: good"), std::string::npos) << result.out;
}

TEST(Guide, AClientThatRetries_StoresARunOnce) {
  ServiceProcess service;
  const std::string commands = block_under(kHttp, "## What a client does on an error");
  ASSERT_NE(commands, "");
  const CommandResult result = run_script(service, service.make_key(), commands);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "201\n200\n");
}

TEST(Guide, RedactionRules_TakeOutWhatTheyName) {
  ServiceProcess::Options options;
  options.yaml = block_under(kRedaction, "# Redaction", "yaml");
  ASSERT_NE(options.yaml, "");
  ServiceProcess service(options);
  const std::string key = service.make_key();
  const std::string run = R"({"runId": "r", "steps": [{"inputSummary":
    {"card": "4111 1111 1111 1111", "to": "ann@example.com", "oldPassword": "hunter22", "customer": {"ssn": "078-05-1120"}}}]})";
  ASSERT_EQ(service.post("/v1/ingest/runs", key, run).status, 201);
  const std::string kept = service.get("/v1/runs/r", key).body;
  for (const char* marker : {"[redacted:card]", "[redacted:email]", "[redacted:password]", "[redacted:ssn]"}) {
    EXPECT_NE(kept.find(marker), std::string::npos) << marker << " is missing in " << kept;
  }
}

}  // namespace
}  // namespace runwarden::test
