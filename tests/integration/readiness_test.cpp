// What /readyz says, and that the run it sends through the service leaves no trace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/files.h"
#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

ServiceProcess::Options with(const std::string& server, const std::string& yaml = {}, const std::string& store = {}) {
  ServiceProcess::Options options;
  options.server = server;
  options.yaml = yaml;
  options.store = store;
  return options;
}

HttpAnswer readyz(const ServiceProcess& service) {
  return service.request(get_request("/readyz"));
}

std::string metrics(const ServiceProcess& service) {
  return service.request(get_request("/metrics")).body;
}

TEST(Readiness, TheCanaryIsInNoListCountOrMetric) {
  ServiceProcess service(with("canary_interval: 1ms"));
  const std::string key = service.make_key();
  for (int i = 0; i < 5; ++i) {
    const HttpAnswer ready = readyz(service);
    ASSERT_EQ(ready.status, 200) << ready.body;
    EXPECT_EQ(json::parse(ready.body), json::parse(R"({"status":"ready","reasons":[],"quarantined":[],"notLoaded":[],"warnings":[]})"));
  }
  for (const char* list : {"/v1/runs", "/v1/failures", "/v1/changes", "/v1/policies"}) {
    EXPECT_EQ(json::parse(service.get(list, key).body)["items"].size(), 0u) << list;
  }
  const std::string page = metrics(service);
  EXPECT_THAT(page, Not(HasSubstr("runwarden_detector_runs_total{")));
  EXPECT_THAT(page, HasSubstr("runwarden_store_batch_records_count 0"));
  EXPECT_EQ(json::parse(service.cli({"keys", "list", "--json"}).out).size(), 1u) << "of no tenant of its own";
  const CommandResult nameless = service.cli({"keys", "create", "--tenant", ""});
  EXPECT_NE(nameless.exit_code, 0) << "nobody can have a key of the canary's tenant";

  // What was found in the runs of others is counted by those alone.
  service.post("/v1/ingest/runs", key, R"({"runId":"mine"})");
  readyz(service);
  EXPECT_EQ(json::parse(service.get("/v1/runs", key).body)["items"].size(), 1u);
  EXPECT_THAT(metrics(service), HasSubstr("runwarden_store_batch_records_count 1"));
}

double gauge(const std::string& page, const std::string& name) {
  const auto at = page.find("\n" + name + " ");
  return at == std::string::npos ? -1 : std::stod(page.substr(at + name.size() + 2));
}

TEST(Readiness, ManyCanariesDoNotGrowTheStore_AndManyProbesShareOne) {
  ServiceProcess service(with("canary_interval: 1ms"));
  for (int i = 0; i < 20; ++i) readyz(service);
  const double before = gauge(metrics(service), "runwarden_store_used_bytes");
  std::vector<std::thread> clients;
  std::atomic<int> ready{0};
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&] {
      for (int n = 0; n < 25; ++n) ready += readyz(service).status == 200 ? 1 : 0;
    });
  }
  for (auto& client : clients) client.join();
  EXPECT_EQ(ready, 200);
  EXPECT_LE(gauge(metrics(service), "runwarden_store_used_bytes"), before + 16 * 4096);
}

TEST(Readiness, AnOptionalDetectorThatIsMissing_IsNamedWith200) {
  const std::string yaml = "detectors:\n  search_path: [\"" + plugin_folder() + "\"]\n  include: []\n  enabled:\n" +
                           "    - {key: false_success}\n    - {key: nowhere, optional: true}\n";
  ServiceProcess service(with("", yaml));
  const HttpAnswer ready = readyz(service);
  EXPECT_EQ(ready.status, 200) << ready.body;
  EXPECT_EQ(json::parse(ready.body)["notLoaded"], json::array({"nowhere"}));
  const json reports = json::parse(service.post("/v1/ingest/runs", service.make_key(), R"({"runId":"r"})").body)["detectors"];
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[1]["key"], "nowhere");
  EXPECT_EQ(reports[1]["status"], "not_evaluable");
  EXPECT_THAT(reports[1]["reason"].get<std::string>(), HasSubstr("could not be loaded"));
}

TEST(Readiness, AMissingDetectorThatATenantDisables_IsNotReportedToIt) {
  const std::string yaml = "detectors:\n  search_path: [\"" + plugin_folder() + "\"]\n  include: []\n  enabled:\n" +
                           "    - {key: false_success}\n    - {key: nowhere, optional: true}\n  tenants: {acme: {disabled: [nowhere]}}\n";
  ServiceProcess service(with("", yaml));
  const std::string key = service.make_key("acme");
  EXPECT_EQ(json::parse(service.post("/v1/ingest/runs", key, R"({"runId":"r"})").body)["detectors"].size(), 1u);
  EXPECT_EQ(json::parse(service.get("/v1/detectors", key).body)["items"][1]["enabled"], false);
}

TEST(Readiness, ADetectorThatIsSwitchedOff_IsListedAndNotMissed) {
  const std::string yaml = "detectors:\n  search_path: [\"" + plugin_folder() + "\"]\n  include: []\n  enabled:\n" +
                           "    - {key: false_success}\n    - {key: schema_ghost, off: true, settings: {a: 1}}\n";
  ServiceProcess service(with("", yaml));
  EXPECT_EQ(json::parse(readyz(service).body)["notLoaded"], json::array());
  const json items = json::parse(service.get("/v1/detectors", service.make_key()).body)["items"];
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0]["enabled"], true);
  EXPECT_EQ(items[1]["key"], "schema_ghost");
  EXPECT_EQ(items[1]["enabled"], false);
  EXPECT_EQ(items[1]["loaded"], false);
  EXPECT_EQ(items[1]["settings"], json::parse(R"({"a":1})"));
  EXPECT_THAT(service.cli({"detectors", "list", "--json"}).out, HasSubstr(R"("key":"schema_ghost")"));
}

TEST(Readiness, ADetectorThatFailsOnTheCanary_Is503_UntilItIsQuarantined) {
  const std::string yaml = "detectors:\n  quarantine: {failures: 2, window: 10m}\n  search_path: [\"" RUNWARDEN_TEST_ZOO "\", \"" +
                           plugin_folder() +
                           "\"]\n  include: []\n  enabled:\n    - {key: false_success}\n    - {key: zoo, library: returns_error.so}\n";
  ServiceProcess service(with("canary_interval: 1ms", yaml));
  const HttpAnswer first = readyz(service);
  EXPECT_EQ(first.status, 503) << first.body;
  EXPECT_EQ(json::parse(first.body)["code"], "unavailable");
  EXPECT_THAT(json::parse(first.body)["reasons"][0], HasSubstr("\"zoo\" answered error"));
  HttpAnswer last = first;
  for (int probes = 0; last.status == 503 && probes < 10'000; ++probes) last = readyz(service);
  EXPECT_EQ(last.status, 200) << last.body;
  EXPECT_EQ(json::parse(last.body)["quarantined"], json::array({"zoo"}));
}

TEST(Readiness, ADetectorThatNeverReturns_Is503_UntilItIsQuarantined) {
  const std::string yaml = "detectors:\n  search_path: [\"" RUNWARDEN_TEST_ZOO "\", \"" + plugin_folder() +
                           "\"]\n  include: []\n  enabled:\n    - {key: false_success}\n    - {key: zoo, library: never_returns.so}\n";
  ServiceProcess service(with("canary_interval: 1ms", yaml));
  const HttpAnswer first = readyz(service);
  EXPECT_EQ(first.status, 503) << first.body;
  EXPECT_THAT(json::parse(first.body)["reasons"][0], HasSubstr("\"zoo\" answered timeout"));
  HttpAnswer last = first;
  for (int probes = 0; last.status == 503 && probes < 10'000; ++probes) last = readyz(service);
  EXPECT_EQ(last.status, 200) << last.body;
  EXPECT_EQ(json::parse(last.body)["quarantined"], json::array({"zoo"}));
}

TEST(Readiness, ItsOutcomeIsToldForTheInterval_AndForgottenAtAReload) {
  const std::string yaml = "detectors:\n  quarantine: {failures: 1000, window: 10m}\n  search_path: [\"" RUNWARDEN_TEST_ZOO
                           "\"]\n  include: []\n  enabled:\n    - {key: zoo, library: good.so}\n";
  ServiceProcess service(with("canary_interval: 1h", yaml));
  ASSERT_EQ(readyz(service).status, 200);
  std::string config = read_file(service.config_path());
  config.replace(config.find("good.so"), 7, "returns_error.so");
  std::ofstream(service.config_path()) << config;
  ASSERT_EQ(readyz(service).status, 200) << "as it was told before";
  service.signal(SIGHUP);
  ASSERT_TRUE(service.wait_for_log("\"reloaded\"")) << service.log_text();
  EXPECT_EQ(readyz(service).status, 503);
}

}  // namespace
}  // namespace runwarden::test
