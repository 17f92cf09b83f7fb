#include "base/warning.h"

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
  if (json_member_view(object, "warnings")) return object;
  const bool has_members = object.find('"') != std::string::npos;
  object.pop_back();
  object += has_members ? ",\"warnings\":" : "\"warnings\":";
  JsonWriter out(object);
  write_warnings(out, warnings);
  return object += '}';
}

}  // namespace runwarden
