#pragma once

#include <string>
#include <vector>

#include "common/name_set.h"
#include "common/vocabulary.h"

namespace runwarden::plugins {

/// The names by which the arguments and outputs of calls are read, of no language: of members, wrappers, commands and files. Read-only once
/// constructed: any thread may read.
struct CallNames {
  CallNames() = default;
  explicit CallNames(const Vocabulary& vocabulary);

  /// The shipped names.
  [[nodiscard]] static const CallNames& shipped();

  std::vector<std::string> object_endings;   // "id": a value under "order_id" identifies what the call is about
  std::vector<std::string> new_prefixes;     // "new": "new_item_id" replaces the value of "item_id"
  std::vector<std::string> old_prefixes;     // "old", likewise
  NameSet id_names;                          // "id", as the last word of an argument's name
  NameSet amount_names;                      // "price", likewise
  NameSet client_id_words;                   // "session", in the names of ids that a client generates
  NameSet wrapper_words;                     // "call", in the name of a tool that calls others
  NameSet wrapped_name_members;              // "tool_name", in the arguments of such a tool
  NameSet wrapped_argument_members;          // "params", likewise
  NameSet ordering_words;                    // "act", in the name of a tool that takes orders in words
  NameSet ordering_members;                  // "action", the only argument of such a tool
  NameSet error_detail_members;              // "trace", beside an error
  std::vector<std::string> error_prefixes;   // "error": how the names of members begin that are of an error
  std::vector<std::string> formula_names;    // "expr", within arguments that are to be calculated
  NameSet written_members;                   // "content": text that a tool stores and does not run
  NameSet command_members;                   // "command": holds the command of a shell
  NameSet leading_commands;                  // "sudo": stands before the command itself
  NameSet quiet_commands;                    // "mkdir": prints nothing
  NameSet reading_commands;                  // "cat": changes nothing
  NameSet idle_commands;                     // "pwd": changes nothing either
  NameSet commanding_programs;               // "git": does what its subcommand says
  NameSet reading_subcommands;               // "status": changes nothing
  NameSet looking_forms;                     // "git remote -v": a subcommand that changes nothing in this form
  NameSet dry_run_options;                   // "--dry-run": makes a command one that changes nothing
  NameSet writing_options;                   // "find -delete": changes something, though the program reads
  std::vector<std::string> picture_endings;  // ".png"
  std::vector<std::string> site_endings;     // ".com"
};

}  // namespace runwarden::plugins
