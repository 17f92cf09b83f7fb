#include "base/json_pointer.h"

namespace runwarden {

std::string pointer_token(std::string_view name) {
  std::string token;
  for (const char c : name) c == '~' ? token += "~0" : c == '/' ? token += "~1" : token += c;
  return token;
}

std::string pointer_name(std::string_view token) {
  std::string name;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool escape = token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1');
    name += escape ? (token[++i] == '0' ? '~' : '/') : token[i];
  }
  return name;
}

}  // namespace runwarden
