// kill -9 at random moments under a mixed load, round after round. What was acknowledged is written down outside the service; after each
// restart all of it has to be there. RUNWARDEN_SOAK_ROUNDS sets how many rounds; the seed is printed with each fault.
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "support/failing_run.h"
#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;

enum class Kind : std::uint8_t { run, events, change, policy };

// One thing the service said it keeps.
struct Acknowledged {
  Kind kind = Kind::run;
  std::string id;
  std::size_t steps = 0;  // of a run that streams in
};

// What was acknowledged so far. Any thread.
class AckLog {
 public:
  void add(Acknowledged one) {
    const std::lock_guard lock(mutex_);
    entries_.push_back(std::move(one));
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }
  std::vector<Acknowledged> since(std::size_t first) const {
    const std::lock_guard lock(mutex_);
    return {entries_.begin() + static_cast<std::ptrdiff_t>(first), entries_.end()};
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Acknowledged> entries_;
};

// A client of one connection that posts a bit of everything until the service is gone.
class MixedClient {
 public:
  MixedClient(std::uint16_t port, std::string key, std::string prefix, AckLog& log)
      : client_(HttpClient::to(port)), fields_("Authorization: Bearer " + std::move(key) + "\r\n"), prefix_(std::move(prefix)), log_(log) {}

  void work(const std::atomic<bool>& killed) {
    constexpr int kMost = 100'000;
    for (number_ = 0; number_ < kMost && !killed; ++number_) {
      if (!post_next()) return;
    }
  }

 private:
  bool post_next() {
    switch (number_ % 5) {
      case 0: return post_batch();
      case 1: return post_change();
      case 2: return post_policy();
      case 3: return post_events();
      default: return post_run();
    }
  }

  std::string name() const { return prefix_ + "-" + std::to_string(number_); }

  std::optional<json> post(const std::string& path, const std::string& body) {
    if (!client_.send(post_request(path, body, fields_))) return std::nullopt;
    const auto answer = client_.answer();
    if (!answer || answer->status < 200 || answer->status > 202) return std::nullopt;
    return json::parse(answer->body, nullptr, false);  // the control answers some without a body
  }

  bool post_run() {
    if (!post("/v1/ingest/runs", failing_run(name()))) return false;
    log_.add({Kind::run, name(), 1});
    return true;
  }

  bool post_batch() {
    constexpr int kLines = 5;
    std::string lines;
    for (int i = 0; i < kLines; ++i) lines += failing_run(name() + "-" + std::to_string(i)) + "\n";
    const std::string request = "POST /v1/ingest/runs HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-ndjson\r\n" + fields_ +
                                "Content-Length: " + std::to_string(lines.size()) + "\r\n\r\n" + lines;
    if (!client_.send(request)) return false;
    const auto answer = client_.answer();
    if (!answer || answer->status != 200) return false;
    const json results = json::parse(answer->body)["results"];
    for (const json& result : results) {
      if (result["status"] == 201) log_.add({Kind::run, result["runId"], 1});
    }
    return true;
  }

  bool post_events() {
    for (std::size_t i = 0; i < 3; ++i) {
      const json event{{"type", "tool_call"}, {"eventId", "e" + std::to_string(i)}, {"name", "step_" + std::to_string(i)}, {"status", "failed"}};
      if (!post("/v1/ingest/events", json{{"runId", name()}, {"events", {event}}, {"final", i == 2}}.dump())) return false;
      log_.add({Kind::events, name(), i + 1});
    }
    return true;
  }

  bool post_change() {
    const auto answer = post("/v1/ingest/changes", R"({"kind":"code","summary":"a deploy"})");
    if (answer && answer->is_object()) log_.add({Kind::change, (*answer)["changeId"], 0});
    return answer.has_value();
  }

  bool post_policy() {
    const auto answer = post("/v1/ingest/policies", json{{"policy", name()}, {"content", {{"max", number_}}}}.dump());
    if (answer && answer->is_object()) log_.add({Kind::policy, name(), 0});
    return answer.has_value();
  }

  HttpClient client_;
  std::string fields_;
  std::string prefix_;
  AckLog& log_;
  int number_ = 0;
};

// Loads the service from four connections, and kills it a random number of acknowledgements later.
void load_and_kill(ServiceProcess& service, const std::string& key, const std::string& round, AckLog& log, std::mt19937_64& random) {
  std::atomic<bool> killed{false};
  std::vector<std::thread> clients;
  const std::size_t enough = log.size() + 1 + random() % 200;
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([&, c] { MixedClient(service.port(), key, round + "-" + std::to_string(c), log).work(killed); });
  }
  for (int i = 0; i < 30'000 && log.size() < enough; ++i) ::poll(nullptr, 0, 1);
  service.kill_hard();
  killed = true;
  for (std::thread& client : clients) client.join();
}

std::set<std::string> ids_of_changes(ServiceProcess& service, const std::string& key) {
  std::set<std::string> ids;
  std::string cursor;
  do {
    const HttpAnswer answer = service.get("/v1/changes?limit=1000" + cursor, key);
    if (answer.status != 200) return ids;
    const json page = json::parse(answer.body);
    for (const json& change : page["items"]) ids.insert(change["changeId"]);
    cursor = page["nextCursor"].is_null() ? "" : "&cursor=" + page["nextCursor"].get<std::string>();
  } while (!cursor.empty());
  return ids;
}

// What was acknowledged and is not there, in words.
std::vector<std::string> missing(ServiceProcess& service, const std::string& key, const std::vector<Acknowledged>& acknowledged) {
  std::vector<std::string> lost;
  const auto changes = ids_of_changes(service, key);
  HttpClient client = HttpClient::to(service.port());
  const auto get = [&](const std::string& path) -> std::optional<json> {
    if (!client.send(get_request(path, "Authorization: Bearer " + key + "\r\n"))) return std::nullopt;
    const auto answer = client.answer();
    return answer && answer->status == 200 ? std::optional(json::parse(answer->body)) : std::nullopt;
  };
  for (const Acknowledged& one : acknowledged) {
    bool there = false;
    if (one.kind == Kind::change) {
      there = changes.count(one.id) == 1;
    } else if (one.kind == Kind::policy) {
      const auto page = get("/v1/policies/" + one.id);
      there = page && (*page)["items"].size() == 1;
    } else {
      const auto run = get("/v1/runs/" + one.id);
      there = run && (*run)["steps"].size() >= one.steps && (one.kind == Kind::events || (*run)["failures"].size() == 1);
    }
    if (!there) lost.push_back(one.id);
  }
  return lost;
}

TEST(Soak, KilledAtRandomMomentsUnderMixedLoad_LosesNothingAcknowledged) {
  const char* rounds_text = std::getenv("RUNWARDEN_SOAK_ROUNDS");
  const int rounds = rounds_text != nullptr ? std::atoi(rounds_text) : 10;
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  ServiceProcess service;
  const std::string key = service.make_key();
  AckLog log;
  for (int round = 0; round < rounds; ++round) {
    const std::size_t before = log.size();
    load_and_kill(service, key, "r" + std::to_string(round), log, random);
    service.start();
    ASSERT_EQ(missing(service, key, log.since(before)), std::vector<std::string>()) << "round " << round;
  }
  EXPECT_EQ(missing(service, key, log.since(0)), std::vector<std::string>());
  EXPECT_GT(log.size(), static_cast<std::size_t>(rounds));
  const CommandResult verified = service.cli({"verify"});
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
}

TEST(Soak, AServiceThatAnswersBeforeItCommits_IsSeenToLose) {
  ServiceProcess::Options options;
  options.binary = RUNWARDEN_TEST_EARLY_ACK;
  ServiceProcess service(options);
  const std::string key = service.make_key();
  AckLog log;
  std::mt19937_64 random(1);
  for (int round = 0; round < 3; ++round) {
    load_and_kill(service, key, "r" + std::to_string(round), log, random);
    service.start();
  }
  EXPECT_FALSE(missing(service, key, log.since(0)).empty()) << "the test cannot see a loss";
}

}  // namespace
}  // namespace runwarden::test
