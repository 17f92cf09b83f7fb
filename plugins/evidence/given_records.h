#pragma once

#include <span>
#include <string>

#include "common/lexicon.h"
#include "common/run_view.h"
#include "common/tools.h"

namespace runwarden::plugins {

/// True for a call that returned what is known about something, as a look-up does: a list, several lines, or members that neither repeat
/// its arguments nor only say that it ran, such as an id, a boolean or a status. For a call with at most one argument, besides small
/// numbers, one such member is enough, or a sentence that reports no action. `answers` are the names of members with a call's outcome.
/// False when the output reports an action: {"saved": true}. Linear; any thread.
[[nodiscard]] bool gives_records(const StepView& step, std::span<const std::string> answers, const ToolWords& words,
                                 const Lexicon& lexicon);

/// True for a call that was given a text of several words other than what to look for: a message, a note. Linear; any thread.
[[nodiscard]] bool carries_text(const StepView& call, const ToolWords& words);

/// True for a call with an argument that is a word for a change, whatever its tool's name: `"operation": "create"`. Linear; any thread.
[[nodiscard]] bool orders_change(const StepView& call, const ToolWords& words, const Lexicon& lexicon);

}  // namespace runwarden::plugins
