// The shipped table: what each convention's spans become.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "config/otlp_mapping.h"
#include "intake/otlp/decode.h"
#include "intake/otlp/span_facts.h"
#include "intake/otlp/trace_run.h"
#include "intake/run_reader.h"
#include "support/otlp.h"

namespace runwarden::intake::otlp {
namespace {

using nlohmann::json;
using test::OtlpAttribute;
using test::OtlpSpan;
using testing::HasSubstr;

const model::SpanMapping& mapping() {
  static const model::SpanMapping table = [] {
    auto read = config::read_otlp_mapping(config::built_in_otlp_mapping());
    EXPECT_TRUE(read.ok()) << read.error().detail;
    return read.ok() ? std::move(*read) : model::SpanMapping();
  }();
  return table;
}

class Facts final : public SpanSink {
 public:
  void take(Span& span, const Origin& origin) override {
    EXPECT_EQ(span.fault, "");
    if (auto facts = facts_of(span, origin, mapping())) jsons.push_back(std::move(facts->json));
  }
  void restart() override { jsons.clear(); }
  std::vector<std::string> jsons;
};

std::vector<std::string> facts(const std::vector<OtlpSpan>& spans, const std::string& scope = "test") {
  Facts sink;
  EXPECT_TRUE(decode_protobuf(test::otlp_protobuf(spans, scope), {}, sink).ok());
  return sink.jsons;
}

json run_of(const std::vector<OtlpSpan>& spans, const std::string& scope = "test") {
  const std::string text = run_of_trace("r", facts(spans, scope));
  EXPECT_TRUE(read_run(text, {}, {}).ok()) << text;
  return json::parse(text);
}

json mapping_of(const std::vector<OtlpSpan>& spans) {
  return json::parse(mapping_of_trace(facts(spans), mapping()));
}

using AttributeList = std::vector<OtlpAttribute>;

std::string text(const char* value) {
  return value;
}

// Spans one after the other; the first is the parent of the rest.
class TraceBuilder {
 public:
  OtlpSpan& add(std::string name, AttributeList attributes) {
    OtlpSpan& span = spans_.emplace_back();
    const std::string number = std::to_string(spans_.size());
    span.span_id = std::string(16 - number.size(), '0') + number;
    if (spans_.size() > 1) span.parent_id = spans_.front().span_id;
    span.name = std::move(name);
    span.start_ms += static_cast<std::int64_t>(spans_.size()) * 1000;
    span.end_ms = span.start_ms + 500;
    span.attributes = std::move(attributes);
    return span;
  }
  static void fail(OtlpSpan& span) {
    span.status = 2;
    span.status_message = "payment gateway timed out";
    span.events.push_back({"exception", {{"exception.type", text("GatewayTimeout")}, {"exception.message", text("payment gateway timed out")}}});
  }
  const std::vector<OtlpSpan>& spans() const { return spans_; }

 private:
  std::vector<OtlpSpan> spans_;
};

// A refund whose tool failed, and which the model claims to be done: the same from every convention.
void expect_refund(const json& run) {
  EXPECT_EQ(run.value("userRequestText", ""), "Refund order 1234") << run.dump(1);
  EXPECT_EQ(run.value("outcomeSummary", ""), "Your refund has been processed.");
  EXPECT_FALSE(run.contains("success"));
  ASSERT_EQ(run["steps"].size(), 3u) << run.dump(1);
  const json& call = run["steps"][0];
  EXPECT_EQ(call["stepKind"], "model");
  EXPECT_EQ(call["stepName"], "gpt-4o");
  EXPECT_EQ(call["metadata"]["inputTokens"], 131);
  EXPECT_EQ(call["inputSummary"], "Refund order 1234");
  const json& tool = run["steps"][1];
  EXPECT_EQ(tool["stepKind"], "tool");
  EXPECT_EQ(tool["stepName"], "issue_refund");
  EXPECT_EQ(tool["status"], "failed");
  EXPECT_EQ(tool["errorCode"], "GatewayTimeout");
  EXPECT_THAT(tool["errorMessage"].get<std::string>(), HasSubstr("payment gateway timed out"));
  EXPECT_THAT(tool["inputSummary"].get<std::string>(), HasSubstr("1234"));
  EXPECT_EQ(run["steps"][2]["outputSummary"], "Your refund has been processed.");
  EXPECT_EQ(run["metadata"]["model"], "gpt-4o");
  EXPECT_EQ(run["metadata"]["inputTokens"], 311);
  EXPECT_EQ(run["metadata"]["service"], "shop");
  EXPECT_FALSE(run["metadata"].contains("onlyModelSpan"));
}

TEST(OtlpMapping, SemanticConventions) {
  TraceBuilder trace;
  trace.add("invoke_agent Refunds", {{"gen_ai.operation.name", text("invoke_agent")},
                                     {"gen_ai.agent.name", text("Refunds")},
                                     {"gen_ai.conversation.id", text("c1")},
                                     {"gen_ai.usage.input_tokens", std::int64_t{311}},
                                     {"gen_ai.input.messages", text(R"([{"role":"user","parts":[{"type":"text","content":"Refund order 1234"}]}])")},
                                     {"gen_ai.output.messages", text(R"([{"role":"assistant","parts":[{"type":"text","content":"Your refund has been processed."}]}])")}});
  trace.add("chat gpt-4o", {{"gen_ai.operation.name", text("chat")},
                            {"gen_ai.request.model", text("gpt-4o")},
                            {"gen_ai.usage.input_tokens", std::int64_t{131}},
                            {"gen_ai.input.messages", text(R"([{"role":"user","parts":[{"type":"text","content":"Refund order 1234"}]}])")},
                            {"gen_ai.output.messages", text(R"([{"role":"assistant","parts":[{"type":"tool_call","name":"issue_refund","arguments":{"order":1234}}]}])")}});
  TraceBuilder::fail(trace.add("execute_tool issue_refund", {{"gen_ai.operation.name", text("execute_tool")}, {"gen_ai.tool.name", text("issue_refund")}, {"gen_ai.tool.call.arguments", text(R"({"order":1234})")}}));
  trace.add("chat gpt-4o", {{"gen_ai.operation.name", text("chat")},
                            {"gen_ai.request.model", text("gpt-4o")},
                            {"gen_ai.usage.input_tokens", std::int64_t{180}},
                            {"gen_ai.output.messages", text(R"([{"role":"assistant","parts":[{"type":"text","content":"Your refund has been processed."}]}])")}});
  trace.add("GET", {{"http.response.status_code", std::int64_t{500}}});
  const json run = run_of(trace.spans());
  expect_refund(run);
  EXPECT_EQ(run["metadata"]["name"], "Refunds");
  EXPECT_EQ(run["metadata"]["sessionId"], "c1");
  EXPECT_EQ(run["steps"][0]["outputSummary"], R"([{"name":"issue_refund","arguments":{"order":1234}}])");
}

TEST(OtlpMapping, SemanticConventionsOfSpanEvents) {
  TraceBuilder trace;
  OtlpSpan& root = trace.add("chat gpt-4o", {{"gen_ai.system", text("openai")}, {"gen_ai.request.model", text("gpt-4o")}, {"gen_ai.usage.prompt_tokens", std::int64_t{7}}});
  root.events = {{"gen_ai.content.prompt", {{"gen_ai.prompt", text(R"([{"role":"user","content":"Hi"}])")}}},
                 {"gen_ai.content.completion", {{"gen_ai.completion", text(R"([{"role":"assistant","content":"Hello"}])")}}}};
  const json run = run_of(trace.spans());
  EXPECT_EQ(run["userRequestText"], "Hi");
  EXPECT_EQ(run["outcomeSummary"], "Hello");
  EXPECT_EQ(run["metadata"]["inputTokens"], 7);
}

TEST(OtlpMapping, OpenInference) {
  TraceBuilder trace;
  trace.add("agent", {{"openinference.span.kind", text("AGENT")}, {"input.value", text(R"({"messages":[{"role":"user","content":"Refund order 1234"}]})")}, {"output.value", text("Your refund has been processed.")}});
  trace.add("ChatOpenAI", {{"openinference.span.kind", text("LLM")},
                           {"llm.model_name", text("gpt-4o")},
                           {"llm.token_count.prompt", std::int64_t{131}},
                           {"llm.input_messages.0.message.role", text("system")},
                           {"llm.input_messages.0.message.content", text("Be kind.")},
                           {"llm.input_messages.1.message.role", text("user")},
                           {"llm.input_messages.1.message.content", text("Refund order 1234")},
                           {"llm.output_messages.0.message.role", text("assistant")},
                           {"llm.output_messages.0.message.tool_calls.0.tool_call.function.name", text("issue_refund")},
                           {"llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments", text(R"({"order":1234})")}});
  OtlpSpan& tool = trace.add("issue_refund", {{"openinference.span.kind", text("TOOL")}, {"tool.name", text("issue_refund")}, {"input.value", text(R"({"order":1234})")}});
  tool.status = 2;
  tool.status_message = "payment gateway timed out\n\nGatewayTimeout: payment gateway timed out\n    at tool.name";
  trace.add("ChatOpenAI", {{"openinference.span.kind", text("LLM")},
                           {"llm.model_name", text("gpt-4o")},
                           {"llm.token_count.prompt", std::int64_t{180}},
                           {"llm.output_messages.0.message.role", text("assistant")},
                           {"llm.output_messages.0.message.content", text("Your refund has been processed.")}});
  const json run = run_of(trace.spans());
  expect_refund(run);
  EXPECT_EQ(run["steps"][1]["errorMessage"], "payment gateway timed out");
}

TEST(OtlpMapping, VercelAiSdk) {
  TraceBuilder trace;
  trace.add("ai.generateText", {{"ai.operationId", text("ai.generateText")},
                                {"ai.telemetry.functionId", text("refunds")},
                                {"ai.prompt", text(R"({"system":"s","prompt":"Refund order 1234"})")},
                                {"ai.usage.inputTokens", std::int64_t{311}},
                                {"ai.response.text", text("Your refund has been processed.")}});
  trace.add("ai.generateText.doGenerate", {{"operation.name", text("ai.generateText.doGenerate refunds")},
                                           {"ai.model.id", text("gpt-4o")},
                                           {"ai.usage.promptTokens", std::int64_t{131}},
                                           {"ai.prompt.messages", text(R"([{"role":"user","content":[{"type":"text","text":"Refund order 1234"}]}])")},
                                           {"ai.response.toolCalls", text(R"([{"toolCallId":"1","toolName":"issue_refund","input":{"order":1234}}])")}});
  TraceBuilder::fail(trace.add("ai.toolCall", {{"ai.operationId", text("ai.toolCall")}, {"ai.toolCall.name", text("issue_refund")}, {"ai.toolCall.args", text(R"({"order":1234})")}}));
  trace.add("ai.generateText.doGenerate", {{"ai.operationId", text("ai.generateText.doGenerate")},
                                           {"ai.model.id", text("gpt-4o")},
                                           {"ai.usage.inputTokens", std::int64_t{180}},
                                           {"ai.response.text", text("Your refund has been processed.")}});
  expect_refund(run_of(trace.spans(), "ai"));
}

TEST(OtlpMapping, OpenLLMetry) {
  TraceBuilder trace;
  trace.add("refunds.workflow", {{"traceloop.span.kind", text("workflow")},
                                 {"traceloop.workflow.name", text("refunds")},
                                 {"traceloop.entity.input", text(R"({"args":[],"kwargs":{"text":"Refund order 1234"}})")},
                                 {"traceloop.entity.output", text(R"("Your refund has been processed.")")}});
  trace.add("openai.chat", {{"llm.request.type", text("chat")},
                            {"gen_ai.request.model", text("gpt-4o")},
                            {"gen_ai.usage.prompt_tokens", std::int64_t{131}},
                            {"gen_ai.prompt.0.role", text("user")},
                            {"gen_ai.prompt.0.content", text("Refund order 1234")},
                            {"gen_ai.completion.0.role", text("assistant")},
                            {"gen_ai.completion.0.tool_calls.0.name", text("issue_refund")},
                            {"gen_ai.completion.0.tool_calls.0.arguments", text(R"({"order":1234})")}});
  TraceBuilder::fail(trace.add("issue_refund.tool", {{"traceloop.span.kind", text("tool")}, {"traceloop.entity.name", text("refunds.issue_refund")}, {"traceloop.entity.input", text(R"({"args":["{\"order\":1234}"]})")}}));
  trace.add("openai.chat", {{"llm.request.type", text("chat")},
                            {"gen_ai.request.model", text("gpt-4o")},
                            {"gen_ai.usage.prompt_tokens", std::int64_t{180}},
                            {"gen_ai.completion.0.role", text("assistant")},
                            {"gen_ai.completion.0.content", text("Your refund has been processed.")}});
  expect_refund(run_of(trace.spans()));
}

TEST(OtlpMapping, OpenLLMetry_AToolOfTheFrameworkOnly_IsNamedByItsSpan) {
  TraceBuilder trace;
  trace.add("a.workflow", {{"traceloop.span.kind", text("workflow")}});
  trace.add("execute_tool DynamicStructuredTool", {{"gen_ai.operation.name", text("execute_tool")}, {"traceloop.span.kind", text("task")}, {"traceloop.entity.name", text("DynamicStructuredTool")}, {"traceloop.entity.output", text(R"({"lc":1,"id":["ToolMessage"],"kwargs":{"content":"{\"ok\":true}","name":"issue_refund"}})")}});
  const json run = run_of(trace.spans());
  EXPECT_EQ(run["steps"][0]["stepName"], "issue_refund");
  EXPECT_EQ(run["steps"][0]["outputSummary"], R"({"ok":true})");
}

TEST(OtlpMapping, Langfuse) {
  TraceBuilder trace;
  trace.add("refunds", {{"langfuse.observation.type", text("span")}, {"langfuse.observation.input", text("Refund order 1234")}, {"langfuse.trace.output", text("Your refund has been processed.")}});
  trace.add("plan", {{"langfuse.observation.type", text("generation")},
                     {"langfuse.observation.model.name", text("gpt-4o")},
                     {"langfuse.observation.usage_details", text(R"({"input":131,"output":17})")},
                     {"langfuse.observation.cost_details", text(R"({"total":0.25})")},
                     {"langfuse.observation.input", text(R"([{"role":"user","content":"Refund order 1234"}])")},
                     {"langfuse.observation.output", text(R"({"role":"assistant","tool_calls":[{"name":"issue_refund","args":{"order":1234}}]})")}});
  trace.add("issue_refund", {{"langfuse.observation.type", text("tool")},
                             {"langfuse.observation.level", text("ERROR")},
                             {"langfuse.observation.input", text(R"({"order":1234})")},
                             {"langfuse.observation.status_message", text("GatewayTimeout: payment gateway timed out")}});
  trace.add("answer", {{"langfuse.observation.type", text("generation")},
                       {"langfuse.observation.model.name", text("gpt-4o")},
                       {"langfuse.observation.usage_details", text(R"({"input":180})")},
                       {"langfuse.observation.cost_details", text(R"({"total":0.5})")},
                       {"langfuse.observation.output", text(R"({"role":"assistant","content":"Your refund has been processed."})")}});
  const json run = run_of(trace.spans());
  expect_refund(run);
  EXPECT_EQ(run["metadata"]["costUsd"], 0.75);
}

TEST(OtlpMapping, LangSmith_WhoseStatusIsAlwaysOk) {
  TraceBuilder trace;
  trace.add("refund_agent", {{"langsmith.span.kind", text("chain")}, {"gen_ai.operation.name", text("chain")}, {"gen_ai.prompt", text(R"({"question":"Refund order 1234"})")}, {"gen_ai.completion", text(R"({"outputs":"Your refund has been processed."})")}}).status = 1;
  trace.add("ChatOpenAI", {{"langsmith.span.kind", text("llm")}, {"gen_ai.request.model", text("gpt-4o")}, {"langsmith.usage_metadata", text(R"({"input_tokens":131})")}, {"gen_ai.prompt", text(R"({"input":[{"role":"user","content":"Refund order 1234"}]})")}, {"gen_ai.completion", text(R"({"role":"assistant","content":"","tool_calls":[{"name":"issue_refund","args":{"order":1234}}]})")}}).status = 1;
  OtlpSpan& tool = trace.add("issue_refund", {{"langsmith.span.kind", text("tool")}, {"langsmith.trace.name", text("issue_refund")}, {"gen_ai.prompt", text(R"({"order":1234})")}});
  tool.status = 1;
  tool.events.push_back({"exception", {{"exception.type", text("Error")}, {"exception.message", text("GatewayTimeout: payment gateway timed out")}}});
  trace.add("ChatOpenAI", {{"langsmith.span.kind", text("llm")}, {"gen_ai.request.model", text("gpt-4o")}, {"langsmith.usage_metadata", text(R"({"input_tokens":180})")}, {"gen_ai.completion", text(R"({"role":"assistant","content":"Your refund has been processed."})")}}).status = 1;
  expect_refund(run_of(trace.spans(), "langsmith"));
}

TEST(OtlpMapping, MlFlow) {
  TraceBuilder trace;
  trace.add("refunds", {{"mlflow.spanType", text(R"("AGENT")")}, {"mlflow.spanInputs", text(R"({"question":"Refund order 1234"})")}, {"mlflow.spanOutputs", text(R"("Your refund has been processed.")")}});
  trace.add("Completions", {{"mlflow.spanType", text(R"("CHAT_MODEL")")}, {"mlflow.llm.model", text(R"("gpt-4o")")}, {"mlflow.chat.tokenUsage", text(R"({"input_tokens":131})")}, {"mlflow.spanInputs", text(R"({"messages":[{"role":"user","content":"Refund order 1234"}]})")}, {"mlflow.spanOutputs", text(R"({"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"issue_refund","arguments":"{}"}}]}}]})")}});
  TraceBuilder::fail(trace.add("issue_refund_1", {{"mlflow.spanType", text(R"("TOOL")")}, {"mlflow.spanFunctionName", text(R"("issue_refund")")}, {"mlflow.spanInputs", text(R"({"order":1234})")}}));
  trace.add("Completions", {{"mlflow.spanType", text(R"("CHAT_MODEL")")}, {"mlflow.llm.model", text(R"("gpt-4o")")}, {"mlflow.chat.tokenUsage", text(R"({"input_tokens":180})")}, {"mlflow.spanOutputs", text(R"({"choices":[{"message":{"role":"assistant","content":"Your refund has been processed."}}]})")}});
  expect_refund(run_of(trace.spans()));
}

TEST(OtlpMapping, PydanticAi) {
  TraceBuilder trace;
  trace.add("agent run", {{"gen_ai.agent.name", text("agent")}, {"gen_ai.operation.name", text("invoke_agent")}, {"pydantic_ai.all_messages", text(R"([{"role":"user","parts":[{"type":"text","content":"Refund order 1234"}]}])")}, {"final_result", text("Your refund has been processed.")}});
  trace.add("chat gpt-4o", {{"gen_ai.operation.name", text("chat")}, {"gen_ai.request.model", text("gpt-4o")}, {"gen_ai.usage.input_tokens", std::int64_t{131}}, {"gen_ai.input.messages", text(R"([{"role":"user","parts":[{"type":"text","content":"Refund order 1234"}]}])")}});
  TraceBuilder::fail(trace.add("running tool: issue_refund", {{"gen_ai.tool.name", text("issue_refund")}, {"tool_arguments", text(R"({"order":1234})")}}));
  trace.add("chat gpt-4o", {{"gen_ai.operation.name", text("chat")}, {"gen_ai.request.model", text("gpt-4o")}, {"gen_ai.usage.input_tokens", std::int64_t{180}}, {"gen_ai.output.messages", text(R"([{"role":"assistant","parts":[{"type":"text","content":"Your refund has been processed."}]}])")}});
  trace.add("pending", {{"logfire.span_type", text("pending_span")}, {"gen_ai.operation.name", text("chat")}});
  const json run = run_of(trace.spans());
  expect_refund(run);
  EXPECT_EQ(run["metadata"]["spans"], 4);
}

TEST(OtlpMapping, GoogleAdk) {
  TraceBuilder trace;
  trace.add("invocation", {});
  trace.add("call_llm", {{"gen_ai.request.model", text("gpt-4o")},
                         {"gen_ai.usage.input_tokens", std::int64_t{131}},
                         {"gcp.vertex.agent.llm_request", text(R"({"model":"m","contents":[{"role":"user","parts":[{"text":"Refund order 1234"}]}]})")},
                         {"gcp.vertex.agent.llm_response", text(R"({"content":{"role":"model","parts":[{"functionCall":{"name":"issue_refund","args":{"order":1234}}}]}})")}});
  trace.add("execute_tool issue_refund", {{"gcp.vertex.agent.tool_call_args", text(R"({"order":1234})")}, {"error.type", text("GatewayTimeout")}, {"gcp.vertex.agent.tool_response", text(R"({"error":"payment gateway timed out"})")}});
  trace.add("call_llm", {{"gen_ai.request.model", text("gpt-4o")},
                         {"gen_ai.usage.input_tokens", std::int64_t{180}},
                         {"gcp.vertex.agent.llm_response", text(R"({"content":{"role":"model","parts":[{"text":"Your refund has been processed."}]}})")}});
  trace.add("execute_tool (merged)", {{"gcp.vertex.agent.tool_response", text("{}")}});
  const json run = run_of(trace.spans(), "gcp.vertex.agent");
  expect_refund(run);
}

TEST(OtlpMapping, Mcp_AnErrorInAResult_IsAFailure) {
  TraceBuilder trace;
  trace.add("agent", {{"gen_ai.operation.name", text("invoke_agent")}});
  trace.add("tools/call search", {{"mcp.method.name", text("tools/call")}, {"mcp.response.value", text(R"({"isError":true,"content":[]})")}});
  trace.add("tools/list", {{"mcp.method.name", text("tools/list")}});
  const json run = run_of(trace.spans());
  ASSERT_EQ(run["steps"].size(), 1u);
  EXPECT_EQ(run["steps"][0]["stepName"], "search");
  EXPECT_EQ(run["steps"][0]["status"], "failed");
}

TEST(OtlpMapping, ACallToldTwice_IsOneStep) {
  TraceBuilder trace;
  trace.add("agent", {{"gen_ai.operation.name", text("invoke_agent")}, {"gen_ai.usage.input_tokens", std::int64_t{10}}});
  const OtlpSpan outer = trace.add("ChatOpenAI", {{"openinference.span.kind", text("LLM")}, {"llm.token_count.prompt", std::int64_t{10}}});
  trace.add("openai.chat", {{"gen_ai.operation.name", text("chat")}, {"gen_ai.usage.input_tokens", std::int64_t{10}}}).parent_id = outer.span_id;
  const OtlpSpan tool = trace.add("execute_tool search", {{"gen_ai.operation.name", text("execute_tool")}, {"gen_ai.tool.name", text("search")}});
  trace.add("tools/call search", {{"mcp.method.name", text("tools/call")}}).parent_id = tool.span_id;
  trace.add("tools/call lookup", {{"mcp.method.name", text("tools/call")}}).parent_id = tool.span_id;
  const json run = run_of(trace.spans());
  ASSERT_EQ(run["steps"].size(), 3u);
  EXPECT_EQ(run["steps"][2]["stepName"], "lookup");
  EXPECT_EQ(run["metadata"]["inputTokens"], 10);
}

// One call that two instrumentations tell of, the second inside the first.
json told_twice(const OtlpSpan& outer_as, const OtlpSpan& inner_as) {
  TraceBuilder trace;
  trace.add("agent", {{"gen_ai.operation.name", text("invoke_agent")}});
  OtlpSpan& outer = trace.add(outer_as.name, outer_as.attributes);
  outer.status = outer_as.status;
  const std::string around = outer.span_id;
  OtlpSpan& inner = trace.add(inner_as.name, inner_as.attributes);
  inner.parent_id = around;
  inner.status = inner_as.status;
  inner.status_message = inner_as.status_message;
  json run = run_of(trace.spans());
  EXPECT_EQ(run["steps"].size(), 1u) << run.dump(1);
  return run;
}

OtlpSpan span_with(AttributeList attributes, int status = 0, const char* status_message = "") {
  OtlpSpan span;
  span.attributes = std::move(attributes);
  span.status = status;
  span.status_message = status_message;
  return span;
}

TEST(OtlpMapping, OfAToolCallToldTwice_TheStepHasWhatEitherTells) {
  const OtlpSpan outer = span_with({{"gen_ai.operation.name", text("execute_tool")}, {"gen_ai.tool.name", text("issue_refund")}});
  const OtlpSpan inner = span_with({{"mcp.method.name", text("tools/call")},
                                    {"gen_ai.tool.name", text("issue_refund")},
                                    {"gen_ai.tool.call.arguments", text(R"({"order":1})")},
                                    {"error.type", text("tool_error")}},
                                   2, "502 Bad Gateway");
  json step = told_twice(outer, inner)["steps"][0];
  EXPECT_EQ(step["stepId"], "0000000000000002");
  EXPECT_EQ(step["inputSummary"], R"({"order":1})");
  EXPECT_EQ(step["status"], "failed");
  EXPECT_EQ(step["errorCode"], "tool_error");
  EXPECT_EQ(step["errorMessage"], "502 Bad Gateway");
}

TEST(OtlpMapping, OfAToolCallToldTwice_TheOuterSpanTellsTheOutcome) {
  OtlpSpan outer = span_with({{"gen_ai.operation.name", text("execute_tool")}, {"gen_ai.tool.name", text("find")}}, 1);
  const OtlpSpan inner = span_with({{"gen_ai.operation.name", text("execute_tool")}, {"gen_ai.tool.name", text("find")}}, 2, "timeout");
  const json good = told_twice(outer, inner)["steps"][0];
  EXPECT_EQ(good["status"], "succeeded");
  EXPECT_FALSE(good.contains("errorMessage"));
  outer.attributes.push_back({"openinference.span.kind", text("TOOL")});  // whose OK says nothing
  EXPECT_EQ(told_twice(outer, inner)["steps"][0]["status"], "failed");
  outer.status = 2;
  const json failed = told_twice(outer, span_with(inner.attributes))["steps"][0];
  EXPECT_EQ(failed["status"], "failed");
}

TEST(OtlpMapping, OfAModelCallToldTwice_TheStepHasWhatEitherTells) {
  const OtlpSpan outer = span_with({{"openinference.span.kind", text("LLM")}});
  const OtlpSpan inner = span_with({{"gen_ai.operation.name", text("chat")},
                                    {"gen_ai.request.model", text("gpt-4o")},
                                    {"gen_ai.usage.input_tokens", std::int64_t{175'000}},
                                    {"gen_ai.input.messages", text(R"([{"role":"user","content":"Hi"}])")},
                                    {"gen_ai.output.messages", text(R"([{"role":"assistant","content":"Hello"}])")}});
  json run = told_twice(outer, inner);
  json& step = run["steps"][0];
  EXPECT_EQ(step["stepName"], "gpt-4o");
  EXPECT_EQ(step["metadata"]["inputTokens"], 175'000);
  EXPECT_EQ(step["outputSummary"], "Hello");
  EXPECT_EQ(run["userRequestText"], "Hi");
  EXPECT_EQ(run["outcomeSummary"], "Hello");
  EXPECT_EQ(run["metadata"]["inputTokens"], 175'000);
  const OtlpSpan answered = span_with({{"openinference.span.kind", text("LLM")}, {"output.value", text("Hello")}});
  EXPECT_EQ(told_twice(answered, span_with(inner.attributes, 2, "429"))["steps"][0]["status"], "succeeded")
      << "the outer call has an answer";
}

TEST(OtlpMapping, OfAttemptsInsideOneCall_TheLastOneCounts) {
  const auto status_after = [](int first, int second) {
    TraceBuilder trace;
    trace.add("agent", {{"gen_ai.operation.name", text("invoke_agent")}});
    const std::string outer = trace.add("ChatOpenAI", {{"openinference.span.kind", text("LLM")}}).span_id;
    for (const int status : {first, second}) {
      OtlpSpan& attempt = trace.add("chat", {{"gen_ai.operation.name", text("chat")}});
      attempt.parent_id = outer;
      attempt.status = status;
    }
    return run_of(trace.spans())["steps"][0]["status"];
  };
  EXPECT_EQ(status_after(2, 0), "succeeded");
  EXPECT_EQ(status_after(0, 2), "failed");
}

TEST(OtlpMapping, OfACallToldTwice_TheMappingNamesTheSpanThatGaveAField) {
  TraceBuilder trace;
  trace.add("agent", {{"gen_ai.operation.name", text("invoke_agent")}});
  const std::string outer =
      trace.add("execute_tool find", {{"gen_ai.operation.name", text("execute_tool")}, {"gen_ai.tool.name", text("find")}}).span_id;
  trace.add("tools/call find", {{"mcp.method.name", text("tools/call")}, {"gen_ai.tool.call.arguments", text("{}")}}).parent_id = outer;
  const json mapping = mapping_of(trace.spans());
  EXPECT_THAT(mapping["fields"],
              testing::Contains(
                  json{{"field", "/steps/0/inputSummary"}, {"spanId", "0000000000000003"}, {"attribute", "gen_ai.tool.call.arguments"}}));
  EXPECT_THAT(mapping["fields"],
              testing::Contains(json{{"field", "/steps/0/stepName"}, {"spanId", outer}, {"attribute", "gen_ai.tool.name"}}));
}

TEST(OtlpMapping, Success_IsOnlyWhatTheTraceSays) {
  const auto success = [](int status, AttributeList attributes) {
    TraceBuilder trace;
    attributes.push_back({"gen_ai.operation.name", text("invoke_agent")});
    trace.add("agent", std::move(attributes)).status = status;
    const json run = run_of(trace.spans());
    return run.contains("success") ? run["success"].dump() : "absent";
  };
  EXPECT_EQ(success(0, {}), "absent");
  EXPECT_EQ(success(1, {}), "true");
  EXPECT_EQ(success(2, {}), "false");
  EXPECT_EQ(success(0, {{"error.type", text("timeout")}}), "false");
  EXPECT_EQ(success(1, {{"langsmith.span.kind", text("chain")}}), "absent");
  TraceBuilder trace;
  trace.add("POST /chat", {});
  trace.add("chat", {{"gen_ai.operation.name", text("chat")}}).status = 2;
  EXPECT_EQ(run_of(trace.spans())["success"], false);
}

TEST(OtlpMapping, AnAnswerOfARunThatFailed_IsItsOutcome_AndTheErrorIsInItsMetadata) {
  const auto trace_of = [](AttributeList of_agent, AttributeList of_last, int status_of_last) {
    TraceBuilder trace;
    of_agent.push_back({"gen_ai.operation.name", text("invoke_agent")});
    TraceBuilder::fail(trace.add("agent", std::move(of_agent)));
    trace.add("chat", {{"gen_ai.operation.name", text("chat")}, {"gen_ai.output.messages", text(R"([{"role":"assistant","content":"Let me see."}])")}});
    TraceBuilder::fail(trace.add("execute_tool issue_refund", {{"gen_ai.operation.name", text("execute_tool")}}));
    of_last.push_back({"gen_ai.operation.name", text("chat")});
    trace.add("chat", std::move(of_last)).status = status_of_last;
    return run_of(trace.spans());
  };
  const AttributeList refunded = {
      {"gen_ai.output.messages", text(R"([{"role":"assistant","content":"Your refund has been processed."}])")}};
  for (const json& run : {trace_of(refunded, {}, 0), trace_of({}, refunded, 0)}) {
    EXPECT_EQ(run["outcomeSummary"], "Your refund has been processed.");
    EXPECT_EQ(run["success"], false);
    EXPECT_EQ(run["metadata"]["errorMessage"], "payment gateway timed out");
    EXPECT_EQ(run["metadata"]["errorCode"], "GatewayTimeout");
  }
  EXPECT_EQ(trace_of({}, {}, 0)["outcomeSummary"], "payment gateway timed out") << "what was said on the way is no answer";
  EXPECT_EQ(trace_of({}, refunded, 2)["outcomeSummary"], "payment gateway timed out") << "nor is what a call said that failed";
}

std::string message(const char* role, const std::string& content) {
  return json::array({{{"role", role}, {"content", content}}}).dump();
}

AttributeList chat_with(const std::string& asked, const std::string& answered) {
  AttributeList attributes = {{"gen_ai.operation.name", text("chat")}};
  if (!asked.empty()) attributes.push_back({"gen_ai.input.messages", message("user", asked)});
  if (!answered.empty()) attributes.push_back({"gen_ai.output.messages", message("assistant", answered)});
  return attributes;
}

AttributeList agent_named(const char* name) {
  return {{"gen_ai.operation.name", text("invoke_agent")}, {"gen_ai.agent.name", text(name)}};
}

// An agent under the root of the trace that calls a model once.
std::string add_agent(TraceBuilder& trace, const char* name, const std::string& asked, const std::string& answered) {
  OtlpSpan& agent = trace.add("invoke_agent", agent_named(name));
  const std::string id = agent.span_id;
  trace.add("chat", chat_with(asked, answered)).parent_id = id;
  return id;
}

TEST(OtlpMapping, ModelCallsOutsideTheAgent_AreNeitherItsRequestNorItsAnswer) {
  TraceBuilder trace;
  trace.add("POST /chat", {});
  trace.add("chat", chat_with("Is this safe? Refund order 1", "safe"));
  const std::string agent = trace.add("invoke_agent main", agent_named("main")).span_id;
  trace.add("chat", chat_with("Refund order 1", "")).parent_id = agent;
  OtlpSpan& tool =
      trace.add("execute_tool issue_refund", {{"gen_ai.operation.name", text("execute_tool")}, {"gen_ai.tool.name", text("issue_refund")}});
  tool.parent_id = agent;
  TraceBuilder::fail(tool);
  trace.add("chat", chat_with("", "Sorry, the refund of order 1 failed.")).parent_id = agent;
  trace.add("chat", chat_with("Make a title", "Refund of order 1 processed")).status = 2;
  const json run = run_of(trace.spans());
  EXPECT_EQ(run["userRequestText"], "Refund order 1");
  EXPECT_EQ(run["outcomeSummary"], "Sorry, the refund of order 1 failed.");
  EXPECT_FALSE(run.contains("success")) << "the title failed, not the agent";
  EXPECT_EQ(run["steps"].size(), 5u);
}

TEST(OtlpMapping, ModelCallsOutsideTheAgent_CountWhereThoseInsideSayNothing) {
  TraceBuilder trace;
  trace.add("POST /chat", {});
  trace.add("invoke_agent main", agent_named("main"));
  trace.add("chat", chat_with("Refund order 1", "Done."));
  const json run = run_of(trace.spans());
  EXPECT_EQ(run["userRequestText"], "Refund order 1");
  EXPECT_EQ(run["outcomeSummary"], "Done.");
}

TEST(OtlpMapping, TheAgentsName_ComesBeforeWhatSpansAreCalled) {
  TraceBuilder trace;
  trace.add("invocation", {});
  trace.add("invoke_agent bot", agent_named("bot"));
  EXPECT_EQ(run_of(trace.spans(), "gcp.vertex.agent")["metadata"]["name"], "bot");
  TraceBuilder workflow;
  workflow.add("workflow", {{"gen_ai.operation.name", text("invoke_workflow")}, {"gen_ai.workflow.name", text("support")}});
  workflow.add("invoke_agent bot", agent_named("bot"));
  EXPECT_EQ(run_of(workflow.spans())["metadata"]["name"], "support") << "a name that the root was given";
}

TEST(OtlpMapping, AFurtherRunOfTheAgent_BeginsWithATurnOfTheUser) {
  TraceBuilder trace;
  trace.add("POST /chat", {});
  add_agent(trace, "bot", "Cancel order 5", "Order 5 has been cancelled.");
  const std::string second = add_agent(trace, "bot", "And order 6", "Order 6, too.");
  const json run = run_of(trace.spans());
  EXPECT_EQ(run["userRequestText"], "Cancel order 5");
  EXPECT_EQ(run["outcomeSummary"], "Order 6, too.");
  ASSERT_EQ(run["steps"].size(), 3u) << run.dump(1);
  EXPECT_EQ(run["steps"][1]["stepKind"], "user");
  EXPECT_EQ(run["steps"][1]["stepId"], second);
  EXPECT_EQ(run["steps"][1]["outputSummary"], "And order 6");
  const json mapping = mapping_of(trace.spans());
  EXPECT_THAT(
      mapping["fields"],
      testing::Contains(json{{"field", "/steps/1/outputSummary"}, {"spanId", "0000000000000005"}, {"attribute", "gen_ai.input.messages"}}));
}

TEST(OtlpMapping, AgentsWithoutAParent_AreTurnsWhateverTheirNames) {
  TraceBuilder trace;
  OtlpSpan& first = trace.add("invoke_agent", agent_named("one"));
  first.attributes.push_back({"gen_ai.input.messages", message("user", "Cancel order 5")});
  first.attributes.push_back({"gen_ai.output.messages", message("assistant", "Order 5 has been cancelled.")});
  TraceBuilder::fail(first);
  OtlpSpan& second = trace.add("invoke_agent", agent_named("two"));
  second.parent_id.clear();
  second.attributes.push_back({"gen_ai.input.messages", message("user", "Thanks")});
  second.attributes.push_back({"gen_ai.output.messages", message("assistant", "You are welcome!")});
  const json run = run_of(trace.spans());
  EXPECT_EQ(run["userRequestText"], "Cancel order 5");
  EXPECT_EQ(run["outcomeSummary"], "You are welcome!");
  EXPECT_FALSE(run.contains("success")) << "the last turn went well";
  ASSERT_EQ(run["steps"].size(), 1u);
  EXPECT_EQ(run["steps"][0]["outputSummary"], "Thanks");
}

TEST(OtlpMapping, AgentsThatTakeOver_AreNoTurns) {
  TraceBuilder handoff;
  handoff.add("POST /chat", {});
  add_agent(handoff, "triage", "Refund order 1", "Over to refunds.");
  add_agent(handoff, "refunds", "Refund order 1", "Your refund has been processed.");
  TraceBuilder pipeline;
  pipeline.add("POST /chat", {});
  add_agent(pipeline, "planner", "Refund order 1", "Call issue_refund");
  const std::string worker = add_agent(pipeline, "worker", "Call issue_refund", "Your refund has been processed.");
  TraceBuilder with_tools = pipeline;
  with_tools.add("execute_tool issue_refund", {{"gen_ai.operation.name", text("execute_tool")}}).parent_id = worker;
  TraceBuilder without_request;
  without_request.add("workflow", {{"gen_ai.operation.name", text("invoke_workflow")}});
  add_agent(without_request, "triage", "Refund order 1", "Over to refunds.");
  const std::string refunds = add_agent(without_request, "refunds", "", "Your refund has been processed.");
  without_request.add("execute_tool issue_refund", {{"gen_ai.operation.name", text("execute_tool")}}).parent_id = refunds;
  for (const TraceBuilder* const trace : {&handoff, &pipeline, &with_tools, &without_request}) {
    const json run = run_of(trace->spans());
    EXPECT_EQ(run["userRequestText"], "Refund order 1");
    EXPECT_EQ(run["outcomeSummary"], "Your refund has been processed.");
    for (const json& step : run["steps"]) EXPECT_NE(step["stepKind"], "user") << run.dump(1);
  }
}

TEST(OtlpMapping, AnotherAgentWithAPromptOfItsOwn_IsAHelper) {
  TraceBuilder trace;
  trace.add("POST /chat", {});
  add_agent(trace, "guard", "Is this safe? Refund order 1", "safe");
  const std::string main = add_agent(trace, "main", "Refund order 1", "Sorry, it failed.");
  trace.add("execute_tool issue_refund", {{"gen_ai.operation.name", text("execute_tool")}}).parent_id = main;
  add_agent(trace, "title", "Make a title", "Refund of order 1 processed");
  const json run = run_of(trace.spans());
  EXPECT_EQ(run["userRequestText"], "Refund order 1");
  EXPECT_EQ(run["outcomeSummary"], "Sorry, it failed.");
  EXPECT_EQ(run["metadata"]["name"], "main");
  EXPECT_EQ(run["steps"].size(), 4u);
}

TEST(OtlpMapping, OfAgentsWithoutTools_TheLongestIsNoHelper) {
  TraceBuilder trace;
  trace.add("POST /chat", {});
  add_agent(trace, "guard", "Is this safe? Cancel my plan", "safe");
  trace.add("invoke_agent", agent_named("main")).end_ms += 1'000;
  trace.add("chat", chat_with("Cancel my plan", "Your plan has been cancelled.")).parent_id = "0000000000000004";
  const json run = run_of(trace.spans());
  EXPECT_EQ(run["userRequestText"], "Cancel my plan");
  EXPECT_EQ(run["outcomeSummary"], "Your plan has been cancelled.");
}

TEST(OtlpMapping, AgentsThatOnlyTheirSpansName_AreNotOneAgent) {
  TraceBuilder trace;
  trace.add("POST /chat", {});
  for (const auto& [asked, answered] :
       {std::pair("Refund order 1", "Sorry, it failed."), std::pair("Make a title", "Refund of order 1 processed")}) {
    trace.add(
        "ai.generateText",
        {{"ai.operationId", text("ai.generateText")}, {"ai.prompt", std::string(asked)}, {"ai.response.text", std::string(answered)}});
  }
  const json run = run_of(trace.spans());
  EXPECT_EQ(run["userRequestText"], "Refund order 1");
  EXPECT_EQ(run["outcomeSummary"], "Sorry, it failed.");
  EXPECT_TRUE(run["steps"].empty());
}

TEST(OtlpMapping, OfChainsSideBySide_TheLastModelStepInsideOneIsTheAnswer) {
  TraceBuilder trace;
  trace.add("POST /chat", {});
  for (const auto& [asked, answered] : {std::pair("Where is it?", "Where is order 1?"), std::pair("Where is order 1?", "On its way.")}) {
    const std::string chain = trace.add("chain", {{"traceloop.span.kind", text("task")}}).span_id;
    trace.add("chat", chat_with(asked, answered)).parent_id = chain;
  }
  trace.add("chat", chat_with("Make a title", "An order"));
  const json run = run_of(trace.spans());
  EXPECT_EQ(run["userRequestText"], "Where is it?");
  EXPECT_EQ(run["outcomeSummary"], "On its way.");
}

TEST(OtlpMapping, AgentsInsideAnAgent_AreNoTurns) {
  TraceBuilder trace;
  trace.add("invoke_agent", agent_named("bot"));
  add_agent(trace, "bot", "Cancel order 5", "Cancelled.");
  add_agent(trace, "bot", "Cancel order 6", "Cancelled, too.");
  EXPECT_EQ(run_of(trace.spans())["steps"].size(), 2u);
}

TEST(OtlpMapping, AgentsAtTheSameTime_AreNoTurns) {
  TraceBuilder trace;
  trace.add("POST /batch", {});
  trace.add("invoke_agent", agent_named("bot")).end_ms += 60'000;
  trace.add("chat", chat_with("Cancel order 5", "Cancelled.")).parent_id = "0000000000000002";
  add_agent(trace, "bot", "Cancel order 6", "Cancelled, too.");
  EXPECT_EQ(run_of(trace.spans())["steps"].size(), 2u);
}

TEST(OtlpMapping, OneModelSpanAlone_IsMarked) {
  TraceBuilder alone;
  alone.add("chat gpt-4o", {{"gen_ai.operation.name", text("chat")}, {"gen_ai.request.model", text("gpt-4o")}});
  EXPECT_EQ(run_of(alone.spans())["metadata"]["onlyModelSpan"], true);
  alone.add("GET", {});
  EXPECT_EQ(run_of(alone.spans())["metadata"]["onlyModelSpan"], true);
  alone.add("workflow", {{"traceloop.span.kind", text("workflow")}});
  EXPECT_FALSE(run_of(alone.spans())["metadata"].contains("onlyModelSpan"));
}

TEST(OtlpMapping, OrderAndRepetition_DoNotMatter) {
  TraceBuilder trace;
  trace.add("agent", {{"gen_ai.operation.name", text("invoke_agent")}, {"gen_ai.input.messages", text("Find it")}});
  for (int i = 0; i < 3; ++i) TraceBuilder::fail(trace.add("execute_tool find", {{"gen_ai.operation.name", text("execute_tool")}, {"gen_ai.tool.name", text("find")}, {"gen_ai.tool.call.arguments", text("{}")}}));
  const json run = run_of(trace.spans());
  std::vector<OtlpSpan> mixed(trace.spans().rbegin(), trace.spans().rend());
  mixed.insert(mixed.end(), trace.spans().begin(), trace.spans().end());
  EXPECT_EQ(run_of(mixed), run);
  EXPECT_EQ(run["steps"][2]["retryCount"], 2);
}

TEST(OtlpMapping, StepsOfOneMillisecond_StandInTheOrderInWhichTheyEnded_TheOuterFirst) {
  TraceBuilder trace;
  trace.add("agent", {{"gen_ai.operation.name", text("invoke_agent")}});
  const auto tool = [&](const char* name, std::int64_t took_ms) -> OtlpSpan& {
    OtlpSpan& span = trace.add(std::string("execute_tool ") + name, {{"gen_ai.operation.name", text("execute_tool")}, {"gen_ai.tool.name", text(name)}});
    span.start_ms = 1'790'000'005'000;
    span.end_ms = span.start_ms + took_ms;
    return span;
  };
  tool("first", 9);
  tool("second", 1);
  const std::string outer = tool("outer", 8).span_id;
  std::vector<OtlpSpan> spans = trace.spans();
  spans[2].parent_id = outer;  // it ended, and came, before what lies around it
  const json run = run_of(spans);
  std::string order;
  for (const json& step : run["steps"]) order += step["stepName"].get<std::string>() + " ";
  EXPECT_EQ(order, "first outer second ");
}

TEST(OtlpMapping, ALaterVersionOfASpan_TakesItsPlace) {
  TraceBuilder trace;
  trace.add("agent", {{"gen_ai.operation.name", text("invoke_agent")}});
  OtlpSpan tool = trace.add("execute_tool find", {{"gen_ai.operation.name", text("execute_tool")}});
  std::vector<OtlpSpan> spans = trace.spans();
  TraceBuilder::fail(tool);
  spans.push_back(tool);
  const json run = run_of(spans);
  ASSERT_EQ(run["steps"].size(), 1u);
  EXPECT_EQ(run["steps"][0]["status"], "failed");
}

TEST(OtlpMapping, AnUnfinishedCopyThatComesLate_DoesNotReplaceTheFinishedSpan) {
  TraceBuilder trace;
  trace.add("agent", {{"gen_ai.operation.name", text("invoke_agent")}});
  const OtlpSpan running = trace.add("execute_tool find", {{"gen_ai.operation.name", text("execute_tool")}});
  std::vector<OtlpSpan> spans = trace.spans();
  TraceBuilder::fail(spans[1]);
  spans.push_back(running);
  spans.back().end_ms = 0;
  const json run = run_of(spans);
  ASSERT_EQ(run["steps"].size(), 1u);
  EXPECT_EQ(run["steps"][0]["status"], "failed");
  std::swap(spans[1], spans[2]);
  EXPECT_EQ(run_of(spans), run);
}

TEST(OtlpMapping, ASpanThatHasNotEnded_ReportsAStatusOnlyIfItIsSet) {
  const auto status_of = [](int code) {
    TraceBuilder trace;
    trace.add("agent", {{"gen_ai.operation.name", text("invoke_agent")}});
    OtlpSpan& tool = trace.add("execute_tool find", {{"gen_ai.operation.name", text("execute_tool")}});
    tool.end_ms = 0;
    tool.status = code;
    return run_of(trace.spans())["steps"][0].value("status", "absent");
  };
  EXPECT_EQ(status_of(0), "absent");
  EXPECT_EQ(status_of(1), "succeeded");
  EXPECT_EQ(status_of(2), "failed");
}

TEST(OtlpMapping, SpansWithoutTheirRoot_MakeARunAllTheSame) {
  TraceBuilder trace;
  trace.add("agent", {{"gen_ai.operation.name", text("invoke_agent")}});
  trace.add("execute_tool find", {{"gen_ai.operation.name", text("execute_tool")}});
  const json run = run_of({trace.spans()[1]});
  EXPECT_EQ(run["metadata"]["rootArrived"], false);
  EXPECT_EQ(run["steps"].size(), 1u);
  EXPECT_FALSE(run.contains("success"));
}

TEST(OtlpMapping, ParentsInACircle_AreNoParents) {
  OtlpSpan a;
  a.span_id = "000000000000000a";
  a.parent_id = "000000000000000b";
  a.attributes = {{"gen_ai.operation.name", text("chat")}};
  OtlpSpan b = a;
  std::swap(b.span_id, b.parent_id);
  OtlpSpan own = a;
  own.span_id = own.parent_id = "000000000000000c";
  OtlpSpan inside_a = a;
  inside_a.span_id = "000000000000000d";
  inside_a.parent_id = a.span_id;
  EXPECT_EQ(run_of({inside_a, a, b, own})["steps"].size(), 3u) << "a, b and the one that is its own parent; a has the call inside it";
}

TEST(OtlpMapping, NumbersThatMakeNoSense_AreLeftOut) {
  TraceBuilder trace;
  trace.add("chat", {{"gen_ai.operation.name", text("chat")}, {"gen_ai.usage.input_tokens", std::int64_t{-1}}, {"gen_ai.usage.output_tokens", std::nan("")}, {"gen_ai.usage.cost", text("cheap")}});
  const json run = run_of(trace.spans());
  for (const char* name : {"inputTokens", "outputTokens", "costUsd"}) EXPECT_FALSE(run["metadata"].contains(name)) << name;
}

TEST(OtlpMapping, BrokenCharactersInProtobuf_BecomeTheReplacementCharacter_AsInJson) {
  TraceBuilder trace;
  trace.add("agent\xFF", {{"gen_ai.operation.name", text("invoke_agent")}, {"gen_ai.input.messages", text("Fin\xC3")}});
  trace.add("execute_tool", {{"gen_ai.operation.name", text("execute_tool")}, {"gen_ai.tool.name", text("look\x80up")}});
  const json run = run_of(trace.spans());
  EXPECT_EQ(run["userRequestText"], "Fin\xEF\xBF\xBD");
  EXPECT_EQ(run["steps"][0]["stepName"], "look\xEF\xBF\xBDup");
}

TEST(OtlpMapping, APartOfAToken_MakesNoSense) {
  TraceBuilder trace;
  trace.add("chat", {{"gen_ai.operation.name", text("chat")},
                     {"gen_ai.usage.input_tokens", 12.5},
                     {"gen_ai.usage.output_tokens", 3.0},
                     {"gen_ai.usage.cost", 0.25}});
  const json run = run_of(trace.spans());
  EXPECT_FALSE(run["metadata"].contains("inputTokens"));
  EXPECT_EQ(run["metadata"]["outputTokens"], 3);
  EXPECT_EQ(run["metadata"]["costUsd"], 0.25);
}

TEST(OtlpMapping, AMapping_SaysWhereEachFieldCameFromAndWhatIsMissing) {
  TraceBuilder trace;
  trace.add("invoke_agent a", {{"gen_ai.operation.name", text("invoke_agent")}, {"gen_ai.input.messages", text("Find it")}});
  trace.add("execute_tool find", {{"gen_ai.operation.name", text("execute_tool")}, {"ai.toolCall.args", text("{}")}});
  trace.add("SELECT", {});
  const json told = mapping_of(trace.spans());
  EXPECT_EQ(told["spans"], 3);
  const auto attribute = [&](const std::string& field) {
    for (const json& one : told["fields"]) {
      if (one["field"] == field) return one["attribute"].get<std::string>();
    }
    return std::string("none");
  };
  EXPECT_EQ(attribute("/userRequestText"), "gen_ai.input.messages");
  EXPECT_EQ(attribute("/steps/0/stepName"), "span.name");
  EXPECT_EQ(attribute("/steps/0/inputSummary"), "ai.toolCall.args");
  EXPECT_EQ(attribute("/metadata/service"), "service.name");
  std::string missing;
  for (const json& one : told["missing"]) missing += one["field"].get<std::string>() + "=" + one["expected"][0].get<std::string>() + " ";
  EXPECT_EQ(missing, "/outcomeSummary=gen_ai.output.messages /steps/0/outputSummary=gen_ai.tool.call.result ");
  ASSERT_EQ(told["ignoredSpans"].size(), 1u);
  EXPECT_EQ(told["ignoredSpans"][0]["name"], "SELECT");
}

TEST(OtlpMapping, ATable_IsCheckedAsItIsRead) {
  const auto fault = [](const char* yaml) {
    auto read = config::read_otlp_mapping(yaml);
    return read.ok() ? std::string("none") : read.error().detail;
  };
  EXPECT_THAT(fault("kinds: [{attribute: a, model: [x], source: nowhere}]"), HasSubstr("listed under sources"));
  EXPECT_THAT(fault("sources: {s: x}\nkinds: [{attribute: a, source: s}]"), HasSubstr("at least one value"));
  EXPECT_THAT(fault("sources: {s: x}\nfields: {model: [{attribute: a, read: backwards, source: s}]}"),
              HasSubstr("unknown reader \"backwards\""));
  EXPECT_THAT(fault("sources: {s: x}\nfields: {colour: [{attribute: a, source: s}]}"), HasSubstr("colour"));
  EXPECT_THAT(fault("sources: {s: x}\nfailed: [{present: true, source: s}]"), HasSubstr("an attribute to look at"));
}

}  // namespace
}  // namespace runwarden::intake::otlp
