// Lists of messages, in the shapes that instrumentations write them. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "intake/otlp/span.h"

namespace runwarden::intake::otlp {

struct Message {
  std::string role;         // user, assistant, system, tool; another word is kept
  std::string text;         // of all its text parts
  std::string tool_answer;  // what tools answered, in parts of their own
  std::string tool_calls;   // JSON: [{"name", "arguments"}]; empty: none
};

// The messages of a value: a text, a list of messages or parts, or an object that holds either, as values or as JSON text. What says no
// role has `role`. Empty where the value is an object that holds no message.
std::vector<Message> read_messages(const AnyValue& value, std::string_view role);

// A numbered list of attributes ("llm.input_messages.0.message.role") as a list. `prefix` ends before the number.
AnyValue numbered_list(const std::vector<KeyValue>& attributes, std::string_view prefix);

}  // namespace runwarden::intake::otlp
