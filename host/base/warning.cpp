#include "base/warning.h"

#include <algorithm>

#include "base/json_members.h"

namespace runwarden {

void write_warnings(JsonWriter& out, const std::vector<Warning>& warnings) {
  out.begin_array();
  for (const Warning& one : warnings) {
    out.begin_object().key("pointer").string(one.pointer).key("detail").string(one.detail).end_object();
  }
  out.end_array();
}

std::string with_warnings(std::string object, const std::vector<Warning>& warnings) {
  if (warnings.empty()) return object;
  const auto members = json_members(object);
  if (std::any_of(members.begin(), members.end(), [](const JsonMember& one) { return one.name == "warnings"; })) return object;
  object.pop_back();
  object += members.empty() ? "\"warnings\":" : ",\"warnings\":";
  JsonWriter out(object);
  write_warnings(out, warnings);
  return object += '}';
}

}  // namespace runwarden
