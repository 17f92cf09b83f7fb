#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/call_names.h"
#include "common/name_set.h"
#include "common/vocabulary.h"

namespace runwarden::plugins {

/// The words for reading the names and arguments of tools, of all languages together. Read-only once constructed: any thread may read.
struct ToolWords {
  ToolWords() = default;
  explicit ToolWords(const Vocabulary& vocabulary);

  std::vector<std::string> read_prefixes;      // "get", "look up"
  std::vector<std::string> any_purpose_names;  // "browse"
  std::vector<std::string> tool_labels;        // "tool": says nothing beside another word
  std::vector<std::string> thing_words;        // "post": a deed before a thing, a thing behind a deed
  std::vector<std::string> noun_words;         // "record": at the end of a name, behind what is no verb, a thing
  std::vector<std::string> looking_verbs;      // "resolve": may only look something up
  std::vector<std::string> query_words;        // "query"
  std::vector<std::string> getting_words;      // "find", after another word
  std::vector<std::string> showing_nouns;      // "history": what a look-up shows, at the end of a name of things
  std::vector<std::string> thing_verbs;        // "order": the name of a thing before one of these
  std::vector<std::string> changing_words;     // "add"
  std::vector<std::string> changing_nouns;     // "update": a thing at the end of a name
  std::vector<std::string> joining_words;      // "and"
  std::vector<std::string> changing_prefixes;  // "check out"
  std::vector<std::string> query_members;      // "q"
  std::vector<std::string> thinking_words;     // "think"
  std::vector<std::string> meaningless_words;  // "func"
  NameSet text_envelopes;                      // "result": a member that may hold an answer as a text
  CallNames calls;
};

/// A tool's name without its namespace: "crm.get_contact" and "mcp__crm__get_contact" are "get_contact".
[[nodiscard]] std::string_view base_name(std::string_view name);

/// The next word of a tool's name from `at` on, in its original case; moves `at` behind it. Empty at the end. "getOrder" is two words.
[[nodiscard]] std::string_view next_tool_word(std::string_view name, std::size_t& at);

/// The words of a tool's name in lower case: splits "get_order", "getOrder" and "orders.get-one" alike.
void split_tool_name(std::string_view name, std::vector<std::string>& words);

/// True when one of the words, in lower case, is a word of a tool's name.
[[nodiscard]] bool names_any(std::string_view tool, const std::vector<std::string>& words);

/// True for a tool that is named like an HTTP request that changes something: "POST /claims/7".
[[nodiscard]] bool changes_by_method(std::string_view name);

/// True when a tool's name begins with a read-only word ("get", "search", "look up").
[[nodiscard]] bool is_read_tool(std::string_view name, const ToolWords& words);

/// True when any word of a tool's name is read-only: "web_search", "jira_get_issue".
[[nodiscard]] bool names_look_up(std::string_view name, const ToolWords& words);

}  // namespace runwarden::plugins
