// The real binary on a disk that fails: an error of a flush ends it, a full disk does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <poll.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>
#include <utility>

#include "support/preloaded.h"
#include "support/sanitized.h"
#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;

class FailingDisk : public testing::Test {
 protected:
  void start(const std::string& server = {}) {
    ServiceProcess::Options options;
    options.server = server;
    options.environment = environment();
    service_.emplace(std::move(options));
    key_ = service_->make_key();
  }

  Environment environment() const {
    return preloaded(RUNWARDEN_TEST_FAILING_DISK, {{"FAILING_DISK_SYNC", sync_fault()},
                                                   {"FAILING_DISK_FULL", full_disk()},
                                                   {"FAILING_DISK_FULL_FOR_META", full_for_meta()},
                                                   {"FAILING_DISK_SLOW", slow_disk()}});
  }

  // A command on the same disk.
  CommandResult cli(const std::vector<std::string>& arguments) const {
    std::vector<std::string> command{"/usr/bin/env"};
    for (const auto& [name, value] : environment()) command.push_back(name + "=" + value);
    command.push_back(runwarden_binary());
    command.insert(command.end(), arguments.begin(), arguments.end());
    command.insert(command.end(), {"--config", service_->config_path()});
    return run_command(command);
  }

  HttpAnswer post_lines(const std::string& body) {
    return service_->request("POST /v1/ingest/runs HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-ndjson\r\nAuthorization: Bearer " +
                             key_ + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }

  std::string sync_fault() const { return triggers_.path() / "sync"; }
  std::string full_disk() const { return triggers_.path() / "full"; }
  std::string full_for_meta() const { return triggers_.path() / "full-for-meta"; }
  std::string slow_disk() const { return triggers_.path() / "slow"; }
  // It does not compress.
  static std::string random_text(std::size_t bytes) {
    std::minstd_rand random(1);
    std::string text(bytes, ' ');
    for (char& c : text) c = static_cast<char>('a' + (random() >> 8) % 26);
    return text;
  }
  static void pull(const std::string& trigger) { std::ofstream(trigger).close(); }
  static void release(const std::string& trigger) { std::filesystem::remove(trigger); }

  HttpAnswer post(const std::string& run_id) { return service_->post("/v1/ingest/runs", key_, R"({"runId":")" + run_id + "\"}"); }
  int status_of(const std::string& run_id) { return service_->get("/v1/runs/" + run_id, key_).status; }

  TempFolder triggers_;
  std::optional<ServiceProcess> service_;
  std::string key_;
};

TEST_F(FailingDisk, AFlushThatFails_EndsTheProcessAndAcknowledgesNothing) {
  start();
  ASSERT_EQ(post("before").status, 201);
  pull(sync_fault());
  std::vector<int> statuses(8, -1);
  std::vector<std::thread> clients;
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    clients.emplace_back([&, i] { statuses[i] = post("after-" + std::to_string(i)).status; });
  }
  for (auto& client : clients) client.join();
  for (const int status : statuses) EXPECT_TRUE(status == 0 || status == 503) << status;
  ASSERT_TRUE(service_->wait_for_log("store_failed")) << service_->log_text();
  EXPECT_EQ(service_->stop(), 1);

  release(sync_fault());
  service_->start();
  EXPECT_EQ(status_of("before"), 200);
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const int status = post("after-" + std::to_string(i)).status;
    EXPECT_TRUE(status == 200 || status == 201) << "sent again: " << status;
  }
}

TEST_F(FailingDisk, AFullDisk_Is503AndReadsGoOn_AndItRecoversByItself) {
  start();
  ASSERT_EQ(post("before").status, 201);
  pull(full_disk());
  const HttpAnswer refused = post("during");
  EXPECT_EQ(refused.status, 503);
  EXPECT_FALSE(refused.header("retry-after").empty());
  EXPECT_EQ(json::parse(refused.body)["code"], "unavailable");
  EXPECT_EQ(status_of("before"), 200);
  EXPECT_EQ(status_of("during"), 404);
  EXPECT_EQ(service_->request(get_request("/readyz")).status, 503);
  EXPECT_EQ(service_->request(get_request("/healthz")).status, 200);

  release(full_disk());
  EXPECT_EQ(post("during").status, 201);
  EXPECT_EQ(service_->stop(), 0);
}

TEST_F(FailingDisk, AFileAtTheLimitOfItsSize_Is503AndReadsGoOn_AndItRecoversByItself) {
  start();
  ASSERT_EQ(post("before").status, 201);
  const auto limit_to = [&](rlim_t bytes) {
    const rlimit limit{bytes, RLIM_INFINITY};
    ASSERT_EQ(::prlimit(service_->pid(), RLIMIT_FSIZE, &limit, nullptr), 0);
  };
  limit_to(std::filesystem::file_size(service_->folder() / "data" / "data.mdb"));
  const auto post_large = [&] {
    return service_->post("/v1/ingest/runs", key_, R"({"runId":"during","finalOutput":")" + random_text(1'000'000) + "\"}");
  };
  const HttpAnswer refused = post_large();
  EXPECT_EQ(refused.status, 503) << refused.body;
  EXPECT_FALSE(refused.header("retry-after").empty());
  EXPECT_EQ(status_of("before"), 200);
  EXPECT_EQ(status_of("during"), 404);
  EXPECT_EQ(service_->request(get_request("/readyz")).status, 503);

  limit_to(RLIM_INFINITY);
  EXPECT_EQ(post_large().status, 201);
  EXPECT_EQ(service_->stop(), 0);
}

// LMDB neither reads nor writes once its meta page could not be written, so the process ends, and the next one goes on.
TEST_F(FailingDisk, ADiskThatIsFullForTheMetaPage_EndsTheProcessAndAcknowledgesNothing) {
  start();
  ASSERT_EQ(post("before").status, 201);
  pull(full_for_meta());
  EXPECT_EQ(post("first").status, 0) << "the write itself ends it, not the one after it";
  ASSERT_TRUE(service_->wait_for_log("store_failed")) << service_->log_text();
  EXPECT_EQ(service_->stop(), 1);

  release(full_for_meta());
  service_->start();
  EXPECT_EQ(status_of("before"), 200);
  const int again = post("first").status;
  EXPECT_TRUE(again == 200 || again == 201) << "sent again: " << again;
}

TEST_F(FailingDisk, AServiceStartedOnAFullDisk_LoadsItsDetectorsAndAnswersReads_AndJudgesWhenThereIsRoom) {
  start();
  ASSERT_EQ(post("before").status, 201);
  ASSERT_EQ(service_->stop(), 0);
  pull(full_disk());
  service_->start();
  EXPECT_EQ(status_of("before"), 200);
  EXPECT_EQ(post("during").status, 503);

  release(full_disk());
  const HttpAnswer after = post("after");
  ASSERT_EQ(after.status, 201) << after.body;
  const json judged = json::parse(after.body);
  for (const json& detector : judged.at("detectors")) EXPECT_NE(detector["status"], "error") << detector;
  EXPECT_FALSE(judged.at("detectors").empty());
  EXPECT_EQ(service_->stop(), 0);
}

// The log tells the edges, /readyz the one reason, and Retry-After that it will take a while.
TEST_F(FailingDisk, AFullDisk_IsToldOnceInTheLog_OnceByReadyz_AndWithItsOwnRetryAfter) {
  start();
  pull(full_disk());
  for (int i = 0; i < 5; ++i) {
    const HttpAnswer refused = post("during-" + std::to_string(i));
    ASSERT_EQ(refused.status, 503);
    EXPECT_EQ(refused.header("retry-after"), "30");
  }
  const HttpAnswer ready = service_->request(get_request("/readyz"));
  EXPECT_EQ(ready.status, 503);
  EXPECT_EQ(ready.header("retry-after"), "30");
  EXPECT_EQ(json::parse(ready.body)["reasons"].size(), 1u) << ready.body;
  ASSERT_TRUE(service_->wait_for_log("\"store_full\"")) << service_->log_text();
  release(full_disk());
  EXPECT_EQ(post("after").status, 201);
  ASSERT_TRUE(service_->wait_for_log("\"store_has_room\"")) << service_->log_text();
  const std::string log = service_->log_text();
  EXPECT_EQ(log.find("\"store_full\""), log.rfind("\"store_full\""));
  EXPECT_EQ(log.find("\"store_has_room\""), log.rfind("\"store_has_room\""));
}

TEST_F(FailingDisk, Readyz_FindsAFullDiskByItself_AndThatItIsFreeAgain) {
  start("canary_interval: 1ms");
  // The outcome of a probe is told for a millisecond.
  const auto ready_with = [&](int status) {
    HttpAnswer answer;
    for (int probes = 0; answer.status != status && probes < 10'000; ++probes) answer = service_->request(get_request("/readyz"));
    return answer;
  };
  ASSERT_EQ(ready_with(200).status, 200);
  pull(full_disk());
  const HttpAnswer refused = ready_with(503);
  ASSERT_EQ(refused.status, 503) << refused.body;
  EXPECT_FALSE(refused.header("retry-after").empty());
  release(full_disk());
  ASSERT_EQ(post("after").status, 201);
  EXPECT_EQ(ready_with(200).status, 200);
}

TEST_F(FailingDisk, OfABatchOnAFullDisk_EachLineIs503) {
  start();
  pull(full_disk());
  const HttpAnswer answer = post_lines("{\"runId\":\"a\"}\n{\"runId\":\"b\"}\n");
  ASSERT_EQ(answer.status, 200);
  const json lines = json::parse(answer.body);
  EXPECT_EQ(lines["accepted"], 0);
  for (const json& line : lines["results"]) EXPECT_EQ(line["status"], 503);
  EXPECT_EQ(status_of("a"), 404);
}

TEST_F(FailingDisk, APurgeThatTheDiskEnds_SaysHowMuchIsDeletedAlready) {
  start();
  constexpr int kRuns = 1000;  // deleted 200 at a time
  std::string lines;
  for (int i = 0; i < kRuns; ++i) lines += "{\"runId\":\"r" + std::to_string(i) + "\"}\n";
  ASSERT_EQ(post_lines(lines).status, 200);
  std::ofstream(slow_disk()) << 300;
  CommandResult ended;
  std::thread purge([&] { ended = cli({"purge", "--tenant", "acme", "--yes"}); });
  for (int i = 0; i < 5'000 && status_of("r0") == 200; ++i) ::poll(nullptr, 0, 2);
  pull(full_disk());
  purge.join();
  release(slow_disk());
  release(full_disk());

  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, testing::ContainsRegex("no space left.*\nDeleted before that: [2468]00 records; run it again for the rest\\.\n"));
  const CommandResult rest = cli({"purge", "--tenant", "acme", "--yes"});
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_THAT(rest.out, testing::ContainsRegex("runs +[2468]00\n"));
}

// The most memory that the service has held, in bytes (proc(5), VmHWM).
std::uint64_t peak_memory(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  }
  return 0;
}

// What many clients were told, who post whole batches as fast as they are answered.
struct Told {
  std::atomic<std::size_t> stored{0};
  std::atomic<std::size_t> refused{0};
  std::atomic<std::size_t> without_retry_after{0};
  std::atomic<std::size_t> otherwise{0};
};

TEST_F(FailingDisk, ADiskThatStalls_CostsNoMemoryBeyondTheBounds_AndIsForgottenOnceItGoesOn) {
  constexpr std::uint64_t kMemoryBound = std::uint64_t{1} << 30;
  constexpr int kClients = 48;
  start();
  ASSERT_EQ(post("before").status, 201);
  std::ofstream(slow_disk()) << 400;
  const std::string run_text(200'000, 'x');
  Told told;
  std::atomic<bool> over{false};
  std::vector<std::thread> clients;
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([&, c] {
      for (int i = 0; i < 60 && !over; ++i) {
        const std::string id = "r-" + std::to_string(c) + "-" + std::to_string(i);
        const HttpAnswer answer = service_->post("/v1/ingest/runs", key_, R"({"runId":")" + id + R"(","note":")" + run_text + "\"}");
        ++(answer.status == 201 ? told.stored : answer.status == 503 ? told.refused : told.otherwise);
        told.without_retry_after += answer.status == 503 && answer.header("retry-after").empty();
      }
    });
  }
  for (int i = 0; i < 5'000 && told.stored < 100; ++i) ::poll(nullptr, 0, 2);
  EXPECT_GE(told.stored, 100u) << "a slow disk stores all the same";
  release(slow_disk());
  const auto released = std::chrono::steady_clock::now();
  const auto recovery = kSanitized ? std::chrono::seconds(20) : std::chrono::seconds(2);
  while (post("after").status != 201 && std::chrono::steady_clock::now() - released < 2 * recovery) {
  }
  EXPECT_LT(std::chrono::steady_clock::now() - released, recovery);
  over = true;
  for (auto& client : clients) client.join();
  EXPECT_EQ(told.without_retry_after, 0u);
  EXPECT_EQ(told.otherwise, 0u);
  EXPECT_TRUE(kSanitized || peak_memory(service_->pid()) < kMemoryBound) << peak_memory(service_->pid());
  EXPECT_EQ(service_->stop(), 0);
}

}  // namespace
}  // namespace runwarden::test
