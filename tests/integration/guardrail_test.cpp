// Guardrail drafts over real HTTP and on the real command line: drafted, tried, checked, accepted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "support/get_json.h"
#include "support/service_process.h"

namespace runwarden::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

json refund_run(const std::string& id, const std::string& claim, bool failed = true) {
  json step = {{"stepKind", "tool"}, {"stepName", "issue_refund"}, {"inputSummary", R"({"order": "A-8842"})"}};
  if (failed)
    step.update({{"status", "failed"}, {"errorMessage", "502 Bad Gateway"}});
  else
    step.update({{"status", "completed"}, {"outputSummary", "refunded"}});
  return {
      {"runId", id}, {"userRequestText", "Please refund order A-8842"}, {"success", true}, {"outcomeSummary", claim}, {"steps", {step}}};
}

class Guardrail : public testing::Test {
 protected:
  void post(const json& run) {
    const HttpAnswer answer = service_.post("/v1/ingest/runs", key_, run.dump());
    ASSERT_EQ(answer.status, 201) << answer.body;
  }
  json get(const std::string& path) { return get_json(service_, path, key_); }
  json failure() { return get("/v1/failures")["items"].at(0); }
  static std::string of(const json& failure, const std::string& query = {}) {
    return "/v1/failures/" + failure["failureId"].get<std::string>() + "/guardrail" + query;
  }
  std::string file(const std::string& name, const std::string& text) { return folder_.write(name, text); }
  CommandResult check(const std::vector<std::string>& arguments) const {
    std::vector<std::string> command = {runwarden_binary(), "guardrail", "check"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run_command(command);
  }

  ServiceProcess service_;
  TempFolder folder_;
  std::string key_ = service_.make_key();
};

TEST_F(Guardrail, AFailureAndItsGroup_GiveTheSameDraft_TriedOnStoredRuns) {
  post(refund_run("bad1", "Your refund has been processed."));
  post(refund_run("bad2", "The refund has been issued."));
  post(refund_run("good", "Your refund has been processed.", false));
  post(refund_run("honest", "The refund failed, I could not issue it."));
  const json draft = get(of(failure()));
  EXPECT_EQ(draft["format"], "guardrail/1");
  EXPECT_EQ(draft["name"], "false-success-issue-refund");
  EXPECT_EQ(draft["point"], "before_reply");
  EXPECT_EQ(draft["if"]["all"][0], json({{"call", {{"tool", "issue_refund"}, {"outcome", "failed"}, {"last", true}}}}));
  EXPECT_EQ(draft["then"]["action"], "retry_reply");
  EXPECT_EQ(draft["source"]["failureId"], failure()["failureId"]);
  EXPECT_EQ(draft["source"]["detectorKey"], "false_success");
  EXPECT_EQ(draft["source"]["runIds"][0], failure()["runId"]);
  EXPECT_EQ(draft["test"], json::parse(R"({"cluster": {"runs": 2, "caught": 2}, "others": {"runs": 2, "caught": 0}, "complete": true})"));
  const std::string cluster = draft["source"]["clusterId"];
  EXPECT_EQ(get("/v1/clusters/" + cluster + "/guardrail"), draft);
  EXPECT_EQ(get("/v1/changes")["items"].size(), 0u) << "nothing is stored";
}

TEST_F(Guardrail, EachForm_HasItsMediaType) {
  post(refund_run("bad", "Your refund has been processed."));
  const HttpAnswer as_json = service_.get(of(failure(), "?as=json"), key_);
  EXPECT_EQ(as_json.header("content-type"), "application/json");
  const HttpAnswer yaml = service_.get(of(failure(), "?as=yaml"), key_);
  EXPECT_EQ(yaml.header("content-type"), "application/yaml");
  EXPECT_THAT(yaml.body, StartsWith("format: guardrail/1\nname: false-success-issue-refund\n"));
  const HttpAnswer python = service_.get(of(failure(), "?as=python"), key_);
  EXPECT_EQ(python.header("content-type"), "text/x-python; charset=utf-8");
  const std::string module = file("draft.py", python.body + "\nprint(len(check(" +
                                                  R"({"steps": [{"stepKind": "tool", "stepName": "issue_refund", "status": "failed"}],)" +
                                                  R"( "outcomeSummary": "Your refund has been processed."})" + ")))\n");
  EXPECT_EQ(run_command({"/usr/bin/python3", module}).out, "1\n");
  EXPECT_EQ(service_.get(of(failure(), "?as=rego"), key_).status, 400);
  EXPECT_EQ(service_.get(of(failure(), "?limit=1"), key_).status, 400);
}

TEST_F(Guardrail, ManyAtOnce_AreAllAnswered_AndIngestGoesOn) {
  for (int i = 0; i < 20; ++i) post(refund_run("bad" + std::to_string(i), "Your refund has been processed."));
  const std::string path = of(failure());
  std::vector<std::future<HttpAnswer>> answers;
  for (int i = 0; i < 16; ++i) answers.push_back(std::async(std::launch::async, [&] { return service_.get(path, key_); }));
  post(refund_run("meanwhile", "Your refund has been processed."));
  for (auto& one : answers) EXPECT_EQ(one.get().status, 200);
}

TEST_F(Guardrail, IsOfTheOwnTenantOnly) {
  post(refund_run("bad", "Your refund has been processed."));
  const std::string cluster = get(of(failure()))["source"]["clusterId"];
  const std::string foreign = service_.make_key("globex");
  EXPECT_EQ(service_.get(of(failure()), foreign).status, 404);
  EXPECT_EQ(service_.get("/v1/clusters/" + cluster + "/guardrail", foreign).status, 404);
  EXPECT_EQ(service_.get("/v1/failures/none/guardrail", key_).status, 404);
  EXPECT_EQ(service_.get("/v1/clusters/none/guardrail", key_).status, 404);
  EXPECT_EQ(service_.get(of(failure()), service_.make_key("acme", "ingest")).status, 403);
}

TEST_F(Guardrail, WhereThereIsNoDraft_AnswersConflict) {
  post({{"metadata", {{"model", "gpt-4o"}}}, {"steps", {{{"stepKind", "model"}, {"errorCode", "context_length_exceeded"}}}}});
  const HttpAnswer answer = service_.get(of(failure()), key_);
  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(json::parse(answer.body)["code"], "conflict");
}

TEST_F(Guardrail, AnAcceptedDraft_IsAPolicyRevisionAndAChange) {
  post(refund_run("bad", "Your refund has been processed."));
  json draft = get(of(failure()));
  draft.erase("test");
  const json policy = {{"policy", draft["name"]}, {"content", draft}, {"ref", failure()["failureId"]}};
  const HttpAnswer accepted = service_.post("/v1/ingest/policies", key_, policy.dump());
  ASSERT_EQ(accepted.status, 201) << accepted.body;
  EXPECT_EQ(json::parse(accepted.body)["ref"], failure()["failureId"]);
  const json stored = get("/v1/policies/false-success-issue-refund")["items"].at(0);
  EXPECT_EQ(stored["content"], draft);
  EXPECT_EQ(stored["revision"], "1");
  const json change = get("/v1/changes?kind=policy")["items"].at(0);
  EXPECT_EQ(change["ref"], failure()["failureId"]);
  EXPECT_EQ(
      check({file("accepted.json", stored["content"].dump()), file("bad.json", refund_run("x", "Your refund has been processed.").dump())})
          .exit_code,
      1)
      << "what was accepted can be checked";
}

TEST_F(Guardrail, Check_TellsEachFaultOnce) {
  const std::string no_draft = file("passwd", "root:x:0:0");
  const CommandResult refused = check({no_draft, file("run.json", "{}")});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.err, no_draft + ": the draft itself: expected an object, got \"root:x:0:0\"\n");
  const std::string draft = file("draft.json", R"({"format": "guardrail/1", "name": "d", "point": "before_reply",)"
                                               R"( "if": {"call": {"tool": "t"}}, "then": {"action": "block", "say": "no"}})");
  const std::string run = file("bad.json", R"({"steps": 3, "userRequestText": 5})");
  EXPECT_EQ(check({draft, run}).err, run +
                                         ": 2 faults found; the first: /steps must be an array of objects, got a number\n"
                                         "  /userRequestText: must be a string, got a number\n");
}

TEST_F(Guardrail, TheCommand_WritesTheSameDraft) {
  post(refund_run("bad", "Your refund has been processed."));
  const std::string id = failure()["failureId"];
  const json draft = get(of(failure()));
  const CommandResult by_failure = service_.cli({"guardrail", id, "--tenant", "acme"});
  ASSERT_EQ(by_failure.exit_code, 0) << by_failure.err;
  EXPECT_EQ(json::parse(by_failure.out), draft);
  const CommandResult by_cluster = service_.cli({"guardrail", draft["source"]["clusterId"], "--tenant", "acme", "--as", "yaml"});
  EXPECT_EQ(by_cluster.out, service_.get(of(failure(), "?as=yaml"), key_).body);
  EXPECT_THAT(service_.cli({"guardrail", id, "--tenant", "acme", "--as", "python"}).out, HasSubstr("def check(run):"));
  EXPECT_EQ(service_.cli({"guardrail", "fail_none", "--tenant", "acme"}).exit_code, 1);
  EXPECT_EQ(service_.cli({"guardrail", id, "--tenant", "globex"}).exit_code, 1);
  EXPECT_EQ(service_.cli({"guardrail", id}).exit_code, 2);
  EXPECT_EQ(service_.cli({"guardrail", "--tenant", "acme"}).exit_code, 2);
  EXPECT_EQ(service_.cli({"guardrail", id, "--tenant", "acme", "--as", "rego"}).exit_code, 2);
}

TEST_F(Guardrail, Check_SaysByItsExitCodeWhetherARunIsCaught) {
  post(refund_run("bad", "Your refund has been processed."));
  const std::string json_draft = file("draft.json", service_.get(of(failure()), key_).body);
  const std::string yaml_draft = file("draft.yaml", service_.get(of(failure(), "?as=yaml"), key_).body);
  const std::string bad = file("bad.json", get("/v1/runs/bad").dump());
  const std::string good = file("good.json", refund_run("good", "Your refund has been processed.", false).dump());
  for (const std::string& draft : {json_draft, yaml_draft}) {
    const CommandResult caught = check({draft, good, bad});
    EXPECT_EQ(caught.exit_code, 1) << caught.err;
    EXPECT_EQ(caught.out, "passed " + good + "\ncaught " + bad +
                              " retry_reply: issue_refund failed (502 Bad Gateway): say so, do not claim success.\n");
    EXPECT_EQ(check({draft, good}).exit_code, 0);
  }
  const std::string lines =
      file("runs.ndjson", refund_run("a", "It failed.").dump() + "\n" + refund_run("b", "The refund is processed.").dump() + "\n");
  EXPECT_THAT(check({json_draft, lines, "--ndjson"}).out, HasSubstr("passed " + lines + ":1\ncaught " + lines + ":2"));
}

TEST_F(Guardrail, WhereNoWordClaimsTheDeed_HonestRepliesPass) {
  const json honest = refund_run("honest", "I am sorry, the refund did not go through. Please contact support.");
  const std::string passes = file("honest.json", honest.dump());
  int drafts = 0;
  for (const char* const claim : {"Everything is taken care of!", ""}) {
    SCOPED_TRACE(claim);
    const std::string id = "bad" + std::to_string(drafts++);
    post(refund_run(id, claim));
    const json found = get("/v1/failures?runId=" + id)["items"].at(0);
    const std::string bad = file(id + ".json", get("/v1/runs/" + id).dump());
    for (const char* const form : {"json", "yaml"}) {
      const std::string draft = file(id + "-draft." + form, service_.get(of(found, std::string("?as=") + form), key_).body);
      EXPECT_EQ(check({draft, passes}).exit_code, 0) << form;
      EXPECT_EQ(check({draft, bad}).exit_code, 1) << form;
    }
    const std::string module = file(id + ".py", service_.get(of(found, "?as=python"), key_).body +
                                                    "\nimport sys\nprint([len(check(json.load(open(name)))) for name in sys.argv[1:]])\n");
    EXPECT_EQ(run_command({"/usr/bin/python3", module, passes, bad}).out, "[0, 1]\n");
  }
}

TEST_F(Guardrail, Check_OfWhatCannotBeRead_IsWrongUsage) {
  const std::string good = file("good.json", refund_run("good", "Done.", false).dump());
  const std::string wrong =
      file("wrong.json",
           R"({"format":"guardrail/1","name":"n","point":"before_reply","if":{"reply":{"anyWord":"refund"}},"then":{"action":"warn"}})");
  const CommandResult refused = check({wrong, good});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("/if/reply/anyWord: expected an array of strings, got \"refund\""));
  EXPECT_EQ(refused.out, "");
  const std::string fine = file("fine.yaml", "format: guardrail/1\nname: n\npoint: before_reply\nif: {call: {}}\nthen: {action: warn}\n");
  EXPECT_EQ(check({fine, good}).exit_code, 1);
  EXPECT_EQ(check({fine, file("torn.json", "{\"steps\": [")}).exit_code, 2);
  EXPECT_EQ(check({fine, good, folder_.path() / "none.json"}).exit_code, 2);
  EXPECT_EQ(check({folder_.path() / "none.yaml", good}).exit_code, 2);
  EXPECT_EQ(check({file("deep.json", std::string(100'000, '[')), good}).exit_code, 2);
  EXPECT_EQ(check({file("deep.yaml", "a: " + std::string(100'000, '[')), good}).exit_code, 2);
  EXPECT_EQ(check({fine}).exit_code, 2);
}

// Drafts of all failures that the detectors find in the labelled runs.
class GuardrailLabelled : public Guardrail {
 protected:
  struct Sums {
    int drafts = 0;
    int without = 0;
    std::int64_t runs = 0;
    std::int64_t caught = 0;
    std::int64_t others = 0;
    std::int64_t others_caught = 0;
  };

  void ingest() {
    std::ifstream in(RUNWARDEN_TEST_LABELLED_RUNS);
    std::string lines;
    for (std::string line; std::getline(in, line); ++runs_) {
      const json labelled = json::parse(line);
      json run = labelled["run"];
      run["runId"] = labelled["id"];
      lines += run.dump() + "\n";
    }
    ASSERT_GT(runs_, 400);
    runs_file_ = file("runs.ndjson", lines);
    const HttpAnswer answer =
        service_.request("POST /v1/ingest/runs HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer " + key_ +
                         "\r\nContent-Type: application/x-ndjson\r\nContent-Length: " + std::to_string(lines.size()) + "\r\n\r\n" + lines);
    ASSERT_EQ(answer.status, 200) << answer.body.substr(0, 300);
    ASSERT_EQ(json::parse(answer.body)["accepted"], runs_) << answer.body.substr(0, 2000);
  }

  int runs_ = 0;
  std::string runs_file_;
};

TEST_F(GuardrailLabelled, EachDraft_CatchesItsOwnRuns_AndPythonAgrees) {
  ingest();
  std::map<std::string, Sums> sums;
  std::vector<std::string> modules, drafts;
  const json clusters = get("/v1/clusters?state=all&limit=1000")["items"];
  for (const json& cluster : clusters) {
    const std::string path = "/v1/clusters/" + cluster["clusterId"].get<std::string>() + "/guardrail";
    Sums& sum = sums[cluster["detectorKey"]];
    const HttpAnswer answer = service_.get(path, key_);
    if (answer.status == 409) {
      ++sum.without;
      continue;
    }
    ASSERT_EQ(answer.status, 200) << answer.body;
    const json draft = json::parse(answer.body);
    const json& tried = draft["test"];
    EXPECT_TRUE(tried["complete"]);
    EXPECT_EQ(tried["cluster"]["caught"], tried["cluster"]["runs"]) << draft.dump(1);
    EXPECT_EQ(tried["cluster"]["runs"], cluster["window"]["affectedRuns"]) << draft["name"];
    EXPECT_EQ(tried["others"]["runs"], std::min(400, runs_ - tried["cluster"]["runs"].get<int>()));
    ++sum.drafts;
    sum.runs += tried["cluster"]["runs"].get<std::int64_t>();
    sum.caught += tried["cluster"]["caught"].get<std::int64_t>();
    sum.others += tried["others"]["runs"].get<std::int64_t>();
    sum.others_caught += tried["others"]["caught"].get<std::int64_t>();
    if (sum.drafts > 8) continue;  // of each detector enough to compare
    modules.push_back(file("draft" + std::to_string(modules.size()) + ".py", service_.get(path + "?as=python", key_).body));
    drafts.push_back(file("draft" + std::to_string(drafts.size()) + ".json", answer.body));
  }
  for (const auto& [detector, sum] : sums) {
    std::printf("%-20s drafts %3d, none %2d; of their groups' runs caught %lld of %lld; of others %lld of %lld\n", detector.c_str(),
                sum.drafts, sum.without, static_cast<long long>(sum.caught), static_cast<long long>(sum.runs),
                static_cast<long long>(sum.others_caught), static_cast<long long>(sum.others));
    EXPECT_GT(sum.drafts, 3) << detector;
    EXPECT_LT(sum.others_caught * 20, sum.others) << detector << ": a twentieth of what is no such failure is far too much";
  }
  EXPECT_EQ(sums.size(), 5u);

  std::vector<std::string> command = {"/usr/bin/python3", file("driver.py", R"(
import json, sys
lines = [line for line in open(sys.argv[1], encoding="utf-8")]
for module in sys.argv[2:]:
    names = {}
    exec(compile(open(module, encoding="utf-8").read(), module, "exec"), names)
    print("".join("1" if names["check"](json.loads(line)) else "0" for line in lines))
)"),
                                      runs_file_};
  command.insert(command.end(), modules.begin(), modules.end());
  const CommandResult python = run_command(command);
  ASSERT_EQ(python.exit_code, 0) << python.err;
  std::istringstream answers(python.out);
  for (const std::string& draft : drafts) {
    std::istringstream lines(check({draft, runs_file_, "--ndjson"}).out);
    std::string told;
    for (std::string line; std::getline(lines, line);) told += line.starts_with("caught") ? '1' : '0';
    std::string expected;
    ASSERT_TRUE(std::getline(answers, expected));
    EXPECT_EQ(told, expected) << draft;
    EXPECT_EQ(told.size(), static_cast<std::size_t>(runs_));
  }
}

}  // namespace
}  // namespace runwarden::test
