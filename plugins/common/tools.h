#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace runwarden::plugins {

/// Names of tools that only read begin with one of these.
[[nodiscard]] std::span<const std::string_view> shipped_read_prefixes();

/// A tool's name without the name space before it: "crm.get_contact" and "mcp__crm__get_contact" are "get_contact".
[[nodiscard]] std::string_view base_name(std::string_view name);

/// The words of a tool's name, in lower case: "get_order", "getOrder" and "orders.get-one" are parted alike.
void split_tool_name(std::string_view name, std::vector<std::string>& words);

/// True when a tool's name begins with a word that only reads ("get", "search", "look up").
[[nodiscard]] bool is_read_tool(std::string_view name, const std::vector<std::string>& read_prefixes);

}  // namespace runwarden::plugins
