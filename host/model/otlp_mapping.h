// How spans become runs: a table read once from config/otlp-mapping.yaml. Values; any thread once read.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace runwarden::model {

enum class SpanKind : std::uint8_t { none, model, tool, agent, structure, ignored, dropped };
constexpr std::array<std::string_view, 7> kSpanKinds{"none", "model", "tool", "agent", "structure", "ignored", "dropped"};

// The run and step fields that spans fill.
enum class SpanField : std::uint8_t {
  user_request,
  outcome,
  tool_calls,
  model,
  response_model,
  input_tokens,
  output_tokens,
  cost_usd,
  tool_name,
  tool_input,
  tool_output,
  error_code,
  error_message,
  session_id,
  agent_name,
  service,
  service_version,
  environment,
  project,
};
constexpr std::array<std::string_view, 19> kSpanFields{"user_request", "outcome",         "tool_calls",    "model",      "response_model",
                                                       "input_tokens", "output_tokens",   "cost_usd",      "tool_name",  "tool_input",
                                                       "tool_output",  "error_code",      "error_message", "session_id", "agent_name",
                                                       "service",      "service_version", "environment",   "project"};

enum class SpanRead : std::uint8_t {
  text,
  number,
  messages,
  result,
  last_part,
  name,
  message,
  error_head,
  stack_head,
  http_error,
  json,
  word
};
constexpr std::array<std::string_view, 12> kSpanReads{"text",    "number",     "messages",   "result",     "last_part", "name",
                                                      "message", "error_head", "stack_head", "http_error", "json",      "word"};

struct SpanMapping {
  // Maps the values of an attribute to span kinds.
  struct KindRow {
    struct Value {
      std::string text;     // without its trailing star
      bool prefix = false;  // any value that begins with it
      SpanKind kind = SpanKind::none;
      bool weak = false;
    };
    std::string attribute;
    SpanRead read = SpanRead::text;
    std::string scope;   // empty: any
    std::string except;  // excludes values that contain it; empty: none
    std::vector<std::string> with;
    std::vector<Value> values;
  };

  struct FieldRow {
    std::string attribute;  // without the star of a numbered list
    bool numbered = false;
    bool of_resource = false;
    std::string event;                // empty: of the span itself
    std::vector<std::string> member;  // the path into the value
    std::string plus;
    std::vector<std::string> except;
    SpanRead read = SpanRead::text;
    std::string source;
    void append_label(std::string& text) const;
    bool is_like(const FieldRow& other) const;  // has the same label
    std::string label() const;  // "gen_ai.prompt.*", "gen_ai.choice/message", "mlflow.llm.cost#total_cost"
  };

  // All its parts must hold.
  struct Condition {
    enum class Test : std::uint8_t { none, present, absent, equals, member };
    std::string scope;
    SpanKind kind = SpanKind::none;  // none: any
    std::string attribute;
    bool of_tool_output = false;  // instead of an attribute
    Test test = Test::none;
    std::string value;
    std::vector<std::string> member;
    std::string event;
    bool unless_ok = false;
  };

  std::vector<KindRow> kinds;
  std::array<std::vector<FieldRow>, kSpanFields.size()> fields;
  std::vector<Condition> failed;
  std::vector<Condition> ok_means_nothing;
  std::vector<std::string> name_prefixes;
  std::vector<std::string> name_suffixes;

  const std::vector<FieldRow>& rows(SpanField field) const { return fields[static_cast<std::size_t>(field)]; }
};

}  // namespace runwarden::model
