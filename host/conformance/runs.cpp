#include "conformance/runs.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/json_text.h"

namespace runwarden::conformance {
namespace {

constexpr std::size_t kLongText = std::size_t{1} << 20;

void write_step(JsonWriter& out, std::size_t i) {
  static constexpr std::array<const char*, 5> kKinds = {"tool", "model", "user", "retrieval", "tool"};
  static constexpr std::array<const char*, 6> kTools = {"search_orders", "get_order", "issue_refund", "send_email", "update_order", "wait"};
  const std::string number = std::to_string(i);
  const char* kind = kKinds[i % kKinds.size()];
  out.begin_object().key("stepId").string("s" + number).key("stepKind").string(kind);
  if (i % kKinds.size() == 0 || i % kKinds.size() == 4) {
    out.key("stepName").string(kTools[i / 7 % kTools.size()]);
    out.key("inputSummary").string(R"({"order":)" + std::to_string(8000 + i / 40) + R"(,"page":)" + std::to_string(i % 3) + "}");
    out.key("status").string(i % 11 == 0 ? "failed" : "completed");
    if (i % 11 == 0)
      out.key("errorMessage")
          .string("504 Gateway Timeout after " + number + " ms")
          .key("retryCount")
          .integer(static_cast<std::int64_t>(i % 5));
  }
  if (i % 13 != 0)
    out.key("outputSummary").string(i % 3 == 0 ? "[]" : "Order " + number + " was shipped on 2026-06-28, tracking 1Z999AA1" + number);
  if (i % 4 != 0) {
    const std::string minute = (i / 60 % 60 < 10 ? "0" : "") + std::to_string(i / 60 % 60);
    out.key("startedAt")
        .string("2026-11-20T15:" + minute + ":30Z")
        .key("endedAt")
        .string("2026-11-20T15:" + minute + (i % 9 == 0 ? ":10Z" : ":31Z"));
  }
  out.key("metadata").begin_object().key("inputTokens").integer(static_cast<std::int64_t>(i) * 10).end_object().end_object();
}

std::string run_of(const std::string& text) {
  std::string run;
  JsonWriter out(run);
  out.begin_object().key("userRequestText").string(text).key("success").boolean(true).key("outcomeSummary").string(text);
  out.key("metadata").begin_object().key("model").string(text).end_object().key("steps").begin_array();
  for (const char* kind : {"tool", "model", "user", "other"}) {
    out.begin_object().key("stepKind").string(kind).key("stepName").string(text).key("status").string(text);
    for (const char* member : {"errorCode", "errorMessage", "inputSummary", "outputSummary"}) out.key(member).string(text);
    out.key("metadata").begin_object().key("model").string(text).key("of " + text.substr(0, 8)).string(text).end_object().end_object();
  }
  out.end_array().end_object();
  return run;
}

}  // namespace

std::vector<std::string> empty_runs() {
  return {"{}", R"({"steps":[]})"};
}

std::string long_run() {
  std::string run;
  JsonWriter out(run);
  out.begin_object().key("userRequestText").string("Refund order 8842, then send me a confirmation").key("success").boolean(true);
  out.key("outcomeSummary").string("Your refund has been processed and the confirmation was sent.");
  out.key("metadata").begin_object().key("model").string("gpt-4o").key("costUsd").number(12.5).end_object().key("steps").begin_array();
  for (std::size_t i = 0; i < kManySteps; ++i) write_step(out, i);
  out.end_array().end_object();
  return run;
}

std::vector<std::string> null_runs() {
  const std::string step =
      R"({"stepId":null,"stepKind":null,"stepName":null,"status":null,"errorCode":null,"errorMessage":null,"inputSummary":null,)"
      R"("outputSummary":null,"retryCount":null,"startedAt":null,"endedAt":null,"metadata":null})";
  const std::string run =
      R"({"userRequestText":null,"success":null,"outcomeSummary":null,"startedAt":null,"endedAt":null,"metadata":null,"steps":)";
  std::string kinds = "[";
  for (const char* kind : {"tool", "model", "user"}) {
    kinds += std::string(kinds.size() > 1 ? "," : "") + R"({"stepKind":")" + kind +
             R"(","stepName":"","status":"","errorMessage":"","outputSummary":null,)" +
             R"("inputSummary":null,"metadata":{"model":null,"inputTokens":null,"costUsd":null}})";
  }
  return {run + "null}", run + "[" + step + "," + step + "]}", run + kinds + "]}", R"({"steps":[{},{},{}]})"};
}

std::vector<std::string> unusual_runs() {
  std::vector<std::string> runs;
  const std::array<std::string, 9> texts = {
      "Ihre Erstattung wurde ausgef\xC3\xBChrt \xE2\x80\x94 \xE2\x80\x9E"
      "fertig\xE2\x80\x9C",
      "e\xCC\x81\xCC\x82\xCC\x83\xCC\x84 \xEF\xAC\x81 \xE2\x84\xAB",  // combining, ligature, Angstrom
      "\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D \xE2\x80\xAE"
      "desrever\xE2\x80\xAC \xD9\x85\xD8\xB1\xD8\xAD\xD8\xA8\xD8\xA7",  // right to left, override
      "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7 \xF0\x9D\x94\x98\xF0\x9D\x94\x99 \xF4\x8F\xBF\xBF",
      "\xE2\x80\x8B\xEF\xBB\xBF\xC2\xAD\xE2\x81\xA0",  // invisible
      std::string("a\x01\x02\x1F\x7F\xC2\x85\xE2\x80\xA8 b\r\n\t"),
      R"({"error":{"message":"\u0000 \ud83d\ude00","code":[[[[]]]]},"items":[null,{"a":1e308}]})",
      R"({"broken": "json, )",
      "Done. Done? Not done! \"Done\" 'done' (done) #done"};
  std::transform(std::begin(texts), std::end(texts), std::back_inserter(runs), run_of);
  std::string long_text;
  while (long_text.size() < kLongText) long_text += "The order 8842 was refunded \xE2\x82\xAC 12.50 at 10:15, ";
  runs.push_back(R"({"userRequestText":"refund","success":true,"outcomeSummary":")" + long_text +
                 R"(","steps":[{"stepKind":"tool","stepName":"x","outputSummary":")" + long_text + R"("}]})");
  runs.push_back(R"({"steps":[{"stepKind":"model","outputSummary":")" + std::string(kLongText, 'a') + R"("}]})");
  return runs;
}

std::vector<std::string> ordinary_runs() {
  const std::string search =
      R"({"stepKind":"tool","stepName":"search_orders","inputSummary":"{\"q\":1}","outputSummary":"[]","status":"completed"})";
  return {
      R"({"userRequestText":"Refund order 8842","success":true,"outcomeSummary":"Your refund has been processed.","steps":[)"
      R"({"stepKind":"tool","stepName":"issue_refund","status":"failed","errorMessage":"502 Bad Gateway",)"
      R"("startedAt":"2026-11-20T15:00:00Z","endedAt":"2026-11-20T15:04:00+00:00","metadata":{"httpStatus":502,"costUsd":0.1}}]})",
      R"({"userRequestText":"Find my order","metadata":{"costUsd":0.9},"steps":[)" + search + "," + search + "," + search + "," + search +
          "]}",
      R"({"userRequestText":"Where is order 8842?","steps":[{"stepKind":"tool","stepName":"get_order","outputSummary":"null"},)"
      R"({"stepKind":"model","outputSummary":"Order #8842 shipped on 2026-06-28 via UPS, tracking 1Z999AA10123456784."}]})",
      R"({"userRequestText":"Cancel my subscription","success":true,"outcomeSummary":"Done, your subscription has been cancelled.","steps":[)"
      R"({"stepKind":"model","outputSummary":"Done, your subscription has been cancelled. Write to ann@example.com."}]})",
      R"({"metadata":{"model":"gpt-4o","inputTokens":175000},"steps":[{"stepKind":"model","outputSummary":"Hello"}]})"};
}

}  // namespace runwarden::conformance
