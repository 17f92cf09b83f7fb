// A guardrail draft: the point at which an agent's runtime checks, the condition, and the action. Values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"
#include "base/result.h"

namespace runwarden::guardrail {

constexpr std::string_view kFormat = "guardrail/1";

// Limits on drafts, checked when one is read.
constexpr std::size_t kMostDraftBytes = std::size_t{1} << 20;
constexpr int kMostDraftDepth = 64;  // of its JSON
constexpr std::size_t kDeepestCondition = 16;
constexpr std::size_t kMostConditions = 200;
constexpr std::size_t kMostNames = 200;     // words or tools in a list
constexpr std::size_t kLongestName = 200;   // bytes of a word or tool
constexpr std::size_t kLongestText = 2000;  // bytes of `name`, `title` and `say`, each
constexpr std::int64_t kMostCount = 1'000'000;
constexpr std::int64_t kMostTokens = std::int64_t{1} << 53;

enum class Point : std::uint8_t { before_model, before_tool, after_tool, before_reply };
enum class CallOutcome : std::uint8_t { failed, empty, ok, any };
enum class Action : std::uint8_t { block, retry_reply, ask_person, stop_run, warn };

const char* name(Point point);
const char* name(CallOutcome outcome);
const char* name(Action action);

// A condition on the calls so far. A call is a step that is neither the model's nor the user's.
struct CallCondition {
  std::vector<std::string> tools;  // empty: any
  CallOutcome outcome = CallOutcome::any;
  bool same_input = false;  // as the call about to be made (before_tool) or the latest call
  std::int64_t at_least = 1;
  bool last = false;  // count only the latest calls of these tools in a row
};

struct Condition {
  enum class Kind : std::uint8_t { all, any, negation, call, no_call, request, reply, model };
  Kind kind = Kind::all;
  std::vector<Condition> inner;  // all, any; negation: exactly one
  CallCondition call;
  std::vector<std::string> words;                 // no_call: in a tool's name; request, reply: any one matches; empty: not checked
  std::int64_t digits = 0;                        // reply: at least this many; 0: not checked
  std::string model;                              // words of the model's name; empty: any
  std::optional<std::int64_t> input_tokens_over;  // model
};

struct Draft {
  std::string name;
  std::string title;
  Point point = Point::before_reply;
  Condition condition;
  Action action = Action::warn;
  std::string say;
};

// Reads a draft with or without `source` and `test`. Fails with malformed_json, payload_too_large, or validation_failed with each
// fault's JSON Pointer.
Result<Draft> read_draft(std::string_view json);

// Writes the members of a draft, from `format` to `then`, into the open object.
void write_draft(JsonWriter& out, const Draft& draft);

}  // namespace runwarden::guardrail
