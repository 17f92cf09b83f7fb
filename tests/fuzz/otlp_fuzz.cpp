// Spans from outside, in either encoding: those that are taken make a run that can be read, whatever their attributes hold.
#include <map>

#include "config/otlp_mapping.h"
#include "fuzz/fuzz.h"
#include "fuzz/json_seeds.h"
#include "intake/otlp/decode.h"
#include "intake/otlp/span_facts.h"
#include "intake/otlp/trace_run.h"
#include "intake/run_reader.h"
#include "support/otlp.h"

namespace runwarden::test {
namespace {

using namespace intake;

const model::SpanMapping& mapping() {
  static const model::SpanMapping table = *config::read_otlp_mapping(config::built_in_otlp_mapping());
  return table;
}

std::vector<OtlpSpan> spans() {
  OtlpSpan agent;
  agent.attributes = {{"gen_ai.operation.name", std::string("invoke_agent")},
                      {"gen_ai.input.messages", std::string(R"([{"role":"user","parts":[{"type":"text","content":"Hi"}]}])")},
                      {"gen_ai.usage.cost", 0.5}};
  OtlpSpan model;
  model.span_id = "b7ad6b7169203332";
  model.parent_id = agent.span_id;
  model.attributes = {{"openinference.span.kind", std::string("LLM")},
                      {"llm.input_messages.0.message.role", std::string("user")},
                      {"llm.input_messages.0.message.content", std::string("Hi")},
                      {"output.value", std::string(R"({"generations":[[{"text":"x","message":{"lc":1,"id":["AIMessage"],"kwargs":{"content":"y"}}}]]})")},
                      {"llm.token_count.prompt", std::int64_t{7}}};
  OtlpSpan tool;
  tool.span_id = "b7ad6b7169203333";
  tool.parent_id = agent.span_id;
  tool.status = 2;
  tool.status_message = "it failed\n\nTimeoutError: it failed\n at x";
  tool.attributes = {{"ai.operationId", std::string("ai.toolCall")}, {"ai.toolCall.args", std::string(R"({"a":1})")}, {"flag", true}};
  tool.events = {{"exception", {{"exception.type", std::string("TimeoutError")}}}};
  OtlpSpan inner = tool;  // the same call once more
  inner.span_id = "b7ad6b7169203334";
  inner.parent_id = tool.span_id;
  OtlpSpan next = agent;  // a further turn
  next.span_id = "b7ad6b7169203335";
  next.start_ms += 2'000;
  return {agent, model, tool, inner, next};
}

class Sink final : public otlp::SpanSink {
 public:
  void take(otlp::Span& span, const otlp::Origin& origin) override {
    if (!span.fault.empty()) return;
    must(span.trace_id.size() == 32 && span.span_id.size() == 16, "a span that is taken has ids", span.name);
    if (auto facts = otlp::facts_of(span, origin, mapping())) traces[facts->trace_id].push_back(std::move(facts->json));
  }
  void restart() override { traces.clear(); }
  std::map<std::string, std::vector<std::string>> traces;
};

void look_at(std::string_view body, otlp::Encoding encoding) {
  Sink sink;
  const Status read = otlp::decode(body, encoding, {.max_value_depth = 20, .max_values = 5000, .max_resource_values = 500}, sink);
  if (!read.ok()) must(!read.error().detail.empty(), "a refusal says why", body);
  for (const auto& [id, facts] : sink.traces) {
    const std::string document = otlp::run_of_trace(id, facts);
    must(read_run(document, {200, 1'000'000}, {}).ok(), "spans that were taken make a run", document);
    must(!otlp::mapping_of_trace(facts, mapping()).empty(), "and a mapping", document);
  }
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  return {otlp_json(spans()), otlp_protobuf(spans()),
          R"({"resourceSpans":[{"scopeSpans":[{"spans":[],"scope":{"name":"s"}}],"resource":{"attributes":[]}}]})"};
}

std::vector<std::string> fuzz_words() {
  auto words = json_words();
  for (const char* const word : {"arrayValue", "kvlistValue", "values", "doubleValue", "intValue", "NaN", "\\ud83d", "langsmith.span.kind", "gen_ai.output.messages",
                                 "traceloop.entity.output", "\x0a\xff\xff\xff\xff\x0f", "\x2a\x02", "\x32\x02"}) {
    words.emplace_back(word);
  }
  return words;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  look_at(body, otlp::Encoding::protobuf);
  look_at(body, otlp::Encoding::json);
  return 0;
}

}  // namespace runwarden::test
