// Detectors on trial: what they find is listed apart and stands nowhere else; and what every failure says of its detector. Over real HTTP.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "support/failing_run.h"
#include "support/files.h"
#include "support/get_json.h"
#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;

std::string detectors(const std::string& entries, const std::string& tenants = "{}") {
  return "detectors: {deadline: 10s, search_path: [\"" + plugin_folder() + "\"], include: [], tenants: " + tenants + ", enabled: [" +
         entries + "]}\n";
}

std::string lines_request(const std::string& key, const std::string& body) {
  return "POST /v1/ingest/runs HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-ndjson\r\nAuthorization: Bearer " + key +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

class Shadow : public testing::Test {
 protected:
  explicit Shadow(std::string yaml = detectors("{key: false_success, mode: shadow}, {key: expensive_loop}")) : yaml_(std::move(yaml)) {
    ServiceProcess::Options options;
    options.yaml = yaml_;
    service_.emplace(std::move(options));
    key_ = service_->make_key("acme");
  }
  json get(const std::string& path) { return get_json(*service_, path, key_); }
  json post(const std::string& path, const std::string& body) {
    const HttpAnswer answer = service_->post(path, key_, body);
    EXPECT_LT(answer.status, 300) << path << " " << answer.body;
    return json::parse(answer.body);
  }
  // SIGHUP with other detectors; waits until they are in force.
  void reload(const std::string& yaml) {
    std::string config = read_file(service_->config_path());
    const auto at = config.find(yaml_);
    ASSERT_NE(at, std::string::npos);
    std::ofstream(service_->config_path()) << config.replace(at, yaml_.size(), yaml);
    yaml_ = yaml;
    service_->signal(SIGHUP);
    ASSERT_TRUE(service_->wait_for_log("\"reloaded\"", 30'000)) << service_->log_text();
  }

  std::string yaml_;
  std::optional<ServiceProcess> service_;
  std::string key_;
};

void expect_silence(const json& answer) {
  EXPECT_EQ(answer["failures"], json::array());
  ASSERT_EQ(answer["detectors"].size(), 1u) << answer;
  EXPECT_EQ(answer["detectors"][0]["key"], "expensive_loop");
  EXPECT_EQ(answer.dump().find("false_success"), std::string::npos) << answer;
}

TEST_F(Shadow, WhatItFinds_IsInItsOwnListAndNowhereElse) {
  expect_silence(post("/v1/ingest/runs", failing_run("r1")));
  expect_silence(get("/v1/runs/r1"));
  expect_silence(post("/v1/analyze", failing_run("r1")));
  expect_silence(get("/v1/runs/r1/explain"));
  EXPECT_EQ(get("/v1/failures")["items"], json::array());
  EXPECT_EQ(get("/v1/failures?mode=live")["items"], json::array());
  EXPECT_EQ(get("/v1/runs?detector=false_success")["items"], json::array());
  EXPECT_EQ(get("/v1/runs?minScore=1")["items"], json::array());

  const json found = get("/v1/failures?mode=shadow")["items"];
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["detectorKey"], "false_success");
  EXPECT_EQ(found[0]["mode"], "shadow");
  EXPECT_EQ(found[0]["runId"], "r1");
  EXPECT_EQ(found[0]["suspicionScore"], 95);
  const std::string id = found[0]["failureId"];
  EXPECT_EQ(get("/v1/failures/" + id), found[0]);
  EXPECT_EQ(service_->get("/v1/failures/" + id + "/investigation", key_).status, 404) << "it is in no count";
  EXPECT_EQ(service_->get("/v1/failures/" + id, service_->make_key("globex")).status, 404);
}

TEST_F(Shadow, TheList_TakesTheSameFilters) {
  post("/v1/ingest/runs", failing_run("r1"));
  post("/v1/ingest/runs", failing_run("r2"));
  const std::string list = "/v1/failures?mode=shadow";
  EXPECT_EQ(get(list + "&severity=high")["items"].size(), 2u);
  EXPECT_EQ(get(list + "&severity=low")["items"].size(), 0u);
  EXPECT_EQ(get(list + "&minScore=96")["items"].size(), 0u);
  EXPECT_EQ(get(list + "&detector=expensive_loop")["items"].size(), 0u);
  EXPECT_EQ(get(list + "&fingerprint=false_success:issue_refund:%23%20bad%20gateway")["items"].size(), 2u);
  EXPECT_EQ(get(list + "&fingerprint=other")["items"].size(), 0u);
  const json page = get(list + "&limit=1");
  EXPECT_EQ(page["items"][0]["runId"], "r2");
  const std::string cursor = page["nextCursor"];
  EXPECT_EQ(get(list + "&limit=1&cursor=" + cursor)["items"][0]["runId"], "r1");
  EXPECT_EQ(service_->get("/v1/failures?limit=1&cursor=" + cursor, key_).status, 400) << "a cursor of the list of shadows";
  EXPECT_EQ(service_->get("/v1/failures?mode=quiet", key_).status, 400);
}

TEST_F(Shadow, BatchesAndEvents_AreAsSilent) {
  const HttpAnswer batch = service_->request(lines_request(key_, failing_run("b1") + "\n" + failing_run("b2") + "\n"));
  ASSERT_EQ(batch.status, 200) << batch.body;
  EXPECT_EQ(batch.body.find("false_success"), std::string::npos);
  const std::string call = R"({"type":"tool_call","eventId":"e1","name":"issue_refund","status":"failed","error":"502 Bad Gateway"})";
  const std::string said = R"({"type":"model_output","eventId":"e2","text":"Your refund has been processed."})";
  expect_silence(post("/v1/ingest/events", R"({"runId":"e","final":true,"events":[)" + call + "," + said + "]}"));
  EXPECT_EQ(get("/v1/failures?mode=shadow")["items"].size(), 3u);
  // The next revision's take the place of the previous's, here too.
  post("/v1/ingest/events", R"({"runId":"e","final":true,"events":[{"type":"user_request","eventId":"e3","text":"Thanks"}]})");
  const json found = get("/v1/failures?mode=shadow")["items"];
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0]["runId"], "e");
  EXPECT_EQ(found[0]["revision"], 2);
  EXPECT_EQ(get("/v1/failures")["items"], json::array());
}

TEST_F(Shadow, Metrics_CountItApart) {
  post("/v1/ingest/runs", failing_run("r1"));
  const std::string page = service_->request(get_request("/metrics")).body;
  for (const char* line : {"runwarden_detector_runs_total{detector=\"false_success\",mode=\"shadow\",status=\"fired\"} 1",
                           "runwarden_detector_failures_total{detector=\"false_success\",mode=\"shadow\"} 1",
                           "runwarden_detector_runs_total{detector=\"expensive_loop\",status=\"clean\"} 1",
                           "runwarden_detector_duration_seconds_count{detector=\"false_success\",mode=\"shadow\"} 1"}) {
    EXPECT_NE(page.find(line), std::string::npos) << line << "\n" << page;
  }
  EXPECT_EQ(page.find("runwarden_detector_failures_total{detector=\"false_success\"}"), std::string::npos);
}

TEST_F(Shadow, WhenItIsMadeLiveByAReload_ItSpeaks) {
  post("/v1/ingest/runs", failing_run("before"));
  const auto mode_of = [&](const json& list) {
    for (const json& one : list["items"]) {
      if (one["key"] == "false_success") return one["mode"];
    }
    return json();
  };
  EXPECT_EQ(mode_of(get("/v1/detectors")), "shadow");
  reload(detectors("{key: false_success}, {key: expensive_loop}"));
  EXPECT_EQ(mode_of(get("/v1/detectors")), "live");
  const json answer = post("/v1/ingest/runs", failing_run("after"));
  ASSERT_EQ(answer["failures"].size(), 1u);
  EXPECT_FALSE(answer["failures"][0].contains("mode"));
  EXPECT_EQ(answer["detectors"].size(), 2u);
  const json live = get("/v1/failures")["items"];
  ASSERT_EQ(live.size(), 1u);
  EXPECT_EQ(live[0]["runId"], "after");
  const json shadow = get("/v1/failures?mode=shadow")["items"];
  ASSERT_EQ(shadow.size(), 1u) << "what was found on trial stays where it is";
  EXPECT_EQ(shadow[0]["runId"], "before");
  const std::string id = live[0]["failureId"];
  const json fingerprint = get("/v1/failures/" + id + "/investigation")["fingerprint"];
  EXPECT_EQ(fingerprint["count"], 1) << "the one found on trial is not counted";
  EXPECT_EQ(fingerprint["runsSeen"], 2);
}

class ShadowOfATenant : public Shadow {
 protected:
  ShadowOfATenant()
      : Shadow(detectors("{key: false_success, mode: shadow}, {key: expensive_loop}",
                         "{globex: {mode: {false_success: live, expensive_loop: shadow}}}")) {}
};

TEST_F(ShadowOfATenant, ItsOwnModeGoesOverTheCommonOne) {
  expect_silence(post("/v1/ingest/runs", failing_run("r1")));
  key_ = service_->make_key("globex");
  const json answer = post("/v1/ingest/runs", failing_run("r1"));
  ASSERT_EQ(answer["failures"].size(), 1u);
  ASSERT_EQ(answer["detectors"].size(), 1u);
  EXPECT_EQ(answer["detectors"][0]["key"], "false_success");
  EXPECT_EQ(get("/v1/failures?mode=shadow")["items"], json::array());
}

std::size_t copies_of(const ServiceProcess& service) {
  std::size_t count = 0;
  for (const auto& one : std::filesystem::directory_iterator(service.folder() / "data" / "plugins")) {
    count += one.path().extension() == ".so" ? 1 : 0;
  }
  return count;
}

TEST(PluginCopies, OfLibrariesThatWereReplaced_GoAtTheNextStart_AndNotUnderARunningService) {
  TempFolder plugins;
  const auto install = [&](const std::string& trailing) {
    const std::filesystem::path file = plugins.path() / "false_success.so";
    std::ofstream(file, std::ios::binary) << read_file(plugin_folder() + "/false_success.so") << trailing;
    ::chmod(file.c_str(), 0644);
  };
  install("the first");
  ServiceProcess::Options options;
  options.yaml = "detectors: {search_path: [\"" + plugins.path().string() + "\"], include: [], enabled: [{key: false_success}]}\n";
  ServiceProcess service(std::move(options));
  ASSERT_EQ(copies_of(service), 1u);
  install("the second");
  service.signal(SIGHUP);
  ASSERT_TRUE(service.wait_for_log("\"reloaded\"", 30'000)) << service.log_text();
  EXPECT_EQ(copies_of(service), 2u) << "the old code may still be in a call";
  EXPECT_EQ(run_command({runwarden_binary(), "serve", "--config", service.config_path()}, {}, 20).exit_code, 1) << "the store is taken";
  EXPECT_EQ(copies_of(service), 2u);
  const std::string key = service.make_key();
  service.kill_hard();
  service.start();
  EXPECT_EQ(copies_of(service), 1u);
  EXPECT_TRUE(service.wait_for_log("\"pruned\"")) << service.log_text();
  EXPECT_EQ(service.post("/v1/ingest/runs", key, failing_run("r")).status, 201);
}

class Provenance : public Shadow {
 protected:
  Provenance()
      : Shadow(detectors("{key: false_success}, {key: expensive_loop, settings: {repeats: 3, rules: {cycles: false}}}",
                         "{globex: {settings: {expensive_loop: {repeats: 5}}}}")) {}
  json of_detector(const std::string& key) {
    const json list = get("/v1/detectors");
    for (const json& one : list["items"]) {
      if (one["key"] == key) return one["provenance"];
    }
    return {};
  }
};

TEST_F(Provenance, EveryFailure_NamesVersionLibraryAndSettings) {
  const json answer = post("/v1/ingest/runs", failing_run("r1"));
  ASSERT_EQ(answer["failures"].size(), 1u);
  const json said = answer["failures"][0]["provenance"];
  EXPECT_EQ(said["librarySha256"], to_hex(sha256(read_file(plugin_folder() + "/false_success.so"))));
  EXPECT_FALSE(said["detectorVersion"].get<std::string>().empty());
  EXPECT_EQ(said["settingsHash"], to_hex(sha256("{}")));
  EXPECT_EQ(said, of_detector("false_success"));
  const std::string id = answer["failures"][0]["failureId"];
  EXPECT_EQ(get("/v1/failures/" + id)["provenance"], said);
  EXPECT_EQ(get("/v1/failures")["items"][0]["provenance"], said);
  EXPECT_EQ(get("/v1/runs/r1")["failures"][0]["provenance"], said);
  EXPECT_EQ(get("/v1/failures/" + id + "/investigation")["failure"]["provenance"], said);
  EXPECT_EQ(post("/v1/analyze", failing_run("r1"))["failures"][0]["provenance"], said);
}

TEST_F(Provenance, TheSettingsHash_IsOfTheSettingsInForce_NotOfTheirSpelling) {
  const json before = of_detector("expensive_loop");
  EXPECT_EQ(before["settingsHash"], to_hex(sha256(R"({"repeats":3,"rules":{"cycles":false}})")));
  key_ = service_->make_key("globex");
  EXPECT_EQ(of_detector("expensive_loop")["settingsHash"], to_hex(sha256(R"({"repeats":5,"rules":{"cycles":false}})")));
  key_ = service_->make_key("acme");
  reload(detectors("{key: false_success}, {key: expensive_loop, settings: {\"rules\": {\"cycles\": False}, repeats: 0x3}}"));
  EXPECT_EQ(of_detector("expensive_loop"), before);
}

}  // namespace
}  // namespace runwarden::test
