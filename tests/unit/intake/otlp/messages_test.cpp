#include "intake/otlp/messages.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "intake/otlp/json_tree.h"

namespace runwarden::intake::otlp {
namespace {

// "role: text (calls) <answer>" of each, one after the other.
std::string shown(const AnyValue& value, std::string_view role = "user") {
  std::string text;
  for (const Message& message : read_messages(value, role)) {
    text += text.empty() ? "" : " | ";
    text += message.role + ": " + message.text;
    if (!message.tool_calls.empty()) text += " (" + message.tool_calls + ")";
    if (!message.tool_answer.empty()) text += " <" + message.tool_answer + ">";
  }
  return text;
}

std::string shown(std::string_view text, std::string_view role = "user") {
  AnyValue value;
  value.kind = AnyValue::Kind::text;
  value.text = text;
  return shown(value, role);
}

TEST(OtlpMessages, EveryShapeGivesRolesAndTexts) {
  EXPECT_EQ(shown("plain"), "user: plain");
  EXPECT_EQ(shown("\"quoted\"", "assistant"), "assistant: quoted");
  EXPECT_EQ(shown(R"([{"role":"user","parts":[{"type":"text","content":"Refund"}]}])"), "user: Refund");
  EXPECT_EQ(shown(R"([{"role":"system","content":"S"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}])"),
            "system: S | user: a\nb");
  EXPECT_EQ(shown(R"({"system":"S","prompt":"Refund"})"), "user: Refund");
  EXPECT_EQ(shown(R"({"system":"S","messages":[{"role":"user","content":"Refund"}]})"), "user: Refund");
  EXPECT_EQ(shown(R"({"question":"Why?"})"), "user: Why?");
  EXPECT_EQ(shown(R"({"args":[],"kwargs":{"text":"Refund"}})"), "user: Refund");
  EXPECT_EQ(shown(R"({"args":["Refund"],"kwargs":{}})"), "user: Refund");
  EXPECT_EQ(shown(R"([{"role":"user","parts":[{"text":"Hi"}]},{"role":"model","parts":[{"text":"Yes"},{"functionCall":{"name":"f","args":{"a":1}}}]}])"),
            R"(user: Hi | assistant: Yes ([{"name":"f","arguments":{"a":1}}]))");
  EXPECT_EQ(shown(R"({"messages":[[{"lc":1,"id":["langchain_core","messages","HumanMessage"],"kwargs":{"content":"Hi"}},)"
                  R"({"lc":1,"id":["x","AIMessage"],"kwargs":{"content":"","tool_calls":[{"name":"f","args":{"a":1}}]}},)"
                  R"({"lc":1,"id":["x","ToolMessage"],"kwargs":{"content":"Error: no","name":"f"}}]]})"),
            R"(user: Hi | assistant:  ([{"name":"f","arguments":{"a":1}}]) | tool: Error: no)");
  EXPECT_EQ(shown(R"({"generations":[[{"text":"Done","message":{"lc":1,"id":["AIMessage"],"kwargs":{"content":"Done"}}}]]})", "assistant"),
            "assistant: Done");
  EXPECT_EQ(shown(R"({"choices":[{"message":{"role":"assistant","content":"Done"}}]})"), "assistant: Done");
  EXPECT_EQ(shown(R"({"outputs":"Done"})", "assistant"), "assistant: Done");
  EXPECT_EQ(shown(R"({"order":1234})"), "");
}

TEST(OtlpMessages, CallsAndAnswersOfTools_AreApartFromTheText) {
  EXPECT_EQ(shown(R"([{"role":"assistant","parts":[{"type":"tool_call","id":"1","name":"f","arguments":{"a":1}}]}])"),
            R"(assistant:  ([{"name":"f","arguments":{"a":1}}]))");
  EXPECT_EQ(shown(R"([{"toolCallId":"1","toolName":"f","args":"{\"a\":1}"}])", "assistant"), R"(assistant:  ([{"name":"f","arguments":{"a":1}}]))");
  EXPECT_EQ(shown(R"([{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}],"content":null}])"),
            R"(assistant:  ([{"name":"f","arguments":{"a":1}}]))");
  EXPECT_EQ(shown(R"([{"role":"tool","content":[{"type":"tool-result","toolName":"f","output":{"type":"error-text","value":"no"}}]}])"),
            "tool:  <no>");
  EXPECT_EQ(shown(R"([{"role":"assistant","parts":[{"type":"text","content":"Yes"},{"type":"tool_call_response","id":"1","response":{"ok":true}}]}])"),
            R"(assistant: Yes <{"ok":true}>)");
  EXPECT_EQ(shown(R"([{"role":"assistant","parts":[{"type":"reasoning","content":"hm"},{"type":"text","content":"Yes"}]}])"), "assistant: Yes");
}

TEST(OtlpMessages, NumberedAttributes_AreAList) {
  Arena arena;
  const auto list = [&](std::initializer_list<std::pair<std::string_view, std::string_view>> texts, std::string_view prefix) {
    Attributes attributes;
    for (const auto& [key, text] : texts) {
      KeyValue& one = attributes.append(arena);
      one.key = key;
      one.value.kind = AnyValue::Kind::text;
      one.value.text = text;
    }
    return numbered_list(attributes, prefix, arena);
  };
  EXPECT_EQ(shown(list({{"m.10.message.role", "assistant"},
                        {"m.10.message.tool_calls.0.tool_call.function.name", "f"},
                        {"m.10.message.tool_calls.0.tool_call.function.arguments", R"({"a":1})"},
                        {"m.2.message.role", "user"},
                        {"m.2.message.contents.0.message_content.text", "Refund"},
                        {"m.2.message.contents.0.message_content.type", "text"},
                        {"m.count", "2"}},
                       "m.")),
            R"(user: Refund | assistant:  ([{"name":"f","arguments":{"a":1}}]))");
  EXPECT_EQ(shown(list({{"gen_ai.prompt.0.role", "user"}, {"gen_ai.prompt.0.content", "Hi"}}, "gen_ai.prompt.")), "user: Hi");
}

TEST(OtlpMessages, NumberedAttributesBelowAnotherThatIsAnObject_LeaveItAsItIs) {
  Arena arena;
  Attributes attributes;
  KeyValue& whole = attributes.append(arena);
  whole.key = "m.0";
  whole.value = *read_json_tree(R"({"role":"user","content":{"0":"Hi"}})", arena);
  attributes.append(arena, {"m.0.name", *read_json_tree(R"("Ann")", arena)});
  std::string list;
  append_json(list, numbered_list(attributes, "m.", arena));
  EXPECT_EQ(list, R"([{"role":"user","content":["Hi"],"name":"Ann"}])");
  std::string before;
  append_json(before, attributes.front().value);
  EXPECT_EQ(before, R"({"role":"user","content":{"0":"Hi"}})");
}

TEST(OtlpMessages, NestingIsBounded) {
  std::string text = R"("x")";
  for (int i = 0; i < 25; ++i) text = R"({"messages":[)" + text + "]}";
  EXPECT_EQ(shown(text), "");
}

TEST(MessageList, OnlyWhatIsAskedForIsRead_AndItIsTheSame) {
  const std::string tool = R"({"role":"tool","parts":[{"type":"tool_call_response","response":{"a":"}]\\\""}}]})";
  const std::string user = R"({ "role" : "user", "content": "Where is [it]? \"there\\" })";
  const std::string assistant = R"({"role":"assistant","content":"Here."})";
  const std::string call = R"({"role":"assistant","tool_calls":[{"name":"find","args":{"x":[1,{"y":"]"}]}}]})";
  const std::string texts[] = {
      "[" + user + "," + call + "," + tool + "," + assistant + "]",
      " [" + user + " ,\n" + tool + " ] ",
      "[" + assistant + "," + user + "]",
      "[" + user + R"(,{"content":"no role first","role":"assistant"}])",
      "[" + user + R"(,{"role":"assistant","text":"in another member"}])",
      "[" + user + "," + assistant + "] and more",
      "[" + user + "," + assistant + ",",
      "[" + user + "," + assistant.substr(0, 30),
      "[" + user + R"(,{"role":"us\u0065r","content":"again"}])",
      "[]",
      "[[" + user + "]]",
      R"({"messages":[{"role":"user","content":"in an object"}]})",
      "plain",
  };
  for (const std::string& text : texts) {
    AnyValue value;
    value.kind = AnyValue::Kind::text;
    value.text = text;
    const std::vector<Message> all = read_messages(value, "user");
    EXPECT_EQ(MessageList(value, "user").empty(), all.empty()) << text;
    for (const std::string_view wanted : {"user", "assistant", "tool", ""}) {
      const auto is_role = [&](std::string_view role) { return wanted.empty() || role == wanted; };
      for (const auto member : {&Message::text, &Message::tool_answer, &Message::tool_calls}) {
        const auto has = [&](const Message& message) { return !(message.*member).empty(); };
        const auto found = std::find_if(all.rbegin(), all.rend(), [&](const Message& one) { return is_role(one.role) && has(one); });
        MessageList list(value, "user");
        const Message* const last = list.last(is_role, has);
        ASSERT_EQ(last != nullptr, found != all.rend()) << wanted << " " << text;
        if (last == nullptr) continue;
        EXPECT_EQ((*last).*member, (*found).*member) << text;
      }
    }
  }
}

}  // namespace
}  // namespace runwarden::intake::otlp
