#include "guardrail/yaml.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/json_members.h"
#include "base/json_text.h"

namespace runwarden::guardrail {
namespace {

bool is_plain(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kRead{"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
  const auto letter = [](char c) { return ascii::is_letter(c) || c == '_'; };
  const auto part = [&](char c) { return letter(c) || ascii::is_digit(c) || c == '-' || c == '/'; };
  return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), part) &&
         std::find(kRead.begin(), kRead.end(), ascii::to_lower(text)) == kRead.end();
}

// A JSON string is also a double-quoted string of YAML 1.2.
std::string scalar(std::string_view json) {
  const std::string text = json_string_value(json);
  return json.starts_with('"') && is_plain(text) ? text : std::string(json);
}

bool is_container(std::string_view json) {
  return (json.starts_with('{') || json.starts_with('[')) && json.size() > 2;
}

void write(std::string_view json, std::size_t indent, std::string& out);

void write_object(std::string_view json, std::size_t indent, std::string& out) {
  bool first = true;
  for (const JsonMember& member : json_members(json)) {
    if (!first) out.append(indent, ' ');
    first = false;
    std::string name;
    append_json_string(name, member.name);
    out.append(scalar(name)).append(":");
    if (!member.json.starts_with('{') || !is_container(member.json)) {
      write(member.json, indent, out.append(is_container(member.json) ? "" : " "));
      continue;
    }
    out.append("\n").append(indent + 2, ' ');
    write_object(member.json, indent + 2, out);
  }
}

void write_list(std::string_view json, std::size_t indent, std::string& out) {
  const auto items = json_elements(json);
  if (std::none_of(items.begin(), items.end(), is_container)) {
    out.append(" [");
    for (std::size_t i = 0; i < items.size(); ++i) out.append(i == 0 ? "" : ", ").append(scalar(items[i]));
    out.append("]\n");
    return;
  }
  out.append("\n");
  for (const std::string& item : items) {
    out.append(indent + 2, ' ').append("- ");
    write(item, indent + 4, out);
  }
}

void write(std::string_view json, std::size_t indent, std::string& out) {
  if (!is_container(json))
    out.append(scalar(json)).append("\n");
  else if (json[0] == '{')
    write_object(json, indent, out);
  else
    write_list(json, indent, out);
}

}  // namespace

std::string yaml_of(std::string_view json) {
  std::string out;
  write_object(json, 0, out);
  return out;
}

}  // namespace runwarden::guardrail
