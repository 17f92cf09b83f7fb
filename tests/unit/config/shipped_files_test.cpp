// The default configuration, its drop-ins and its schema say the same as the code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "config/loading.h"
#include "config/settings.h"
#include "config/yaml_tree.h"
#include "support/temp_folder.h"

namespace runwarden::config {
namespace {

using Json = nlohmann::json;

std::string text_of(const std::string& name) {
  std::ifstream in(std::string(CONFIG_FOLDER) + "/" + name);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Every value of the settings, for comparing.
std::string dump(const Settings& s) {
  Json all = {
      {s.server.address, s.server.threads, s.server.drain_timeout_ms, s.server.allow_plaintext, s.server.trusted_proxies,
       s.server.canary_interval_ms, s.server.ops_address},
      {s.limits.max_body_bytes, s.limits.max_batch_bytes, s.limits.max_json_depth, s.limits.max_batch_runs, s.limits.requests_per_second,
       s.limits.burst, s.limits.header_timeout_ms, s.limits.body_timeout_ms, s.limits.max_connections,
       s.limits.otlp_max_body_bytes},
      {s.buffer.idle_timeout_ms, s.buffer.max_age_ms, s.buffer.max_events, s.buffer.max_open_runs, s.buffer.otlp_root_grace_ms,
       s.buffer.otlp_idle_timeout_ms},
      {s.store.driver, s.store.path, s.store.map_size_bytes, s.store.commit_interval_ms, s.store.max_commit_records},
      {s.retention.runs_ms, s.retention.failures_ms, s.retention.changes_ms, s.retention.policies_ms, s.retention.idempotency_keys_ms,
       s.retention.max_clock_step_ms},
      {s.second_opinion.enabled, s.second_opinion.url, s.second_opinion.model, s.second_opinion.api_key_file, s.second_opinion.ask,
       s.second_opinion.may_confirm, s.second_opinion.may_silence, s.second_opinion.timeout_ms, s.second_opinion.max_in_flight,
       s.second_opinion.max_input_tokens, s.second_opinion.allow, s.second_opinion.requests_per_hour, s.second_opinion.tokens_per_day},
      {s.redact.detectors_see, s.redact.rules.size()},
      {s.detectors.deadline_ms, s.detectors.search_path, s.detectors.quarantine_failures, s.detectors.quarantine_window_ms},
      {s.log.level, s.log.format}};
  return all.dump();
}

Settings loaded(const std::filesystem::path& file) {
  LoadOptions options;
  options.path = file;
  options.named = !file.empty();
  auto settings = load(options);
  if (!settings.ok()) throw std::runtime_error(settings.error().detail);
  return std::move(*settings);
}

void collect_keys(const Json& schema, const std::string& path, std::set<std::string>& keys) {
  if (!path.empty()) keys.insert(path);
  if (!schema.contains("properties")) return;
  for (const auto& [name, part] : schema.at("properties").items()) collect_keys(part, path.empty() ? name : path + "." + name, keys);
}

void collect_keys(const Node& node, const std::string& path, std::set<std::string>& keys) {
  if (!path.empty()) keys.insert(path);
  for (const Member& member : node.members) collect_keys(*member.value, path.empty() ? member.key : path + "." + member.key, keys);
}

Json defaults_of(const Json& schema) {
  if (!schema.contains("properties")) return schema.at("default");
  Json values = Json::object();
  for (const auto& [name, part] : schema.at("properties").items()) values[name] = defaults_of(part);
  return values;
}

std::set<std::string> known() {
  const auto keys = known_keys();
  return {keys.begin(), keys.end()};
}

TEST(ShippedConfig, ShowsEveryKeyThereIs) {
  std::vector<Fault> faults;
  const NodePtr root = parse_yaml(text_of("runwarden.yaml"), "runwarden.yaml", faults);
  ASSERT_TRUE(root && faults.empty());
  std::set<std::string> keys;
  collect_keys(*root, "", keys);
  EXPECT_EQ(keys, known());
}

TEST(ShippedConfig, HasTheBuiltInDefaults) {
  const Settings shipped = loaded(std::string(CONFIG_FOLDER) + "/runwarden.yaml");
  EXPECT_EQ(dump(shipped), dump(loaded({})));
}

TEST(ShippedConfig, EnablesTheFive) {
  const Settings shipped = loaded(std::string(CONFIG_FOLDER) + "/runwarden.yaml");
  std::vector<std::string> entries;
  for (const auto& entry : shipped.detectors.entries) entries.push_back(entry.key + " " + entry.library);
  EXPECT_THAT(entries, testing::ElementsAre("context_overflow context_overflow.so", "expensive_loop expensive_loop.so",
                                            "false_success false_success.so", "missing_tool_call missing_tool_call.so",
                                            "schema_ghost schema_ghost.so"));
}

TEST(Schema, KnowsEveryKeyThereIs) {
  std::set<std::string> keys;
  collect_keys(Json::parse(text_of("runwarden.schema.json")), "", keys);
  EXPECT_EQ(keys, known());
}

TEST(Schema, HasTheBuiltInDefaults) {
  Json values = defaults_of(Json::parse(text_of("runwarden.schema.json")));
  const test::TempFolder folder;
  const std::string file = folder.write("runwarden.yaml", values.dump());
  EXPECT_EQ(dump(loaded(file)), dump(loaded({})));
}

TEST(Schema, KnowsEveryKeyOfADetectorAndATenant) {
  const Json schema = Json::parse(text_of("runwarden.schema.json"));
  std::set<std::string> detector;
  for (const auto& [name, part] : schema.at("/definitions/detector/properties"_json_pointer).items()) detector.insert(name);
  std::set<std::string> tenant;
  for (const auto& [name, part] : schema.at("/definitions/tenant/properties"_json_pointer).items()) tenant.insert(name);
  const test::TempFolder folder;
  const std::string file = folder.write("c.yaml", "detectors: {enabled: [{key: a, zzzzzz: 1}], tenants: {t: {zzzzzz: 1}}}\n");
  LoadOptions options;
  options.path = file;
  options.named = true;
  const auto settings = load(options);
  ASSERT_FALSE(settings.ok());
  EXPECT_THAT(settings.error().detail, testing::HasSubstr("the known ones are key, library, mode, optional, off, settings\n"));
  EXPECT_THAT(settings.error().detail, testing::EndsWith("the known ones are disabled, settings, mode"));
  EXPECT_THAT(detector, testing::UnorderedElementsAre("key", "library", "mode", "optional", "off", "settings"));
  EXPECT_THAT(tenant, testing::UnorderedElementsAre("disabled", "mode", "settings"));
}

}  // namespace
}  // namespace runwarden::config
