
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "config/loading.h"
#include "config/settings.h"
#include "support/temp_folder.h"

namespace runwarden::config {
namespace {

struct SettingsTest : testing::Test {
  test::TempFolder folder;
  LoadOptions options;

  Result<Settings> read(const std::string& yaml) {
    options.path = folder.write("runwarden.yaml", yaml);
    options.named = true;
    return load(options);
  }

  // The faults, the folder's own name taken out.
  std::string faults(const std::string& yaml) {
    const auto settings = read(yaml);
    if (settings.ok()) return "none";
    std::string text = settings.error().detail;
    const std::string prefix = folder.path().string() + "/";
    for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) text.erase(at, prefix.size());
    return text;
  }
};

TEST_F(SettingsTest, WhenTheFileIsEmpty_HasTheDefaultsOfTheDesign) {
  const auto settings = read("");
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  EXPECT_EQ(settings->server.address, "127.0.0.1:8080");
  EXPECT_EQ(settings->server.drain_timeout_ms, 10'000);
  EXPECT_EQ(settings->limits.max_body_bytes, 8'388'608);
  EXPECT_EQ(settings->limits.max_batch_bytes, 268'435'456);
  EXPECT_EQ(settings->limits.max_json_depth, 64);
  EXPECT_EQ(settings->limits.max_batch_runs, 100'000);
  EXPECT_EQ(settings->limits.body_timeout_ms, 30'000);
  EXPECT_EQ(settings->buffer.idle_timeout_ms, 300'000);
  EXPECT_EQ(settings->buffer.max_age_ms, 86'400'000);
  EXPECT_EQ(settings->buffer.otlp_root_grace_ms, 10'000);
  EXPECT_EQ(settings->buffer.otlp_idle_timeout_ms, 900'000);
  EXPECT_EQ(settings->limits.otlp_max_body_bytes, 67'108'864);
  EXPECT_EQ(settings->limits.max_clusters, 100'000);
  EXPECT_THAT(settings->page.dimensions, testing::ElementsAre("model", "version", "environment", "agent"));
  EXPECT_EQ(settings->store.path, "/var/lib/runwarden");
  EXPECT_EQ(settings->store.map_size_bytes, 68'719'476'736);
  EXPECT_EQ(settings->store.max_commit_records, 512);
  EXPECT_EQ(settings->retention.runs_ms, 7'776'000'000);
  EXPECT_EQ(settings->retention.policies_ms, kForever);
  EXPECT_EQ(settings->retention.idempotency_keys_ms, 172'800'000);
  EXPECT_EQ(settings->retention.max_clock_step_ms, 604'800'000);
  EXPECT_EQ(settings->detectors.deadline_ms, 250);
  EXPECT_EQ(settings->detectors.quarantine_failures, 5);
  EXPECT_EQ(settings->detectors.quarantine_window_ms, 60'000);
  EXPECT_EQ(settings->log.level, "info");
  EXPECT_EQ(settings->source, folder.path() / "runwarden.yaml");
}

TEST_F(SettingsTest, WhenKeysAreGiven_TakesThem) {
  const auto settings = read(R"(
server: {address: "[::1]:0", threads: 2, drain_timeout: 3s, trusted_proxies: [10.0.0.0/8, "::1"], ops_address: "127.0.0.1:9"}
limits: {max_body_bytes: 1MiB, max_batch_bytes: 5000, requests_per_second: 0.5, burst: 7, header_timeout: 250ms, max_connections: 3, max_clusters: 9}
page: {dimensions: [team]}
buffer: {idle_timeout: 1h30m, max_age: 2d, max_events: 5, max_open_runs: 6}
store: {driver: lmdb, path: /srv/runs, map_size: 4MiB, commit_interval: 1ms, max_commit_records: 1}
retention: {runs: forever, failures: 1s, changes: 1d, policies: 400d, idempotency_keys: 1h, max_clock_step: 36h}
detectors: {deadline: 1s, quarantine: {failures: 2, window: 5m}, search_path: [/opt/d, rel], include: [], enabled: []}
log: {level: debug, format: text}
)");
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  EXPECT_EQ(settings->server.address, "[::1]:0");
  EXPECT_THAT(settings->server.trusted_proxies, testing::ElementsAre("10.0.0.0/8", "::1"));
  EXPECT_EQ(settings->limits.max_body_bytes, 1 << 20);
  EXPECT_EQ(settings->limits.max_batch_bytes, 5000);
  EXPECT_EQ(settings->limits.requests_per_second, 0.5);
  EXPECT_EQ(settings->limits.burst, 7);
  EXPECT_EQ(settings->limits.max_clusters, 9);
  EXPECT_THAT(settings->page.dimensions, testing::ElementsAre("team"));
  EXPECT_EQ(settings->limits.header_timeout_ms, 250);
  EXPECT_EQ(settings->buffer.idle_timeout_ms, 5'400'000);
  EXPECT_EQ(settings->store.path, "/srv/runs");
  EXPECT_EQ(settings->store.map_size_bytes, 4 << 20);
  EXPECT_EQ(settings->retention.runs_ms, kForever);
  EXPECT_EQ(settings->retention.failures_ms, 1000);
  EXPECT_EQ(settings->retention.max_clock_step_ms, 129'600'000);
  EXPECT_EQ(settings->detectors.quarantine_failures, 2);
  EXPECT_EQ(settings->detectors.quarantine_window_ms, 300'000);
  EXPECT_THAT(settings->detectors.search_path, testing::ElementsAre("/opt/d", (folder.path() / "rel").string()));
  EXPECT_EQ(settings->log.format, "text");
}

TEST_F(SettingsTest, RunsThatAreKeptShorterThanIdempotencyKeys_AreWarnedOf) {
  const auto warnings = [this](const std::string& retention) { return read("retention: {" + retention + "}\n")->service_warnings; };
  const std::string file = (folder.path() / "runwarden.yaml").string();
  EXPECT_THAT(warnings("runs: 1d"),
              testing::ElementsAre(
                  testing::AllOf(testing::HasSubstr("retention.runs (" + file + ":1:19): 1d is less than retention.idempotency_keys, 2d: "),
                                 testing::HasSubstr("keep runs at least as long"))));
  EXPECT_THAT(warnings("idempotency_keys: forever"),
              testing::ElementsAre(testing::HasSubstr(":1:31): 90d is less than retention.idempotency_keys, forever")));
  for (const char* fine : {"", "runs: 2d", "runs: forever", "runs: forever, idempotency_keys: forever"}) {
    EXPECT_THAT(warnings(fine), testing::ElementsAre()) << fine;
  }
}

TEST_F(SettingsTest, PublicUrl_MayEndWithThePagesOwnPath) {
  for (const char* url :
       {"https://ops.example.com", "https://ops.example.com/", "https://ops.example.com/ui", "https://ops.example.com/ui/"}) {
    const auto settings = read("page: {public_url: \"" + std::string(url) + "\"}\n");
    ASSERT_TRUE(settings.ok()) << settings.error().detail;
    EXPECT_EQ(settings->page.public_url, "https://ops.example.com") << url;
  }
}

struct FaultCase {
  const char* yaml;
  const char* text;
};

class SettingsFault : public SettingsTest, public testing::WithParamInterface<FaultCase> {};
TEST_P(SettingsFault, SaysWhatWhereAndWhatWasExpected) {
  EXPECT_EQ(faults(GetParam().yaml), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Table, SettingsFault,
    testing::Values(
        FaultCase{"limits:\n  burst: ten\n",
                  "config: limits.burst (runwarden.yaml:2:10): expected an integer from 0 to 1000000, got \"ten\""},
        FaultCase{"limits: {max_clusters: 0}\n",
                  "config: limits.max_clusters (runwarden.yaml:1:24): expected an integer from 1 to 10000000, got 0"},
        FaultCase{
            "page: {public_url: \"https://ops.example.com/?q\"}\n",
            "config: page.public_url (runwarden.yaml:1:20): expected where people open the page, such as https://runwarden.example.com, "
            "without ? and #, got \"https://ops.example.com/?q\""},
        FaultCase{
            "page: {public_url: \"https://ops.example.com/ui/#/groups\"}\n",
            "config: page.public_url (runwarden.yaml:1:20): expected where people open the page, such as https://runwarden.example.com, "
            "without ? and #, got \"https://ops.example.com/ui/#/groups\""},
        FaultCase{"page: {dimensions: version}\n", "config: page.dimensions (runwarden.yaml:1:20): expected a list, got \"version\""},
        FaultCase{"page: {dimensions: [a, b, a]}\n",
                  "config: page.dimensions[2] (runwarden.yaml:1:27): expected each name once, got \"a\" again"},
        FaultCase{"page: {dimensions: [a, b, c, d, e, f, g, h, i]}\n",
                  "config: page.dimensions (runwarden.yaml:1:20): expected at most 8 names, got 9"},
        FaultCase{"page: {dimension: [a]}\n",
                  "config: page.dimension (runwarden.yaml:1:8): unknown key; the nearest known one is dimensions"},
        FaultCase{"limits: {burst: -1}\n", "config: limits.burst (runwarden.yaml:1:17): expected an integer from 0 to 1000000, got -1"},
        FaultCase{"limits: {burst: 1.5}\n", "config: limits.burst (runwarden.yaml:1:17): expected an integer from 0 to 1000000, got 1.5"},
        FaultCase{"limits: {burst: \"5\"}\n",
                  "config: limits.burst (runwarden.yaml:1:17): expected an integer from 0 to 1000000, got \"5\""},
        FaultCase{"limits: {burst: [5]}\n",
                  "config: limits.burst (runwarden.yaml:1:17): expected an integer from 0 to 1000000, got a list"},
        FaultCase{"limits: {max_connections: 99999999999999999999}\n",
                  "config: limits.max_connections (runwarden.yaml:1:27): expected an integer from 1 to 1000000, got 99999999999999999999"},
        FaultCase{"limits: {requests_per_second: .nan}\n",
                  "config: limits.requests_per_second (runwarden.yaml:1:31): expected a number from 0 to 1000000, got .nan"},
        FaultCase{"limits:\n  brust: 5\n", "config: limits.brust (runwarden.yaml:2:3): unknown key; the nearest known one is burst"},
        FaultCase{"limit: {burst: 5}\n", "config: limit (runwarden.yaml:1:1): unknown key; the nearest known one is limits"},
        FaultCase{"log: {zzz: 5}\n", "config: log.zzz (runwarden.yaml:1:7): unknown key; the known ones are level, format"},
        FaultCase{"limits: 5\n", "config: limits (runwarden.yaml:1:9): expected a mapping, got 5"},
        FaultCase{"- a\n", "config: runwarden.yaml:1:1: expected a mapping, got a list"},
        FaultCase{"log: {level: loud}\n",
                  "config: log.level (runwarden.yaml:1:14): expected one of debug, info, warn, error, got \"loud\""},
        FaultCase{"store: {driver: sqlite}\n",
                  "config: store.driver (runwarden.yaml:1:17): expected one of lmdb, postgres, got \"sqlite\""},
        FaultCase{"store: {driver: postgres}\n",
                  "config: store.driver (runwarden.yaml:1:17): expected lmdb, or postgres together with store.dsn, the database's address, "
                  "such as "
                  "\"host=db.internal user=runwarden dbname=runwarden\", got \"postgres\""},
        FaultCase{"store: {driver: postgres, dsn: host=db, read_connections: 0}\n",
                  "config: store.read_connections (runwarden.yaml:1:59): expected an integer from 1 to 256, got 0"},
        FaultCase{
            "store: {shards: {east: host=db}}\n",
            "config: store.shards (runwarden.yaml:1:17): expected an empty mapping, because shards are not in this version, got a mapping"},
        FaultCase{"store: {path: ''}\n", "config: store.path (runwarden.yaml:1:15): expected a folder, got \"\""},
        FaultCase{"store: {path: 5}\n",
                  "config: store.path (runwarden.yaml:1:15): expected text (in quotes if it looks like a number), got 5"},
        FaultCase{
            "store: {map_size: 3MiB}\n",
            "config: store.map_size (runwarden.yaml:1:19): expected a size from 4MiB to 64TiB (such as 8MiB, or bytes), got \"3MiB\""},
        FaultCase{"buffer: {idle_timeout: 5}\n",
                  "config: buffer.idle_timeout (runwarden.yaml:1:24): expected a duration from 1ms to 36500d (such as 250ms, 10s, 5m, 24h, "
                  "90d), got 5"},
        FaultCase{"buffer: {idle_timeout: forever}\n",
                  "config: buffer.idle_timeout (runwarden.yaml:1:24): expected a duration from 1ms to 36500d (such as 250ms, 10s, 5m, 24h, "
                  "90d), got \"forever\""},
        FaultCase{
            "retention: {runs: never}\n",
            "config: retention.runs (runwarden.yaml:1:19): expected a duration from 1ms to 36500d (such as 24h, 90d), or forever, got "
            "\"never\""},
        FaultCase{"server: {allow_plaintext: yes}\n",
                  "config: server.allow_plaintext (runwarden.yaml:1:27): expected true or false, got \"yes\""},
        FaultCase{"server: {address: 8080}\n",
                  "config: server.address (runwarden.yaml:1:19): expected text (in quotes if it looks like a number), got 8080"},
        FaultCase{"server: {address: \"example.org:80\"}\n",
                  "config: server.address (runwarden.yaml:1:19): expected a numeric address or localhost, and a port from 0 to 65535, such "
                  "as 127.0.0.1:8080 or "
                  "[::1]:8080, got \"example.org:80\""},
        FaultCase{"server: {address: \"0.0.0.0:80\"}\n",
                  "config: server.address (runwarden.yaml:1:19): expected a loopback address, because keys would cross the network "
                  "unencrypted (put a TLS proxy in front, or set server.allow_plaintext: true), got \"0.0.0.0:80\""},
        FaultCase{"server: {trusted_proxies: 10.0.0.1}\n",
                  "config: server.trusted_proxies (runwarden.yaml:1:27): expected a list, got \"10.0.0.1\""},
        FaultCase{"server:\n  trusted_proxies:\n    - 10.0.0.1\n    - 10.0.0.1/33\n",
                  "config: server.trusted_proxies[1] (runwarden.yaml:4:7): expected an address or a block, such as 10.0.0.7 or 10.0.0.0/8, "
                  "got \"10.0.0.1/33\""},
        FaultCase{"webhooks:\n  retry:\n    - 5s\n    - soon\n  allow:\n    - a.example\n    - a b\n",
                  "config: webhooks.retry[1] (runwarden.yaml:4:7): expected a duration from 1ms to 30d, such as 5m, got \"soon\"\n"
                  "config: webhooks.allow[1] (runwarden.yaml:7:7): expected an address, a block such as 10.1.0.0/16, or a host name, got "
                  "\"a b\""},
        FaultCase{"server: {trusted_proxies: [7, '']}\n",
                  "config: server.trusted_proxies[0] (runwarden.yaml:1:28): expected text, got 7\n"
                  "config: server.trusted_proxies[1] (runwarden.yaml:1:31): expected text, got \"\""},
        FaultCase{"log: {level: info}\nlog: {level: warn}\n",
                  "config: log (runwarden.yaml:2:1): duplicate key, first defined at runwarden.yaml:1:1; remove one"},
        FaultCase{"limits:\n  burst:\n", "config: limits.burst (runwarden.yaml:2:3): expected an integer from 0 to 1000000, got nothing"}));

TEST_F(SettingsTest, WhenThereAreManyFaults_TellsAllInTheOrderOfTheFile) {
  EXPECT_EQ(faults("log: {level: loud}\nlimits:\n  burst: ten\n  burst: 5\n  x: 1\nwrong: 1\n"),
            "config: log.level (runwarden.yaml:1:14): expected one of debug, info, warn, error, got \"loud\"\n"
            "config: limits.burst (runwarden.yaml:3:10): expected an integer from 0 to 1000000, got \"ten\"\n"
            "config: limits.burst (runwarden.yaml:4:3): duplicate key, first defined at runwarden.yaml:3:3; remove one\n"
            "config: limits.x (runwarden.yaml:5:3): unknown key; the nearest known ones are burst, max_clusters, body_timeout\n"
            "config: wrong (runwarden.yaml:6:1): unknown key; the nearest known ones are log, store, server");
}

TEST_F(SettingsTest, WhenASectionIsEmpty_KeepsItsDefaults) {
  const auto settings = read("limits:\nserver: ~\ndetectors:\n  enabled:\n  include:\n");
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  EXPECT_EQ(settings->limits.max_json_depth, 64);
}

TEST_F(SettingsTest, FaultOf_NamesWhereAKeyIsWritten) {
  options.environment = {{"RUNWARDEN_SERVER__ADDRESS", "127.0.0.1:0"}};
  const auto settings = read("store: {path: data}\n");
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  EXPECT_EQ(settings->fault_of("store.path"), "config: store.path (" + options.path.string() + ":1:15): ");
  EXPECT_EQ(settings->fault_of("server.address"), "config: server.address (RUNWARDEN_SERVER__ADDRESS): ");
  EXPECT_EQ(settings->fault_of("log.level"), "config: log.level: ");
}

TEST_F(SettingsTest, WhenTheStorePathIsRelative_StartsAtTheFile) {
  const auto settings = read("store: {path: data/../runs}\n");
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  EXPECT_EQ(settings->store.path, folder.path() / "runs");
}

TEST_F(SettingsTest, WhenPlaintextIsAllowed_TakesAnyAddress) {
  const auto settings = read("server: {address: \"0.0.0.0:80\", ops_address: \"[::]:81\", allow_plaintext: true}\n");
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  EXPECT_EQ(settings->server.ops_address, "[::]:81");
}

TEST_F(SettingsTest, WhenADataDirIsGiven_ItTakesThePlaceOfEveryOther) {
  options.data_dir = "/srv/elsewhere";
  options.environment = {{"RUNWARDEN_STORE__PATH", "/srv/env"}};
  const auto settings = read("store: {path: /srv/file}\n");
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->store.path, "/srv/elsewhere");
}

TEST_F(SettingsTest, WhenTheEnvironmentSaysSo_ScalarsOfTheFileAreOverridden) {
  options.environment = {{"RUNWARDEN_LIMITS__BURST", "20"},
                         {"RUNWARDEN_LIMITS__MAX_BODY_BYTES", "1KiB"},
                         {"RUNWARDEN_STORE__PATH", "/srv/123"},
                         {"RUNWARDEN_LOG__LEVEL", "warn"},
                         {"RUNWARDEN_RETENTION__RUNS", "forever"},
                         {"RUNWARDEN_DETECTORS__QUARANTINE__FAILURES", "9"},
                         {"RUNWARDEN_SERVER__OPS_ADDRESS", ""},
                         {"RUNWARDEN_CONFIG", "/ignored/here"},
                         {"HOME", "/root"},
                         {"RUNWARDEN_DETECTORS__DEADLINE", "2s"}};
  const auto settings = read("limits: {burst: 10, max_json_depth: 5}\nserver: {ops_address: \"127.0.0.1:9\"}\n");
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  EXPECT_EQ(settings->limits.burst, 20);
  EXPECT_EQ(settings->limits.max_json_depth, 5);
  EXPECT_EQ(settings->limits.max_body_bytes, 1024);
  EXPECT_EQ(settings->store.path, "/srv/123");
  EXPECT_EQ(settings->log.level, "warn");
  EXPECT_EQ(settings->retention.runs_ms, kForever);
  EXPECT_EQ(settings->detectors.quarantine_failures, 9);
  EXPECT_EQ(settings->detectors.deadline_ms, 2000);
  EXPECT_EQ(settings->server.ops_address, "");
}

struct VariableCase {
  const char* name;
  const char* value;
  const char* text;
};

class SettingsVariable : public SettingsTest, public testing::WithParamInterface<VariableCase> {};
TEST_P(SettingsVariable, WhenItIsWrong_IsNamed) {
  options.environment = {{GetParam().name, GetParam().value}};
  EXPECT_EQ(faults("limits: {burst: 5}\n"), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Table, SettingsVariable,
    testing::Values(VariableCase{"RUNWARDEN_LIMITS__BURST", "ten",
                                 "config: limits.burst (RUNWARDEN_LIMITS__BURST): expected an integer from 0 to 1000000, got \"ten\""},
                    VariableCase{"RUNWARDEN_LIMITS__BURST", "",
                                 "config: limits.burst (RUNWARDEN_LIMITS__BURST): expected an integer from 0 to 1000000, got nothing"},
                    VariableCase{"RUNWARDEN_LIMITS__BRUST", "5",
                                 "config: limits.brust (RUNWARDEN_LIMITS__BRUST): unknown key; the nearest known one is burst"},
                    VariableCase{"RUNWARDEN_LIMIT__BURST", "5",
                                 "config: limit (RUNWARDEN_LIMIT__BURST): unknown key; the nearest known one is limits"},
                    VariableCase{"RUNWARDEN_DETECTORS__SEARCH_PATH", "/a",
                                 "config: detectors.search_path (RUNWARDEN_DETECTORS__SEARCH_PATH): expected a list, which only the file "
                                 "can set, got \"/a\""}));

TEST_F(SettingsTest, WhenANamedFileIsMissing_SaysSo) {
  options.path = folder.path() / "nowhere.yaml";
  options.named = true;
  const auto settings = load(options);
  ASSERT_FALSE(settings.ok());
  EXPECT_EQ(settings.error().detail, "config: " + options.path.string() + ": cannot read the file: it does not exist; check the path");
}

TEST_F(SettingsTest, WhenTheNamedFileIsAFolder_SaysSo) {
  options.path = folder.path();
  options.named = true;
  const auto settings = load(options);
  ASSERT_FALSE(settings.ok());
  EXPECT_THAT(settings.error().detail, testing::HasSubstr("it is a folder, not a file; name a file"));
}

TEST_F(SettingsTest, WhenOnlyTheDefaultFileIsMeantAndMissing_HasBuiltInDefaults) {
  options.path = folder.path() / "nowhere.yaml";
  options.environment = {{"RUNWARDEN_LIMITS__BURST", "20"}};
  const auto settings = load(options);
  ASSERT_TRUE(settings.ok()) << settings.error().detail;
  EXPECT_EQ(settings->source, "");
  EXPECT_EQ(settings->limits.burst, 20);
}

TEST_F(SettingsTest, ChangedKeys_AreThoseWhoseValuesDiffer) {
  const auto changed = [this](const std::string& before, const std::string& after) {
    const auto one = read(before);
    const auto other = read(after);
    EXPECT_TRUE(one.ok() && other.ok());
    return changed_keys(*one, *other);
  };
  using testing::ElementsAre;
  EXPECT_THAT(
      changed("", "limits: {burst: 0, max_body_bytes: 8192KiB}\nstore: {path: /var/lib/runwarden}\nretention: {policies: forever}\n"),
      ElementsAre())
      << "defaults, written down";
  EXPECT_THAT(changed("buffer: {idle_timeout: 60s}\n", "buffer: {idle_timeout: 1m}\n"), ElementsAre());
  EXPECT_THAT(
      changed("", "server: {trusted_proxies: [10.0.0.7], allow_plaintext: true}\nlog: {level: warn}\nlimits: {requests_per_second: 0.5}\n"),
      ElementsAre("limits.requests_per_second", "log.level", "server.allow_plaintext", "server.trusted_proxies"));
  EXPECT_THAT(changed("retention: {runs: 1d}\nstore: {path: a, map_size: 4MiB}\n", "retention: {runs: forever}\nstore: {path: b}\n"),
              ElementsAre("retention.runs", "store.map_size", "store.path"));
  EXPECT_THAT(changed("detectors: {deadline: 1s}\n", "detectors: {include: []}\nredact: {rules: [{kind: card}]}\n"), ElementsAre());
  options.data_dir = "/srv/data";
  EXPECT_THAT(changed("store: {path: a}\n", "store: {path: b}\n"), ElementsAre()) << "neither is in force";
}

// Each key of the service's own sections is compared, whatever section is added.
TEST_F(SettingsTest, Values_AreThereForEveryKeyThatHoldsOne) {
  const auto settings = read("");
  ASSERT_TRUE(settings.ok());
  const auto keys = known_keys();
  for (const std::string& key : keys) {
    if (key == "store.shards") continue;  // holds nothing in this version
    if (key.find('.') == std::string::npos || key.starts_with("detectors.") || key.starts_with("redact.")) continue;
    const bool holds_keys = std::any_of(keys.begin(), keys.end(), [&](const std::string& other) { return other.starts_with(key + "."); });
    if (holds_keys) continue;
    EXPECT_TRUE(settings->values.contains(key)) << key;
  }
  EXPECT_GT(settings->values.size(), 30u);
}

TEST(ProcessOptions, TakesTheFlagBeforeTheVariableBeforeTheDefault) {
  ::unsetenv("RUNWARDEN_CONFIG");
  EXPECT_EQ(process_options("", "").path, "/etc/runwarden/runwarden.yaml");
  EXPECT_FALSE(process_options("", "").named);
  ::setenv("RUNWARDEN_CONFIG", "/from/variable.yaml", 1);
  EXPECT_EQ(process_options("", "").path, "/from/variable.yaml");
  EXPECT_TRUE(process_options("", "").named);
  EXPECT_EQ(process_options("/from/flag.yaml", "/data").path, "/from/flag.yaml");
  EXPECT_EQ(process_options("/from/flag.yaml", "/data").data_dir, "/data");
  ::unsetenv("RUNWARDEN_CONFIG");
}

}  // namespace
}  // namespace runwarden::config
