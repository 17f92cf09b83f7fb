// The alert rules and the dashboard speak of metrics that the real service has.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "support/postgres.h"
#include "support/service_process.h"

namespace runwarden::test {
namespace {

std::string text_of(const std::string& file) {
  std::ifstream in(std::string(RUNWARDEN_TEST_PACKAGING) + "/" + file);
  EXPECT_TRUE(in) << file;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::set<std::string> metrics_in(const std::string& text) {
  static const std::regex name("runwarden_[a-z_]+");
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) found.insert(at->str());
  return found;
}

// What a service shows that has seen a failure, a silenced alarm, a text to redact and a request it refused.
std::set<std::string> shown_metrics(const std::string& store) {
  ServiceProcess::Options options;
  options.yaml = "redact: {rules: [{kind: email}]}\n";
  options.store = store;
  ServiceProcess service(std::move(options));
  const std::string key = service.make_key();
  const char* refund =
      R"({"userRequestText":"Refund order 8842","success":true,"outcomeSummary":"Your refund has been processed.",
          "steps":[{"stepKind":"tool","stepName":"issue_refund","status":"failed","errorMessage":"502 Bad Gateway"}]})";
  const char* recovered =
      R"({"userRequestText":"Refund order 8842","success":true,"outcomeSummary":"Your refund has been processed.",
          "steps":[{"stepKind":"tool","stepName":"issue_refund","status":"failed","inputSummary":"order 8842","errorMessage":"502"},
                   {"stepKind":"tool","stepName":"issue_refund","status":"ok","inputSummary":"order 8842","outputSummary":"refunded"}]})";
  EXPECT_EQ(service.post("/v1/ingest/runs", key, refund).status, 201);
  EXPECT_EQ(service.post("/v1/ingest/runs", key, recovered).status, 201);
  EXPECT_EQ(service.post("/v1/ingest/runs", key, R"({"userRequestText":"Write to ann@example.com"})").status, 201);
  EXPECT_EQ(service.post("/v1/ingest/runs", key, "[").status, 400);
  return metrics_in(service.request(get_request("/metrics")).body);
}

class ObservedMetrics : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    shown_ = new std::set<std::string>(shown_metrics({}));
    ASSERT_TRUE(PostgresServer::installed()) << "without a database half of the metrics are not there: apt-get install postgresql-15";
    PostgresServer& server = PostgresServer::shared();
    with_database_ = new std::set<std::string>(shown_metrics("driver: postgres, dsn: \"" + server.dsn(server.make_database()) + "\""));
    shown_->insert(with_database_->begin(), with_database_->end());
  }
  static void TearDownTestSuite() {
    delete shown_;
    delete with_database_;
  }

  static void expect_shown(const std::string& file, const std::string& expressions, std::size_t at_least) {
    const auto named = metrics_in(expressions);
    EXPECT_GE(named.size(), at_least) << file;
    for (const std::string& name : named)
      EXPECT_TRUE(shown_->contains(name)) << file << " speaks of " << name << ", which /metrics does not have";
  }

  static std::set<std::string>* shown_;          // with any store
  static std::set<std::string>* with_database_;  // with a database
};
std::set<std::string>* ObservedMetrics::shown_ = nullptr;
std::set<std::string>* ObservedMetrics::with_database_ = nullptr;

TEST_F(ObservedMetrics, AlertRules_SpeakOfMetricsThatThereAre) {
  expect_shown("runwarden.rules.yml", text_of("prometheus/runwarden.rules.yml"), 10);
}

// RunwardenStoreFillsUp and the dashboard divide by it.
TEST_F(ObservedMetrics, WithADatabase_ThereIsNoLimitOfTheStore) {
  EXPECT_TRUE(shown_->contains("runwarden_store_map_bytes"));
  EXPECT_TRUE(with_database_->contains("runwarden_store_used_bytes"));
  EXPECT_FALSE(with_database_->contains("runwarden_store_map_bytes"));
}

// Hosts are chosen in the dashboard by the instances of one metric.
TEST_F(ObservedMetrics, Dashboard_FindsHostsWithAnyStore) {
  const auto dashboard = nlohmann::json::parse(text_of("grafana/runwarden.json"));
  std::set<std::string> named;
  for (const auto& variable : dashboard["templating"]["list"]) {
    if (variable["name"] == "instance") named = metrics_in(variable["query"]["query"].get<std::string>());
  }
  ASSERT_EQ(named.size(), 1u);
  EXPECT_TRUE(with_database_->contains(*named.begin())) << *named.begin();
  EXPECT_TRUE(shown_metrics({}).contains(*named.begin())) << *named.begin();
}

TEST_F(ObservedMetrics, Dashboard_SpeaksOfMetricsThatThereAre_AndShowsThemAll) {
  const auto dashboard = nlohmann::json::parse(text_of("grafana/runwarden.json"));
  std::string expressions;
  std::set<int> ids;
  for (const auto& panel : dashboard["panels"]) {
    EXPECT_TRUE(ids.insert(panel["id"].get<int>()).second) << "two panels " << panel["id"];
    if (panel["type"] == "row") continue;
    EXPECT_FALSE(panel["targets"].empty()) << panel["title"];
    for (const auto& target : panel["targets"]) expressions += target["expr"].get<std::string>() + "\n";
  }
  expect_shown("runwarden.json", expressions, 25);
  const auto named = metrics_in(expressions);
  for (const std::string& name : *shown_) {
    const bool part = name.ends_with("_sum") || name.ends_with("_count") || name.ends_with("_bucket");
    const std::string whole = part ? name.substr(0, name.rfind('_')) : name;
    EXPECT_TRUE(named.contains(whole) || named.contains(whole + "_bucket")) << "no panel shows " << name;
  }
}

}  // namespace
}  // namespace runwarden::test
