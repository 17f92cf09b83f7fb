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

}  // namespace runwarden
