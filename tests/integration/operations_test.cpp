#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/files.h"
#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;

std::vector<json> request_lines(const ServiceProcess& service) {
  std::vector<json> lines;
  std::istringstream log(service.log_text());
  for (std::string line; std::getline(log, line);) {
    json one = json::parse(line);
    if (one["event"] == "request") lines.push_back(std::move(one));
  }
  return lines;
}

TEST(Operations, WithoutAKey_HealthReadinessAndMetrics) {
  ServiceProcess service;
  EXPECT_EQ(service.request(get_request("/healthz")).status, 200);
  const HttpAnswer ready = service.request(get_request("/readyz"));
  EXPECT_EQ(ready.status, 200) << ready.body;
  service.post("/v1/ingest/runs", service.make_key(), "{}");
  const HttpAnswer metrics = service.request(get_request("/metrics"));
  EXPECT_EQ(metrics.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  for (const char* line : {"runwarden_http_requests_total{code=\"201\",route=\"/v1/ingest/runs\"} 1",
                           "runwarden_detector_runs_total{detector=\"false_success\"", "runwarden_store_batch_records_count 1",
                           "runwarden_store_map_bytes 68719476736"}) {
    EXPECT_NE(metrics.body.find(line), std::string::npos) << line << "\n" << metrics.body;
  }
  std::string version = service.cli({"--version"}).out;  // "runwarden 1.0.0\n"
  version = version.substr(version.find(' ') + 1, version.find('\n') - version.find(' ') - 1);
  EXPECT_NE(metrics.body.find("\nrunwarden_build_info{version=\"" + version + "\"} 1\n"), std::string::npos) << metrics.body;
}

TEST(Operations, ATimeout_IsCounted) {
  ServiceProcess service({.yaml = {}, .server = {}, .limits = "{header_timeout: 100ms}", .store = {}, .binary = {}, .environment = {}});
  const auto counted = [&](int times) {
    const std::string line = "\nrunwarden_http_timeouts_total " + std::to_string(times) + "\n";
    return service.request(get_request("/metrics")).body.find(line) != std::string::npos;
  };
  EXPECT_TRUE(counted(0));
  HttpClient slow = HttpClient::to(service.port());
  ASSERT_TRUE(slow.send("GET /healthz HTTP/1.1\r\nHost:"));
  const auto answer = slow.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 408);
  EXPECT_TRUE(counted(1));
}

TEST(Operations, OneLogLineARequest_NeverAKeyOrABody) {
  ServiceProcess service;
  const std::string key = service.make_key("acme");
  service.post("/v1/ingest/runs", key, R"({"userRequestText":"a secret of the client"})", "X-Request-Id: logged-1\r\n");
  service.post("/v1/ingest/runs", "rw_wrong_key", "{}");
  ASSERT_EQ(service.stop(), 0);
  const std::vector<json> lines = request_lines(service);
  ASSERT_EQ(lines.size(), 2u) << service.log_text();
  EXPECT_EQ(lines[0]["requestId"], "logged-1");
  EXPECT_EQ(lines[0]["tenant"], "acme");
  EXPECT_EQ(lines[0]["status"], 201);
  EXPECT_EQ(lines[0]["bytes"], 44);
  EXPECT_TRUE(lines[0]["micros"].is_number_integer());
  EXPECT_EQ(lines[1]["status"], 401);
  for (const std::string& secret : {key, std::string("a secret of the client"), std::string("rw_wrong_key")}) {
    EXPECT_EQ(service.log_text().find(secret), std::string::npos);
  }
}

TEST(Operations, Sigterm_AnswersWhatIsInFlightAndExitsZero) {
  ServiceProcess service;
  const std::string key = service.make_key();
  HttpClient slow = HttpClient::to(service.port());
  const std::string request = post_request("/v1/ingest/runs", R"({"runId":"in-flight"})", "Authorization: Bearer " + key + "\r\n");
  ASSERT_TRUE(slow.send(request.substr(0, request.size() - 5)));
  ASSERT_EQ(service.request(get_request("/healthz")).status, 200);  // its answer shows that the bytes before it were read
  service.signal(SIGTERM);
  ASSERT_TRUE(service.wait_for_log("stopping"));
  ASSERT_TRUE(slow.send(request.substr(request.size() - 5)));
  const auto answer = slow.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->header("connection"), "close");
  EXPECT_EQ(service.stop(), 0);
  service.start();
  EXPECT_EQ(service.get("/v1/runs/in-flight", key).status, 200);
}

TEST(Operations, TheStoresFiles_AreForTheirOwnerOnly) {
  ServiceProcess service;
  ASSERT_EQ(service.post("/v1/ingest/runs", service.make_key(), "{}").status, 201);
  using std::filesystem::perms;
  ASSERT_TRUE(std::filesystem::exists(service.folder() / "data" / "crash.note"));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(service.folder() / "data")) {
    if (!entry.is_regular_file() || entry.path().extension() == ".so") continue;  // copies of libraries are in a folder of mode 0700
    EXPECT_EQ(entry.status().permissions() & (perms::group_all | perms::others_all), perms::none) << entry.path();
  }
}

TEST(Operations, ASecondServiceOnTheStoreOrTheAddress_DoesNotStart) {
  ServiceProcess service;
  const CommandResult same_store = run_command({runwarden_binary(), "serve", "--config", service.config_path()}, {}, 20);
  EXPECT_EQ(same_store.exit_code, 1);
  EXPECT_NE(same_store.err.find("data"), std::string::npos) << same_store.err;

  const TempFolder other;
  const std::string address = "127.0.0.1:" + std::to_string(service.port());
  std::ofstream(other.path() / "c.yaml") << "server: {address: \"" + address + "\"}\nstore: {path: data}\ndetectors: {include: []}\n";
  const CommandResult same_address = run_command({runwarden_binary(), "serve", "--config", other.path() / "c.yaml"}, {}, 20);
  EXPECT_EQ(same_address.exit_code, 1);
  EXPECT_NE(same_address.err.find(address), std::string::npos) << same_address.err;
}

TEST(Operations, BeyondLoopbackWithoutTls_IsRefused) {
  const TempFolder folder;
  std::ofstream(folder.path() / "c.yaml") << "server: {address: \"0.0.0.0:0\"}\nstore: {path: data}\ndetectors: {include: []}\n";
  const CommandResult refused = run_command({runwarden_binary(), "serve", "--config", folder.path() / "c.yaml"}, {}, 20);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("allow_plaintext"), std::string::npos) << refused.err;
}

TEST(Operations, AFullMap_Is503_ReadsGoOn_AndReadyzSaysSo) {
  ServiceProcess service({.yaml = {}, .server = {}, .limits = "{}", .store = "map_size: 4MiB", .binary = {}, .environment = {}});
  const std::string key = service.make_key();
  ASSERT_EQ(service.request(get_request("/readyz")).status, 200);
  // Text that does not compress, so that the map fills quickly.
  std::uint64_t state = 88172645463325252ull;
  const auto noise = [&state] {
    std::string text;
    while (text.size() < 200'000) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      text += static_cast<char>('0' + state % 75);
      if (text.back() == '\\') text.back() = 'x';
    }
    return text;
  };
  HttpAnswer answer;
  int stored = 0;
  do {
    answer = service.post("/v1/ingest/runs", key, "{\"runId\":\"n" + std::to_string(stored) + "\",\"x\":\"" + noise() + "\"}");
  } while (answer.status == 201 && ++stored < 100);
  ASSERT_EQ(answer.status, 503) << answer.body.substr(0, 300);
  EXPECT_GT(stored, 2);
  EXPECT_FALSE(answer.header("retry-after").empty());
  EXPECT_EQ(json::parse(answer.body)["code"], "unavailable");
  EXPECT_EQ(service.get("/v1/runs/n0", key).status, 200);
  EXPECT_EQ(service.get("/v1/runs/n" + std::to_string(stored), key).status, 404) << "nothing of a refused request is stored";
  const std::string lines = "{\"x\":\"" + noise() + "\"}\n";
  const HttpAnswer batch =
      service.request("POST /v1/ingest/runs HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer " + key +
                      "\r\nContent-Type: application/x-ndjson\r\nContent-Length: " + std::to_string(lines.size()) + "\r\n\r\n" + lines);
  ASSERT_EQ(batch.status, 200) << batch.body;
  EXPECT_EQ(json::parse(batch.body)["results"][0]["status"], 503);
  EXPECT_EQ(batch.header("retry-after"), answer.header("retry-after"));
  EXPECT_EQ(service.request(get_request("/healthz")).status, 200);
}

// The configuration with one text in the place of another, taken up.
void reload_with(ServiceProcess& service, const std::string& what, const std::string& with) {
  std::string config = read_file(service.config_path());
  const auto at = config.find(what);
  ASSERT_NE(at, std::string::npos) << config;
  std::ofstream(service.config_path()) << config.replace(at, what.size(), with);
  service.signal(SIGHUP);
}

TEST(Operations, Sighup_NamesTheChangedKeysThatTakeARestart) {
  ServiceProcess service;
  reload_with(service, "limits: {}", "limits: {burst: 9, max_json_depth: 3}");
  ASSERT_TRUE(service.wait_for_log("\"reloaded\"")) << service.log_text();
  reload_with(service, "limits: {burst: 9,", "buffer: {idle_timeout: 9m, max_age: 24h}\nlimits: {burst: 8, max_connections: 99,");
  ASSERT_TRUE(service.wait_for_log("takes effect at a restart: buffer.idle_timeout, limits.max_connections\"")) << service.log_text();
  EXPECT_EQ(service.log_text().find("restart_needed"), service.log_text().rfind("restart_needed")) << "only the second one";
  ASSERT_EQ(service.stop(), 0);
}

TEST(Operations, Sighup_TakesUpTheLimitsOfRequests) {
  ServiceProcess service;
  const std::string key = service.make_key();
  EXPECT_EQ(service.post("/v1/ingest/runs", key, R"({"a":[[[]]]})").status, 201);
  reload_with(service, "limits: {}", "limits: {max_body_bytes: 200, max_json_depth: 3}");
  ASSERT_TRUE(service.wait_for_log("\"reloaded\"")) << service.log_text();
  EXPECT_EQ(service.post("/v1/ingest/runs", key, R"({"a":[[]]})").status, 201);
  EXPECT_EQ(service.post("/v1/ingest/runs", key, R"({"a":[[[]]]})").status, 400);
  EXPECT_EQ(service.post("/v1/ingest/events", key, R"({"runId":"r","events":[{"type":"x","a":[]}]})").status, 400);
  EXPECT_EQ(service.post("/v1/analyze", key, R"({"a":[[[]]]})").status, 400);
  EXPECT_EQ(service.post("/v1/ingest/runs", key, R"({"a":")" + std::string(200, 'x') + R"("})").status, 413);
}

}  // namespace
}  // namespace runwarden::test
