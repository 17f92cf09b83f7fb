#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/call_names.h"
#include "common/run_view.h"

namespace runwarden::plugins {

/// True when the arguments of a shell call are commands that only look: "git status && ls src | head". False for anything else, and in
/// doubt: for redirections into files, substitutions, and programs that are not known. The arguments are a text, or a JSON object whose
/// only text, or list of words, is the command. Linear; any thread.
[[nodiscard]] bool only_look(std::string_view arguments, const CallNames& names);

/// The same for a call of any tool: the arguments of one that is named after a program, `kubectl` or `run_git`, are behind its name.
[[nodiscard]] bool only_look(const StepView& call, const CallNames& names);

/// True for a tool that is named after such a program, with nothing but words such as "run" beside it.
[[nodiscard]] bool is_program(std::string_view tool, const CallNames& names);

/// Collects what the commands of a shell call change, as far as their program says it in a subcommand: "git push", "kubectl apply". At most
/// 8; replaces `out`. The arguments are as above. Linear; any thread.
void collect_changing_commands(std::string_view arguments, const CallNames& names, std::vector<std::string>& out);

/// True when a command that prints nothing when all goes well has the last word, under its own name: "mv: cannot stat 'a.txt': No such file
/// or directory". The arguments are as above. Linear; any thread.
[[nodiscard]] bool complains(std::string_view arguments, std::string_view output, const CallNames& names);

}  // namespace runwarden::plugins
