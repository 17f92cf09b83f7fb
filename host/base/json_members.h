// Splits a JSON object into its members and their JSON text. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runwarden {

struct JsonMember {
  std::string name;
  std::string json;  // compact text of the value
};

// The members of an object, in order; empty for text that is not an object. The text must have been validated: depth is limited only to
// 1000.
std::vector<JsonMember> json_members(std::string_view object);

// The elements of an array, in order, as compact text; empty for text that is not an array. The same limit.
std::vector<std::string> json_elements(std::string_view array);

// The same of text that a JsonWriter wrote, as everything that records keep: cut out exactly as written, without parsing it.
std::vector<JsonMember> cut_json_members(std::string_view object);
std::vector<std::string> cut_json_elements(std::string_view array);

// The compact text of the first member of that name; null: there is none.
const std::string* find_json_member(const std::vector<JsonMember>& members, std::string_view name);
// Its text exactly as written in an object that was validated, however deep; nothing: there is none, or the text is not an object.
std::optional<std::string_view> json_member_view(std::string_view object, std::string_view name);
// The compact text of the first member of that name; empty: there is none.
std::string json_member(const std::vector<JsonMember>& members, std::string_view name);
// Its decoded text; empty also where it is not a string.
std::string json_member_text(const std::vector<JsonMember>& members, std::string_view name);
// Of an object that was validated.
std::string json_member_text(std::string_view object, std::string_view name);

// The decoded text of a JSON string; empty for text that is not a string.
std::string json_string_value(std::string_view json);
// The same of the text between its quotes, as JsonCursor cuts it out.
std::string json_name(std::string_view between_quotes);

}  // namespace runwarden
