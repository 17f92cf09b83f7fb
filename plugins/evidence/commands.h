#pragma once

#include <string_view>

#include "common/call_names.h"

namespace runwarden::plugins {

/// True when the arguments of a shell call are commands that only look: "git status && ls src | head". False for anything else, and in
/// doubt: for redirections into files, substitutions, and programs that are not known. The arguments are a text, or a JSON object whose only
/// text is the command. Linear; any thread.
[[nodiscard]] bool only_look(std::string_view arguments, const CallNames& names);

}  // namespace runwarden::plugins
