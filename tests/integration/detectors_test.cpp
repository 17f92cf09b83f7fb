// What bad detectors cost the service and those who use it: ones that do not return, ones that end the process, and reloads under load.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// Tries for up to 20 s.
template <class Condition>
bool comes_true(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < end) {
    if (condition()) return true;
    ::poll(nullptr, 0, 10);
  }
  return false;
}

std::string detectors_yaml(const std::string& more, const std::string& enabled) {
  return "detectors:\n  search_path: [\"" RUNWARDEN_TEST_ZOO "\"]\n  include: []\n" + more + "  enabled:\n" + enabled;
}

// zoo does what runs tell it, zoo_two never.
std::string obedient(int repeats) {
  const std::string settings = ", library: obedient.so, settings: {repeats: " + std::to_string(repeats) + "}}\n";
  return "    - {key: zoo" + settings + "    - {key: zoo_two" + settings;
}

ServiceProcess::Options options(const std::string& yaml) {
  ServiceProcess::Options options;
  options.yaml = yaml;
  return options;
}

std::string run_json(const std::string& id, const std::string& request) {
  json run = {{"userRequestText", request}};
  if (!id.empty()) run["runId"] = id;
  return run.dump();
}

json detector(const HttpAnswer& answer, const std::string& key) {
  const json body = json::parse(answer.body, nullptr, false);
  for (const json& one : body.value("detectors", json::array())) {
    if (one.value("key", "") == key) return one;
  }
  return {{"status", "not there"}, {"answer", answer.body}};
}

std::string status(const HttpAnswer& answer, const std::string& key) {
  return detector(answer, key)["status"];
}

class StuckDetector : public testing::Test {
 protected:
  std::string sleep() const { return "wait " + (service.folder() / "let_go").string(); }
  void let_go() const { std::ofstream(service.folder() / "let_go") << "now"; }
  double metric(const std::string& name) const {
    const std::string page = service.request(get_request("/metrics")).body;
    const auto at = page.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::strtod(page.c_str() + at + name.size() + 2, nullptr);
  }

  ServiceProcess service{options(detectors_yaml("  deadline: 1s\n  quarantine: {failures: 1000}\n", obedient(3)))};
  const std::string key = service.make_key();
};

TEST_F(StuckDetector, ItsRunsAndAllOthersAreAnsweredWhileItSticks) {
  const HttpAnswer own = service.post("/v1/ingest/runs", key, run_json("sleeper", sleep()));
  ASSERT_EQ(own.status, 201) << own.body;
  EXPECT_EQ(status(own, "zoo"), "timeout");
  EXPECT_THAT(detector(own, "zoo")["reason"], HasSubstr("the deadline is 1000 ms; the run continued without it"));
  EXPECT_EQ(status(own, "zoo_two"), "fired");
  EXPECT_EQ(status(service.post("/v1/ingest/runs", key, run_json("beside", "nothing special")), "zoo"), "fired");

  const HttpAnswer analyzed = service.post("/v1/analyze", key, run_json("", sleep()));
  EXPECT_EQ(analyzed.status, 200);
  EXPECT_EQ(status(analyzed, "zoo"), "timeout");
  EXPECT_EQ(metric("runwarden_detector_abandoned_calls"), 2);
  for (int i = 0; i < 20; ++i) {
    const HttpAnswer other = service.post("/v1/ingest/runs", key, run_json("", "nothing special"));
    EXPECT_EQ(other.status, 201);
    EXPECT_EQ(status(other, "zoo"), "timeout") << "it is not asked while two calls stick";
    EXPECT_EQ(status(other, "zoo_two"), "fired");
  }
  EXPECT_EQ(service.get("/v1/runs/sleeper", key).status, 200);
  let_go();
  ASSERT_TRUE(comes_true([&] { return metric("runwarden_detector_abandoned_calls") == 0; }));
  EXPECT_EQ(status(service.post("/v1/ingest/runs", key, run_json("", "nothing special")), "zoo"), "fired");
  EXPECT_THAT(service.log_text(), HasSubstr(RUNWARDEN_TEST_ZOO "/obedient.so"));
  EXPECT_EQ(service.stop(), 0);
}

TEST(StuckDetectorByDefault, TheFifthRunQuarantinesIt_AndTheServiceIsReady) {
  ServiceProcess service{options(detectors_yaml("", obedient(3)))};
  const std::string key = service.make_key();
  const std::string sleep = "wait " + (service.folder() / "never").string();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(status(service.post("/v1/ingest/runs", key, run_json("", i < 2 ? sleep : "nothing special")), "zoo"), "timeout") << i;
  }
  const HttpAnswer answer = service.post("/v1/ingest/runs", key, run_json("", "nothing special"));
  EXPECT_EQ(status(answer, "zoo"), "quarantined");
  EXPECT_EQ(status(answer, "zoo_two"), "fired");
  const HttpAnswer ready = service.request(get_request("/readyz"));
  EXPECT_EQ(ready.status, 200) << ready.body;
  EXPECT_THAT(ready.body, HasSubstr("\"quarantined\":[\"zoo\"]"));
  EXPECT_EQ(service.stop(), 0);
}

TEST_F(StuckDetector, ALineOfABatch_DoesNotKeepTheOthers) {
  std::string lines;
  for (int i = 0; i < 40; ++i) lines += run_json("line-" + std::to_string(i), i % 20 == 3 ? sleep() : "nothing special") + "\n";
  const std::string head = "POST /v1/ingest/runs HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-ndjson\r\nAuthorization: Bearer " +
                           key + "\r\nContent-Length: " + std::to_string(lines.size()) + "\r\n\r\n";
  const HttpAnswer answer = service.request(head + lines);
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(json::parse(answer.body)["accepted"], 40);
  EXPECT_EQ(service.post("/v1/ingest/runs", key, run_json("line-3", sleep())).status, 200) << "its turn is not kept by the stuck call";
}

TEST_F(StuckDetector, ARunOfEvents_ResolvesWithoutIt) {
  const json body = {{"runId", "streamed"},
                     {"events", {{{"type", "user_request"}, {"text", sleep()}}, {{"type", "tool_call"}, {"name", "look"}}}},
                     {"final", true}};
  const HttpAnswer answer = service.post("/v1/ingest/events", key, body.dump());
  ASSERT_EQ(answer.status, 201) << answer.body;
  EXPECT_EQ(status(answer, "zoo"), "timeout");
  EXPECT_EQ(status(answer, "zoo_two"), "fired");
}

TEST_F(StuckDetector, SigtermBesideIt_ExitsZeroAndEverythingAnsweredIsThere) {
  ASSERT_EQ(service.post("/v1/ingest/runs", key, run_json("sleeper", sleep())).status, 201);
  EXPECT_EQ(service.stop(), 0) << service.log_text();
  EXPECT_THAT(service.log_text(), HasSubstr("everything acknowledged is on disk"));
  service.start();
  EXPECT_EQ(status(service.get("/v1/runs/sleeper", key), "zoo"), "timeout");
}

TEST_F(StuckDetector, SigtermBeforeItsDeadline_AnswersItFirst) {
  HttpClient client = HttpClient::to(service.port());
  ASSERT_TRUE(client.send(post_request("/v1/ingest/runs", run_json("sleeper", sleep()), "Authorization: Bearer " + key + "\r\n")));
  ASSERT_EQ(service.request(get_request("/healthz")).status, 200);
  service.signal(SIGTERM);
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 201);
  client.close();
  EXPECT_EQ(service.wait_for_end(), 0);
}

TEST_F(StuckDetector, AReloadBesideIt_AsksTheNewOneWithinTheSameBound) {
  ASSERT_EQ(service.post("/v1/ingest/runs", key, run_json("sleeper", sleep())).status, 201);
  service.signal(SIGHUP);
  ASSERT_TRUE(service.wait_for_log("\"reloaded\""));
  EXPECT_EQ(status(service.post("/v1/ingest/runs", key, run_json("", "nothing special")), "zoo"), "fired");
  ASSERT_EQ(status(service.post("/v1/ingest/runs", key, run_json("sleeper-2", sleep())), "zoo"), "timeout");
  EXPECT_THAT(detector(service.post("/v1/ingest/runs", key, run_json("", "nothing special")), "zoo")["reason"],
              HasSubstr("2 of its calls for other runs have not returned yet"));
  EXPECT_EQ(service.stop(), 0);
}

TEST_F(StuckDetector, EndedFromOutside_NobodyIsAccused) {
  for (const int number : {SIGKILL, SIGABRT}) {
    ASSERT_EQ(service.post("/v1/ingest/runs", key, run_json("sleeper-" + std::to_string(number), sleep())).status, 201);
    service.signal(number);
    ASSERT_NE(service.wait_for_end(), 0);
    service.start();
    EXPECT_THAT(service.log_text(), Not(HasSubstr("detector_crash")));
  }
}

// What the process ends with; a sanitizer's report has a status of its own.
int expected_end(const std::string& way) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return way == "abort" ? 128 + SIGABRT : 0;  // 0: any
#else
  if (way == "exit" || way == "quick_exit") return 1;
  return 128 + (way == "abort"   ? SIGABRT
                : way == "trap"  ? SIGTRAP
                : way == "sys"   ? SIGSYS
                : way == "usr1"  ? SIGUSR1
                : way == "alarm" ? SIGALRM
                                 : SIGSEGV);
#endif
}

class CrashingDetector : public testing::TestWithParam<std::string> {
 protected:
  ServiceProcess service{options(detectors_yaml("  deadline: 10s\n", obedient(3)))};
  const std::string key = service.make_key();
};

TEST_P(CrashingDetector, ItsRunIsKnownAgain_AndJudgedWithoutIt) {
  const std::string killer = run_json("killer", GetParam());
  EXPECT_EQ(service.post("/v1/ingest/runs", key, killer).status, 0);
  const int end = service.wait_for_end();
  ASSERT_GT(end, 0);
  if (const int expected = expected_end(GetParam()); expected != 0) {
    EXPECT_EQ(end, expected) << "as without a note";
  }
  service.start();
  EXPECT_THAT(service.log_text(), HasSubstr("detector \\\"zoo\\\" (" RUNWARDEN_TEST_ZOO "/obedient.so, SHA-256 "));
  EXPECT_THAT(service.log_text(), HasSubstr("while evaluating run \\\"killer\\\" of tenant \\\"acme\\\""));

  const HttpAnswer retry = service.post("/v1/ingest/runs", key, killer);
  ASSERT_EQ(retry.status, 201) << retry.body;
  EXPECT_EQ(status(retry, "zoo"), "quarantined");
  EXPECT_THAT(detector(retry, "zoo")["reason"], HasSubstr("while evaluating this run at 20"));
  EXPECT_EQ(status(retry, "zoo_two"), "fired");
  EXPECT_EQ(status(service.post("/v1/ingest/runs", key, run_json("other", "nothing special")), "zoo"), "fired");
  EXPECT_THAT(service.request(get_request("/metrics")).body, HasSubstr("\nrunwarden_detector_crash_marks 1\n"));
}
INSTANTIATE_TEST_SUITE_P(Ways, CrashingDetector,
                         testing::Values("segv", "abort", "trap", "sys", "usr1", "alarm", "exit", "quick_exit", "overflow"),
                         [](const auto& way) { return way.param; });

// Ends that the handlers on the thread of the call do not see, of a run that each start resolves anew.
class UnseenEnd : public CrashingDetector {
 protected:
  void stream(const std::string& request) const {
    const json body = {{"runId", "streamed"}, {"events", {{{"type", "user_request"}, {"text", request}}}}, {"final", true}};
    EXPECT_EQ(service.post("/v1/ingest/events", key, body.dump()).status, 0);
  }
  // Whether the service, which is down, comes up with the run resolved before it has ended `most` times more.
  bool comes_up(int most) {
    for (; most >= 0; --most) {
      try {
        service.start();
        HttpAnswer run;
        const bool over = comes_true([&] {
          run = service.get("/v1/runs/streamed", key);
          return run.status == 0 || run.body.find("\"state\":\"resolved\"") != std::string::npos;
        });
        if (!over || run.status != 0) return over;
        service.wait_for_end();
      } catch (const std::runtime_error&) {
        // It ended before it listened.
      }
    }
    return false;
  }
};

TEST_P(UnseenEnd, KeepsTheServiceFromEndingForEver) {
  stream(GetParam());
  ASSERT_GT(service.wait_for_end(), 0);
  ASSERT_TRUE(comes_up(1)) << service.log_text();
  EXPECT_THAT(service.log_text(), HasSubstr("while evaluating run \\\"streamed\\\" of tenant \\\"acme\\\""));
  const HttpAnswer run = service.get("/v1/runs/streamed", key);
  EXPECT_EQ(status(run, "zoo"), "quarantined");
  EXPECT_EQ(status(run, "zoo_two"), "fired");
}
INSTANTIATE_TEST_SUITE_P(Ways, UnseenEnd,
                         testing::Values("_exit", "unhandled", "thread segv", "thread abort", "thread _exit", "thread exit"),
                         [](const auto& way) {
                           std::string name = way.param;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

using ThreadOfADetector = UnseenEnd;
INSTANTIATE_TEST_SUITE_P(Ways, ThreadOfADetector, testing::Values("thread usr1", "thread exit"),
                         [](const auto& way) { return way.param.substr(way.param.find(' ') + 1); });

TEST_P(ThreadOfADetector, EndingTheProcessDuringItsOnlyCall_IsKnownAtOnce) {
  stream(GetParam());
  ASSERT_GT(service.wait_for_end(), 0);
  EXPECT_TRUE(comes_up(0)) << service.log_text();
}

TEST_F(StuckDetector, KilledOnceDuringARun_ThenStoppedAndKilledAgain_NobodyIsAccused) {
  const std::string request = sleep();
  const auto post_and_kill = [&] {
    EXPECT_EQ(status(service.post("/v1/ingest/runs", key, run_json("", request)), "zoo"), "timeout");
    service.kill_hard();
    service.start();
    EXPECT_THAT(service.log_text(), HasSubstr("\"unfinished_call\""));
    EXPECT_THAT(service.log_text(), Not(HasSubstr("detector_crash")));
  };
  post_and_kill();
  EXPECT_EQ(status(service.post("/v1/ingest/runs", key, run_json("", request + " ")), "zoo"), "timeout");
  ASSERT_EQ(service.stop(), 0);
  service.start();
  EXPECT_THAT(service.log_text(), Not(HasSubstr("unfinished_call"))) << "a call that does not return keeps no stop from being one";
  post_and_kill();
}

class ForkedChild : public CrashingDetector {};
INSTANTIATE_TEST_SUITE_P(Ways, ForkedChild, testing::Values("child segv", "child exit", "child return"),
                         [](const auto& way) { return way.param.substr(way.param.find(' ') + 1); });

TEST_P(ForkedChild, ThatDies_LeavesNoMarkOfACrash) {
  EXPECT_EQ(status(service.post("/v1/ingest/runs", key, run_json("parent", GetParam())), "zoo"), "fired");
  service.kill_hard();
  service.start();
  EXPECT_THAT(service.log_text(), Not(HasSubstr("detector_crash")));
  EXPECT_EQ(status(service.post("/v1/ingest/runs", key, run_json("another", "nothing special")), "zoo"), "fired");
}

class CrashedRun : public CrashingDetector {};
INSTANTIATE_TEST_SUITE_P(Ways, CrashedRun, testing::Values("segv"));

TEST_P(CrashedRun, WithoutAnIdOfTheClient_IsKnownByItsBytes_AlsoAfterLaterRestarts) {
  const std::string killer = run_json("", GetParam());
  EXPECT_EQ(service.post("/v1/ingest/runs", key, killer).status, 0);
  ASSERT_GT(service.wait_for_end(), 0);
  service.start();
  ASSERT_EQ(service.stop(), 0);
  service.start();
  EXPECT_THAT(service.log_text(), Not(HasSubstr("detector_crash"))) << "it is told once";
  EXPECT_EQ(status(service.post("/v1/ingest/runs", key, killer), "zoo"), "quarantined");
  EXPECT_EQ(status(service.post("/v1/analyze", key, killer), "zoo"), "quarantined");
}

TEST_P(CrashedRun, OfEvents_ResolvesAfterTheRestart_WithoutIt) {
  const json body = {{"runId", "streamed"}, {"events", {{{"type", "user_request"}, {"text", GetParam()}}}}, {"final", true}};
  EXPECT_EQ(service.post("/v1/ingest/events", key, body.dump()).status, 0);
  ASSERT_GT(service.wait_for_end(), 0);
  service.start();
  HttpAnswer run;
  ASSERT_TRUE(comes_true([&] {
    run = service.get("/v1/runs/streamed", key);
    return run.body.find("\"state\":\"resolved\"") != std::string::npos;
  })) << run.body;
  EXPECT_EQ(status(run, "zoo"), "quarantined");
  EXPECT_EQ(status(run, "zoo_two"), "fired");
}

TEST_P(CrashedRun, OfAnotherTenant_IsAnotherRun) {
  EXPECT_EQ(service.post("/v1/ingest/runs", key, run_json("killer", GetParam())).status, 0);
  ASSERT_GT(service.wait_for_end(), 0);
  service.start();
  const std::string other = service.make_key("other");
  EXPECT_EQ(status(service.post("/v1/ingest/runs", other, run_json("killer", "nothing special")), "zoo"), "fired");
}

TEST_P(CrashedRun, TooManyOfThem_QuarantineTheDetector) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(service.post("/v1/ingest/runs", key, run_json("killer-" + std::to_string(i), GetParam())).status, 0);
    ASSERT_GT(service.wait_for_end(), 0);
    service.start();
  }
  const HttpAnswer answer = service.post("/v1/ingest/runs", key, run_json("killer-5", GetParam()));
  ASSERT_EQ(answer.status, 201);
  EXPECT_EQ(status(answer, "zoo"), "quarantined");
  EXPECT_THAT(detector(answer, "zoo")["reason"], HasSubstr("failed 5 times within 60 s, last: it crashed the process"));
  EXPECT_THAT(service.request(get_request("/readyz")).body, HasSubstr("\"quarantined\":[\"zoo\"]"));
  EXPECT_THAT(service.log_text(), HasSubstr("detector \\\"zoo\\\" is quarantined: failed 5 times"));
  service.signal(SIGHUP);
  ASSERT_TRUE(service.wait_for_log("\"reloaded\"")) << service.log_text();
  EXPECT_THAT(service.request(get_request("/readyz")).body, HasSubstr("\"quarantined\":[]"));
  EXPECT_EQ(status(service.post("/v1/ingest/runs", key, run_json("other", "nothing special")), "zoo"), "fired");
}

class Reload : public testing::Test {
 protected:
  void configure(ServiceProcess& service, const std::string& detectors) {
    std::ofstream(service.config_path()) << "server: {address: \"127.0.0.1:0\"}\nstore: {path: data}\n" << detectors;
  }
  static int count(const ServiceProcess& service, const std::string& event) {
    const std::string log = service.log_text();
    int found = 0;
    for (auto at = log.find(event); at != std::string::npos; at = log.find(event, at + 1)) ++found;
    return found;
  }
  void reload(ServiceProcess& service) {
    const int before = count(service, "\"reloaded\"");
    service.signal(SIGHUP);
    ASSERT_TRUE(comes_true([&] { return count(service, "\"reloaded\"") > before; })) << service.log_text();
  }
};

// What a client saw of the detectors while they were reloaded.
struct Seen {
  int answers = 0;
  int others = 0;                // answers that were no 201
  int mixed = 0;                 // answers whose findings were not of one and the same settings
  std::set<std::string> titles;  // of all answers
};

Seen post_until(const ServiceProcess& service, const std::string& key, const std::atomic<bool>& stop) {
  Seen seen;
  HttpClient client = HttpClient::to(service.port());
  while (!stop) {
    client.send(post_request("/v1/ingest/runs", R"({"userRequestText":"nothing special"})", "Authorization: Bearer " + key + "\r\n"));
    const auto answer = client.answer();
    ++seen.answers;
    if (!answer || answer->status != 201) {
      ++seen.others;
      return seen;
    }
    std::set<std::string> titles;
    const json body = json::parse(answer->body);
    for (const json& failure : body["failures"]) titles.insert(failure["title"].get<std::string>());
    seen.mixed += titles.size() == 1 && body["failures"].size() == 2 ? 0 : 1;
    seen.titles.merge(titles);
  }
  return seen;
}

TEST_F(Reload, UnderLoad_NoRequestFails_AndEachRunIsJudgedByOneSetOfSettings) {
  const auto yaml = [](int repeats) { return detectors_yaml("  deadline: 10s\n", obedient(repeats)); };
  ServiceProcess service{options(yaml(2))};
  const std::string key = service.make_key();
  constexpr int kReloads = 25;
  std::atomic<bool> stop{false};
  std::vector<Seen> seen(3);
  std::vector<std::thread> clients;
  for (Seen& one : seen) clients.emplace_back([&] { one = post_until(service, key, stop); });
  for (int i = 0; i < kReloads; ++i) {
    configure(service, yaml(3 + i));
    reload(service);
    EXPECT_THAT(service.post("/v1/analyze", key, "{}").body, HasSubstr("\"repeats " + std::to_string(3 + i) + "\""));
  }
  stop = true;
  for (std::thread& client : clients) client.join();
  std::set<std::string> titles;
  for (const Seen& one : seen) {
    EXPECT_GT(one.answers, 0);
    EXPECT_EQ(one.others, 0);
    EXPECT_EQ(one.mixed, 0);
    titles.insert(one.titles.begin(), one.titles.end());
  }
  EXPECT_GT(titles.size(), 3u) << "the settings of several reloads were in force in turn";
  EXPECT_EQ(service.stop(), 0);
}

TEST_F(Reload, WhenADetectorHasChangedTheFolder_StillFindsTheFilesItWasStartedWith) {
  const TempFolder folder;
  const std::string script = folder.write(
      "runwarden", "#!/bin/sh\ncd \"${3%/*}\" && exec " + runwarden_binary() + " serve --config \"${3##*/}\" --data-dir data\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  ServiceProcess::Options started = options(detectors_yaml("", "    - {key: zoo, library: changes_folder.so}\n"));
  started.binary = script;
  ServiceProcess service{started};
  reload(service);
  EXPECT_THAT(service.log_text(), Not(HasSubstr("store.path")));
}

// Detectors that do not return from create or destroy.
class Hanging : public Reload {
 protected:
  static ServiceProcess::Options with(const std::string& library) {
    ServiceProcess::Options options;
    options.server = "drain_timeout: 1s";
    options.yaml = detectors_yaml("", "    - {key: zoo, library: " + library + "}\n");
    return options;
  }
  static std::string not_returned_from(const std::string& function, const std::string& library) {
    return "detector \\\"zoo\\\" (" RUNWARDEN_TEST_ZOO "/" + library + ") has not returned from " + function;
  }
  const std::string hanging_create = detectors_yaml("", "    - {key: zoo, library: hangs_on_settings.so, settings: {repeats: 3}}\n");
};

TEST_F(Hanging, AReloadThatHangsInCreate_IsLeftBySigterm) {
  ServiceProcess service{with("hangs_on_settings.so")};
  std::ofstream(service.config_path()) << "server: {address: \"127.0.0.1:0\"}\nstore: {path: data}\n" << hanging_create;
  service.signal(SIGHUP);  // create sends SIGTERM
  EXPECT_EQ(service.wait_for_end(), 0) << service.log_text();
  EXPECT_THAT(service.log_text(), HasSubstr(not_returned_from("create", "hangs_on_settings.so")));
  EXPECT_THAT(service.log_text(), HasSubstr("everything acknowledged is on disk"));
}

TEST_F(Reload, ThatSigtermInterrupts_EndsWithTheProcess) {
  ServiceProcess service{options(detectors_yaml("", "    - {key: zoo, library: stops_on_settings.so}\n"))};
  configure(service, detectors_yaml("", "    - {key: zoo, library: stops_on_settings.so, settings: {repeats: 3}}\n"));
  service.signal(SIGHUP);  // create sends SIGTERM, and its set is destroyed unused
  EXPECT_EQ(service.wait_for_end(), 0) << service.log_text();
  EXPECT_THAT(service.log_text(), HasSubstr("everything acknowledged is on disk"));
  EXPECT_THAT(service.log_text(), Not(HasSubstr("the process ends without it")));
}

TEST_F(Hanging, AStartThatHangsInCreate_IsLeftBySigterm) {
  const TempFolder folder;
  const std::string config = folder.path() / "runwarden.yaml";
  std::ofstream(config) << "server: {address: \"127.0.0.1:0\", drain_timeout: 1s}\nstore: {path: data}\n" << hanging_create;
  const CommandResult ended = run_command({runwarden_binary(), "serve", "--config", config});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out + ended.err, HasSubstr(not_returned_from("create", "hangs_on_settings.so")));
}

TEST_F(Hanging, ADestroyThatHangs_NeitherKeepsTheProcessNorAReload) {
  ServiceProcess service{with("hangs_at_the_end.so")};
  configure(service, detectors_yaml("", obedient(3)));
  reload(service);
  EXPECT_THAT(service.post("/v1/ingest/runs", service.make_key(), "{}").body, HasSubstr("\"repeats 3\""));
  EXPECT_EQ(service.stop(), 0) << service.log_text();
  EXPECT_THAT(service.log_text(), HasSubstr(not_returned_from("destroy", "hangs_at_the_end.so")));
}

TEST_F(Hanging, ADestroyThatHangsAtTheStop_IsLeftBehind) {
  ServiceProcess service{with("hangs_at_the_end.so")};
  EXPECT_EQ(service.stop(), 0) << service.log_text();
  EXPECT_THAT(service.log_text(), HasSubstr(not_returned_from("destroy", "hangs_at_the_end.so")));
}

TEST_F(Hanging, ADestroyThatCrashes_NamesItsDetector) {
  ServiceProcess service{with("crashes_at_the_end.so")};
  EXPECT_EQ(service.stop(), 128 + SIGABRT);
  EXPECT_THAT(service.log_text(), HasSubstr("detector \"zoo\" (" RUNWARDEN_TEST_ZOO
                                            "/crashes_at_the_end.so) crashed the process (SIGABRT) while it was destroyed"));
}

TEST_F(Reload, OfABrokenFile_LeavesTheOldSettingsInForce_AndSaysWhy) {
  ServiceProcess service{options(detectors_yaml("", obedient(7)))};
  const std::string key = service.make_key();
  struct Broken {
    std::string yaml, says;
  };
  const std::vector<Broken> faults = {{detectors_yaml("", obedient(7)) + "nonsense: [", "runwarden.yaml:"},
                                      {detectors_yaml("", "    - {key: zoo, library: obedient.so, settings: {repeats: 1}}\n"),
                                       "runwarden.yaml:7:60): expected an integer from 2"},
                                      {detectors_yaml("", "    - {key: zoo, library: create_fails.so}\n"), "no licence for today"},
                                      {detectors_yaml("", "    - {key: zoo, library: not_there.so}\n"), "not_there.so"},
                                      {detectors_yaml("  tenants: {acme: {disabled: [lion]}}\n", obedient(7)), "lion"}};
  int refused = 0;
  for (const Broken& one : faults) {
    configure(service, one.yaml);
    service.signal(SIGHUP);
    ++refused;
    ASSERT_TRUE(comes_true([&] { return count(service, "\"reload_refused\"") == refused; })) << one.yaml << service.log_text();
    EXPECT_THAT(service.log_text(), HasSubstr(one.says));
    EXPECT_THAT(service.post("/v1/ingest/runs", key, "{}").body, HasSubstr("\"repeats 7\""));
  }
  const std::string metrics = service.request(get_request("/metrics")).body;
  EXPECT_THAT(metrics, HasSubstr("runwarden_reloads_total{result=\"refused\"} 5\n"));
  EXPECT_THAT(metrics, HasSubstr("runwarden_reloads_total{result=\"done\"} 0\n"));
  configure(service, detectors_yaml("", obedient(8)));
  reload(service);
  EXPECT_THAT(service.post("/v1/ingest/runs", key, "{}").body, HasSubstr("\"repeats 8\""));
}

TEST(PrintingDetector, ItsLinesAreBesideTheLogAtOnce) {
  ServiceProcess service{options(detectors_yaml("", obedient(3)))};
  EXPECT_EQ(status(service.post("/v1/ingest/runs", service.make_key(), run_json("", "print nothing else")), "zoo"), "fired");
  EXPECT_TRUE(service.wait_for_log("printed\n")) << service.log_text();
}

TEST_F(Reload, ReleasesFromQuarantine) {
  ServiceProcess service{
      options(detectors_yaml("  quarantine: {failures: 2, window: 10m}\n", "    - {key: zoo, library: returns_error.so}\n"))};
  const std::string key = service.make_key();
  for (const char* expected : {"error", "error", "quarantined"}) {
    EXPECT_EQ(status(service.post("/v1/ingest/runs", key, "{}"), "zoo"), expected);
  }
  EXPECT_THAT(service.request(get_request("/readyz")).body, HasSubstr("\"quarantined\":[\"zoo\"]"));
  EXPECT_THAT(service.request(get_request("/metrics")).body, HasSubstr("\nrunwarden_detector_quarantined{detector=\"zoo\"} 1\n"));
  reload(service);
  EXPECT_THAT(service.request(get_request("/readyz")).body, HasSubstr("\"quarantined\":[]"));
  EXPECT_THAT(service.request(get_request("/metrics")).body, HasSubstr("\nrunwarden_detector_quarantined{detector=\"zoo\"} 0\n"));
  EXPECT_EQ(status(service.post("/v1/ingest/runs", key, "{}"), "zoo"), "error");
}

TEST(Explaining, DoesNotCountAgainstADetector) {
  ServiceProcess service{
      options(detectors_yaml("  quarantine: {failures: 10, window: 10m}\n", "    - {key: zoo, library: returns_error.so}\n"))};
  const std::string key = service.make_key();
  ASSERT_EQ(status(service.post("/v1/ingest/runs", key, run_json("r1", "look")), "zoo"), "error");
  const std::string reader = service.make_key("acme", "read");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(status(service.get("/v1/runs/r1/explain", reader), "zoo"), "error");
  EXPECT_THAT(service.request(get_request("/readyz")).body, HasSubstr("\"quarantined\":[]"));
}

TEST_F(Reload, TakesUpDropInsAndTenantsOfTheirOwn) {
  const std::string common = "detectors:\n  search_path: [\"" RUNWARDEN_TEST_ZOO "\"]\n  include: [detectors.d/*.yaml]\n";
  ServiceProcess service{options(common)};
  const std::string acme = service.make_key("acme");
  const std::string other = service.make_key("other");
  EXPECT_EQ(json::parse(service.post("/v1/ingest/runs", acme, "{}").body)["detectors"].size(), 0u);
  std::filesystem::create_directory(service.folder() / "detectors.d");
  for (const char* name : {"zoo", "zoo_two"}) {
    std::ofstream(service.folder() / "detectors.d" / (std::string(name) + ".yaml"))
        << "key: " << name << "\nlibrary: obedient.so\nsettings: {repeats: 3}\n";
  }
  configure(service, common + "  tenants:\n    acme: {disabled: [zoo_two], settings: {zoo: {repeats: 5}}}\n");
  reload(service);
  const std::string of_acme = service.post("/v1/ingest/runs", acme, "{}").body;
  EXPECT_THAT(of_acme, HasSubstr("\"repeats 5\""));
  EXPECT_THAT(of_acme, Not(HasSubstr("zoo_two")));
  const std::string of_other = service.post("/v1/ingest/runs", other, "{}").body;
  EXPECT_THAT(of_other, HasSubstr("\"repeats 3\""));
  EXPECT_THAT(of_other, HasSubstr("zoo_two"));

  std::ofstream(service.folder() / "detectors.d" / "zoo.yaml") << "key: zoo\nlibrary: obedient.so\nsettings:\n  repeats: none\n";
  service.signal(SIGHUP);
  ASSERT_TRUE(service.wait_for_log("\"reload_refused\"", 20'000));
  EXPECT_THAT(service.log_text(), HasSubstr("zoo.yaml:4:12): expected an integer"));
  EXPECT_THAT(service.post("/v1/ingest/runs", other, "{}").body, HasSubstr("\"repeats 3\""));

  std::ofstream(service.folder() / "detectors.d" / "zoo.yaml") << "key: zoo\nlibrary: obedient.so\n";
  configure(service, common + "  tenants:\n    acme: {settings: {zoo: {repeats: 1001}}}\n");
  service.signal(SIGHUP);
  ASSERT_TRUE(comes_true([&] { return count(service, "\"reload_refused\"") == 2; }));
  EXPECT_THAT(service.log_text(), HasSubstr("runwarden.yaml:7:38): expected an integer from 2 to 1000, got 1001"));
}

// A command in a mount namespace of its own, where /proc is empty, as in a bare chroot.
CommandResult without_proc(std::vector<std::string> arguments) {
  std::vector<std::string> command{"/usr/bin/unshare", "-Urm", "sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_command(command);
}

TEST(WithoutProc, ALibraryThatCannotBeOpenedSaysSo_WithTheRemedy) {
  if (without_proc({"/bin/true"}).exit_code != 0) GTEST_SKIP() << "this machine lets no test make a mount namespace";
  const CommandResult inspected = without_proc({runwarden_binary(), "detectors", "inspect", RUNWARDEN_TEST_ZOO "/obedient.so"});
  EXPECT_EQ(inspected.exit_code, 1);
  EXPECT_THAT(inspected.out + inspected.err, HasSubstr("obedient.so: refused: cannot be opened because /proc is not mounted."));
  EXPECT_THAT(inspected.out + inspected.err, HasSubstr("Mount it (mount -t proc proc /proc)"));
  EXPECT_THAT(inspected.out + inspected.err, Not(HasSubstr("Build it")));
}

TEST(WithoutProc, DetectorsAreStillLookedForBesideTheProgram) {
  if (without_proc({"/bin/true"}).exit_code != 0) GTEST_SKIP() << "this machine lets no test make a mount namespace";
  const std::vector<std::string> command{runwarden_binary(), "detectors", "inspect", RUNWARDEN_TEST_ZOO "/obedient.so"};
  const std::string beside = (std::filesystem::path(runwarden_binary()).parent_path() / "../lib/runwarden/detectors").lexically_normal();
  ASSERT_THAT(run_command(command).out, HasSubstr(beside)) << "the note says where libraries may lie";
  EXPECT_THAT(without_proc(command).out, HasSubstr(beside));
}

}  // namespace
}  // namespace runwarden::test
