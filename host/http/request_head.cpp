#include "http/request_head.h"

#include <algorithm>

namespace runwarden::http {

const std::string* RequestHead::header(std::string_view name) const {
  const auto found = std::find_if(headers.begin(), headers.end(), [&](const Header& header) { return header.name == name; });
  return found == headers.end() ? nullptr : &found->value;
}

std::size_t RequestHead::count(std::string_view name) const {
  return static_cast<std::size_t>(std::count_if(headers.begin(), headers.end(), [&](const Header& header) { return header.name == name; }));
}

}  // namespace runwarden::http
