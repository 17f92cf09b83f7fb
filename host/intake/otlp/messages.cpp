#include "intake/otlp/messages.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <utility>

#include "base/json_text.h"
#include "intake/otlp/json_tree.h"

namespace runwarden::intake::otlp {
namespace {

using Kind = AnyValue::Kind;

constexpr int kMaxLevels = 10;  // nesting of objects around messages and of JSON text in text
constexpr std::size_t kMostMessages = 10'000;
constexpr std::size_t kMostNumbered = 1'000;   // elements of a numbered list
constexpr std::size_t kMostParts = 8;          // of a name, from the number on
constexpr std::size_t kUsualTreeBytes = 4096;  // a message in JSON
constexpr std::size_t kUsualMessages = 16;     // in a conversation

using TreeArena = LocalArena<kUsualTreeBytes>;

const AnyValue* first_of(const AnyValue& map, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const AnyValue* const value = map.member(key);
    if (value != nullptr && value->kind != Kind::null) return value;
  }
  return nullptr;
}

std::string_view text_member(const AnyValue& map, std::string_view key) {
  const AnyValue* const value = map.member(key);
  return value != nullptr && value->is_text() ? value->text : std::string_view();
}

std::string_view role_of(std::string_view word) {
  if (word == "human" || word == "HumanMessage" || word == "HumanMessageChunk") return "user";
  if (word == "model" || word == "ai" || word == "AIMessage" || word == "AIMessageChunk") return "assistant";
  if (word == "SystemMessage") return "system";
  if (word == "ToolMessage" || word == "function" || word == "FunctionMessage") return "tool";
  return word;
}

// The role that a message states: `role`, or the class of a serialized LangChain message.
std::string_view said_role(const AnyValue& map) {
  if (const auto role = text_member(map, "role"); !role.empty()) return role_of(role);
  const AnyValue* const id = map.member("id");
  if (map.member("lc") != nullptr && id != nullptr && !id->items.empty() && id->items.back().is_text())
    return role_of(id->items.back().text);
  const auto type = text_member(map, "type");
  if (type == "human" || type == "ai" || type == "system" || type == "tool") return role_of(type);
  return {};
}

void append(std::string& text, std::string_view more) {
  if (more.empty()) return;
  if (!text.empty()) text += '\n';
  text += more;
}

class CallList {
 public:
  void add(std::string_view name, const AnyValue* arguments) {
    if (name.empty()) return;
    json_ += json_.empty() ? '[' : ',';
    JsonWriter out(json_);
    out.begin_object().key("name").string(name);
    if (arguments != nullptr) {
      out.key("arguments");
      append_arguments(*arguments);
    }
    out.end_object();
  }

  // Adds a call, in any of its known shapes. False if the object is not a call.
  bool add_if_call(const AnyValue& map) {
    if (const AnyValue* const wrapped = map.member("tool_call"); wrapped != nullptr && wrapped->kind == Kind::map)
      return add_if_call(*wrapped);
    for (const std::string_view wrapper : {"function", "functionCall", "function_call"}) {
      const AnyValue* const inner = map.member(wrapper);
      if (inner == nullptr || inner->kind != Kind::map) continue;
      add(text_member(*inner, "name"), first_of(*inner, {"arguments", "args"}));
      return true;
    }
    const auto type = text_member(map, "type");
    const bool is_result = type == "tool-result" || type == "tool_result";
    if (!is_result && map.member("toolName") != nullptr) {
      add(text_member(map, "toolName"), first_of(map, {"input", "args"}));
      return true;
    }
    if (type != "tool_call" && type != "tool_use" && type != "tool-call" && type != "function_call") return false;
    add(text_member(map, "name"), first_of(map, {"arguments", "args", "input"}));
    return true;
  }

  void add_list(const AnyValue* list) {
    if (list == nullptr) return;
    for (const AnyValue& call : list->items) {
      if (call.kind == Kind::map && !add_if_call(call)) add(text_member(call, "name"), first_of(call, {"arguments", "args", "input"}));
    }
  }

  // Leaves the list empty.
  std::string take_json() {
    if (!json_.empty()) json_ += ']';
    return std::exchange(json_, {});
  }

 private:
  void append_arguments(const AnyValue& value) {
    if (value.is_text() && looks_like_json(value.text)) {
      TreeArena arena;
      if (const auto tree = read_json_tree(value.text, arena.get())) return append_json(json_, *tree);
    }
    append_json(json_, value);
  }

  std::string json_;
};

// The texts and calls in a message's content.
class Content {
 public:
  void add(const AnyValue& value, int level) {
    if (level > kMaxLevels) return;
    if (value.is_text()) return add_text(value.text, level);
    if (value.kind == Kind::list) {
      for (const AnyValue& part : value.items) add(part, level + 1);
      return;
    }
    if (value.kind == Kind::map) add_part(value, level);
  }

  CallList& calls() { return calls_; }
  std::string text;
  std::string tool_answer;

 private:
  // Some instrumentations write the parts of a message as JSON text.
  void add_text(std::string_view said, int level) {
    if (said.starts_with("[{") && said.find("\"type\"") != std::string_view::npos) {
      TreeArena arena;
      const auto parts = read_json_tree(said, arena.get());
      const auto is_part = [](const AnyValue& part) { return part.kind == Kind::map && part.member("type") != nullptr; };
      if (parts && std::all_of(parts->items.begin(), parts->items.end(), is_part)) return add(*parts, level + 1);
    }
    append(text, said);
  }

  void add_part(const AnyValue& part, int level) {
    if (const AnyValue* const wrapped = part.member("message_content")) return add(*wrapped, level + 1);
    if (calls_.add_if_call(part)) return;
    const auto type = text_member(part, "type");
    if (type == "reasoning" || type == "thinking") return;
    const AnyValue* const answer = first_of(part, {"response", "result", "output", "functionResponse", "function_response"});
    if (answer != nullptr) return add_answer(*answer);
    if (const AnyValue* const inner = first_of(part, {"text", "content"})) add(*inner, level + 1);
  }

  // A tool's answer: {"type":"error-text","value":"..."} of the AI SDK, or any value.
  void add_answer(const AnyValue& answer) {
    const AnyValue* const value = answer.kind == Kind::map ? answer.member("value") : nullptr;
    const AnyValue& said = value != nullptr && answer.member("type") != nullptr ? *value : answer;
    if (said.kind == Kind::null) return;
    if (said.is_text()) return append(tool_answer, said.text);
    if (!tool_answer.empty()) tool_answer += '\n';
    append_json(tool_answer, said);
  }

  CallList calls_;
};

class Reader {
 public:
  explicit Reader(std::string_view role) : role_(role) {}

  void add(const AnyValue& value, int level) {
    if (level > kMaxLevels || messages_.size() >= kMostMessages) return;
    switch (value.kind) {
      case Kind::text: return add_text(value.text, level);
      case Kind::list: return add_list(value, level);
      case Kind::map: return add_map(value, level);
      default: return;
    }
  }

  std::vector<Message> take() { return std::move(messages_); }

 private:
  void add_text(std::string_view text, int level) {
    if (looks_like_json(text) || text.starts_with('"')) {
      TreeArena arena;
      if (const auto tree = read_json_tree(text, arena.get())) return add(*tree, level + 1);
    }
    if (!text.empty()) messages_.push_back({std::string(role_), std::string(text), {}, {}});
  }

  void add_list(const AnyValue& list, int level) {
    Content parts;  // outside any message
    for (const AnyValue& item : list.items) {
      const bool is_part = item.kind == Kind::map && said_role(item).empty() && is_content_part(item);
      if (is_part) {
        parts.add(item, level + 1);
      } else {
        add(item, level + 1);
      }
    }
    add(role_, parts);
  }

  static bool is_content_part(const AnyValue& map) {
    return map.member("toolName") != nullptr || map.member("message_content") != nullptr || map.member("functionCall") != nullptr ||
           (map.member("type") != nullptr && map.member("lc") == nullptr);
  }

  void add_map(const AnyValue& map, int level) {
    if (const AnyValue* const wrapped = map.member("message"); wrapped != nullptr && wrapped->kind == Kind::map)
      return add(*wrapped, level + 1);
    if (is_message(map)) return add_message(map, level);
    const std::string_view outer = role_;
    if (const auto said = said_role(map); !said.empty()) role_ = said;
    add_inner(map, level);
    role_ = outer;
  }

  void add_inner(const AnyValue& map, int level) {
    for (const std::string_view list :
         {"messages", "contents", "generations", "choices", "update", "kwargs", "input", "inputs", "question", "query", "prompt", "output",
          "outputs", "result", "answer", "response", "text", "message", "content"}) {
      const AnyValue* const inner = map.member(list);
      if (inner == nullptr || inner->kind == Kind::null) continue;
      const std::size_t before = messages_.size();
      add(*inner, level + 1);
      if (messages_.size() > before) return;
    }
    if (const AnyValue* const args = map.member("args"); args != nullptr && !args->items.empty()) add(args->items.front(), level + 1);
  }

  static bool is_message(const AnyValue& map) {
    const bool said = map.member("content") != nullptr || map.member("parts") != nullptr || map.member("tool_calls") != nullptr ||
                      map.member("kwargs") != nullptr || map.member("contents") != nullptr;
    return said && !said_role(map).empty();
  }

  void add_message(const AnyValue& map, int level) {
    const AnyValue* const kwargs = map.member("lc") != nullptr ? map.member("kwargs") : nullptr;
    const AnyValue& said = kwargs != nullptr ? *kwargs : map;
    Content content;
    if (const AnyValue* const inner = first_of(said, {"content", "parts", "contents"})) content.add(*inner, level + 1);
    content.calls().add_list(first_of(said, {"tool_calls", "toolCalls"}));
    messages_.push_back(
        {std::string(said_role(map)), std::move(content.text), std::move(content.tool_answer), content.calls().take_json()});
  }

  void add(std::string_view role, Content& parts) {
    std::string calls = parts.calls().take_json();
    if (parts.text.empty() && parts.tool_answer.empty() && calls.empty()) return;
    messages_.push_back({std::string(role), std::move(parts.text), std::move(parts.tool_answer), std::move(calls)});
  }

  std::string_view role_;
  std::vector<Message> messages_;
};

// Iterates over the objects of a list in JSON text, without parsing them.
class JsonElements {
 public:
  explicit JsonElements(std::string_view list) : list_(list) {
    skip_blanks();
    good_ = take('[');
  }

  std::optional<std::string_view> next() {
    if (!good_) return std::nullopt;
    skip_blanks();
    const std::size_t first = at_;
    if (at_ == list_.size() || list_[at_] != '{' || !skip_object()) return std::nullopt;
    const auto element = list_.substr(first, at_ - first);
    skip_blanks();
    if (take(',')) return element;
    good_ = false;
    skip_after_end();
    return element;
  }

  // True if the list was complete and nothing follows it.
  bool at_end() const { return ended_; }

 private:
  void skip_blanks() { at_ = std::min(list_.find_first_not_of(" \t\r\n", at_), list_.size()); }
  bool take(char c) {
    if (at_ == list_.size() || list_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip_after_end() {
    ended_ = take(']');
    skip_blanks();
    ended_ = ended_ && at_ == list_.size();
  }

  bool skip_object() {
    std::size_t open = 0;
    for (; at_ < list_.size(); ++at_) {
      const char c = list_[at_];
      if (c == '"' && !skip_string()) return false;
      if (c == '{' || c == '[') ++open;
      if ((c == '}' || c == ']') && --open == 0) return ++at_, true;
    }
    return false;
  }

  // Moves to the quote that ends the string.
  bool skip_string() {
    for (++at_; at_ < list_.size(); ++at_) {
      at_ = quote_after(at_);
      std::size_t escapes = 0;
      while (list_[at_ - 1 - escapes] == '\\') ++escapes;
      if (escapes % 2 == 0) return at_ < list_.size();
    }
    return false;
  }

  // The position of the next quote; the list's size if there is none. Most are near, so check eight bytes before calling the library.
  std::size_t quote_after(std::size_t at) const {
    const std::size_t near = std::min(at + 8, list_.size());
    for (; at < near; ++at) {
      if (list_[at] == '"') return at;
    }
    return std::min(list_.find('"', at), list_.size());
  }

  std::string_view list_;
  std::size_t at_ = 0;
  bool good_ = false;
  bool ended_ = false;
};

// "user" of {"role": "user", ...}; empty if another member is first.
std::optional<std::string_view> leading_role(std::string_view object) {
  constexpr std::string_view kUsually = "{\"role\":\"";
  std::size_t at = 1;
  if (object.starts_with(kUsually)) {
    at = kUsually.size();
  } else {
    for (const std::string_view part : {"\"role\"", ":", "\""}) {
      at = std::min(object.find_first_not_of(" \t\r\n", at), object.size());
      if (!object.substr(at).starts_with(part)) return std::nullopt;
      at += part.size();
    }
  }
  const auto end = object.find_first_of("\"\\", at);
  const bool plain = end != std::string_view::npos && end > at && object[end] == '"';
  return plain ? std::optional(object.substr(at, end - at)) : std::nullopt;
}

// The next part of "0.message.role"; empty at the end.
std::optional<std::string_view> next_part(std::string_view& name) {
  if (name.empty()) return std::nullopt;
  const auto end = std::min(name.find('.'), name.size());
  const auto part = name.substr(0, end);
  name.remove_prefix(std::min(end + 1, name.size()));
  return part;
}

AnyValue& below(AnyValue& parent, std::string_view part, Arena& arena) {
  if (parent.kind == Kind::null) parent.kind = Kind::map;
  // Attributes of one message are usually adjacent.
  if (!parent.members.empty() && parent.members.back().key == part) return parent.members.back().value;
  const auto found = std::find_if(parent.members.begin(), parent.members.end(), [&](const KeyValue& one) { return one.key == part; });
  if (found != parent.members.end()) return found->value;
  return parent.members.append(arena, {part, {}}).value;
}

// A deep copy.
AnyValue copy_of(const AnyValue& value, Arena& arena) {
  AnyValue copy = value;
  copy.items = {};
  copy.members = {};
  for (const AnyValue& item : value.items) copy.items.append(arena, copy_of(item, arena));
  for (const KeyValue& member : value.members) copy.members.append(arena, {member.key, copy_of(member.value, arena)});
  return copy;
}

std::optional<std::size_t> number_of(std::string_view text) {
  std::size_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool good = read.ec == std::errc() && read.ptr == text.data() + text.size() && number < kMostNumbered;
  return good ? std::optional(number) : std::nullopt;
}

// Turns objects whose names are all numbers into lists.
void make_lists(AnyValue& value, Arena& arena) {
  for (KeyValue& member : value.members) make_lists(member.value, arena);
  if (value.kind != Kind::map || value.members.empty()) return;
  std::vector<std::pair<std::size_t, const AnyValue*>> numbered;
  for (const KeyValue& member : value.members) {
    const auto number = number_of(member.key);
    if (!number) return;
    numbered.emplace_back(*number, &member.value);
  }
  std::stable_sort(numbered.begin(), numbered.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  AnyValue list;
  list.kind = Kind::list;
  for (const auto& [number, item] : numbered) list.items.append(arena, *item);
  value = list;
}

}  // namespace

std::vector<Message> read_messages(const AnyValue& value, std::string_view role) {
  Reader reader(role);
  reader.add(value, 0);
  return reader.take();
}

MessageList::MessageList(const AnyValue& value, std::string_view role) : value_(value), role_(role) {
  if (!value.is_text() || !split(value.text)) read_all();
}

void MessageList::read_all() {
  messages_ = read_messages(value_, role_);
  entries_.clear();
  for (std::size_t i = 0; i < messages_.size(); ++i) entries_.push_back({{}, {}, i});
}

// Splits a list into its objects by their brackets. False if it is not a list of objects that begin with their role.
bool MessageList::split(std::string_view list) {
  JsonElements elements(list);
  entries_.reserve(kUsualMessages);
  while (const auto element = elements.next()) {
    const auto role = leading_role(*element);
    if (!role || entries_.size() == kMostMessages) return false;
    entries_.push_back({role_of(*role), *element});
  }
  return elements.at_end() && !entries_.empty();
}

bool MessageList::read(std::size_t at) {
  TreeArena arena;
  const auto tree = read_json_tree(entries_[at].json, arena.get());
  std::vector<Message> messages = tree ? read_messages(*tree, role_) : std::vector<Message>();
  if (messages.size() != 1) {
    read_all();
    return false;
  }
  entries_[at].message = messages_.size();
  messages_.push_back(std::move(messages.front()));
  return true;
}

AnyValue numbered_list(const Attributes& attributes, std::string_view prefix, Arena& arena) {
  AnyValue root;
  for (const KeyValue& attribute : attributes) {
    if (!attribute.key.starts_with(prefix)) continue;
    std::string_view name = attribute.key.substr(prefix.size());
    if (!number_of(name.substr(0, name.find('.')))) continue;
    AnyValue* at = &root;
    std::size_t parts = 0;
    while (const auto part = next_part(name)) {
      if (++parts > kMostParts || (at->kind != Kind::null && at->kind != Kind::map)) {
        at = nullptr;
        break;
      }
      at = &below(*at, *part, arena);
    }
    if (at != nullptr && at->kind == Kind::null) *at = copy_of(attribute.value, arena);
  }
  make_lists(root, arena);
  return root;
}

}  // namespace runwarden::intake::otlp
