// The ledger over real HTTP and from the command line, checked by the auditor's program that the guide prints, by the program's own
// verifier and by OpenSSL's command.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "base/base64.h"
#include "base/digest.h"
#include "base/hex.h"
#include "support/files.h"
#include "support/service_process.h"
#include "support/webhook_receiver.h"

namespace runwarden::test {
namespace {

using nlohmann::json;

json run_named(const std::string& id, bool fails = false) {
  json run = {{"runId", id},
              {"userRequestText", "Please refund order 8842."},
              {"success", true},
              {"outcomeSummary", fails ? "Your refund has been processed." : "It could not be done: the gateway failed."},
              {"startedAt", "2026-11-20T15:00:00Z"},
              {"steps", {{{"stepKind", "tool"}, {"stepName", "issue_refund"}, {"status", "failed"}, {"errorMessage", "502 Bad Gateway"}}}}};
  return run;
}

// The program that the guide prints for an auditor.
std::string auditors_program() {
  const std::string page = read_file(std::string(RUNWARDEN_TEST_PAGES) + "/packaging/doc/ledger.md");
  const std::string begins = "```python\n";
  const auto at = page.find(begins);
  if (at == std::string::npos) throw std::runtime_error("the guide prints no program");
  const auto from = at + begins.size();
  return page.substr(from, page.find("```", from) - from);
}

class LedgerService : public testing::Test {
 protected:
  explicit LedgerService(const std::string& yaml = {})
      : service_({.yaml = yaml, .server = {}, .limits = "{}", .store = {}, .binary = {}, .environment = {}}),
        key_(service_.make_key("acme", "ingest,read,manage")) {}

  json post(int status, const std::string& path, const json& body) {
    const HttpAnswer answer = service_.post(path, key_, body.dump());
    EXPECT_EQ(answer.status, status) << path << " " << answer.body;
    return json::parse(answer.body, nullptr, false);
  }
  json get(const std::string& path, int status = 200) {
    const HttpAnswer answer = service_.get(path, key_);
    EXPECT_EQ(answer.status, status) << path << " " << answer.body;
    return json::parse(answer.body, nullptr, false);
  }
  CommandResult cli(const std::vector<std::string>& arguments) { return service_.cli(arguments); }
  // Nothing but what it printed; the exit has to be 0.
  std::string said(const std::vector<std::string>& arguments) {
    const CommandResult result = cli(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
    return result.out;
  }
  std::string file(const std::string& name, const std::string& text) {
    const std::string path = (service_.folder() / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::string export_ledger(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"ledger", "export", "--tenant", "acme", "--output", (service_.folder() / "acme.ledger").string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    said(arguments);
    return arguments[5];
  }
  CommandResult audit(const std::string& file_name) {
    return run_command({"/usr/bin/python3", file("audit.py", auditors_program()), file_name});
  }
  void expect_good(const std::string& file_name) {
    const CommandResult ours = run_command({runwarden_binary(), "ledger", "verify", file_name});
    EXPECT_EQ(ours.exit_code, 0) << ours.err;
    const CommandResult theirs = audit(file_name);
    EXPECT_EQ(theirs.exit_code, 0) << theirs.err;
  }
  void fill() {
    for (int i = 0; i < 5; ++i) post(201, "/v1/ingest/runs", run_named("r" + std::to_string(i), i % 2 == 1));
    post(201, "/v1/ingest/changes", {{"kind", "code"}, {"ref", "9f3c2d1"}});
    post(201, "/v1/ingest/policies", {{"policy", "refunds"}, {"content", {{"max", 50}}}, {"at", "2026-01-02T00:00:00Z"}});
    post(201, "/v1/ingest/runs", run_named("under a policy"));
    const std::string cluster = get("/v1/clusters")["items"][0]["clusterId"];
    post(200, "/v1/clusters/" + cluster + "/triage", {{"action", "resolve"}, {"note", "fixed"}});
  }
  // 20 entries a second are not waited for: what was answered is in the tree.
  static constexpr int kFilled = 9;

  ServiceProcess service_;
  std::string key_;
};

// What anybody can do with a proof and a checkpoint, by the formulas of the design alone.
std::string bytes(const Digest256& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}
bool proves(const json& proof) {
  const std::string salt = *bytes_from_hex(proof["salt"].get<std::string>());
  if (to_hex(sha256(salt + proof["body"].get<std::string>())) != proof["commit"]) return false;
  std::string hash = bytes(sha256(std::string(1, '\0') + proof["at"].get<std::string>() + "\n" + proof["kind"].get<std::string>() + "\n" +
                                  proof["commit"].get<std::string>() + "\n"));
  std::uint64_t node = proof["index"];
  std::uint64_t last = proof["size"].get<std::uint64_t>() - 1;
  for (const json& one : proof["path"]) {
    const std::string other = *bytes_from_hex(one.get<std::string>());
    if ((node & 1) != 0 || node == last) {
      hash = bytes(sha256("\x01" + other + hash));
      while ((node & 1) == 0 && node != 0) node >>= 1, last >>= 1;
    } else {
      hash = bytes(sha256("\x01" + hash + other));
    }
    node >>= 1;
    last >>= 1;
  }
  const std::string note = proof["checkpoint"];
  return last == 0 &&
         note.find("\n" + std::to_string(proof["size"].get<std::uint64_t>()) + "\n" + bytes_to_base64(hash) + "\n") != std::string::npos;
}

TEST_F(LedgerService, WhatWasAnswered_IsInTheCheckpoint) {
  const json empty = get("/v1/ledger");
  EXPECT_EQ(empty["size"], 0);
  fill();
  const json ledger = get("/v1/ledger");
  EXPECT_EQ(ledger["size"], kFilled);
  EXPECT_EQ(ledger["origin"], empty["origin"]);
  EXPECT_EQ(ledger["origin"].get<std::string>().rfind("runwarden/acme/", 0), 0U);
  EXPECT_EQ(bytes_from_base64(ledger["publicKey"].get<std::string>()).bytes.size(), 32U);
  EXPECT_TRUE(ledger["checkpointAt"].is_string());
  EXPECT_EQ(ledger["checkpoint"].get<std::string>().rfind(ledger["origin"].get<std::string>() + "\n" + std::to_string(kFilled) + "\n", 0),
            0U);
  EXPECT_EQ(said({"ledger", "key"}), ledger["publicKey"].get<std::string>() + "\n");
  EXPECT_EQ(said({"ledger", "checkpoint", "--tenant", "acme"}), ledger["checkpoint"]);
  const std::string note = file("note", ledger["checkpoint"]);
  const CommandResult openssl = run_command({"/usr/bin/python3", RUNWARDEN_TEST_CHECK_NOTE, note, ledger["publicKey"]});
  if (openssl.exit_code != 77) {
    EXPECT_EQ(openssl.exit_code, 0) << openssl.err;
  }
  const CommandResult other = run_command({"/usr/bin/python3", RUNWARDEN_TEST_CHECK_NOTE, note, bytes_to_base64(std::string(32, 'k'))});
  EXPECT_NE(other.exit_code, 0);
}

TEST_F(LedgerService, Proofs_OfRunsFailuresChangesAndPolicies) {
  fill();
  EXPECT_TRUE(proves(get("/v1/ledger/proof?record=r1")));
  const json run = get("/v1/runs/r1");
  const std::string failure = run["failures"][0]["failureId"];
  const json of_failure = get("/v1/ledger/proof?record=" + failure);
  EXPECT_TRUE(proves(of_failure));
  EXPECT_EQ(json::parse(of_failure["body"].get<std::string>())["runId"], "r1");
  const json change = get("/v1/changes?kind=code")["items"][0];
  EXPECT_TRUE(proves(get("/v1/ledger/proof?record=" + change["changeId"].get<std::string>())));
  const json policy = get("/v1/policies")["items"][0];
  const json of_policy = get("/v1/ledger/proof?record=" + policy["policyRevisionId"].get<std::string>());
  EXPECT_TRUE(proves(of_policy));
  EXPECT_EQ(of_policy["kind"], "policy");
  const json under = get("/v1/ledger/proof?record=under%20a%20policy");
  const json body = json::parse(under["body"].get<std::string>());
  EXPECT_EQ(body["policies"],
            (json::array({{{"policy", "refunds"}, {"revision", policy["revision"]}, {"contentSha256", policy["contentSha256"]}}})));
  EXPECT_EQ(body["executedAt"], "2026-11-20T15:00:00.000Z");
  EXPECT_EQ(body["revision"], 1);
  get("/v1/ledger/proof?record=nobody", 404);
  get("/v1/ledger/proof?record=r1&revision=2", 404);
  EXPECT_TRUE(proves(get("/v1/ledger/proof?revision=1&record=" + failure)));
  for (const std::string& record : {failure, change["changeId"].get<std::string>(), policy["policyRevisionId"].get<std::string>(), std::string("nobody")}) {
    get("/v1/ledger/proof?revision=77&record=" + record, 404);
  }
  get("/v1/ledger/proof", 400);
  get("/v1/ledger/proof?record=r1&revision=0", 400);
  get("/v1/ledger/proof?record=r1&other=1", 400);
  get("/v1/ledger?x=1", 400);
}

TEST_F(LedgerService, RunsOfEvents_AreEntriesWhenTheyResolve) {
  const json event = {{"type", "tool_call"}, {"name", "lookup"}};
  post(202, "/v1/ingest/events", {{"runId", "streamed"}, {"events", {event}}});
  EXPECT_EQ(get("/v1/ledger")["size"], 0);
  get("/v1/ledger/proof?record=streamed", 404);
  const HttpAnswer ended =
      service_.post("/v1/ingest/events", key_,
                    json{{"runId", "streamed"}, {"events", {{{"type", "run_finished"}, {"success", true}}}}, {"final", true}}.dump());
  ASSERT_LT(ended.status, 300) << ended.body;
  EXPECT_EQ(get("/v1/ledger")["size"], 1);
  EXPECT_TRUE(proves(get("/v1/ledger/proof?record=streamed")));
  const HttpAnswer again =
      service_.post("/v1/ingest/events", key_, json{{"runId", "streamed"}, {"events", {event}}, {"final", true}}.dump());
  ASSERT_LT(again.status, 300) << again.body;
  EXPECT_EQ(get("/v1/ledger")["size"], 2);
  EXPECT_EQ(get("/v1/ledger/proof?record=streamed")["index"], 1);
  EXPECT_EQ(get("/v1/ledger/proof?record=streamed&revision=1")["index"], 0);
}

TEST_F(LedgerService, Consistency_BetweenSizes) {
  fill();
  const json path = get("/v1/ledger/consistency?from=3&to=7");
  EXPECT_EQ(path["from"], 3);
  EXPECT_EQ(path["to"], 7);
  // RFC 9162, section 2.1.5: the proof between the trees of 3 and 7 leaves has four hashes.
  EXPECT_EQ(path["path"].size(), 4U);
  EXPECT_EQ(get("/v1/ledger/consistency?from=4&to=7")["path"].size(), 1U);
  EXPECT_EQ(get("/v1/ledger/consistency?from=7&to=7")["path"].size(), 0U);
  get("/v1/ledger/consistency?from=7&to=3", 400);
  get("/v1/ledger/consistency?from=0&to=1000", 400);
  get("/v1/ledger/consistency?from=0", 400);
  get("/v1/ledger/consistency?from=x&to=1", 400);
}

TEST_F(LedgerService, Export_IsVerifiedByTheGuidesProgramAndByOurs) {
  fill();
  expect_good(export_ledger());
  const std::string with_records = export_ledger({"--records"});
  expect_good(with_records);
  const std::string text = read_file(with_records);
  const std::string header = text.substr(0, text.find('\n'));
  EXPECT_EQ(json::parse(header)["format"], "runwarden-ledger/1");
  EXPECT_EQ(json::parse(header)["size"], kFilled);
  const std::size_t at = text.find("502 Bad Gateway");
  ASSERT_NE(at, std::string::npos);
  std::string changed = text;
  changed.replace(at, 3, "200");
  const CommandResult found = run_command({runwarden_binary(), "ledger", "verify", file("changed", changed)});
  EXPECT_EQ(found.exit_code, 1);
  EXPECT_NE(found.err.find("entry 0 was changed"), std::string::npos) << found.err;
  // The program that the guide prints finds what is changed in what it looks at.
  changed = text;
  changed.replace(changed.find("\\\"revision\\\":1"), 14, "\\\"revision\\\":2");
  EXPECT_NE(audit(file("changed", changed)).err.find("entry 0 was changed"), std::string::npos);
  const CommandResult whole = cli({"ledger", "export", "--tenant", "acme", "--records"});
  EXPECT_EQ(whole.out, text) << "the same on standard output";
}

class RedactingLedgerService : public LedgerService {
 protected:
  RedactingLedgerService() : LedgerService("redact: {rules: [{key: order_id}]}\n") {}
};
TEST_F(RedactingLedgerService, ARunKeptAsSentOrNot_HasTheDigestOfTheKeptDocument) {
  const std::string steps = R"("steps":[{"stepId":"s1","stepKind":"tool","stepName":"lookup","status":"ok"}]})";
  const std::string kept_as_sent = R"({"runId":"r0",)" + steps;
  const std::string with_a_space = R"({"runId": "r1",)" + steps;
  const std::string with_a_secret = R"({"runId":"r2","metadata":{"order_id":"8842-1177"},)" + steps;
  for (const std::string& body : {kept_as_sent, with_a_space, with_a_secret}) {
    EXPECT_EQ(service_.post("/v1/ingest/runs", key_, body).status, 201) << body;
  }
  const std::string exported = export_ledger({"--records"});
  expect_good(exported);
  std::istringstream lines(read_file(exported));
  std::string line;
  std::getline(lines, line);
  for (const std::string name : {"r0", "r1", "r2"}) {
    ASSERT_TRUE(std::getline(lines, line));
    const json entry = json::parse(line);
    const json body = json::parse(entry["body"].get<std::string>());
    const std::string document = entry["parts"]["document"];
    EXPECT_EQ(body["runId"], name);
    EXPECT_EQ(body["document"], to_hex(sha256(document))) << document;
    EXPECT_EQ(document == kept_as_sent, name == "r0") << document;
    EXPECT_TRUE(proves(get("/v1/ledger/proof?record=" + name)));
  }
}

TEST_F(LedgerService, AnOlderCheckpoint_IsABeginning) {
  fill();
  const std::string older = file("older", get("/v1/ledger")["checkpoint"]);
  post(201, "/v1/ingest/runs", run_named("later"));
  const std::string exported = export_ledger();
  const std::string public_key = get("/v1/ledger")["publicKey"];
  EXPECT_NE(said({"ledger", "verify", exported, "--after", older, "--public-key", public_key}).find("good"), std::string::npos);
  const CommandResult reverse =
      cli({"ledger", "verify", exported, "--after", file("newer", get("/v1/ledger")["checkpoint"].get<std::string>() + "x")});
  EXPECT_EQ(reverse.exit_code, 1);
  EXPECT_EQ(cli({"ledger", "verify", exported, "--public-key", bytes_to_base64(std::string(32, 'k'))}).exit_code, 1);
  EXPECT_EQ(cli({"ledger", "verify", exported, "--public-key", "short"}).exit_code, 2);
  EXPECT_EQ(cli({"ledger", "verify", "/nowhere"}).exit_code, 1);
}

TEST_F(LedgerService, RotateKey_BesideTheService) {
  fill();
  const std::string before = get("/v1/ledger")["publicKey"];
  const std::string fresh = said({"ledger", "rotate-key"});
  const json after = get("/v1/ledger");
  EXPECT_EQ(after["publicKey"].get<std::string>() + "\n", fresh);
  EXPECT_EQ(after["size"], kFilled + 1);
  const std::string note = file("note", after["checkpoint"]);
  for (const std::string& key : {before, after["publicKey"].get<std::string>()}) {
    const CommandResult openssl = run_command({"/usr/bin/python3", RUNWARDEN_TEST_CHECK_NOTE, note, key});
    if (openssl.exit_code != 77) {
      EXPECT_EQ(openssl.exit_code, 0) << openssl.err;
    }
  }
  expect_good(export_ledger());
}

TEST_F(LedgerService, Purge_ShowsAsOne) {
  fill();
  const std::string older = file("older", get("/v1/ledger")["checkpoint"]);
  said({"purge", "--tenant", "acme", "--yes"});
  const std::string exported = export_ledger();
  expect_good(exported);
  said({"ledger", "verify", exported, "--after", older});
  get("/v1/ledger/proof?record=r1", 404);
  const std::string text = read_file(exported);
  EXPECT_EQ(text.find("\"body\":\"{\\\"v\\\":1,\\\"runId"), std::string::npos);
  EXPECT_NE(text.find("\"kind\":\"purge\""), std::string::npos);
  said({"verify"});
}

TEST_F(LedgerService, PurgeWithTheLedger_PrintsItsLastCheckpoint) {
  fill();
  const json before = get("/v1/ledger");
  const std::string out = said({"purge", "--tenant", "acme", "--yes", "--ledger"});
  EXPECT_NE(out.find(before["origin"].get<std::string>() + "\n"), std::string::npos) << out;
  const json after = get("/v1/ledger");
  EXPECT_EQ(after["size"], 0);
  EXPECT_NE(after["origin"], before["origin"]);
  said({"verify"});
}

TEST_F(LedgerService, ABackupLookedIntoBeforeItIsServed_SignsUnderAnotherName) {
  fill();
  const json original = get("/v1/ledger");
  for (const std::vector<std::string>& look : {std::vector<std::string>{"ledger", "checkpoint"}, {"ledger", "export"}}) {
    ServiceProcess copy;
    copy.stop();
    std::filesystem::remove_all(copy.folder() / "data");
    said({"backup", (copy.folder() / "data").string()});
    EXPECT_EQ(copy.cli({look[0], look[1], "--tenant", "acme"}).exit_code, 0);
    copy.start();
    const HttpAnswer answer = copy.get("/v1/ledger", key_);
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_NE(json::parse(answer.body, nullptr, false)["origin"], original["origin"]) << look[1];
  }
}

TEST_F(LedgerService, ABundle_HoldsTheProof) {
  fill();
  const json bundle = get("/v1/runs/r1/bundle");
  EXPECT_TRUE(proves(bundle["ledger"]));
  EXPECT_EQ(json::parse(bundle["ledger"]["body"].get<std::string>())["document"], bundle["documentSha256"]);
  EXPECT_EQ(json::parse(said({"bundle", "--tenant", "acme", "r1"}))["ledger"], bundle["ledger"]);
}

class CheckpointsLeave : public LedgerService {
 protected:
  CheckpointsLeave() : LedgerService("ledger: {checkpoint_interval: 100ms}\nwebhooks: {allow: ['127.0.0.1'], allow_http: true}\n") {}
};

TEST_F(CheckpointsLeave, ByTheLog_AndByWebhook_WhenTheLedgerGrew) {
  WebhookReceiver receiver;
  post(201, "/v1/webhooks", {{"url", receiver.url("/hook")}, {"events", {"checkpoint.created"}}});
  post(201, "/v1/ingest/runs", run_named("r1"));
  const auto came = receiver.wait_for("/hook", 1);
  ASSERT_EQ(came.size(), 1U);
  const json body = json::parse(came[0].body);
  EXPECT_EQ(body["type"], "checkpoint.created");
  EXPECT_EQ(body["data"]["tenant"], "acme");
  EXPECT_EQ(body["data"]["checkpoint"], get("/v1/ledger")["checkpoint"]);
  EXPECT_TRUE(service_.wait_for_log("\"event\":\"checkpoint\"")) << service_.log_text();
  EXPECT_NE(service_.log_text().find("\"checkpoint\":" + body["data"]["checkpoint"].dump()), std::string::npos) << service_.log_text();
  const std::string metrics = service_.get("/metrics", "").body;
  EXPECT_NE(metrics.find("runwarden_ledger_entries 1"), std::string::npos);
  EXPECT_NE(metrics.find("runwarden_ledger_checkpoint_age_seconds"), std::string::npos);
  post(201, "/v1/ingest/runs", run_named("r2"));
  ASSERT_EQ(receiver.wait_for("/hook", 2).size(), 2U);
  EXPECT_NE(json::parse(receiver.wait_for("/hook", 2)[1].body)["data"]["checkpoint"], body["data"]["checkpoint"]);
}

class NoLedger : public LedgerService {
 protected:
  NoLedger() : LedgerService("ledger: {enabled: false}\n") {}
};

TEST_F(NoLedger, ThereIsNone) {
  post(201, "/v1/ingest/runs", run_named("r1"));
  get("/v1/ledger", 404);
  get("/v1/ledger/proof?record=r1", 404);
  EXPECT_EQ(get("/v1/runs/r1/bundle")["ledger"], nullptr);
  EXPECT_EQ(cli({"ledger", "checkpoint", "--tenant", "acme"}).exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(service_.folder() / "data" / "ledger.key"));
}

// kill -9 while runs come in: all that was answered is in the tree, and the tree is whole.
TEST_F(LedgerService, KilledUnderLoad_LosesNothingThatWasAnswered) {
  for (int round = 0; round < 3; ++round) {
    std::vector<std::string> answered;
    const std::string older = get("/v1/ledger")["checkpoint"];
    std::atomic<bool> killed{false};
    std::thread client([&] {
      HttpClient connection = HttpClient::to(service_.port());
      for (int i = 0; !killed; ++i) {
        const std::string id = "k" + std::to_string(round) + "-" + std::to_string(i);
        if (!connection.send(post_request("/v1/ingest/runs", run_named(id, true).dump(), "Authorization: Bearer " + key_ + "\r\n"))) return;
        const auto answer = connection.answer();
        if (!answer || answer->status != 201) return;
        answered.push_back(id);
        if (answered.size() == 60) killed = true;
      }
    });
    std::thread reader([&] {
      while (!killed) service_.get("/v1/ledger", key_);
      service_.kill_hard();
    });
    client.join();
    reader.join();
    service_.start();
    EXPECT_EQ(answered.size(), 60U);
    for (const std::string& id : answered) EXPECT_TRUE(proves(get("/v1/ledger/proof?record=" + id))) << id;
    const std::string exported = export_ledger();
    expect_good(exported);
    said({"ledger", "verify", exported, "--after", file("older", older)});
    said({"verify"});
  }
}

}  // namespace
}  // namespace runwarden::test
