#include "guardrail/yaml.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/json_members.h"
#include "base/json_text.h"
#include "base/utf8.h"

namespace runwarden::guardrail {
namespace {

bool is_plain(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kRead{"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
  const auto letter = [](char c) { return ascii::is_letter(c) || c == '_'; };
  const auto part = [&](char c) { return letter(c) || ascii::is_digit(c) || c == '-' || c == '/'; };
  return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), part) &&
         std::find(kRead.begin(), kRead.end(), ascii::to_lower(text)) == kRead.end();
}

// Characters that readers of YAML 1.1 refuse or take for line ends, in UTF-8.
bool is_escaped(std::string_view character) {
  if (character.size() == 1) return character[0] == '\x7f';
  if (character.size() == 2) return character[0] == '\xc2' && static_cast<unsigned char>(character[1]) < 0xa0;
  static constexpr std::array<std::string_view, 5> kOthers{"\u2028", "\u2029", "\ufeff", "\xef\xbf\xbe", "\xef\xbf\xbf"};
  return std::find(kOthers.begin(), kOthers.end(), character) != kOthers.end();
}

// \uXXXX of a character of at most three bytes.
std::string escape_of(std::string_view character) {
  unsigned code = static_cast<unsigned char>(character[0]) & (character.size() == 1 ? 0x7fU : character.size() == 2 ? 0x1fU : 0x0fU);
  for (const char byte : character.substr(1)) code = code << 6U | (static_cast<unsigned char>(byte) & 0x3fU);
  std::string escape = "\\u";
  for (const unsigned shift : {12U, 8U, 4U, 0U}) escape += "0123456789abcdef"[code >> shift & 0xfU];
  return escape;
}

// With those characters escaped, a JSON string is also a double-quoted string of YAML 1.1 and 1.2.
std::string scalar(std::string_view json) {
  const std::string text = json_string_value(json);
  if (json.starts_with('"') && is_plain(text)) return text;
  std::string out;
  for (std::size_t at = 0; at < json.size();) {
    const std::string_view character = json.substr(at, std::max<std::size_t>(utf8_length_at(json, at), 1));
    is_escaped(character) ? out.append(escape_of(character)) : out.append(character);
    at += character.size();
  }
  return out;
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
