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

struct JsonMemberView {
  std::string name;
  std::string_view json;  // part of the object's text, exactly as written
};

// The members of an object, in order; empty for text that is not an object. The text must be validated; depth is limited
// only to 1000.
std::vector<JsonMember> json_members(std::string_view object);

// The elements of an array, in order, as compact text; empty for text that is not an array. The same rules apply.
std::vector<std::string> json_elements(std::string_view array);

// The same for a text of any depth, exactly as written: found without parsing, and not copied.
std::vector<JsonMemberView> json_member_views(std::string_view object);
std::vector<std::string_view> json_element_views(std::string_view array);

// Copies of these, for text that a JsonWriter wrote, such as all JSON in records.
std::vector<JsonMember> cut_json_members(std::string_view object);
std::vector<std::string> cut_json_elements(std::string_view array);

// The compact text of the first member of that name; null if there is none.
const std::string* find_json_member(const std::vector<JsonMember>& members, std::string_view name);
// The same for a validated object of any depth, exactly as written; empty if there is none or the text is not an object.
std::optional<std::string_view> json_member_view(std::string_view object, std::string_view name);
// The compact text of the first member of that name; empty if there is none.
std::string json_member(const std::vector<JsonMember>& members, std::string_view name);
// Its decoded text; also empty if it is not a string.
std::string json_member_text(const std::vector<JsonMember>& members, std::string_view name);
// The same for a validated object.
std::string json_member_text(std::string_view object, std::string_view name);

// The decoded text of a JSON string; empty for text that is not a string.
std::string json_string_value(std::string_view json);
// The same for the text between the quotes, as JsonCursor::name() returns it.
std::string json_name(std::string_view between_quotes);

}  // namespace runwarden
