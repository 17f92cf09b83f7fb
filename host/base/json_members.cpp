#include "base/json_members.h"

#include <algorithm>

#include "base/json_cursor.h"
#include "base/json_events.h"
#include "base/json_text.h"

namespace runwarden {
namespace {

// Splits the outermost container, which must have that bracket.
class Cutter final : public JsonEvents {
 public:
  explicit Cutter(char outermost) : outermost_(outermost) {}

  std::vector<JsonMember> members;  // names are empty for an array

  bool scalar(const JsonScalar& value) override {
    if (open_.empty()) return false;
    begin_element();
    write_json_scalar(writer_, value);
    return true;
  }
  bool open_object() override { return open('{'); }
  bool open_array() override { return open('['); }
  bool key(std::string_view name) override {
    open_.size() == 1 ? begin_piece(name) : static_cast<void>(writer_.key(name));
    return true;
  }
  bool close() override {
    const char bracket = open_.back();
    open_.pop_back();
    if (open_.empty()) return true;
    bracket == '{' ? writer_.end_object() : writer_.end_array();
    return true;
  }
  void restart() override {
    members.clear();
    open_.clear();
  }

 private:
  bool open(char bracket) {
    if (open_.empty() && bracket != outermost_) return false;
    begin_element();
    if (!open_.empty()) bracket == '{' ? writer_.begin_object() : writer_.begin_array();
    open_ += bracket;
    return true;
  }

  void begin_element() {
    if (open_ == "[") begin_piece({});
  }
  void begin_piece(std::string_view name) {
    members.push_back({std::string(name), {}});
    writer_ = JsonWriter(members.back().json);
  }

  char outermost_;
  std::string open_;  // open brackets, the outermost first
  std::string nowhere_;
  JsonWriter writer_{nowhere_};
};

class StringReader final : public JsonEvents {
 public:
  std::string text;

  bool scalar(const JsonScalar& value) override {
    if (value.type == JsonScalar::Type::string) text = value.text;
    return true;
  }
  bool open_object() override { return false; }
  bool open_array() override { return false; }
  bool key(std::string_view) override { return false; }
  bool close() override { return false; }
  void restart() override { text.clear(); }
};

constexpr int kMaxDepth = 1000;

std::vector<JsonMember> cut(std::string_view json, char outermost) {
  Cutter cutter(outermost);
  if (!parse_json(json, kMaxDepth, cutter).ok()) return {};
  return std::move(cutter.members);
}

}  // namespace

std::vector<JsonMember> json_members(std::string_view object) {
  return cut(object, '{');
}

std::vector<std::string> json_elements(std::string_view array) {
  std::vector<std::string> elements;
  for (JsonMember& one : cut(array, '[')) elements.push_back(std::move(one.json));
  return elements;
}

std::vector<JsonMemberView> json_member_views(std::string_view object) {
  std::vector<JsonMemberView> members;
  JsonCursor cursor(object);
  if (!cursor.enter('{')) return members;
  while (cursor.more()) {
    std::string name = json_name(cursor.name());
    members.push_back({std::move(name), cursor.value()});
  }
  return members;
}

std::vector<std::string_view> json_element_views(std::string_view array) {
  std::vector<std::string_view> elements;
  JsonCursor cursor(array);
  if (!cursor.enter('[')) return elements;
  while (cursor.more()) elements.push_back(cursor.value());
  return elements;
}

std::vector<JsonMember> cut_json_members(std::string_view object) {
  std::vector<JsonMember> members;
  for (JsonMemberView& one : json_member_views(object)) members.push_back({std::move(one.name), std::string(one.json)});
  return members;
}

std::vector<std::string> cut_json_elements(std::string_view array) {
  const std::vector<std::string_view> elements = json_element_views(array);
  return {elements.begin(), elements.end()};
}

const std::string* find_json_member(const std::vector<JsonMember>& members, std::string_view name) {
  const auto found = std::find_if(members.begin(), members.end(), [&](const JsonMember& one) { return one.name == name; });
  return found == members.end() ? nullptr : &found->json;
}

std::optional<std::string_view> json_member_view(std::string_view object, std::string_view name) {
  JsonCursor cursor(object);
  if (!cursor.enter('{')) return std::nullopt;
  while (cursor.more()) {
    const std::string_view known = cursor.name();
    const std::string_view value = cursor.value();
    if (known == name || (known.find('\\') != std::string_view::npos && json_name(known) == name)) return value;
  }
  return std::nullopt;
}

std::string json_member(const std::vector<JsonMember>& members, std::string_view name) {
  const std::string* const json = find_json_member(members, name);
  return json == nullptr ? std::string() : *json;
}

std::string json_member_text(const std::vector<JsonMember>& members, std::string_view name) {
  return json_string_value(json_member(members, name));
}

std::string json_member_text(std::string_view object, std::string_view name) {
  const auto json = json_member_view(object, name);
  return json ? json_string_value(*json) : std::string();
}

std::string json_string_value(std::string_view json) {
  const bool plain = json.size() >= 2 && json.front() == '"' && json.find_first_of("\"\\", 1) == json.size() - 1;
  if (plain) return std::string(json.substr(1, json.size() - 2));
  StringReader reader;
  if (!parse_json(json, 1, reader).ok()) return {};
  return std::move(reader.text);
}

std::string json_name(std::string_view between_quotes) {
  if (between_quotes.find('\\') == std::string_view::npos) return std::string(between_quotes);
  return json_string_value('"' + std::string(between_quotes) + '"');
}

}  // namespace runwarden
