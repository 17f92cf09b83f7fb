#include "common/tools.h"

#include "common/words.h"

namespace runwarden::plugins {
namespace {

constexpr std::string_view kReadPrefixes[] = {
    "get",     "list",      "search",    "find",     "read",      "fetch",    "look up",  "lookup",   "check",   "calculate",
    "think",   "query",     "view",      "show",     "describe",  "count",    "retrieve", "browse",   "load",    "inspect",
    "verify",  "validate",  "compute",   "select",   "scan",      "analyze",  "preview",  "estimate", "compare", "recall",
    "explain", "summarize", "buscar",    "busca",    "consultar", "consulta", "obtener",  "listar",   "leer",    "ver",
    "mostrar", "verificar", "comprobar", "calcular", "revisar",   "encontrar"};

bool upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool lower(char c) {
  return c >= 'a' && c <= 'z';
}

bool begins_with(std::string_view name, std::size_t at, std::string_view prefix, std::size_t& end) {
  for (std::size_t k = 0; k < prefix.size(); ++k, ++at) {
    if (prefix[k] == ' ') {
      // "look up" is "look_up", "look-up", "lookUp" and "lookup".
      if (at < name.size() && (name[at] == '_' || name[at] == '-' || name[at] == ' ' || name[at] == '.')) continue;
      --at;
      continue;
    }
    if (at >= name.size()) return false;
    const char c = upper(name[at]) ? static_cast<char>(name[at] + 32) : name[at];
    if (c != prefix[k]) return false;
  }
  end = at;
  return true;
}

bool word_ends_at(std::string_view name, std::size_t end) {
  if (end >= name.size()) return true;
  return !lower(name[end]) || (end > 0 && !lower(name[end - 1]));
}

}  // namespace

std::span<const std::string_view> shipped_read_prefixes() {
  return kReadPrefixes;
}

std::string_view base_name(std::string_view name) {
  const auto sign = name.find_last_of("./:");
  if (sign != std::string_view::npos && sign + 1 < name.size()) name = name.substr(sign + 1);
  const auto bars = name.rfind("__");
  if (bars != std::string_view::npos && bars + 2 < name.size()) name = name.substr(bars + 2);
  return name;
}

void split_tool_name(std::string_view name, std::vector<std::string>& words) {
  words.clear();
  bool open = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool inner = upper(c) || lower(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80;
    if (!inner) {
      open = false;
      continue;
    }
    const bool hump = upper(c) && i > 0 && (!upper(name[i - 1]) || (i + 1 < name.size() && lower(name[i + 1])));
    if (!open || hump) words.emplace_back();
    words.back() += upper(c) ? static_cast<char>(c + 32) : c;
    open = true;
  }
}

bool is_read_tool(std::string_view name, const std::vector<std::string>& read_prefixes) {
  name = base_name(name);
  for (const auto& prefix : read_prefixes) {
    std::size_t end = 0;
    if (!prefix.empty() && begins_with(name, 0, prefix, end) && word_ends_at(name, end)) return true;
  }
  return false;
}

}  // namespace runwarden::plugins
