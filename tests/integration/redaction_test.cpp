// What the operator has redacted is nowhere: not in answers, reads, lists, the log, metrics or the store's files.
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/files.h"
#include "support/redaction_table.h"
#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;

constexpr const char* kRules = R"(redact:
  rules:
    - kind: card
    - kind: email
    - {kind: token, name: credential}
    - {key: "*password*", name: password}
    - {pointer: /steps/*/inputSummary/ssn, name: ssn}
)";

const std::vector<std::string> kSecrets{"4111 1111 1111 1111", "4111111111111111", "zoe.quill@example.org",
                                        "qx7-Hunter-99",       "078-05-1120",      "sk-live-9a8b7c6d5e4f3a2b1c0d"};

void expect_no_secret(const std::string& text, const std::string& where) {
  for (const std::string& secret : kSecrets) EXPECT_EQ(text.find(secret), std::string::npos) << secret << " in " << where;
}

ServiceProcess::Options with(const std::string& yaml) {
  return {.yaml = yaml, .server = {}, .limits = "{}", .store = {}, .binary = {}, .environment = {}};
}

// A failed charge that the agent calls a success: its finding quotes the error, and the error the client's secrets.
json failed_charge(const std::string& run_id) {
  return {{"runId", run_id},
          {"userRequestText", "Charge 4111 1111 1111 1111 and write to zoe.quill@example.org"},
          {"success", true},
          {"outcomeSummary", "Your refund has been processed, zoe.quill@example.org."},
          {"extra", {{"userPassword", "qx7-Hunter-99"}, {"auth", "Bearer sk-live-9a8b7c6d5e4f3a2b1c0d"}}},
          {"steps",
           {{{"stepKind", "tool"},
             {"stepName", "issue_refund"},
             {"status", "failed"},
             {"inputSummary", R"({"card":4111111111111111,"ssn":"078-05-1120","password":"qx7-Hunter-99"})"},
             {"errorMessage", "502: no account 078-05-1120 / zoe.quill@example.org with qx7-Hunter-99 for 4111111111111111"}}}}};
}

std::string idempotent(const std::string& key) {
  return "Idempotency-Key: " + key + "\r\n";
}

class Redaction : public testing::Test {
 protected:
  Redaction() : service_(with(kRules)), key_(service_.make_key()) {}

  HttpAnswer post(const std::string& path, const json& body, const std::string& fields = {}) { return post(path, body.dump(), fields); }
  HttpAnswer post(const std::string& path, const std::string& body, const std::string& fields) {
    HttpAnswer answer = service_.post(path, key_, body, fields);
    expect_no_secret(answer.body, "the answer of " + path);
    return answer;
  }
  std::string get(const std::string& path) {
    const HttpAnswer answer = service_.get(path, key_);
    EXPECT_EQ(answer.status, 200) << path << answer.body;
    expect_no_secret(answer.body, path);
    return answer.body;
  }

  void expect_no_secret_kept() {
    EXPECT_EQ(service_.stop(), 0);
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(service_.folder() / "data")) {
      if (!entry.is_regular_file()) continue;
      ++files;
      expect_no_secret(read_file(entry.path()), entry.path());
    }
    EXPECT_GT(files, 0u);
    EXPECT_NE(read_file(service_.folder() / "data" / "data.mdb").find("[redacted:"), std::string::npos) << "what is searched is searchable";
    expect_no_secret(service_.log_text(), "the log");
  }

  ServiceProcess service_;
  std::string key_;
};

TEST_F(Redaction, OfARunNothingIsKeptThatTheRulesName) {
  const json run = failed_charge("r1");
  const HttpAnswer created = post("/v1/ingest/runs", run, idempotent("k1"));
  ASSERT_EQ(created.status, 201) << created.body;
  const json answer = json::parse(created.body);
  ASSERT_EQ(answer["failures"].size(), 1u) << created.body;
  const json& failure = answer["failures"][0];
  EXPECT_EQ(failure["detectorKey"], "false_success");
  EXPECT_NE(failure["summary"].get<std::string>().find("[redacted:email]"), std::string::npos) << failure;
  EXPECT_NE(failure["fingerprint"].get<std::string>().find("redacted"), std::string::npos) << failure;

  const json read = json::parse(get("/v1/runs/r1"));
  EXPECT_EQ(read["userRequestText"], "Charge [redacted:card] and write to [redacted:email]");
  EXPECT_EQ(read["extra"]["userPassword"], "[redacted:password]");
  EXPECT_EQ(read["extra"]["auth"], "Bearer [redacted:credential]");
  EXPECT_EQ(read["steps"][0]["inputSummary"], R"({"card":"[redacted:card]","ssn":"[redacted:ssn]","password":"[redacted:password]"})");
  const json explained = json::parse(get("/v1/runs/r1/explain"))["explanation"];
  ASSERT_EQ(explained["actions"].size(), 1u) << explained;
  EXPECT_NE(explained["actions"][0]["call"].get<std::string>().find("[redacted:card]"), std::string::npos) << explained;
  const std::string id = failure["failureId"];
  for (const std::string path : {"/v1/runs", "/v1/failures", "/v1/failures/%", "/v1/failures/%/investigation"}) {
    const auto at = path.find('%');
    get(at == std::string::npos ? path : path.substr(0, at) + id + path.substr(at + 1));
  }

  // What was sent is known again though it is not kept: by its key, and by its runId.
  const HttpAnswer by_key = post("/v1/ingest/runs", run, idempotent("k1"));
  EXPECT_EQ(by_key.status, 200);
  EXPECT_EQ(by_key.body, created.body);
  EXPECT_EQ(post("/v1/ingest/runs", run).status, 200);
  json other = run;
  other["extra"]["userPassword"] = "another";
  EXPECT_EQ(post("/v1/ingest/runs", other).status, 409);
  EXPECT_EQ(post("/v1/ingest/runs", other, idempotent("k1")).status, 409);
  expect_no_secret_kept();
}

TEST_F(Redaction, OfABatchAnAnalysisAndTheMetricsAlike) {
  const std::string lines = failed_charge("b1").dump() + "\n" + failed_charge("b2").dump() + "\n";
  const std::string request = "POST /v1/ingest/runs HTTP/1.1\r\nHost: t\r\nContent-Type: application/x-ndjson\r\nAuthorization: Bearer " +
                              key_ + "\r\nContent-Length: " + std::to_string(lines.size()) + "\r\n\r\n" + lines;
  const HttpAnswer batch = service_.request(request);
  ASSERT_EQ(json::parse(batch.body)["accepted"], 2) << batch.body;
  expect_no_secret(batch.body, "the batch's answer");
  const HttpAnswer again = service_.request(request);
  EXPECT_EQ(json::parse(again.body)["results"][1]["status"], 200);
  get("/v1/runs/b2");

  const HttpAnswer analysis = post("/v1/analyze", failed_charge("a1"));
  EXPECT_EQ(analysis.status, 200);
  EXPECT_EQ(json::parse(analysis.body)["failures"].size(), 1u);

  const std::string metrics = service_.request(get_request("/metrics")).body;
  expect_no_secret(metrics, "the metrics");
  EXPECT_NE(metrics.find("runwarden_redactions_total{rule=\"ssn\"}"), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("runwarden_redactions_total{rule=\"password\"}"), std::string::npos) << metrics;
  expect_no_secret_kept();
}

TEST_F(Redaction, OfStreamedEventsFromTheFirstOn) {
  const json tool{{"type", "tool_call"},
                  {"eventId", "e1"},
                  {"name", "issue_refund"},
                  {"status", "failed"},
                  {"input", {{"ssn", "078-05-1120"}, {"password", "qx7-Hunter-99"}}},
                  {"error", "502 for zoe.quill@example.org"}};
  const json first{{"runId", "s1"}, {"events", {{{"type", "user_request"}, {"text", "Charge 4111 1111 1111 1111"}}, tool}}};
  ASSERT_EQ(post("/v1/ingest/events", first, idempotent("e")).status, 202);
  EXPECT_EQ(post("/v1/ingest/events", first, idempotent("e")).status, 200);
  const json open = json::parse(get("/v1/runs/s1"));
  EXPECT_EQ(open["userRequestText"], "Charge [redacted:card]");
  EXPECT_EQ(open["steps"][0]["inputSummary"], R"({"password":"[redacted:password]","ssn":"[redacted:ssn]"})");
  service_.kill_hard();
  expect_no_secret(read_file(service_.folder() / "data" / "data.mdb"), "the store with an open run");
  service_.start();

  const json last{{"runId", "s1"},
                  {"events", {{{"type", "model_output"}, {"text", "Your refund has been processed, zoe.quill@example.org."}}}},
                  {"final", true}};
  const HttpAnswer resolved = post("/v1/ingest/events", last);
  ASSERT_EQ(resolved.status, 201) << resolved.body;
  ASSERT_EQ(json::parse(resolved.body)["failures"].size(), 1u) << resolved.body;
  get("/v1/runs/s1");
  get("/v1/failures");
  expect_no_secret_kept();
}

TEST_F(Redaction, OfChangesAndPolicies) {
  const json change{{"kind", "code"}, {"summary", "rotated qx7 for zoe.quill@example.org"}, {"diff", {{"db_password", "qx7-Hunter-99"}}}};
  const HttpAnswer changed = post("/v1/ingest/changes", change, idempotent("c"));
  ASSERT_EQ(changed.status, 201) << changed.body;
  EXPECT_EQ(json::parse(changed.body)["diff"]["db_password"], "[redacted:password]");
  EXPECT_EQ(post("/v1/ingest/changes", change, idempotent("c")).status, 200);
  const json policy{
      {"policy", "refunds"}, {"content", {{"escalate", "zoe.quill@example.org"}, {"limit", 5}}}, {"author", "zoe.quill@example.org"}};
  const HttpAnswer made = post("/v1/ingest/policies", policy, idempotent("p"));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(json::parse(made.body)["content"]["escalate"], "[redacted:email]");
  EXPECT_EQ(json::parse(made.body)["author"], "[redacted:email]");
  EXPECT_EQ(post("/v1/ingest/policies", policy, idempotent("p")).body, made.body);
  get("/v1/changes");
  get("/v1/policies");
  get("/v1/policies/refunds");
  expect_no_secret_kept();
}

TEST_F(Redaction, ErrorAnswersAndTheLogQuoteNothingOfIt) {
  const std::string both = "4111 1111 1111 1111 of zoe.quill@example.org";
  const auto refused = [&](const std::string& path, const json& body, int status) {
    const HttpAnswer answer = post(path, body);
    EXPECT_EQ(answer.status, status) << path << answer.body;
    EXPECT_NE(answer.body.find("[redacted:"), std::string::npos) << path << answer.body;
    return answer.body;
  };
  const json bad_run{{"runId", "bad"}, {"startedAt", both}, {"steps", {{{"stepKind", "zoe.quill@example.org"}}}}};
  refused("/v1/ingest/runs", bad_run, 422);
  refused("/v1/analyze", bad_run, 422);
  refused("/v1/ingest/changes", {{"kind", both}}, 422);
  refused("/v1/ingest/policies", {{"policy", "p"}, {"content", 1}, {"at", both}}, 422);
  refused("/v1/ingest/events", {{"runId", "s"}, {"events", {{{"type", "user_request"}, {"at", both}}}}}, 422);
  // A quotation is cut after 64 bytes, in the middle of the number; and it may be a value that only its place tells to be a secret.
  const std::string cut = refused("/v1/ingest/runs", {{"startedAt", std::string(50, 'x') + " 4111 1111 1111 1111"}}, 422);
  EXPECT_EQ(cut.find("4111"), std::string::npos) << cut;
  refused("/v1/ingest/runs", {{"startedAt", "qx7-Hunter-99"}, {"extra", {{"password", "qx7-Hunter-99"}}}}, 422);

  const std::string lines = bad_run.dump() + "\n" + json{{"runId", "good"}, {"userRequestText", both}}.dump() + "\n";
  const HttpAnswer batch =
      service_.request("POST /v1/ingest/runs HTTP/1.1\r\nHost: t\r\nContent-Type: application/x-ndjson\r\nAuthorization: Bearer " + key_ +
                       "\r\nContent-Length: " + std::to_string(lines.size()) + "\r\n\r\n" + lines);
  EXPECT_EQ(json::parse(batch.body)["accepted"], 1) << batch.body;
  EXPECT_NE(batch.body.find("[redacted:card]"), std::string::npos) << batch.body;
  expect_no_secret(batch.body, "the batch's answer");

  const std::vector<std::string> bad_queries{"/v1/failures?severity=zoe.quill%40example.org",
                                             "/v1/failures?severity=" + std::string(69, 'x') + "%204111111111111111",
                                             "/v1/runs?zoe.quill@example.org=1&zoe.quill@example.org=1"};
  for (const std::string& path : bad_queries) {
    const HttpAnswer answer = service_.get(path, key_);
    EXPECT_EQ(answer.status, 400) << path;
    EXPECT_NE(answer.body.find("[redacted:"), std::string::npos) << answer.body;
    expect_no_secret(answer.body, path);
    EXPECT_EQ(answer.body.find("4111111111"), std::string::npos) << answer.body;
  }
  const HttpAnswer type =
      service_.request("POST /v1/ingest/runs HTTP/1.1\r\nHost: t\r\nContent-Type: zoe.quill@example.org\r\nAuthorization: Bearer " + key_ +
                       "\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(type.status, 415);
  expect_no_secret(type.body, "the answer to a media type");
  EXPECT_EQ(service_.get("/v1/runs/4111111111111111", key_).status, 404);
  EXPECT_EQ(service_.get("/v1/runs/zoe.quill%40example.org", key_).status, 404);
  ASSERT_TRUE(service_.wait_for_log("/v1/runs/[redacted:email]")) << service_.log_text();
  EXPECT_NE(service_.log_text().find("/v1/runs/[redacted:card]"), std::string::npos) << service_.log_text();
  expect_no_secret_kept();
}

// Three charges of three cards are no loop; with the numbers gone they look like one.
json three_cards(const std::string& run_id) {
  json run{{"runId", run_id}, {"steps", json::array()}};
  for (const char* card : {"4111111111111111", "5555555555554444", "378282246310005"}) {
    run["steps"].push_back({{"stepKind", "tool"}, {"stepName", "charge"}, {"inputSummary", card}, {"outputSummary", "declined"}});
  }
  return run;
}

TEST(RedactionSettings, DetectorsSeeWhatWasSent_UnlessTheyAreSetToSeeWhatIsKept) {
  ServiceProcess before(with("redact: {rules: [{kind: card}]}\n"));
  const std::string key = before.make_key();
  EXPECT_EQ(json::parse(before.post("/v1/ingest/runs", key, three_cards("r").dump()).body)["failures"].size(), 0u);
  ServiceProcess after(with("redact: {detectors_see: after, rules: [{kind: card}]}\n"));
  const json failures = json::parse(after.post("/v1/ingest/runs", after.make_key(), three_cards("r").dump()).body)["failures"];
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0]["detectorKey"], "expensive_loop");
}

TEST(RedactionSettings, AReloadTakesUpTheRules_AndAFaultyFileChangesNothing) {
  ServiceProcess service(with("redact: {rules: []}\n"));
  const std::string key = service.make_key();
  const auto text_of = [&](const std::string& id) {
    service.post("/v1/ingest/runs", key, json{{"runId", id}, {"userRequestText", "zoe.quill@example.org"}}.dump());
    return json::parse(service.get("/v1/runs/" + id, key).body)["userRequestText"];
  };
  EXPECT_EQ(text_of("a"), "zoe.quill@example.org");
  const auto rewrite = [&](const std::string& from, const std::string& to) {
    std::string config = read_file(service.config_path());
    config.replace(config.find(from), from.size(), to);
    std::ofstream(service.config_path()) << config;
    service.signal(SIGHUP);
  };
  rewrite("rules: []", "rules: [{kind: email}]");
  ASSERT_TRUE(service.wait_for_log("\"reloaded\"")) << service.log_text();
  EXPECT_EQ(text_of("b"), "[redacted:email]");
  rewrite("[{kind: email}]", "[{kind: emails}]");
  ASSERT_TRUE(service.wait_for_log("reload_refused")) << service.log_text();
  EXPECT_EQ(text_of("c"), "[redacted:email]");
}

// What redaction-table.md promises to catch, each as a step of a run.
TEST(RedactionTable, OverHttpEachRowIsAsItSays) {
  std::map<std::string, std::vector<RedactionRow>> by_rule;
  for (const RedactionRow& row : redaction_rows(RUNWARDEN_TEST_REDACTION_TABLE)) {
    if (row.section == "Caught") by_rule["{" + row.by + ": \"" + row.what + "\"}"].push_back(row);
  }
  ASSERT_GT(by_rule.size(), 5u);
  for (const auto& [rule, rows] : by_rule) {
    ServiceProcess service(with("redact: {rules: [" + rule + "]}\n"));
    const std::string key = service.make_key();
    json run{{"runId", "r"}, {"steps", json::array()}};
    for (const RedactionRow& row : rows)
      run["steps"].push_back({{"stepKind", "tool"}, {"stepName", "look_up"}, {"outputSummary", row.text}});
    EXPECT_EQ(service.post("/v1/ingest/runs", key, run.dump()).status, 201) << rule;
    const json kept = json::parse(service.get("/v1/runs/r", key).body);
    for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(kept["steps"][i]["outputSummary"], rows[i].becomes) << rows[i].place;
  }
}

TEST(RedactionSettings, TheCommandLineAnalysesAlike) {
  ServiceProcess service(with(kRules));
  const CommandResult told = service.cli({"analyze", "--ndjson"}, failed_charge("x").dump() + "\n");
  EXPECT_EQ(told.exit_code, 0) << told.err;
  EXPECT_EQ(json::parse(told.out)["failures"].size(), 1u);
  EXPECT_NE(told.out.find("[redacted:email]"), std::string::npos);
  expect_no_secret(told.out, "the analysis");
}

}  // namespace
}  // namespace runwarden::test
