// Python's answers beside the evaluator's, on the labelled runs and on runs made to be read wrongly.
#include "guardrail/python.h"

#include <fstream>
#include <vector>

#include "runs.h"
#include "support/service_process.h"
#include "support/temp_folder.h"

namespace runwarden::guardrail {
namespace {

std::vector<json> labelled_runs() {
  std::vector<json> runs;
  std::ifstream in(RUNWARDEN_LABELLED_RUNS);
  for (std::string line; std::getline(in, line);) runs.push_back(json::parse(line)["run"]);
  EXPECT_GT(runs.size(), 400u);
  return runs;
}

// Forms that clients send and outputs that are hard to tell apart.
std::string nested_fences(int depth) {
  std::string text;
  for (int i = 0; i < depth; ++i) text += "```\n";
  text += "x\n";
  for (int i = 0; i < depth; ++i) text += "```\n";
  return text;
}

std::vector<json> hard_runs() {
  std::vector<json> runs;
  const json outputs = {nullptr,
                        "",
                        "null",
                        "None",
                        "{}",
                        "[ ]",
                        "\"\"",
                        "n/a",
                        "No results found.",
                        "0 results",
                        R"({"total":0})",
                        R"({"a":0,"b":0})",
                        "0 rows matched",
                        "0 conflicts found",
                        "```json\n[]\n```",
                        "```\n4\n```",
                        nested_fences(2000),
                        R"({"total":0,"page":1,"size":20,"items":[]})",
                        R"({"name":"Heron","size":20})",
                        R"({"status":200,"body":"[]"})",
                        "order_id,fee,depth",
                        "red,green,blue",
                        "<result total=\"0\"/>",
                        "<result fee=\"0\"/>",
                        R"({"a":0,"b":0,"c":0})",
                        R"({"status":"ok","items":[]})",
                        "{'error': None, 'data': []}",
                        "{'error': 'x'}",
                        R"({"error":{}})",
                        R"({"error":{"a":1}})",
                        R"({"errors":[]})",
                        R"({"errors":["x"]})",
                        R"({"errors":[{"a":[1]}],"status":"bad"})",
                        R"({"success":false})",
                        R"({"success":"false"})",
                        R"({"result":{"ok":false}})",
                        R"({"code":404,"message":"gone"})",
                        R"({"status":"not_found"})",
                        R"({"status":"failed"})",
                        R"({"error":"cut o)",
                        R"({"error":"cut","x":)",
                        "Error",
                        "error rate: 3",
                        "Errors: 0",
                        "ERROR-17",
                        "error, sorry",
                        "HTTP 404",
                        "http/1.1 502 bad gateway",
                        "404 not found",
                        "404 items",
                        "timeout: 30 s",
                        "Request timed out",
                        "Connection refused by peer",
                        "ValueError: x",
                        "java.io.IOException",
                        "**Error** x",
                        "[tool error: KeyError: 4]",
                        "Result: not found",
                        "\U0001F6AB Access denied",
                        "\u274c failed to send",
                        "The page does not exist.",
                        "Acceso denegado",
                        "Zugriff verweigert",
                        "a\nb\nc timeout",
                        "Permission denied\u2014ask",
                        "409 - version mismatch",
                        "409 - 12",
                        "AccessDenied: not for you",
                        "<soap:Fault>locked</soap:Fault>",
                        R"(<answer status="error"><msg>no</msg></answer>)",
                        "Booking declined by the house",
                        R"(HTTP 200 {"items":[]})",
                        R"(Status Code: 200. Response: {"error":"no such berth"})",
                        "Total: 0",
                        "results: []",
                        "<results/>",
                        R"(<rows total="0"></rows>)",
                        R"(<rows total="3"></rows>)",
                        "| berth | owner |\n|---|---|",
                        R"({"status":"NO_DATA"})",
                        R"({"totalResults":"0"})",
                        R"({"data":null,"errors":[]})",
                        R"({"text":""})",
                        R"({"@context":"x","value":[]})",
                        true,
                        0,
                        7.5,
                        {{"error", true}},
                        {{"message", "Not found."}},
                        json::array({json::object()}),
                        std::string(500, 'e'),
                        "Fehler: \u00fc",
                        "{\"detail\": \"Not found.\"}",
                        "access denied: 14",
                        "unauthorized",
                        "{\"content\": \"Error: x\"}",
                        R"([{"type": "text", "text": "Error: \"x\""}])",
                        R"({"content": [{"type": "text", "text": "Permission denied"}], "isError": false})",
                        R"([{"error": "x"}])",
                        R"([{"error": {"code": 4}}, {"id": 1}])",
                        R"([{"status": "failed"}])",
                        R"(["Permission denied"])",
                        R"({"errors": {"name": ["x"]}})",
                        R"({"errorMessages": ["x"], "errors": {}})",
                        "[TOOL RAISED EXCEPTION: no connection]",
                        R"({"code":"BERTH_TAKEN"})",
                        R"({"state":"blocked"})",
                        R"({"result":"insufficient_depth","reason":"tide"})",
                        R"({"success":"no"})",
                        R"({"code":"BERTH_NOT_FREE","message":"x"})",
                        R"({"status":"DOES_NOT_MATTER"})",
                        "Berth C-4 is already taken",
                        "Is already taken",
                        "HTTP 403: scope missing",
                        "status code 503",
                        "status 503",
                        "false",
                        "UPDATE 0",
                        "No berths.",
                        "No conflicts.",
                        "No problem",
                        "berth | fee\n(0 rows)",
                        "berth | fee\n(1 row)",
                        R"({"startAt":0,"total":0,"issues":[]})",
                        R"({"issues":[]})",
                        R"({"found":false})",
                        R"({"free":false})",
                        R"({"content":[{"type":"text","text":"[]"}]})",
                        R"({"content":[{"type":"text","text":"No berths"}]})",
                        "[berth 4, berth 5]",
                        "Tool 'x' executed.\nResult: Permission denied",
                        "Topic: Permission denied",
                        "<error>x</error>",
                        "# Error codes",
                        "#ERROR#",
                        "Weather API timed out",
                        "The old harbour server of the town is down",
                        "the lookup service is currently unavailable",
                        "Der Dienst antwortet nicht",
                        "KeyError('x')"};
  for (const char* tool : {"get_order", "crm.sendMail", "block_card", "lookUp", "browser", ""}) {
    json steps = json::array();
    for (const json& output : outputs) {
      steps = {call(tool, {{"outputSummary", output}, {"inputSummary", output}})};
      steps.push_back(said("The ORDER 8842 has been processed \u2014 couldn\u2019t fail."));
      runs.push_back(run_of(steps, {{"userRequestText", "Refund, please"}}));
    }
  }
  for (const json& output :
       {json(R"({"url":"https://port.example/t","page":"Error: 503"})"), json(R"({"url":"https://port.example/t","page":"ok"})"),
        json("Result: {'url': 'https://port.example/t', 'page': 'Error: 503'}"), json(R"({"page":"Error: 503"})"),
        json(R"({"url":"https://port.example/t","page":"Error: 503","by":"mast"})")}) {
    runs.push_back(run_of({call("read_page", {{"outputSummary", output}, {"inputSummary", R"({"url":"https://port.example/t"})"}})}));
  }
  const json inputs = {R"({"a":1,"b":[1.0,2]})",
                       R"({"b":[1,2],"a":1})",
                       "{'a': 1, 'b': [1, 2]}",
                       R"({"a":"\u00fc"})",
                       R"({"a":"ü"})",
                       R"({"a":1e2})",
                       R"({"a":100})",
                       " x ",
                       "x",
                       R"({"a":"\"\\"})",
                       R"({"a":{"b":null}})",
                       "{'a': {'b': None}}",
                       "[1",
                       "[1 ",
                       R"([true,false])"};
  for (const json& first : inputs) {
    for (const json& second : inputs) {
      runs.push_back(
          run_of({call("t", {{"inputSummary", first}}), call("t", {{"inputSummary", second}}), call("t", {{"inputSummary", first}})}));
    }
  }
  runs.push_back({{"steps",
                   {{{"stepKind", " Assistant "},
                     {"outputSummary", 8842},
                     {"metadata", {{"model", "GPT-4o"}, {"usage", {{"prompt_tokens", 9.0}}}}}}}}});
  runs.push_back({{"steps", {{{"stepKind", "retriever"}, {"status", "denied"}}}}, {"success", true}});
  runs.push_back({{"metadata", {{"model", "gpt-4o"}, {"inputTokens", nullptr}, {"promptTokens", 5000000}}}});
  runs.push_back({{"steps", nullptr}, {"outcomeSummary", nullptr}});
  return runs;
}

std::vector<Draft> drafts() {
  const auto tool = [](const char* outcome) { return json({{"call", {{"outcome", outcome}, {"last", true}}}}); };
  const json done = {{"reply", {{"anyWord", {"processed", "booked", "cancelled", "could not", "listo", "m\u00f6glich"}}}}};
  return {
      draft_at("before_reply", {{"all", {tool("failed"), done}}}),
      draft_at("before_reply", {{"all", {tool("empty"), {{"reply", {{"digits", 4}}}}, {{"not", done}}}}}),
      draft_at("after_tool", tool("failed")),
      draft_at("after_tool", tool("empty")),
      draft_at("after_tool", tool("ok")),
      draft_at("before_tool", {{"call", {{"sameInput", true}, {"atLeast", 2}}}}),
      draft_at("after_tool", {{"call", {{"sameInput", true}, {"atLeast", 2}, {"last", true}}}}),
      draft_at("before_tool", {{"call", {{"tool", {"t", "run_query", "get_order", "search_orders"}}, {"outcome", "any"}, {"atLeast", 2}}}}),
      draft_at("before_reply", {{"all",
                                 {{{"request", {{"anyWord", {"cancel", "refund", "book"}}}}},
                                  {{"noCall", {{"nameHas", {"cancel", "refund", "look up"}}}}}}}}),
      draft_at("before_model", {{"model", {{"name", "gpt-4o"}, {"inputTokensOver", 8}}}}),
      draft_at("before_model", {{"any", {{{"model", {{"inputTokensOver", 128000}}}}, {{"model", {{"name", "claude"}}}}}}}),
  };
}

// Prints a line a draft: 1 for each run that check() catches, else 0.
constexpr const char* kDriver = R"(
import json, sys
runs = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
for file in sys.argv[2:]:
    names = {}
    exec(compile(open(file, encoding="utf-8").read(), file, "exec"), names)
    found = [names["check"](run) for run in runs]
    assert all(one == [] or one == [{"name": "rule", "action": "block", "say": "no"}] for one in found)
    print("".join("1" if one else "0" for one in found))
)";

TEST(GuardrailPython, AnswersAsTheEvaluator) {
  std::vector<json> runs = labelled_runs();
  for (json& run : hard_runs()) runs.push_back(std::move(run));
  const test::TempFolder folder;
  std::string lines;
  for (const json& run : runs) lines += run.dump() + "\n";
  std::vector<std::string> command = {"/usr/bin/python3", folder.write("driver.py", kDriver), folder.write("runs.jsonl", lines)};
  const std::vector<Draft> all = drafts();
  for (std::size_t i = 0; i < all.size(); ++i) command.push_back(folder.write("draft" + std::to_string(i) + ".py", python_of(all[i])));
  const test::CommandResult python = test::run_command(command);
  ASSERT_EQ(python.exit_code, 0) << python.err;
  std::istringstream answers(python.out);
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string line;
    ASSERT_TRUE(std::getline(answers, line));
    ASSERT_EQ(line.size(), runs.size());
    Evaluator evaluator(all[i]);
    std::size_t caught = 0;
    for (std::size_t k = 0; k < runs.size(); ++k) {
      const bool expected = evaluator.catches(read(runs[k])).value();
      caught += expected ? 1 : 0;
      EXPECT_EQ(line[k] == '1', expected) << "draft " << i << " " << runs[k].dump().substr(0, 600);
    }
    EXPECT_GT(caught, 0u) << "draft " << i;
    EXPECT_LT(caught, runs.size()) << "draft " << i;
  }
}

TEST(GuardrailPython, WhatADraftDoesNotNeed_IsLeftOut) {
  const std::string short_one = python_of(draft_at("before_reply", {{"reply", {{"digits", 4}}}}));
  EXPECT_EQ(short_one.find("_soft_failure"), std::string::npos);
  EXPECT_EQ(short_one.find("@@"), std::string::npos);
  EXPECT_NE(short_one.find("LangChain after_model"), std::string::npos);
  EXPECT_NE(python_of(draft_at("after_tool", {{"call", {{"outcome", "failed"}}}})).find("_soft_failure"), std::string::npos);
}

TEST(GuardrailPython, TextsOfClients_StayTexts) {
  Draft draft = draft_at("before_reply", {{"reply", {{"digits", 1}}}});
  draft.title = "\"\"\"\nimport os @@DRAFT@@ \\";
  draft.say = "\"\"\" @@SIGNS@@ \n\\x";
  draft.name = "'; raise SystemExit(3) #";
  const test::TempFolder folder;
  const std::string file = folder.write("draft.py", python_of(draft) + "\nprint(json.dumps(check({'outcomeSummary': '1'})))\n");
  const test::CommandResult python = test::run_command({"/usr/bin/python3", file});
  ASSERT_EQ(python.exit_code, 0) << python.err;
  EXPECT_EQ(json::parse(python.out), json::array({{{"name", draft.name}, {"action", "block"}, {"say", draft.say}}}));
}

}  // namespace
}  // namespace runwarden::guardrail
