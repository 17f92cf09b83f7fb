#include "http/request_head.h"

#include <algorithm>

#include "base/ascii.h"

namespace runwarden::http {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

const std::string* RequestHead::header(std::string_view name) const {
  const auto found = std::find_if(headers.begin(), headers.end(), [&](const Header& header) { return header.name == name; });
  return found == headers.end() ? nullptr : &found->value;
}

std::size_t RequestHead::count(std::string_view name) const {
  return static_cast<std::size_t>(std::count_if(headers.begin(), headers.end(), [&](const Header& header) { return header.name == name; }));
}

std::optional<std::string> only_field(std::string_view unparsed_head, std::string_view name) {
  std::optional<std::string> value;
  while (true) {
    const auto end = unparsed_head.find("\r\n");
    if (end == std::string_view::npos) return value;
    const std::string_view line = unparsed_head.substr(0, end);
    unparsed_head.remove_prefix(end + 2);
    const auto colon = std::min(line.find(':'), line.size());
    if (colon == line.size() || ascii::to_lower(line.substr(0, colon)) != name) continue;
    const bool folded = !unparsed_head.empty() && is_blank(unparsed_head.front());
    if (value || folded) return std::nullopt;
    value = trimmed(line.substr(colon + 1));
  }
}

}  // namespace runwarden::http
