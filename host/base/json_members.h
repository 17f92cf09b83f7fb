// Takes a JSON object apart into its members and their JSON text, and puts one together again. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace runwarden {

struct JsonMember {
  std::string name;
  std::string json;  // compact text of the value
};

// The members of an object, in order; empty for text that is no object. For text that was checked before: depth is not bounded
// beyond 1000.
std::vector<JsonMember> json_members(std::string_view object);

// The elements of an array, in order, as compact text; empty for text that is no array. The same bound.
std::vector<std::string> json_elements(std::string_view array);

// The characters of a JSON string; empty for text that is none.
std::string json_string_value(std::string_view json);

}  // namespace runwarden
